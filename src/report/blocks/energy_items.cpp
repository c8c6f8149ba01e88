#include "hardware/energy_table.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <fmt/ranges.h>

namespace archsim {

/// An event for people, and what of the energy it is part of.
struct EventText {
    std::string_view name, counted; ///< see EnergyItem
    EnergyPart part;
};
/// In the order of Event.
constexpr std::array kEventTexts = {
    EventText{"multiply-accumulate", "", EnergyPart::arithmetic},
    EventText{"vector operation", "", EnergyPart::arithmetic},
    EventText{"special function", "", EnergyPart::arithmetic},
    EventText{"instruction", "", EnergyPart::control},
    EventText{"register file", "byte", EnergyPart::near_memory},
    EventText{"L1 or scratchpad", "byte", EnergyPart::near_memory},
    EventText{"L2 or on-chip buffer", "byte", EnergyPart::far_memory},
    EventText{"last-level cache", "byte", EnergyPart::far_memory},
    EventText{"DRAM", "byte", EnergyPart::dram},
    EventText{"cache tags and coherence", "line", EnergyPart::control},
    EventText{"scheduling and barriers", "", EnergyPart::control},
    EventText{"hop to a neighbour", "byte", EnergyPart::movement},
    EventText{"weights into the array", "byte", EnergyPart::movement},
    EventText{"accumulators", "byte", EnergyPart::near_memory},
    EventText{"domain token", "", EnergyPart::control},
    EventText{"streamers and DMA", "byte", EnergyPart::movement},
    EventText{"programmable routing", "byte", EnergyPart::movement},
    EventText{"configuration", "byte", EnergyPart::control},
    EventText{"host link", "byte", EnergyPart::host},
    EventText{"host processor", "second", EnergyPart::host},
};
static_assert(kEventTexts.size() == kEventCount);

static std::string_view source_kind(const Fact& fact) {
    return !fact.known() ? "no price" : fact.source ? name_of(fact.source->kind) : "no source";
}

static std::string source_of(const Fact& fact) {
    std::string text(source_kind(fact));
    if (!fact.known())
        return text;
    if (fact.source)
        text += ": " + fact.source->cite;
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
                add(std::string(name_of(event)), kEventTexts[i], events_.counts[i], energy_.joules[i],
                    table_.event[i], event == Event::host_busy_second);
        }
        add_static();
        std::ranges::stable_sort(items_, std::ranges::greater{}, &EnergyItem::joules);
        return std::move(items_);
    }

  private:
    void add(std::string event, const EventText& text, double count, double joules, const Fact& price,
             bool timed = false) {
        if (count > 0)
            items_.push_back({std::move(event), std::string(text.name), text.counted, count, joules / count,
                              joules, source_kind(price), source_of(price), timed});
    }

    /// One line per format, which share the arithmetic's energy as their prices say.
    void add_arithmetic() {
        double nominal = 0;
        for (std::size_t i = 0; i < kPrecisionCount; ++i)
            nominal += events_.macs[i] * table_.mac[i].value_or(0);
        for (Precision p : kPrecisions) {
            const auto i = static_cast<std::size_t>(p);
            const double share = nominal > 0 ? events_.macs[i] * table_.mac[i].value_or(0) / nominal : 0;
            const std::string name =
                fmt::format("{} {}", kEventTexts[static_cast<std::size_t>(Event::mac)].name, name_of(p));
            add(fmt::format("mac_{}", name_of(p)), {name, "", EnergyPart::arithmetic}, events_.macs[i],
                share * energy_[Event::mac], table_.mac[i]);
        }
    }

    void add_dram() {
        const Fact& all = table_[Event::dram_byte];
        const double bytes = events_[Event::dram_byte], joules = energy_[Event::dram_byte];
        const double device =
            std::min(joules, bytes * std::min(all.value_or(0), table_.dram_device.value_or(0)));
        add("dram_device", {"DRAM chips", "byte", EnergyPart::dram}, bytes, device, table_.dram_device);
        add("dram_path", {"DRAM-to-core wires", "byte", EnergyPart::dram}, bytes, joules - device, all);
    }

    /// Over the time that the energy stands for; watts at the clock that ran.
    void add_static() {
        const Machine& m = *result_.machine;
        const double seconds = energy_.total() / result_.estimate.power_w;
        add("static", {"static power", "second", EnergyPart::leakage},
            energy_.static_joules > 0 ? seconds : 0, energy_.static_joules,
            m.mode && m.mode->active_idle.known() ? m.mode->active_idle : table_.static_power, true);
    }

    const Result& result_;
    const EnergyTable& table_;
    const EventCounts& events_;
    const EnergyBreakdown& energy_;
    std::vector<EnergyItem> items_;
};

static double part(const EnergyParts& parts, EnergyPart p) {
    return parts[static_cast<std::size_t>(p)];
}

std::vector<EnergyItem> energy_items(const Result& result) {
    if (!result.ok() || !result.machine || !result.machine->energy)
        return {};
    return Account(result).items();
}

EnergyParts parts_of(const EnergyBreakdown& energy) {
    EnergyParts parts{};
    for (std::size_t e = 0; e < kEventCount; ++e)
        parts[static_cast<std::size_t>(kEventTexts[e].part)] += energy.joules[e];
    parts[static_cast<std::size_t>(EnergyPart::leakage)] = energy.static_joules;
    return parts;
}

EnergyRollup roll_up(const EnergyBreakdown& energy) {
    const EnergyParts parts = parts_of(energy);
    return {.compute_j = part(parts, EnergyPart::arithmetic),
            .memory_j = part(parts, EnergyPart::near_memory) + part(parts, EnergyPart::far_memory) +
                        part(parts, EnergyPart::dram) + part(parts, EnergyPart::movement),
            .static_j = part(parts, EnergyPart::leakage),
            .control_j = part(parts, EnergyPart::control) + part(parts, EnergyPart::host)};
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
