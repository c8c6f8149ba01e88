#include "archsim/hardware/device_changes.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace archsim {

namespace {

constexpr std::array<std::string_view, kStructureCount> kNames = {"units", "array", "on_chip_memory",
                                                                  "clock"};

void scale(Fact& fact, double factor) {
    fact.value *= factor; // NaN, which is unknown, stays NaN
}

double whole(double count, double factor) {
    return count > 0 ? std::max(1.0, std::round(count * factor)) : count;
}

void scale_units(Device& d, double factor) {
    for (Engine& engine : d.engines)
        engine.count = whole(engine.count, factor);
    for (KpuTile& tile : d.kpu.tiles)
        tile.count = whole(tile.count, factor);
    for (Fact* count :
         {&d.cpu.cores, &d.cpu.performance_cores, &d.cpu.efficiency_cores, &d.cpu.threads, &d.gpu.sm_count,
          &d.systolic.mxu_per_core, &d.kpu.grid_rows, &d.dsp.mma_count, &d.dsp.hvx_units, &d.dpu.cores,
          &d.cgra.compute_units, &d.cgra.memory_units, &d.npu.cores})
        if (count->known())
            count->value = whole(count->value, factor);
    for (PowerMode& mode : d.power_modes)
        if (mode.active_units.known())
            mode.active_units.value = whole(mode.active_units.value, factor);
}

void scale_arrays(Device& d, double factor) {
    const double area = factor * factor;
    for (Engine& engine : d.engines)
        if (engine.kind == EngineClass::matrix)
            for (Fact& rate : engine.ops_per_clock)
                scale(rate, area);
    for (KpuTile& tile : d.kpu.tiles) {
        scale(tile.rows, factor);
        scale(tile.cols, factor);
        for (Fact& rate : tile.ops_per_clock)
            scale(rate, area);
    }
    for (Fact* side : {&d.systolic.rows, &d.systolic.cols, &d.dsp.mma_rows, &d.dsp.mma_cols,
                       &d.dpu.input_channel_parallel, &d.dpu.output_channel_parallel, &d.npu.array_rows,
                       &d.npu.array_cols, &d.cgra.stages, &d.cgra.lanes})
        scale(*side, factor);
}

void scale_memory(Device& d, double factor) {
    for (MemoryLevel& level : d.memory)
        scale(level.capacity, factor);
    for (Fact* capacity : {&d.npu.sram_bytes, &d.npu.on_chip_weight_bytes, &d.dsp.scratchpad_bytes})
        scale(*capacity, factor);
}

void scale_clocks(Device& d, double factor) {
    for (Fact* clock : {&d.clock_base, &d.clock_boost, &d.clock_all_core, &d.clock_sustained, &d.clock_vector,
                        &d.dpu.pl_clock})
        scale(*clock, factor);
    for (Engine& engine : d.engines)
        scale(engine.clock, factor);
    for (PowerMode& mode : d.power_modes)
        scale(mode.clock, factor);
}

} // namespace

std::string_view name_of(Structure structure) {
    return kNames[static_cast<std::size_t>(structure)];
}

std::optional<Structure> parse_structure(std::string_view text) {
    const auto at = std::find(kNames.begin(), kNames.end(), text);
    if (at == kNames.end())
        return std::nullopt;
    return static_cast<Structure>(at - kNames.begin());
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
