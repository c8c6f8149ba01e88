// The decoder of a GGUF file (ggml/docs/gguf.md): metadata, and name, shape and type of every tensor.

#include "checkpoint/fields.hpp"
#include "checkpoint/gguf_file.hpp"
#include "checkpoint/model_types.hpp"

#include <fmt/format.h>

#include <cmath>

namespace archsim::checkpoint {

// Norms, biases and tables of angles that the graph has in other places or not at all stay below.
constexpr double kTolerance = 0.01;

class GgufReader {
  public:
    explicit GgufReader(GgufFile file) : f_(std::move(file)) {}

    Decoder read() {
        d_.facts.architecture = f_.architecture();
        d_.facts.hidden = f_.count("embedding_length");
        d_.facts.max_context = f_.number("context_length");
        d_.type = DataType::float16;
        const GgufTensor* table = f_.tensor("token_embd.weight");
        if (!table || table->shape.size() != 2)
            f_.refuse("has no table of token embeddings (token_embd.weight)");
        d_.facts.vocabulary = table->shape[1];
        d_.tied = f_.tensor("output.weight") == nullptr;
        d_.head_bias = f_.tensor("output.bias") != nullptr;
        d_.layer_norm = f_.tensor("output_norm.bias") != nullptr;
        // LFM2 calls its last norm by this name.
        d_.table_norm = f_.tensor("token_embd_norm.weight") && f_.tensor("output_norm.weight");
        set_bits("token_embd.weight", "model.embed_tokens");
        set_bits("output.weight", "lm_head");
        if (const GgufTensor* positions = f_.tensor("position_embd.weight"))
            keep("position_embd.weight", *positions);
        const std::int64_t blocks = f_.count("block_count"), predicting = f_.number("nextn_predict_layers");
        if (blocks > kMostLayers)
            f_.refuse("states more layers than any decoder has");
        if (predicting >= blocks)
            f_.refuse("states more layers for prediction than layers");
        d_.facts.layers = blocks - predicting;
        windows_ = read_gguf_windows(f_.header(), f_.architecture(), static_cast<std::size_t>(blocks),
                                     f_.file(), d_.findings);
        for (std::int64_t i = 0; i < d_.facts.layers; ++i)
            read_layer(i);
        share_caches();
        read_layer_inputs();
        add_prediction(blocks);
        add_vision();
        finish_facts();
        hold_parameters();
        return std::move(d_);
    }

  private:
    void set_bits(const std::string& name, const std::string& module) {
        if (const GgufTensor* t = f_.tensor(name))
            d_.formats.set(module, f_.bits(name, *t));
    }
    /// In memory, not part of the graph.
    void keep(const std::string& name, const GgufTensor& tensor) {
        d_.resident.push_back({name, tensor.shape, f_.bits(name, tensor)});
    }
    void keep(const std::string& name) {
        if (const GgufTensor* t = f_.tensor(name))
            keep(name, *t);
    }

    void read_layer(std::int64_t i) {
        for (const auto& pair : model_types().at("gguf_modules"))
            set_bits(fmt::format("blk.{}.{}.weight", i, pair[0].get_ref<const std::string&>()),
                     fmt::format("model.layers.{}.{}", i, pair[1].get_ref<const std::string&>()));
        DecoderLayer layer = read_gguf_mixers(f_, i, windows_[static_cast<std::size_t>(i)]);
        if (layer.mixer.kind == MixerKind::latent && f_.block(i, "attn_kv_b.weight") &&
            f_.block(i, "attn_k_b.weight")) // both forms of one matrix; one of them runs
            for (const char* other : {"attn_k_b", "attn_v_b"})
                keep(fmt::format("blk.{}.{}.weight", i, layer.mixer.expanded ? other : "attn_kv_b"));
        all_of(fmt::format("blk.{}.hc_", i), [&](const std::string& name) { keep(name); }); // DeepSeek-V4
        read_feed_forward(i, layer.feed_forward);
        layer.one_norm = f_.block(i, "attn_norm.weight") && !f_.block(i, "ffn_norm.weight") &&
                         !f_.block(i, "post_attention_norm.weight") && !f_.block(i, "attn_norm_2.weight");
        layer.norms_after = f_.block(i, "post_attention_norm.weight") && f_.block(i, "ffn_norm.weight");
        d_.layers.push_back(std::move(layer));
    }

