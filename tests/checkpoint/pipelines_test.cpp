// Image generators of the catalogue, held part by part against the parameters that are published for them.

#include "archsim/core/finding.hpp"
#include "archsim/run/session.hpp"
#include "checkpoint/diffusion.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

using namespace archsim;

namespace {

struct PublishedPart {
    const char* part;
    double parameters;
    double room; ///< relative room of a rounded figure
};

// Counts of the parts' safetensors files; a decoder of latents is its half of the autoencoder.
constexpr double kExact = 1e-9, kRounded = 0.01;
const std::map<std::string, std::vector<PublishedPart>> kPublishedPipelines = {
    // diffusers documentation of num_parameters
    {"sd-1.5", {{"text_encoder", 123060480, kExact}, {"unet", 859520964, kExact}}},
    // buddy-compiler, examples/BuddyStableDiffusion: lengths of the flat weights
    {"sd-2.1-base", {{"text_encoder", 340387840, kExact}, {"unet", 865910724, kExact}}},
    {"sdxl", {{"text_encoder_2", 694659840, kExact}, {"unet", 2567463684, kExact}}},
    // triton-inference-server/model_navigator, inspection of stable-diffusion-3-medium: encoders and decoder
    {"sd-3.5-medium",
     {{"text_encoder", 123650304, kExact},
      {"text_encoder_2", 694659840, kExact},
      {"text_encoder_3", 4762310656, kExact},
      {"vae", 49545475, kExact}}},
    {"sd-3.5-large", {{"transformer", 8.1e9, kRounded}}}, // model card
    {"flux.1-dev", {{"transformer", 11901408320, kExact}, {"text_encoder_2", 4762310656, kExact}}},
    {"flux.1-schnell", {{"transformer", 11891178560, kExact}}},
    {"pixart-sigma", {{"transformer", 610856096, kExact}}},
    {"sana-1.5-1.6b", {{"transformer", 1.6e9, kRounded}}}, // model card
    {"sana-1.5-4.8b", {{"transformer", 4.8e9, 0.02}}},     // model card, rounded up from 4.72e9
    {"qwen-image", {{"transformer", 20430401088, kExact}}},
    {"wan-2.2-t2v-a14b", {{"transformer", 14288491584, kExact}, {"text_encoder", 5680910336, kExact}}},
};

double parameters_of(const Graph& graph) {
    double sum = 0;
    for (const Tensor& t : graph.tensors) {
        if (t.role != TensorRole::initializer || t.buffer || !is_floating(t.type))
            continue;
        double elements = 1;
        for (const Dimension& axis : *t.shape)
            elements *= static_cast<double>(axis.value);
        sum += elements;
    }
    return sum;
}

/// A folder of a pipeline with these texts in it.
std::filesystem::path written(const std::string& name, const std::map<std::string, std::string>& files) {
    const auto folder = std::filesystem::temp_directory_path() / ("archsim_pipeline_" + name);
    std::filesystem::remove_all(folder);
    for (const auto& [path, text] : files) {
        std::filesystem::create_directories((folder / path).parent_path());
        std::ofstream(folder / path) << text;
    }
    return folder;
}

const std::map<std::string, std::string> kTiny = {
    {"model_index.json",
     R"({"_class_name": "StableDiffusionPipeline", "scheduler": ["diffusers", "PNDMScheduler"],
        "text_encoder": ["transformers", "CLIPTextModel"], "unet": ["diffusers", "UNet2DConditionModel"],
        "vae": ["diffusers", "AutoencoderKL"], "safety_checker": [null, null]})"},
    {"text_encoder/config.json",
     R"({"architectures": ["CLIPTextModel"], "hidden_size": 64, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 1000, "max_position_embeddings": 77})"},
    {"unet/config.json", R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [32, 64],
        "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
        "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"], "cross_attention_dim": 64, "attention_head_dim": 4,
        "in_channels": 4, "out_channels": 4, "sample_size": 16})"},
    {"vae/config.json",
     R"({"_class_name": "AutoencoderKL", "block_out_channels": [32, 64], "latent_channels": 4,
        "layers_per_block": 1, "out_channels": 3})"}};

} // namespace

TEST_CASE("parts of image generators have the parameters that are published", "[diffusion]") {
    for (const auto& [name, parts] : kPublishedPipelines) {
        const Model model = test::shipped_session().load(name);
        for (const PublishedPart& expected : parts) {
            INFO(name << " " << expected.part);
            const auto part = std::find_if(model.parts.begin(), model.parts.end(), [&](const Model& m) {
                return m.name() == name + "#" + expected.part;
            });
            REQUIRE(part != model.parts.end());
            CHECK(parameters_of(*part->graph) == Approx(expected.parameters).epsilon(expected.room));
        }
    }
}

