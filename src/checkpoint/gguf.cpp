#include "checkpoint/gguf.hpp"
#include "checkpoint/fields.hpp"

#include "checkpoint/gguf_header.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace archsim::checkpoint {

namespace {

constexpr double kByte = 8;

/// Weights and bytes of one block (ggml/src/ggml-common.h).
struct GgmlType {
    std::uint32_t id;
    double weights, bytes;
    const char* name;
};
constexpr std::array kTypes = {
    GgmlType{0, 1, 4, "f32"},         GgmlType{1, 1, 2, "f16"},         GgmlType{2, 32, 18, "q4_0"},
    GgmlType{3, 32, 20, "q4_1"},      GgmlType{6, 32, 22, "q5_0"},      GgmlType{7, 32, 24, "q5_1"},
    GgmlType{8, 32, 34, "q8_0"},      GgmlType{9, 32, 36, "q8_1"},      GgmlType{10, 256, 84, "q2_k"},
    GgmlType{11, 256, 110, "q3_k"},   GgmlType{12, 256, 144, "q4_k"},   GgmlType{13, 256, 176, "q5_k"},
    GgmlType{14, 256, 210, "q6_k"},   GgmlType{15, 256, 292, "q8_k"},   GgmlType{16, 256, 66, "iq2_xxs"},
    GgmlType{17, 256, 74, "iq2_xs"},  GgmlType{18, 256, 98, "iq3_xxs"}, GgmlType{19, 256, 50, "iq1_s"},
    GgmlType{20, 32, 18, "iq4_nl"},   GgmlType{21, 256, 110, "iq3_s"},  GgmlType{22, 256, 82, "iq2_s"},
    GgmlType{23, 256, 136, "iq4_xs"}, GgmlType{29, 256, 56, "iq1_m"},   GgmlType{30, 1, 2, "bf16"},
    GgmlType{39, 32, 17, "mxfp4"},
};

const GgmlType* type_of(std::uint32_t id) {
    const auto found =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const GgmlType& t) { return t.id == id; });
    return found == kTypes.end() ? nullptr : &*found;
}

/// ggml's name of a matrix and the module of the graph that holds it.
constexpr std::array<std::pair<const char*, const char*>, 20> kModules{
    {{"attn_q", "self_attn.q_proj"},
     {"attn_k", "self_attn.k_proj"},
     {"attn_v", "self_attn.v_proj"},
     {"attn_output", "self_attn.o_proj"},
     {"attn_q_a", "self_attn.q_a_proj"},
     {"attn_q_b", "self_attn.q_b_proj"},
     {"attn_kv_a_mqa", "self_attn.kv_a_proj_with_mqa"},
     {"attn_kv_b", "self_attn.kv_b_proj"},
     {"attn_k_b", "self_attn.kv_b_proj.keys"},
     {"attn_v_b", "self_attn.kv_b_proj.values"},
     {"ffn_gate", "mlp.gate_proj"},
     {"ffn_up", "mlp.up_proj"},
     {"ffn_down", "mlp.down_proj"},
     {"ffn_gate_exps", "mlp.experts.w1"},
     {"ffn_up_exps", "mlp.experts.w3"},
     {"ffn_down_exps", "mlp.experts.w2"},
     {"ffn_gate_shexp", "mlp.shared_experts.gate_proj"},
     {"ffn_up_shexp", "mlp.shared_experts.up_proj"},
     {"ffn_down_shexp", "mlp.shared_experts.down_proj"},
     {"ssm_in", "mixer.in_proj"}}};

class GgufReader {
  public:
    GgufReader(const std::filesystem::path& file) : file_(file.string()), header_(read_gguf_header(file)) {}

    Decoder read() {
        architecture_ = header_.texts["general.architecture"];
        if (architecture_.empty())
            refuse("states no general.architecture");
        d_.facts.architecture = architecture_;
        d_.facts.layers = count("block_count");
        d_.facts.hidden = count("embedding_length");
        d_.facts.max_context = whole(key("context_length", 0));
        d_.type = DataType::float16;
        const GgufTensor* table = tensor("token_embd.weight");
        if (!table || table->shape.size() != 2)
            refuse("has no table of token embeddings (token_embd.weight)");
        d_.facts.vocabulary = table->shape[1];
        d_.tied = tensor("output.weight") == nullptr;
        d_.layer_norm = tensor("output_norm.bias") != nullptr;
        d_.table_norm = tensor("token_embd_norm.weight") != nullptr;
        set_bits("token_embd.weight", "model.embed_tokens");
        set_bits("output.weight", "lm_head");
        if (d_.facts.layers > kMostLayers)
            refuse("states more layers than any decoder has");
        for (std::int64_t i = 0; i < d_.facts.layers; ++i)
            read_layer(i);
        finish_facts();
        return std::move(d_);
    }

