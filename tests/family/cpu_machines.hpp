#pragma once
// The machines of the tests of CPU formulas.

#include "map/expected_counts.hpp"
#include "map/gpu_machine.hpp"

namespace archsim::test {

/// Equal cores at 1 GHz; operations per cycle of one of them, bytes of its L2 and of the cache they share.
/// Operations of tiles at 0: it has none in that format.
struct Cores {
    double count, lanes, fp32, int8;
    double l2_bytes, l3_bytes;
    double tile_bf16 = 0, tile_int8 = 0;
};

/// 100 GB/s on every level.
inline Machine machine_of(const Cores& cores, bool tiles, bool streams) {
    auto device = std::make_shared<Device>();
    device->family = Family("cpu");
    own(*device, "vector_lanes_fp32") = fact(cores.lanes);
    Engine vector;
    vector.kind = EngineClass::vector;
    vector.count = cores.count;
    vector.clock = fact(1e9);
    vector.ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(cores.fp32);
    vector.ops_per_clock[static_cast<std::size_t>(Precision::int8)] = fact(cores.int8);
    device->engines.push_back(vector);
    if (tiles) {
        Engine matrix = vector;
        matrix.kind = EngineClass::matrix;
        matrix.ops_per_clock = {};
        for (const auto& [format, operations] :
             {std::pair{Precision::bf16, cores.tile_bf16}, std::pair{Precision::int8, cores.tile_int8}})
            if (operations > 0)
                matrix.ops_per_clock[static_cast<std::size_t>(format)] = fact(operations);
        device->engines.push_back(matrix);
    }
    device->memory = {level("L2", "core", fact(cores.l2_bytes)), level("L3", "socket", fact(cores.l3_bytes))};
    auto runtime = std::make_shared<Runtime>();
    runtime->independent_streams = streams;
    Machine m;
    m.device = device;
    assume(m);
    m.runtime = runtime;
    m.units = cores.count;
    m.scenario = streams ? Scenario::throughput : Scenario::latency;
    for (Resource r : {Resource::matrix_cycles, Resource::vector_cycles, Resource::overhead_cycles})
        set_rate(m, r, 1e9);
    set_rate(m, Resource::seconds, 1);
    for (Resource r : {Resource::l2_bytes, Resource::llc_bytes, Resource::dram_bytes})
        set_rate(m, r, 1e11);
    return m;
}

/// 4 cores of 32 fp32 and 128 int8 operations per cycle on vectors of 8 lanes, 10 kB of L2 each and 100 kB of
/// shared cache. `tiles`: a matrix unit of 512 bf16 operations per cycle.
inline Machine four_cores(bool tiles = false, bool streams = false) {
    return machine_of(
        {.count = 4, .lanes = 8, .fp32 = 32, .int8 = 128, .l2_bytes = 1e4, .l3_bytes = 1e5, .tile_bf16 = 512},
        tiles, streams);
}

} // namespace archsim::test
