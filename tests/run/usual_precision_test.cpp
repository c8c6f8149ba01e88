// The format of a question that names none: the file's own, and items that a file fixes.

#include "import/model_maker.hpp"
#include "laws/laws.hpp"
#include "session/usual_precision.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace archsim;

namespace {

using Proto = onnx::TensorProto;

/// y = Conv(x, w) with weights of a type; quantised: x and y too, or the weights alone.
enum class Quantised { none, weights, all };

onnx::ModelProto convolution(int type, Quantised quantised = Quantised::none, const char* batch = "1") {
    auto model = test::make_model();
    auto& graph = *model.mutable_graph();
    test::add_input(graph, "x", {batch, "3", "32", "32"});
    test::add_weights(graph, "scale", {}, Proto::FLOAT);
    test::add_weights(graph, "zero", {}, type);
    test::add_weights(graph, "w", {64, 3, 3, 3}, type);
    std::string x = "x", w = "w", y = "y";
    if (quantised != Quantised::none) {
        test::add_node(graph, "DequantizeLinear", {"w", "scale", "zero"}, {w = "w_real"});
        if (quantised == Quantised::all) {
            test::add_node(graph, "QuantizeLinear", {"x", "scale", "zero"}, {"x_q"});
            test::add_node(graph, "DequantizeLinear", {"x_q", "scale", "zero"}, {x = "x_real"});
        }
    }
    test::add_node(graph, "Conv", {x, w}, {y}, "layer");
    auto* output = graph.add_output();
    output->set_name(y);
    auto* tensor = output->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(Proto::FLOAT);
    for (const char* dim : {batch, "64", "30", "30"})
        tensor->mutable_shape()->add_dim()->set_dim_value(std::stoll(dim));
    return model;
}

Precision format_of(const onnx::ModelProto& model) {
    const auto format = format_of_file(test::import_model(model));
    REQUIRE(format);
    return format->compute;
}

} // namespace

TEST_CASE("a file's numbers say its format", "[precision]") {
    CHECK(format_of(convolution(Proto::FLOAT)) == Precision::fp32);
    CHECK(format_of(convolution(Proto::FLOAT16)) == Precision::fp16);
    CHECK(format_of(convolution(Proto::BFLOAT16)) == Precision::bf16);
    CHECK(format_of(convolution(Proto::INT8, Quantised::all)) == Precision::int8);
    CHECK(format_of(convolution(Proto::UINT8, Quantised::all)) == Precision::int8);
    // Weights alone in 8 bits are stored so and multiplied in floats.
    CHECK(format_of(convolution(Proto::INT8, Quantised::weights)) == Precision::fp32);
    CHECK_FALSE(format_of_file(Graph{}));
}

TEST_CASE("where no format fits, the smallest says how far the device is from it", "[precision]") {
    const Session& session = laws::session();
    const Result r = session.estimate({.model = session.load("mobilenet_v2")}, "STM32H747", {});
    REQUIRE(r.estimate.status == Status::does_not_fit);
    CHECK(r.estimate.reason.starts_with("in int8 needs "));
}

TEST_CASE("a chip of one format is used with it, and refusals name it", "[precision]") {
    const Session& session = laws::session();
    Device device = *session.hardware().device("Hailo-8").device;
    for (Engine& engine : device.engines) {
        const Fact rate = engine.rate(Precision::int8);
        engine.ops_per_clock = {};
        engine.ops_per_clock[static_cast<std::size_t>(Precision::int16)] = rate;
    }
    Machine machine = *session.machine("Hailo-8", {});
    machine.device = std::make_shared<const Device>(device);
    machine.runtime = session.hardware().runtime("ideal"); // a stack of formats has none of others
    const auto deployed = deployed_on(machine);
    REQUIRE(deployed.size() == 1);
    CHECK(deployed.front().compute == Precision::int16);
    CHECK_THAT(resolve_precision(device, *machine.runtime, PrecisionConfig::uniform(Precision::fp64)).note,
               Catch::EndsWith("it multiplies int16"));
}

TEST_CASE("the format is the file's, the prompt's, or the one that is named", "[precision]") {
    const auto file = std::filesystem::temp_directory_path() / "archsim-halves.onnx";
    std::ofstream(file, std::ios::binary) << convolution(Proto::FLOAT16).SerializeAsString();
    const Session& session = laws::session();
    Workload workload{.model = session.load(file.string())};
    Conditions conditions;
    const auto asked = [&](const Workload& of) { return settled(conditions, of).precision; };
    CHECK(asked(workload) == PrecisionConfig::uniform(Precision::fp16));
    CHECK(session.estimate(workload, "A100", conditions).conditions.precision.compute == Precision::fp16);
    conditions.weights = Precision::int8; // a flag beside it wins
    CHECK(asked(workload).weights == Precision::int8);
    CHECK(asked(workload).compute == Precision::fp16);
    conditions.weights.reset();
    conditions.precision.strict_fp32 = true;
    CHECK(asked(workload).compute == Precision::fp32);
    conditions.precision.strict_fp32 = false;
    CHECK(asked({.model = session.load("resnet50")}).compute == Precision::fp32);
    CHECK(asked({.prompt = Prompt{}}).compute == Precision::bf16);
    conditions.precision = PrecisionConfig::uniform(Precision::fp32);
    CHECK(asked(workload).compute == Precision::fp32);
    std::filesystem::remove(file);
}

TEST_CASE("a batch that a file fixes is that many items of a run", "[batch]") {
    const auto file = std::filesystem::temp_directory_path() / "archsim-pair.onnx";
    const Session& session = laws::session();
    const auto estimate = [&](const char* fixed, std::int64_t batch) {
        std::ofstream(file, std::ios::binary)
            << convolution(Proto::FLOAT, Quantised::none, fixed).SerializeAsString();
        return session.estimate({.model = session.load(file.string()), .batch = batch}, "A100").estimate;
    };
    const Estimate pair = estimate("2", 1), asked = estimate("1", 2);
    CHECK(pair.batch == 2);
    CHECK(pair.latency_s == asked.latency_s);
    CHECK(pair.throughput_per_s == asked.throughput_per_s);
    CHECK(pair.energy_per_inference_j == asked.energy_per_inference_j);
    CHECK(estimate("2", 8).batch == 8); // what is asked for is taken
    // Positions are no items: the output does not share the leading dimension.
    CHECK(fixed_items(test::import_model(convolution(Proto::FLOAT))) == 1);
    std::filesystem::remove(file);
}
