#include "answers/architectures/architectures.hpp"

#include "answers/difference/attribution.hpp"
#include "fields/question_json.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/answer_document.hpp"
#include "result/ranking.hpp"

namespace archsim {

namespace {

using Compared = ArchitectureComparison;

Members<Compared> architectures_request_members() {
    using C = Compared;
    return Members<C>{
        {"model", "", [](const C& c) { return c.request.model; }},
        {"architectures", "", [](const C& c) { return c.request.architectures; }},
        {"level", "", [](const C& c) { return c.request.level; }, UpTo{ComparisonLevel::subgraph}},
        {"architecture", "that the details are of",
         [](const C& c) { return nonempty(c.request.architecture); }},
        {"explain_difference", "two architectures; empty: not asked for",
         [](const C& c) { return c.request.explain; }},
        {"metric", "that is explained", [](const C& c) { return c.request.metric->key; }},
        {"baseline", "that others are compared with",
         [](const C& c) { return nonempty(c.request.baseline); }}}
        .with(question_members().of<C>([](const C& c) { return asked_question(c); }));
}

/// The best by one metric.
struct MetricWinner {
    const Compared* all = nullptr;
    const Metric* metric = nullptr;
    Winner winner;

    const Result& best() const { return all->results[winner.best]; }
};

std::vector<std::pair<std::string, std::optional<MetricWinner>>> metric_winners(const Compared& c) {
    std::vector<std::pair<std::string, std::optional<MetricWinner>>> all;
    for (const Metric* metric : c.request.metrics->rows()) {
        auto winner = find_winner(c.results, *metric, c.request.decision.cost);
        all.emplace_back(metric->key,
                         winner ? std::optional(MetricWinner{&c, metric, std::move(*winner)}) : std::nullopt);
    }
    return all;
}

Members<MetricWinner> metric_winner_members() {
    using W = MetricWinner;
    return {
        {"architecture", "null: none may be named first",
         [](const W& w) {
             return w.winner.leads ? std::optional(w.all->labels[w.winner.best]) : std::nullopt;
         }},
        {"probability", "that it is the best of those that may lead",
         [](const W& w) { return w.winner.leads ? std::optional(w.winner.probability) : std::nullopt; }},
        {"value", "",
         [](const W& w) { return *value_of(w.best(), *w.metric, w.all->request.decision.cost); }},
        {"unit", "", [](const W& w) { return w.metric->unit; }},
        {"tied", "architectures that the estimates cannot tell from it",
         [](const W& w) {
             std::vector<std::string> tied;
             for (const std::size_t i : w.winner.tied)
                 tied.push_back(w.all->labels[i]);
             return tied;
         }},
        {"measured", "false: no estimate here may be named first", [](const W& w) { return w.winner.leads; }},
        {"projected", "what may not lead and is estimated to do better", [](const W& w) {
             const auto first =
                 w.winner.projected || w.winner.leads ? w.winner.projected : std::optional(w.winner.best);
             return first ? std::optional(w.all->labels[*first]) : std::nullopt;
         }}};
}

/// A region that all have in common, and who runs it best.
struct ComparedRegion {
    const Compared* all = nullptr;
    std::size_t id = 0;
    RegionWinner winner;

