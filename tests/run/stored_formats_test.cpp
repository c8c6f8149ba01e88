// What llama.cpp keeps in memory beside the layers, and caches whose format a checkpoint states.

#include "checkpoint/gguf_maker.hpp"
#include "laws/laws.hpp"
#include "result/format_parts.hpp"
#include "session/generation/phases.hpp"
#include "session/generation/step.hpp"
#include "session/server/server.hpp"
#include "session/usual_precision.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <map>
#include <string>

using namespace archsim;

TEST_CASE("llama.cpp narrows the embedding table, and a quantised cache has scales", "[generation]") {
    Conditions options;
    options.precision = PrecisionConfig::uniform(Precision::int4);
    options.stack = "llama.cpp";
    const auto machine = laws::session().machine("Apple-M1-GPU", options);
    const ExecutedPrecision p = language_precision(*machine, options.precision, Precision::int8);
    REQUIRE(p.supported);
    CHECK(p.config.cache_bits == 8.5);
    CHECK(p.config.table_bits == 4.5);
    // Llama 3 8B as q4_k_m: layers at 4.85 bits, the head in q6_K, the table in q4_K.
    const GenerationModel model(laws::session().load("llama-3-8b"), {});
    const auto step = model.bound(1, 1, 8)->work({}, p.config, {});
    const double head = 128256.0 * 4096, layers = 8030261248.0 - 2 * head;
    CHECK(step->weight_bytes == Approx((layers * 4.85 + head * (6.56 + 4.5)) / 8).epsilon(0.002));
    CHECK(language_precision(*machine, options.precision, std::nullopt).config.cache_bits == 0);
}

TEST_CASE("rows that blocks of a file do not divide are stored in a wider format", "[generation]") {
    // Sizes of published Q4_K_M files, in GB; of the last one every row is a multiple of 256.
    const std::pair<const char*, double> files[] = {
        {"qwen2.5-72b", 47.4}, {"deepseek-v2-lite", 10.36}, {"qwen2.5-0.5b", 0.398}, {"qwen3-8b", 5.03}};
    for (const auto& [name, gigabytes] : files) {
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(Precision::int4);
        conditions.stack = "llama.cpp";
        const Workload workload{.model = laws::session().load(name),
                                .prompt = Prompt{.tokens = 64, .generate = 16}};
        // Whose memory holds the whole file: a card leaves the table of embeddings to its host.
        const Result result = laws::session().estimate(workload, "Apple-M3-Ultra-GPU", conditions);
        INFO(name << ": " << result.estimate.reason);
        REQUIRE(result.ok());
        CHECK(result.estimate.memory.weight_bytes == Approx(gigabytes * 1e9).epsilon(0.025));
    }
}

TEST_CASE("a stack with files of its own writes what a 4-bit scheme leaves wide", "[generation]") {
    const GenerationModel model(laws::session().load("gpt-oss-20b"), {});
    const auto weights = [&](const char* stack, Precision asked) {
        Conditions options;
        options.precision = PrecisionConfig::uniform(asked);
        options.stack = stack;
        const ExecutedPrecision p =
            language_precision(*laws::session().machine("H100", options), options.precision, std::nullopt);
        REQUIRE(p.supported);
        CHECK(bits_of(p.config.kv_cache) == (options.stack == "llama.cpp" ? 16 : 8));
        return model.bound(1, 1, 8)->work({}, p.config, {})->weight_bytes;
    };
    // llama.cpp's log of its MXFP4 file: 11.27 GiB. The checkpoint has 13.76 GB, and nobody else changes it.
    CHECK(weights("llama.cpp", Precision::fp4) == Approx(11.27 * 1073741824).epsilon(0.005));
    CHECK(weights("trt-llm", Precision::fp4) == Approx(13.76e9).epsilon(0.005));
}

TEST_CASE("the cache has the format that a checkpoint states, unless another is asked for",
          "[generation][checkpoint]") {
    const test::Folder folder("archsim_stored_cache");
    const auto config =
        folder.write("config.json", R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000})");
    const auto cache = [&](std::optional<Precision> asked) {
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(Precision::bf16);
        conditions.stack = "vllm";
        conditions.kv_cache = asked;
        const Session session(SessionOptions{.data = ARCHSIM_SOURCE_DIR});
        const Model model = session.load(config.string());
        const Result result = session.estimate(
            {.model = model, .prompt = Prompt{.tokens = 60, .generate = 4}}, "H100", conditions);
        REQUIRE(result.ok());
        return result.generation->kv_cache_bytes;
    };
    const double wide = cache(std::nullopt);
    folder.write("hf_quant_config.json",
                 R"({"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}})");
    CHECK(cache(std::nullopt) == wide / 2);
    CHECK(cache(Precision::bf16) == wide);
}

