#include "hardware/energy_table.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

namespace {

std::string_view title_of(Event event) {
    switch (event) {
    case Event::mac:
        return "multiply-accumulate";
    case Event::vector_op:
        return "vector operation";
    case Event::special_op:
        return "special function";
    case Event::instruction:
        return "instruction";
    case Event::register_byte:
        return "register file, byte";
    case Event::l1_byte:
        return "L1 or scratchpad, byte";
    case Event::l2_byte:
        return "L2 or on-chip buffer, byte";
    case Event::llc_byte:
        return "last-level cache, byte";
    case Event::dram_byte:
        return "DRAM, byte";
    case Event::coherence:
        return "cache tags and coherence, line";
    case Event::scheduling:
        return "scheduling and barriers";
    case Event::systolic_hop:
        return "hop to a neighbour, byte";
    case Event::weight_load_byte:
        return "weights into the array, byte";
    case Event::accumulator_byte:
        return "accumulators, byte";
    case Event::domain_token:
        return "domain token";
    case Event::streamer_byte:
        return "streamers and DMA, byte";
    case Event::routing_byte:
        return "programmable routing, byte";
    case Event::configuration_byte:
        return "configuration, byte";
    case Event::host_link_byte:
        return "host link, byte";
    case Event::host_busy_second:
        return "host processor, second";
    case Event::count_:
        break;
    }
    return "";
}

std::string source_of(const Fact& fact) {
    if (!fact.known())
        return "no price";
    std::string text = fact.source ? fmt::format("{}: {}", name_of(fact.source->kind), fact.source->cite)
                                   : std::string("no source");
    if (!fact.note.empty())
        text += fmt::format(" ({})", fact.note);
    return text;
}

/// Joules are those of the estimate; a price is what they make per count (parts of a network may have run at
/// different clocks).
class Account {
  public:
    explicit Account(const Result& result)
        : result_(result), table_(*result.machine->energy), events_(result.estimate.events),
          energy_(result.estimate.energy) {}

    std::vector<EnergyItem> items() {
        add_arithmetic();
        for (std::size_t i = 0; i < kEventCount; ++i) {
            const auto event = static_cast<Event>(i);
            if (event == Event::dram_byte)
                add_dram();
            else if (event != Event::mac)
                add(std::string(name_of(event)), std::string(title_of(event)), events_.counts[i],
                    energy_.joules[i], table_.event[i], event == Event::host_busy_second);
        }
        add_static();
        std::stable_sort(items_.begin(), items_.end(),
                         [](const EnergyItem& a, const EnergyItem& b) { return a.joules > b.joules; });
        return std::move(items_);
    }

  private:
    void add(std::string event, std::string title, double count, double joules, const Fact& price,
             bool timed = false) {
        if (count > 0)
            items_.push_back(
                {std::move(event), std::move(title), count, joules / count, joules, source_of(price), timed});
    }

    /// One line per format, which share the arithmetic's energy as their prices say.
    void add_arithmetic() {
        double nominal = 0;
        for (std::size_t i = 0; i < kPrecisionCount; ++i)
            nominal += events_.macs[i] * table_.mac[i].value_or(0);
        for (Precision p : kPrecisions) {
            const auto i = static_cast<std::size_t>(p);
            const double share = nominal > 0 ? events_.macs[i] * table_.mac[i].value_or(0) / nominal : 0;
            add(fmt::format("mac_{}", name_of(p)), fmt::format("{} {}", title_of(Event::mac), name_of(p)),
                events_.macs[i], share * energy_[Event::mac], table_.mac[i]);
        }
    }

    void add_dram() {
        const Fact& all = table_[Event::dram_byte];
        const double bytes = events_[Event::dram_byte], joules = energy_[Event::dram_byte];
        const double device =
            std::min(joules, bytes * std::min(all.value_or(0), table_.dram_device.value_or(0)));
        add("dram_device", "DRAM chips, byte", bytes, device, table_.dram_device);
        add("dram_path", "DRAM-to-core wires, byte", bytes, joules - device, all);
    }

