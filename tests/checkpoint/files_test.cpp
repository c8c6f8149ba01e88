// Headers of safetensors and GGUF files, whole and damaged. No payload is ever written or read.

#include "archsim/core/finding.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "archsim/run/session.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/gguf_file.hpp"
#include "checkpoint/gguf_maker.hpp"
#include "checkpoint/parameters.hpp"
#include "checkpoint/weight_formats.hpp"
#include "ops/precision_mix.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

using namespace archsim;
namespace fs = std::filesystem;
using test::Folder;
using test::GgufMaker;
using test::parameters;
using test::raw;
using test::SmallGguf;

namespace {

double weight_bytes(const ShapedGraph& graph) {
    double bytes = 0;
    for (const ShapedTensor& t : graph.tensors)
        if (t.role == TensorRole::initializer && t.shape.size() > 1)
            bytes += t.elements() * t.stored_bits() / 8;
    return bytes;
}

std::string message_of(const fs::path& file) {
    try {
        (void)read_checkpoint(file);
    } catch (const InputError& problem) {
        return problem.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("a GGUF file gives the model and the exact bytes of every tensor", "[checkpoint]") {
    const Folder folder("archsim_gguf");
    const Checkpoint c = read_checkpoint(folder.write("small.gguf", SmallGguf::whole().bytes()));
    CHECK(c.facts.layers == 2);
    CHECK(c.facts.kv_heads == 2);
    CHECK(c.facts.vocabulary == 1000);
    CHECK(c.facts.max_context == 2048);
    CHECK(c.facts.weight_format == "q4_k");
    const ShapedGraph graph = archsim::bind(c.graph, Bindings{}, c.dims);
    CHECK(graph.complete());
    CHECK(graph.parameters() == 2 * (2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 2 * 64) + 1000 * 64 + 64);
    // q4_K is 4.5 bits, q6_K 6.5625: attn_v and ffn_down.
    const double q4 = 1000 * 64 + 2 * (2 * 64 * 64 + 64 * 32 + 2 * 64 * 128), q6 = 2 * (64 * 32 + 128 * 64);
    CHECK(weight_bytes(graph) == (4.5 * q4 + 6.5625 * q6) / 8);
}

TEST_CASE("the formats of an answer are those of the file, tensor by tensor", "[checkpoint][run]") {
    const Folder folder("archsim_gguf_formats");
    const fs::path file = folder.write("small.gguf", SmallGguf::whole().bytes());
    const Session& session = test::shipped_session();
    const Model model = session.load(file.string());
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::bf16);
    const Result result =
        session.estimate({.model = model, .prompt = Prompt{.tokens = 64, .generate = 8}}, "H100", conditions);
    REQUIRE(result.ok());
    CHECK(result.estimate.executed.weights == Precision::int4); // q4_K, whatever was asked
    CHECK(result.estimate.executed.compute == Precision::fp16); // what the stack makes of int4 weights
    conditions.precision = PrecisionConfig::uniform(Precision::fp32);
    const Result wide =
        session.estimate({.model = model, .prompt = Prompt{.tokens = 64, .generate = 8}}, "H100", conditions);
    REQUIRE(wide.ok());
    CHECK(wide.estimate.executed.weights == Precision::int4); // whatever they are multiplied in
    const auto mix = weight_mix(*result.model->graph);
    REQUIRE(mix.size() == 3); // and norms, which have no type of ggml's here
    CHECK(mix[0].bits == 4.5);
    CHECK(mix[1].bits == 6.5625);
    CHECK(is_quantized(*result.model->graph));
}

TEST_CASE("matrices that a scheme leaves out stay wide when narrow weights are asked for", "[checkpoint]") {
    const Checkpoint c =
        read_checkpoint(std::string(ARCHSIM_SOURCE_DIR) + "/models/configs/gpt-oss-20b.json");
    const ShapedGraph graph = archsim::bind(c.graph, {}, c.dims);
    CHECK(graph.stored_weights == Precision::fp4); // mxfp4: the experts
    for (const ShapedTensor& t : graph.tensors)
        if (t.name.ends_with("q_proj.weight"))
            CHECK(t.storage_bits == 16);
}

TEST_CASE("a scheme is run as the format next to its bits", "[checkpoint]") {
    CHECK(checkpoint::narrow_format("q4_k", 4.5) == Precision::int4);
    CHECK(checkpoint::narrow_format("q5_k", 5.5) == Precision::int4);
    CHECK(checkpoint::narrow_format("q6_k", 6.5625) == Precision::int8);
    CHECK(checkpoint::narrow_format("mxfp4", 4.25) == Precision::fp4);
    CHECK(checkpoint::narrow_format("fp8", 8) == Precision::fp8);
    CHECK_FALSE(checkpoint::narrow_format("bf16", 16));
}

TEST_CASE("bits of ggml's types", "[checkpoint]") {
    CHECK(checkpoint::ggml_bits(2) == 4.5);     // q4_0: 32 weights in 18 bytes
    CHECK(checkpoint::ggml_bits(8) == 8.5);     // q8_0: 34 bytes
    CHECK(checkpoint::ggml_bits(14) == 6.5625); // q6_K: 256 in 210
    CHECK(checkpoint::ggml_bits(39) == 4.25);   // mxfp4: 32 in 17
    CHECK(checkpoint::ggml_bits(34) == 1.6875); // tq1_0: 256 in 54
    CHECK(checkpoint::ggml_bits(35) == 2.0625); // tq2_0: 256 in 66
    CHECK(checkpoint::ggml_bits(40) == 4.5);    // nvfp4: 64 in 36
    CHECK(checkpoint::ggml_bits(41) == 1.125);  // q1_0: 128 in 18
    CHECK(checkpoint::ggml_bits(42) == 2.25);   // q2_0: 64 in 18
    CHECK(checkpoint::ggml_bits(77) == 0);
}

TEST_CASE("a GGUF file cut anywhere is refused with its name", "[checkpoint]") {
    const Folder folder("archsim_gguf_cut");
    const std::string whole = SmallGguf::whole().bytes();
    for (std::size_t length = 0; length < whole.size(); length += 7)
        CHECK_THAT(message_of(folder.write("cut.gguf", whole.substr(0, length))),
                   Catch::Contains("cut.gguf"));
    for (std::size_t at = 4; at < whole.size();
         at += 3) { // any byte may be wrong: an answer or a sentence, no crash
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x5a);
        CHECK_FALSE(message_of(folder.write("damaged.gguf", damaged)).empty());
    }
}

namespace {

constexpr const char* kOneLayer = R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000})";

