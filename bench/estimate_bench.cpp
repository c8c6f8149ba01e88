// Estimates of a bound ResNet-50 on one device, and the stages they are made of:
//
//   totals/H100       one estimate, totals alone: what a sweep asks for
//   provenance/H100   the same with every subgraph, and for each of its demands the rate, efficiency, time
//   and the
//                     parameter that they come from
//   machine/H100      device, power mode and stack resolved to rates
//   map/H100          counts of every subgraph, none shared
//   price/H100        time and energy of these

#include "bench/shared.hpp"
#include "estimate/price.hpp"
#include "estimate/resource_times.hpp"
#include "session/graph_run.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace {

using namespace archsim;
using bench::resnet50;
using bench::session;

void totals(benchmark::State& state, const std::string& device) {
    const Conditions o = bench::options(false);
    const auto machine = session().machine(device, o);
    for (auto _ : state)
        benchmark::DoNotOptimize(run_graph_on(resnet50(), device, machine, o));
}

void provenance(benchmark::State& state, const std::string& device) {
    const Conditions o = bench::options(true);
    const auto machine = session().machine(device, o);
    for (auto _ : state) {
        const Result result = run_graph_on(resnet50(), device, machine, o);
        for (const SubgraphEstimate& s : result.estimate.subgraphs)
            benchmark::DoNotOptimize(resource_times(s.mapping, *machine, result.estimate.clock_ratio,
                                                    result.work->subgraphs[s.index].repeat));
    }
}

void make_machine_of(benchmark::State& state, const std::string& device) {
    const Conditions o = bench::options(false);
    for (auto _ : state)
        benchmark::DoNotOptimize(session().machine(device, o));
}

std::vector<Mapping> map_all(const NetworkWork& work, const Machine& machine) {
    const Mapper& mapper = mapper_for(machine.device->family);
    std::vector<Mapping> mappings(work.subgraphs.size());
    for (std::size_t i = 0; i < mappings.size(); ++i)
        mapper.map(work.subgraphs[i], work, machine, mappings[i]);
    return mappings;
}

void map(benchmark::State& state, const std::string& device) {
    const Result result = run_graph(session(), resnet50(), device, bench::options(false));
    for (auto _ : state)
        benchmark::DoNotOptimize(map_all(*result.work, *result.machine));
}

void price(benchmark::State& state, const std::string& device) {
    const Result result = run_graph(session(), resnet50(), device, bench::options(false));
    const std::vector<Mapping> mappings = map_all(*result.work, *result.machine);
    for (auto _ : state) {
        const EventPrices prices(*result.machine, 1);
        for (const Mapping& mapping : mappings) {
            benchmark::DoNotOptimize(price_time(mapping, *result.machine, 1, false));
            benchmark::DoNotOptimize(prices.of(mapping.events));
        }
    }
}

[[maybe_unused]] const bool registered = [] {
    using Of = void (*)(benchmark::State&, const std::string&);
    for (const auto& [name, run] : {std::pair<std::string, Of>{"totals/", totals},
                                    {"provenance/", provenance},
                                    {"machine/", make_machine_of},
                                    {"map/", map},
                                    {"price/", price}})
        for (const char* device : bench::kDevices)
            benchmark::RegisterBenchmark((name + device).c_str(), run, device)->Unit(benchmark::kMicrosecond);
    return true;
}();

} // namespace

BENCHMARK_MAIN();
