#include "answers/mapping/graph_mapping.hpp"
#include "archsim/core/version.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "estimate/resource_times.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shape_text.hpp"
#include "report/blocks/subgraph_table.hpp"
#include "report/blocks/verdict.hpp"
#include "result/common_regions.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/ranges.h>

namespace archsim {

static std::vector<const ShapedTensor*> present_tensors(const ShapedGraph& graph,
                                                        std::span<const TensorId> ids) {
    return mapped(kept(ids, [](TensorId id) { return id != kNoTensor; }),
                  [&](TensorId id) { return &graph.tensors[id]; });
}

static Members<ShapedTensor> mapped_tensor_members() {
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

static std::vector<MappedSubgraph> mapped_subgraphs(const Result& result) {
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

static std::vector<JoinedOperator> joined_operators(const MappedSubgraph& s) {
    return mapped(s.cut().members, [&](const SubgraphMember& member) {
        return JoinedOperator{s.result->model->graph.get(), &member};
    });
}

static Members<JoinedOperator> joined_operator_members() {
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

static std::vector<ResourceTime> times_of(const MappedSubgraph& s) {
    return resource_times(s.estimate->mapping, *s.result->machine, s.result->estimate.clock_ratio,
                          s.cut().repeat);
}

static Members<ResourceTime> resource_members() {
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

static std::vector<std::pair<std::string, double>> event_energies(const MappedSubgraph& s) {
    std::vector<std::pair<std::string, double>> events;
    const EnergyBreakdown& energy = s.estimate->energy;
    for (std::size_t e = 0; e < kEventCount; ++e)
        if (energy.joules[e] > 0)
            events.emplace_back(name_of(static_cast<Event>(e)), energy.joules[e]);
    events.emplace_back("static", energy.static_joules);
    return events;
}

static Members<Allocation> allocation_members() {
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

static Members<MappedSubgraph> mapped_subgraph_members() {
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

static Members<Result> planned_network_members() {
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
static std::optional<ShownPass> pass_of(const Result& result) {
    const ShownPass pass = shown_pass(result);
    return pass.part_of_answer ? std::optional(pass) : std::nullopt;
}

/// Fills that stay apart for colour-blind readers and in grey: light versions of Okabe and Ito's palette.
static std::string_view fill_of(Bound bound) {
    return bound == Bound::compute ? "#fde3b0" : bound == Bound::memory ? "#cfe4f3" : "#e6e6e6";
}

struct Box {
    std::vector<std::string> lines;
    Bound bound = Bound::compute;
};

static Box box_of(const Result& result, std::size_t index) {
    const Subgraph& subgraph = result.partition->subgraphs[index];
    const ShapedGraph& graph = *result.model->graph;
    Box box;
    const std::string operators = joined(
        subgraph.members,
        [&](const SubgraphMember& member) {
            const Operator& op = graph.operators[member.op];
            return op.work.kind != OpKind::free ? op.type : std::string();
        },
        " + ");
    box.lines = {fmt::format("{}: {}", index, subgraph.name), operators};
    if (!subgraph.outputs.empty())
        box.lines.push_back(shapes_text(graph, subgraph.outputs));
    if (index < result.estimate.subgraphs.size()) {
        const SubgraphEstimate& s = result.estimate.subgraphs[index];
        box.bound = s.bound;
        box.lines.push_back(fmt::format("{}, {} bound", format_time(s.latency_s), name_of(s.bound)));
    }
    return box;
}

/// `text` with every character of `special` replaced by what `replace` makes of it.
template <typename Replace>
static std::string mapped(std::string_view text, Replace replace) {
    std::string out;
    for (const char c : one_line(std::string(text)))
        out += replace(c);
    return out;
}

static std::string quoted_for_dot(std::string_view text) {
    return mapped(text, [](char c) {
        return c == '"' || c == '\\' ? std::string{'\\', c} : std::string(1, c);
    });
}

/// Mermaid reads HTML entities inside quotes; everything else that it could take as syntax goes through them.
static std::string quoted_for_mermaid(std::string_view text) {
    return mapped(text, [](char c) {
        return c == '"' || c == '#' || c == '<' || c == '>' || c == '`'
                   ? fmt::format("#{};", static_cast<int>(c))
                   : std::string(1, c);
    });
}

/// A line for each subgraph, `node` behind its name, and one for each edge.
template <class Node>
static std::string nodes_and_edges(const Result& result, std::string (*quoted)(std::string_view),
                                   std::string_view line_break, std::string_view arrow, std::string_view end,
                                   Node node) {
    std::string nodes, edges;
    for (std::size_t i = 0; i < result.partition->subgraphs.size(); ++i) {
        const Box box = box_of(result, i);
        const std::string text = fmt::format("{}", fmt::join(archsim::mapped(box.lines, quoted), line_break));
        nodes += fmt::format("  s{}{}{}\n", i, node(box.bound, text), end);
        for (const std::uint32_t before : result.partition->subgraphs[i].predecessors)
            edges += fmt::format("  s{} {} s{}{}\n", before, arrow, i, end);
    }
    return nodes + edges;
}

using Json = nlohmann::ordered_json;

constexpr double kMicro = 1e6; ///< node data count in microseconds
constexpr double kNano = 1e9, kNanoPerMicro = 1e3;

static bool has_work(const Operator& op) {
    return !op.folded && op.work.kind != OpKind::free;
}

/// Threads of a trace, in the order they are shown.
enum class Track : int { schedule = 1, fixed_cost, compute, on_chip, memory };
constexpr std::array<std::string_view, 5> kTracks = {"schedule", "fixed cost", "compute", "on-chip data",
                                                     "external memory"};

class EventTrace {
  public:
    void name_process(int chip, const std::string& name) {
        add_name("process_name", chip, 0, name);
        for (std::size_t t = 0; t < kTracks.size(); ++t)
            add_name("thread_name", chip, static_cast<int>(t) + 1, std::string(kTracks[t]));
    }
    /// Viewers count in nanoseconds and drop slices of a thread that neither follow each other nor nest: both
    /// ends are rounded, so that what touches before does so after. Events state microseconds.
    void add(int chip, Track track, const std::string& name, double start, double end,
             Json args = Json::object()) {
        const double from = std::round(start * kNano), to = std::round(end * kNano);
        if (!(to > from))
            return;
        events_.push_back({{"name", name},
                           {"ph", "X"},
                           {"ts", from / kNanoPerMicro},
                           {"dur", (to - from) / kNanoPerMicro},
                           {"pid", chip},
                           {"tid", static_cast<int>(track)},
                           {"args", std::move(args)}});
    }
    Json take() { return std::move(events_); }

  private:
    void add_name(const char* what, int chip, int thread, const std::string& name) {
        events_.push_back(
            {{"name", what}, {"ph", "M"}, {"pid", chip}, {"tid", thread}, {"args", {{"name", name}}}});
    }
    Json events_ = Json::array();
};

static Json kernel_arguments(const SubgraphEstimate& s, const Result& leaf) {
    const Subgraph& subgraph = leaf.partition->subgraphs[s.index];
    return {{"kind", name_of(subgraph.kind)},
            {"bound", name_of(s.bound)},
            {"binding", name_of(s.binding)},
            {"utilization", s.utilization},
            {"dram_bytes", s.dram_bytes},
            {"energy_j", std::isfinite(s.energy.total()) ? Json(s.energy.total()) : Json(nullptr)},
            {"operators", subgraph.members.size()},
            {"scheme", s.mapping.allocation.scheme}};
}

/// One execution of a graph from `start` on.
static void add_graph(const Result& leaf, int chip, double start, EventTrace& trace) {
    const Estimate& e = leaf.estimate;
    double at = start;
    const double network = std::max(0.0, e.network_s);
    trace.add(chip, Track::schedule, "fixed cost of the inference", at, at + network);
    trace.add(chip, Track::fixed_cost, "fixed cost of the inference", at, at + network);
    at += network;
    for (const SubgraphEstimate& s : e.subgraphs) {
        const std::string& name = leaf.partition->subgraphs[s.index].name;
        const double end = at + s.latency_s;
        trace.add(chip, Track::schedule, name, at, end, kernel_arguments(s, leaf));
        const auto lane = [&](Lane l) { return s.lane_s[static_cast<std::size_t>(l)]; };
        const double started = std::min(at + lane(Lane::overhead), end);
        trace.add(chip, Track::fixed_cost, name, at, started);
        // Lanes overlap imperfectly: each is as long as alone, and none outlasts its kernel.
        for (const auto& [track, l] : {std::pair(Track::compute, Lane::compute),
                                       {Track::on_chip, Lane::on_chip},
                                       {Track::memory, Lane::memory}})
            trace.add(chip, track, name, started, std::min(started + lane(l), end));
        at = end;
    }
    const double all = shown_pass(leaf).latency_s, rest = start + all - at;
    if (rest > 1e-9 * all)
        trace.add(chip, Track::schedule, "weights that stream longer than kernels run", at, at + rest);
}

Members<Result> one_result_members(const MetricView& view) {
    using R = Result;
    return {{"request", "what was asked", std::identity{}, request_members()},
            {"model", "",
             [](const R& r) {
                 return KnownModel{r.model.get(), r.partition.get()};
             },
             model_members()},
            {"result", "",
             [](const R& r) {
                 return RankedResult{&r, r.estimate.batch, 0};
             },
             result_members(view)}};
}

Member<Result> subgraphs_member() {
    return {"subgraphs", "in the order of execution; empty without an estimate", mapped_subgraphs,
            mapped_subgraph_members()};
}

Member<Result> memory_plan_member() {
    return {"memory", "null: it was not planned", [](const Result& r) { return r.work ? &r : nullptr; },
            planned_network_members()};
}

AnswerDocument document_of(const Result& result, const GraphMappingView&) {
    using R = Result;
    return {
        result, "analyze_graph_mapping", "how a network runs on a device, subgraph by subgraph",
        one_result_members({}).with(
            {{"verdict", "the answer in a few lines",
              [](const R& r) {
                  const std::vector<std::string> labels = {hardware_label(r)};
                  const std::span<const R> one(&r, 1);
                  return verdict_record({one, labels, usual_order(one, r.conditions), {}});
              },
              verdict_members()},
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
             memory_plan_member()})};
}

std::string mapping_to_dot(const Result& result) {
    std::string out = fmt::format("digraph \"{} on {}\" {{\n  rankdir=TB;\n"
                                  "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n",
                                  quoted_for_dot(result.model->name), quoted_for_dot(hardware_label(result)));
    out += nodes_and_edges(result, quoted_for_dot, "\\n", "->", ";", [](Bound bound, std::string_view text) {
        return fmt::format(" [label=\"{}\", fillcolor=\"{}\"]", text, fill_of(bound));
    });
    return out + "}\n";
}

std::string mapping_to_mermaid(const Result& result) {
    std::string out = "flowchart TD\n";
    for (const Bound bound : {Bound::compute, Bound::memory, Bound::overhead})
        out += fmt::format("  classDef {} fill:{},color:#000\n", name_of(bound), fill_of(bound));
    return out + nodes_and_edges(result, quoted_for_mermaid, "<br/>", "-->", "",
                                 [](Bound bound, std::string_view text) {
                                     return fmt::format("[\"{}\"]:::{}", text, name_of(bound));
                                 });
}

Annotations annotations_of(const Result& result) {
    Annotations annotations;
    auto& notes = annotations.notes;
    for (const ResultLeaf& leaf : leaves_of(result)) {
        const Result& r = *leaf.result;
        const ShapedGraph& graph = *r.model->graph;
        for (TensorId id : graph.outputs)
            if (const ShapedTensor& tensor = graph.tensors[id]; tensor.known)
                annotations.outputs[tensor.name] = {tensor.type, tensor.shape};
        for (const SubgraphEstimate& s : r.estimate.subgraphs) {
            const Subgraph& subgraph = r.partition->subgraphs[s.index];
            for (const SubgraphMember& member : subgraph.members) {
                const Operator& op = graph.operators[member.op];
                if (op.outputs.empty() || op.outputs.front() == kNoTensor)
                    continue;
                NodeNotes& own = notes[graph.tensors[op.outputs.front()].name];
                own.emplace_back("archsim.subgraph", fmt::format("{}: {}", s.index, subgraph.name));
                own.emplace_back("archsim.fusion", std::string(describe(member.reason)));
                if (has_work(op))
                    own.emplace_back("archsim.operations", format_count(op.work.operations() * op.repeat));
                if (member.op != subgraph.anchor)
                    continue;
                own.emplace_back("archsim.time", format_time(s.latency_s));
                own.emplace_back("archsim.time_s", fmt::format("{:.6g}", s.latency_s));
                own.emplace_back("archsim.share", format_percent(s.latency_s / r.estimate.latency_s));
                if (std::isfinite(s.energy.total()))
                    own.emplace_back("archsim.energy", format_energy(s.energy.total()));
                own.emplace_back("archsim.bound",
                                 fmt::format("{} ({})", name_of(s.bound), name_of(s.binding)));
                own.emplace_back("archsim.peak_share", format_percent(s.utilization));
                own.emplace_back("archsim.memory", format_bytes(s.dram_bytes));
            }
        }
    }
    return annotations;
}

std::string to_model_explorer(const Result& result) {
    Json results = Json::object();
    for (const ResultLeaf& leaf : leaves_of(result)) {
        const Result& r = *leaf.result;
        for (const SubgraphEstimate& s : r.estimate.subgraphs)
            results[r.model->graph->operators[r.partition->subgraphs[s.index].anchor].name] = {
                {"value", s.latency_s * kMicro}};
    }
    const Json gradient =
        Json::array({{{"stop", 0}, {"bgColor", "#ffffff"}}, {{"stop", 1}, {"bgColor", "#d95f02"}}});
    return document_text({{"main_graph", {{"results", std::move(results)}, {"gradient", gradient}}}});
}

std::string to_trace(const Result& result) {
    EventTrace trace;
    const int devices = std::max(1, static_cast<int>(result.devices()));
    for (int chip = 1; chip <= devices; ++chip) {
        trace.name_process(chip, devices == 1 ? hardware_label(result)
                                              : fmt::format("{}, chip {}", hardware_label(result), chip));
        double at = 0;
        for (const ResultLeaf& leaf : leaves_of(result)) {
            const double seconds = leaf.repeat * shown_pass(*leaf.result).latency_s;
            if (leaf.repeat != 1) // all of them as one slice, the first in detail
                trace.add(chip, Track::schedule,
                          fmt::format("{:g} x {}", leaf.repeat, leaf.result->model->name), at, at + seconds);
            add_graph(*leaf.result, chip, at, trace);
            at += seconds;
        }
    }
    return document_text({{"displayTimeUnit", "ns"},
                          {"otherData",
                           {{"model", result.model->name},
                            {"hardware", hardware_label(result)},
                            {"runtime", runtime_label(result)},
                            {"precision", precision_label(result)},
                            {"latency_s", shown_pass(result).latency_s},
                            {"pass", pass_text(result)},
                            {"made_by", fmt::format("libarchsim {}", version())}}},
                          {"traceEvents", trace.take()}});
}

} // namespace archsim
