// Bytes of cache per token, computed by hand from the published configuration for each kind of attention.

#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/cache_bytes.hpp"
#include "checkpoint/checkpoint.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace archsim;
using test::cache_bytes;

namespace {

Checkpoint shipped(const std::string& name) {
    return read_checkpoint(std::string(ARCHSIM_SOURCE_DIR) + "/models/configs/" + name + ".json");
}

double per_token(const Checkpoint& c, std::int64_t at) {
    return cache_bytes(c, at + 1) - cache_bytes(c, at);
}

} // namespace

TEST_CASE("cache of grouped-query attention: 2 x layers x heads of keys x size", "[checkpoint]") {
    CHECK(per_token(shipped("qwen3-8b"), 1000) == 2 * 36 * 8 * 128 * 2);
    CHECK(per_token(shipped("qwen3-30b-a3b"), 1000) == 2 * 48 * 4 * 128 * 2);
    CHECK(per_token(shipped("minimax-m2.5"), 1000) == 2 * 62 * 8 * 128 * 2);
}

TEST_CASE("cache of multi-query attention: one head of keys", "[checkpoint]") {
    const Checkpoint c = read_checkpoint_config(
        R"({"model_type": "falcon", "hidden_size": 4544, "num_hidden_layers": 32, "num_attention_heads": 71,
            "multi_query": true, "vocab_size": 65024, "bias": false})",
        "falcon-7b");
    CHECK(c.facts.kv_heads == 1);
    CHECK(per_token(c, 1000) == 2 * 32 * 1 * 64 * 2);
}

TEST_CASE("layers with a window keep no more than the window", "[checkpoint]") {
    const Checkpoint oss = shipped("gpt-oss-20b"); // 12 of 24 layers see 128 positions
    CHECK(per_token(oss, 100) == 2 * 24 * 8 * 64 * 2);
    CHECK(per_token(oss, 1000) == 2 * 12 * 8 * 64 * 2);
    const Checkpoint gemma =
        shipped("gemma-4-26b-a4b"); // 25 local layers of 8 x 256, 5 global ones of 2 x 512
    CHECK(per_token(gemma, 500) == 2 * 25 * 8 * 256 * 2 + 2 * 5 * 2 * 512 * 2);
    CHECK(per_token(gemma, 2000) == 2 * 5 * 2 * 512 * 2);
    const Checkpoint scout = shipped("llama-4-scout"); // 36 layers attend within 8192 positions, 12 to all
    CHECK(per_token(scout, 1000) == 2 * 48 * 8 * 128 * 2);
    CHECK(per_token(scout, 10000) == 2 * 12 * 8 * 128 * 2);
}

TEST_CASE("latent attention caches one vector per layer", "[checkpoint]") {
    CHECK(per_token(shipped("deepseek-v3"), 1000) == 61 * (512 + 64) * 2);
}

TEST_CASE("layers that search left without attention cache nothing", "[checkpoint]") {
    CHECK(per_token(shipped("nemotron-super-49b"), 1000) == 2 * 49 * 8 * 128 * 2);
}

TEST_CASE("recurrent layers keep a state of fixed size", "[checkpoint]") {
    const Checkpoint qwen =
        shipped("qwen3.5-27b"); // 16 layers of attention, 48 with a state of 48 x 128 x 128
    CHECK(per_token(qwen, 1000) == 2 * 16 * 4 * 256 * 2);
    const double states = 48.0 * (48 * 128 * 128 * 4 + (2 * 16 * 128 + 48 * 128) * 3 * 2);
    CHECK(cache_bytes(qwen, 1000) == states + 1000 * 2.0 * 16 * 4 * 256 * 2);
    const Checkpoint nemotron = shipped("nemotron-h-56b"); // 10 layers of attention, 54 of Mamba-2
    CHECK(per_token(nemotron, 1000) == 2 * 10 * 8 * 128 * 2);
    const double mamba = 54.0 * (256 * 64 * 256 * 2 + (256 * 64 + 2 * 8 * 256) * 3 * 2);
    CHECK(cache_bytes(nemotron, 1000) == mamba + 1000 * 2.0 * 10 * 8 * 128 * 2);
}
