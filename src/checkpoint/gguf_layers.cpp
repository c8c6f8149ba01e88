// The token mixers of a GGUF file's layers, told by their tensors.

#include "checkpoint/fields.hpp"
#include "checkpoint/gguf_file.hpp"
#include "checkpoint/model_types.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

/// Heads that need no key of their own: sizes follow from the projections.
static TokenMixer read_attention(const GgufFile& f, std::int64_t i, const LayerWindow& window) {
    TokenMixer m;
    m.kind = MixerKind::attention;
    m.window = window.positions;
    m.chunked = window.chunked;
    m.heads = f.whole(f.at_layer("attention.head_count", i, 0));
    m.kv_heads = f.whole(f.at_layer("attention.head_count_kv", i, static_cast<double>(m.heads)));
    if (m.heads < 1 || m.kv_heads < 1)
        f.refuse(fmt::format("states no heads for layer {}", i));
    const std::int64_t q = f.size(i, "attn_q.weight", 1), k = f.size(i, "attn_k.weight", 1),
                       v = f.size(i, "attn_v.weight", 1), all = f.size(i, "attn_qkv.weight", 1);
    const auto stated = [&](const char* part) {
        const std::string key = fmt::format("attention.{}_length", part);
        return f.whole(f.at_layer(m.window > 0 && f.key(key + "_swa", 0) > 0 ? key + "_swa" : key, i, 0));
    };
    if (all > 0) {
        const std::int64_t keys = stated("key"), values = stated("value");
        const bool told = keys > 0 && values > 0 && m.heads * keys + m.kv_heads * (keys + values) == all;
        m.head_size = told ? keys : all / (m.heads + 2 * m.kv_heads);
        m.value_size = told && values != keys ? values : 0;
    } else {
        m.head_size = k > 0 ? k / m.kv_heads : q / m.heads;
        m.value_size = v > 0 && v != k ? v / m.kv_heads : 0;
        m.values_are_keys = k > 0 && v == 0;
        // Twice as wide: the second half gates the result (Qwen3-Next).
        m.output_gate = m.head_size > 0 && q == 2 * m.heads * m.head_size;
    }
    if (m.head_size < 1 || (all == 0 && !m.output_gate && q != m.heads * m.head_size))
        f.refuse(fmt::format("has no projections of {} heads in layer {}", m.heads, i));
    m.output_gate = m.output_gate || f.block(i, "attn_gate.weight") != nullptr;
    m.bias = f.block(i, "attn_q.bias") || f.block(i, "attn_qkv.bias");
    m.output_bias = f.block(i, "attn_output.bias") != nullptr;
    m.sinks = f.block(i, "attn_sinks.weight") || f.block(i, "attn_sinks");
    if (const std::int64_t norm = f.size(i, "attn_q_norm.weight", 0); norm > 0)
        m.norm = norm == m.head_size ? HeadNorm::per_head : HeadNorm::whole;
    return m;
}

static TokenMixer read_latent(const GgufFile& f, std::int64_t i) {
    TokenMixer m{.kind = MixerKind::latent, .heads = f.whole(f.at_layer("attention.head_count", i, 0))};
    // Sizes follow from the tensors: converters state them as llama.cpp needs them, which changed.
    m.rotary_size = f.number("rope.dimension_count");
    m.query_rank = f.size(i, "attn_q_a.weight", 1);
    m.kv_rank = f.size(i, "attn_kv_a_mqa.weight", 1) - m.rotary_size;
    const std::int64_t queries = f.size(i, m.query_rank > 0 ? "attn_q_b.weight" : "attn_q.weight", 1),
                       values = f.size(i, "attn_output.weight", 0);
    if (m.heads < 1 || m.kv_rank < 1 || queries % m.heads != 0 || values % m.heads != 0)
        f.refuse(fmt::format("states no sizes of the latent attention of layer {}", i));
    m.plain_size = queries / m.heads - m.rotary_size;
    m.value_size = values / m.heads;
    if (m.plain_size < 1 || m.value_size < 1)
        f.refuse(fmt::format("states no sizes of the latent attention of layer {}", i));
    // Since llama.cpp caches the vector, files state the size of a head apart; of those made before, it
    // caches keys and values of every head (src/models/deepseek2.cpp, is_mla).
    m.expanded = f.key("attention.key_length_mla", 0) < 1;
    if (f.block(i, "indexer.attn_q_b.weight")) {
        m.index_heads = f.number("attention.indexer.head_count");
        m.index_size = f.number("attention.indexer.key_length");
        m.index_keeps = f.number("attention.indexer.top_k");
    }
    return m;
}

