#include "answers/mapping/graph_mapping.hpp"
#include "core/lists.hpp"
#include "estimate/resource_times.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/answer_document.hpp"
#include "result/generation_metrics.hpp"

namespace archsim {

namespace {

std::vector<const ShapedTensor*> present_tensors(const ShapedGraph& graph, std::span<const TensorId> ids) {
    std::vector<const ShapedTensor*> tensors;
    for (const TensorId id : ids)
        if (id != kNoTensor)
            tensors.push_back(&graph.tensors[id]);
    return tensors;
}

Members<ShapedTensor> mapped_tensor_members() {
    using T = ShapedTensor;
    return {{"name", "", &T::name},
            {"type", "", [](const T& t) { return name_of(t.type); }},
            {"shape", "null: not known",
             [](const T& t) { return t.known ? std::optional(std::span(t.shape)) : std::nullopt; }}};
}

/// A subgraph of a result, where it runs.
struct MappedSubgraph {
    const Result* result = nullptr;
    const SubgraphEstimate* estimate = nullptr;

    const Subgraph& cut() const { return result->partition->subgraphs[estimate->index]; }
    const SubgraphWork& work() const { return result->work->subgraphs[estimate->index]; }
    const Allocation& allocation() const { return estimate->mapping.allocation; }
};

std::vector<MappedSubgraph> mapped_subgraphs(const Result& result) {
    std::vector<MappedSubgraph> list;
    if (result.ok())
        for (const SubgraphEstimate& s : result.estimate.subgraphs)
            list.push_back({&result, &s});
    return list;
}

struct JoinedOperator {
    const ShapedGraph* graph = nullptr;
    const SubgraphMember* member = nullptr;