    const CommonRegion& region() const { return all->regions[id]; }
    const std::string& label(std::size_t compared) const { return all->labels[all->compared[compared]]; }
};

struct CostOfRegion {
    std::string architecture;
    RegionCost cost;
    std::size_t subgraphs = 0;
};

std::vector<ComparedRegion> compared_regions(const Compared& c) {
    std::vector<ComparedRegion> all;
    for (std::size_t r = 0; r < c.regions.size(); ++r)
        all.push_back({&c, r, region_winner(c, c.regions[r])});
    return all;
}

std::vector<CostOfRegion> region_costs(const ComparedRegion& r) {
    std::vector<CostOfRegion> costs;
    for (std::size_t i = 0; i < r.all->compared.size(); ++i)
        costs.push_back({r.label(i), cost_of(r.region(), i, r.all->results[r.all->compared[i]]),
                         r.region().subgraphs[i].size()});
    return costs;
}

Members<ComparedRegion> compared_region_members() {
    using R = ComparedRegion;
    using C = CostOfRegion;
    return {{"id", "", &R::id},
            {"name", "", [](const R& r) { return r.region().name; }},
            {"kind", "", [](const R& r) { return name_of(r.region().kind); }},
            {"operations", "", [](const R& r) { return r.region().operations; }},
            {"winner", "null: the best is a projection",
             [](const R& r) {
                 return !may_lead(r.all->results[r.all->compared[r.winner.best]].estimate)
                            ? std::nullopt
                            : std::optional(r.label(r.winner.best));
             }},
            {"projected", "a projection that is estimated to do better",
             [](const R& r) {
                 return r.winner.projected ? std::optional(r.label(*r.winner.projected)) : std::nullopt;
             }},
            {"margin", "to the second, as a factor", [](const R& r) { return positive(r.winner.margin); }},
            {"architectures", "", region_costs,
             Members<C>{{"architecture", "", &C::architecture},
                        {"latency_s", "", [](const C& c) { return c.cost.latency_s; }},
                        {"energy_j", "", [](const C& c) { return c.cost.energy_j; }},
                        {"dram_bytes", "", [](const C& c) { return c.cost.dram_bytes; }},
                        {"subgraphs", "that it runs as", &C::subgraphs},
                        {"bound", "", [](const C& c) { return c.cost.bound; }, UpTo{Bound::overhead}}}}};
}

/// One cause of a difference between two architectures.
struct ExplainedCause {
    const Contribution* cause = nullptr;
    const Metric* metric = nullptr;
    std::string a, b;
};

Members<ExplainedCause> cause_members() {
    using C = ExplainedCause;
    using S = FactorSource;
    const Members<S> source = {{"name", "", &S::name},
                               {"value", "", [](const S& s) { return finite(s.fact.value); }},
                               {"kind", "", [](const S& s) { return name_of(s.fact.source->kind); }},
                               {"source", "", [](const S& s) { return s.fact.source->cite; }}};
    const Members<C> sources = {{"a", "", [](const C& c) { return c.cause->a.sources; }, source},
                                {"b", "", [](const C& c) { return c.cause->b.sources; }, source}};
    return {
        {"factor", "", [](const C& c) { return info_of(c.cause->factor).name; }},
        {"title", "", [](const C& c) { return info_of(c.cause->factor).title; }},
        {"value", "its part of the difference, in the metric's unit",
         [](const C& c) { return c.cause->value; }},
        {"a_input", "", [](const C& c) { return finite(c.cause->a.value); }},
        {"b_input", "", [](const C& c) { return finite(c.cause->b.value); }},
        {"input_unit", "", [](const C& c) { return info_of(c.cause->factor).unit; }},
        {"sources", "of the inputs", std::identity{}, sources},
        {"sentence", "", [](const C& c) { return contribution_sentence(*c.cause, *c.metric, c.a, c.b); }}};
}

/// The part of one region, or of what no region has.
struct ExplainedRegion {
    const Attribution* all = nullptr;
    const RegionContribution* part = nullptr;
};

Members<ExplainedRegion> explained_region_members() {
    using R = ExplainedRegion;
    const auto bound = [](Bound RegionContribution::*which) {
        return [which](const R& r) { return r.part->region ? std::optional(r.part->*which) : std::nullopt; };
    };
    return {{"name", "null: of no region",
             [](const R& r) {
                 return r.part->region ? std::optional(r.all->regions[*r.part->region].name) : std::nullopt;
             }},
            {"value", "its part of the difference", [](const R& r) { return r.part->value; }},
            {"main_factor", "", [](const R& r) { return info_of(r.part->main).name; }},
            {"main_value", "", [](const R& r) { return r.part->main_value; }},
            {"a_bound", "", bound(&RegionContribution::a_bound), UpTo{Bound::overhead}},
            {"b_bound", "", bound(&RegionContribution::b_bound), UpTo{Bound::overhead}}};
}

Members<Flip> flip_members() {
    return {
        {"change", "", &Flip::change},
        {"architecture", "that changes; null: the question does",
         [](const Flip& f) { return nonempty(f.architecture); }},
        {"factor", "null: a batch size or a format changes",
         [](const Flip& f) {
             return f.batch > 0 || !f.precisions.empty() ? std::nullopt : std::optional(f.factor);
         }},
        {"batch_size", "", [](const Flip& f) { return f.batch > 0 ? std::optional(f.batch) : std::nullopt; }},
        {"precisions", "", &Flip::precisions},
        {"a_value", "then", &Flip::a_value},
        {"b_value", "then", &Flip::b_value}};
}

struct PairInFull {
    const Compared* all = nullptr;
    const Explanation* pair = nullptr;