TEST_CASE("a checkpoint that quantises activations is run so where no format is named",
          "[generation][checkpoint]") {
    const test::Folder folder("archsim_stored_products");
    const Session session(SessionOptions{.data = ARCHSIM_SOURCE_DIR});
    const auto answer = [&](const std::string& quantization, std::optional<Precision> asked,
                            const char* device) {
        const auto config = folder.write("config.json", fmt::format(R"({{"model_type": "llama",
            "hidden_size": 4096, "num_hidden_layers": 4, "num_attention_heads": 32, "num_key_value_heads": 8,
            "intermediate_size": 14336, "vocab_size": 32000{}}})",
                                                                    quantization));
        Conditions conditions;
        conditions.stack = "vllm";
        if (asked)
            conditions.precision = PrecisionConfig::uniform(*asked);
        const Workload workload{.model = session.load(config.string()),
                                .prompt = Prompt{.tokens = 4096, .generate = 2}};
        const Result result = session.estimate(workload, device, settled(conditions, workload));
        REQUIRE(result.ok());
        return *result.generation;
    };
    const std::string fp8 =
        R"(, "quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic"})";
    const auto plain = answer("", std::nullopt, "H100"), own = answer(fp8, std::nullopt, "H100"),
               halves = answer(fp8, Precision::bf16, "H100"), asked = answer(fp8, Precision::fp8, "H100");
    // Products take half the time of those in bf16; the cache stays in bf16, where nothing is said of it.
    CHECK(own.time_to_first_token_s < 0.75 * plain.time_to_first_token_s);
    CHECK(own.kv_cache_bytes == plain.kv_cache_bytes);
    CHECK(asked.kv_cache_bytes == plain.kv_cache_bytes); // nor where the format is asked for
    CHECK(halves.time_to_first_token_s > 0.9 * plain.time_to_first_token_s);
    // Without FP8 units the weights alone are narrow.
    CHECK(answer(fp8, std::nullopt, "A100").time_to_first_token_s >
          0.9 * answer("", std::nullopt, "A100").time_to_first_token_s);
}

TEST_CASE("a checkpoint's own formats are those of a server as of an answer, whatever is asked for",
          "[generation][checkpoint][serving]") {
    const test::Folder folder("archsim_own_formats");
    const Session session(SessionOptions{.data = ARCHSIM_SOURCE_DIR});
    const char* const kSchemes[] = {
        "", R"(, "quantization_config": {"quant_method": "fp8", "activation_scheme": "dynamic"})",
        R"(, "quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128})",
        R"(, "quantization_config": {"quant_method": "gptq", "bits": 8, "group_size": 128})"};
    for (const std::string scheme : kSchemes)
        for (const std::optional<Precision> asked :
             {std::optional<Precision>{}, std::optional(Precision::bf16), std::optional(Precision::fp8)})
            for (const char* device : {"L40S", "A100"}) {
                const auto config = folder.write("config.json", fmt::format(R"({{"model_type": "llama",
                    "hidden_size": 1024, "num_hidden_layers": 2, "num_attention_heads": 16,
                    "num_key_value_heads": 8, "intermediate_size": 4096, "vocab_size": 32000{}}})",
                                                                            scheme));
                INFO(scheme << " in " << (asked ? name_of(*asked) : "its own") << " on " << device);
                Conditions conditions;
                conditions.stack = "vllm";
                if (asked)
                    conditions.precision = PrecisionConfig::uniform(*asked);
                const Model model = session.load(config.string());
                const Result answer =
                    session.estimate({.model = model, .prompt = Prompt{.tokens = 512}}, device, conditions);
                const Server server(session, model, device, conditions, ServingRequest{});
                REQUIRE(answer.ok());
                REQUIRE(server.ready());
                const PrecisionConfig& runs = server.prices().formats();
                CHECK(runs.compute == answer.estimate.executed.compute);
                CHECK(runs.kv_cache == answer.estimate.executed.kv_cache);
                CHECK(server.basis().precision == multiplied_format(answer));
                // Integers are weights alone, which nobody multiplies in fp8.
                if (scheme.find("bits") != std::string::npos) {
                    CHECK(bits_of(runs.compute) == 16);
                    CHECK(server.basis().precision.ends_with("a16"));
                    CHECK((asked == Precision::fp8) == !server.basis().notes.empty());
                }
                // Weights that are narrower than what they meet are no 16-bit run.
                if (asked == Precision::fp8 && device == std::string("A100"))
                    CHECK(server.basis().precision.starts_with("w"));
            }
}

