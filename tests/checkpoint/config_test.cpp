// What a config.json says and does not say.

#include "archsim/core/finding.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/parameters.hpp"
#include "checkpoint/weight_formats.hpp"
#include "session/graph_run.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace archsim;
using test::parameters;

namespace {

const std::string kSmall = R"("hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000, "tie_word_embeddings": true)";

Checkpoint small(const std::string& more, const std::string& type = "llama") {
    return read_checkpoint_config("{\"model_type\": \"" + type + "\", " + kSmall + more + "}", "config.json");
}

bool names(const Checkpoint& c, const std::string& field) {
    return std::any_of(c.graph.findings.begin(), c.graph.findings.end(), [&](const Finding& f) {
        return f.where == field || f.message.find(field + " (") == 0 ||
               f.message.find(", " + field + " (") != std::string::npos;
    });
}

} // namespace

TEST_CASE("parameters of a small decoder by hand", "[checkpoint]") {
    // Per layer q, o 64 x 64, k, v 64 x 32, three of 64 x 128, two norms; the table and the last norm.
    const double layer = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64;
    CHECK(parameters(small("")) == 2 * layer + 1000 * 64 + 64);
    CHECK(parameters(small("", "qwen2")) == 2 * (layer + 64 + 2 * 32) + 1000 * 64 + 64); // biases of q, k, v
    CHECK(parameters(small("", "qwen3")) == 2 * (layer + 2 * 16) + 1000 * 64 + 64); // norms of heads of 16
    CHECK(parameters(small(R"(, "model_type": "llama", "attention_bias": true)")) ==
          2 * (layer + 2 * 64 + 2 * 32) + 1000 * 64 + 64);
}

TEST_CASE("experts, shared experts and dense first layers", "[checkpoint]") {
    const Checkpoint c =
        small(R"(, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
        "n_shared_experts": 1, "first_k_dense_replace": 1)",
              "deepseek_v2");
    const double attention = 2 * 64 * 64 + 2 * 64 * 32 + 2 * 64;
    const double dense = 3 * 64 * 128, sparse = 9 * 3 * 64 * 32 + 64 * 8;
    CHECK(parameters(c) == 2 * attention + dense + sparse + 1000 * 64 + 64);
    CHECK(c.facts.experts == 8);
    CHECK(c.facts.active_experts == 2);
}

TEST_CASE("a field that is not known and could be a size is reported, a harmless one is not",
          "[checkpoint]") {
    const Checkpoint c =
        small(R"(, "number_of_towers": 7, "bos_token_id": 1, "rope_theta": 1e6, "some_dropout": 0.1,
        "use_new_thing": true, "use_old_thing": false)");
    CHECK(names(c, "number_of_towers"));
    CHECK(names(c, "use_new_thing"));
    CHECK_FALSE(names(c, "use_old_thing"));
    CHECK_FALSE(names(c, "bos_token_id"));
    CHECK_FALSE(names(c, "rope_theta"));
    CHECK(names(small("", "brand_new"), "model_type"));
    CHECK(small("").graph.findings.empty());
}

TEST_CASE("a broken configuration is refused with file and field", "[checkpoint]") {
    const auto message = [](const std::string& text) -> std::string {
        try {
            (void)read_checkpoint_config(text, "x/config.json");
        } catch (const InputError& problem) {
            return problem.what();
        }
        return "accepted";
    };
    CHECK_THAT(message("{"), Catch::Contains("x/config.json") && Catch::Contains("no valid JSON at line 1"));
    CHECK_THAT(message("[1]"), Catch::Contains("no JSON object"));
    CHECK_THAT(message("{}"), Catch::Contains("hidden_size"));
    CHECK_THAT(message(R"({"hidden_size": "big"})"), Catch::Contains("hidden_size"));
    CHECK_THAT(message(R"({"hidden_size": -3})"), Catch::Contains("hidden_size"));
    CHECK_THAT(message(R"({"hidden_size": 1e300, "vocab_size": 5})"), Catch::Contains("hidden_size"));
    CHECK_THAT(message("{\"num_hidden_layers\": 1000000000, \"hidden_size\": 4, \"vocab_size\": 4}"),
               Catch::Contains("num_hidden_layers"));
    CHECK_THAT(
        message(R"({"model_type": "nemotron_h", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 9,
        "num_attention_heads": 4, "hybrid_override_pattern": "*?"})"),
        Catch::Contains("hybrid_override_pattern"));
    CHECK_THAT(message(R"({"is_encoder_decoder": true})"), Catch::Contains("is_encoder_decoder"));
}

