#include "fit/rows/served_protocol.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace archsim {

namespace {

// InferenceMAX (SemiAnalysis) measures these lengths and no others: (prompt, answer), with
// --random-range-ratio 0.8, ten requests for each in flight, all sent as fast as the limit allows, none to
// warm up (README and benchmarks/*.sh of the repository; benchmark_serving.py draws every length uniformly
// from [ratio x length, length]).
constexpr std::array<std::pair<std::int64_t, std::int64_t>, 3> kInferenceMaxLengths = {
    {{1024, 1024}, {1024, 8192}, {8192, 1024}}};
constexpr double kInferenceMaxRange = 0.8;

// Whose scripts for vLLM compile the model as one graph and capture it for decoding alone (70b_fp8_b200_*.sh:
// "splitting_ops": [], "cudagraph_mode": "FULL_DECODE_ONLY"); that for H200 leaves both at their defaults.
constexpr std::string_view kWholeGraph = "B200";

ServedProtocol inference_max(std::int64_t prompt, std::int64_t output, const MeasuredRow& row) {
    ServedProtocol p;
    p.name = "InferenceMAX";
    p.shortest = kInferenceMaxRange;
    if (row.runtime != "trt-llm") {
        // vLLM: max-num-batched-tokens 8192, asynchronous scheduling, no prefix cache
        p.whole_graph = row.runtime == "vllm" && row.hardware == kWholeGraph;
        return p;
    }
    // TensorRT-LLM: max_num_tokens 16384, whole prompts; short prompts and answers on less than a node wait
    // for 0.9 of a step or 20 steps (70b_fp8_b200_trt_slurm.sh: batch_wait_max_tokens_ratio,
    // batch_wait_timeout_iters).
    p.step_tokens = 16384;
    p.chunked = false;
    constexpr double kNode = 8;
    if (prompt == output && row.devices < kNode) {
        p.wait_tokens = 0.9;
        p.wait_steps = 20;
    }
    return p;
}

std::int64_t tokens_in(const std::string& text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// genai-perf as aiconfigurator and Dynamo call it: lengths of standard deviation 0, answers to their full
// length, ten requests for each in flight after two to warm up, every prompt another (aiconfigurator,
// eval/benchmarks/genai_perf_runner.py; dynamo, benchmarks/llm/perf.sh), and no cache of prompts
// (aiconfigurator, docs/dynamo_deployment_guide.md). TensorRT-LLM has its defaults: 8192 tokens in a step,
// and prompts whole (max_num_tokens, enable_chunked_prefill).
ServedProtocol genai_perf() {
    ServedProtocol p;
    p.name = "genai-perf";
    p.warm_up = 2;
    p.chunked = false;
    return p;
}

// aiperf, its successor, as aiconfigurator generates it for the other servers (config/backend_templates/
// benchmark/bench_run.sh.j2): the same lengths, but no --num-dataset-entries, of which there are then 100
// (aiperf, command line options), and nothing that turns off the servers' cache of prompts (rule_plugin/
// vllm.rule, config/backend_config_mapping.yaml). Ten requests for each in flight, the first batch among them
// (docs/dynamo_deployment_guide.md: ten, so that the first batch weighs less), on a fresh server. The
// script's two to warm up would leave almost nothing to compute, which the rows of Llama 3.1 8B exclude.
ServedProtocol aiperf() {
    ServedProtocol p;
    p.name = "aiperf";
    p.distinct_prompts = 100;
    return p;
}

// A benchmark of one's own (vllm bench serve, sglang.bench_serving, genai-perf, aiperf): prompts of random
// tokens, none twice, all sent as fast as the limit allows, to a server at its defaults.
ServedProtocol own_benchmark(const std::string& client) {
    ServedProtocol p;
    p.name = client;
    p.step_tokens = 0; // the stack's
    return p;
}

} // namespace

ServedProtocol protocol_of(const MeasuredRow& row) {
    const std::int64_t prompt = tokens_in(row.prompt_tokens), output = tokens_in(row.generated_tokens);
    const bool known = std::find(kInferenceMaxLengths.begin(), kInferenceMaxLengths.end(),
                                 std::pair(prompt, output)) != kInferenceMaxLengths.end();
    ServedProtocol p = !row.client.empty()        ? own_benchmark(row.client)
                       : known                    ? inference_max(prompt, output, row)
                       : row.runtime == "trt-llm" ? genai_perf()
                                                  : aiperf();
    p.prompt_tokens = prompt;
    p.output_tokens = output;
    return p;
}

} // namespace archsim
