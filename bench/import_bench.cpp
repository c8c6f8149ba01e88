// How long a model takes from its file to fused subgraphs, and how much memory:
//
//   import_bench [FILE.onnx...] [--benchmark_filter=...]
//
//   load/resnet50       1.19 ms   file_MB=102 peak_MB=4.7   import, bind, infer shapes
//   rebind/resnet50     0.15 ms   nodes=169                 another batch size
//   partition/resnet50  0.10 ms   subgraphs=56              fused subgraphs
//
// peak_MB is the largest resident set of a process that does nothing
// but load the file (name one file to read it: that process inherits what this one has loaded before).
// Without files, networks of the catalogue are taken, which have no weights, and a transformer of 6000 nodes
// made here.

#include "archsim/extend/importer.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "archsim/partition/partition.hpp"
#include "bench/transformer.hpp"
#include "core/data_dir.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace archsim;

constexpr double kMega = 1e6;

/// Sizes for the symbols of the catalogue's networks and of usual exports.
const std::map<std::string, std::int64_t>& sizes() {
    static const std::map<std::string, std::int64_t> list = {
        {"height", 224}, {"width", 224},       {"sequence", 128},        {"seq", 128}, {"time", 100},
        {"past", 0},     {"past_sequence", 0}, {"sequence_length", 128}, {"h", 224},   {"w", 224}};
    return list;
}

ShapedGraph bind_to(const Graph& graph, std::int64_t batch) {
    Bindings bindings;
    bindings.batch_size = batch;
    return bind(graph, bindings, sizes());
}

/// Largest resident set of a child that loads the file.
double peak_bytes(const std::filesystem::path& file) {
    const pid_t child = fork();
    if (child == 0) {
        benchmark::DoNotOptimize(bind_to(import_onnx(file), 1));
        _exit(0);
    }
    int status = 0;
    rusage usage{};
    constexpr double kKibi = 1024;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        return 0;
    return static_cast<double>(usage.ru_maxrss) * kKibi;
}

void load(benchmark::State& state, const std::filesystem::path& file) {
    std::size_t nodes = 0;
    for (auto _ : state) {
        const Graph graph = import_onnx(file);
        const ShapedGraph shaped = bind_to(graph, 1);
        nodes = shaped.operators.size();
        benchmark::DoNotOptimize(nodes);
    }
    state.counters["nodes"] = static_cast<double>(nodes);
    state.counters["file_MB"] = static_cast<double>(std::filesystem::file_size(file)) / kMega;
    state.counters["peak_MB"] = peak_bytes(file) / kMega;
}

void rebind(benchmark::State& state, const std::shared_ptr<const Graph>& graph) {
    std::int64_t batch = 0;
    std::size_t nodes = 0;
    for (auto _ : state) {
        batch = batch % 64 + 1;
        const ShapedGraph shaped = bind_to(*graph, batch);
        nodes = shaped.operators.size();
        benchmark::DoNotOptimize(nodes);
    }
    state.counters["nodes"] = static_cast<double>(nodes);
}

void fuse(benchmark::State& state, const std::shared_ptr<const Graph>& graph) {
    const ShapedGraph shaped = bind_to(*graph, 1);
    std::size_t subgraphs = 0;
    for (auto _ : state) {
        const Partition result = partition(shaped, FusionPolicy{});
        subgraphs = result.subgraphs.size();
        benchmark::DoNotOptimize(subgraphs);
    }
    state.counters["subgraphs"] = static_cast<double>(subgraphs);
}

void add_benchmarks(const std::string& name, const std::shared_ptr<const Graph>& graph) {
    using benchmark::kMillisecond;
    benchmark::RegisterBenchmark(("rebind/" + name).c_str(), [graph](benchmark::State& s) {
        rebind(s, graph);
    })->Unit(kMillisecond);
    benchmark::RegisterBenchmark(("partition/" + name).c_str(), [graph](benchmark::State& s) {
        fuse(s, graph);
    })->Unit(kMillisecond);
}

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    std::vector<std::filesystem::path> files(argv + 1, argv + argc);
    try {
        if (files.empty()) {
            for (const char* name : {"resnet50", "bert-large", "gpt2-large", "llama-3-70b"})
                files.push_back(data_dir() / "models" / "onnx" / (std::string(name) + ".onnx"));
            constexpr int kLayers = 162; // 37 nodes each
            add_benchmarks("transformer of 6000 nodes", bench::TransformerMaker(kLayers).take());
        }
        for (const auto& file : files) {
            const std::string name = file.stem().string();
            benchmark::RegisterBenchmark(("load/" + name).c_str(), [file](benchmark::State& s) {
                load(s, file);
            })->Unit(benchmark::kMillisecond);
            add_benchmarks(name, std::make_shared<const Graph>(import_onnx(file)));
        }
        benchmark::RunSpecifiedBenchmarks();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "import_bench: %s\n", error.what());
        return 2;
    }
    return 0;
}
