// Weights, caches and exceptions as files state them beside a configuration or in it.

#include "archsim/core/finding.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/gguf_maker.hpp"
#include "checkpoint/parameters.hpp"
#include "checkpoint/weight_formats.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>

using namespace archsim;
using test::Folder;
using test::parameters;

namespace {

constexpr double kHalfBytes = 2;

const std::string kConfig = R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000)";

double bits_of(const Checkpoint& c, const std::string& module) {
    const ShapedGraph graph = archsim::bind(c.graph, {}, c.dims);
    for (const ShapedTensor& t : graph.tensors)
        if (t.name == module + ".weight")
            return t.stored_bits();
    return -1;
}

Checkpoint with(const std::string& quantization) {
    return read_checkpoint_config(kConfig + ", \"quantization_config\": " + quantization + "}",
                                  "config.json");
}

std::string cache_of(const Checkpoint& c) {
    for (const Node& node : c.graph.nodes)
        if (node.op_type == "Stored")
            if (const AttributeValue* cache = node.attribute("cache"))
                return std::get<std::string>(*cache);
    return "";
}

/// What both operands of most products are quantised to; "" where weights alone are narrow.
std::string products_of(const std::string& quantization) {
    for (const Node& node : with(quantization).graph.nodes)
        if (node.op_type == "Stored")
            if (const AttributeValue* products = node.attribute("products"))
                return std::get<std::string>(*products);
    return "";
}

const std::string kQ = "model.layers.0.self_attn.q_proj", kUp = "model.layers.0.mlp.up_proj";

} // namespace

TEST_CASE("hf_quant_config.json beside a configuration is read", "[checkpoint]") {
    const Folder folder("archsim_modelopt");
    const auto config = folder.write("config.json", kConfig + "}");
    CHECK(bits_of(read_checkpoint(config), kUp) == 16);
    folder.write("hf_quant_config.json", R"({"producer": {"name": "modelopt", "version": "0.29.0"},
        "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}})");
    const Checkpoint fp8 = read_checkpoint(folder.path());
    CHECK(bits_of(fp8, kUp) == 8);
    CHECK(bits_of(fp8, "lm_head") == 16);
    CHECK(cache_of(fp8) == "fp8");
    CHECK(fp8.facts.weight_format == "fp8");
    folder.write("hf_quant_config.json", R"({"quantization": {"quant_algo": "NVFP4", "group_size": 16,
        "kv_cache_quant_algo": null, "exclude_modules": ["lm_head", "model.layers.0.self_attn*"]}})");
    const Checkpoint nvfp4 = read_checkpoint(config);
    CHECK(bits_of(nvfp4, kUp) == 4.5);
    CHECK(bits_of(nvfp4, kQ) == 16);
    CHECK(bits_of(nvfp4, "model.layers.1.self_attn.q_proj") == 4.5);
    CHECK(cache_of(nvfp4).empty());
    folder.write("hf_quant_config.json",
                 R"({"quantization": {"quant_algo": "MIXED_PRECISION", "quantized_layers": {
        "model.layers.0.self_attn.qkv_proj": {"quant_algo": "FP8"},
        "model.layers.0.mlp.up_proj": {"quant_algo": "W4A16_NVFP4", "group_size": 16}}}})");
    const Checkpoint mixed = read_checkpoint(config);
    CHECK(bits_of(mixed, kQ) == 8);
    CHECK(bits_of(mixed, kUp) == 4.5);
    CHECK(bits_of(mixed, "model.layers.1.mlp.up_proj") == 16);
    // The cache may be said there alone.
    folder.write("config.json", kConfig + R"(, "quantization_config": {"quant_method": "modelopt",
        "quant_algo": "FP8"}})");
    folder.write("hf_quant_config.json", R"({"quantization": {"quant_algo": "FP8",
        "kv_cache_quant_algo": "FP8"}})");
    CHECK(cache_of(read_checkpoint(config)) == "fp8");
    // What config.json says itself comes first.
    folder.write("config.json", kConfig + R"(, "quantization_config": {"quant_method": "awq", "bits": 4}})");
    CHECK(bits_of(read_checkpoint(config), kUp) == 4 + 20.0 / 128);
    folder.write("hf_quant_config.json", "[");
    folder.write("config.json", kConfig + "}");
    CHECK_THROWS_WITH(read_checkpoint(config), Catch::Contains("hf_quant_config.json"));
}