  private:
    [[noreturn]] void refuse(const std::string& why) const {
        Finding finding;
        finding.file = file_;
        finding.message = why;
        finding.hint = "convert the model again";
        throw InputError(finding);
    }
    double key(const std::string& name, double fallback) const {
        return header_.number(architecture_ + "." + name, fallback);
    }
    /// Lists have one number per layer.
    double at_layer(const std::string& name, std::int64_t layer, double fallback) const {
        const auto it = header_.numbers.find(architecture_ + "." + name);
        if (it == header_.numbers.end() || it->second.empty())
            return fallback;
        return it->second[std::min(static_cast<std::size_t>(layer), it->second.size() - 1)];
    }
    std::int64_t whole(double value) const {
        if (!(value >= 0 && value <= kLargestCount))
            refuse(fmt::format("states {} where a count belongs", value));
        return static_cast<std::int64_t>(value);
    }
    std::int64_t count(const std::string& name) const {
        const double value = key(name, 0);
        if (value < 1)
            refuse(fmt::format("states no {}.{}", architecture_, name));
        return whole(value);
    }
    const GgufTensor* tensor(const std::string& name) const {
        const auto it = header_.tensors.find(name);
        return it == header_.tensors.end() ? nullptr : &it->second;
    }
    const GgufTensor* block(std::int64_t layer, const std::string& leaf) const {
        return tensor(fmt::format("blk.{}.{}", layer, leaf));
    }
    /// Size of one axis of a tensor of a layer; 0 when it is not there.
    std::int64_t size(std::int64_t layer, const std::string& leaf, std::size_t axis) const {
        const GgufTensor* t = block(layer, leaf);
        return t && axis < t->shape.size() ? t->shape[axis] : 0;
    }

    void set_bits(const std::string& name, const std::string& module) {
        const GgufTensor* t = tensor(name);
        if (!t)
            return;
        const double bits = ggml_bits(t->type);
        if (bits <= 0)
            refuse(fmt::format("stores {} as type {}, which is not known", name, t->type));
        d_.formats.set(module, bits);
        double elements = 1;
        for (const std::int64_t axis : t->shape)
            elements *= static_cast<double>(axis);
        weights_[t->type] += elements;
    }

    void read_layer(std::int64_t i) {
        for (const auto& [theirs, ours] : kModules)
            set_bits(fmt::format("blk.{}.{}.weight", i, theirs), fmt::format("model.layers.{}.{}", i, ours));
        DecoderLayer layer;
        if (block(i, "ssm_in.weight") || block(i, "ssm_a"))
            refuse("has state-space layers, which are read from config.json only");
        if (block(i, "attn_kv_a_mqa.weight"))
            read_latent(i, layer.mixer);
        else if (block(i, "attn_q.weight") || block(i, "attn_qkv.weight"))
            read_attention(i, layer.mixer);
        read_feed_forward(i, layer.feed_forward);
        layer.one_norm = block(i, "attn_norm.weight") && !block(i, "ffn_norm.weight") &&
                         !block(i, "post_attention_norm.weight") && !block(i, "attn_norm_2.weight");
        layer.norms_after = block(i, "post_attention_norm.weight") && block(i, "ffn_norm.weight");
        d_.layers.push_back(std::move(layer));
    }

    void read_attention(std::int64_t i, TokenMixer& m) {
        m.kind = MixerKind::attention;
        m.heads = whole(at_layer("attention.head_count", i, 0));
        m.kv_heads = whole(at_layer("attention.head_count_kv", i, static_cast<double>(m.heads)));
        if (m.heads < 1 || m.kv_heads < 1)
            refuse(fmt::format("states no heads for layer {}", i));
        const std::int64_t q = size(i, "attn_q.weight", 1), all = size(i, "attn_qkv.weight", 1);
        m.head_size = q > 0 ? q / m.heads : all / (m.heads + 2 * m.kv_heads);
        if (m.head_size < 1)
            refuse(fmt::format("has no projections of {} heads in layer {}", m.heads, i));
        if (all > 0)
            for (const char* part : {"q_proj", "k_proj", "v_proj"})
                set_bits(fmt::format("blk.{}.attn_qkv.weight", i),
                         fmt::format("model.layers.{}.self_attn.{}", i, part));
        m.bias = block(i, "attn_q.bias") || block(i, "attn_qkv.bias");
        m.output_bias = block(i, "attn_output.bias") != nullptr;
        m.sinks = block(i, "attn_sinks.weight") || block(i, "attn_sinks");
        if (const std::int64_t norm = size(i, "attn_q_norm.weight", 0); norm > 0)
            m.norm = norm == m.head_size ? HeadNorm::per_head : HeadNorm::whole;
        const std::int64_t window = whole(key("attention.sliding_window", 0));
        const auto period = whole(key("attention.sliding_window_pattern", window_period()));
        const bool local = period <= 1 || (i + 1) % period != 0;
        m.window = window > 0 && local ? window : 0;
    }