TEST_CASE("every part of a catalogue pipeline is understood", "[diffusion]") {
    for (const CatalogueEntry& entry : test::shipped_session().catalogue().entries()) {
        if (entry.kind != "diffusion")
            continue;
        INFO(entry.name);
        const auto facts = test::shipped_session().facts({.model = test::shipped_session().load(entry.name)});
        for (const Finding& finding : facts->findings)
            CHECK(to_string(finding) == "");
        REQUIRE(entry.published);
        CHECK(facts->parameters ==
              Approx(entry.published->parameters).epsilon(entry.published->parameters_tolerance));
    }
}

TEST_CASE("the folder of a pipeline is read from its index", "[diffusion]") {
    const auto folder = written("tiny", kTiny);
    CHECK(is_diffusion_pipeline(folder));
    const DiffusionPipeline pipeline = read_diffusion_pipeline(folder);
    REQUIRE(pipeline.parts.size() == 3);
    CHECK(pipeline.parts[0].times == std::vector<std::string>{"guidance"});
    CHECK(pipeline.parts[1].times == std::vector<std::string>{"steps"});
    CHECK(pipeline.parts[2].times.empty());
    CHECK(pipeline.dims.at("height") == 32); // 16 latents of two pixels
    CHECK(pipeline.dims.at("steps") == 50);
    CHECK(pipeline.dims.at("guidance") == 2);
    const Model model = test::shipped_session().load(folder.string());
    CHECK(model.parts.size() == 3);
    // A part alone.
    CHECK(test::shipped_session().load(folder.string() + "#unet").graph != nullptr);
}

TEST_CASE("what a pipeline does not say is an error with its place", "[diffusion]") {
    const auto refused = [&](const std::string& name, const std::string& file, const std::string& text) {
        auto files = kTiny;
        files[file] = text;
        try {
            read_diffusion_pipeline(written(name, files));
        } catch (const InputError& problem) {
            return std::string(problem.what());
        }
        return std::string("read");
    };
    using Catch::Matchers::Contains;
    CHECK_THAT(refused("class", "model_index.json", R"({"_class_name": "OtherPipeline"})"),
               Contains("OtherPipeline") && Contains("FluxPipeline"));
    CHECK_THAT(refused("part", "unet/config.json", R"({"_class_name": "OtherModel"})"),
               Contains("OtherModel"));
    CHECK_THAT(refused("block", "unet/config.json",
                       R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [32],
                           "down_block_types": ["AttnDownBlock2D"], "up_block_types": ["UpBlock2D"],
                           "cross_attention_dim": 64})"),
               Contains("AttnDownBlock2D"));
    CHECK_THAT(refused("size", "vae/config.json",
                       R"({"_class_name": "AutoencoderKL", "block_out_channels": [0, 64]})"),
               Contains("block_out_channels"));
    CHECK_THAT(refused("huge", "unet/config.json",
                       R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [99999999999]})"),
               Contains("block_out_channels"));
    CHECK_THAT(
        refused(
            "deep", "vae/config.json",
            R"({"_class_name": "AutoencoderKL", "block_out_channels": [32, 64], "layers_per_block": 1000000})"),
        Contains("layers_per_block"));
    CHECK_THAT(refused("depth", "unet/config.json",
                       R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [32],
                           "down_block_types": ["CrossAttnDownBlock2D"], "up_block_types": ["CrossAttnUpBlock2D"],
                           "transformer_layers_per_block": 1000000, "cross_attention_dim": 64})"),
               Contains("layers_per_block"));
    auto files = kTiny;
    files.erase("vae/config.json");
    CHECK_THROWS_AS(read_diffusion_pipeline(written("missing", files)), Error);
}

TEST_CASE("a pipeline of another name runs as the one with its denoiser, and a known part stands alone",
          "[diffusion]") {
    auto files = kTiny;
    std::string& index = files["model_index.json"];
    index.replace(index.find("StableDiffusionPipeline"), std::string("StableDiffusionPipeline").size(),
                  "StableDiffusionInpaintPipeline");
    const DiffusionPipeline other = read_diffusion_pipeline(written("other", files));
    CHECK(other.parts.size() == 3);
    CHECK(other.dims.at("steps") == 50);
    CHECK_THAT(to_string(other.parts.front().graph.findings.back()),
               Catch::Contains("StableDiffusionInpaint"));
    index.insert(index.rfind('}'), R"(, "controlnet": ["diffusers", "ControlNetModel"])");
    const auto folder = written("control", files);
    CHECK_THROWS_WITH(read_diffusion_pipeline(folder), Catch::Contains("ControlNetModel"));
    CHECK(read_diffusion_pipeline(folder, false, "unet").parts.size() == 1);
    CHECK(test::shipped_session().load(folder.string() + "#unet").graph != nullptr);
}

