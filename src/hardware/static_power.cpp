// The power of a device in use that does nothing, from the parts that somebody measured.

#include "hardware/energy_resolver.hpp"

#include "core/same_everywhere.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

namespace archsim {

static double largest_unit_count(const Device& device) {
    double units = 0;
    for (const Engine& engine : device.engines)
        units = std::max(units, engine.count);
    return units;
}

/// The measured value, or one derived from measurements; else the sum of its parts, where units of its
/// generation were measured; else an estimate for this device; else a share of its rating.
void EnergyResolver::resolve_static() {
    if (device_.dram && device_.dram->capacity.known())
        if (const Fact* background = find_type(spec_.dram_background, device_.dram->type)) {
            table_.memory_power = *background;
            table_.memory_power.value *= device_.dram->capacity.value;
        }
    table_.static_power = device_.active_idle;
    const bool estimated = !device_.active_idle.known() || !device_.active_idle.source ||
                           device_.active_idle.source->kind == SourceKind::assumed;
    if (estimated && add_awake_die())
        return grow_die();
    if (!table_.static_power.known() && device_.tdp.known()) {
        table_.static_power = family_.static_share;
        table_.static_power.value *= device_.tdp.value;
        table_.static_power.note = "share of the thermal design power";
    }
    divide_static();
    grow_die();
}

/// The ratio of a changed design to the device's own. Units that are counted one by one bring all that they
/// draw with them; a die that is known as a whole grows by the shares of what a design changes about it.
/// Worked: four times the cores of a die that draws 1 W, of which compute takes 30 %: 1.9 W.
double EnergyResolver::die_growth() const {
    const bool counted = table_.clocked_power.known();
    const double units = counted ? 1 : device_.unit_change;
    const double compute = units * device_.array_change * device_.array_change;
    return (device_.unit_change / units) * (1 + spec_.compute_share.value_or(0) * (compute - 1) +
                                            spec_.memory_share.value_or(0) * (device_.memory_change - 1));
}

void EnergyResolver::grow_die() {
    const double grown = die_growth();
    if (grown == 1 || !table_.static_power.known())
        return;
    const double own = table_.static_power.value;
    for (Fact* const part : {&table_.awake_power, &table_.clocked_power})
        part->value *= grown; // NaN, which is unknown, stays NaN
    table_.static_power.value = table_.awake_power.value + table_.memory_power.value_or(0);
    table_.static_growth = table_.static_power.value / own;
    table_.static_power.note += fmt::format("; the die x{:.3g}, as its parts are changed", grown);
}

/// A sum that is known as a whole: what the memory does not draw, the die does. Memory that would draw
/// more than the sum does not stand by as this type usually does.
void EnergyResolver::divide_static() {
    if (table_.memory_power.known() && !(table_.memory_power.value < table_.static_power.value_or(0)))
        table_.memory_power = {};
    if (!table_.static_power.known())
        return;
    table_.awake_power = table_.static_power;
    table_.awake_power.value -= table_.memory_power.value_or(0);
    state_parts("die, clocks and regulators");
}

/// Which part of the sum is measured, in its note.
void EnergyResolver::state_parts(std::string_view die) {
    const auto part = [](std::string_view name, const Fact& fact) {
        return fmt::format("{} {:.3g} W: {}", name, fact.value,
                           archsim::name_of(fact.source ? fact.source->kind : SourceKind::assumed));
    };
    std::string& note = table_.static_power.note;
    note += note.empty() ? "" : "; ";
    note += part(die, table_.awake_power);
    if (table_.memory_power.known())
        note += ", " + part("DRAM standing by", table_.memory_power);
}

/// Units that are awake draw what they do with the clock and the voltage that follows it, so with
/// clock^a; their DRAM stands by. Worked: 132 multiprocessors of 0.81 W at 1.98 GHz x 1.5, which measured
/// power asks for, with 80 GB at 0.06 W/GB: 160 + 5 = 165 W.
bool EnergyResolver::add_awake_die() {
    const auto own = family_.awake.find(lower_case(device_.generation));
    const double units = largest_unit_count(device_) / device_.unit_change; // those of a design: grow_die()
    if (own == family_.awake.end() || !(units > 0) || !table_.nominal_clock.known())
        return false;
    table_.awake_power = own->second;
    if (const Fact& measured = family_.multiple[static_cast<std::size_t>(PriceGroup::awake)];
        measured.known()) {
        table_.awake_power.value *= measured.value;
        table_.awake_power.source = measured.source;
    }
    const double now = clock_at_limit().value_or(table_.nominal_clock.value * device_.clock_change);
    const double clock = now / device_.clock_change;
    table_.awake_power.value *=
        units * device_.clock_change * table_.voltage_factor(now) / table_.voltage_factor(clock) *
        same_everywhere(std::pow(clock / family_.awake_clock.value, table_.clock_exponent.value_or(1)));
    const std::string awake = fmt::format("die with {:g} units awake", units);
    table_.awake_power.note = awake;
    table_.clocked_power = table_.awake_power;
    table_.static_power = table_.awake_power;
    table_.static_power.value += table_.memory_power.value_or(0);
    table_.static_power.note.clear();
    state_parts(awake);
    return true;
}

} // namespace archsim
