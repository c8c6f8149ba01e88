#include "report/blocks/energy_rollup.hpp"

#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

namespace {

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
