#pragma once
// Writes the networks of an image generator layer by layer, as diffusers runs them: what GraphMaker writes,
// and convolutions, norms, modulation, rotary positions and attention between streams of tokens.

#include "checkpoint/diffusion/parts.hpp"

#include <string>
#include <vector>

namespace archsim::checkpoint {

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
    /// x, and tokens of other devices behind it where there are some.
    TensorId with_others(const std::string& path, TensorId x, std::int64_t width);
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
    TensorId others_ = kNoTensor;
};

} // namespace archsim::checkpoint
