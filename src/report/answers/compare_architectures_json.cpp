#include "report/answers/compare_architectures_report.hpp"

#include "archsim/core/version.hpp"
#include "ask/question_json.hpp"
#include "report/answers/architectures.hpp"
#include "report/answers/architectures_json.hpp"
#include "report/answers/explanation_text.hpp"
#include "report/blocks/explanations_json.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/json_document.hpp"

#include <cmath>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json optional_text(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json request_json(const ArchitectureComparison& c) {
    const CompareArchitecturesRequest& q = c.request;
    Json request = {{"model", q.model},
                    {"architectures", q.architectures},
                    {"level", name_of(q.level)},
                    {"architecture", optional_text(q.architecture)},
                    {"explain_difference", q.explain},
                    {"metric", q.metric->key},
                    {"baseline", optional_text(q.baseline)}};
    request.update(question_json(asked_question(c)));
    return request;
}

Json recommendations_json(const ArchitectureComparison& c) {
    Json all = Json::object();
    for (const Metric* metric : c.request.metrics->rows()) {
        const auto winner = find_winner(c.results, *metric, c.request.decision.cost);
        Json tied = Json::array();
        if (winner)
            for (std::size_t i : winner->tied)
                tied.push_back(c.labels[i]);
        all[metric->key] =
            winner
                ? Json{{"architecture", c.labels[winner->best]},
                       {"value", *value_of(c.results[winner->best], *metric, c.request.decision.cost)},
                       {"unit", metric->unit},
                       {"tied", tied},
                       {"measured", !c.results[winner->best].estimate.projected},
                       {"projected", winner->projected ? Json(c.labels[*winner->projected]) : Json(nullptr)}}
                : Json(nullptr);
    }
    return all;
}

Json subgraphs_json(const ArchitectureComparison& c) {
    Json all = Json::array();
    for (std::size_t r = 0; r < c.regions.size(); ++r) {
        const CommonRegion& region = c.regions[r];
        const RegionWinner winner = region_winner(c, region);
        Json row = {
            {"id", r},
            {"name", region.name},
            {"kind", name_of(region.kind)},
            {"operations", region.operations},
            {"winner", c.results[c.compared[winner.best]].estimate.projected
                           ? Json(nullptr)
                           : Json(c.labels[c.compared[winner.best]])},
            {"projected", winner.projected ? Json(c.labels[c.compared[*winner.projected]]) : Json(nullptr)},
            {"margin", winner.margin > 0 ? Json(winner.margin) : Json(nullptr)},
            {"architectures", Json::array()}};
        for (std::size_t i = 0; i < c.compared.size(); ++i) {
            const RegionCost cost = cost_of(region, i, c.results[c.compared[i]]);
            row["architectures"].push_back({{"architecture", c.labels[c.compared[i]]},
                                            {"latency_s", cost.latency_s},
                                            {"energy_j", cost.energy_j},
                                            {"dram_bytes", cost.dram_bytes},
                                            {"subgraphs", region.subgraphs[i].size()},
                                            {"bound", name_of(cost.bound)}});
        }
        all.push_back(std::move(row));
    }
    return all;
}

Json number(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json sources_json(const FactorInput& input) {
    Json all = Json::array();
    for (const FactorSource& s : input.sources)
        all.push_back({{"name", s.name},
                       {"value", number(s.fact.value)},
                       {"kind", name_of(s.fact.source->kind)},
                       {"source", s.fact.source->cite}});
    return all;
}

Json contributions_json(const Attribution& x, const std::string& a, const std::string& b) {
    Json all = Json::array();
    for (const Contribution& p : x.contributions)
        all.push_back({{"factor", info_of(p.factor).name},
                       {"title", info_of(p.factor).title},
                       {"value", p.value},
                       {"a_input", number(p.a.value)},
                       {"b_input", number(p.b.value)},
                       {"input_unit", info_of(p.factor).unit},
                       {"sources", {{"a", sources_json(p.a)}, {"b", sources_json(p.b)}}},
                       {"sentence", contribution_sentence(p, *x.metric, a, b)}});
    return all;
}

Json region_contributions_json(const Attribution& x) {
    Json all = Json::array();
    for (const RegionContribution& r : x.region_contributions)
        all.push_back({{"name", r.region ? Json(x.regions[*r.region].name) : Json(nullptr)},
                       {"value", r.value},
                       {"main_factor", info_of(r.main).name},
                       {"main_value", r.main_value},
                       {"a_bound", r.region ? Json(name_of(r.a_bound)) : Json(nullptr)},
                       {"b_bound", r.region ? Json(name_of(r.b_bound)) : Json(nullptr)}});
    return all;
}

Json flips_json(const Explanation& e) {
    Json all = Json::array();
    for (const Flip& flip : e.flips)
        all.push_back(
            {{"change", flip.change},
             {"architecture", optional_text(flip.architecture)},
             {"factor", flip.batch > 0 || !flip.precisions.empty() ? Json(nullptr) : Json(flip.factor)},
             {"batch_size", flip.batch > 0 ? Json(flip.batch) : Json(nullptr)},
             {"precisions", flip.precisions},
             {"a_value", flip.a_value},
             {"b_value", flip.b_value}});
    return all;
}

Json explanation_json(const ArchitectureComparison& c, const Explanation& e) {
    const Attribution& x = e.attribution;
    return {{"a", c.labels[e.a]},
            {"b", c.labels[e.b]},
            {"metric", x.metric->key},
            {"unit", x.metric->unit},
            {"a_value", x.a_value},
            {"b_value", x.b_value},
            {"difference", x.difference},
            {"intervals_overlap", e.overlapping},
            {"contributions", contributions_json(x, c.labels[e.a], c.labels[e.b])},
            {"subgraphs", region_contributions_json(x)},
            {"flips", flips_json(e)},
            {"no_flip", e.no_flip},
            {"flip_limit", number(e.flip_limit)}};
}

} // namespace

std::string to_json(const ArchitectureComparison& c, const Explanations& explanations) {
    Json document = {{"schema", "archsim.compare_architectures/1"}, {"version", version()}};
    document["request"] = request_json(c);
    document["verdict"] = verdict_json(architecture_verdict(c));
    document["model"] = model_json(*c.model, nullptr);
    document["results"] = Json::array();
    std::vector<int> places(c.results.size(), 0);
    for (const Rank& rank : rank_results(c.results, ranked_by(c.request.conditions.scenario)))
        places[rank.result] = rank.place;
    for (std::size_t i = 0; i < c.results.size(); ++i) {
        Json row = {{"architecture", c.labels[i]}};
        row.update(result_json({&c.results[i], static_cast<double>(c.request.workload.batch), places[i]},
                               c.request.metric_view()));
        document["results"].push_back(std::move(row));
    }
    document["baseline"] = c.baseline ? Json(c.labels[*c.baseline]) : Json(nullptr);
    document["recommendations"] = recommendations_json(c);
    document["subgraphs"] = subgraphs_json(c);
    add_scenarios(c, document);
    add_explanations(document, c.results, explanations);
    document["explanation"] = c.explanation ? explanation_json(c, *c.explanation) : Json(nullptr);
    return document_text(document);
}

} // namespace archsim