    /// Periods that llama.cpp knows by architecture, for files that do not state one.
    double window_period() const {
        return architecture_ == "gemma3"                                 ? 6
               : architecture_ == "gemma2" || architecture_ == "gpt-oss" ? 2
                                                                         : 0;
    }

    void read_latent(std::int64_t i, TokenMixer& m) {
        m.kind = MixerKind::latent;
        m.heads = count("attention.head_count");
        m.query_rank = whole(key("attention.q_lora_rank", 0));
        m.kv_rank = count("attention.kv_lora_rank");
        m.rotary_size = whole(key("rope.dimension_count", 0));
        const auto head = whole(key("attention.key_length_mla", key("attention.key_length", 0)));
        m.plain_size = head - m.rotary_size;
        m.value_size = whole(key("attention.value_length_mla", key("attention.value_length", 0)));
        if (m.plain_size < 1 || m.value_size < 1 || !block(i, "attn_output.weight"))
            refuse(fmt::format("states no sizes of the latent attention of layer {}", i));
    }

    void read_feed_forward(std::int64_t i, FeedForward& f) const {
        f.gated = block(i, "ffn_gate.weight") || block(i, "ffn_gate_exps.weight") ||
                  size(i, "ffn_up.weight", 1) == 2 * size(i, "ffn_down.weight", 0);
        f.inner = size(i, "ffn_down.weight", 0);
        f.bias = block(i, "ffn_down.bias") != nullptr;
        f.experts = size(i, "ffn_down_exps.weight", 2);
        f.expert_inner = size(i, "ffn_down_exps.weight", 0);
        f.active = f.experts > 0 ? count("expert_used_count") : 0;
        f.shared_inner = size(i, "ffn_down_shexp.weight", 0);
        f.expert_bias = block(i, "ffn_down_exps.bias") != nullptr;
        f.router_bias = block(i, "ffn_gate_inp.bias") != nullptr;
        f.shared_gate = block(i, "ffn_gate_inp_shexp.weight") != nullptr;
    }

    void finish_facts() {
        for (const DecoderLayer& layer : d_.layers)
            if (layer.mixer.kind != MixerKind::none) {
                d_.facts.heads = layer.mixer.heads;
                d_.facts.kv_heads = layer.mixer.kind == MixerKind::latent ? 1 : layer.mixer.kv_heads;
                d_.facts.head_size = layer.mixer.kind == MixerKind::latent
                                         ? layer.mixer.kv_rank + layer.mixer.rotary_size
                                         : layer.mixer.head_size;
                break;
            }
        for (const DecoderLayer& layer : d_.layers) {
            d_.facts.experts = std::max(d_.facts.experts, layer.feed_forward.experts);
            d_.facts.active_experts = std::max(d_.facts.active_experts, layer.feed_forward.active);
        }
        const auto most = std::max_element(weights_.begin(), weights_.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most == weights_.end())
            refuse("has no weights");
        d_.facts.quantization = "gguf";
        d_.facts.weight_format = type_of(most->first)->name;
        d_.weights = narrow_format(d_.facts.weight_format, ggml_bits(most->first));
    }

    std::string file_, architecture_;
    GgufHeader header_;
    Decoder d_;
    std::map<std::uint32_t, double> weights_; ///< elements per type
};

} // namespace

double ggml_bits(std::uint32_t type) {
    const GgmlType* row = type_of(type);
    return row ? kByte * row->bytes / row->weights : 0;
}

Decoder read_gguf(const std::filesystem::path& file) {
    Decoder d = GgufReader(file).read();
    d.name = file.stem().string();
    return d;
}

} // namespace archsim::checkpoint
