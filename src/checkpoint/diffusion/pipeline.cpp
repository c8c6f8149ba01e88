
#include "checkpoint/config_parts.hpp"
#include "checkpoint/diffusion/net.hpp"
#include "checkpoint/stored_files.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"

#include <fmt/ranges.h>

namespace archsim {

namespace checkpoint {

std::string PartPlace::latent_frames(std::int64_t patch) const {
    return frames == 0 ? "1" : fmt::format("floor((floor((frames-1)/{})+1)/{})", frames, patch);
}

std::string PartPlace::frames_of() const {
    return frames == 0 ? "1" : fmt::format("{}*floor((frames-1)/{})+1", frames, frames);
}

Axis PartPlace::axis(const std::string& text) {
    const auto number = plain_number<std::int64_t>(text);
    return number ? Axis(*number) : Axis(text);
}

Graph finished(GraphMaker& g, Fields& f) {
    Graph graph = g.take();
    f.report_unread(graph.findings);
    return graph;
}

std::int64_t size_of(Fields& f, Names names, std::int64_t fallback) {
    constexpr std::int64_t kLargest = 1 << 20; // products of three stay exact
    const std::int64_t size = fallback > 0 ? f.count(names, fallback, 1) : f.count(names);
    if (size > kLargest)
        f.refuse(*names.begin(), fmt::format("{} is larger than any network's", size));
    return size;
}

std::int64_t blocks_of(Fields& f, Names names, std::int64_t fallback) {
    const std::int64_t blocks = fallback < 0 ? f.count(names) : f.count(names, fallback);
    if (blocks > kMostLayers)
        f.refuse(*names.begin(), std::to_string(blocks) + " is more than any network has");
    return blocks;
}

void check_blocks(const Fields& f, const char* field, double blocks) {
    if (blocks > static_cast<double>(kMostLayers))
        f.refuse(field, fmt::format("{:.0f} blocks are more than any network has", blocks));
}

std::vector<std::int64_t> sizes_of(Fields& f, const char* name) {
    constexpr std::size_t kMostBlocks = 64;
    constexpr std::int64_t kLargest = 1 << 20;
    std::vector<std::int64_t> sizes = f.counts({name});
    if (sizes.empty() || sizes.size() > kMostBlocks)
        f.refuse(name, fmt::format("a number for each of 1 to {} blocks is needed", kMostBlocks));
    for (const std::int64_t size : sizes)
        if (size < 1 || size > kLargest)
            f.refuse(name, fmt::format("{} is no size", size));
    return sizes;
}

} // namespace checkpoint

using namespace checkpoint;
using nlohmann::json;

constexpr std::uintmax_t kLargestFile = 16u << 20;

struct ClassRow {
    std::string_view name;
    PartBuilder build;
    DiffusionPart::Divides divides = DiffusionPart::Divides::nothing;
    std::string_view pipeline = {}; ///< that runs such a denoiser, for pipelines of other names
};
constexpr ClassRow kTextEncoders[] = {
    {"CLIPTextModel", build_clip_text},    {"CLIPTextModelWithProjection", build_clip_text},
    {"T5EncoderModel", build_t5_encoder},  {"UMT5EncoderModel", build_t5_encoder},
    {"MT5EncoderModel", build_t5_encoder}, {"BertModel", build_bert}};
constexpr ClassRow kImageEncoders[] = {{"CLIPVisionModel", build_clip_vision},
                                       {"CLIPVisionModelWithProjection", build_clip_vision}};
constexpr ClassRow kDenoisers[] = {
    {"UNet2DConditionModel", build_unet, DiffusionPart::Divides::nothing, "StableDiffusionPipeline"},
    {"SD3Transformer2DModel", build_sd3, DiffusionPart::Divides::all, "StableDiffusion3Pipeline"},
    {"FluxTransformer2DModel", build_flux, DiffusionPart::Divides::all, "FluxPipeline"},
    {"QwenImageTransformer2DModel", build_qwen_image, DiffusionPart::Divides::all, "QwenImagePipeline"},
    {"PixArtTransformer2DModel", build_pixart, DiffusionPart::Divides::image, "PixArtSigmaPipeline"},
    {"SanaTransformer2DModel", build_sana, DiffusionPart::Divides::image, "SanaPipeline"},
    {"HunyuanDiT2DModel", build_hunyuan_dit, DiffusionPart::Divides::image, "HunyuanDiTPipeline"},
    {"WanTransformer3DModel", build_wan, DiffusionPart::Divides::image, "WanPipeline"}};
constexpr ClassRow kDecoders[] = {{"AutoencoderKL", build_kl_decoder},
                                  {"AutoencoderDC", build_dc_decoder},
                                  {"AutoencoderKLWan", build_wan_decoder},
                                  {"AutoencoderKLQwenImage", build_wan_decoder}};

/// How a pipeline asks its denoiser with and without the prompt.
enum class Guidance : std::uint8_t {
    none,   ///< the denoiser takes the scale as an input, or none
    joined, ///< both at once, in one batch
    apart,  ///< one after the other
};

/// The class of a pipeline when nothing else is said: the defaults of its call in diffusers.
struct PipelineRow {
    std::string_view name;
    std::int64_t steps;
    Guidance guidance;
    bool short_text, long_text; ///< the denoiser reads tokens of the CLIP encoder, those of the other one
    std::int64_t tokens;        ///< length that prompts are padded to; 0: there is no such encoder
    /// For a video: frames, height and width; 0 frames: an image, of the side that the denoiser states.
    std::int64_t frames = 0, height = 0, width = 0;
};
constexpr PipelineRow kPipelines[] = {
    {"StableDiffusionPipeline", 50, Guidance::joined, true, false, 0},
    {"StableDiffusionXLPipeline", 50, Guidance::joined, true, false, 0},
    {"StableDiffusion3Pipeline", 28, Guidance::joined, true, true, 256},
    {"FluxPipeline", 28, Guidance::none, false, true, 512},
    {"PixArtSigmaPipeline", 20, Guidance::joined, false, true, 300},
    {"SanaPipeline", 20, Guidance::joined, false, true, 300},
    {"HunyuanDiTPipeline", 50, Guidance::joined, true, true, 256},
    {"QwenImagePipeline", 50, Guidance::apart, false, true, 512},
    {"WanPipeline", 50, Guidance::apart, false, true, 512, 81, 480, 832},
};

template <class Row, std::size_t N>
static const Row* find_row(const Row (&rows)[N], std::string_view name) {
    const Row* const row = std::ranges::find(rows, name, &Row::name);
    return row == std::end(rows) ? nullptr : row;
}

[[noreturn]] static void refuse_pipeline(const std::string& file, std::string where, std::string why) {
    refuse(file, std::move(why),
           fmt::format("known are {}", fmt::join(mapped(kPipelines, &PipelineRow::name), ", ")),
           std::move(where), FindingKind::malformed_file);
}

static json document_in(const std::filesystem::path& file) {
    return parse_python_json(read_config_text(file, kLargestFile), file.string());
}

/// Files of JAX say "FlaxUNet2DConditionModel" of the same network.
static std::string_view without_framework(std::string_view name) {
    constexpr std::string_view kFlax = "Flax";
    return name.starts_with(kFlax) ? name.substr(kFlax.size()) : name;
}

/// A part's configuration and where it stands.
struct PartConfig {
    std::string name, file, architecture;
    json config;
};

/// The class that a part's own file names, or else the index.
static std::string class_of(const json& config, const json& index) {
    if (std::string name = text_at(config, "_class_name"); !name.empty())
        return std::string(without_framework(name));
    if (const auto classes = config.find("architectures");
        classes != config.end() && classes->is_array() && !classes->empty() && classes->front().is_string())
        return classes->front().get<std::string>();
    if (index.is_array() && index.size() == 2 && index[1].is_string())
        return std::string(without_framework(index[1].get<std::string>()));
    return {};
}

class PipelineReader {
  public:
    PipelineReader(const std::filesystem::path& path, bool divided, std::string_view only)
        : divided_(divided), only_(only) {
        std::error_code ignored;
        file_ = std::filesystem::is_directory(path, ignored) ? path / "model_index.json" : path;
        index_ = document_in(file_);
        const std::string name = text_at(index_, "_class_name");
        out_.architecture = name;
        row_ = find_row(kPipelines, without_framework(name));
        const std::string type = text_at(index_, "torch_dtype");
        type_ = type == "float16"   ? DataType::float16
                : type == "float32" ? DataType::float32
                                    : DataType::bfloat16;
    }

