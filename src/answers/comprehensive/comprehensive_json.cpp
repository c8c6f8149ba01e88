#include "answers/batch/batch_report.hpp"
#include "answers/comprehensive/comprehensive.hpp"
#include "answers/mapping/graph_mapping.hpp"
#include "report/blocks/decision_report.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/answer_document.hpp"

namespace archsim {

namespace {

Members<KindShare> kind_share_members() {
    using K = KindShare;
    return {{"kind", "of operators; network: fixed costs of none",
             [](const K& k) { return k.kind == OpKind::free ? "network" : name_of(k.kind); }},
            {"subgraphs", "", &K::subgraphs},
            {"operations", "useful operations", &K::operations},
            {"memory_bytes", "to and from external memory", &K::memory_bytes},
            {"latency_s", "", &K::latency_s},
            {"energy_j", "", &K::energy_j},
            {"compute_bound", "subgraphs", &K::compute_bound},
            {"memory_bound", "subgraphs", &K::memory_bound},
            {"overhead_bound", "subgraphs", &K::overhead_bound}};
}

Members<EnergyItem> energy_event_members() {
    using I = EnergyItem;
    return {{"event", "", &I::event},
            {"count", "of the batch; seconds of static power", &I::count},
            {"each_j", "at the voltage of the clock; watts of static power", &I::each_j},
            {"energy_j", "", &I::joules},
            {"source", "of the price, and how it was derived", &I::source}};
}

AnswerDocument<ComprehensiveAnalysis> comprehensive_document(const MetricView& view) {
    using A = ComprehensiveAnalysis;
    const auto result = [](const A& a) { return a.result; };
    return {
        "analyze_comprehensive", "everything about one model on one device",
        Members<A>{{"request", "what was asked", result, request_members()},
                   {"verdict", "the answer in a few lines",
                    [](const A& a) {
                        const std::vector<std::string> labels = {hardware_label(a.result)};
                        const std::span<const Result> one(&a.result, 1);
                        return verdict_record({one, labels, usual_order(one, a.result.conditions.scenario),
                                               a.decision.request.cost, &a.decision});
                    },
                    verdict_members()},
                   {"model", "",
                    [](const A& a) {
                        return KnownModel{a.result.model.get(), a.result.partition.get()};
                    },
                    model_members()},
                   {"result", "",
                    [](const A& a) {
                        return RankedResult{&a.result, a.result.estimate.batch, 0};
                    },
                    result_members(view)},
                   {"decision", "null: no limit was asked for",
                    [](const A& a) {
                        return a.decision.request.active()
                                   ? std::optional(LabelledDecision{&a.decision, {hardware_label(a.result)}})
                                   : std::nullopt;
                    },
                    decision_members()},
                   {"kinds", "operators by kind, largest time first", &A::kinds, kind_share_members()}}
            .with(Members<Result>{
                subgraphs_member(),
                {"energy_events", "largest first; they add up to the energy of the batch",
                 [](const Result& r) { return r.ok() ? energy_items(r) : std::vector<EnergyItem>{}; },
                 energy_event_members()},
                memory_plan_member()}
                      .of<A>(std::mem_fn(&A::result)))
            .with({{"batches", "null: not asked for",
                    [](const A& a) { return a.batches.series.empty() ? nullptr : &a.batches.series; },
                    Members<BatchSeries>{{"hardware", "as asked", &BatchSeries::hardware}}.with(
                        batch_series_members(view, "points"))},
                   {"cost", "",
                    [](const A& a) {
                        Explanations asked;
                        asked.conditions = a.decision.request.cost;
                        return Explained{std::span(&a.result, 1), asked};
                    },
                    cost_members()}})};
}

} // namespace

nlohmann::ordered_json analyze_comprehensive_schema() {
    return comprehensive_document({}).schema();
}

std::string to_json(const ComprehensiveAnalysis& a, const ComprehensiveView&) {
    return comprehensive_document({a.batches.metrics, a.decision.request.cost}).text(a);
}

} // namespace archsim
