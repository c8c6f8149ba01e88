// Which layer is of which kind: lists of types, patterns of letters, intervals, blocks one by one.

#include "checkpoint/config_parts.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

using nlohmann::json;

class LayerReader {
  public:
    LayerReader(Fields& f, const Implied& implied, std::size_t count, const TokenMixer& mixer,
                const FeedForwards& ff, std::vector<Finding>& findings)
        : f_(f), mixer_(mixer), ff_(ff), hidden_(f.count({"hidden_size", "n_embd", "d_model"})),
          windows_(read_windows(f, implied, count, findings)), sparse_(read_expert_layers(f, count)) {
        layers_.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            layers_[i].mixer = mixer;
            if (mixer.kind == MixerKind::attention)
                set_window(layers_[i].mixer, i);
            layers_[i].feed_forward = ff.experts.experts > 0 && sparse_[i] ? ff.experts : ff.dense;
            layers_[i].norms_after = implied.norms_after;
        }
    }

    std::vector<DecoderLayer> read() {
        if (f_.has({"hybrid_override_pattern"}))
            read_letters(f_.text({"hybrid_override_pattern"}));
        else if (f_.has({"block_configs"}))
            read_blocks(*f_.find({"block_configs"}));
        else if (f_.has({"layer_types", "layers_block_type"}))
            read_types(f_.texts({"layer_types", "layers_block_type"}));
        else
            read_lists();
        if (mixer_.kind == MixerKind::compressed)
            read_ratios();
        read_sizes_of_layers();
        read_index_layers();
        read_global_layers();
        read_local_layers();
        read_shared_indexes();
        share_caches();
        return std::move(layers_);
    }

  private:
    void set_window(TokenMixer& m, std::size_t layer) const {
        m.window = windows_[layer].positions;
        m.chunked = windows_[layer].chunked;
    }

    void read_letters(const std::string& pattern) {
        if (pattern.size() != layers_.size())
            f_.refuse("hybrid_override_pattern",
                      fmt::format("has {} letters for {} layers", pattern.size(), layers_.size()));
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            const char letter = pattern[i];
            const char* const kind = letter == 'M'   ? "mamba"
                                     : letter == '*' ? "attention"
                                     : letter == '-' ? "mlp"
                                     : letter == 'E' ? "moe"
                                                     : "";
            if (!read_half(i, kind))
                f_.refuse("hybrid_override_pattern", fmt::format("'{}' is no kind of layer", letter));
        }
    }

    /// A layer that mixes tokens or is an MLP, not one after the other (Nemotron-H). False: of another kind.
    bool read_half(std::size_t i, std::string_view kind) {
        DecoderLayer& layer = layers_[i];
        layer.feed_forward = {};
        layer.mixer = {};
        if (is_recurrent(kind)) {
            layer.mixer = read_recurrent_mixer(f_, hidden_);
        } else if (kind == "attention" || kind == "full_attention" || kind == "sliding_attention") {
            layer.mixer = mixer_;
            set_window(layer.mixer, i);
        } else if (kind == "mlp") {
            layer.feed_forward = ff_.dense;
        } else if (kind == "moe") {
            layer.feed_forward = ff_.experts;
        } else {
            return false;
        }
        return true;
    }

    static bool is_recurrent(std::string_view kind) {
        return kind == "mamba" || kind == "mamba2" || kind == "linear_attention" || kind == "recurrent";
    }

    /// DeepSeek-V4: numbers, or kinds of layers with a rate for each.
    void read_ratios() {
        const auto ratios = f_.counts({"compress_ratios"});
        const auto kinds = f_.texts({"layer_types"});
        if (std::max(ratios.size(), kinds.size()) < layers_.size())
            f_.refuse("compress_ratios", fmt::format("lists {} layers of {}",
                                                     std::max(ratios.size(), kinds.size()), layers_.size()));
        Fields r = f_.part({"compress_rates"});
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            TokenMixer& m = layers_[i].mixer;
            constexpr std::int64_t kSparse = 4; // the rate of layers with an index, where no kinds are given
            m.ratio = !ratios.empty()                   ? std::max<std::int64_t>(0, ratios[i])
                      : kinds[i] == "sliding_attention" ? 0
                                                        : r.count({kinds[i].c_str()}, 0, 1);
            const bool index =
                ratios.empty() ? kinds[i] == "compressed_sparse_attention" : m.ratio == kSparse;
            if (ratios.empty() && kinds[i] != "sliding_attention" && m.ratio == 0)
                f_.refuse("layer_types", fmt::format("\"{}\" has no rate in compress_rates", kinds[i]));
            m.index_heads = index ? m.index_heads : 0;
        }
    }

    /// MiniMax-M3: 1 for layers that choose blocks.
    void read_index_layers() {
        const auto chosen = f_.part({"sparse_attention_config"}).counts({"sparse_attention_freq"});
        for (std::size_t i = 0; i < std::min(chosen.size(), layers_.size()); ++i)
            if (chosen[i] == 0)
                layers_[i].mixer.index_heads = layers_[i].mixer.index_keeps = 0;
    }

    void read_types(const std::vector<std::string>& types) {
        if (types.size() < layers_.size())
            f_.refuse("layer_types", fmt::format("lists {} layers of {}", types.size(), layers_.size()));
        // Kinds without a mixer are layers of their own, and those beside them have nothing else.
        const bool halves = std::ranges::any_of(
            types, [](const std::string& type) { return type == "moe" || type == "mlp"; });
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const std::string& type = types[i];
            if (halves && read_half(i, type))
                continue;
            if (is_recurrent(type))
                layers_[i].mixer = read_recurrent_mixer(f_, hidden_);
            else if (type == "conv")
                layers_[i].mixer = read_convolution_mixer(f_, hidden_);
            else if (type != "full_attention" && type != "attention" && type != "sliding_attention" &&
                     type != "chunked_attention" &&
                     !(mixer_.kind == MixerKind::compressed && type.find("compressed") != std::string::npos))
                f_.refuse("layer_types", fmt::format("\"{}\" is a kind of layer that is not known", type));
        }
        f_.skip({"full_attention_interval", "full_attn_idxs", "attn_layer_offset", "attn_layer_period"});
        // Sizes of states that no layer of the list keeps (Granite 4 without Mamba) change nothing.
        if (f_.has({"mamba_n_heads", "mamba_num_heads"}) && std::ranges::none_of(types, is_recurrent))
            read_recurrent_mixer(f_, hidden_);
    }

    /// Layers for which it holds keep a state.
    void recur(const auto& where) {
        for (std::size_t i = 0; i < layers_.size(); ++i)
            if (where(i))
                layers_[i].mixer = read_recurrent_mixer(f_, hidden_);
    }

    /// Where attention is said layer by layer otherwise: by list, by number, by period.
    void read_lists() {
        const auto lists = [](const std::vector<std::int64_t>& layers, std::size_t number) {
            return std::ranges::find(layers, static_cast<std::int64_t>(number)) != layers.end();
        };
        if (states_alone(f_)) {
            recur([](std::size_t) { return true; });
        } else if (f_.has({"attn_type_list"})) { // MiniMax-01: 1 attends, 0 does not
            const auto types = f_.counts({"attn_type_list"});
            recur([&](std::size_t i) { return i < types.size() && types[i] == 0; });
        } else if (Fields l = f_.part({"linear_attn_config"}); !l.empty()) {
            const auto full = l.counts({"full_attn_layers"});
            recur([&](std::size_t i) { return !lists(full, i + 1); }); // they count layers from one
        } else if (f_.has({"attn_layer_indices"})) {                   // Bamba
            const auto full = f_.counts({"attn_layer_indices"});
            recur([&](std::size_t i) { return !lists(full, i); });
        } else if (const auto kinds = f_.texts({"block_types"});
                   !kinds.empty()) { // RecurrentGemma: they repeat
            recur([&](std::size_t i) { return is_recurrent(kinds[i % kinds.size()]); });
        } else if (f_.has({"layer_group_size"})) {
            // Ling: the last layer of a group attends, and what is left behind whole groups.
            const auto size = static_cast<std::size_t>(f_.count({"layer_group_size"}, 1, 1));
            recur([&](std::size_t i) { return i < layers_.size() / size * size && (i + 1) % size != 0; });
        } else if (f_.has({"full_attn_idxs"})) {
            const auto full = f_.counts({"full_attn_idxs"});
            for (std::size_t i = 0; i < layers_.size(); ++i)
                if (!lists(full, i))
                    layers_[i].mixer = read_convolution_mixer(f_, hidden_);
        } else if (f_.has({"attn_layer_period"})) { // Jamba
            const auto period = static_cast<std::size_t>(f_.count({"attn_layer_period"}, 1, 1));
            const auto offset = static_cast<std::size_t>(f_.count({"attn_layer_offset"}, 0));
            recur([&](std::size_t i) { return i % period != offset % period; });
        } else if (const auto full = static_cast<std::size_t>(f_.count({"full_attention_interval"}, 0));
                   full > 0) {
            recur([&](std::size_t i) { return (i + 1) % full != 0; });
        }
    }

    /// Numbers that differ from layer to layer (config_forms.hpp).
    void read_sizes_of_layers() {
        const auto heads = f_.counts({"num_attention_heads_of_layers"}),
                   kv_heads = f_.counts({"num_key_value_heads_of_layers", "num_kv_heads_of_layers"}),
                   inner = f_.counts({"intermediate_size_of_layers"});
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            TokenMixer& m = layers_[i].mixer;
            if (m.kind == MixerKind::attention) {
                m.heads = heads.empty() ? m.heads : std::max<std::int64_t>(1, heads[i]);
                m.kv_heads = kv_heads.empty() ? m.kv_heads : std::max<std::int64_t>(1, kv_heads[i]);
                if (m.heads % m.kv_heads != 0)
                    f_.refuse("num_key_value_heads", fmt::format("of layer {} must divide its heads", i));
            }
            if (!inner.empty() && layers_[i].feed_forward.inner > 0)
                layers_[i].feed_forward.inner = inner[i];
        }
    }

    /// One object per layer, as neural architecture search leaves them (Puzzle, arXiv:2411.19146).
    void read_blocks(const json& blocks) {
        if (!blocks.is_array() || blocks.size() != layers_.size())
            f_.refuse("block_configs", fmt::format("must list {} blocks", layers_.size()));
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const std::string place = fmt::format("block_configs[{}].", i);
            if (!blocks[i].is_object())
                f_.refuse(place, "must be an object");
            Fields block_fields(blocks[i], f_.file(), place), attention = block_fields.part({"attention"}),
                                                              ffn = block_fields.part({"ffn"});
            TokenMixer& m = layers_[i].mixer;
            if (attention.flag({"no_op"}))
                m = {};
            else if (attention.flag({"replace_with_linear"}))
                m.kind = MixerKind::linear;
            else {
                m.kv_heads = m.heads / std::min(m.heads, attention.count({"n_heads_in_group"}, 1, 1));
                m.window = attention.count({"window_length"}, 0);
            }
            FeedForward& block = layers_[i].feed_forward;
            block = ff_.dense;
            if (ffn.flag({"no_op"}))
                block.inner = 0;
            else if (ffn.flag({"replace_with_linear"}))
                block.linear = true;
            else
                block.inner = ffn.count({"intermediate_size"}, inner_of(ffn.number({"ffn_mult"}, 0)));
        }
    }

    /// Two thirds of the multiple, rounded up to 256, as Llama sizes its MLPs.
    std::int64_t inner_of(double multiple) const {
        constexpr std::int64_t kStep = 256;
        const auto wanted = static_cast<std::int64_t>(2 * multiple * static_cast<double>(hidden_) / 3);
        return (wanted + kStep - 1) / kStep * kStep;
    }

    /// Layers without a window may have heads of their own size (Gemma 4).
    void read_global_layers() {
        const std::int64_t size = f_.count({"global_head_dim"}, 0);
        const std::int64_t heads = f_.count({"num_global_key_value_heads"}, 0);
        const bool one_projection = f_.flag({"attention_k_eq_v"});
        if (std::ranges::all_of(windows_, [](const LayerWindow& window) { return window.positions == 0; }))
            return;
        for (DecoderLayer& layer : layers_) {
            TokenMixer& m = layer.mixer;
            if (m.kind != MixerKind::attention || m.window > 0)
                continue;
            m.head_size = size > 0 ? size : m.head_size;
            m.kv_heads = heads > 0 ? heads : m.kv_heads;
            m.values_are_keys = one_projection;
        }
    }

    /// Layers with a window may have heads of their own number and size (MiMo-V2).
    void read_local_layers() {
        const std::int64_t heads = f_.count({"swa_num_attention_heads"}, 0),
                           kv_heads = f_.count({"swa_num_key_value_heads"}, 0),
                           size = f_.count({"swa_head_dim"}, 0), values = f_.count({"swa_v_head_dim"}, 0);
        const bool stated = f_.has({"add_swa_attention_sink_bias"}),
                   sinks = f_.flag({"add_swa_attention_sink_bias"});
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            TokenMixer& m = layers_[i].mixer;
            if (m.kind != MixerKind::attention || m.window == 0)
                continue;
            m.heads = heads > 0 ? heads : m.heads;
            m.kv_heads = kv_heads > 0 ? kv_heads : m.kv_heads;
            m.head_size = size > 0 ? size : m.head_size;
            m.value_size = values > 0 ? values : m.value_size;
            m.sinks = stated ? sinks : m.sinks;
            if (m.heads % m.kv_heads != 0)
                f_.refuse("swa_num_key_value_heads", fmt::format("of layer {} must divide its heads", i));
        }
    }

    /// Layers that attend to what the index before them chose, and have none (IndexShare, arXiv:2603.12201):
    /// listed, by letters, or by a period after the first.
    void read_shared_indexes() {
        const auto types = f_.texts({"indexer_types"});
        const std::string letters = f_.text({"index_topk_pattern"});
        const std::int64_t period = f_.count({"index_topk_freq"}, 1, 1),
                           first = f_.count({"index_skip_topk_offset"}, 2);
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            const std::int64_t since = std::max<std::int64_t>(static_cast<std::int64_t>(i) - first + 1, 0);
            const bool shared = i < types.size()     ? types[i] == "shared"
                                : i < letters.size() ? letters[i] == 'S'
                                                     : since % period != 0;
            if (shared)
                layers_[i].mixer.index_heads = 0;
        }
    }

    /// The last layers read the keys and values of the last earlier layer of their kind.
    void share_caches() {
        // Groups of neighbours with the cache of the first (Hunyuan-Large, arXiv:2411.02265, section 2.1.2).
        const auto group = static_cast<std::size_t>(f_.count({"cla_share_factor"}, 1, 1));
        if (f_.flag({"use_cla"}))
            for (std::size_t i = 0; i < layers_.size(); ++i)
                if (i % group != 0)
                    layers_[i].mixer.shares_cache_of = static_cast<std::int64_t>(i - i % group);
        const auto shared = static_cast<std::size_t>(f_.count({"num_kv_shared_layers"}, 0));
        const bool wide = f_.flag({"use_double_wide_mlp"});
        if (shared == 0 || shared >= layers_.size())
            return;
        const std::size_t first = layers_.size() - shared;
        for (std::size_t i = first; i < layers_.size(); ++i) {
            for (std::size_t j = 0; j < first; ++j)
                if (layers_[j].mixer.kind == MixerKind::attention &&
                    (layers_[j].mixer.window > 0) == (layers_[i].mixer.window > 0))
                    layers_[i].mixer.shares_cache_of = static_cast<std::int64_t>(j);
            if (wide)
                layers_[i].feed_forward.inner *= 2;
        }
    }

    Fields& f_;
    const TokenMixer& mixer_;
    const FeedForwards& ff_;
    std::int64_t hidden_;
    std::vector<LayerWindow> windows_; ///< per layer
    std::vector<bool> sparse_;
    std::vector<DecoderLayer> layers_;
};

std::vector<DecoderLayer> read_layers(Fields& f, const Implied& implied, std::size_t count,
                                      const TokenMixer& mixer, const FeedForwards& feed_forwards,
                                      std::vector<Finding>& findings) {
    return LayerReader(f, implied, count, mixer, feed_forwards, findings).read();
}

} // namespace archsim::checkpoint