    DiffusionPipeline read() {
        const std::optional<PartConfig> denoiser = first_of({"transformer", "unet"}),
                                        decoder = first_of({"vae"});
        const std::vector<std::string> others = other_parts();
        const bool known = row_ != nullptr;
        if (!known)
            settle_on_a_row(denoiser, others);
        if (only_.empty() && (!denoiser || !decoder))
            refuse_pipeline(file_.string(), denoiser ? "vae" : "transformer",
                            "the pipeline has no such part");
        if (decoder) {
            place_.pixels = pixels_per_latent(*decoder);
            place_.frames = row_->frames > 0 ? frames_per_latent(*decoder) : 0;
        }
        std::vector<PartConfig> encoders;
        for (const char* name : {"text_encoder", "text_encoder_2", "text_encoder_3"})
            if (auto part = first_of({name}))
                encoders.push_back(std::move(*part));
        set_text(encoders);
        const bool guided = row_->guidance != Guidance::none;
        if (auto image = first_of({"image_encoder"}))
            add(*image, find_row(kImageEncoders, image->architecture), place_, {});
        std::vector<std::string> times{"steps"};
        for (const PartConfig& part : encoders)
            add(part, find_row(kTextEncoders, part.architecture), {},
                guided ? std::vector<std::string>{"guidance"} : std::vector<std::string>{}, true);
        PartPlace place = place_;
        place.divided = divided_;
        if (row_->guidance == Guidance::joined)
            place.batch = "guidance*batch";
        if (row_->guidance == Guidance::apart)
            times.emplace_back("guidance");
        if (denoiser)
            add(*denoiser, find_row(kDenoisers, denoiser->architecture), place, times);
        if (const auto second = only_.empty() ? first_of({"transformer_2"}) : std::nullopt) {
            // A denoiser for the first steps and one for the last: of equal size, so that it does not matter
            // how many steps each takes.
            if (!denoiser || second->config != denoiser->config)
                refuse_pipeline(second->file, "transformer_2", "two denoisers of unlike sizes are not known");
            add(*second, find_row(kDenoisers, second->architecture), place, times);
            out_.parts.back().share = out_.parts[out_.parts.size() - 2].share = 0.5;
        }
        // In a video one frame of latents at a time (build_wan_decoder).
        if (decoder)
            add(*decoder, find_row(kDecoders, decoder->architecture), place_,
                place_.frames > 0 ? std::vector<std::string>{place_.latent_frames(1)}
                                  : std::vector<std::string>{});
        static const json kNothing = json::object();
        set_sizes(denoiser ? *denoiser : PartConfig{"", file_.string(), "", kNothing}, guided);
        if (!out_.parts.empty())
            note_differences(known, others);
        return std::move(out_);
    }

