// Estimating in the library: one device and a bound model, with and without its subgraphs; machines; reports;
// the systolic cycle counts of every layer of ResNet-50.

#include "archsim/map/systolic_cycles.hpp"
#include "archsim/report/compare_models.hpp"
#include "archsim/run/compare_models.hpp"
#include "archsim/run/session.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace {

using namespace archsim;

const Session& session() {
    static const Session kSession;
    return kSession;
}

const std::shared_ptr<const BoundModel>& resnet50() {
    static const std::shared_ptr<const BoundModel> kModel = session().bind(session().load("resnet50"), 1);
    return kModel;
}

RunOptions options(bool subgraphs) {
    RunOptions o;
    o.precision = PrecisionConfig::uniform(Precision::int8);
    o.keep_subgraphs = subgraphs;
    return o;
}

void estimate_totals(benchmark::State& state, const std::string& device) {
    const RunOptions o = options(false);
    const auto machine = session().machine(device, o);
    for (auto _ : state)
        benchmark::DoNotOptimize(Session::run_on(resnet50(), device, machine, o));
}

void estimate_with_subgraphs(benchmark::State& state, const std::string& device) {
    const RunOptions o = options(true);
    const auto machine = session().machine(device, o);
    for (auto _ : state)
        benchmark::DoNotOptimize(Session::run_on(resnet50(), device, machine, o));
}

void make_machine_of(benchmark::State& state, const std::string& device) {
    const RunOptions o = options(false);
    for (auto _ : state)
        benchmark::DoNotOptimize(session().machine(device, o));
}

void open_session(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(Session());
}

void compare_and_render(benchmark::State& state) {
    CompareModelsRequest request;
    request.models = {"resnet50"};
    request.deployment = "edge";
    for (auto _ : state)
        benchmark::DoNotOptimize(
            render(describe(compare_models(session(), request, {}, {}), {}), Format::text));
}

/// Every convolution and matrix product of the network on one 128 x 128 array.
void systolic_cycles_of_layers(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(systolic_cycles(resnet50()->graph(), 128, Dataflow::weight_stationary));
}

const bool registered = [] {
    for (const char* device :
         {"H100", "Xeon-8490H", "TPU-v4", "KPU-T64", "QRB5165", "DPU-ZCU102", "CGRA-Plasticine", "Hailo-8"}) {
        benchmark::RegisterBenchmark((std::string("totals/") + device).c_str(), estimate_totals, device);
        benchmark::RegisterBenchmark((std::string("subgraphs/") + device).c_str(), estimate_with_subgraphs,
                                     device);
        benchmark::RegisterBenchmark((std::string("machine/") + device).c_str(), make_machine_of, device);
    }
    return true;
}();

BENCHMARK(open_session);
BENCHMARK(compare_and_render);
BENCHMARK(systolic_cycles_of_layers);

} // namespace

BENCHMARK_MAIN();