    const Operator& op() const { return graph->operators[member->op]; }
};

std::vector<JoinedOperator> joined_operators(const MappedSubgraph& s) {
    return mapped(s.cut().members, [&](const SubgraphMember& member) {
        return JoinedOperator{s.result->model->graph.get(), &member};
    });
}

Members<JoinedOperator> joined_operator_members() {
    using J = JoinedOperator;
    return {{"name", "", [](const J& j) { return j.op().name; }},
            {"type", "", [](const J& j) { return j.op().type; }},
            {"kind", "", [](const J& j) { return name_of(j.op().work.kind); }},
            {"macs", "multiply-accumulates; 1 = 2 operations", [](const J& j) { return j.op().work.macs; }},
            {"operations", "useful operations", [](const J& j) { return j.op().work.operations(); }},
            {"inputs", "", [](const J& j) { return present_tensors(*j.graph, j.op().inputs); },
             mapped_tensor_members()},
            {"outputs", "", [](const J& j) { return present_tensors(*j.graph, j.op().outputs); },
             mapped_tensor_members()},
            {"joined_because", "why it is in this subgraph",
             [](const J& j) { return describe(j.member->reason); }}};
}

std::vector<ResourceTime> times_of(const MappedSubgraph& s) {
    return resource_times(s.estimate->mapping, *s.result->machine, s.result->estimate.clock_ratio,
                          s.cut().repeat);
}

Members<ResourceTime> resource_members() {
    using R = ResourceTime;
    return {{"resource", "", [](const R& r) { return name_of(r.resource); }},
            {"lane", "", [](const R& r) { return name_of(r.lane); }},
            {"amount", "over all repeats", &R::amount},
            {"unit", "of the amount", [](const R& r) { return unit_of(r.resource); }},
            {"rate_per_s", "at the clock of the estimate", &R::rate},
            {"efficiency", "", &R::efficiency},
            {"parameter", "where amount or efficiency comes from; null: none",
             [](const R& r) {
                 return r.reason == Parameter::count_ ? std::nullopt : std::optional(info_of(r.reason).name);
             }},
            {"time_s", "", &R::seconds}};
}

std::vector<std::pair<std::string, double>> event_energies(const MappedSubgraph& s) {
    std::vector<std::pair<std::string, double>> events;
    const EnergyBreakdown& energy = s.estimate->energy;
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (energy.joules[e] > 0)
            events.emplace_back(name_of(static_cast<Event>(e)), energy.joules[e]);
    events.emplace_back("static", energy.static_joules);
    return events;
}

Members<Allocation> allocation_members() {
    using A = Allocation;
    return {{"units_used", "", &A::units_used},
            {"units_total", "", &A::units_total},
            {"waves", "", &A::waves},
            {"tile", "m, n, k; null: no tiles",
             [](const A& a) {
                 return a.tile_m > 0 ? std::optional(std::array{a.tile_m, a.tile_n, a.tile_k}) : std::nullopt;
             }},
            {"useful_fraction", "of the tiles", &A::useful_fraction},
            {"scheme", "",
             [](const A& a) { return *a.scheme ? std::optional(std::string(a.scheme)) : std::nullopt; }}};
}

Members<MappedSubgraph> mapped_subgraph_members() {
    using S = MappedSubgraph;
    std::vector<Member<S>> lanes;
    for (std::size_t l = 0; l < kLaneCount; ++l)
        lanes.emplace_back(std::string(name_of(static_cast<Lane>(l))), "",
                           [l](const S& s) { return s.estimate->lane_s[l]; });
    return {
        {"index", "", [](const S& s) { return s.estimate->index; }},
        {"name", "", [](const S& s) { return s.cut().name; }},
        {"kind", "", [](const S& s) { return name_of(s.cut().kind); }},
        {"repeat", "executions", [](const S& s) { return s.cut().repeat; }},
        {"predecessors", "subgraphs that it reads", [](const S& s) { return s.cut().predecessors; }},
        {"operators", "", joined_operators, joined_operator_members()},
        {"precision", "format that it runs in", [](const S& s) { return name_of(s.work().precision); }},
        {"macs", "of all executions", [](const S& s) { return s.work().macs * s.work().repeat; }},
        {"operations", "useful operations of all executions",
         [](const S& s) { return s.work().operations() * s.work().repeat; }},
        {"input_bytes", "of an execution",
         [](const S& s) { return s.work().input_bytes + s.work().extra_bytes; }},
        {"output_bytes", "", [](const S& s) { return s.work().output_bytes; }},
        {"weight_bytes", "", [](const S& s) { return s.work().weight_bytes; }},
        {"unfused_bytes", "that fusion saves", [](const S& s) { return s.work().unfused_bytes; }},
        {"memory_bytes", "to and from external memory", [](const S& s) { return s.estimate->dram_bytes; }},
        {"allocation", "", [](const S& s) { return s.allocation(); }, allocation_members()},
        {"utilization", "useful operations over what the engines could do, 0 to 1",
         [](const S& s) { return s.estimate->utilization; }},
        {"latency_s", "", [](const S& s) { return s.estimate->latency_s; }},
        {"bound", "", [](const S& s) { return s.estimate->bound; }, UpTo{Bound::overhead}},
        {"binding", "resource", [](const S& s) { return name_of(s.estimate->binding); }},
        {"lane_s", "time that each lane would need alone", std::identity{}, Members<S>(std::move(lanes))},
        {"resources", "every demand", times_of, resource_members()},
        {"energy_j", "", [](const S& s) { return s.estimate->energy.total(); }},
        {"energy_events_j", "by event", event_energies}};
}

Members<Result> planned_network_members() {
    using R = Result;
    const auto plan = [](auto MemoryPlan::*number) {
        return [number](const R& r) { return r.work->memory.*number; };
    };
    return {{"weight_bytes", "", [](const R& r) { return r.work->weight_bytes; }},
            {"peak_live_bytes", "activations alive at the peak", plan(&MemoryPlan::peak_live_bytes)},
            {"arena_bytes", "activations after offset planning", plan(&MemoryPlan::arena_bytes)},
            {"kv_cache_bytes", "", plan(&MemoryPlan::kv_cache_bytes)},
            {"peak_step", "index of the subgraph at the peak", plan(&MemoryPlan::peak_step)},
            {"peak_tensors", "alive then",
             [](const R& r) { return present_tensors(*r.model->graph, r.work->memory.peak_tensors); },
             mapped_tensor_members()},
            {"live_bytes", "activations alive at each step", plan(&MemoryPlan::timeline)}};
}

/// The pass whose subgraphs are listed.
std::optional<ShownPass> pass_of(const Result& result) {
    const ShownPass pass = shown_pass(result);
    return pass.part_of_answer ? std::optional(pass) : std::nullopt;
}

AnswerDocument<Result> mapping_document() {
    using R = Result;
    return {"analyze_graph_mapping",
            "how a network runs on a device, subgraph by subgraph",
            {{"request", "what was asked", std::identity{}, request_members()},
             {"verdict", "the answer in a few lines",
              [](const R& r) {
                  const std::vector<std::string> labels = {hardware_label(r)};
                  const std::span<const R> one(&r, 1);
                  return verdict_record({one, labels, usual_order(one, r.conditions.scenario), {}});
              },
              verdict_members()},
             {"model", "",
              [](const R& r) {
                  return KnownModel{r.model.get(), r.partition.get()};
              },
              model_members()},
             {"result", "",
              [](const R& r) {
                  return RankedResult{&r, r.estimate.batch, 0};
              },
              result_members()},
             {"network_s", "time outside any subgraph",
              [](const R& r) { return known(r.ok(), r.estimate.network_s); }},
             {"pass",
              "the pass of a language model that the subgraphs belong to; null: a network without a prompt",
              pass_of,
              Members<ShownPass>{{"latency_s", "of one pass", &ShownPass::latency_s},
                                 {"energy_j", "of one pass", &ShownPass::energy_j},
                                 {"context", "tokens in the cache; null: the prompt's pass",
                                  [](auto& p) { return known(p.steps > 0, p.context); }},
                                 {"steps", "passes like it that the answer needs", &ShownPass::steps}}},
             subgraphs_member(),
             memory_plan_member()}};
}

} // namespace

Member<Result> subgraphs_member() {
    return {"subgraphs", "in the order of execution; empty without an estimate", mapped_subgraphs,
            mapped_subgraph_members()};
}

Member<Result> memory_plan_member() {
    return {"memory", "null: it was not planned", [](const Result& r) { return r.work ? &r : nullptr; },
            planned_network_members()};
}

nlohmann::ordered_json analyze_graph_mapping_schema() {
    return mapping_document().schema();
}

std::string to_json(const Result& result, const GraphMappingView&) {
    return mapping_document().text(result);
}

} // namespace archsim
