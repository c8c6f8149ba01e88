// Every configuration that is shipped, written as a GGUF header and read back: the same parameters and the
// same cache; a header with anything more is refused.

#include "archsim/core/finding.hpp"
#include "checkpoint/cache_bytes.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/config_parts.hpp"
#include "checkpoint/gguf_maker.hpp"
#include "support/read_file.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using namespace archsim;
using checkpoint::Decoder;
using checkpoint::DecoderLayer;
using checkpoint::MixerKind;
using test::GgufMaker;

namespace {

const std::string kName = "law";

void add_attention(GgufMaker& f, const std::string& block, const checkpoint::TokenMixer& m,
                   std::int64_t hidden) {
    const std::int64_t value = m.value_size > 0 ? m.value_size : m.head_size, q = m.heads * m.head_size,
                       out = m.heads * value;
    f.tensor(block + "attn_q.weight", {hidden, q});
    if (m.output_gate)
        f.tensor(block + "attn_gate.weight", {hidden, out});
    if (m.shares_cache_of < 0)
        f.tensor(block + "attn_k.weight", {hidden, m.kv_heads * m.head_size});
    if (m.shares_cache_of < 0 && !m.values_are_keys)
        f.tensor(block + "attn_v.weight", {hidden, m.kv_heads * value});
    f.tensor(block + "attn_output.weight", {out, hidden});
}

void add_latent(GgufMaker& f, const std::string& block, const checkpoint::TokenMixer& m,
                std::int64_t hidden) {
    const std::int64_t head = m.plain_size + m.rotary_size;
    if (m.query_rank > 0) {
        f.tensor(block + "attn_q_a.weight", {hidden, m.query_rank});
        f.tensor(block + "attn_q_b.weight", {m.query_rank, m.heads * head});
    } else {
        f.tensor(block + "attn_q.weight", {hidden, m.heads * head});
    }
    f.tensor(block + "attn_kv_a_mqa.weight", {hidden, m.kv_rank + m.rotary_size});
    f.tensor(block + "attn_k_b.weight", {m.plain_size, m.kv_rank, m.heads});
    f.tensor(block + "attn_v_b.weight", {m.kv_rank, m.value_size, m.heads});
    f.tensor(block + "attn_output.weight", {m.heads * m.value_size, hidden});
}

void add_compressed(GgufMaker& f, const std::string& block, const checkpoint::TokenMixer& m,
                    std::int64_t hidden) {
    const std::int64_t width = m.heads * m.head_size, overlap = m.index_heads > 0 ? 2 : 1;
    f.tensor(block + "attn_q_a.weight", {hidden, m.query_rank});
    f.tensor(block + "attn_q_b.weight", {m.query_rank, width});
    f.tensor(block + "attn_kv.weight", {hidden, m.head_size});
    f.tensor(block + "attn_output_a.weight", {width / m.output_groups, m.output_rank, m.output_groups});
    f.tensor(block + "attn_output_b.weight", {m.output_groups * m.output_rank, hidden});
    if (m.ratio > 0) {
        f.tensor(block + "attn_compressor_kv.weight", {hidden, overlap * m.head_size});
        f.tensor(block + "attn_compressor_gate.weight", {hidden, overlap * m.head_size});
        f.tensor(block + "attn_compressor_ape.weight", {overlap * m.head_size, m.ratio});
    }
    if (m.index_heads > 0) {
        f.tensor(block + "indexer.attn_q_b.weight", {m.query_rank, m.index_heads * m.index_size});
        f.tensor(block + "indexer.proj.weight", {hidden, m.index_heads});
        f.tensor(block + "indexer.compressor_kv.weight", {hidden, 2 * m.index_size});
        f.tensor(block + "indexer.compressor_gate.weight", {hidden, 2 * m.index_size});
    }
}

void add_compressed_keys(GgufMaker& f, const Decoder& d) {
    for (const DecoderLayer& layer : d.layers)
        if (const checkpoint::TokenMixer& m = layer.mixer;
            m.kind == MixerKind::compressed && m.index_heads > 0) {
            const std::pair<const char*, std::int64_t> keys[] = {{"output_group_count", m.output_groups},
                                                                 {"output_lora_rank", m.output_rank},
                                                                 {"indexer.head_count", m.index_heads},
                                                                 {"indexer.key_length", m.index_size},
                                                                 {"indexer.top_k", m.index_keeps}};
            for (const auto& [key, value] : keys)
                f.number(kName + ".attention." + key, static_cast<std::uint32_t>(value));
            return;
        }
}

void add_recurrence(GgufMaker& f, const std::string& block, const checkpoint::TokenMixer& m,
                    std::int64_t hidden) {
    const bool delta = m.kind == MixerKind::gated_delta;
    const std::int64_t inner = m.heads * (delta ? m.value_size : m.head_size),
                       shared = m.kv_heads * (delta ? m.head_size : m.state_size);
    if (delta) {
        f.tensor(block + "attn_qkv.weight", {hidden, 2 * shared + inner});
        f.tensor(block + "attn_gate.weight", {hidden, inner});
        f.tensor(block + "ssm_ba.weight", {hidden, 2 * m.heads});
    } else {
        f.tensor(block + "ssm_in.weight", {hidden, 2 * inner + 2 * shared + m.heads});
        if (m.norm != checkpoint::HeadNorm::none)
            f.tensor(block + "ssm_norm.weight", {inner});
    }
    f.tensor(block + "ssm_conv1d.weight", {m.kernel, inner + 2 * shared});
    f.tensor(block + "ssm_a", {m.heads});
    f.tensor(block + "ssm_out.weight", {inner, hidden});
}

/// Sizes of recurrent layers, of which llama.cpp has one set per model.
void add_recurrent_keys(GgufMaker& f, const Decoder& d) {
    for (const DecoderLayer& layer : d.layers)
        if (const checkpoint::TokenMixer& m = layer.beside.value_or(layer.mixer);
            m.kind == MixerKind::gated_delta || m.kind == MixerKind::mamba) {
            const bool delta = m.kind == MixerKind::gated_delta;
            const auto number = [&](const char* key, std::int64_t value) {
                f.number(kName + ".ssm." + key, static_cast<std::uint32_t>(value));
            };
            number("conv_kernel", m.kernel);
            number("state_size", delta ? m.head_size : m.state_size);
            number("inner_size", m.heads * (delta ? m.value_size : m.head_size));
            number("time_step_rank", m.heads);
            number("group_count", m.kv_heads);
            return;
        }
}

void add_feed_forward(GgufMaker& f, const std::string& block, const checkpoint::FeedForward& ff,
                      std::int64_t hidden) {
    if (ff.inner > 0) {
        if (ff.gated)
            f.tensor(block + "ffn_gate.weight", {hidden, ff.inner});
        f.tensor(block + "ffn_up.weight", {hidden, ff.inner});
        f.tensor(block + "ffn_down.weight", {ff.inner, hidden});
    }
    if (ff.experts > 0) {
        const std::int64_t width = ff.latent > 0 ? ff.latent : hidden;
        f.tensor(block + "ffn_gate_inp.weight", {hidden, ff.experts}, 0);
        if (ff.latent > 0) {
            f.tensor(block + "ffn_latent_down.weight", {hidden, width});
            f.tensor(block + "ffn_latent_up.weight", {width, hidden});
        }
        if (ff.gated)
            f.tensor(block + "ffn_gate_exps.weight", {width, ff.expert_inner, ff.experts});
        f.tensor(block + "ffn_up_exps.weight", {width, ff.expert_inner, ff.experts});
        f.tensor(block + "ffn_down_exps.weight", {ff.expert_inner, width, ff.experts});
    }
    if (ff.shared_inner > 0) {
        if (ff.gated)
            f.tensor(block + "ffn_gate_shexp.weight", {hidden, ff.shared_inner});
        f.tensor(block + "ffn_up_shexp.weight", {hidden, ff.shared_inner});
        f.tensor(block + "ffn_down_shexp.weight", {ff.shared_inner, hidden});
    }
}

/// The decoder as llama.cpp's converter would name its tensors; none where a layer has no name there.
std::optional<GgufMaker> as_gguf(const Decoder& d) {
    if (d.layer_inputs.width > 0)
        return std::nullopt;
    GgufMaker f;
    const std::int64_t hidden = d.facts.hidden;
    std::vector<std::uint32_t> heads, kv_heads;
    std::vector<bool> windowed;
    std::int64_t window = 0;
    f.string("general.architecture", kName);
    f.number(kName + ".block_count", static_cast<std::uint32_t>(d.layers.size()));
    f.number(kName + ".embedding_length", static_cast<std::uint32_t>(hidden));
    f.tensor("token_embd.weight", {hidden, d.facts.vocabulary});
    if (!d.tied)
        f.tensor("output.weight", {hidden, d.facts.vocabulary});
    bool first_latent = true;
    for (std::size_t i = 0; i < d.layers.size(); ++i) {
        const auto& m = d.layers[i].mixer;
        const std::string block = "blk." + std::to_string(i) + ".";
        const bool compressed = m.kind == MixerKind::compressed,
                   attends = m.kind == MixerKind::attention || m.kind == MixerKind::latent || compressed;
        heads.push_back(attends ? static_cast<std::uint32_t>(m.heads) : 0);
        kv_heads.push_back(m.kind == MixerKind::attention ? static_cast<std::uint32_t>(m.kv_heads) : 0);
        windowed.push_back(m.window > 0);
        window = std::max(window, m.window);
        switch (m.kind) {
        case MixerKind::none:
            break;
        case MixerKind::attention:
            add_attention(f, block, m, hidden);
            break;
        case MixerKind::latent:
            add_latent(f, block, m, hidden);
            if (first_latent) {
                const std::pair<const char*, std::int64_t> keys[] = {
                    {"attention.kv_lora_rank", m.kv_rank},
                    {"attention.q_lora_rank", m.query_rank},
                    {"rope.dimension_count", m.rotary_size},
                    {"attention.key_length_mla", m.plain_size + m.rotary_size},
                    {"attention.value_length_mla", m.value_size}};
                for (const auto& [key, value] : keys)
                    f.number(kName + "." + key, static_cast<std::uint32_t>(value));
            }
            first_latent = false;
            break;
        case MixerKind::compressed:
            add_compressed(f, block, m, hidden);
            break;
        case MixerKind::gated_delta:
        case MixerKind::mamba:
            add_recurrence(f, block, m, hidden);
            break;
        case MixerKind::convolution:
            f.tensor(block + "shortconv.conv.weight", {m.kernel, m.heads});
            f.tensor(block + "shortconv.in_proj.weight", {hidden, 3 * m.heads});
            f.tensor(block + "shortconv.out_proj.weight", {m.heads, hidden});
            break;
        default:
            return std::nullopt;
        }
        if (d.layers[i].feed_forward.linear || (m.index_heads > 0 && !compressed)) // no file of them was seen
            return std::nullopt;
        if (const auto& beside = d.layers[i].beside; beside && beside->kind != MixerKind::mamba)
            return std::nullopt;
        else if (beside)
            add_recurrence(f, block, *beside, hidden);
        add_feed_forward(f, block, d.layers[i].feed_forward, hidden);
    }
    add_recurrent_keys(f, d);
    add_compressed_keys(f, d);
    f.numbers(kName + ".attention.head_count", heads);
    f.numbers(kName + ".attention.head_count_kv", kv_heads);
    f.number(kName + ".expert_used_count",
             static_cast<std::uint32_t>(std::max<std::int64_t>(1, d.facts.active_experts)));
    f.number(kName + ".attention.sliding_window", static_cast<std::uint32_t>(window));
    f.flags(kName + ".attention.sliding_window_pattern", windowed);
    return f;
}

std::string refusal_of(const std::filesystem::path& file) {
    try {
        (void)read_checkpoint(file);
    } catch (const InputError& problem) {
        return problem.what();
    }
    return "accepted";
}

} // namespace

