#include "answers/measuring/check_me.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/session.hpp"
#include "measurements/given_output.hpp"
#include "measurements/tool_output.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

using namespace archsim;
using archsim::test::shipped_session;

namespace {

const std::filesystem::path kOutputs = std::filesystem::path(__FILE__).parent_path() / "outputs";

std::string text_of(const std::string& file) {
    std::ifstream stream(kOutputs / file);
    REQUIRE(stream);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// What an estimate of a catalogue model under a stack says; `workload` without its model.
Result estimated(const char* model, const char* hardware, const char* stack, Workload workload = {},
                 std::optional<Precision> precision = std::nullopt) {
    workload.model = shipped_session().load(model);
    Conditions conditions;
    conditions.stack = stack;
    if (precision)
        conditions.precision = PrecisionConfig::uniform(*precision);
    Result result = shipped_session().estimate(workload, hardware, conditions);
    REQUIRE(result.ok());
    return result;
}

} // namespace

TEST_CASE("trtexec: median of the GPU compute time, layers of the profile", "[check]") {
    const ToolOutput output = read_tool_output(kOutputs / "trtexec.log");
    CHECK(output.tool == "trtexec");
    REQUIRE(output.rows.size() == 1);
    const MeasuredRow& row = output.rows.front();
    CHECK(row.model == "resnet50");
    CHECK(row.hardware == "NVIDIA A100-SXM4-80GB");
    CHECK(row.precision == "fp16");
    CHECK(row.batch == 8);
    CHECK(row.runtime == "tensorrt");
    CHECK(row.metric == MeasuredMetric::latency_ms);
    CHECK(row.value == Approx(1.19139));
    REQUIRE(output.layers.size() == 4); // the line "Total" is none
    CHECK(output.layers[1].name == "/conv1/Conv + /relu/Relu");
    CHECK(output.layers[1].seconds == Approx(22.5e-6)); // the median, not the average
}

TEST_CASE("benchmark_app: one request is a latency, many are a throughput", "[check]") {
    MeasuredContext context;
    context.hardware = "EPYC-9654";
    const ToolOutput output = read_tool_output(kOutputs / "benchmark_app.txt", context);
    REQUIRE(output.rows.size() == 1);
    CHECK(output.rows[0].runtime == "openvino");
    CHECK(output.rows[0].model == "resnet50");
    CHECK(output.rows[0].metric == MeasuredMetric::latency_ms);
    CHECK(output.rows[0].value == Approx(9.34)); // of the summary, not the first inference
    CHECK(output.rows[0].hardware == "EPYC-9654");
    std::string many = text_of("benchmark_app.txt");
    many.replace(many.find("PERFORMANCE_HINT: LATENCY"), 25, "PERFORMANCE_HINT: THROUGHPUT");
    many.replace(many.find("NUM_STREAMS: 1"), 14, "NUM_STREAMS: 8");
    const ToolOutput throughput = parse_tool_output(many, "many.txt", context);
    CHECK(throughput.rows[0].metric == MeasuredMetric::throughput_per_s);
    CHECK(throughput.rows[0].value == Approx(106.69));
}

TEST_CASE("hailortcli: streaming rate and power", "[check]") {
    MeasuredContext context;
    context.hardware = "Hailo-8";
    const ToolOutput output = read_tool_output(kOutputs / "hailortcli.txt", context);
    REQUIRE(output.rows.size() == 2);
    CHECK(output.rows[0].model == "yolov5m_wo_spp_60p");
    CHECK(output.rows[0].metric == MeasuredMetric::throughput_per_s);
    CHECK(output.rows[0].value == Approx(218.078));
    CHECK(output.rows[1].metric == MeasuredMetric::power_w);
    CHECK(output.rows[1].value == Approx(5.30504));
}

TEST_CASE("llama-bench: prefill and decoding, from CSV and JSON", "[check]") {
    const ToolOutput csv = read_tool_output(kOutputs / "llama_bench.csv");
    REQUIRE(csv.rows.size() == 2);
    CHECK(csv.rows[0].model == "llama-2-7b");
    CHECK(csv.rows[0].hardware == "NVIDIA GeForce RTX 4080");
    CHECK(csv.rows[0].precision == "int4");
    CHECK(csv.rows[0].phase == "prefill");
    CHECK(csv.rows[0].prompt_tokens == "512");
    CHECK(csv.rows[0].value == Approx(7285.676949));
    CHECK(csv.rows[1].phase == "decode");
    CHECK(csv.rows[1].generated_tokens == "128");
    CHECK(csv.rows[0].id != csv.rows[1].id);
    const ToolOutput json = read_tool_output(kOutputs / "llama_bench.json");
    REQUIRE(json.rows.size() == 1);
    CHECK(json.rows[0].hardware == "AMD EPYC 9654 96-Core Processor"); // no layer on a GPU
    CHECK(json.rows[0].precision == "int8");
    CHECK(json.rows[0].value == Approx(428.5));
}

TEST_CASE("onnxruntime_perf_test: the median in seconds", "[check]") {
    MeasuredContext context;
    context.model = "resnet18";
    context.hardware = "this-machine";
    const ToolOutput output = read_tool_output(kOutputs / "perf_test.txt", context);
    REQUIRE(output.rows.size() == 1);
    CHECK(output.rows[0].value == Approx(15.6015));
    CHECK(output.rows[0].precision == "fp32");
}

TEST_CASE("benchncnn: a row for each network, in its format", "[check]") {
    MeasuredContext context;
    context.hardware = "Cortex-A76-RPi5";
    const ToolOutput output = read_tool_output(kOutputs / "benchncnn.txt", context);
    REQUIRE(output.rows.size() == 8);
    CHECK(output.tool == "benchncnn");
    CHECK(output.rows[0].runtime == "ncnn");
    CHECK(output.rows[0].model == "squeezenet");
    CHECK(output.rows[0].value == Approx(16.64)); // the average, not the minimum
    CHECK(output.rows[0].precision == "fp32");
    CHECK(output.rows[6].model == "resnet18");
    CHECK(output.rows[6].precision == "int8");
    context.precision = "fp16";
    const ToolOutput named = read_tool_output(kOutputs / "benchncnn.txt", context);
    CHECK(named.rows[5].precision == "fp16"); // the output does not say
    CHECK(named.rows[6].precision == "int8"); // it does
}

TEST_CASE("a log that does not say what ran asks for it", "[check]") {
    CHECK_THROWS_WITH(read_tool_output(kOutputs / "perf_test.txt"), Catch::Contains("--model"));
    CHECK_THROWS_WITH(parse_tool_output("hello\n", "x.txt"), Catch::Contains("no tool"));
    CHECK_THROWS_WITH(
        parse_tool_output("&&&& RUNNING TensorRT.trtexec\n[E] Engine could not be created\n", "x.log"),
        Catch::Contains("no result"));
    CHECK_THROWS_AS(read_tool_output("/nonexistent.log"), InputError);
}

TEST_CASE("every cut of an output is read or refused", "[check]") {
    MeasuredContext context;
    context.model = "resnet50";
    context.hardware = "A100";
    for (const char* file : {"trtexec.log", "benchmark_app.txt", "hailortcli.txt", "benchncnn.txt",
                             "llama_bench.csv", "llama_bench.json", "perf_test.txt"}) {
        const std::string text = text_of(file);
        for (std::size_t length = 0; length < text.size(); length += 7)
            try {
                const ToolOutput output =
                    parse_tool_output(std::string_view(text).substr(0, length), file, context);
                for (const MeasuredRow& row : output.rows)
                    CHECK(row.value > 0);
            } catch (const InputError& refused) {
                CHECK_FALSE(std::string(refused.what()).empty());
            }
    }
}

TEST_CASE("layers of a real profile find their subgraphs", "[check]") {
    const Result result = estimated("squeezenet1_0", "EPYC-9654", "onnxruntime-cpu");
    MeasuredContext context;
    context.model = "squeezenet1_0";
    context.hardware = "EPYC-9654";
    const ToolOutput output = read_tool_output(kOutputs / "onnxruntime_profile.json", context);
    REQUIRE(output.rows.size() == 1);
    const LayerProfile profile = match_layers(result, output);
    double matched = 0, sum = 0;
    std::size_t convolutions = 0;
    for (const ProfiledSubgraph& subgraph : profile.subgraphs) {
        matched += subgraph.measured_s;
        if (subgraph.kind == "convolution") {
            ++convolutions;
            CHECK(subgraph.measured_s > 0);
        }
    }
    CHECK(convolutions == 26);
    for (const LayerTime& layer : output.layers)
        sum += layer.seconds;
    CHECK(profile.measured_s == Approx(sum));
    CHECK(matched > 0.95 * sum); // what is left are changes of layout
    CHECK(matched <= sum * (1 + 1e-9));
    const std::string text = render(describe(profile, 5), Format::text);
    CHECK(text.find("Ratio") != std::string::npos);
    CHECK(render(describe(profile, 0), Format::html).find("measured") != std::string::npos);
    CHECK_THROWS_AS(match_layers(result, ToolOutput{"x", {}, {}}), InputError);
}

TEST_CASE("layers keep their subgraph under the names that a runtime gives them", "[check]") {
    const Result result = estimated("resnet18", "EPYC-9654", "onnxruntime-cpu");
    const auto measured = [&](const std::string& name) {
        ToolOutput output;
        output.tool = "onnxruntime-profile";
        output.layers = {{name, "QLinearConv", 1e-3}};
        const LayerProfile profile = match_layers(result, output);
        const auto found = std::find_if(profile.subgraphs.begin(), profile.subgraphs.end(),
                                        [](const ProfiledSubgraph& s) { return s.measured_s > 0; });
        return found == profile.subgraphs.end() ? std::string("none") : found->name;
    };
    for (const char* name : {"/layer1/layer1.0/conv1/Conv", "/layer1/layer1.0/conv1/Conv_nhwc",
                             "/layer1/layer1.0/conv1/Conv_token_14", "/layer1/layer1.0/conv1/Conv_quant"})
        CHECK(measured(name) == "/layer1/layer1.0/conv1/Conv");
    CHECK(measured("Transpose_token_166") == "none");
    CHECK(measured("_token_1") == "none");
    CHECK(measured("/layer1/layer1.0/conv1/Conv_14") != "/layer1/layer1.0/conv1/Conv");
}

TEST_CASE("every stack says how to check it, or why nobody can", "[check]") {
    const HardwareDatabase& database = shipped_session().hardware();
    for (const std::string& id : database.runtime_ids()) {
        INFO(id);
        const CheckTemplate& check = database.runtime(id)->check;
        CHECK(check.command.empty() != check.why_not.empty());
        if (!check.command.empty()) {
            CHECK_FALSE(check.cite.empty());
            CHECK((check.command.find("{onnx}") != std::string::npos ||
                   check.command.find("{torchvision}") != std::string::npos ||
                   check.command.find("{checkpoint}") != std::string::npos ||
                   check.command.find("{name}") != std::string::npos ||
                   check.note.find("{onnx}") != std::string::npos));
        }
    }
}

TEST_CASE("a command names the estimate's model, format and shapes", "[check]") {
    const CheckCommand check = check_command(
        shipped_session(), estimated("resnet50", "A100", "tensorrt", {.batch = 8}, Precision::fp16));
    CHECK(check.command.find("--onnx=resnet50.onnx") != std::string::npos);
    CHECK(check.command.find("8x3x224x224") != std::string::npos);
    CHECK(check.command.find(" --fp16 ") != std::string::npos);
    CHECK(check.command.find('{') == std::string::npos);
    CHECK(check.reads == "trtexec");
    CHECK(render(describe(std::vector{check, check}), Format::text).find("trtexec") != std::string::npos);
    const CheckCommand mobile =
        check_command(shipped_session(), estimated("mobilenet_v2", "Cortex-A76-RPi5", "ncnn"));
    CHECK(mobile.command.find("shape=[224,224,3]") != std::string::npos);
}

TEST_CASE(
    "a command names a model that its library has and a format that is the estimate's, or there is none",
    "[check]") {
    const Session& session = shipped_session();
    // The last two are made from models of torchvision, which has none of their names.
    for (const std::string name :
         {"resnet50", "yolov8n", "bert-large", "llama-3-8b", "tinyllama-1.1b", "resnet200", "vit_b_16_384"})
        for (const std::string& stack : session.hardware().device("A100").device->runtimes) {
            INFO(name << " under " << stack);
            Workload workload{.model = session.load(name)};
            if (workload.model.info.language_model)
                workload.prompt = Prompt{};
            const Result result = session.estimate(workload, "A100", {.stack = stack});
            if (!result.ok())
                continue;
            const CheckCommand check = check_command(session, result);
            CHECK(check.command.empty() != check.why_not.empty());
            CHECK(check.command.find('{') == std::string::npos);
            if (check.command.find("get_model") != std::string::npos) {
                CHECK(session.catalogue().find(name)->source.starts_with("torchvision"));
                CHECK(name == "resnet50");
                CHECK(check.command.find("get_model('" + name + "')") != std::string::npos);
            }
            const bool served = stack == "vllm" || stack == "trt-llm" || stack == "sglang";
            CHECK((!served || check.command.empty() || check.command.find('/') != std::string::npos));
        }
    const Session& s = shipped_session();
    const CheckCommand whole = check_command(
        s, s.estimate({.model = s.load("llama-3-8b"), .prompt = Prompt{}}, "H100",
                      {.precision = PrecisionConfig::uniform(Precision::fp8), .stack = "vllm"}));
    CHECK(whole.command.find("--quantization fp8") != std::string::npos);
    const CheckCommand onnx =
        check_command(s, estimated("resnet50", "A100", "onnxruntime-cuda", {}, Precision::int8));
    CHECK(onnx.note.find("model of that format") != std::string::npos);
}

TEST_CASE("a command asks trtexec for the products that the estimate has: TF32 unless strictly fp32",
          "[check]") {
    const auto command = [](const char* device, bool strict) {
        PrecisionConfig format = PrecisionConfig::uniform(Precision::fp32);
        format.strict_fp32 = strict;
        return check_command(shipped_session(),
                             shipped_session().estimate({.model = shipped_session().load("resnet50")}, device,
                                                        {.precision = format, .stack = "tensorrt"}))
            .command;
    };
    CHECK(command("A100", false).find("--noTF32") == std::string::npos);
    CHECK(command("A100", true).find(" --noTF32 ") != std::string::npos);
    CHECK(command("T4", false).find(" --noTF32 ") != std::string::npos);
}

TEST_CASE("a command for a language model names its prompt", "[check]") {
    const CheckCommand check = check_command(
        shipped_session(), estimated("tinyllama-1.1b", "RTX-4090", "llama.cpp",
                                     {.prompt = Prompt{.tokens = 96, .generate = 32}}, Precision::fp16));
    CHECK(check.command.find(" -p 96 -n 32 ") != std::string::npos);
}

TEST_CASE("clients of servers: a row for the first token and one for the time per token", "[check]") {
    const ToolOutput vllm = read_tool_output(kOutputs / "vllm_bench_serve.json", {.hardware = "H100"});
    CHECK(vllm.tool == "vllm bench serve");
    REQUIRE(vllm.rows.size() == 2);
    CHECK(vllm.rows[0].phase == "served_first_token");
    CHECK(vllm.rows[0].value == Approx(180.5));
    CHECK(vllm.rows[1].phase == "served_per_token");
    CHECK(vllm.rows[1].value == Approx(9.85));
    for (const MeasuredRow& row : vllm.rows) {
        CHECK(row.model == "Qwen/Qwen3-8B");
        CHECK(row.runtime == "vllm");
        CHECK(row.batch == 32);
        CHECK(row.prompt_tokens == "1024");
        CHECK(row.generated_tokens == "128");
        CHECK(row.precision == "bf16");
    }
    // A rate without a limit: 4 requests/s of 60 + 127 x 10 ms are 5.32 in flight.
    const ToolOutput sglang =
        read_tool_output(kOutputs / "sglang_bench_serving.jsonl", {.model = "qwen3-8b", .hardware = "H100"});
    CHECK(sglang.tool == "sglang.bench_serving");
    REQUIRE(sglang.rows.size() == 4);
    CHECK(sglang.rows[0].batch == 5);
    CHECK(sglang.rows[2].batch == 16);
    CHECK(sglang.rows[0].runtime == "sglang");
    CHECK_THROWS_WITH(read_tool_output(kOutputs / "sglang_bench_serving.jsonl", {.hardware = "H100"}),
                      Catch::Contains("--model"));
    const ToolOutput genai = read_tool_output(kOutputs / "genai_perf.json", {.hardware = "H100"});
    REQUIRE(genai.rows.size() == 2);
    CHECK(genai.tool == "genai-perf");
    CHECK(genai.rows[0].model == "meta-llama/Llama-3.1-8B");
    CHECK(genai.rows[0].batch == 10);
    CHECK(genai.rows[1].value == Approx(9.0));
}

TEST_CASE("of several devices that of an output stands before its file", "[check][given]") {
    CHECK(named_output("H100=bench.json").hardware == "H100");
    CHECK(named_output("H100=bench.json").file == "bench.json");
    CHECK(named_output("bench.json").hardware.empty());
    CHECK(named_output("=bench.json").hardware.empty());
    const Session& session = shipped_session();
    const std::string file = (kOutputs / "vllm_bench_serve.json").string(), named = "L40S=" + file;
    const auto rows = read_outputs(std::span(&named, 1), session, {.model = "qwen3-8b"});
    const auto alone = read_outputs(std::span(&file, 1), session, {.model = "qwen3-8b", .hardware = "L40S"});
    REQUIRE(rows.size() == alone.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(rows[i].hardware == "L40S");
        CHECK(rows[i].value == alone[i].value);
    }
    const std::string unknown = "no-such-device=" + file;
    CHECK_THROWS_AS(read_outputs(std::span(&unknown, 1), session, {.model = "qwen3-8b"}), Error);
}
