#include "checkpoint/model_types.hpp"

#include "checkpoint/config_parts.hpp"
#include "core/data_dir.hpp"
#include "core/json_document.hpp"
#include "core/text_file.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim::checkpoint {

const nlohmann::json& model_types() {
    static const nlohmann::json table = read_json(read_text_file(data_table("model_types.json"))).root.copy();
    return table;
}

NLOHMANN_JSON_SERIALIZE_ENUM(HeadNorm, {{HeadNorm::none, nullptr},
                                        {HeadNorm::per_head, "per_head"},
                                        {HeadNorm::whole, "whole"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Implied, type, norm, qkv_bias, output_bias, gated,
                                                always_gated, mlp_bias, tied, norms_after, sinks, expert_bias,
                                                float_router, shared_gate, output_gate, last_global,
                                                window_off, one_shared_expert, head_bias, halved_mlp,
                                                layer_norm, parallel, table_norm, sub_norms, paired_layers,
                                                token_shift, window_period, first_windowed, positions,
                                                parallel_norms)

const Implied& implied_by(std::string_view model_type, bool& known) {
    static const Implied plain;
    static const auto rows = model_types().at("rows").get<std::vector<Implied>>();
    for (const Implied& row : rows)
        if (model_type.starts_with(row.type)) {
            known = true;
            return row;
        }
    known = false;
    return plain;
}

using nlohmann::json;

/// Adds what `to_diff_dict` of transformers leaves out of a file because the class of the configuration says
/// the same. Only of classes whose files are seen without them: parts of other models.
void fill_in(json& object) {
    const auto type = object.find("model_type");
    const json& defaults = model_types().at("defaults");
    const auto row =
        type != object.end() && type->is_string() ? defaults.find(type->get<std::string>()) : defaults.end();
    if (row == defaults.end())
        return;
    for (const auto& [key, value] : row->items())
        if (!object.contains(key)) // null is a statement of its own
            object[key] = value;
}

/// Names of one author each for what all others call the second.
static void rename(json& object) {
    for (const auto& [from, name] : model_types().at("renamed").items()) {
        const auto to = name.get<std::string>();
        if (const auto it = object.find(from);
            it != object.end() && !it->is_null() && (!object.contains(to) || object[to] == *it)) {
            json value = std::move(*it);
            object.erase(it);
            object[to] = std::move(value);
        }
    }
}

/// Groups that MPT, DBRX and the first Mamba files put fields into.
static void dissolve_groups(json& object) {
    for (const char* group : {"attn_config", "ffn_config", "ssm_cfg", "attn_cfg"}) {
        const auto it = object.find(group);
        if (it == object.end() || !it->is_object())
            continue;
        const json fields = std::move(*it);
        object.erase(it);
        for (const auto& [key, value] : fields.items())
            if (!object.contains(key))
                object[key] = value;
    }
}

/// Step-3.5 states the heads of layers with a window in a group of their own, MiMo-V2 each under its name.
static void name_local_heads(json& object) {
    const auto it = object.find("attention_other_setting");
    if (it == object.end() || !it->is_object() ||
        it->value("attention_type", json()) != json("sliding_attention"))
        return;
    const json group = std::move(*it);
    object.erase(it);
    for (const auto& [from, to] : {std::pair("num_attention_heads", "swa_num_attention_heads"),
                                   std::pair("num_attention_groups", "swa_num_key_value_heads"),
                                   std::pair("head_dim", "swa_head_dim")})
        if (group.contains(from) && !object.contains(to))
            object[to] = group[from];
}

/// The first Mamba files (state-spaces/mamba) say neither their type nor most sizes of their states.
static void complete_mamba(json& object) {
    if (object.contains("model_type") || !object.contains("d_model") ||
        !object.contains("pad_vocab_size_multiple"))
        return;
    const bool second = object.value("layer", json()) == json("Mamba2");
    object["model_type"] = second ? "mamba2" : "mamba";
    if (!object.contains("tie_word_embeddings"))
        object["tie_word_embeddings"] = true;
    const json multiple = object["pad_vocab_size_multiple"], vocabulary = object.value("vocab_size", json());
    if (multiple.is_number_integer() && vocabulary.is_number_integer() && multiple > 0 &&
        multiple < kLargestCount && vocabulary < kLargestCount)
        object["vocab_size"] = (vocabulary.get<std::int64_t>() + multiple.get<std::int64_t>() - 1) /
                               multiple.get<std::int64_t>() * multiple.get<std::int64_t>();
    if (!second)
        return;
    const auto number = [&](const char* key, std::int64_t otherwise) {
        const json value = object.value(key, json(otherwise));
        constexpr std::int64_t kMost = 1'000'000; // products of two stay exact
        return value.is_number_integer() && value > 0 && value < kMost ? value.get<std::int64_t>()
                                                                       : otherwise;
    };
    constexpr std::int64_t kState = 128, kHead = 64, kExpand = 2; // defaults of its class Mamba2
    object["state_size"] = number("d_state", kState);
    object["head_dim"] = number("headdim", kHead);
    object["n_groups"] = number("ngroups", 1);
    object["num_heads"] = number("d_model", 1) * number("expand", kExpand) /
                          std::max<std::int64_t>(1, number("headdim", kHead));
}

/// OpenELM (arXiv:2404.14619, section 2.1) widens layer by layer: multipliers of the width of the model,
/// rounded to a divisor.
static void widen_layers(json& object) {
    const auto multipliers = object.find("ffn_multipliers");
    if (multipliers == object.end() || !multipliers->is_array() || !object.contains("hidden_size") ||
        !object["hidden_size"].is_number())
        return;
    const json divided = object.value("ffn_dim_divisor", json());
    const double divisor = divided.is_number() ? std::clamp(divided.get<double>(), 1.0, kLargestCount) : 1;
    json widths = json::array();
    for (const json& m : *multipliers) {
        const double wanted =
            m.is_number() ? std::min(kLargestCount, m.get<double>() * object["hidden_size"].get<double>())
                          : 0;
        double width = std::max(divisor, std::floor((wanted + divisor / 2) / divisor) * divisor);
        constexpr double kLeast = 0.9; // of what was wanted
        width += width < kLeast * wanted ? divisor : 0;
        widths.push_back(static_cast<std::int64_t>(width));
    }
    object.erase(multipliers);
    object.erase("ffn_dim_divisor");
    object["intermediate_size"] = std::move(widths);
}

static bool all_counts(const json& list) {
    return std::ranges::all_of(
        list, [](const json& item) { return item.is_number_integer() && item.get<double>() >= 0; });
}

/// A list with the kind of every layer says how many there are (Nemotron-H of transformers 5).
static void count_layers(json& object) {
    for (const char* key : {"num_hidden_layers", "n_layer", "n_layers", "num_layers"})
        if (object.contains(key))
            return;
    for (const char* key : {"layers_block_type", "layer_types"})
        if (const auto kinds = object.find(key); kinds != object.end() && kinds->is_array()) {
            object["num_hidden_layers"] = kinds->size();
            return;
        }
}

/// Fields that some authors state per layer.
constexpr std::array kListed = {"intermediate_size",   "num_attention_heads",
                                "num_key_value_heads", "num_kv_heads",
                                "num_experts",         "moe_intermediate_size",
                                "moe_num_experts",     "moe_topk",
                                "num_shared_expert",   "head_dim"};

static void shorten_lists(json& object, const std::string& file, std::vector<Finding>& findings) {
    // Laguna states the number of most layers too.
    if (const auto heads = object.find("num_attention_heads_per_layer");
        heads != object.end() && heads->is_array()) {
        json list = std::move(*heads);
        object.erase(heads);
        object["num_attention_heads"] = std::move(list);
    }
    std::size_t layers = 0;
    for (const char* key : {"num_hidden_layers", "num_layers", "n_layer"})
        if (layers == 0 && object.contains(key) && object[key].is_number_unsigned())
            layers = object[key].get<std::size_t>();
    for (const char* key : kListed) {
        const auto it = object.find(key);
        if (it == object.end() || !it->is_array() || it->empty() || !all_counts(*it))
            continue;
        const json list = *it;
        const bool equal = std::ranges::all_of(list, [&](const json& x) { return x == list[0]; });
        *it = equal || list.size() != layers ? list[0] : *std::ranges::max_element(list);
        if (list.size() == layers && !equal)
            object[std::string(key) + std::string(kPerLayer)] = list;
        else if (list.size() != layers)
            findings.push_back(
                found(FindingKind::unknown_key, Severity::warning, file, key,
                      fmt::format("lists {} numbers for {} layers; the first counts", list.size(), layers),
                      "hold the parameters against the published count"));
    }
}

json in_one_form(const json& text, const std::string& file, std::vector<Finding>& findings) {
    json object = text;
    dissolve_groups(object);
    name_local_heads(object);
    rename(object);
    complete_mamba(object);
    widen_layers(object);
    fill_in(object);
    count_layers(object);
    shorten_lists(object, file, findings);
    return object;
}

} // namespace archsim::checkpoint