    void read_feed_forward(std::int64_t i, FeedForward& f) const {
        f.inner = f_.size(i, "ffn_down.weight", 0);
        f.gated = f_.block(i, "ffn_gate.weight") || f_.block(i, "ffn_gate_exps.weight") ||
                  f_.block(i, "ffn_gate_up_exps.weight") ||
                  (f.inner > 0 && f_.size(i, "ffn_up.weight", 1) == 2 * f.inner);
        f.bias = f_.block(i, "ffn_down.bias") != nullptr;
        f.experts = f_.size(i, "ffn_down_exps.weight", 2);
        f.expert_inner = f_.size(i, "ffn_down_exps.weight", 0);
        f.active = f.experts > 0 ? f_.whole(f_.at_layer("expert_used_count", i, 0)) : 0;
        if (f.experts > 0 && (f.active < 1 || f.active > f.experts))
            f_.refuse(fmt::format("states {} of {} experts a token in layer {}", f.active, f.experts, i));
        f.shared_inner = f_.size(i, "ffn_down_shexp.weight", 0);
        f.expert_bias = f_.block(i, "ffn_down_exps.bias") != nullptr;
        f.router_bias = f_.block(i, "ffn_gate_inp.bias") != nullptr;
        f.shared_gate = f_.block(i, "ffn_gate_inp_shexp.weight") != nullptr;
        f.latent = f_.size(i, "ffn_latent_down.weight", 1);
        f_.block(i, "ffn_gate_inp.weight");
    }

    /// The last layers read the keys and values of the last earlier layer of their kind: where the file says
    /// so, or has no projection of keys (Gemma 3n, Gemma 4).
    void share_caches() {
        const std::int64_t stated = f_.number("attention.shared_kv_layers");
        const std::int64_t first = d_.facts.layers - std::min(stated, d_.facts.layers);
        for (std::size_t i = 1; i < d_.layers.size(); ++i) {
            TokenMixer& m = d_.layers[i].mixer;
            const auto layer = static_cast<std::int64_t>(i);
            const bool keyless = !f_.block(layer, "attn_k.weight") && !f_.block(layer, "attn_qkv.weight");
            if (m.kind != MixerKind::attention || !((stated > 0 && layer >= first) || keyless))
                continue;
            for (std::size_t j = 0; j < i; ++j)
                if (const TokenMixer& other = d_.layers[j].mixer; other.kind == MixerKind::attention &&
                                                                  other.shares_cache_of < 0 &&
                                                                  (other.window > 0) == (m.window > 0))
                    m.shares_cache_of = static_cast<std::int64_t>(j);
            if (m.shares_cache_of < 0)
                f_.refuse(fmt::format("has no keys in layer {} and none before it", i));
            m.kv_heads = d_.layers[static_cast<std::size_t>(m.shares_cache_of)].mixer.kv_heads;
            for (const char* unused : {"attn_k", "attn_v"})
                keep(fmt::format("blk.{}.{}.weight", i, unused));
        }
    }

    /// Gemma 3n and 4: a row per layer and token, and the narrow path and parallel streams of the former.
    void read_layer_inputs() {
        const GgufTensor* table = f_.tensor("per_layer_token_embd.weight");
        // A table whose rows do not divide into the layers is looked up by groups of tokens.
        if (table && table->shape.size() == 2 && table->shape[0] % d_.facts.layers != 0) {
            keep("per_layer_token_embd.weight", *table);
            d_.findings.push_back(
                found(FindingKind::unsupported, Severity::warning, f_.file(), "per_layer_token_embd.weight",
                      fmt::format("a table of {} rows of {} for groups of tokens: in memory, its look-ups "
                                  "are not priced",
                                  table->shape[1], table->shape[0])));
        } else if (table && table->shape.size() == 2) {
            d_.layer_inputs.vocabulary = table->shape[1];
            d_.layer_inputs.width = table->shape[0] / d_.facts.layers;
            set_bits("per_layer_token_embd.weight", "model.embed_tokens_per_layer");
            set_bits("per_layer_model_proj.weight", "model.per_layer_model_projection");
        }
        d_.layer_inputs.rank = f_.size(0, "laurel_l.weight", 1);
        for (std::int64_t i = 0; d_.layer_inputs.rank > 0 && i < d_.facts.layers; ++i)
            set_bits(fmt::format("blk.{}.laurel_r.weight", i),
                     fmt::format("model.layers.{}.laurel.linear_right", i));
        if (const GgufTensor* streams = f_.tensor("altup_proj.weight");
            streams && streams->shape.size() == 3) {
            constexpr std::int64_t kMostStreams = 64;
            if (streams->shape[2] >= kMostStreams)
                f_.refuse(fmt::format("states {} residual streams", streams->shape[2] + 1));
            d_.layer_inputs.streams = streams->shape[2] + 1;
            set_bits("altup_proj.weight", "model.altup_projections");
            set_bits("altup_unembd_proj.weight", "model.altup_unembed_projections");
        }
    }

