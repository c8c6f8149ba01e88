// config.json as a decoder.

#include "checkpoint/config_parts.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

using nlohmann::json;

static DataType type_of(const std::string& name) {
    return name == "float16" ? DataType::float16 : name == "float32" ? DataType::float32 : DataType::bfloat16;
}

/// The part of `object` that describes a decoder: under a usual name, or where the object has no layers of
/// its own, the only part with a vocabulary and layers (llm_cfg of VILA, language_model). The end: none.
static json::const_iterator inner_decoder(const json& object) {
    for (const char* key : {"text_config", "llm_config", "language_config", "thinker_config"})
        if (const auto it = object.find(key); it != object.end() && it->is_object())
            return it;
    const auto has_layers = [](const json& part) {
        return part.is_object() && part.contains("vocab_size") &&
               (part.contains("num_hidden_layers") || part.contains("n_layer") || part.contains("n_layers"));
    };
    auto only = object.end();
    if (!object.contains("vocab_size"))
        for (auto it = object.begin(); it != object.end(); ++it)
            if (has_layers(*it)) {
                if (only != object.end())
                    return object.end();
                only = it;
            }
    return only;
}

/// The object that describes the decoder, its place, and what the objects around it say of other parts.
static const json& text_part(const json& document, std::string& prefix, json& around) {
    const json* part = &document;
    for (auto it = inner_decoder(*part); it != part->end(); it = inner_decoder(*part)) {
        around.insert(part->begin(), part->end());
        around.erase(it.key());
        prefix += it.key() + ".";
        part = &*it;
    }
    return *part;
}

static void fill_facts(Decoder& d, std::int64_t experts, std::int64_t active) {
    fill_attention_facts(d);
    d.facts.experts = experts;
    d.facts.active_experts = experts > 0 ? active : 0;
    if (d.facts.weight_format.empty())
        d.facts.weight_format = d.type == DataType::float32   ? "fp32"
                                : d.type == DataType::float16 ? "fp16"
                                                              : "bf16";
}

static void note_unknown_type(const std::string& type, const std::string& file,
                              std::vector<Finding>& findings) {
    findings.push_back(found(
        FindingKind::unknown_name, Severity::warning, file, "model_type",
        fmt::format("\"{}\" is not known; read by its fields as a decoder with a norm before each half, "
                    "a gated MLP and no biases",
                    type),
        "hold the parameters against the published count"));
}

/// Gemma 3n and 4: a row per layer and token, a narrow path beside attention, parallel streams.
static void read_layer_inputs(Fields& f, Decoder& d) {
    LayerInputs& in = d.layer_inputs;
    in.width = f.count({"hidden_size_per_layer_input"}, 0);
    if (in.width == 0)
        return;
    in.vocabulary = f.count({"vocab_size_per_layer_input"}, d.facts.vocabulary, 1);
    in.rank = f.count({"laurel_rank"}, 0);
    in.streams = f.count({"altup_num_inputs"}, 0);
    if (constexpr std::int64_t kMostStreams = 64; in.streams > kMostStreams)
        f.refuse("altup_num_inputs", fmt::format("{} is more than any decoder has", in.streams));
    f.skip({"activation_sparsity_pattern"});
}

/// LongCat-Flash-Lite (modeling_longcat_ngram.py): rows for the last tokens by their hash, of tables that
/// share the width of the model among them, and a narrow matrix behind each. In memory; what a token takes of
/// them is not counted.
static void read_group_tables(Fields& f, Decoder& d) {
    const std::int64_t ratio = f.count({"ngram_vocab_size_ratio"}, 0);
    if (ratio == 0)
        return;
    const std::int64_t tables = f.count({"emb_split_num"}, 1, 1) * (f.count({"emb_neighbor_num"}, 2, 2) - 1);
    if (d.facts.hidden % tables != 0 ||
        static_cast<double>(ratio) > kLargestCount / static_cast<double>(d.facts.vocabulary))
        f.refuse("emb_split_num", "tables for groups of tokens must divide the width of the model");
    const std::int64_t width = d.facts.hidden / tables;
    d.resident.push_back({"ngram_embeddings.embedders", {tables, ratio * d.facts.vocabulary, width}});
    d.resident.push_back({"ngram_embeddings.post_projs", {tables, width, d.facts.hidden}});
    d.findings.push_back(found(FindingKind::unsupported, Severity::warning, f.file(),
                               f.place("ngram_vocab_size_ratio"),
                               "tables for groups of tokens: in memory, their look-ups are not priced"));
}

