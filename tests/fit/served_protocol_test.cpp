// How measured servers were asked, by the rows that state lengths and stack.

#include "fit/rows/served_row.hpp"

#include "archsim/core/finding.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

ServedProtocol protocol_for(const char* stack, const char* prompt, const char* output, double devices = 1,
                            const char* hardware = "H200", const char* model = "llama-3.1-70b",
                            const char* client = "", const char* precision = "fp8", int in_flight = 8) {
    MeasuredRow row;
    row.client = client;
    row.precision = precision;
    row.batch = in_flight;
    row.model = model;
    row.hardware = hardware;
    row.runtime = stack;
    row.prompt_tokens = prompt;
    row.generated_tokens = output;
    row.devices = devices;
    return protocol_of(row, std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db/server_benchmarks.json");
}

} // namespace

TEST_CASE("measured servers were asked by the benchmark that they name", "[run][measurements]") {
    const auto genai = [](const char* stack) {
        return protocol_for(stack, "2048", "256", 2, "H200", "llama-3.1-70b", "genai-perf");
    };
    const ServedProtocol random = protocol_for("vllm", "1024", "8192");
    CHECK(random.name == "InferenceMAX");
    CHECK(random.shortest == 0.8);
    CHECK(random.distinct_prompts == 0); // its server keeps no prompts
    CHECK(random.warm_up == 0);

    const ServedProtocol fresh = genai("trt-llm");
    CHECK(fresh.name == "genai-perf");
    CHECK(fresh.shortest == 1);
    CHECK(fresh.distinct_prompts == 0); // twelve prompts for each request in flight, none twice
    CHECK(fresh.warm_up == 2);
    CHECK_FALSE(fresh.chunked);

    for (const char* stack : {"vllm", "sglang"}) // every prompt is another whoever serves it
        CHECK(genai(stack).distinct_prompts == 0);
    CHECK(genai("vllm").side_by_side); // Dynamo's front end
    CHECK_FALSE(protocol_for("vllm", "1024", "8192").side_by_side);
    CHECK(genai("sglang").step_tokens == 2048 + 1500);
    CHECK_FALSE(genai("sglang").chunked);

    const ServedProtocol repeated = protocol_for("vllm", "4000", "100", 4, "H200", "llama-3.1-8b", "aiperf");
    CHECK(repeated.name == "aiperf");
    CHECK(repeated.prompt_tokens == 4000);
    CHECK(repeated.output_tokens == 100);
    CHECK(repeated.distinct_prompts == 100); // its client's default
    CHECK(repeated.counted == 10);
    CHECK(repeated.chunked);
}

TEST_CASE("who names no client asked as the engine's own benchmark does a server at its defaults",
          "[run][measurements]") {
    for (const char* stack : {"vllm", "sglang", "trt-llm"}) {
        const ServedProtocol own = protocol_for(stack, "1000", "1000", 8);
        CAPTURE(stack, own.name);
        CHECK(own.step_tokens == 0);
        CHECK(own.warm_up == 0);
        CHECK_FALSE(own.side_by_side);
        // SGLang's client draws lengths up to the stated ones, which never end together.
        CHECK(own.shortest == (own.name == "sglang.bench_serving" ? 0 : 1));
    }
    CHECK(protocol_for("sglang", "1000", "1000").name == "sglang.bench_serving");
    const ServingRequest drawn = request_of(protocol_for("vllm", "variable:400", "variable:100"), 4);
    CHECK(drawn.load.shape == LengthShape::uniform);
    CHECK(drawn.load.prompt_tokens == 400); // the mean of lengths from none to twice as many
    CHECK(drawn.load.shortest + drawn.load.longest == 2);
}

TEST_CASE("one benchmark compiles whole graphs under vLLM on B200, as its scripts say",
          "[run][measurements]") {
    CHECK(protocol_for("vllm", "1024", "8192", 4, "B200").whole_graph);
    CHECK_FALSE(protocol_for("vllm", "1024", "8192", 4, "H200").whole_graph);
    CHECK_FALSE(protocol_for("trt-llm", "1024", "8192", 4, "B200").whole_graph);
    CHECK_FALSE(protocol_for("vllm", "4000", "100", 4, "B200").whole_graph);
}

TEST_CASE("short answers on less than a node wait for a full step under TensorRT-LLM alone",
          "[run][measurements]") {
    CHECK(protocol_for("trt-llm", "1024", "1024", 4).wait_steps == 20);
    CHECK(protocol_for("trt-llm", "1024", "1024", 8).wait_steps == 0);
    CHECK(protocol_for("vllm", "1024", "1024", 4).wait_steps == 0);
}

