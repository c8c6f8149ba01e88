// A graph of 100,000 operators from its file to an estimate:
//
//   chain/import     products and activations, one after the other
//   chain/bind       shapes and work
//   chain/estimate   partition, work, counts and prices on one device
//   wide/...         50,000 branches of two operators that one concatenation joins

#include "bench/shared.hpp"
#include "session/graph_run.hpp"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include <onnx/onnx_pb.h>
#include <unistd.h>

namespace {

using namespace archsim;
using bench::session;

constexpr int kPairs = 50'000;
constexpr const char* kDevice = "H100";

onnx::NodeProto& node(onnx::GraphProto& graph, const char* type, const std::string& output) {
    onnx::NodeProto& made = *graph.add_node();
    made.set_op_type(type);
    made.set_name(output + "_node");
    made.add_output(output);
    return made;
}

onnx::ModelProto model_with_input(std::int64_t width) {
    onnx::ModelProto model;
    model.set_ir_version(8);
    model.add_opset_import()->set_version(17);
    auto* input = model.mutable_graph()->add_input();
    input->set_name("x");
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape()->add_dim()->set_dim_param("batch");
    type->mutable_shape()->add_dim()->set_dim_value(width);
    return model;
}

onnx::ModelProto chain() {
    constexpr std::int64_t kWidth = 64;
    onnx::ModelProto model = model_with_input(kWidth);
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::TensorProto& weight = *graph.add_initializer();
    weight.set_name("w");
    weight.set_data_type(onnx::TensorProto::FLOAT);
    weight.add_dims(kWidth);
    weight.add_dims(kWidth);
    weight.mutable_raw_data()->resize(kWidth * kWidth * sizeof(float));
    std::string last = "x";
    for (int i = 0; i < kPairs; ++i) {
        onnx::NodeProto& product = node(graph, "MatMul", "m" + std::to_string(i));
        product.add_input(last);
        product.add_input("w");
        last = "r" + std::to_string(i);
        node(graph, "Relu", last).add_input(product.output(0));
    }
    graph.add_output()->set_name(last);
    return model;
}

onnx::ModelProto wide() {
    onnx::ModelProto model = model_with_input(1);
    onnx::GraphProto& graph = *model.mutable_graph();
    onnx::NodeProto join;
    for (int i = 0; i < kPairs; ++i) {
        onnx::NodeProto& first = node(graph, "Relu", "a" + std::to_string(i));
        first.add_input("x");
        onnx::NodeProto& second = node(graph, "Softmax", "b" + std::to_string(i));
        second.add_input(first.output(0));
        join.add_input(second.output(0));
    }
    join.set_op_type("Concat");
    join.add_output("y");
    onnx::AttributeProto& axis = *join.add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(1);
    *graph.add_node() = join;
    graph.add_output()->set_name("y");
    return model;
}

void add(const std::string& name, const std::filesystem::path& file) {
    using benchmark::kMillisecond;
    benchmark::RegisterBenchmark((name + "/import").c_str(), [file](benchmark::State& state) {
        for (auto _ : state)
            benchmark::DoNotOptimize(session().load(file.string()));
    })->Unit(kMillisecond);
    const Model model = session().load(file.string());
    benchmark::RegisterBenchmark((name + "/bind").c_str(), [model](benchmark::State& state) {
        for (auto _ : state)
            benchmark::DoNotOptimize(session().bind(model, 1));
    })->Unit(kMillisecond);
    const Conditions options = bench::options(false);
    benchmark::RegisterBenchmark((name + "/estimate").c_str(), [model, options](benchmark::State& state) {
        for (auto _ : state) {
            state.PauseTiming(); // a bound model keeps its partitions
            const auto bound = session().bind(model, 1);
            state.ResumeTiming();
            const Result result = run_graph(session(), bound, kDevice, options);
            if (!result.ok())
                state.SkipWithError(result.estimate.reason.c_str());
        }
    })->Unit(kMillisecond);
    benchmark::RegisterBenchmark((name + "/all").c_str(), [file, options](benchmark::State& state) {
        for (auto _ : state)
            benchmark::DoNotOptimize(
                run_graph(session(), session().bind(session().load(file.string()), 1), kDevice, options));
    })->Unit(kMillisecond);
}

} // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const auto folder =
        std::filesystem::temp_directory_path() / ("archsim_scale_bench_" + std::to_string(getpid()));
    try {
        std::filesystem::create_directories(folder);
        for (const auto& [name, model] : {std::pair{"chain", chain()}, {"wide", wide()}}) {
            const auto file = folder / (std::string(name) + ".onnx");
            std::ofstream stream(file, std::ios::binary);
            if (!model.SerializeToOstream(&stream))
                throw std::runtime_error(file.string() + ": cannot be written");
            stream.close();
            add(name, file);
        }
        benchmark::RunSpecifiedBenchmarks();
        std::filesystem::remove_all(folder);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "scale_bench: %s\n", error.what());
        return 2;
    }
    return 0;
}
