#include "archsim/core/version.hpp"
#include "compare/shown_pass.hpp"
#include "estimate/resource_times.hpp"
#include "report/answers/graph_mapping.hpp"
#include "report/blocks/mapping_blocks.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shown_metrics.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/json_document.hpp"

#include <span>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json tensors_json(const ShapedGraph& graph, std::span<const TensorId> ids) {
    Json list = Json::array();
    for (const TensorId id : ids) {
        if (id == kNoTensor)
            continue;
        const ShapedTensor& tensor = graph.tensors[id];
        list.push_back({{"name", tensor.name},
                        {"type", name_of(tensor.type)},
                        {"shape", tensor.known ? Json(tensor.shape) : Json(nullptr)}});
    }
    return list;
}

Json operators_json(const ShapedGraph& graph, const Subgraph& subgraph) {
    Json list = Json::array();
    for (const SubgraphMember& member : subgraph.members) {
        const Operator& op = graph.operators[member.op];
        list.push_back({{"name", op.name},
                        {"type", op.type},
                        {"kind", name_of(op.work.kind)},
                        {"macs", op.work.macs},
                        {"operations", op.work.operations()},
                        {"inputs", tensors_json(graph, op.inputs)},
                        {"outputs", tensors_json(graph, op.outputs)},
                        {"joined_because", describe(member.reason)}});
    }
    return list;
}

Json resources_json(const Result& result, const SubgraphEstimate& s, double repeat) {
    Json list = Json::array();
    for (const ResourceTime& time :
         resource_times(s.mapping, *result.machine, result.estimate.clock_ratio, repeat))
        list.push_back({{"resource", name_of(time.resource)},
                        {"lane", name_of(time.lane)},
                        {"amount", time.amount},
                        {"unit", unit_of(time.resource)},
                        {"rate_per_s", time.rate},
                        {"efficiency", time.efficiency},
                        {"parameter",
                         time.reason == Parameter::count_ ? Json(nullptr) : Json(info_of(time.reason).name)},
                        {"time_s", time.seconds}});
    return list;
}

Json energy_json(const EnergyBreakdown& energy) {
    Json events = Json::object();
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (energy.joules[e] > 0)
            events[std::string(name_of(static_cast<Event>(e)))] = energy.joules[e];
    events["static"] = energy.static_joules;
    return events;
}

Json allocation_json(const Allocation& a) {
    return {{"units_used", a.units_used},
            {"units_total", a.units_total},
            {"waves", a.waves},
            {"tile", a.tile_m > 0 ? Json{a.tile_m, a.tile_n, a.tile_k} : Json(nullptr)},
            {"useful_fraction", a.useful_fraction},
            {"scheme", *a.scheme ? Json(a.scheme) : Json(nullptr)}};
}

Json subgraph_json(const Result& result, const SubgraphEstimate& s) {
    const Subgraph& subgraph = result.partition->subgraphs[s.index];
    const SubgraphWork& work = result.work->subgraphs[s.index];
    Json lanes = Json::object();
    for (std::size_t l = 0; l < kLaneCount; ++l)
        lanes[std::string(name_of(static_cast<Lane>(l)))] = s.lane_s[l];
    return {{"index", s.index},
            {"name", subgraph.name},
            {"kind", name_of(subgraph.kind)},
            {"repeat", subgraph.repeat},
            {"predecessors", subgraph.predecessors},
            {"operators", operators_json(*result.model->graph, subgraph)},
            {"precision", name_of(work.precision)},
            {"macs", work.macs * work.repeat},
            {"operations", work.operations() * work.repeat},
            {"input_bytes", work.input_bytes + work.extra_bytes},
            {"output_bytes", work.output_bytes},
            {"weight_bytes", work.weight_bytes},
            {"unfused_bytes", work.unfused_bytes},
            {"memory_bytes", s.dram_bytes},
            {"allocation", allocation_json(s.mapping.allocation)},
            {"utilization", s.utilization},
            {"latency_s", s.latency_s},
            {"bound", name_of(s.bound)},
            {"binding", name_of(s.binding)},
            {"lane_s", lanes},
            {"resources", resources_json(result, s, subgraph.repeat)},
            {"energy_j", s.energy.total()},
            {"energy_events_j", energy_json(s.energy)}};
}

} // namespace

Json subgraphs_json(const Result& result) {
    Json list = Json::array();
    if (result.ok())
        for (const SubgraphEstimate& s : result.estimate.subgraphs)
            list.push_back(subgraph_json(result, s));
    return list;
}

Json memory_json(const Result& result) {
    if (!result.work)
        return nullptr;
    const MemoryPlan& plan = result.work->memory;
    return {{"weight_bytes", result.work->weight_bytes},
            {"peak_live_bytes", plan.peak_live_bytes},
            {"arena_bytes", plan.arena_bytes},
            {"kv_cache_bytes", plan.kv_cache_bytes},
            {"peak_step", plan.peak_step},
            {"peak_tensors", tensors_json(*result.model->graph, plan.peak_tensors)},
            {"live_bytes", plan.timeline}};
}

namespace {

/// Of the subgraphs listed: {"latency_s", "energy_j", "context", "steps"}; context null for a prompt's pass;
/// null where the model has one pass.
Json pass_json(const Result& result) {
    const ShownPass pass = shown_pass(result);
    if (!pass.part_of_answer)
        return nullptr;
    return {{"latency_s", pass.latency_s},
            {"energy_j", pass.energy_j},
            {"context", pass.steps > 0 ? Json(pass.context) : Json(nullptr)},
            {"steps", pass.steps}};
}

} // namespace

std::string to_json(const Result& result, const GraphMappingView&) {
    const std::vector<std::string> labels = {hardware_label(result)};
    const Json document = {
        {"schema", "archsim.analyze_graph_mapping/1"},
        {"version", version()},
        {"request", request_json(result)},
        {"verdict", verdict_json({std::span(&result, 1),
                                  labels,
                                  usual_order(std::span(&result, 1), result.conditions.scenario),
                                  {}})},
        {"model", model_json(*result.model, result.partition.get())},
        {"result", result_json({&result, result.estimate.batch, 0})},
        {"network_s", result.ok() ? Json(result.estimate.network_s) : Json(nullptr)},
        {"pass", pass_json(result)},
        {"subgraphs", subgraphs_json(result)},
        {"memory", memory_json(result)}};
    return document_text(document);
}

} // namespace archsim
