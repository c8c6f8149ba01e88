#pragma once
// The parts of an image generator, each built from its config.json as its class in diffusers or transformers
// computes it, and what writes their networks layer by layer: what GraphMaker writes, and convolutions,
// norms, modulation, rotary positions and attention between streams of tokens.

#include "checkpoint/diffusion.hpp"
#include "checkpoint/fields.hpp"
#include "checkpoint/graph_maker.hpp"

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

/// A convolution's geometry besides its channels; its padding keeps the size at stride 1, patches have none.
struct Kernel {
    std::int64_t size = 1, stride = 1, groups = 1;
    bool bias = true;
};

class Net : public GraphMaker {
  public:
    using GraphMaker::GraphMaker;
    /// Attention of a denoiser that is divided sees tokens of other devices, too: keys and values of
    /// [batch, other_tokens, width].
    Net(const Decoder& decoder, const PartPlace& place)
        : GraphMaker(decoder), divided_(place.divided ? place.batch : std::string()) {}

    TensorId convolution(const std::string& path, TensorId x, std::int64_t n_in, std::int64_t n_out,
                         Kernel kernel = {});
    TensorId group_norm(const std::string& path, TensorId x, std::int64_t channels, std::int64_t groups);
    /// `learned`: with a scale and a shift per channel.
    TensorId layer_norm(const std::string& path, TensorId x, std::int64_t width, bool learned = true);
    TensorId silu(const std::string& path, TensorId x);
    TensorId gelu(const std::string& path, TensorId x);
    TensorId add(const std::string& path, TensorId a, TensorId b);
    TensorId multiply(const std::string& path, TensorId a, TensorId b);
    /// Rows of a learned table.
    TensorId embed(const std::string& path, TensorId ids, std::int64_t rows, std::int64_t width);
    TensorId reshape(const std::string& path, TensorId x, std::vector<std::int64_t> sizes);
    TensorId transpose(const std::string& path, TensorId x, std::vector<std::int64_t> order);
    TensorId concatenate(const std::string& path, std::vector<TensorId> parts, std::int64_t axis);
    /// Equal pieces of the last axis, or of `axis`.
    std::vector<TensorId> split(const std::string& path, TensorId x, std::size_t pieces,
                                std::int64_t axis = -1);
    /// Twice as high and wide, nearest pixel; of five axes, the last two.
    TensorId enlarge(const std::string& path, TensorId x, std::size_t rank = 4);

    /// Two matrices with an activation between.
    TensorId perceptron(const std::string& first, const std::string& second, TensorId x, std::int64_t n_in,
                        std::int64_t inner, std::int64_t n_out, std::string_view activation);
    /// softmax(Q K') V of [batch, tokens, heads x size].
    TensorId attention(const std::string& path, TensorId q, TensorId k, TensorId v, std::int64_t heads,
                       bool causal = false);
    /// x, and tokens of other devices behind it where there are some: so many as the size `others` says.
    TensorId with_others(const std::string& path, TensorId x, std::int64_t width,
                         const std::string& others = kOtherTokens);
    /// x, where devices divide the tokens, as it comes out of an exchange between tokens and heads: PyTorch
    /// has no collective for strided tensors, so that one copy puts the heads of each device together before
    /// it, and another the tokens after it (all_to_all_4D of feifeibear/long-context-attention, which xDiT
    /// calls).
    TensorId exchanged(const std::string& path, TensorId x, std::int64_t heads, std::int64_t size);
    /// Attention with its scores in memory, plus a bias per head: stacks fuse it where they can.
    TensorId biased_attention(const std::string& path, TensorId q, TensorId k, TensorId v, std::int64_t heads,
                              std::int64_t size, TensorId bias);
    /// A root mean square norm as PyTorch composes it of operators, in fp32 (diffusers' RMSNorm).
    TensorId composed_norm(const std::string& path, TensorId x, std::int64_t width);
    /// That norm of every head.
    TensorId norm_heads(const std::string& path, TensorId x, std::int64_t heads, std::int64_t size);
    /// x cos + rotated x sin in fp32, the two tables inputs of [tokens, 1, size].
    TensorId rotate(const std::string& path, TensorId x, std::int64_t heads, std::int64_t size,
                    const std::string& tokens);
    /// The first tokens of x, as many as `of` has; the others.
    TensorId first_tokens(const std::string& path, TensorId x, TensorId of);
    TensorId other_tokens(const std::string& path, TensorId x, TensorId of);
    /// x scale + shift.
    TensorId modulate(const std::string& path, TensorId x, TensorId shift, TensorId scale);
    /// residual + gate x.
    TensorId gated(const std::string& path, TensorId residual, TensorId gate, TensorId x);
    /// Linear layers over silu of the conditioning vector, in so many pieces of `width`.
    std::vector<TensorId> modulation(const std::string& path, TensorId conditioning, std::int64_t width,
                                     std::size_t pieces);
    /// [batch, channels, height, width] -> [batch, tokens, channels].
    TensorId tokens(const std::string& path, TensorId x, std::int64_t channels);
    /// The vector of a time step that starts as `channels` sines and cosines.
    TensorId time_embedding(const std::string& path, const Axis& batch, std::int64_t channels,
                            std::int64_t width, const std::string& name = "timestep");
    /// An image or vector of its own: an input.
    TensorId given(const std::string& name, std::vector<Axis> shape) { return input(name, type(), shape); }

  private:
    /// A tensor that stays in fp32 whatever the network runs in.
    TensorId wide(TensorId x);
    TensorId cast(const std::string& path, TensorId x, DataType to);

    struct Table {
        std::string tokens;
        TensorId cosine, sine;
    };
    std::vector<Table> tables_;
    std::string divided_; ///< leading axis of the other devices' tokens; empty: there are none
    std::map<std::string, TensorId> others_; ///< inputs of their tokens, by size
};

} // namespace archsim::checkpoint
