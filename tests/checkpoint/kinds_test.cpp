// Configurations of encoders and of networks that generate no text: one sentence, and never a decoder with a
// cache.

#include "archsim/core/finding.hpp"
#include "checkpoint/checkpoint.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace archsim;

namespace {

// Sizes that a decoder could be read from.
const std::string kSizes = R"("hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000)";

std::string outcome(const std::string& fields) {
    try {
        (void)read_checkpoint_config("{" + fields + "}", "config.json");
    } catch (const InputError& problem) {
        return problem.what();
    }
    return "accepted";
}

std::string of_type(const std::string& type, const std::string& more = "") {
    return outcome("\"model_type\": \"" + type + "\", " + kSizes + more);
}

} // namespace

TEST_CASE("encoders are not read as decoders with a cache", "[checkpoint]") {
    for (const char* type :
         {"bert", "roberta", "xlm-roberta", "modernbert", "nomic_bert", "deberta-v2", "electra", "mpnet",
          "distilbert", "new", "xlm-roberta-xl", "jina_bert", "eurobert"}) {
        INFO(type);
        CHECK_THAT(of_type(type), Catch::Contains("is an encoder") && Catch::Contains("config.json"));
    }
    for (const char* type : {"vit", "dinov2", "swin", "vit_mae", "convnext"})
        CHECK_THAT(of_type(type), Catch::Contains("encoder of images"));
    for (const char* type : {"clip", "siglip", "siglip_vision_model", "siglip2"})
        CHECK_THAT(of_type(type), Catch::Contains("pair of encoders"));
    for (const char* type : {"wav2vec2", "hubert", "wav2vec2-conformer"})
        CHECK_THAT(of_type(type), Catch::Contains("encoder of sound"));
    for (const char* type : {"t5", "whisper", "bart", "mt5", "t5gemma", "vision-encoder-decoder"})
        CHECK_THAT(of_type(type), Catch::Contains("encoder with a decoder"));
    CHECK_THAT(of_type("Dream"), Catch::Contains("diffusion language model"));
    CHECK_THAT(of_type("llada"), Catch::Contains("diffusion language model"));
    CHECK_THAT(of_type("rwkv6"), Catch::Contains("recurrent"));
    CHECK_THAT(of_type("gemma3_text", R"(, "use_bidirectional_attention": true)"),
               Catch::Contains("every token sees all others"));
    CHECK_THAT(of_type("qwen2", R"(, "is_causal": false)"), Catch::Contains("every token sees all others"));
    CHECK_THAT(of_type("brand_new", R"(, "architectures": ["BrandNewForMaskedLM"])"),
               Catch::Contains("BrandNewForMaskedLM"));
    CHECK_THAT(outcome(R"("_class_name": "UNet2DConditionModel", "block_out_channels": [320, 640])"),
               Catch::Contains("diffusers"));
    CHECK_THAT(outcome(R"("architecture": "resnet50", "num_classes": 1000, "pretrained_cfg": {})"),
               Catch::Contains("timm"));
    // The pair has its sizes in groups.
    CHECK_THAT(
        outcome(R"("model_type": "clip", "text_config": {"model_type": "clip_text_model", )" + kSizes + "}"),
        Catch::Contains("pair of encoders"));
}

TEST_CASE("decoders beside encoders of like names stay decoders", "[checkpoint]") {
    for (const char* type :
         {"ernie4_5", "bitnet", "qwen3", "gemma3_text", "newton", "t5x", "modernbert-decoder"})
        CHECK(of_type(type) == "accepted");
    CHECK(of_type("bert", R"(, "is_decoder": true)") == "accepted");
    CHECK(of_type("gemma3_text", R"(, "use_bidirectional_attention": false)") == "accepted");
    CHECK(of_type("qwen2", R"(, "architectures": ["Qwen2ForSequenceClassification"])") == "accepted");
    CHECK(outcome(R"("model_type": "llava", "text_config": {"model_type": "llama", )" + kSizes +
                  R"(}, "vision_config": {"model_type": "clip_vision_model"})") == "accepted");
}
