#include "archsim/core/version.hpp"
#include "archsim/report/graph_profile.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_set>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json names_of(const ShapedGraph& graph, const std::vector<TensorId>& ids) {
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
void append(Json& object, const std::string& key, Json value) {
    object.get_ref<Json::object_t&>().emplace_back(key, std::move(value));
}

/// Null where an operator among them is not understood.
Json sums_json(const ProfileSums& sums) {
    const auto known = [&](double value) { return sums.unknown > 0 ? Json(nullptr) : number(value); };
    return {{"macs", known(sums.macs)},
            {"operations", known(sums.operations)},
            {"parameters", known(sums.parameters)},
            {"weight_bytes", known(sums.weight_bytes)},
            {"activation_bytes", known(sums.activation_bytes)},
            {"operations_per_byte", known(sums.intensity())}};
}

Json finding_json(const Finding& finding) {
    return {{"kind", name_of(finding.kind)}, {"severity", name_of(finding.severity)},
            {"message", finding.message},    {"where", finding.where},
            {"mend", finding.mend},          {"op_type", finding.op_type},
            {"domain", finding.domain},      {"opset", finding.opset}};
}

} // namespace

std::string to_json(const GraphProfile& profile, bool allow_unknown) {
    const ShapedGraph& graph = *profile.graph;
    const auto total = [&](double value) {
        return profile.complete || allow_unknown ? number(value) : Json(nullptr);
    };
    Json document = {{"schema", "archsim.profile_graph/1"},
                     {"version", version()},
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
    for (const OperatorProfile& item : profile.operators) {
        Json row = {{"name", item.op->name}, {"type", item.op->type}, {"kind", name_of(item.op->work.kind)}};
        row["precision"] = declared_format(graph, *item.op);
        row.update(sums_json(item.sums));
        row["executions"] = number(item.op->repeat);
        row["inputs"] = names_of(graph, item.op->inputs);
        row["outputs"] = names_of(graph, item.op->outputs);
        operators.push_back(std::move(row));
    }
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
    for (const ModuleProfile& module : profile.modules) {
        Json row = {
            {"name", module.name}, {"depth", module.depth}, {"operators", number(module.sums.operators)}};
        row.update(sums_json(module.sums));
        modules.push_back(std::move(row));
    }
    Json& tensors = document["tensors"] = Json::object();
    Json& types = document["tensor_types"] = Json::object();
    Json& bounds = document["data_dependent_tensors"] = Json::array();
    std::unordered_set<std::string_view> seen;
    for (const ShapedTensor& tensor : graph.tensors) {
        if (!seen.insert(tensor.name).second)
            continue;
        append(tensors, tensor.name, tensor.known ? Json(tensor.shape) : Json(nullptr));
        append(types, tensor.name, name_of(tensor.type));
        if (tensor.data_dependent)
            bounds.push_back(tensor.name);
    }
    Json& findings = document["findings"] = Json::array();
    for (const Finding& finding : graph.findings)
        findings.push_back(finding_json(finding));
    return document.dump(2) + "\n";
}

} // namespace archsim