  private:
    /// Networks of the index that no part is read from: "controlnet (ControlNetModel)".
    std::vector<std::string> other_parts() const {
        std::vector<std::string> others;
        for (const auto& [name, stated] : index_.items()) {
            const bool network = stated.is_array() && stated.size() == 2 && stated[1].is_string();
            if (!network || contains(kRead, name))
                continue;
            const auto type = stated[1].get<std::string>();
            // Tokenisers and schedulers are no networks.
            if (std::ranges::none_of(kNoNetworks,
                                     [&](std::string_view part) { return type.find(part) != type.npos; }))
                others.push_back(fmt::format("{} ({})", name, type));
        }
        return others;
    }

    /// A pipeline of another name whose networks are all known runs as the one that has its denoiser.
    void settle_on_a_row(const std::optional<PartConfig>& denoiser, const std::vector<std::string>& others) {
        const ClassRow* row = denoiser ? find_row(kDenoisers, denoiser->architecture) : nullptr;
        if (row == nullptr && !only_.empty()) { // of the part that is wanted nothing follows from it
            row_ = find_row(kPipelines, "StableDiffusionPipeline");
            return;
        }
        if (row == nullptr || (only_.empty() && !others.empty() && !is_checker(others.front())))
            refuse_pipeline(
                file_.string(), "_class_name",
                fmt::format("\"{}\" is a pipeline that is not known{}; a part of a known class can be asked "
                            "for alone: FOLDER#vae",
                            out_.architecture,
                            others.empty() ? "" : fmt::format(", with {}", fmt::join(others, ", "))));
        const bool two = index_.contains("text_encoder_2");
        row_ = find_row(kPipelines, two && row->pipeline == "StableDiffusionPipeline"
                                        ? "StableDiffusionXLPipeline"
                                        : row->pipeline);
    }