TEST_CASE("a client that is named decides, whatever the lengths", "[run][measurements]") {
    const auto file = std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db/server_benchmarks.json";
    MeasuredRow row;
    row.runtime = "vllm";
    row.hardware = "H200";
    row.prompt_tokens = row.generated_tokens = "1024";
    row.client = "aiperf";
    CHECK(protocol_of(row, file).distinct_prompts == 100);
    row.client = "vllm bench serve"; // one's own: the server is at its defaults
    CHECK(protocol_of(row, file).name == "vllm bench serve");
    CHECK(protocol_of(row, file).step_tokens == 0);
    CHECK(protocol_of(row, file).chunked);
    row.runtime = "sglang";
    row.client = "sglang.bench_serving"; // ten requests of one user, five of each of many
    CHECK(protocol_of(row, file).counted == 10);
    row.batch = 100;
    CHECK(protocol_of(row, file).counted == 5);
    row.client = "vllm bench serve"; // whoever answers
    CHECK(protocol_of(row, file).counted == 10);
    CHECK_THROWS_AS(protocol_of(row, "no_such_file.json"), InputError);
}

TEST_CASE("what a benchmark's script does for one model is not done for another", "[run][measurements]") {
    const auto of = [](const char* stack, const char* model) {
        return protocol_for(stack, "1024", "1024", 4, "B200", model);
    };
    CHECK_FALSE(of("vllm", "openai/gpt-oss-120b").whole_graph);
    CHECK(of("vllm", "openai/gpt-oss-120b").captured_tokens == 2048);
    CHECK(of("vllm", "openai/gpt-oss-120b").prefix_cache);
    CHECK_FALSE(of("sglang", "Qwen/Qwen3.5-397B-A17B").prefix_cache);
    CHECK(of("vllm", "no script's model").captured_tokens == 0); // the stack's own
    CHECK(of("trt-llm", "openai/gpt-oss-120b").wait_steps == 0);
    CHECK(of("trt-llm", "openai/gpt-oss-120b").step_tokens == 20000);
    CHECK(of("trt-llm", "deepseek-ai/DeepSeek-R1").step_tokens == 8192);
    CHECK_FALSE(of("trt-llm", "deepseek-ai/DeepSeek-R1").chunked);
    CHECK(of("sglang", "no script's model").step_tokens == 0); // SGLang's own
    CHECK(of("sglang", "no script's model").poll_steps == 1);
}

TEST_CASE("a server whose script names no format of the cache keeps the model's own", "[run][measurements]") {
    const auto cache = [](const char* stack, const char* hardware, const char* model,
                          const char* client = "InferenceMAX") {
        return protocol_for(stack, "1024", "1024", 8, hardware, model, client).kv_cache;
    };
    CHECK(cache("sglang", "H200", "deepseek-ai/DeepSeek-R1") == Precision::bf16);
    CHECK(cache("sglang", "MI355X", "deepseek-ai/DeepSeek-R1") == Precision::bf16);
    CHECK(cache("trt-llm", "H200", "openai/gpt-oss-120b") == Precision::bf16);
    CHECK(cache("vllm", "H100", "MiniMaxAI/MiniMax-M2.5") == Precision::bf16);
    // Others say fp8, as published servers of narrow floats do.
    for (const char* hardware : {"B200", "B300"}) {
        CHECK_FALSE(cache("sglang", hardware, "deepseek-ai/DeepSeek-R1"));
        CHECK_FALSE(cache("vllm", hardware, "MiniMaxAI/MiniMax-M2.5"));
    }
    CHECK_FALSE(cache("trt-llm", "H200", "deepseek-ai/DeepSeek-R1"));
    CHECK_FALSE(cache("sglang", "H200", "deepseek-ai/DeepSeek-R1", "genai-perf")); // another's script
}

TEST_CASE("how often SGLang looks for requests follows from format and requests in flight",
          "[run][measurements]") {
    const auto of = [](const char* hardware, const char* precision, int in_flight) {
        return protocol_for("sglang", "1024", "1024", 8, hardware, "deepseek-ai/DeepSeek-R1", "InferenceMAX",
                            precision, in_flight);
    };
    CHECK(of("B200", "fp8", 15).poll_steps == 10);
    CHECK(of("B200", "fp8", 16).poll_steps == 30);
    CHECK(of("B200", "fp8", 16).step_tokens == 32768);
    CHECK(of("B300", "fp4", 64).poll_steps == 30);
    CHECK(of("B300", "fp4", 64).step_tokens == 16384);
    CHECK(of("H200", "fp8", 64).poll_steps == 1);
    // What a script sends once is not ten times as much, and steps of two prompts follow their length.
    CHECK(of("B300", "fp4", 64).counted == 1);
    CHECK(of("B200", "fp4", 64).counted == 10);
    CHECK(protocol_for("vllm", "8192", "1024", 4, "B200", "MiniMaxAI/MiniMax-M2.5").step_tokens == 16384);
    CHECK(protocol_for("vllm", "1024", "1024", 4, "B300", "MiniMaxAI/MiniMax-M2.5").step_tokens == 2048);
}