TEST_CASE("names of algorithms of Model Optimizer and TensorRT-LLM", "[checkpoint]") {
    const auto bits = [](const std::string& name) {
        return bits_of(with(R"({"quant_method": "modelopt", "quant_algo": ")" + name + "\"}"), kUp);
    };
    CHECK(bits("FP8") == 8);
    CHECK(bits("FP8_PER_CHANNEL_PER_TOKEN") == 8);
    CHECK(bits("FP8_PB_WO") == 8 + 32.0 / (128 * 128));
    CHECK(bits("NVFP4_AWQ") == 4.5);
    CHECK(bits("W4A8_NVFP4_FP8") == 4.5);
    CHECK(bits("W4A8_MXFP4_FP8") == 4.25);
    CHECK(bits("MXFP8") == 8.25);
    CHECK(bits("W4A16_AWQ") == 4 + 16.0 / 128);
    CHECK(bits("W4A8_AWQ") == 4 + 16.0 / 128);
    CHECK(bits("W8A8_SQ_PER_CHANNEL") == 8);
    CHECK(bits("W8A16") == 8);
}

TEST_CASE("quantised caches by kv_cache_scheme, groups by their targets", "[checkpoint]") {
    const Checkpoint c = with(R"({"quant_method": "compressed-tensors", "ignore": ["lm_head"],
        "kv_cache_scheme": {"num_bits": 8, "type": "float"}, "config_groups": {
        "group_0": {"targets": ["re:.*(q|k|v|o)_proj$"], "weights": {"num_bits": 8, "type": "float"}},
        "group_1": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "group_size": 128}}}})");
    CHECK(bits_of(c, kQ) == 8);
    CHECK(bits_of(c, kUp) == 4 + 16.0 / 128);
    CHECK(bits_of(c, "lm_head") == 16);
    CHECK(cache_of(c) == "fp8");
    CHECK(bits_of(with(R"({"quant_method": "bitsandbytes", "load_in_4bit": true})"), kUp) == 4.5);
    CHECK(bits_of(with(R"({"quant_method": "bitsandbytes", "load_in_4bit": true,
        "bnb_4bit_use_double_quant": true})"),
                  kUp) == 4 + (8 + 32.0 / 256) / 64);
    CHECK(bits_of(with(R"({"quant_method": "hqq", "quant_config": {"weight_quant_params": {"nbits": 4,
        "group_size": 64}}})"),
                  kUp) == 4.5); // a scale and a zero of 16 bits each
    CHECK(bits_of(with(R"({"quant_method": "quanto", "weights": "int2"})"), kUp) == 2.25);
    CHECK(bits_of(with(R"({"quant_method": "torchao", "quant_type": {"default": {"_type":
        "Int4WeightOnlyConfig", "_data": {"group_size": 32}}}})"),
                  kUp) == 5);
    CHECK(bits_of(with(R"({"quant_method": "torchao", "quant_type": "int4_weight_only",
        "quant_type_kwargs": {"group_size": 64}})"),
                  kUp) == 4.5);
    CHECK(bits_of(with(R"({"quant_method": "torchao", "quant_type": {"default": {
        "_type": "Float8DynamicActivationFloat8WeightConfig"}}})"),
                  kUp) == 8);
    CHECK(bits_of(with(R"({"quant_method": "exl2", "bits": 4.25})"), kUp) == 4.25);
    const Checkpoint mlx = with(R"({"group_size": 64, "bits": 4})");
    CHECK(bits_of(mlx, kUp) == 4.5);
    CHECK(bits_of(mlx, "model.embed_tokens") == 4.5);
    // Model Optimizer may narrow the cache alone.
    const Checkpoint cache =
        with(R"({"quant_method": "modelopt", "quant_algo": null, "kv_cache_quant_algo": "FP8"})");
    CHECK(bits_of(cache, kUp) == 16);
    CHECK(cache_of(cache) == "fp8");
    CHECK(cache.graph.findings.empty());
}

TEST_CASE("expressions in names of modules end where they say", "[checkpoint]") {
    CHECK(test::names_module("re:.*mlp.gate$", "model.layers.3.mlp.gate"));
    CHECK_FALSE(test::names_module("re:.*mlp.gate$", "model.layers.3.mlp.gate_proj"));
    CHECK(test::names_module(R"(re:.*layers\.(0|1)\..*)", "model.layers.1.mlp.up_proj"));
    CHECK_FALSE(test::names_module(R"(re:.*layers\.(0|1)\..*)", "model.layers.2.mlp.up_proj"));
    CHECK(test::names_module(R"(re:.*layers\.\d+\.mlp\.(?:up|down)_proj)", "model.layers.12.mlp.up_proj"));
    CHECK_FALSE(test::names_module("re:((((", "model.layers.2.mlp.up_proj")); // no expression, no match
    CHECK(test::names_module("*.mlp.gate.", "model.layers.3.mlp.gate"));
}

