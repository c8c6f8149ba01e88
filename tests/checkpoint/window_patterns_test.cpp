// Which layers of a configuration have a window: by list, pattern, period, and by class where a file says
// nothing.

#include "archsim/core/finding.hpp"
#include "checkpoint/cache_bytes.hpp"
#include "checkpoint/checkpoint.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace archsim;
using test::cache_bytes;

namespace {

constexpr std::int64_t kQwenLayers = 28, kQwenPositions = 32768;
constexpr double kPerPosition = 2 * 4 * 128 * 2; // bytes of a layer: keys and values of 4 heads of 128

Checkpoint config(const std::string& type, const std::string& more) {
    return read_checkpoint_config(
        R"({"hidden_size": 2048, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 4,
            "head_dim": 128, "intermediate_size": 8192, "vocab_size": 32000, "model_type": ")" +
            type + "\"" + (more.empty() ? "" : ", ") + more + "}",
        "config.json");
}

/// Layers that see everything, when the others see `window` positions.
double full_layers(const std::string& type, const std::string& more, double window) {
    const double cells = cache_bytes(config(type, more), kQwenPositions) / kPerPosition;
    return (cells - kQwenLayers * window) / (kQwenPositions - window);
}

std::string refusal(const std::string& type, const std::string& more) {
    try {
        (void)config(type, more);
    } catch (const InputError& problem) {
        return problem.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("what a file leaves out of its windows is what its class fills in", "[checkpoint]") {
    struct Row {
        const char *type, *fields;
        double window, full;
    };
    const Row rows[] = {
        {"cohere2", "", 4096, 7},
        {"exaone4", "", 4096, 7},
        {"olmo3", "", 4096, 7},
        {"gemma2", "", 4096, 14},
        {"gemma3_text", R"("sliding_window": 1024, "layer_types": null)", 1024, 4},
        {"gemma4_text", R"("hidden_size_per_layer_input": 0, "global_head_dim": 128)", 512,
         5}, // the last too
        {"gpt_oss", R"("num_local_experts": 4, "num_experts_per_tok": 2)", 128, 14},
        {"afmoe", R"("num_experts": 4, "num_experts_per_tok": 2)", 1024, 7},
        {"llama4_text", R"("num_local_experts": 4)", 8192, 7},
        {"mistral", "", 4096, 0},
        {"mistral", R"("sliding_window": null)", 4096, 28},
        {"mixtral", "", 4096, 28},
        {"phi3", R"("sliding_window": 2047)", 2047, 0},
        {"starcoder2", R"("sliding_window": 4096)", 4096, 0},
        {"starcoder2", R"("sliding_window": null)", 4096, 28},
        {"qwen2", R"("sliding_window": 4096, "max_window_layers": 14)", 4096, 28}, // off unless it says so
        {"qwen2", R"("use_sliding_window": true, "sliding_window": 4096, "max_window_layers": 14)", 4096, 14},
        {"qwen2", R"("use_sliding_window": true, "sliding_window": 4096, "max_window_layers": 28)", 4096, 28},
        {"qwen3_moe", R"("sliding_window": 4096, "num_experts": 4, "num_experts_per_tok": 2)", 4096, 28},
        {"exaone4", R"("sliding_window": null, "sliding_window_pattern": null)", 4096, 28},
        {"gpt_neo", R"("attention_types": [[["global", "local"], 14]])", 256, 14},
    };
    for (const Row& row : rows) {
        INFO(row.type << " " << row.fields);
        CHECK(full_layers(row.type, row.fields, row.window) == row.full);
    }
}

TEST_CASE("patterns of windows: periods, letters, lists of numbers, of words and of widths", "[checkpoint]") {
    const auto repeated = [](const std::string& group, int times) {
        std::string list;
        for (int i = 0; i < times; ++i)
            list += (i > 0 ? ", " : "") + group;
        return "[" + list + "]";
    };
    const std::string window = R"("sliding_window": 1024, )";
    CHECK(full_layers("other", window + R"("sliding_window_pattern": 4)", 1024) == 7);
    CHECK(full_layers("other", window + R"("sliding_window_pattern": 1)", 1024) == 28);
    CHECK(full_layers("other", window + R"("sliding_window_pattern": "LLLG")", 1024) == 7);
    CHECK(full_layers("other", window + R"("sliding_window_pattern": "GL")", 1024) == 15); // and the last
    CHECK(full_layers("other", window + R"("global_attn_every_n_layers": 7)", 1024) == 4);
    CHECK(full_layers("other", window + R"("sliding_window_pattern": )" + repeated("false, true", 14),
                      1024) == 14);
    CHECK(full_layers("smallthinker",
                      R"("sliding_window_size": 1024, "sliding_window_layout": )" + repeated("0, 1, 1, 1", 7),
                      1024) == 7);
    CHECK(full_layers("other", window + R"("hybrid_layer_pattern": )" + repeated("1, 0", 14), 1024) == 14);
    CHECK(full_layers("other", R"("sliding_window": )" + repeated("null, 1024", 14), 1024) == 14);
    CHECK(full_layers("other", R"("interleaved_sliding_window": [1024, 1024, 1024, null])", 1024) == 7);
    CHECK(full_layers("llama4_text",
                      R"("num_local_experts": 4, "attention_chunk_size": 1024, "no_rope_layers": )" +
                          repeated("1, 0", 14),
                      1024) == 14);
    CHECK_THAT(refusal("other", window + R"("sliding_window_pattern": "LLX")"),
               Catch::Contains("sliding_window_pattern") && Catch::Contains("X"));
    CHECK_THAT(refusal("other", R"("sliding_window": [1024, 1024])"),
               Catch::Contains("lists 2 layers of 28"));
}

TEST_CASE("the order of layers changes no cache, and every one of a list counts", "[laws][checkpoint]") {
    const auto types = [](std::size_t first) {
        std::string list;
        for (std::size_t i = 0; i < kQwenLayers; ++i)
            list += std::string(i > 0 ? ", " : "") +
                    ((i + first) % 4 == 0 ? "\"full_attention\"" : "\"sliding_attention\"");
        return R"("sliding_window": 1024, "layer_types": [)" + list + "]";
    };
    for (const std::int64_t positions : {100, 1500, 100000})
        for (std::size_t first = 1; first < 4; ++first)
            CHECK(cache_bytes(config("olmo3", types(first)), positions) ==
                  cache_bytes(config("olmo3", types(0)), positions));
    CHECK(full_layers("olmo3", types(0), 1024) == 7);
    // Windows that are listed and have no width are reported, not left out.
    const Checkpoint c = config("some_new", R"("layer_types": )" + types(0).substr(types(0).find('[')));
    CHECK(std::any_of(c.graph.findings.begin(), c.graph.findings.end(),
                      [](const Finding& f) { return f.where == "sliding_window"; }));
}