/// Norms of the residual stream: what they have, and whether two halves of a layer share one.
static void read_norms(Fields& f, const Implied& implied, Decoder& d) {
    d.layer_norm = implied.layer_norm;
    d.table_norm = implied.table_norm;
    const bool parallel =
        f.flag({"parallel_attn", "use_parallel_residual", "use_parallel_block"}, implied.parallel);
    // Falcon's later form has a norm for each half unless it says otherwise.
    const bool later = f.flag({"new_decoder_architecture"});
    const std::int64_t norms = f.count({"num_ln_in_parallel_attn"}, later ? 2 : implied.parallel_norms);
    for (DecoderLayer& layer : d.layers)
        layer.one_norm = parallel && norms == 1;
}

/// LongCat-Flash (arXiv:2509.01322, section 2.2): each layer is two of attention and a dense MLP, and its
/// experts work beside the first.
static std::vector<DecoderLayer> in_pairs(const std::vector<DecoderLayer>& layers, const FeedForward& dense) {
    std::vector<DecoderLayer> pairs;
    for (const DecoderLayer& layer : layers) {
        pairs.insert(pairs.end(), 2, layer);
        pairs.back().feed_forward = dense;
        pairs[pairs.size() - 2].feed_forward.inner = dense.inner;
    }
    return pairs;
}

/// DeepSeek-V4: residual streams side by side, which a small matrix in fp32 mixes in front of each half of a
/// layer and of the head. What it multiplies is not counted; it lies in memory.
static void read_streams(Fields& f, Decoder& d) {
    const std::int64_t streams = f.count({"hc_mult"}, 1, 1);
    if (streams == 1)
        return;
    constexpr double kFloat = 32;
    const auto layers = static_cast<std::int64_t>(d.layers.size());
    d.resident.push_back(
        {"hyper_connections", {layers, 2, (2 + streams) * streams, streams * d.facts.hidden}, kFloat});
    d.resident.push_back({"hyper_connections.head", {streams, streams * d.facts.hidden}, kFloat});
}

/// Layers that attend to an image (Llama 3.2 Vision) are left out where there is none: in memory, not
/// computed.
static void set_cross_layers_aside(Fields& f, Decoder& d) {
    auto layers = f.counts({"cross_attention_layers"});
    std::sort(layers.rbegin(), layers.rend());
    for (const std::int64_t i : layers) {
        if (i < 0 || static_cast<std::size_t>(i) >= d.layers.size())
            f.refuse("cross_attention_layers", fmt::format("there is no layer {}", i));
        const auto at = d.layers.begin() + static_cast<std::ptrdiff_t>(i);
        d.resident.push_back(
            {fmt::format("cross_attention_layers.{}", i),
             {1, static_cast<std::int64_t>(std::min(kLargestCount, count_parameters(d, *at)))}});
        d.layers.erase(at);
    }
}

/// Towers of sound and other parts beside the language model: by their width and layers where these are said,
/// else named.
static void read_other_parts(Fields& top, Decoder& d) {
    for (const auto& [key, part] : top.object().items()) {
        constexpr std::string_view kConfig = "_config";
        if (!part.is_object() || !key.ends_with(kConfig) || top.was_read(key) || changes_no_size(key))
            continue;
        Fields f = top.part({key.c_str()});
        const auto size = [&](Names names, std::int64_t otherwise) {
            const json* stated = f.find(names);
            return stated && stated->is_number_integer() && *stated > 0 && *stated < (1 << 20)
                       ? stated->get<std::int64_t>()
                       : otherwise;
        };
        const std::int64_t layers = size({"encoder_layers", "num_hidden_layers", "depth", "n_layer",
                                          "conf_num_hidden_layers"},
                                         0),
                           width = size({"d_model", "hidden_size", "embed_dim"}, 0),
                           inner = size({"encoder_ffn_dim", "intermediate_size"}, 4 * width);
        // A layer of a conformer (arXiv:2005.08100, section 2) has five matrices of attention with relative
        // positions, two MLPs and three matrices around a convolution.
        const std::int64_t rows =
            f.has({"conf_num_hidden_layers"}) ? (5 + 16 + 3) * width : 4 * width + 2 * inner;
        if (layers > 0 && width > 0) {
            d.resident.push_back({key, {layers, rows, width}});
            d.facts.vision_parameters += static_cast<double>(layers * width) * static_cast<double>(rows);
        }
        double largest = 0; // of its numbers: a few matrices may be less than a layer of the language model
        for (const json& value : part)
            largest = std::max(largest, value.is_number() ? value.get<double>() : 0);
        const bool small =
            !d.layers.empty() && 4 * largest * largest <= count_parameters(d, d.layers.front());
        d.findings.push_back(
            found(FindingKind::unsupported,
                  small || (layers > 0 && width > 0) ? Severity::warning : Severity::error, top.file(),
                  top.place(key),
                  layers > 0 && width > 0
                      ? fmt::format("a part beside the language model: {} layers of {} are in memory, its "
                                    "work is not counted",
                                    layers, width)
                      : "a part beside the language model, which is not counted"));
    }
}