TEST_CASE("a checkpoint says whether what its weights meet is quantised too", "[checkpoint]") {
    CHECK(products_of(R"({"quant_method": "fp8", "activation_scheme": "dynamic"})") == "fp8");
    CHECK(products_of(R"({"quant_method": "fp8", "weight_block_size": [128, 128]})") == "fp8");
    CHECK(products_of(R"({"quant_method": "fbgemm_fp8"})") == "fp8");
    CHECK(products_of(R"({"quant_method": "mxfp4"})").empty());
    CHECK(products_of(R"({"quant_method": "awq", "bits": 4})").empty());
    const auto algorithm = [](const char* name) {
        return products_of(fmt::format(R"({{"quant_method": "modelopt", "quant_algo": "{}"}})", name));
    };
    CHECK(algorithm("NVFP4") == "fp4");
    CHECK(algorithm("FP8_PB_WO") == "fp8");
    CHECK(algorithm("W4A16_NVFP4").empty());
    CHECK(algorithm("W4A16_AWQ").empty());
    CHECK(algorithm("W4A8_AWQ") == "fp8");
    CHECK(algorithm("W4A8_MXFP4_MXFP8") == "fp8");
    CHECK(algorithm("W4A8_QSERVE_PER_GROUP") == "int8");
    CHECK(algorithm("W8A8_SQ_PER_CHANNEL") == "int8");
    const auto groups = [](const char* inputs) {
        return products_of(fmt::format(
            R"({{"quant_method": "compressed-tensors", "config_groups": {{"group_0":
            {{"weights": {{"num_bits": 8, "type": "{}"}}, "input_activations": {}, "targets": ["Linear"]}}}}}})",
            std::string_view(inputs).find("float") != std::string::npos ? "float" : "int", inputs));
    };
    CHECK(groups(R"({"num_bits": 8, "type": "float", "dynamic": true})") == "fp8");
    CHECK(groups(R"({"num_bits": 8, "type": "int"})") == "int8");
    CHECK(groups("null").empty());
    const auto quark = [](const char* inputs) {
        return products_of(fmt::format(
            R"({{"quant_method": "quark", "global_quant_config": {{"weight": {{"dtype": "fp8_e4m3"}}{}}}}})",
            inputs));
    };
    CHECK(quark(R"(, "input_tensors": {"dtype": "fp8_e4m3"})") == "fp8");
    CHECK(quark(R"(, "input_tensors": null)").empty());
}

TEST_CASE("layers that a quantiser gives a width of their own take it", "[checkpoint]") {
    const std::string down = "model.layers.1.mlp.down_proj", query = "model.layers.0.self_attn.q_proj",
                      head = "lm_head";
    const double four = 4 + 16.0 / 128, eight = 8 + 16.0 / 128;
    const Checkpoint named = with(R"({"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": true,
        "extra_config": {"lm_head": {"bits": 16}, ".*self_attn.*": {"bits": 8},
        "model.layers.1.mlp.down_proj": {"bits": 8, "group_size": 64}}})");
    CHECK(bits_of(named, query) == eight);
    CHECK(bits_of(named, down) == 8 + 16.0 / 64);
    CHECK(bits_of(named, "model.layers.0.mlp.down_proj") == four);
    CHECK(bits_of(named, head) == 16);
    const Checkpoint dynamic = with(R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true,
        "dynamic": {"+:.*down_proj.*": {"bits": 8}, "-:.*layers\\.0\\..*": {}}})");
    CHECK(bits_of(dynamic, query) == 16); // left out
    CHECK(bits_of(dynamic, "model.layers.0.mlp.down_proj") == 16);
    CHECK(bits_of(dynamic, down) == eight);
    CHECK(bits_of(dynamic, "model.layers.1.mlp.up_proj") == four);
    const Checkpoint exllama = with(R"({"quant_method": "exl3", "bits": 3.0, "head_bits": 6,
        "tensor_storage": {"model.layers.1.mlp.down_proj": {"bits_per_weight": 5}}})");
    CHECK(bits_of(exllama, head) == 6);
    CHECK(bits_of(exllama, down) == 5);
    CHECK(bits_of(exllama, query) == 3);
    // Two bits a weight, and 2^4 entries of eight halves for each of the matrices.
    const Checkpoint codes = with(R"({"quant_method": "aqlm", "in_group_size": 8, "out_group_size": 1,
        "num_codebooks": 4, "nbits_per_codebook": 4, "linear_weights_not_to_quantize": ["lm_head.weight"]})");
    CHECK(bits_of(codes, query) == 2 + 4 * 16 * 8 * 16.0 / (64 * 64));
    CHECK(bits_of(codes, head) == 16);
    const Checkpoint mixed = with(R"({"quant_method": "compressed-tensors", "format": "mixed-precision",
        "config_groups": {"group_0": {"weights": {"num_bits": 8, "type": "float"}, "targets": ["re:.*lm_head$"]},
        "group_1": {"weights": {"num_bits": 4, "type": "float", "group_size": 16},
        "targets": ["re:.*mlp.(gate|up|down)_proj$"]}}, "ignore": []})");
    CHECK(bits_of(mixed, head) == 8);
    CHECK(bits_of(mixed, down) == 4.5);
    CHECK(bits_of(mixed, query) == 16);
}

