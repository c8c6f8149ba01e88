#include "report/answers/architectures_json.hpp"
#include "report/blocks/batch_blocks.hpp"
#include "report/blocks/decision_json.hpp"
#include "report/blocks/result_row.hpp"

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json hybrids_json(const ArchitectureComparison& c) {
    Json all = Json::array();
    for (const HybridPair& h : c.hybrids) {
        Json assignment = Json::array(), transfers = Json::array();
        for (std::size_t r = 0; r < h.split.regions.size(); ++r)
            assignment.push_back(
                {{"name", h.split.regions[r].name}, {"architecture", c.labels[h.split.on_b[r] ? h.b : h.a]}});
        for (const HybridTransfer& t : h.split.transfers)
            transfers.push_back({{"before", h.split.regions[t.before].name},
                                 {"bytes", t.bytes},
                                 {"seconds", t.seconds},
                                 {"joules", t.joules}});
        all.push_back({{"a", c.labels[h.a]},
                       {"b", c.labels[h.b]},
                       {"value", h.split.value},
                       {"a_value", h.split.a_value},
                       {"b_value", h.split.b_value},
                       {"wins", h.split.wins()},
                       {"transfers", transfers},
                       {"assignment", assignment}});
    }
    return all;
}

Json what_if_json(const ArchitectureComparison& c, const WhatIf& w) {
    Json results = Json::array();
    for (std::size_t i = 0; i < w.results.size(); ++i) {
        Json row = {{"architecture", c.labels[i]}};
        row.update(result_json({&w.results[i], w.results[i].estimate.batch, 0}, c.request.metric_view()));
        results.push_back(std::move(row));
    }
    return {{"changes", w.asked}, {"results", results}};
}

Json sensitivity_json(const ArchitectureComparison& c, const Sensitivity& s) {
    Json rows = Json::array();
    for (const SensitivityRow& row : s.rows)
        rows.push_back(
            {{"architecture", c.labels[row.architecture]},
             {"input", row.input},
             {"effect_down", row.effect_down},
             {"effect_up", row.effect_up},
             {"other_winner", row.other_winner ? Json(c.labels[*row.other_winner]) : Json(nullptr)}});
    return {{"variation", s.variation}, {"inputs_varied", s.varied}, {"inputs", rows}};
}

Json batch_sweep_json(const ArchitectureComparison& c, const BatchSweep& s) {
    Json architectures = Json::array(), crossovers = Json::array();
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        architectures.push_back({{"architecture", c.labels[i]},
                                 {"best_batch", best_batch_json(s.analysis.series[i])},
                                 {"results", batch_points_json(s.analysis, s.analysis.series[i])}});
    for (const Crossover& x : s.crossovers)
        crossovers.push_back({{"metric", x.metric->key},
                              {"batch_size", x.batch},
                              {"winner", c.labels[x.winner]},
                              {"loser", c.labels[x.loser]}});
    return {{"batches", s.analysis.batches}, {"architectures", architectures}, {"crossovers", crossovers}};
}

} // namespace

void add_scenarios(const ArchitectureComparison& c, Json& document) {
    document["hybrids"] = c.hybrids.empty() ? Json(nullptr) : hybrids_json(c);
    document["decision"] = c.decision ? decision_json(*c.decision, c.labels) : Json(nullptr);
    document["what_if"] = c.what_if ? what_if_json(c, *c.what_if) : Json(nullptr);
    document["sensitivity"] = c.sensitivity ? sensitivity_json(c, *c.sensitivity) : Json(nullptr);
    document["batch_sweep"] = c.batch_sweep ? batch_sweep_json(c, *c.batch_sweep) : Json(nullptr);
}

} // namespace archsim
