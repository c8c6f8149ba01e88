#include "archsim/core/version.hpp"
#include "report/answers/batch_report.hpp"
#include "report/answers/comprehensive_report.hpp"
#include "report/blocks/decision_json.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/explanations_json.hpp"
#include "report/blocks/mapping_blocks.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/shown_metrics.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/json_document.hpp"

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json kinds_json(const std::vector<KindShare>& kinds) {
    Json list = Json::array();
    for (const KindShare& share : kinds)
        list.push_back({{"kind", share.kind == OpKind::free ? "network" : name_of(share.kind)},
                        {"subgraphs", share.subgraphs},
                        {"operations", share.operations},
                        {"memory_bytes", share.memory_bytes},
                        {"latency_s", share.latency_s},
                        {"energy_j", share.energy_j},
                        {"compute_bound", share.compute_bound},
                        {"memory_bound", share.memory_bound},
                        {"overhead_bound", share.overhead_bound}});
    return list;
}

Json energy_json(const Result& result) {
    Json list = Json::array();
    if (result.ok())
        for (const EnergyItem& item : energy_items(result))
            list.push_back({{"event", item.event},
                            {"count", item.count},
                            {"each_j", item.each_j},
                            {"energy_j", item.joules},
                            {"source", item.source}});
    return list;
}

} // namespace

std::string to_json(const ComprehensiveAnalysis& a, const ComprehensiveView&) {
    const Result& r = a.result;
    const std::vector<std::string> labels = {hardware_label(r)};
    const Json document = {
        {"schema", "archsim.analyze_comprehensive/1"},
        {"version", version()},
        {"request", request_json(r)},
        {"verdict",
         verdict_json({std::span(&r, 1), labels, usual_order(std::span(&r, 1), r.conditions.scenario),
                       a.decision.request.cost, &a.decision})},
        {"model", model_json(*r.model, r.partition.get())},
        {"result", result_json({&r, r.estimate.batch, 0}, {a.batches.metrics, a.decision.request.cost})},
        {"decision",
         a.decision.request.active() ? decision_json(a.decision, {hardware_label(r)}) : Json(nullptr)},
        {"kinds", kinds_json(a.kinds)},
        {"subgraphs", subgraphs_json(r)},
        {"energy_events", energy_json(r)},
        {"memory", memory_json(r)},
        {"batches", a.batches.series.empty() ? Json(nullptr) : Json::parse(to_json(a.batches)).at("series")},
        {"cost", cost_json(std::span(&r, 1), a.decision.request.cost)}};
    return document_text(document);
}

} // namespace archsim
