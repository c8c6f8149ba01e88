#include "hardware/energy_table.hpp"
#include "report/blocks/energy_report.hpp"

#include <algorithm>
#include <fmt/format.h>

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

} // namespace

std::vector<EnergyItem> energy_items(const Result& result) {
    if (!result.ok() || !result.machine || !result.machine->energy)
        return {};
    return Account(result).items();
}

} // namespace archsim
