#pragma once
// The parts of an image generator, each built from its config.json as its class in diffusers or transformers
// computes it.

#include "archsim/graph/graph.hpp"
#include "checkpoint/decoder.hpp"
#include "checkpoint/fields.hpp"
#include "checkpoint/graph_maker.hpp"

#include <string>

namespace archsim::checkpoint {

struct PartPlace {
    std::string batch = "batch";   ///< leading axis of its inputs
    std::int64_t pixels = 8;       ///< sides of the image per side of the latents
    std::int64_t frames = 0;       ///< frames of a video per frame of its latents; 0: an image
    bool divided = false;          ///< as each of several devices runs it that divide the tokens
    std::string text = "sequence"; ///< tokens of text that a denoiser reads: a number, a symbol or their sum

    /// The axis that a number, a symbol or an expression means.
    static Axis axis(const std::string& text);
    Axis text_axis() const { return axis(text); }
    /// Axis of latents that are `patch` wide: "floor(height/16)".
    std::string side(const std::string& of, std::int64_t patch = 1) const {
        return "floor(" + of + "/" + std::to_string(pixels * patch) + ")";
    }
    /// Side of the image that latents become: "8*floor(height/8)".
    std::string pixels_of(const std::string& of) const { return std::to_string(pixels) + "*" + side(of); }
    /// Frames of latents, cut in patches of `patch`: "floor((floor((frames-1)/4)+1)/1)"; of an image one.
    std::string latent_frames(std::int64_t patch) const;
    /// Frames that latents become.
    std::string frames_of() const;
    /// Tokens of an image cut in patches: "floor(height/16)*floor(width/16)".
    std::string image_tokens(std::int64_t patch) const {
        return side("height", patch) + "*" + side("width", patch);
    }
};

/// A size of a part, from 1 to 2^20; without a fallback it is needed.
std::int64_t size_of(Fields& f, Names names, std::int64_t fallback = 0);
/// A list of such sizes, one per block; needed.
std::vector<std::int64_t> sizes_of(Fields& f, const char* name);

/// How many blocks or layers a network has; without a fallback the number is needed.
std::int64_t blocks_of(Fields& f, Names names, std::int64_t fallback = -1);
/// Refuses a network of more blocks than any has, before they are built; `blocks` are all of them together.
void check_blocks(const Fields& f, const char* field, double blocks);

/// Sines and cosines that a time step starts as, in all transformers.
inline constexpr std::int64_t kWaves = 256;

/// The graph of a part, with a finding for every field that was not read and could change a size.
Graph finished(GraphMaker& g, Fields& f);

/// Reads the fields of `f`; what else could change a size becomes a finding of the graph. `base` has name and
/// formats.
using PartBuilder = Graph (*)(Fields& f, const Decoder& base, const PartPlace& place);

// Text encoders
Graph build_clip_text(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_t5_encoder(Fields& f, const Decoder& base, const PartPlace& place);
/// The encoder of an image that a prompt may have beside its text.
Graph build_clip_vision(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_bert(Fields& f, const Decoder& base, const PartPlace& place);
// Denoisers
Graph build_unet(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_sd3(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_flux(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_qwen_image(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_pixart(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_sana(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_wan(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_hunyuan_dit(Fields& f, const Decoder& base, const PartPlace& place);
// Decoders of latents
Graph build_kl_decoder(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_wan_decoder(Fields& f, const Decoder& base, const PartPlace& place);
Graph build_dc_decoder(Fields& f, const Decoder& base, const PartPlace& place);

} // namespace archsim::checkpoint