namespace {

/// What the products of a small model with experts are multiplied in on a B200, by parts of their names; as
/// the checkpoint was made where no format is asked for.
std::map<std::string, Precision> precisions_of_products(const std::string& quantization,
                                                        std::optional<Precision> asked) {
    const test::Folder folder("archsim_wide_products");
    const auto config = folder.write("config.json", R"({"model_type": "qwen3_moe", "hidden_size": 1024,
        "num_hidden_layers": 2, "num_attention_heads": 8, "num_key_value_heads": 8, "intermediate_size": 4096,
        "vocab_size": 8000, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024,
        "quantization_config": )" + quantization + "}");
    const Model loaded = laws::session().load(config.string());
    const GenerationModel model(loaded, {});
    Conditions options;
    REQUIRE(loaded.info.products);
    options.precision = asked ? PrecisionConfig::uniform(*asked) : *loaded.info.products;
    options.stack = "vllm";
    const auto machine = laws::session().machine("B200", options);
    const ExecutedPrecision p = language_precision(*machine, options.precision, std::nullopt);
    REQUIRE(p.supported);
    const auto step = model.bound(1, 64, 0)->work({}, p.config, {});
    std::map<std::string, Precision> by;
    for (const SubgraphWork& work : step->subgraphs)
        for (const char* part : {"q_proj", "experts", "lm_head", "self_attn/GroupQueryAttention"})
            if (!work.anchor->contractions.empty() && work.name.find(part) != std::string::npos)
                by.emplace(part, work.precision);
    REQUIRE(by.size() == 4);
    return by;
}

} // namespace

TEST_CASE("what a scheme leaves wide is multiplied wide", "[generation][checkpoint]") {
    const auto by = precisions_of_products(R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
        "exclude_modules": ["lm_head", "model.layers.*.self_attn*"]})",
                                           Precision::fp4);
    CHECK(by.at("q_proj") == Precision::fp16);
    CHECK(by.at("experts") == Precision::fp4);
    CHECK(by.at("lm_head") == Precision::fp16);
    // Queries meet keys as the cache has them: wide, since neither checkpoint nor stack narrows it.
    CHECK(by.at("self_attn/GroupQueryAttention") == Precision::fp16);
}

TEST_CASE("weights that are quantised alone meet wide activations beside those that are not",
          "[generation][checkpoint]") {
    const std::string mixed = R"({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION",
        "quantized_layers": {"model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
        "model.layers.1.self_attn.q_proj": {"quant_algo": "FP8"},
        "model.layers.0.mlp.experts": {"quant_algo": "W4A16_NVFP4", "group_size": 16},
        "model.layers.1.mlp.experts": {"quant_algo": "W4A16_NVFP4", "group_size": 16}}})";
    const auto by = precisions_of_products(mixed, std::nullopt);
    CHECK(by.at("q_proj") == Precision::fp8);
    CHECK(by.at("experts") == Precision::fp16);
    CHECK(by.at("lm_head") == Precision::fp16);
    // Who asks for another format has it.
    CHECK(precisions_of_products(mixed, Precision::fp4).at("experts") == Precision::fp4);
}

TEST_CASE("blocks of an image model's file are unpacked before 16-bit products", "[session][checkpoint]") {
    for (const char* file : {"flux1-dev-Q4_K_S.gguf", "flux1-dev-Q8_0.gguf"}) {
        const Result r =
            laws::session().estimate({.model = laws::session().load(file)}, "RTX-3090", Conditions{});
        CAPTURE(file, r.estimate.reason);
        REQUIRE(r.ok());
        for (const ResultPart& part : r.parts) {
            const PrecisionConfig& runs = part.result->estimate.executed;
            CHECK(runs.compute == Precision::fp16);
            CHECK(runs.activations == Precision::fp16);
            CHECK(is_integer(runs.weights));
            CHECK(part.result->runtime->id == "cuda-eager"); // TensorRT opens no such file
        }
    }
}