/// One vector a position that is key and value of all heads, a window of them, and vectors that stand for
/// several (DeepSeek-V4; llama.cpp, src/models/deepseek4.cpp).
static TokenMixer read_compressed(const GgufFile& f, std::int64_t i) {
    TokenMixer m{.kind = MixerKind::compressed, .heads = f.whole(f.at_layer("attention.head_count", i, 0))};
    m.kv_heads = 1;
    m.head_size = f.size(i, "attn_kv.weight", 1);
    m.query_rank = f.size(i, "attn_q_a.weight", 1);
    m.output_groups = f.count("attention.output_group_count");
    m.output_rank = f.count("attention.output_lora_rank");
    m.window = f.count("attention.sliding_window");
    m.sinks = f.block(i, "attn_sinks.weight") != nullptr;
    m.ratio = f.size(i, "attn_compressor_ape.weight", 1);
    if (f.block(i, "indexer.attn_q_b.weight")) {
        m.index_heads = f.count("attention.indexer.head_count");
        m.index_size = f.count("attention.indexer.key_length");
        m.index_keeps = f.count("attention.indexer.top_k");
    }
    if (m.heads < 1 || m.query_rank < 1 || f.size(i, "attn_q_b.weight", 1) != m.heads * m.head_size ||
        m.heads % m.output_groups != 0 || (m.index_heads > 0 && m.ratio < 1))
        f.refuse(fmt::format("states no sizes of the compressed attention of layer {}", i));
    return m;
}

/// LFM2: a short convolution between two gates.
static TokenMixer read_convolution(const GgufFile& f, std::int64_t i) {
    TokenMixer m{.kind = MixerKind::convolution};
    m.kernel = f.size(i, "shortconv.conv.weight", 0);
    m.heads = f.size(i, "shortconv.out_proj.weight", 0);
    if (m.kernel < 2 || m.heads < 1)
        f.refuse(fmt::format("has no short convolution of two positions or more in layer {}", i));
    return m;
}

/// States of fixed size, which llama.cpp keeps in 32 bits (llama_memory_recurrent).
static TokenMixer read_recurrence(const GgufFile& f, std::int64_t i) {
    TokenMixer m;
    constexpr double kFloat = 32;
    m.state_bits = kFloat;
    m.kernel = f.count("ssm.conv_kernel");
    m.state_size = f.count("ssm.state_size");
    m.kernel_bias = f.block(i, "ssm_conv1d.bias") != nullptr;
    const std::int64_t inner = f.count("ssm.inner_size"), rank = f.count("ssm.time_step_rank"),
                       groups = f.number("ssm.group_count", 1);
    if (m.kernel < 2 || rank < 1 || groups < 1)
        f.refuse(fmt::format("states no sizes of the state of layer {}", i));
    if (f.block(i, "ssm_x.weight")) {
        m.kind = MixerKind::selective;
        m.heads = inner;
        m.kv_heads = m.head_size = 1;
        m.time_rank = rank;
    } else if (f.block(i, "ssm_in.weight")) {
        m.kind = MixerKind::mamba;
        m.norm = f.block(i, "ssm_norm.weight") ? HeadNorm::whole : HeadNorm::none;
        m.heads = rank;
        m.head_size = inner / rank;
        m.kv_heads = groups;
    } else {
        m.kind = MixerKind::gated_delta;
        m.heads = rank;
        m.kv_heads = groups;
        m.head_size = m.state_size;
        m.value_size = inner / rank;
    }
    if (m.heads * (m.kind == MixerKind::gated_delta ? m.value_size : m.head_size) != inner)
        f.refuse(fmt::format("states {} channels for {} heads in layer {}", inner, m.heads, i));
    return m;
}