std::string safetensors(const std::string& header) {
    return raw<std::uint64_t>(header.size()) + header;
}

std::string entry(const std::string& name, const std::string& shape, const std::string& type = "BF16") {
    return "\"" + name + "\": {\"dtype\": \"" + type + "\", \"shape\": [" + shape +
           "], \"data_offsets\": [0, 0]}";
}

std::string layer(const std::string& more) {
    const std::string p = "model.layers.0.";
    return "{" + entry("model.embed_tokens.weight", "1000, 64") + ", " +
           entry(p + "self_attn.q_proj.weight", "64, 64") + ", " +
           entry(p + "self_attn.k_proj.weight", "32, 64") + ", " +
           entry(p + "self_attn.v_proj.weight", "32, 64") + ", " +
           entry(p + "self_attn.o_proj.weight", "64, 64") + ", " +
           entry(p + "mlp.gate_proj.weight", "128, 64") + ", " + entry(p + "mlp.up_proj.weight", "128, 64") +
           ", " + entry(p + "mlp.down_proj.weight", "64, 128") + ", " +
           entry(p + "input_layernorm.weight", "64") + ", " +
           entry(p + "post_attention_layernorm.weight", "64") + ", " + entry("model.norm.weight", "64") +
           more + "}";
}

} // namespace

TEST_CASE("safetensors headers say what a configuration does not", "[checkpoint]") {
    const double body = 2 * 64 * 64 + 2 * 64 * 32 + 3 * 64 * 128 + 3 * 64 + 1000 * 64;
    const Folder folder("archsim_safetensors");
    folder.write("config.json", kOneLayer);
    CHECK(parameters(read_checkpoint(folder.path())) == body + 1000 * 64); // nothing but the configuration
    folder.write("model.safetensors", safetensors(layer("")));
    const Checkpoint tied = read_checkpoint(folder.path());
    CHECK(parameters(tied) == body); // no head of its own
    CHECK(tied.graph.findings.empty());
    folder.write("model.safetensors",
                 safetensors(layer(", " + entry("lm_head.weight", "1000, 64") + ", " +
                                   entry("model.layers.0.self_attn.q_norm.weight", "16") + ", " +
                                   entry("model.layers.0.self_attn.k_norm.weight", "16"))));
    CHECK(parameters(read_checkpoint(folder.path() / "config.json")) == body + 1000 * 64 + 2 * 16);
    folder.write("model.safetensors",
                 safetensors(layer(", " + entry("model.layers.0.extra.weight", "4000, 64"))));
    const Checkpoint other = read_checkpoint(folder.path());
    REQUIRE(other.graph.findings.size() == 1);
    CHECK_THAT(to_string(other.graph.findings[0]), Catch::Contains("the files hold"));
}

TEST_CASE("the folder of an adapter names its base model", "[checkpoint]") {
    const Folder folder("archsim_adapter");
    folder.write("adapter_config.json",
                 R"({"peft_type": "LORA", "base_model_name_or_path": "Qwen/Qwen3-8B"})");
    CHECK(is_checkpoint(folder.path()));
    CHECK_THROWS_WITH((void)read_checkpoint(folder.path()), Catch::Contains("Qwen/Qwen3-8B"));
}

TEST_CASE("a damaged safetensors file is refused with its name", "[checkpoint]") {
    const Folder folder("archsim_safetensors_damaged");
    folder.write("config.json", kOneLayer);
    const std::string whole = safetensors(layer(""));
    for (const std::string& content :
         {std::string(), std::string("1234"), raw<std::uint64_t>(~0ull) + "{}",
          whole.substr(0, whole.size() - 1), safetensors("[]"), safetensors("{\"a\": 1}"),
          safetensors("{\"a\": {\"dtype\": \"F32\", \"shape\": [-1]}}")}) {
        const std::string message = message_of(folder.write("model.safetensors", content));
        INFO(message);
        if (content.find("\"a\": 1") == std::string::npos)
            CHECK_THAT(message, Catch::Contains("model.safetensors"));
    }
    fs::remove(folder.path() / "config.json");
    CHECK_THAT(message_of(folder.write("model.safetensors", whole)), Catch::Contains("config.json"));
}

TEST_CASE("counts that no model has are refused, not converted", "[checkpoint]") {
    const Folder folder("archsim_gguf_counts");
    for (const double count : {std::numeric_limits<double>::infinity(), std::nan(""), 1e300, -2.0}) {
        GgufMaker file = SmallGguf::whole();
        file.real("llama.context_length", count);
        CHECK_THROWS_AS(read_checkpoint(folder.write("model.gguf", file.bytes())), InputError);
    }
}