    /// Elements of the tensors of that prefix, each of which is handed to `each`.
    double all_of(const std::string& prefix, const auto& each) {
        double sum = 0;
        const auto& all = f_.header().tensors;
        for (auto it = all.lower_bound(prefix); it != all.end() && it->first.starts_with(prefix); ++it) {
            each(it->first);
            sum += elements(it->second);
        }
        return sum;
    }

    /// Blocks behind the layers predict further tokens, which speculative decoding alone loads.
    void add_prediction(std::int64_t blocks) {
        for (std::int64_t i = d_.facts.layers; i < blocks; ++i)
            d_.facts.prediction_parameters +=
                all_of(fmt::format("blk.{}.", i), [&](const std::string& name) { f_.tensor(name); });
    }

    /// Towers that some converters leave in the file of the language model.
    void add_vision() {
        for (const char* prefix : {"a.", "mm.", "v."})
            d_.facts.vision_parameters += all_of(prefix, [&](const std::string& name) { keep(name); });
    }

    void finish_facts() {
        fill_attention_facts(d_);
        for (const DecoderLayer& layer : d_.layers) {
            d_.facts.experts = std::max(d_.facts.experts, layer.feed_forward.experts);
            d_.facts.active_experts = std::max(d_.facts.active_experts, layer.feed_forward.active);
        }
        std::map<std::uint32_t, double> weights; // elements per type
        for (const auto& [name, tensor] : f_.header().tensors)
            if (f_.bits(name, tensor) > 0 && tensor.shape.size() > 1)
                weights[tensor.type] += elements(tensor);
        const auto most = std::ranges::max_element(
            weights, [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most == weights.end())
            f_.refuse("has no weights");
        d_.facts.quantization = "gguf";
        d_.facts.weight_format = ggml_type(most->first)->name;
        d_.weights = narrow_format(d_.facts.weight_format, ggml_bits(most->first));
    }

    void hold_parameters() {
        for (const auto& [name, tensor] : f_.header().tensors)
            d_.stated.parameters += elements(tensor);
        constexpr double kNorm = 1e-5; // of all: what a norm has explains no difference
        d_.stated.unread = f_.largest_unread(kNorm * d_.stated.parameters);
    }

    GgufFile f_;
    std::vector<LayerWindow> windows_; ///< per block
    Decoder d_;
};

Decoder read_gguf(const std::filesystem::path& file) {
    GgufHeader header = read_gguf_parts(file);
    refuse_other_kinds(header, file.string());
    Decoder d = GgufReader(GgufFile(std::move(header), file.string())).read();
    d.name = file.stem().string();
    return d;
}

void check_gguf_parameters(const Decoder& decoder, const Graph& graph, const std::string& file) {
    const double stated = decoder.stated.parameters,
                 built = floating_elements(graph) + decoder.facts.prediction_parameters;
    if (std::abs(built - stated) <= kTolerance * stated)
        return;
    constexpr double kBillion = 1e9;
    refuse(file,
           fmt::format("holds {:.4g} B weights, and {:.4g} B follow from what is known of a {} model{}",
                       stated / kBillion, built / kBillion, decoder.facts.architecture,
                       decoder.stated.unread.empty()
                           ? ""
                           : fmt::format("; {} is not understood", decoder.stated.unread)),
           "give its config.json or its ONNX export");
}

} // namespace archsim::checkpoint