    static bool is_checker(const std::string& part) { return part.starts_with("safety_checker"); }

    void note_differences(bool known, const std::vector<std::string>& others) {
        const auto note = [&](Severity severity, std::string message) {
            out_.parts.front().graph.findings.push_back(
                found(FindingKind::unsupported, severity, file_.string(), {}, std::move(message)));
        };
        if (!known)
            note(Severity::warning, fmt::format("{} is not known; its networks run as often as those of {}",
                                                out_.architecture, row_->name));
        for (const std::string& part : others)
            note(is_checker(part) ? Severity::note : Severity::warning,
                 fmt::format("{} is not counted, neither its weights nor its work", part));
    }

    std::optional<PartConfig> first_of(std::initializer_list<const char*> names) {
        for (const char* name : names) {
            const auto it = index_.find(name);
            if (it == index_.end() || (it->is_array() && !it->empty() && it->front().is_null()))
                continue;
            PartConfig part{name, file_.string() + "#" + name, {}, {}};
            if (it->is_object()) {
                part.config = *it;
            } else {
                const auto own = file_.parent_path() / name / "config.json";
                part.file = own.string();
                part.config = document_in(own);
            }
            part.architecture = class_of(part.config, *it);
            return part;
        }
        return std::nullopt;
    }

    static std::int64_t pixels_per_latent(const PartConfig& decoder) {
        Fields f(decoder.config, decoder.file);
        const char* const field = f.has({"decoder_block_out_channels"}) ? "decoder_block_out_channels"
                                  : f.has({"dim_mult"})                 ? "dim_mult"
                                                                        : "block_out_channels";
        const auto blocks = sizes_of(f, field).size();
        constexpr std::size_t kMost = 16;
        if (blocks > kMost)
            f.refuse(field, fmt::format("{} blocks are more than any decoder has", blocks));
        return std::int64_t{1} << (blocks - 1);
    }

    /// Two for each block that halves the frames.
    static std::int64_t frames_per_latent(const PartConfig& decoder) {
        std::int64_t frames = 1;
        const auto steps = decoder.config.find("temperal_downsample");
        if (steps != decoder.config.end() && steps->is_array())
            for (const json& step : *steps)
                frames *= step.is_boolean() && step.get<bool>() && frames < 64 ? 2 : 1;
        return frames;
    }

    /// Tokens that the denoiser reads.
    void set_text(const std::vector<PartConfig>& encoders) {
        constexpr std::int64_t kShort = 77; // CLIP's tokenizer; what BERT's is padded to here
        std::int64_t short_tokens = kShort;
        if (!encoders.empty() && encoders.front().architecture.starts_with("CLIP")) {
            Fields f(encoders.front().config, encoders.front().file);
            short_tokens = size_of(f, {"max_position_embeddings"}, kShort);
        }
        if (row_->short_text)
            place_.text =
                row_->long_text ? fmt::format("sequence+{}", short_tokens) : fmt::format("{}", short_tokens);
    }