    const Attribution& parts() const { return pair->attribution; }
    std::vector<ExplainedCause> causes() const {
        std::vector<ExplainedCause> list;
        for (const Contribution& cause : parts().contributions)
            list.push_back({&cause, parts().metric, all->labels[pair->a], all->labels[pair->b]});
        return list;
    }
    std::vector<ExplainedRegion> regions() const {
        std::vector<ExplainedRegion> list;
        for (const RegionContribution& part : parts().region_contributions)
            list.push_back({&parts(), &part});
        return list;
    }
};

Members<PairInFull> compared_pair_members() {
    using P = PairInFull;
    return {
        {"a", "", [](const P& p) { return p.all->labels[p.pair->a]; }},
        {"b", "", [](const P& p) { return p.all->labels[p.pair->b]; }},
        {"metric", "", [](const P& p) { return p.parts().metric->key; }},
        {"unit", "", [](const P& p) { return p.parts().metric->unit; }},
        {"a_value", "", [](const P& p) { return p.parts().a_value; }},
        {"b_value", "", [](const P& p) { return p.parts().b_value; }},
        {"difference", "", [](const P& p) { return p.parts().difference; }},
        {"intervals_overlap", "the estimates cannot tell them apart",
         [](const P& p) { return p.pair->overlapping; }},
        {"contributions", "they add up to the difference", &P::causes, cause_members()},
        {"subgraphs", "the same by region", &P::regions, explained_region_members()},
        {"flips", "changes that would reverse it", [](const P& p) { return p.pair->flips; }, flip_members()},
        {"no_flip", "what cannot reverse it", [](const P& p) { return p.pair->no_flip; }},
        {"flip_limit", "largest factor that was tried",
         [](const P& p) { return finite(p.pair->flip_limit); }}};
}

struct RankedArchitecture {
    std::string architecture;
    RankedResult row;
};

std::vector<RankedArchitecture> ranked_architectures(const Compared& c) {
    const Metric& by = ranked_by(c.request.conditions.scenario);
    std::vector<int> places(c.results.size(), 0);
    for (const Rank& rank : rank_results(c.results, by))
        places[rank.result] = rank.place;
    const std::vector<double> odds = shares_of_best(c.results, by);
    std::vector<RankedArchitecture> rows;
    for (std::size_t i = 0; i < c.results.size(); ++i)
        rows.push_back({c.labels[i],
                        {&c.results[i], static_cast<double>(c.request.workload.batch), places[i],
                         may_lead(c.results[i].estimate) ? odds[i] : 0}});
    return rows;
}

AnswerDocument<Compared> architectures_document(const MetricView& view, const Explanations& explanations) {
    using C = Compared;
    return {
        "compare_architectures", "one model on architectures side by side",
        Members<C>{
            {"request", "what was asked", std::identity{}, architectures_request_members()},
            {"verdict", "the answer in a few lines",
             [](const C& c) { return verdict_record(architecture_verdict(c)); }, verdict_members()},
            {"model", "",
             [](const C& c) {
                 return KnownModel{c.model.get(), nullptr};
             },
             model_members()},
            {"results", "in the order asked", ranked_architectures,
             Members<RankedArchitecture>{{"architecture", "", &RankedArchitecture::architecture}}.with(
                 result_members(view).of<RankedArchitecture>(
                     [](const RankedArchitecture& a) { return a.row; }))},
            {"baseline", "that others are compared with",
             [](const C& c) { return c.baseline ? std::optional(c.labels[*c.baseline]) : std::nullopt; }},
            {"recommendations", "the best by each metric; null: none has a value", metric_winners,
             metric_winner_members()},
            {"subgraphs", "regions that all run, one by one", compared_regions, compared_region_members()}}
            .with(scenario_members(view))
            .with(explanation_members().of<C>([explanations](const C& c) {
                return Explained{c.results, explanations};
            }))
            .with({{"explanation", "of the difference between two; null: not asked for",
                    [](const C& c) {
                        return c.explanation ? std::optional(PairInFull{&c, &*c.explanation}) : std::nullopt;
                    },
                    compared_pair_members()}})};
}

} // namespace

nlohmann::ordered_json compare_architectures_schema() {
    return architectures_document({}, {}).schema();
}

std::string to_json(const ArchitectureComparison& c, const Explanations& explanations) {
    return architectures_document(c.request.metric_view(), explanations).text(c);
}

} // namespace archsim
