#pragma once
// The machine of the tests of CPU formulas: 4 cores of 32 fp32 and 128 int8 operations per cycle on vectors
// of 8 lanes, 10 kB of L2 each and 100 kB of shared cache.

#include "map/expected_counts.hpp"
#include "map/gpu_machine.hpp"

namespace archsim::test {

inline Machine four_cores(bool tiles = false, bool streams = false) {
    auto device = std::make_shared<Device>();
    device->family = Family("cpu");
    own(*device, "vector_lanes_fp32") = fact(8);
    Engine vector;
    vector.kind = EngineClass::vector;
    vector.count = 4;
    vector.clock = fact(1e9);
    vector.ops_per_clock[static_cast<std::size_t>(Precision::fp32)] = fact(32);
    vector.ops_per_clock[static_cast<std::size_t>(Precision::int8)] = fact(128);
    device->engines.push_back(vector);
    if (tiles) {
        Engine matrix = vector;
        matrix.kind = EngineClass::matrix;
        matrix.ops_per_clock = {};
        matrix.ops_per_clock[static_cast<std::size_t>(Precision::bf16)] = fact(512);
        device->engines.push_back(matrix);
    }
    device->memory = {level("L2", "core", fact(1e4)), level("L3", "socket", fact(1e5))};
    auto runtime = std::make_shared<Runtime>();
    runtime->independent_streams = streams;
    Machine m;
    m.device = device;
    assume(m);
    m.runtime = runtime;
    m.units = 4;
    m.scenario = streams ? Scenario::throughput : Scenario::latency;
    for (Resource r : {Resource::matrix_cycles, Resource::vector_cycles, Resource::overhead_cycles})
        set_rate(m, r, 1e9);
    set_rate(m, Resource::seconds, 1);
    for (Resource r : {Resource::l2_bytes, Resource::llc_bytes, Resource::dram_bytes})
        set_rate(m, r, 1e11);
    return m;
}

} // namespace archsim::test