TEST_CASE("modules with fields of their own, in the words of each quantiser", "[checkpoint]") {
    const std::string down = "model.layers.1.mlp.down_proj", table = "model.embed_tokens", head = "lm_head";
    const Checkpoint mlx = with(R"({"group_size": 64, "bits": 4, "model.layers.1.mlp.down_proj":
        {"group_size": 32, "bits": 6}, "language_model.model.layers.0.self_attn.q_proj": false,
        "lm_head": {"bits": 8}})");
    CHECK(bits_of(mlx, down) == 7);
    CHECK(bits_of(mlx, kQ) == 16);
    CHECK(bits_of(mlx, head) == 8.5);
    CHECK(bits_of(mlx, table) == 4.5);
    CHECK(mlx.graph.findings.empty());
    const Checkpoint quark = with(R"({"quant_method": "quark", "global_quant_config": {"weight":
        {"dtype": "fp8_e4m3"}}, "layer_quant_config": {"*down_proj": {"weight": [{"dtype": "fp4",
        "group_size": 32}]}, "*q_proj": {"weight": null}}})");
    CHECK(bits_of(quark, down) == 4.25);
    CHECK(bits_of(quark, kUp) == 8);
    CHECK(bits_of(quark, kQ) == 16);
    const Checkpoint hqq = with(R"({"quant_method": "hqq", "skip_modules": ["lm_head"], "quant_config": {
        "self_attn.q_proj": {"weight_quant_params": {"nbits": 4, "group_size": 64}},
        "mlp.down_proj": {"weight_quant_params": {"nbits": 2, "group_size": 16}}}})");
    CHECK(bits_of(hqq, kQ) == 4.5);
    CHECK(bits_of(hqq, down) == 4);
    CHECK(bits_of(hqq, kUp) == 16);
    const Checkpoint torchao = with(R"({"quant_method": "torchao", "include_input_output_embeddings": true,
        "quant_type": {"default": {"_type": "ModuleFqnToConfig", "_data": {"module_fqn_to_config": {
        "_default": {"_type": "Int4WeightOnlyConfig", "_data": {"group_size": 128}},
        "model.layers.1.mlp.down_proj": {"_type": "Int8WeightOnlyConfig"},
        "model.layers.0.self_attn.q_proj": null}}}}})");
    CHECK(bits_of(torchao, kUp) == 4.25);
    CHECK(bits_of(torchao, down) == 8);
    CHECK(bits_of(torchao, kQ) == 16);
    CHECK(bits_of(torchao, table) == 4.25);
    const Checkpoint gptq = with(R"({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": true,
        "modules_in_block_to_quantize": [["self_attn.q_proj"], ["mlp.down_proj"]]})");
    CHECK(bits_of(gptq, kQ) == 4 + 16.0 / 128);
    CHECK(bits_of(gptq, kUp) == 16);
    CHECK(bits_of(with(R"({"quant_method": "auto-round", "bits": 4, "sym": true, "quant_lm_head": true})"),
                  head) == 4 + 16.0 / 128);
    const std::string group = R"("config_groups": {"g": {"targets": ["Linear")",
                      weights = R"(], "weights": {"num_bits": 8, "type": "int", "symmetric": true}}}})";
    const Checkpoint all =
        with(R"({"quant_method": "compressed-tensors", )" + group + R"(, "Embedding")" + weights);
    CHECK(bits_of(all, table) == 8);
    CHECK(bits_of(all, head) == 8);
    const Checkpoint some =
        with(R"({"quant_method": "compressed-tensors", "ignore": ["lm_head"], )" + group + weights);
    CHECK(bits_of(some, table) == 16);
    CHECK(bits_of(some, head) == 16);
    // Two of four weights are kept, with a bit for each that says which.
    const Checkpoint pruned = with(R"({"quant_method": "compressed-tensors", "sparsity_config": {
        "format": "sparse-24-bitmask"}, )" +
                                   group + weights);
    CHECK(bits_of(pruned, kUp) == 5);
    CHECK(bits_of(with(R"({"quant_method": "compressed-tensors", "format": "marlin-24", "sparsity_config": {
        "format": "dense", "sparsity_structure": "2:4"}, "config_groups": {"g": {"targets": ["Linear"],
        "weights": {"num_bits": 4, "type": "int", "symmetric": true, "group_size": 128}}}})"),
                  kUp) == 2 + 1 + 16.0 / 128);
}