    void add(const PartConfig& part, const ClassRow* row, const PartPlace& place,
             std::vector<std::string> times, bool reads_text = false) {
        if (!only_.empty() && part.name != only_)
            return;
        DiffusionPart made{.name = part.name,
                           .architecture = part.architecture,
                           .times = std::move(times),
                           .divides = row != nullptr ? row->divides : DiffusionPart::Divides::nothing};
        if (row != nullptr) {
            Decoder base{.name = part.name, .type = type_};
            Fields f(part.config, part.file);
            if (f.has({"quantization_config"}))
                read_quantization(f, base);
            made.graph = row->build(f, base, place);
            // Files of a decoder of latents hold the encoder, too.
            if (const auto config = std::filesystem::path(part.file);
                config.filename() == "config.json" && part.name != "vae") {
                hold_bytes(read_stored_files(config.parent_path()), weight_bytes(made.graph), 0,
                           Severity::warning, base);
                if (base.stored_scale != 1)
                    made.graph = row->build(f, base, place);
            }
        } else if (reads_text) {
            Decoder decoder = read_config(part.config, part.file);
            decoder.name = part.name;
            decoder.head = false;
            std::erase_if(decoder.findings, [](const Finding& f) { return f.severity == Severity::note; });
            out_.dims.emplace("past_sequence", 0);
            made.graph = build_graph(decoder);
        } else {
            refuse_pipeline(part.file, "_class_name",
                            fmt::format("\"{}\" is a class that is not known", part.architecture));
        }
        out_.parts.push_back(std::move(made));
    }

    void set_sizes(const PartConfig& denoiser, bool guided) {
        constexpr std::int64_t kSide = 128; // of latents, where the denoiser does not say (FluxPipeline)
        Fields f(denoiser.config, denoiser.file);
        const std::int64_t side = place_.pixels * size_of(f, {"sample_size"}, kSide);
        out_.dims.insert({{"batch", 1},
                          {"height", row_->height > 0 ? row_->height : side},
                          {"width", row_->width > 0 ? row_->width : side},
                          {"steps", row_->steps}});
        if (row_->frames > 0)
            out_.dims.emplace("frames", row_->frames);
        if (row_->tokens > 0)
            out_.dims.emplace("sequence", row_->tokens);
        if (guided)
            out_.dims.emplace("guidance", 2);
    }

    static constexpr std::string_view kRead[] = {
        "transformer",  "transformer_2",  "unet",           "vae",
        "text_encoder", "text_encoder_2", "text_encoder_3", "image_encoder"};
    static constexpr std::string_view kNoNetworks[] = {"Scheduler", "Tokenizer", "Processor",
                                                       "FeatureExtractor"};

    const bool divided_;
    const std::string only_; ///< name of the part that is wanted; empty: all
    std::filesystem::path file_;
    json index_;
    const PipelineRow* row_ = nullptr;
    DataType type_ = DataType::bfloat16;
    PartPlace place_;
    DiffusionPipeline out_;
};

bool is_diffusion_pipeline(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return std::filesystem::exists(path / "model_index.json", ignored);
    if (path.filename() == "model_index.json")
        return std::filesystem::exists(path, ignored);
    if (path.extension() != ".json" || std::filesystem::file_size(path, ignored) > kLargestFile || ignored)
        return false;
    const std::string text = read_text_file(path);
    const std::size_t at = text.find("\"_class_name\"");
    if (at == std::string::npos)
        return false;
    return text.find("Pipeline\"", at) != std::string::npos &&
           text_at(parse_python_json(text, path.string()), "_class_name").ends_with("Pipeline");
}

DiffusionPipeline read_diffusion_pipeline(const std::filesystem::path& path, bool divided,
                                          std::string_view only) {
    return PipelineReader(path, divided, only).read();
}

} // namespace archsim
