// Language models on stacks that compile fixed shapes: contexts and prompts of few lengths.

#include "laws/laws.hpp"
#include "session/generation/phases.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

const GenerationModel& llama_3() {
    static const GenerationModel model(laws::session().load("llama-3-8b"), {});
    return model;
}

Conditions static_options(Precision precision) {
    Conditions options;
    options.precision = PrecisionConfig::uniform(precision);
    return options;
}

} // namespace

TEST_CASE("a cache of fixed length is read whole by every step, and by a prompt in chunks alone",
          "[generation]") {
    const auto time = [](const std::string& device, const std::string& stack, GenerationPhase phase,
                         std::int64_t context) {
        Conditions conditions = static_options(Precision::bf16);
        conditions.stack = stack;
        const PhaseEstimate e = estimate_phase(laws::session(), llama_3(), device, conditions, phase, 8,
                                               {.tokens = 256, .generate = 128, .context = context});
        INFO(device << ": " << e.reason);
        REQUIRE(e.status == Status::ok);
        return e.latency_s;
    };
    // 8 sequences x 2048 positions x 128 KiB instead of 8 x 384, at 0.9 of 2765 GB/s; beside these reads
    // stand the products of attention, which the p-norm of the lanes lets add up to a fifth.
    CHECK(time("TPU-v5p", "xla", GenerationPhase::decode, 2048) -
              time("TPU-v5p", "xla", GenerationPhase::decode, 0) ==
          Approx(8 * (2048 - 384) * 131072.0 / 2.4885e12).epsilon(0.2));
    CHECK(time("TPU-v5p", "xla", GenerationPhase::prefill, 2048) ==
          time("TPU-v5p", "xla", GenerationPhase::prefill, 0));
    // Stacks without fixed shapes read what there is.
    CHECK(time("H100", "trt-llm", GenerationPhase::decode, 2048) ==
          time("H100", "trt-llm", GenerationPhase::decode, 0));
}

TEST_CASE("prompts are read one after another, padded to a compiled length, where the stack does so",
          "[generation]") {
    const auto prompt_pass = [](const std::string& device, const std::string& stack, std::int64_t batch,
                                std::int64_t tokens) {
        Conditions conditions = static_options(Precision::bf16);
        conditions.stack = stack;
        const PhaseEstimate e =
            estimate_phase(laws::session(), llama_3(), device, conditions, GenerationPhase::prefill, batch,
                           {.tokens = tokens, .generate = 128, .context = 2048});
        INFO(device << ": " << e.reason);
        REQUIRE(e.status == Status::ok);
        CHECK(e.step.throughput_per_s * e.latency_s == Approx(static_cast<double>(batch)));
        CHECK(e.step.power_w * e.latency_s == Approx(e.step.energy.total()));
        return e.latency_s;
    };
    // 200 tokens run in the program for 256; 257 in that for 512.
    CHECK(prompt_pass("TPU-v5p", "xla", 1, 200) == prompt_pass("TPU-v5p", "xla", 1, 256));
    CHECK(prompt_pass("TPU-v5p", "xla", 1, 257) == prompt_pass("TPU-v5p", "xla", 1, 512));
    CHECK(prompt_pass("TPU-v5p", "xla", 4, 200) == Approx(4 * prompt_pass("TPU-v5p", "xla", 1, 200)));
    // A server that packs the tokens of all prompts, and one that takes any length.
    CHECK(prompt_pass("TPU-v5p", "vllm-tpu", 4, 128) < 3.9 * prompt_pass("TPU-v5p", "vllm-tpu", 1, 128));
    CHECK(prompt_pass("H100", "trt-llm", 1, 2000) < prompt_pass("H100", "trt-llm", 1, 2048));
}

TEST_CASE("a fixed context that grows in blocks is read up to the end of its block", "[generation]") {
    // Positions 256 to 383 are one block of 128 on Gaudi; positions up to 511 need another.
    const auto per_token = [](std::int64_t generate, std::int64_t context) {
        Conditions conditions = static_options(Precision::bf16);
        conditions.stack = "synapse-ai";
        const PhaseEstimate e =
            estimate_phase(laws::session(), llama_3(), "Gaudi-3", conditions, GenerationPhase::decode, 64,
                           {.tokens = 256, .generate = generate, .context = context});
        REQUIRE(e.status == Status::ok);
        return e.latency_s;
    };
    CHECK(per_token(2, 2048) == Approx(per_token(128, 2048)));
    CHECK(per_token(256, 2048) > 1.001 * per_token(128, 2048));
    CHECK(per_token(128, 384) == Approx(per_token(128, 2048)));
    CHECK(per_token(2, 258) < 0.999 * per_token(2, 2048)); // no more than there is room for
}

TEST_CASE("static shapes: every pass over a prompt attends to the compiled context", "[generation]") {
    const auto first_token = [](std::int64_t prompt, std::int64_t context) {
        Prompt request;
        request.tokens = prompt;
        request.generate = 1;
        request.context = context;
        Conditions options;
        options.stack = "qnn";
        options.precision = *PrecisionConfig::parse("w4a16");
        return estimate_phase(laws::session(), llama_3(), "Snapdragon-8-Elite", options,
                              GenerationPhase::prefill, 1, request)
            .latency_s;
    };
    CHECK(first_token(128, 4096) > first_token(128, 1024));
    CHECK(first_token(100, 4096) == Approx(first_token(128, 4096))); // padded to the chunk
    CHECK(first_token(256, 4096) == Approx(2 * first_token(128, 4096)));
    CHECK(first_token(129, 4096) == Approx(first_token(256, 4096)));
}