TEST_CASE("a field of a quantiser that nobody reads withholds what rests on the weights", "[checkpoint]") {
    const auto complete = [](const std::string& more) {
        const Checkpoint c = with(R"({"quant_method": "gptq", "bits": 4, "group_size": 128)" + more + "}");
        return archsim::bind(c.graph, {}, c.dims).complete();
    };
    CHECK(complete(R"(, "damp_percent": 0.1, "desc_act": true, "meta": {"quantizer": ["x:1"], "uri": "u"},
        "calibration": {"rows": 100}, "pack_dtype": "int32", "true_sequential": true)"));
    CHECK_FALSE(complete(R"(, "made_up_bits": 3)"));
    CHECK_FALSE(complete(R"(, "made_up_layers": {"a": {"bits": 3}})"));
}

TEST_CASE("a method that is not known withholds what rests on the weights", "[checkpoint]") {
    const Checkpoint c = with(R"({"quant_method": "made_up", "w_bits": 3})");
    CHECK_FALSE(archsim::bind(c.graph, {}, c.dims).complete());
    CHECK_THAT(to_string(c.graph.findings.front()), Catch::Contains("made_up"));
}

TEST_CASE("bytes that lie beside a configuration are those of memory", "[checkpoint]") {
    const double counted = kHalfBytes * parameters(read_checkpoint_config(kConfig + "}", "config.json"));
    const auto read = [&](const std::string& name, double bytes, bool pointer = false) {
        const Folder folder("archsim_stored_" + name);
        (void)folder.write("config.json", kConfig + "}");
        if (pointer)
            (void)folder.write(
                "model.safetensors",
                fmt::format("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize {:.0f}\n",
                            bytes));
        else
            (void)folder.write("model.safetensors.index.json",
                               fmt::format(R"({{"metadata": {{"total_size": {:.0f}}},
            "weight_map": {{"model.embed_tokens.weight": "a", "lm_head.weight": "a"}}}})",
                                           bytes));
        return read_checkpoint(folder.path());
    };
    const auto bytes_of = [](const Checkpoint& c) {
        double bytes = 0;
        for (const ShapedTensor& t : archsim::bind(c.graph, {}, c.dims).tensors)
            bytes += t.role == TensorRole::initializer && t.shape.size() > 1
                         ? t.elements() * t.stored_bits() / 8
                         : 0;
        return bytes;
    };
    for (const bool pointer : {false, true}) {
        CHECK(read("same", counted, pointer).graph.findings.empty());
        // Floats of another width are converted.
        CHECK(read("wide", 2 * counted, pointer).graph.findings.empty());
        const Checkpoint more = read("more", 1.2 * counted, pointer);
        CHECK_THAT(to_string(more.graph.findings.front()), Catch::Contains("the files hold"));
        CHECK(bytes_of(more) == Approx(1.2 * counted).epsilon(0.01));
        CHECK(bytes_of(read("less", 0.8 * counted, pointer)) == Approx(0.8 * counted).epsilon(0.01));
    }
}

TEST_CASE("an index without an output projection is one of an embedding", "[checkpoint]") {
    const Folder folder("archsim_headless");
    (void)folder.write("config.json", kConfig + R"(, "tie_word_embeddings": false})");
    const double whole = parameters(read_checkpoint_config(kConfig + "}", "config.json"));
    (void)folder.write(
        "model.safetensors.index.json",
        fmt::format(R"({{"metadata": {{"total_size": {:.0f}}}, "weight_map": {{"a.weight": "a"}}}})",
                    kHalfBytes * (whole - 1000 * 64)));
    const Checkpoint c = read_checkpoint(folder.path());
    CHECK(parameters(c) == whole - 1000 * 64);
    CHECK(c.graph.inputs.size() == 1);
}
