#pragma once
// Image and video generators as people publish them: the folder of a diffusers pipeline (model_index.json
// beside the folders of its parts), or one file with the parts' configurations inside. Headers only; weights
// are never read.

#include "archsim/graph/graph.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// A part of a pipeline, in the order they run: text encoders, the denoiser, the decoder of its latents.
struct DiffusionPart {
    std::string name;         ///< as the pipeline calls it ("text_encoder_2", "transformer", "vae")
    std::string architecture; ///< its class ("FluxTransformer2DModel")
    Graph graph;              ///< of one execution; `findings` hold what the reader did not understand
    /// Sizes, or arithmetic over them, whose product is how often it runs for one batch: "steps" of a
    /// denoiser, "guidance" of a text encoder that reads the negative prompt too. Empty: once.
    std::vector<std::string> times;
    /// Which tokens several devices may divide among them (sequence parallelism): none, those of the image,
    /// or also those of the prompt, which run beside them.
    enum class Divides : std::uint8_t { nothing, image, all } divides = Divides::nothing;
    double share = 1; ///< of those executions, where parts share them
};

// For denoisers that divide: sizes (and inputs) that say how many tokens of image and prompt other devices
// have, and what names of the copies around an exchange between devices hold.
inline constexpr const char* kOtherTokens = "other_tokens";
inline constexpr const char* kOtherPrompts = "other_prompts";
inline constexpr std::string_view kExchange = "/exchange";

/// A pipeline. Sizes `batch` (images), `height` and `width` (pixels) and `sequence` (tokens of the prompt,
/// padded) are symbols of the graphs; `steps` and `guidance` (2: with classifier-free guidance, which runs
/// the denoiser with and without the prompt; 1: without) say how often and at which batch parts run.
struct DiffusionPipeline {
    std::string architecture; ///< "FluxPipeline"
    std::vector<DiffusionPart> parts;
    std::map<std::string, std::int64_t> dims; ///< defaults of all sizes, those of the pipeline's class
};

/// True for a folder with a model_index.json, that file, and a .json file whose `_class_name` ends in
/// Pipeline.
bool is_diffusion_pipeline(const std::filesystem::path& path);

/// Reads it. A field that changes sizes and is not known becomes a finding of the part's graph. Throws
/// InputError with file and field for classes that are not known. `divided`: denoisers that divide are as
/// each of several devices runs them, with keys and values of the others' tokens (size `other_tokens`) as an
/// input. `only`: the part of that name alone, whatever the others are.
DiffusionPipeline read_diffusion_pipeline(const std::filesystem::path& path, bool divided = false,
                                          std::string_view only = {});

} // namespace archsim
