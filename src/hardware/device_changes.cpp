#include "archsim/hardware/device_changes.hpp"

#include "hardware/family_facts.hpp"

namespace archsim {

/// An engine that stands for a whole chip has as many of its operations as are left of the units.
static void scale_units(Device& d, double factor) {
    const double built = built_units(d, factor);
    d.unit_change *= built;
    for (Engine& engine : d.engines)
        if (is_whole_chip(engine))
            for (Fact& rate : engine.ops_per_clock)
                scale(rate, built);
        else
            engine.count = whole(engine.count, factor);
    scale_facts(d, Structure::units, factor);
    for (PowerMode& mode : d.power_modes)
        if (mode.active_units.known())
            mode.active_units.value = whole(mode.active_units.value, factor);
}

static void scale_arrays(Device& d, double factor) {
    d.array_change *= factor;
    // Where nothing multiplies matrices alone, the sides that a device states are those of its vector units.
    const bool sides = scale_facts(d, Structure::array, factor);
    const bool matrix =
        std::ranges::any_of(d.engines, [](const Engine& e) { return e.kind == EngineClass::matrix; });
    for (Engine& engine : d.engines)
        if (engine.kind == EngineClass::matrix || (sides && !matrix))
            for (Fact& rate : engine.ops_per_clock)
                scale(rate, factor * factor);
}

static void scale_memory(Device& d, double factor) {
    d.memory_change *= factor;
    for (MemoryLevel& level : d.memory)
        scale(level.capacity, factor);
    scale_facts(d, Structure::on_chip_memory, factor);
}

static void scale_clocks(Device& d, double factor) {
    d.clock_change *= factor;
    for (Fact* clock :
         {&d.clock_base, &d.clock_boost, &d.clock_all_core, &d.clock_sustained, &d.clock_vector})
        scale(*clock, factor);
    scale_facts(d, Structure::clock, factor);
    for (Engine& engine : d.engines)
        scale(engine.clock, factor);
    for (PowerMode& mode : d.power_modes)
        scale(mode.clock, factor);
    // Rates that are stated per second follow the clock as those per clock do.
    for (MemoryLevel& level : d.memory)
        if (level.rank == MemoryRank::l1 || level.rank == MemoryRank::l2)
            scale(level.bandwidth, factor);
}

std::shared_ptr<const Device> changed(const Device& device, const DeviceChanges& changes) {
    auto copy = std::make_shared<Device>(device);
    scale_units(*copy, changes[Structure::units]);
    scale_arrays(*copy, changes[Structure::array]);
    scale_memory(*copy, changes[Structure::on_chip_memory]);
    scale_clocks(*copy, changes[Structure::clock]);
    return copy;
}

} // namespace archsim
