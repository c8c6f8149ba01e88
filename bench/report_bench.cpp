// What tools do around estimates: opening the data, comparing, explaining, rendering.
//
//   open/session, database  the data of all tools; the hardware database, and a device of each architecture
//   open/one device ...     the hardware database, and what is named of it
//   compare/edge            ResNet-50 on the devices of the edge scenario
//   explain/GPU-TPU         eight architectures, and what the difference between two of them is made of
//   render/text ...         the comparison of the edge scenario in each format

#include "answers/architectures/architectures.hpp"
#include "answers/compare/compare_models_report.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/compare_models.hpp"
#include "bench/shared.hpp"
#include "core/data_dir.hpp"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

namespace {

using namespace archsim;
using bench::session;

void open_session(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(Session());
}

void open_database(benchmark::State& state) {
    for (auto _ : state) {
        const HardwareDatabase database(data_dir() / "hardware_db");
        for (const char* device : bench::kDevices)
            benchmark::DoNotOptimize(database.device(device));
    }
}

void open_device(benchmark::State& state) {
    for (auto _ : state) {
        const HardwareDatabase database(data_dir() / "hardware_db");
        benchmark::DoNotOptimize(database.device("H100"));
    }
}

void open_device_with_stack(benchmark::State& state) {
    for (auto _ : state) {
        const HardwareDatabase database(data_dir() / "hardware_db");
        benchmark::DoNotOptimize(database.runtime_for(*database.device("H100").device));
    }
}

/// Time of all threads together.
void open_every_device(benchmark::State& state) {
    for (auto _ : state) {
        const HardwareDatabase database(data_dir() / "hardware_db");
        std::vector<Finding> findings;
        benchmark::DoNotOptimize(database.all_devices(findings));
    }
}

CompareModelsRequest edge() {
    CompareModelsRequest request;
    request.models = {"resnet50"};
    request.deployment = "edge";
    return request;
}

void compare(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(compare_models(session(), edge()));
}

void explain(benchmark::State& state) {
    CompareArchitecturesRequest request;
    request.model = "resnet18";
    request.explain = {"GPU", "TPU"};
    for (auto _ : state)
        benchmark::DoNotOptimize(compare_architectures(session(), request));
}

void render_as(benchmark::State& state, Format format) {
    const auto comparison = compare_models(session(), edge());
    for (auto _ : state)
        benchmark::DoNotOptimize(render(describe(comparison, {}), format));
}

[[maybe_unused]] const bool registered = [] {
    using benchmark::RegisterBenchmark;
    RegisterBenchmark("open/session", open_session)->Unit(benchmark::kMillisecond);
    RegisterBenchmark("open/database", open_database)->Unit(benchmark::kMillisecond);
    RegisterBenchmark("open/one device", open_device)->Unit(benchmark::kMillisecond);
    RegisterBenchmark("open/one device with its stack", open_device_with_stack)
        ->Unit(benchmark::kMillisecond);
    RegisterBenchmark("open/every device", open_every_device)
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
    RegisterBenchmark("compare/edge", compare)->Unit(benchmark::kMillisecond);
    RegisterBenchmark("explain/GPU-TPU", explain)->Unit(benchmark::kMillisecond);
    for (const Format format : {Format::text, Format::markdown, Format::csv, Format::html})
        RegisterBenchmark(("render/" + std::string(name_of(format))).c_str(), render_as, format)
            ->Unit(benchmark::kMillisecond);
    return true;
}();

} // namespace

BENCHMARK_MAIN();
