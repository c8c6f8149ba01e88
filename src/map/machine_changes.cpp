#include "archsim/map/machine_changes.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/parameter_site.hpp"

#include <algorithm>

namespace archsim {

static void scale(Fact& fact, double factor) {
    fact.value *= factor; // NaN, which is unknown, stays NaN
}

static void scale_energy(const MachineChanges& changes, EnergyTable& table) {
    for (Fact& price : table.mac)
        scale(price, changes[Lever::operation_energy]);
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (const auto lever = lever_of(static_cast<Event>(e)))
            scale(table.event[e], changes[*lever]);
    scale(table.dram_device, changes[Lever::memory_energy]);
    for (Fact* part : {&table.static_power, &table.awake_power, &table.clocked_power, &table.memory_power})
        scale(*part, changes[Lever::static_power]);
}

void apply(const MachineChanges& changes, Machine& machine) {
    if (changes == MachineChanges{})
        return;
    const auto rates = [&](Lever lever, std::initializer_list<Resource> list) {
        for (Resource r : list)
            machine.rates[static_cast<std::size_t>(r)].value *= changes[lever];
    };
    rates(Lever::peak, {Resource::matrix_cycles, Resource::vector_cycles, Resource::special_cycles});
    rates(Lever::bandwidth, {Resource::dram_bytes, Resource::weight_bytes});
    rates(Lever::on_chip, {Resource::l1_bytes, Resource::l2_bytes, Resource::llc_bytes});
    for (Parameter p : kParametersOf<ParameterRole::start>)
        scale(machine.parameters.facts[static_cast<std::size_t>(p)], changes[Lever::fixed_cost]);
    for (Parameter p : kParametersOf<ParameterRole::fallback>)
        scale(machine.parameters.facts[static_cast<std::size_t>(p)], changes[Lever::host_time]);
    for (const auto& [parameter, factor] : changes.parameters)
        scale(machine.parameters.facts[static_cast<std::size_t>(parameter)], factor);
    machine.power_limit_w =
        changes.power_limit_w.value_or(machine.power_limit_w) * changes[Lever::power_limit];
    machine.power_budget_w *= changes[Lever::power_limit];
    machine.memory_capacity_bytes *= changes[Lever::capacity];
    machine.static_power_w *= changes[Lever::static_power];
    const auto* priced = changes.factors.begin() + static_cast<std::ptrdiff_t>(Lever::operation_energy);
    const bool energy_changes = std::any_of(priced, changes.factors.end(), [](double f) { return f != 1; });
    if (machine.energy && energy_changes) {
        auto table = std::make_shared<EnergyTable>(*machine.energy);
        scale_energy(changes, *table);
        machine.energy = std::move(table);
    }
}

} // namespace archsim