TEST_CASE("a configuration and its GGUF header have the same parameters and cache", "[laws][checkpoint]") {
    const test::Folder folder("archsim_gguf_law");
    int written = 0, left_out = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(ARCHSIM_SOURCE_DIR) + "/models/configs")) {
        if (entry.path().extension() != ".json")
            continue;
        INFO(entry.path().stem().string());
        const auto document = checkpoint::parse_python_json(test::read(entry.path()), entry.path().string());
        if (document.contains("_class_name")) // a pipeline of image or video generation
            continue;
        Decoder d = checkpoint::read_config(document, "config.json");
        d.resident.clear();
        const auto file = as_gguf(d);
        if (!file) {
            ++left_out;
            continue;
        }
        ++written;
        const Checkpoint read = read_checkpoint(folder.write("model.gguf", file->bytes())),
                         stated = read_checkpoint(entry.path());
        CHECK(checkpoint::floating_elements(read.graph) ==
              Approx(checkpoint::floating_elements(checkpoint::build_graph(d))).epsilon(0.01));
        for (const std::int64_t positions : {50, 700, 3000, 20000, 200000}) // states may lie in other formats
            CHECK(test::cache_bytes(read, positions) - test::cache_bytes(read, positions - 1) ==
                  test::cache_bytes(stated, positions) - test::cache_bytes(stated, positions - 1));
        // Anything of weight that no layer is made of is no part to be left out.
        GgufMaker more = *file;
        const auto elements = static_cast<std::int64_t>(0.03 * checkpoint::floating_elements(read.graph));
        more.tensor("blk.0.of_another_kind.weight", {elements});
        CHECK_THAT(refusal_of(folder.write("model.gguf", more.bytes())),
                   Catch::Contains("blk.0.of_another_kind.weight"));
    }
    CHECK(written >= 25);
    CHECK(10 * left_out <=
          written); // mixers, sparse indices and rows per layer of which no file is written here
}