TEST_CASE("Python's Infinity is read", "[checkpoint]") {
    CHECK(small(R"(, "time_step_limit": [0.0, Infinity], "name": "Infinity")").facts.layers == 2);
}

TEST_CASE("quantised weights take the bits of their scheme, exceptions stay wide", "[checkpoint]") {
    const auto bits = [](const Checkpoint& c, const std::string& tensor) {
        const ShapedGraph graph = archsim::bind(c.graph, {}, c.dims);
        for (const ShapedTensor& t : graph.tensors)
            if (t.name == tensor)
                return t.stored_bits();
        return -1.0;
    };
    const std::string q = "model.layers.0.self_attn.q_proj.weight", up = "model.layers.0.mlp.up_proj.weight",
                      table = "model.embed_tokens.weight";
    const Checkpoint fp8 =
        small(R"(, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128],
        "modules_to_not_convert": ["self_attn"]})");
    CHECK(bits(fp8, q) == 16);
    CHECK(bits(fp8, up) == 8 + 32.0 / (128 * 128));
    CHECK(bits(fp8, table) == 16);
    CHECK(bits(small(R"(, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128})"),
               q) == 4 + 20.0 / 128);
    CHECK(bits(small(R"(, "quantization_config": {"quant_method": "modelopt", "quant_algo": "NVFP4"})"),
               up) == 4.5);
    CHECK(bits(small(R"(, "quantization_config": {"quant_method": "compressed-tensors", "ignore": ["lm_head"],
        "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}}}})"),
               up) == 8);
    CHECK(names(small(R"(, "quantization_config": {"quant_method": "magic"})"), "quantization_config"));
    CHECK(test::names_module("gate", "model.layers.3.mlp.gate"));
    CHECK_FALSE(test::names_module("gate", "model.layers.3.mlp.gate_proj"));
    CHECK(test::names_module("model.layers.*.self_attn", "model.layers.3.self_attn.q_proj"));
    CHECK(test::names_module("re:.*lm_head", "lm_head"));
}

TEST_CASE("the published checkpoint size of gpt-oss 20B", "[checkpoint]") {
    // arXiv:2508.10925, table 1: 12.8 GiB.
    const auto path = std::string(ARCHSIM_SOURCE_DIR) + "/models/configs/gpt-oss-20b.json";
    const Checkpoint c = read_checkpoint(path);
    const ShapedGraph graph = archsim::bind(c.graph, {}, c.dims);
    double bytes = 0;
    for (const ShapedTensor& t : graph.tensors)
        if (t.role == TensorRole::initializer)
            bytes += t.elements() * t.stored_bits() / 8;
    CHECK(bytes / (1 << 30) == Approx(12.8).epsilon(0.005));
}

TEST_CASE("multi-token heads and towers are stated apart", "[checkpoint]") {
    const auto path = std::string(ARCHSIM_SOURCE_DIR) + "/models/configs/qwen3.5-27b.json";
    const Checkpoint c = read_checkpoint(path);
    // The checkpoint has 27.78 B parameters with both.
    CHECK(parameters(c) + c.facts.prediction_parameters == Approx(27.781e9).epsilon(0.001));
    CHECK(c.facts.vision_parameters == Approx(0.461e9).epsilon(0.01));
}

TEST_CASE("a configuration and the ONNX graph of the same model cost the same", "[checkpoint]") {
    const Checkpoint c = read_checkpoint_config(
        R"({"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
            "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
            "max_position_embeddings": 8192})",
        "llama-3-8b");
    const Session& session = test::shipped_session();
    ImportedGraph model;
    model.info.name = "from config";
    model.info.dims = c.dims;
    model.graph = std::make_shared<const Graph>(c.graph);
    const Model catalogued = session.load("llama-3-8b");
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    for (const std::int64_t sequence : {1, 512}) {
        Bindings sizes;
        sizes.dims = {{"sequence", sequence}, {"past_sequence", 1000}};
        const auto ours = session.bind(model, 4, sizes), shipped = session.bind(catalogued, 4, sizes);
        CHECK(ours->graph().parameters() == shipped->graph().parameters());
        CHECK(ours->graph().macs() == Approx(shipped->graph().macs()).epsilon(1e-12));
        for (const char* device : {"H100", "Xeon-8480+"}) {
            const double a = run_graph(session, ours, device, conditions).estimate.latency_s,
                         b = run_graph(session, shipped, device, conditions).estimate.latency_s;
            INFO(device << " " << sequence);
            CHECK(a ==
                  Approx(b).epsilon(1e-4)); // the exported graph computes lengths and reads rotary tables
        }
    }
}
