#pragma once
// Writes a graph node by node, with the names that exporters give.

#include "checkpoint/decoder.hpp"

namespace archsim::checkpoint {

inline constexpr std::string_view kMicrosoft = "com.microsoft";
inline constexpr std::string_view kOwnDomain = "archsim";

using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

/// Fixed size or symbol of a declared axis.
struct Axis : Dimension {
    Axis(std::int64_t size) { value = size; }
    Axis(std::string name) { symbol = std::move(name); }
    Axis(const char* name) { symbol = name; }
};

class GraphMaker {
  public:
    explicit GraphMaker(const Decoder& decoder);

    /// A node at `path` ("model/layers.0/mlp"); its name is "/path/Op". Returns its first output.
    TensorId node(std::string_view op, const std::string& path, std::vector<TensorId> inputs,
                  Attributes attributes = {}, std::string_view domain = "");
    /// The same with several outputs, those with an empty name unasked for.
    std::vector<TensorId> nodes(std::string_view op, const std::string& path, std::vector<TensorId> inputs,
                                const std::vector<std::string>& outputs, Attributes attributes = {},
                                std::string_view domain = "");
    /// Parts of the last axis, each under its name; `own`: what the node has behind the path.
    std::vector<TensorId> parts(const std::string& path, TensorId x, std::vector<std::int64_t> sizes,
                                std::initializer_list<const char*> names, const std::string& own = "");
    /// The learned tensor "path.leaf"; a matrix takes the bits that its module has in the checkpoint.
    TensorId weight(const std::string& path, std::string_view leaf, Shape shape, bool matrix = false);
    /// A tensor of the file that training does not learn.
    TensorId buffer(const std::string& name, Shape shape);
    TensorId input(const std::string& name, DataType type, std::vector<Axis> shape, double storage_bits = 0);
    void output(TensorId tensor, std::vector<Axis> shape);
    /// The state that `layer` carries from step to step, as an input and as an output; nothing where the
    /// model does not generate. `kind`: "past_key_values.#.key", with the layer's number for #.
    TensorId past(std::string_view kind, std::size_t layer, std::vector<Axis> shape, double storage_bits = 0);
    void present(TensorId tensor, std::vector<Axis> shape);
    /// A name with the number of the layer in this pass for #.
    std::string numbered(std::string_view name, std::size_t layer) const;
    /// The layers run again: the same weights, caches of their own.
    void next_pass() { first_cache_ += decoder_.layers.size(); }
    TensorId ints(std::vector<std::int64_t> values);

    /// y = x W (+ b) for any rank of x.
    TensorId linear(const std::string& path, TensorId x, std::int64_t n_in, std::int64_t n_out, bool bias);
    /// The same for `groups` equal parts of x, each with a matrix of its own; `n_in` and `n_out` of all.
    TensorId grouped_linear(const std::string& path, TensorId x, std::int64_t groups, std::int64_t n_in,
                            std::int64_t n_out);
    TensorId rms_norm(const std::string& path, TensorId x, std::int64_t width);
    /// The decoder's norm of its residual stream.
    TensorId norm(const std::string& path, TensorId x);
    /// x f(x) or f(x) for the activation of a configuration.
    TensorId activate(const std::string& path, std::string_view activation, TensorId x);
    /// That norm of x + residual, and the sum.
    std::pair<TensorId, TensorId> add_and_norm(const std::string& path, TensorId x, TensorId residual,
                                               bool keep_sum);
    /// Keys or values ("key", "value") that an earlier layer left for later ones.
    TensorId kept(std::int64_t layer, std::string_view kind) const;

    const Decoder& decoder() const { return decoder_; }
    std::int64_t hidden() const { return decoder_.facts.hidden; }
    DataType type() const { return decoder_.type; }
    /// A tensor that an earlier layer left for later ones, under its name: the positions that its sparse
    /// index chose, the values of the first layer.
    TensorId& left(const std::string& what) { return left_.try_emplace(what, kNoTensor).first->second; }
    /// A weight that lies in memory and takes no part in the graph.
    void keep(const ResidentWeight& weight);
    Graph take();

  protected:
    /// Bits per element of a tensor where its type does not say them; 0: it does.
    void store(TensorId id, double bits);

  private:
    TensorId tensor(std::string name, TensorRole role, DataType type);
    std::string unique(std::string name);

    const Decoder& decoder_;
    Graph graph_;
    std::map<std::string, int> used_;
    std::map<std::string, TensorId> weights_; ///< of layers that run several times
    std::size_t first_cache_ = 0;             ///< number of the first layer's cache in this pass
    std::map<std::vector<std::int64_t>, TensorId> constants_;
    std::map<std::string, TensorId> left_;
    std::vector<TensorId> stored_;
    std::vector<double> stored_bits_;
    std::set<TensorId> alone_; ///< matrices that meet wide activations where others meet narrow ones
};

/// Token mixers and what follows them; each returns the result before it joins the residual stream.
TensorId add_mixer(GraphMaker& g, const std::string& path, std::size_t layer, TensorId x);
TensorId add_latent_attention(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                              TensorId x);
TensorId add_compressed_attention(GraphMaker& g, const std::string& path, std::size_t layer,
                                  const TokenMixer& m, TensorId x);
TensorId add_recurrence(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m,
                        TensorId x);
/// The inputs of a sparse index: queries, the key of each position (or compressed vector), and how many
/// positions one key stands for.
struct IndexInputs {
    TensorId queries = kNoTensor, key = kNoTensor;
    std::int64_t ratio = 1;
};
/// Positions that narrow heads choose for attention (DeepSeek-V3.2, section 2.1).
TensorId add_index(GraphMaker& g, const std::string& path, std::size_t layer, const TokenMixer& m, TensorId x,
                   const IndexInputs& inputs);
/// The difference between the token before and each token, from a state that `layer` carries as `kind`.
TensorId shift_difference(GraphMaker& g, const std::string& path, std::size_t layer, const std::string& kind,
                          TensorId x);
/// x and a learned part of that difference.
TensorId shifted(GraphMaker& g, const std::string& path, const std::string& leaf, TensorId x,
                 TensorId difference);
TensorId add_feed_forward(GraphMaker& g, const std::string& path, std::size_t layer, const FeedForward& f,
                          TensorId x);

/// Size of a cache that keeps the last `window` of so many positions; 0: all of them.
std::string kept_positions(const std::string& positions, std::int64_t window);

} // namespace archsim::checkpoint
