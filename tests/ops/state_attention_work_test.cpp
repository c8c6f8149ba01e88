// Hand-computed work of latent attention and of recurrences with a state.

#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/checkpoint.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace archsim;

namespace {

ShapedGraph bound(const std::string& name, std::int64_t sequence, std::int64_t past) {
    const Checkpoint c =
        read_checkpoint(std::string(ARCHSIM_SOURCE_DIR) + "/models/configs/" + name + ".json");
    Bindings sizes;
    sizes.dims = {{"batch", 1}, {"sequence", sequence}, {"past_sequence", past}};
    return archsim::bind(c.graph, sizes, c.dims);
}

const Operator& first(const ShapedGraph& graph, const std::string& type) {
    for (const Operator& op : graph.operators)
        if (op.type == type)
            return op;
    throw std::runtime_error("no " + type);
}

} // namespace

TEST_CASE("latent attention absorbs when it decodes and expands prompts", "[ops]") {
    const ShapedGraph step = bound("deepseek-v3", 1, 999);
    CHECK(first(step, "archsim.LatentKeys").work.macs == 128.0 * 128 * 512);
    CHECK(first(step, "archsim.LatentValues").work.macs == 128.0 * 128 * 512);
    CHECK(first(step, "archsim.LatentAttention").work.macs == 128.0 * 1000 * (576 + 512));
    CHECK(first(step, "archsim.LatentAttention").work.attention->kv_heads == 1);
    const ShapedGraph prompt = bound("deepseek-v3", 1000, 0);
    CHECK(first(prompt, "archsim.LatentKeys").work.macs == 1000.0 * 512 * 128 * 128);
    CHECK(first(prompt, "archsim.LatentAttention").work.macs ==
          Approx(128 * (1000.0 * 1001 / 2) * (192 + 128)));
    CHECK(first(prompt, "archsim.LatentAttention").work.attention->kv_heads == 128);
}

TEST_CASE("a recurrence costs the same at every context", "[ops]") {
    const auto macs = [](std::int64_t past) {
        return first(bound("qwen3.5-27b", 1, past), "com.microsoft.LinearAttention").work.macs;
    };
    // 48 heads; a delta rule takes three products of 128 x 128 per token.
    CHECK(macs(0) == Approx(48.0 * 3 * 128 * 128));
    CHECK(macs(100000) == macs(0));
    // A prompt goes by blocks of 64 tokens, each of which waits for the one before.
    const auto steps = [](std::int64_t tokens) {
        return first(bound("qwen3.5-27b", tokens, 0), "com.microsoft.LinearAttention").work.serial_steps;
    };
    CHECK(steps(1) == 1);
    CHECK(steps(1000) == 16);
    // Mamba-2 takes two, of 256 x 64, in 256 heads.
    CHECK(first(bound("nemotron-h-56b", 1, 5), "com.microsoft.LinearAttention").work.macs ==
          Approx(256.0 * 2 * 256 * 64));
}

TEST_CASE("windows bound the positions that a step reads", "[ops]") {
    const auto scores = [](std::int64_t past) {
        const ShapedGraph graph = bound("gpt-oss-20b", 1, past);
        return first(graph, "com.microsoft.GroupQueryAttention").work.macs;
    };
    CHECK(scores(50) == 64.0 * 51 * 2 * 64);
    CHECK(scores(5000) == 64.0 * 128 * 2 * 64); // the first layer sees 128 positions
}