void read_head(Fields& f, Fields& top, Decoder& d) {
    const HeadKind kind = head_of(d.facts.architecture);
    if (kind == HeadKind::generates)
        return;
    d.generates = d.head = false;
    std::string what = "gives its last hidden states (an embedding)";
    if (kind == HeadKind::scores) {
        const auto* labels = top.find({"id2label"});
        // Two is the number of labels where transformers' configurations state none.
        const std::int64_t usual = labels && labels->is_object() ? static_cast<std::int64_t>(labels->size())
                                   : d.facts.architecture.find("Reward") != std::string::npos ? 1
                                                                                              : 2;
        d.scores = std::max<std::int64_t>(1, top.count({"num_labels"}, f.count({"num_labels"}, usual)));
        what = fmt::format("gives a score of {} number{}", d.scores, d.scores == 1 ? "" : "s");
    }
    d.findings.push_back(
        found(FindingKind::unsupported, Severity::note, f.file(), "architectures",
              fmt::format("{} generates no text: it reads its input in one pass, keeps no cache and {}",
                          d.facts.architecture, what),
              "set the length of the input with --dim sequence=512"));
}

void read_prediction(Fields& f, Decoder& d) {
    const bool used = f.flag({"use_mtp"}, true);
    const std::int64_t heads = f.count(
        {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers"}, 0);
    const std::int64_t each = f.count({"mtp_transformer_layers"}, 1);
    f.skip({"mtp_use_dedicated_embeddings", "mtp_layers_block_type"});
    if (!used || heads == 0)
        return;
    // Each head joins the hidden state and the next token's embedding in one matrix, then runs a layer like
    // the last one with attention (DeepSeek-V3, arXiv:2412.19437, section 2.2), and like that with experts
    // where these are apart (Nemotron-H).
    double layers = 0;
    const auto add_last = [&](const auto& is_like) {
        const auto last = std::find_if(d.layers.rbegin(), d.layers.rend(), is_like);
        layers += last == d.layers.rend() ? 0 : count_parameters(d, *last);
        return last != d.layers.rend();
    };
    if (!add_last([](const DecoderLayer& layer) {
            return layer.mixer.kind == MixerKind::attention || layer.mixer.kind == MixerKind::latent;
        }))
        return;
    const auto kinds = f.texts({"mtp_layers_block_type"});
    if (std::ranges::find(kinds, "moe") != kinds.end() ||
        f.text({"mtp_hybrid_override_pattern"}).find('E') != std::string::npos)
        add_last([](const DecoderLayer& layer) { return layer.feed_forward.experts > 0; });
    const auto width = static_cast<double>(d.facts.hidden);
    d.facts.prediction_parameters =
        static_cast<double>(heads) * (static_cast<double>(each) * layers + 2 * width * width);
}

double count_parameters(const Decoder& decoder, const DecoderLayer& layer) {
    Decoder one{.facts = decoder.facts};
    one.facts.vocabulary = 1;
    one.tied = true;
    one.layer_norm = decoder.layer_norm;
    one.layers = {layer};
    one.layers.front().mixer.shares_cache_of = -1;
    // Without the table's one row and the last norm.
    const double row_and_norm = decoder.layer_norm ? 3 : 2;
    return floating_elements(build_graph(one)) - row_and_norm * static_cast<double>(decoder.facts.hidden);
}

Decoder read_config(const json& document, const std::string& file, const Budget& budget) {
    if (document.contains("peft_type"))
        Fields(document, file)
            .refuse(
                "peft_type",
                fmt::format("an adapter of rank {} beside {}, no model; it changes neither the shapes nor "
                            "the cache of its base model {}, which is what to ask for",
                            document.value("r", json("unknown")).dump(),
                            document.value("target_modules", json("unknown modules")).dump(),
                            document.value("base_model_name_or_path", json("")).dump()));
    std::string prefix;
    Decoder d;
    d.formats.allow(budget, file);
    json around = json::object();
    const json& described = text_part(document, prefix, around);
    const json inner = in_one_form(described, file, d.findings);
    Fields f(inner, file, prefix), outer(around, file);
    Fields& top = prefix.empty() ? f : outer;
    const std::string type = f.text({"model_type"}, top.text({"model_type"}));
    refuse_other_kinds(document, described, type, file);
    if (f.has({"type_vocab_size"}) && !f.flag({"is_decoder"}))
        f.refuse("type_vocab_size", "an encoder, which generates no text; read it from an ONNX file");
    if (f.flag({"is_encoder_decoder"}))
        f.refuse("is_encoder_decoder", "encoders with decoders are read from ONNX files, one part at a time");
    if (const auto names = top.texts({"architectures"}); !names.empty())
        d.facts.architecture = names.front();
    bool known = false;
    const Implied& implied = implied_by(type, known);
    if (!known)
        note_unknown_type(type, file, d.findings);
    d.facts.hidden = f.count({"hidden_size", "n_embd", "d_model"});
    d.facts.vocabulary = f.count({"vocab_size", "padded_vocab_size"});
    d.facts.max_context = f.count({"max_position_embeddings", "n_positions", "seq_length", "max_seq_len",
                                   "n_ctx", "max_context_length"},
                                  0);
    // Pairs count as one layer in num_layers, and as two in num_hidden_layers where both are written.
    d.facts.layers = implied.paired_layers && f.has({"num_layers"})
                         ? f.count({"num_layers"})
                         : f.count({"num_hidden_layers", "n_layer", "n_layers", "num_layers"});
    if (d.facts.layers > kMostLayers)
        f.refuse("num_hidden_layers", fmt::format("{} is more than any decoder has", d.facts.layers));
    d.type = type_of(f.text({"dtype", "torch_dtype"}, top.text({"dtype", "torch_dtype"}, "bfloat16")));
    d.tied = top.flag({"tie_word_embeddings"}, f.flag({"tie_word_embeddings"}, implied.tied));
    d.head_bias = f.flag({"lm_head_bias"}, implied.head_bias);
    if (implied.positions >= 0)
        d.resident.push_back({"embed_positions", {d.facts.max_context + implied.positions, d.facts.hidden}});
    const TokenMixer mixer = read_mixer(f, implied, d.facts.hidden);
    const FeedForwards ff = read_feed_forwards(f, implied);
    d.layers = read_layers(f, implied, static_cast<std::size_t>(d.facts.layers), mixer, ff, d.findings);
    if (f.has({"mamba_d_ssm"})) // Falcon-H1 (arXiv:2507.22448, section 2): attention and a state side by side
        for (DecoderLayer& layer : d.layers)
            layer.beside = read_recurrent_mixer(f, d.facts.hidden);
    if (implied.paired_layers)
        d.layers = in_pairs(d.layers, ff.dense);
    d.passes = f.count({"total_ut_steps"}, 1, 1);
    if (constexpr std::int64_t kMostPasses = 64; d.passes > kMostPasses)
        f.refuse("total_ut_steps", fmt::format("{} is more than any decoder has", d.passes));
    read_streams(f, d);
    read_norms(f, implied, d);
    read_head(f, top, d);
    if (f.count({"word_embed_proj_dim"}, d.facts.hidden) != d.facts.hidden)
        f.refuse("word_embed_proj_dim", "tables of another width than the layers are not known");
    read_layer_inputs(f, d);
    read_group_tables(f, d);
    set_cross_layers_aside(f, d);
    read_prediction(f, d);
    read_quantization(prefix.empty() || !inner.contains("quantization_config") ? top : f, d);
    top.skip({"quantization_config"}); // the same again
    read_vision(top, d);
    fill_facts(d, ff.experts.experts, ff.experts.active);
    f.report_unread(d.findings);
    if (&top != &f) {
        top.skip({"hidden_size", "vocab_size"});
        for (const auto& [key, value] : around.items()) // some repeat sizes of the language model
            if (described.contains(key) && described[key] == value)
                top.skip({key.c_str()});
        read_other_parts(top, d);
        top.report_unread(d.findings);
    }
    return d;
}

} // namespace archsim::checkpoint
