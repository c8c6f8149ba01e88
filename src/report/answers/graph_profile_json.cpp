#include "archsim/core/version.hpp"
#include "ask/question_json.hpp"
#include "report/answers/graph_profile.hpp"
#include "report/blocks/finding_json.hpp"
#include "report/render/json_document.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <unordered_set>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json names_of(const ShapedGraph& graph, std::span<const TensorId> ids) {
    Json names = Json::array();
    for (const TensorId id : ids)
        names.push_back(id == kNoTensor ? std::string() : graph.tensors[id].name);
    return names;
}

/// Counts are written without a fraction as long as a double holds them exactly.
Json number(double value) {
    constexpr double kExact = 9007199254740992.0; // 2^53
    return std::abs(value) < kExact && value == std::floor(value) ? Json(static_cast<std::int64_t>(value))
                                                                  : Json(value);
}

/// Adds a key that is known to be new: an ordered object would look through all it has.
void append(Json& object, std::string_view key, Json value) {
    object.get_ref<Json::object_t&>().emplace_back(key, std::move(value));
}

/// An object with room for `keys` of them: there is one per operator, and an initialiser list copies each
/// value.
Json object_of(std::size_t keys) {
    Json object = Json::object();
    object.get_ref<Json::object_t&>().reserve(keys);
    return object;
}

constexpr std::size_t kSums = 6;

/// Null where an operator among them is not understood.
void append_sums(Json& object, const ProfileSums& sums) {
    const auto known = [&](double value) { return sums.unknown > 0 ? Json(nullptr) : number(value); };
    append(object, "macs", known(sums.macs));
    append(object, "operations", known(sums.operations));
    append(object, "parameters", known(sums.parameters));
    append(object, "weight_bytes", known(sums.weight_bytes));
    append(object, "activation_bytes", known(sums.activation_bytes));
    append(object, "operations_per_byte", known(sums.intensity()));
}

Json operator_json(const ShapedGraph& graph, const OperatorProfile& item) {
    constexpr std::size_t kOwn = 7;
    Json row = object_of(kOwn + kSums);
    append(row, "name", item.op->name);
    append(row, "type", item.op->type);
    append(row, "kind", name_of(item.op->work.kind));
    append(row, "precision", declared_format(graph, *item.op));
    append_sums(row, item.sums);
    append(row, "executions", number(item.op->repeat));
    append(row, "inputs", names_of(graph, item.op->inputs));
    append(row, "outputs", names_of(graph, item.op->outputs));
    return row;
}

Json module_json(const ModuleProfile& module) {
    constexpr std::size_t kOwn = 3;
    Json row = object_of(kOwn + kSums);
    append(row, "name", module.name);
    append(row, "depth", module.depth);
    append(row, "operators", number(module.sums.operators));
    append_sums(row, module.sums);
    return row;
}

} // namespace

std::string to_json(const GraphProfile& profile, const GraphProfileView& view) {
    const ShapedGraph& graph = *profile.graph;
    const auto total = [&](double value) {
        return profile.complete || view.allow_unknown ? number(value) : Json(nullptr);
    };
    constexpr std::string_view kAsked[] = {"batch_size", "dims", "inputs", "input_shapes"};
    Json request = {{"model", profile.name}};
    request.update(question_json({profile.asked, {}}, kAsked));
    Json document = {{"schema", "archsim.profile_graph/1"},
                     {"version", version()},
                     {"request", std::move(request)},
                     {"model", profile.name},
                     {"status", profile.complete ? "ok" : "incomplete"},
                     {"dims", graph.dims}};
    document["totals"] = {{"macs", total(profile.totals.macs)},
                          {"operations", total(profile.totals.operations)},
                          {"parameters", total(graph.parameters())},
                          {"weight_bytes", total(profile.stored_weight_bytes)},
                          {"activation_bytes", total(profile.totals.activation_bytes)},
                          {"operations_per_byte", total(profile.totals.intensity())}};
    Json& operators = document["operators"] = Json::array();
    for (const OperatorProfile& item : profile.operators)
        operators.push_back(operator_json(graph, item));
    Json& precisions = document["precisions"] = Json::array();
    for (const FormatShare& share : profile.precisions)
        precisions.push_back({{"precision", share.format},
                              {"operators", number(share.operators)},
                              {"macs", total(share.macs)},
                              {"operations", total(share.operations)}});
    Json& weights = document["weight_formats"] = Json::array();
    for (const WeightShare& share : weight_mix(graph))
        weights.push_back({{"bits", share.bits}, {"parameters", total(share.parameters)}});
    Json& modules = document["modules"] = Json::array();
    for (const ModuleProfile& module : profile.modules)
        modules.push_back(module_json(module));
    Json tensors = object_of(graph.tensors.size()), types = object_of(graph.tensors.size());
    Json bounds = Json::array();
    std::unordered_set<std::string_view> seen;
    for (const ShapedTensor& tensor : graph.tensors) {
        if (!seen.insert(tensor.name).second)
            continue;
        append(tensors, tensor.name, tensor.known ? Json(tensor.shape) : Json(nullptr));
        append(types, tensor.name, name_of(tensor.type));
        if (tensor.data_dependent)
            bounds.push_back(tensor.name);
    }
    append(document, "tensors", std::move(tensors));
    append(document, "tensor_types", std::move(types));
    append(document, "data_dependent_tensors", std::move(bounds));
    document["findings"] = findings_json(graph.findings);
    return document_text(document);
}

} // namespace archsim