TEST_CASE("what a denoiser is told beside time and text has weights, and an unknown field withholds",
          "[diffusion]") {
    int folders = 0;
    const auto unet = [&](const std::string& more) {
        auto files = kTiny;
        std::string& fields = files["unet/config.json"];
        fields.insert(fields.rfind('}'), more);
        return read_diffusion_pipeline(written("told_" + std::to_string(folders++), files), false, "unet")
            .parts.front()
            .graph;
    };
    const double plain = parameters_of(unet("")), time = 4 * 32;
    const auto two = [&](double n) { return n * time + time + time * time + time; };
    CHECK(parameters_of(unet(R"(, "time_cond_proj_dim": 256)")) == plain + 256 * 32);
    CHECK(parameters_of(unet(R"(, "num_class_embeds": 1000)")) == plain + 1000 * time);
    CHECK(parameters_of(unet(R"(, "class_embed_type": "projection",
        "projection_class_embeddings_input_dim": 48)")) == plain + two(48));
    CHECK(parameters_of(unet(R"(, "class_embed_type": "timestep")")) == plain + two(32));
    // Keys and values of the first block's five layers of attention come from the text's 64 numbers, not 32.
    CHECK(parameters_of(unet(R"(, "only_cross_attention": [true, false])")) ==
          plain + 5 * 2 * (64 - 32) * 32);
    // Two residual blocks of 64 channels and a layer of attention between them.
    const double block = 2 * (9 * 64 * 64 + 64) + 4 * 64 + time * 64 + 64, norms = 2 * 64 + 3 * 2 * 64,
                 around = 2 * (64 * 64 + 64), attention = 2 * (4 * 64 * 64 + 64),
                 mlp = 64 * 512 + 512 + 256 * 64 + 64;
    CHECK(parameters_of(unet(R"(, "mid_block_type": null)")) ==
          plain - 2 * block - norms - around - attention - mlp);
    const Graph other = unet(R"(, "made_up_width": 48)");
    CHECK(other.findings.front().severity == Severity::error);
    CHECK_THAT(to_string(other.findings.front()), Catch::Contains("made_up_width"));
}

TEST_CASE("an image encoder is a part, and what is not counted is named", "[diffusion]") {
    auto files = kTiny;
    std::string& index = files["model_index.json"];
    index.insert(index.rfind('}'), R"(, "image_encoder": ["transformers", "CLIPVisionModelWithProjection"],
        "safety_checker": ["stable_diffusion", "StableDiffusionSafetyChecker"])");
    files["image_encoder/config.json"] = R"({"architectures": ["CLIPVisionModelWithProjection"],
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
        "image_size": 28, "patch_size": 14, "projection_dim": 32})";
    const DiffusionPipeline pipeline = read_diffusion_pipeline(written("image", files));
    const auto image = std::find_if(pipeline.parts.begin(), pipeline.parts.end(),
                                    [](const DiffusionPart& part) { return part.name == "image_encoder"; });
    REQUIRE(image != pipeline.parts.end());
    // A layer: four projections, two matrices of the MLP, their biases, two norms.
    const double layer = 4 * (64 * 64 + 64) + 2 * 64 * 128 + 128 + 64 + 4 * 64;
    CHECK(parameters_of(image->graph) == 64 * 3 * 14 * 14 + 5 * 64 + 2 * 64 + 2 * layer + 64 * 32);
    CHECK_THAT(to_string(pipeline.parts.front().graph.findings.back()), Catch::Contains("safety_checker"));
}

TEST_CASE("a decoder of videos runs for one frame of latents at a time", "[diffusion]") {
    const Model wan = test::shipped_session().load("wan-2.2-t2v-a14b");
    const auto decoder = std::find_if(wan.info.parts.begin(), wan.info.parts.end(),
                                      [](const ModelPart& part) { return part.name == "vae"; });
    REQUIRE(decoder != wan.info.parts.end());
    CHECK(decoder->times == std::vector<std::string>{"floor((floor((frames-1)/4)+1)/1)"});
    // Nothing that lies in memory grows with the frames.
    for (const Tensor& t : test::shipped_session().load("wan-2.2-t2v-a14b#vae").graph->tensors)
        for (const Dimension& axis : t.shape.value_or(std::vector<Dimension>{}))
            CHECK(axis.symbol.find("frames") == std::string::npos);
}