DecoderLayer read_gguf_mixers(const GgufFile& f, std::int64_t i, const LayerWindow& window) {
    const bool state = f.block(i, "ssm_a") || f.block(i, "ssm_a.weight") || f.block(i, "ssm_out.weight");
    const bool latent = f.block(i, "attn_kv_a_mqa.weight") != nullptr,
               compressed = f.block(i, "attn_kv.weight") != nullptr;
    const bool attends = latent || compressed || f.block(i, "attn_q.weight") ||
                         (f.block(i, "attn_qkv.weight") && f.block(i, "attn_output.weight"));
    DecoderLayer layer;
    if (attends)
        layer.mixer = latent       ? read_latent(f, i)
                      : compressed ? read_compressed(f, i)
                                   : read_attention(f, i, window);
    if (state) // Falcon-H1: beside attention
        (attends ? layer.beside.emplace() : layer.mixer) = read_recurrence(f, i);
    else if (f.block(i, "shortconv.in_proj.weight"))
        layer.mixer = read_convolution(f, i);
    else if (!attends && f.block(i, "attn_output.weight"))
        layer.mixer.kind = MixerKind::linear; // what neural architecture search left of attention: one matrix
    return layer;
}

// Which layers of a GGUF file attend within a window.

/// Windows that llama.cpp sets by name (gguf_windows of hardware_db/model_types.json). A key of the file
/// changes the period, not which of a group sees everything; an architecture that is not listed has no
/// windows there, whatever the file says.
struct WindowedArchitecture {
    std::string name;
    std::size_t period = 1;    ///< one layer of so many sees everything; 1: all do
    bool global_first = false; ///< it is the first of them, not the last
    std::int64_t window = 0;   ///< where the file states none
    bool chunked = false;
};
static NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(WindowedArchitecture, name, period, global_first,
                                                       window, chunked)

    static std::optional<WindowedArchitecture> windowed(const std::string& architecture) {
    for (const auto& row : model_types().at("gguf_windows").get<std::vector<WindowedArchitecture>>())
        if (architecture == row.name)
            return row;
    return std::nullopt;
}

std::vector<LayerWindow> read_gguf_windows(const GgufHeader& header, const std::string& architecture,
                                           std::size_t layers, const std::string& file,
                                           std::vector<Finding>& findings) {
    const std::optional<WindowedArchitecture> known = windowed(architecture);
    std::vector<LayerWindow> windows(layers);
    const std::string key = architecture + ".attention.sliding_window";
    const auto refuse = [&](std::string why) {
        checkpoint::refuse(file, std::move(why), "convert the model again", key, FindingKind::malformed_file);
    };
    if (const auto list = header.numbers.find(key); list != header.numbers.end() && list->second.size() > 1) {
        if (list->second.size() < layers)
            refuse(fmt::format("lists {} layers of {}", list->second.size(), layers));
        for (std::size_t i = 0; i < layers; ++i)
            if (const double window = list->second[i]; window >= 1 && window <= kLargestCount)
                windows[i] = {static_cast<std::int64_t>(window), known && known->chunked};
        return windows;
    }
    const double stated = header.number(key, known ? static_cast<double>(known->window) : 0);
    if (!(stated >= 1 && stated <= kLargestCount) || (known && known->period == 1))
        return windows;
    const auto pattern = header.numbers.find(key + "_pattern");
    const bool listed = pattern != header.numbers.end() && pattern->second.size() > 1;
    if (listed && pattern->second.size() < layers)
        refuse(fmt::format("lists {} layers of {}", pattern->second.size(), layers));
    if (!listed && pattern == header.numbers.end() && !known) {
        findings.push_back(
            found(FindingKind::missing_field, Severity::warning, file, key,
                  fmt::format("states a window of {} and not which layers have it; all layers see all "
                              "positions, as llama.cpp runs {}",
                              stated, architecture)));
        return windows;
    }
    const double period = listed                            ? 0
                          : pattern != header.numbers.end() ? header.number(key + "_pattern", 0)
                                                            : static_cast<double>(known->period);
    if (!(period >= 0 && period <= kLargestCount))
        refuse(fmt::format("states a period of {}", period));
    const auto group = static_cast<std::size_t>(period),
               global = known && known->global_first ? 0 : group - 1;
    for (std::size_t i = 0; i < layers; ++i)
        if (listed ? pattern->second[i] != 0 : group == 0 || i % group != global)
            windows[i] = {static_cast<std::int64_t>(stated), known && known->chunked};
    return windows;
}

} // namespace archsim::checkpoint
