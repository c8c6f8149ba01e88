#include "archsim/report/compare_architectures.hpp"

#include "archsim/core/version.hpp"
#include "report/architectures.hpp"
#include "report/results_json.hpp"

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json optional_text(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json request_json(const CompareArchitecturesRequest& q) {
    return {{"model", q.model},
            {"architectures", q.architectures},
            {"level", name_of(q.level)},
            {"architecture", optional_text(q.architecture)},
            {"explain_difference", q.explain},
            {"metric", info_of(q.metric).name},
            {"baseline", optional_text(q.baseline)},
            {"precision", q.precision},
            {"batch_size", q.batch_size},
            {"runtime", optional_text(q.runtime)},
            {"dims", q.dims},
            {"scenario", name_of(q.scenario)},
            {"scope", name_of(q.scope)}};
}

Json recommendations_json(const ArchitectureComparison& c) {
    Json all = Json::object();
    for (Objective objective : kObjectives) {
        const auto winner = find_winner(c.results, objective, c.request.cost);
        Json tied = Json::array();
        if (winner)
            for (std::size_t i : winner->tied)
                tied.push_back(c.labels[i]);
        all[std::string(info_of(objective).name)] =
            winner ? Json{{"architecture", c.labels[winner->best]},
                          {"value", *value_of(c.results[winner->best], objective, c.request.cost)},
                          {"unit", info_of(objective).unit},
                          {"tied", tied}}
                   : Json(nullptr);
    }
    return all;
}

Json subgraphs_json(const ArchitectureComparison& c) {
    Json all = Json::array();
    for (std::size_t r = 0; r < c.regions.size(); ++r) {
        const CommonRegion& region = c.regions[r];
        const RegionWinner winner = region_winner(c, region);
        Json row = {{"id", r},
                    {"name", region.name},
                    {"kind", name_of(region.kind)},
                    {"operations", region.operations},
                    {"winner", c.labels[c.compared[winner.best]]},
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

} // namespace

std::string to_json(const ArchitectureComparison& c) {
    Json document = {{"schema", "archsim.compare_architectures/1"}, {"version", version()}};
    document["request"] = request_json(c.request);
    document["model"] = model_json(*c.model, nullptr);
    document["results"] = Json::array();
    std::vector<int> places(c.results.size(), 0);
    const RankBy by = c.request.scenario == Scenario::throughput ? RankBy::throughput : RankBy::latency;
    for (const Rank& rank : rank_results(c.results, by))
        places[rank.result] = rank.place;
    for (std::size_t i = 0; i < c.results.size(); ++i) {
        Json row = {{"architecture", c.labels[i]}};
        row.update(result_json(c.results[i], static_cast<double>(c.request.batch_size), places[i]));
        document["results"].push_back(std::move(row));
    }
    document["baseline"] = c.baseline ? Json(c.labels[*c.baseline]) : Json(nullptr);
    document["recommendations"] = recommendations_json(c);
    document["subgraphs"] = subgraphs_json(c);
    return document.dump(2) + "\n";
}

} // namespace archsim
