// quantization_config: bits per weight with scales, which modules are left out, and what the products with
// the others take of their activations.

#include "checkpoint/config_parts.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

namespace archsim::checkpoint {

using nlohmann::json;

constexpr double kScaleBits = 16, kFloatBits = 32;
// Blocks of the formats: Open Compute Project, Microscaling Formats 1.0, section 5 (32 elements and an 8-bit
// scale); NVFP4: 16 elements and an FP8 scale (NVIDIA Transformer Engine documentation).
constexpr double kMxBlock = 32, kNvBlock = 16, kBlockScaleBits = 8;
// bitsandbytes: a float per 64 weights; quantised twice, 8 bits for it and a float per 256 of these (QLoRA,
// arXiv:2305.14314, section 3).
constexpr double kNfBlock = 64, kNfScales = 256;
constexpr double kFour = 4, kEight = 8;
constexpr double kGroup = 128; ///< of integer weights where none is stated

using Scheme = WeightScheme;

static Scheme integer_groups(double bits, double group, bool zero_points) {
    const double scales = group > 0 ? (kScaleBits + (zero_points ? bits : 0)) / group : 0;
    return {bits + scales, fmt::format("int{:.0f}", bits), std::nullopt};
}

static Scheme nvfp4() {
    return {kFour + kBlockScaleBits / kNvBlock, "nvfp4", Precision::fp4};
}
/// Engines choose what meets MXFP4 weights; the checkpoint says nothing of it (gpt-oss: 16 bits on Hopper).
static Scheme mxfp4() {
    return {kFour + kBlockScaleBits / kMxBlock, "mxfp4", std::nullopt};
}
static Scheme mxfp8() {
    return {kEight + kBlockScaleBits / kMxBlock, "mxfp8", Precision::fp8};
}

/// The scheme for weights alone.
static Scheme alone(Scheme scheme) {
    scheme.products.reset();
    return scheme;
}

/// A float for each block of rows and columns that `key` states.
static double block_scales(Fields& f, const char* key) {
    const auto block = f.counts({key});
    return block.size() == 2 && block[0] > 0 && block[1] > 0
               ? kFloatBits / (static_cast<double>(block[0]) * static_cast<double>(block[1]))
               : 0;
}

/// Activations are quantised as they come, or with scales that the checkpoint holds ("dynamic", "static").
static Scheme fp8_blocks(Fields& q) {
    return {kEight + block_scales(q, "weight_block_size"), "fp8", Precision::fp8};
}

/// The format that `type` and `num_bits` state, of activations or of a cache.
static std::optional<Precision> stated_format(Fields& f, const char* usual_type) {
    const bool real = f.text({"type"}, usual_type) == "float";
    const auto bits = static_cast<double>(f.count({"num_bits"}, 0));
    if (bits == kEight)
        return real ? Precision::fp8 : Precision::int8;
    if (bits == kFour)
        return real ? Precision::fp4 : Precision::int4;
    return std::nullopt;
}

/// Names or expressions of modules with fields of their own, as auto-round (extra_config) and GPTQModel
/// (dynamic) write them: bits, group and symmetry, where they differ from most. "-:" leaves a module out.
static void set_overrides(Fields& q, const char* key, double bits, double group, bool symmetric,
                          WeightFormats& formats) {
    Fields rows = q.part({key});
    const auto set = [&](const std::string& name, Fields r, bool left_out) {
        const auto own_bits = static_cast<double>(r.count({"bits"}, static_cast<std::int64_t>(bits), 1));
        const double own_group = std::max(0.0, r.number({"group_size"}, group));
        const Scheme scheme = left_out || own_bits >= kScaleBits
                                  ? Scheme{}
                                  : integer_groups(own_bits, own_group, !r.flag({"sym"}, symmetric));
        const bool expression = name.find_first_of("*[(|^$\\+?") != std::string::npos;
        formats.set_pattern((expression ? "re:" : "") + name, scheme);
    };
    constexpr std::string_view kLeftOut = "-:", kTaken = "+:";
    for (const bool left_out : {true, false})
        for (const auto& [name, ignored] : rows.object().items())
            if (name.starts_with(kLeftOut) == left_out)
                set(left_out || name.starts_with(kTaken) ? name.substr(kTaken.size()) : name,
                    rows.part({name.c_str()}), left_out);
}

/// AWQ, GPTQ and auto-round: integers in groups.
static Scheme integers(Fields& q, WeightFormats& formats) {
    const std::string type = q.text({"data_type"});
    const auto bits = static_cast<double>(q.count({"bits", "w_bit"}, static_cast<std::int64_t>(kFour), 2));
    const double group = std::max(0.0, q.number({"group_size", "q_group_size"}, kGroup));
    const bool symmetric = q.flag({"sym"}, false);
    set_overrides(q, "extra_config", bits, group, symmetric, formats);
    set_overrides(q, "dynamic", bits, group, symmetric, formats);
    Scheme scheme = type.starts_with("mx_fp")   ? bits == kEight ? mxfp8() : mxfp4()
                      : type.starts_with("nv_fp") ? nvfp4()
                                                : integer_groups(bits, group, !symmetric);
    const json* listed = q.find({"modules_in_block_to_quantize"}); // lists of names: no others are
    if (!listed || !listed->is_array() || listed->empty())
        return scheme;
    for (const json& names : *listed)
        for (const json& name : names.is_array() ? names : json{names})
            if (name.is_string())
                formats.set_pattern(name.get<std::string>(), scheme);
    return {0, scheme.format, scheme.products};
}

/// ExLlama: a mean over the matrices of the layers, one for the output projection, and what each has.
static Scheme exllama(Fields& q, WeightFormats& formats) {
    const auto scheme = [](double bits) {
        return bits > 0 && bits < kScaleBits ? Scheme{bits, fmt::format("int{:.0f}", bits), std::nullopt}
                                             : Scheme{};
    };
    Fields rows = q.part({"tensor_storage"});
    for (const auto& [name, ignored] : rows.object().items())
        if (Fields r = rows.part({name.c_str()}); r.has({"bits_per_weight"}))
            formats.set_pattern(name, scheme(r.number({"bits_per_weight"}, 0)));
    if (q.has({"head_bits"}))
        formats.set_pattern("lm_head", scheme(q.number({"head_bits"}, 0)));
    return scheme(q.number({"bits"}, 0));
}

/// AQLM (arXiv:2401.06118, section 3): groups of weights are sums of entries of code books, of which every
/// matrix has its own, and each row of outputs has a scale, which is not counted.
static Scheme additive(Fields& q) {
    const auto count = [&](const char* key, std::int64_t usual) {
        return static_cast<double>(q.count({key}, usual, 1));
    };
    const double group = count("in_group_size", 8) * count("out_group_size", 1),
                 books = count("num_codebooks", 1), code = count("nbits_per_codebook", 16);
    if (code > kScaleBits)
        q.refuse("nbits_per_codebook", "is more than any code has");
    Scheme scheme{books * code / group, "int2", std::nullopt};
    scheme.bits_of_matrix = books * std::exp2(code) * group * kScaleBits;
    return scheme;
}

/// One group of compressed-tensors, whose `weights` say type, bits and group. Of `pruned` ones two of four
/// are kept, with a bit for each that says which.
static Scheme compressed_weights(Fields& w, bool pruned) {
    const auto own_bits = static_cast<double>(w.count({"num_bits"}, 0));
    const double bits = pruned && own_bits > 0 ? own_bits / 2 + 1 : own_bits;
    const auto group = static_cast<double>(
        std::max<std::int64_t>(0, static_cast<std::int64_t>(w.number({"group_size"}, 0))));
    if (bits <= 0)
        return {};
    if (w.text({"type"}, "int") != "float") {
        Scheme scheme = integer_groups(own_bits, group, !w.flag({"symmetric"}, true));
        scheme.bits += bits - own_bits;
        return scheme;
    }
    if (own_bits == kEight) {
        const double scales = block_scales(w, "block_structure");
        return group == kMxBlock ? mxfp8() : Scheme{bits + scales, "fp8", Precision::fp8};
    }
    return group == kMxBlock ? mxfp4() : nvfp4();
}

/// config_groups of compressed-tensors: each with the modules it is for, a class of them ("Linear") or names.
/// The result is that of the first class; names are set apart.
static Scheme compressed(Fields& q, WeightFormats& formats) {
    Fields groups = q.part({"config_groups"});
    const bool pruned = q.part({"sparsity_config"}).text({"format"}) == "sparse-24-bitmask" ||
                        q.text({"format"}) == "marlin-24";
    Scheme most, any;
    for (const auto& [name, ignored] : groups.object().items()) {
        Fields group = groups.part({name.c_str()}), w = group.part({"weights"}),
               inputs = group.part({"input_activations"}); // empty: weights alone
        if (w.empty())
            continue;
        Scheme scheme = compressed_weights(w, pruned);
        scheme.products = stated_format(inputs, "int");
        any = any.bits > 0 ? any : scheme;
        if (!group.has({"targets"}))
            most = most.bits > 0 ? most : scheme;
        for (const std::string& pattern : group.texts({"targets"})) {
            if (pattern == "Embedding")
                formats.set_pattern("embed_tokens", scheme);
            else if (pattern.find_first_of(".:*") == std::string::npos) // Linear, LinearBase, FusedMoE
                most = most.bits > 0 ? most : scheme;
            else
                formats.set_pattern(pattern, scheme);
        }
    }
    // Names alone: what none of them is for stays wide.
    return most.bits > 0 ? most : Scheme{0, any.format, any.products};
}

/// AMD Quark: `weight` states type and group, `input_tensors` those of activations, each alone or as a list.
static Scheme quark_scheme(Fields config) {
    Fields w = config.part({"weight"}), a = config.part({"input_tensors"});
    const std::string type = w.text({"dtype"}), inputs = a.text({"dtype"});
    const auto group = static_cast<double>(w.count({"group_size"}, 0));
    Scheme scheme;
    if (type.starts_with("fp8"))
        scheme = {kEight, "fp8", std::nullopt};
    else if (type.starts_with("fp4"))
        scheme = {kFour + kBlockScaleBits / (group > 0 ? group : kMxBlock), "mxfp4", std::nullopt};
    else if (type.ends_with("int4") || type.ends_with("int8"))
        scheme = integer_groups(type.back() - '0', group, type.starts_with("u"));
    if (inputs.starts_with("fp8") || inputs.starts_with("fp4"))
        scheme.products = inputs.starts_with("fp8") ? Precision::fp8 : Precision::fp4;
    else if (inputs.ends_with("int8"))
        scheme.products = Precision::int8;
    return scheme;
}

static Scheme quark(Fields& q, WeightFormats& formats) {
    Fields layers = q.part({"layer_quant_config"});
    for (const auto& [name, ignored] : layers.object().items())
        formats.set_pattern(name, quark_scheme(layers.part({name.c_str()})));
    return quark_scheme(q.part({"global_quant_config"}));
}

/// Names of NVIDIA's Model Optimizer (modelopt/torch/export/quant_utils.py) and of TensorRT-LLM (QuantAlgo):
/// weights and activations, "W4A16" for weights alone.
static Scheme algorithm(const std::string& name, double group) {
    const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
    Scheme scheme;
    if (has("NVFP4"))
        scheme = nvfp4();
    else if (has("MXFP4"))
        scheme = mxfp4();
    else if (has("MXFP8"))
        scheme = mxfp8();
    else if (has("FP8_PB_WO") || has("FP8_BLOCK"))
        scheme = {kEight + kFloatBits / (kGroup * kGroup), "fp8", Precision::fp8};
    else if (has("W4A") || has("INT4"))
        scheme = integer_groups(kFour, group > 0 ? group : kGroup, has("GPTQ"));
    else if (has("FP8"))
        scheme = {kEight, "fp8", Precision::fp8};
    else if (has("W8A") || has("INT8"))
        scheme = integer_groups(kEight, 0, false);
    if (has("A16"))
        return alone(scheme);
    const bool integers = has("QSERVE") || has("W8A8") || has("_SQ"); // else eight bits are floats
    if (has("A8") || integers)
        scheme.products = integers ? Precision::int8 : Precision::fp8;
    return scheme;
}

/// MIXED_PRECISION: an algorithm per module.
static Scheme mixed(Fields& q, WeightFormats& formats) {
    Fields layers = q.part({"quantized_layers"});
    Scheme first;
    for (const auto& [name, ignored] : layers.object().items()) {
        Fields l = layers.part({name.c_str()});
        const Scheme scheme =
            algorithm(l.text({"quant_algo"}), static_cast<double>(l.count({"group_size"}, 0)));
        if (scheme.bits <= 0)
            continue;
        first = first.bits > 0 ? first : scheme;
        formats.set_pattern(name, scheme);
    }
    return {0, first.format, first.products};
}

/// 8 bits: LLM.int8() quantises activations too, but for its outliers (arXiv:2208.07339, section 3).
static Scheme bitsandbytes(Fields& q) {
    if (!q.flag({"load_in_4bit", "_load_in_4bit"}))
        return {kEight, "int8", std::nullopt};
    const double scales = q.flag({"bnb_4bit_use_double_quant"}) ? (kEight + kFloatBits / kNfScales) / kNfBlock
                                                                : kFloatBits / kNfBlock;
    return {kFour + scales, "int4", std::nullopt};
}

/// The whole number under `key`, however deep it lies.
static std::optional<double> number_within(const json& value, const char* key) {
    if (value.is_object() && value.contains(key) && value.at(key).is_number())
        return value.at(key).get<double>();
    if (value.is_structured())
        for (const json& inner : value)
            if (const auto found = number_within(inner, key))
                return found;
    return std::nullopt;
}

/// Methods that name a type in words ("int8", "Float8WeightOnlyConfig"), anywhere in what they state: torchao
/// (quantization/quant_api.py), quanto, HQQ and EETQ. Groups have a scale and a zero in 16 bits each.
static Scheme in_words(const json& stated) {
    const std::string words = lower_case(stated.dump());
    const auto has = [&](const char* part) { return words.find(part) != std::string::npos; };
    if (has("float8") || has("fp8"))
        return {kEight, "fp8", has("activation") ? std::optional(Precision::fp8) : std::nullopt};
    const double named = has("int2") ? 2 : has("int8") && !has("int4") ? kEight : kFour;
    const double bits = number_within(stated, "nbits").value_or(named),
                 group = number_within(stated, "group_size").value_or(kGroup);
    return {bits + (bits == kEight || !(group > 0) ? 0 : 2 * kScaleBits / group),
            fmt::format("int{:.0f}", bits), std::nullopt};
}

/// The same, with modules that have words of their own: of HQQ by name, of torchao in a list.
static Scheme worded(Fields& q, const std::string& method, WeightFormats& formats) {
    const json* stated = q.find({"weights", "quant_type", "quant_config"});
    const json kind = stated ? *stated : json(method == "eetq" ? "int8" : "int4");
    const json* kwargs = q.find({"quant_type_kwargs"});
    const json* listed = &kind;
    for (const char* inner : {"default", "_data", "module_fqn_to_config", "fqn_to_config"})
        if (listed->is_object() && listed->contains(inner))
            listed = &listed->at(inner);
    const bool by_name = kind.is_object() && !kind.contains("weight_quant_params") &&
                         (method == "hqq" || kind.dump().find("qn_to_config") != std::string::npos) &&
                         listed->is_object();
    if (!by_name)
        return in_words(kwargs ? json{kind, *kwargs} : kind);
    Scheme most, first;
    for (const auto& [name, config] : listed->items()) {
        const Scheme scheme = config.is_object() ? in_words(config) : Scheme{};
        first = first.bits > 0 ? first : scheme;
        if (name == "_default")
            most = scheme;
        else
            formats.set_pattern(name, scheme);
    }
    return most.bits > 0 ? most : Scheme{0, first.format, std::nullopt};
}

/// MLX (mlx/nn/layers/quantized.py): a scale and a bias per group; fields of a module's name hold its own, or
/// `false` where it is left out.
static Scheme mlx_scheme(Fields& q, double bits, double group) {
    const std::string mode = q.text({"mode"}, "affine");
    if (mode == "mxfp4" || mode == "mxfp8")
        return mode == "mxfp4" ? mxfp4() : alone(mxfp8());
    if (mode == "nvfp4")
        return alone(nvfp4());
    bits = static_cast<double>(q.count({"bits"}, static_cast<std::int64_t>(bits), 1));
    group = std::max(0.0, q.number({"group_size"}, group));
    return {bits + (group > 0 ? 2 * kScaleBits / group : 0), fmt::format("int{:.0f}", bits), std::nullopt};
}

static Scheme mlx(Fields& q, WeightFormats& formats) {
    const Scheme most = mlx_scheme(q, kFour, kNfBlock);
    const auto bits = static_cast<double>(q.count({"bits"}, static_cast<std::int64_t>(kFour), 1));
    const double group = q.number({"group_size"}, kNfBlock);
    for (const auto& [name, own] : q.object().items()) {
        if (!own.is_object() && !own.is_boolean())
            continue;
        Fields f = q.part({name.c_str()});
        formats.set_pattern(name, own.is_object()   ? mlx_scheme(f, bits, group)
                                  : own.get<bool>() ? most
                                                    : Scheme{});
    }
    return most;
}

static Scheme scheme_of(Fields& q, const std::string& method, WeightFormats& formats) {
    const auto group = [&](double otherwise) {
        return std::max(0.0, q.number({"group_size", "q_group_size"}, otherwise));
    };
    if (const std::string name = q.text({"quant_algo"}); !name.empty()) {
        q.skip({"config_groups"}); // the same again
        if (name == "MIXED_PRECISION")
            return mixed(q, formats);
        const Scheme scheme = algorithm(name, group(0));
        if (scheme.bits > 0)
            return scheme.format == "fp8" && q.has({"weight_block_size"}) ? fp8_blocks(q) : scheme;
    }
    if (method == "nvfp4" || method == "modelopt_fp4")
        return nvfp4();
    if (method == "mxfp8")
        return mxfp8();
    if (method == "fp8" || method == "fbgemm_fp8" || method == "modelopt")
        return q.has({"config_groups"}) ? compressed(q, formats) : fp8_blocks(q);
    if (method == "mxfp4")
        return mxfp4();
    if (method == "awq" || method == "gptq" || method == "gptq_marlin" || method == "auto-round" ||
        method == "auto_round" || method == "intel/auto-round")
        return integers(q, formats);
    if (method == "aqlm")
        return additive(q);
    if (method == "higgs") { // arXiv:2411.17525, section 4: a scale per group
        q.skip({"p"});       // weights that are rounded together
        const auto bits = static_cast<double>(q.count({"bits"}, static_cast<std::int64_t>(kFour), 1));
        return integer_groups(bits, group(2 * kGroup), false);
    }
    if (method == "fp_quant")
        return q.text({"forward_dtype"}, "mxfp4") == "nvfp4" ? nvfp4() : mxfp4();
    if (method == "bitsandbytes")
        return bitsandbytes(q);
    if (method == "quark")
        return quark(q, formats);
    if (method == "eetq" || method == "quanto" || method == "hqq" || method == "torchao")
        return worded(q, method, formats);
    if (method == "exl2" || method == "exl3")
        return exllama(q, formats);
    if (method == "bitnet") // ternary weights, four in a byte
        return {2, "int2", std::nullopt};
    if (method.empty() && q.has({"bits"}) && q.has({"group_size"}))
        return mlx(q, formats);
    return compressed(q, formats);
}

/// The format of cached keys and values, none where the file leaves them wide.
static std::optional<Precision> cache_format(Fields& q) {
    const json* scheme = q.find({"kv_cache_scheme"});
    const std::string name =
        q.text({"kv_cache_quant_algo"}, scheme && scheme->is_string() ? scheme->get<std::string>() : "");
    if (name == "FP8" || name == "fp8")
        return Precision::fp8;
    if (name == "INT8" || name == "int8")
        return Precision::int8;
    if (name == "NVFP4" || name == "nvfp4")
        return Precision::fp4;
    Fields s = q.part({"kv_cache_scheme"});
    return stated_format(s, "float");
}

/// The scheme that most weights have is that of the checkpoint, and its products are taken to the narrowest
/// format of any: no matrix meets a narrower one than it is quantised for.
static void weigh_schemes(Decoder& decoder) {
    std::map<std::string, double> weights;
    double most = 0;
    decoder.products.reset();
    const Graph graph = build_graph(decoder);
    for (const Tensor& tensor : graph.tensors) {
        constexpr std::string_view kLeaf = ".weight";
        if (tensor.role != TensorRole::initializer || tensor.shape->size() < 2 ||
            !tensor.name.ends_with(kLeaf))
            continue;
        const Scheme scheme =
            decoder.formats.of(std::string_view(tensor.name).substr(0, tensor.name.size() - kLeaf.size()));
        if (scheme.bits <= 0)
            continue;
        double& sum = weights[scheme.format];
        sum += elements(tensor);
        if (sum > most) {
            most = sum;
            decoder.facts.weight_format = scheme.format;
            decoder.weights = narrow_format(scheme.format, scheme.bits);
        }
        if (scheme.products &&
            (!decoder.products || archsim::bits_of(*scheme.products) < archsim::bits_of(*decoder.products)))
            decoder.products = scheme.products;
    }
}

void read_quantization(Fields& config, Decoder& decoder) {
    const json* object = config.find({"quantization_config", "compression_config", "quantization"});
    if (!object || (!object->is_object() && !object->is_string()))
        return;
    const json stated = object->is_object() ? *object : json{{"quant_method", *object}}; // "q4f16_1" of MLC
    Fields q(stated, config.file(), config.place("quantization_config."));
    const std::string method = q.text({"quant_method"}, q.has({"quant_algo"}) ? "modelopt" : "");
    decoder.cache = cache_format(q);
    // Model Optimizer may narrow the cache alone.
    if (method == "modelopt" && !q.has({"quant_algo"}) && !q.has({"config_groups"}))
        return;
    Scheme scheme = scheme_of(q, method, decoder.formats);
    decoder.facts.quantization = method.empty() ? "unnamed" : method;
    if (scheme.format.empty()) {
        decoder.findings.insert(
            decoder.findings.begin(),
            found(FindingKind::unsupported, Severity::error, config.file(),
                  config.place("quantization_config"),
                  fmt::format("the method \"{}\" is not known; weights are counted as unquantised", method),
                  "take quantization_config out, and state the format of the weights with --weights"));
        return;
    }
    // No method but MLX's narrows embeddings and routers unless it says so; heads as the configuration says,
    // and where compressed-tensors' class of matrices leaves them in.
    std::vector<std::string> kept, usual;
    if (!method.empty()) {
        usual = {"embed_tokens", "shared"}; // T5 calls it so
        if (!q.flag({"lm_head", "quant_lm_head"}) && method != "compressed-tensors")
            usual.emplace_back("lm_head");
    }
    if (q.flag({"include_input_output_embeddings"}))
        for (const char* table : {"embed_tokens", "lm_head"})
            decoder.formats.set_pattern(table, scheme);
    if (const json* names = q.find({"linear_weights_not_to_quantize"}); names && names->is_array())
        for (std::string name : q.texts({"linear_weights_not_to_quantize"})) { // AQLM: of tensors
            constexpr std::string_view kLeaf = ".weight";
            kept.push_back(name.ends_with(kLeaf) ? name.substr(0, name.size() - kLeaf.size()) : name);
        }
    for (const char* key : {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers",
                            "llm_int8_skip_modules", "skip_modules", "exclude"})
        for (std::string& name : q.texts({key}))
            kept.push_back(std::move(name));
    // DeepSeek-V4's fields of the method speak of all matrices but the experts, whose inputs they quantise.
    if (method == "fp8" && config.text({"expert_dtype"}) == "fp4") {
        Scheme experts = mxfp4();
        experts.products = scheme.products;
        decoder.formats.set_pattern("mlp.experts", std::move(experts));
    }
    decoder.facts.weight_format = scheme.format;
    decoder.products = scheme.products;
    decoder.formats.set_scheme(std::move(scheme), std::move(kept), std::move(usual));
    decoder.weights = narrow_format(decoder.facts.weight_format, decoder.formats.scheme_bits());
    if (decoder.formats.mixed())
        weigh_schemes(decoder);
    q.report_unread(decoder.findings);
}

} // namespace archsim::checkpoint