    /// Over the time that the energy stands for; watts at the clock that ran.
    void add_static() {
        const Machine& m = *result_.machine;
        const double seconds = energy_.total() / result_.estimate.power_w;
        if (energy_.static_joules > 0)
            items_.push_back(
                {"static", "static power, second", seconds, energy_.static_joules / seconds,
                 energy_.static_joules,
                 source_of(m.mode && m.mode->active_idle.known() ? m.mode->active_idle : table_.static_power),
                 true});
    }

    const Result& result_;
    const EnergyTable& table_;
    const EventCounts& events_;
    const EnergyBreakdown& energy_;
    std::vector<EnergyItem> items_;
};

EnergyPart part_of(Event event) {
    switch (event) {
    case Event::mac:
    case Event::vector_op:
    case Event::special_op:
        return EnergyPart::arithmetic;
    case Event::instruction:
    case Event::coherence:
    case Event::scheduling:
    case Event::domain_token:
    case Event::configuration_byte:
        return EnergyPart::control;
    case Event::register_byte:
    case Event::l1_byte:
    case Event::accumulator_byte:
        return EnergyPart::near_memory;
    case Event::l2_byte:
    case Event::llc_byte:
        return EnergyPart::far_memory;
    case Event::dram_byte:
        return EnergyPart::dram;
    case Event::systolic_hop:
    case Event::weight_load_byte:
    case Event::streamer_byte:
    case Event::routing_byte:
        return EnergyPart::movement;
    case Event::host_link_byte:
    case Event::host_busy_second:
    case Event::count_:
        break;
    }
    return EnergyPart::host;
}

double part(const EnergyParts& parts, EnergyPart p) {
    return parts[static_cast<std::size_t>(p)];
}

} // namespace

std::vector<EnergyItem> energy_items(const Result& result) {
    if (!result.ok() || !result.machine || !result.machine->energy)
        return {};
    return Account(result).items();
}

EnergyParts parts_of(const EnergyBreakdown& energy) {
    EnergyParts parts{};
    for (std::size_t e = 0; e < kEventCount; ++e)
        parts[static_cast<std::size_t>(part_of(static_cast<Event>(e)))] += energy.joules[e];
    parts[static_cast<std::size_t>(EnergyPart::leakage)] = energy.static_joules;
    return parts;
}

EnergyRollup roll_up(const EnergyBreakdown& energy) {
    const EnergyParts parts = parts_of(energy);
    EnergyRollup rollup;
    rollup.compute_j = part(parts, EnergyPart::arithmetic);
    rollup.memory_j = part(parts, EnergyPart::near_memory) + part(parts, EnergyPart::far_memory) +
                      part(parts, EnergyPart::dram) + part(parts, EnergyPart::movement);
    rollup.static_j = part(parts, EnergyPart::leakage);
    rollup.control_j = part(parts, EnergyPart::control) + part(parts, EnergyPart::host);
    return rollup;
}

std::vector<std::string> rollup_lines(const Result& result) {
    const EnergyBreakdown& energy = result.estimate.energy;
    const EnergyRollup rollup = roll_up(energy);
    const double total = rollup.total();
    const auto share = [&](std::string_view name, double joules) {
        return fmt::format("{} {:.1f} %", name, 100 * joules / total);
    };
    std::vector<std::string> lines;
    lines.push_back(fmt::format("{} per {}: {}, {}, {}, {}",
                                format_value(metric::energy, *value_of(result, metric::energy)),
                                result.generation ? "answer" : "inference",
                                share("compute", rollup.compute_j), share("memory", rollup.memory_j),
                                share("static", rollup.static_j), share("control", rollup.control_j)));
    const EnergyParts parts = parts_of(energy);
    std::vector<std::string> memories;
    for (const auto& [name, p] :
         {std::pair{"DRAM", EnergyPart::dram}, std::pair{"far", EnergyPart::far_memory},
          std::pair{"near", EnergyPart::near_memory}, std::pair{"movement", EnergyPart::movement}})
        if (part(parts, p) > 0)
            memories.push_back(share(name, part(parts, p)));
    const double seconds = total / result.estimate.power_w;
    lines.push_back(fmt::format("memory: {}; static: {} for {}", fmt::join(memories, ", "),
                                format_power(energy.static_joules / seconds), format_time(seconds)));
    return lines;
}

} // namespace archsim
