// The document of compare_architectures. What has no name of its own refers to the comparison that it is of.
#include "answers/architectures/architectures.hpp"
#include "core/lists.hpp"
#include "fields/question_json.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"

namespace archsim {

using Compared = ArchitectureComparison;

/// A part of a comparison, with the comparison whose architectures it speaks of.
template <class Part>
struct PartOf {
    const Compared* all = nullptr;
    const Part* part = nullptr;

    const std::string& label(std::size_t architecture) const { return all->labels[architecture]; }
};

template <class Part>
static std::vector<PartOf<Part>> parts_of(const Compared& c, const std::vector<Part>& list) {
    return mapped(list, [&](const Part& part) { return PartOf<Part>{&c, &part}; });
}

/// A member that is null where the part was not asked for.
template <class Part>
static Member<Compared> part_member(std::string key, std::string meaning, std::optional<Part> Compared::*part,
                                    Members<PartOf<Part>> members) {
    return {std::move(key), std::move(meaning) + "null: not asked for",
            [part](const Compared& c) {
                return c.*part ? std::optional(PartOf<Part>{&c, &*(c.*part)}) : std::nullopt;
            },
            std::move(members)};
}

struct LabelledResult {
    std::string architecture;
    RankedResult row;
};

static Members<LabelledResult> labelled_result_members(const MetricView& view) {
    return Members<LabelledResult>{{"architecture", "", &LabelledResult::architecture}}.with(
        result_members(view).of<LabelledResult>([](const LabelledResult& r) { return r.row; }));
}

static Members<Compared> architectures_request_members() {
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
        .with(question_members().of<C>([](const C& c) { return asked_question(c); }))
        .with(limit_members().of<C>([](const C& c) { return c.request.decision; }));
}

struct MetricWinner {
    const Compared* all = nullptr;
    const Metric* metric = nullptr;
    Winner winner;

    std::optional<std::string> leader() const {
        return winner.leads ? std::optional(all->labels[winner.best]) : std::nullopt;
    }
};

static std::vector<std::pair<std::string, std::optional<MetricWinner>>> metric_winners(const Compared& c) {
    std::vector<std::pair<std::string, std::optional<MetricWinner>>> all;
    for (const Metric* metric : c.request.metrics->rows()) {
        auto winner = find_winner(c.results, *metric, c.request.decision.cost);
        all.emplace_back(metric->key,
                         winner ? std::optional(MetricWinner{&c, metric, std::move(*winner)}) : std::nullopt);
    }
    return all;
}

static Members<MetricWinner> metric_winner_members() {
    using W = MetricWinner;
    return {
        {"architecture", "null: none may be named first", &W::leader},
        {"probability", "that it is the best of those that may lead",
         [](const W& w) { return known(w.winner.leads, w.winner.probability); }},
        {"value", "",
         [](const W& w) {
             return *value_of(w.all->results[w.winner.best], *w.metric, w.all->request.decision.cost);
         }},
        {"unit", "", [](const W& w) { return w.metric->unit; }},
        {"tied", "architectures that the estimates cannot tell from it",
         [](const W& w) {
             return mapped(w.winner.tied, [&](const std::size_t i) { return w.all->labels[i]; });
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

static std::vector<ComparedRegion> compared_regions(const Compared& c) {
    return mapped(indices(c.regions.size()), [&](std::size_t r) {
        return ComparedRegion{&c, r, region_winner(c, c.regions[r])};
    });
}

static std::vector<CostOfRegion> region_costs(const ComparedRegion& r) {
    return mapped(indices(r.all->compared.size()), [&](std::size_t i) {
        return CostOfRegion{r.label(i), cost_of(r.region(), i, r.all->results[r.all->compared[i]]),
                            r.region().subgraphs[i].size()};
    });
}

static Members<ComparedRegion> compared_region_members() {
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

static Members<PartOf<Contribution>> cause_members() {
    using C = PartOf<Contribution>;
    using S = FactorSource;
    const Members<S> source = {{"name", "", &S::name},
                               {"value", "", [](const S& s) { return finite(s.fact.value); }},
                               {"kind", "", [](const S& s) { return name_of(s.fact.source->kind); }},
                               {"source", "", [](const S& s) { return s.fact.source->cite; }}};
    const Members<C> sources = {{"a", "", [](const C& c) { return c.part->a.sources; }, source},
                                {"b", "", [](const C& c) { return c.part->b.sources; }, source}};
    return {{"factor", "", [](const C& c) { return info_of(c.part->factor).name; }},
            {"title", "", [](const C& c) { return info_of(c.part->factor).title; }},
            {"value", "its part of the difference, in the metric's unit",
             [](const C& c) { return c.part->value; }},
            {"a_input", "", [](const C& c) { return finite(c.part->a.value); }},
            {"b_input", "", [](const C& c) { return finite(c.part->b.value); }},
            {"input_unit", "", [](const C& c) { return info_of(c.part->factor).unit; }},
            {"sources", "of the inputs", std::identity{}, sources},
            {"sentence", "", [](const C& c) {
                 const Explanation& e = *c.all->explanation;
                 return contribution_sentence(*c.part, *e.attribution.metric, c.label(e.a), c.label(e.b));
             }}};
}

/// The part of one region, or of what no region has.
static Members<PartOf<RegionContribution>> explained_region_members() {
    using R = PartOf<RegionContribution>;
    const auto bound = [](Bound RegionContribution::*which) {
        return [which](const R& r) { return r.part->region ? std::optional(r.part->*which) : std::nullopt; };
    };
    return {{"name", "null: of no region",
             [](const R& r) {
                 const auto& regions = r.all->explanation->attribution.regions;
                 return r.part->region ? std::optional(regions[*r.part->region].name) : std::nullopt;
             }},
            {"value", "its part of the difference", [](const R& r) { return r.part->value; }},
            {"main_factor", "", [](const R& r) { return info_of(r.part->main).name; }},
            {"main_value", "", [](const R& r) { return r.part->main_value; }},
            {"a_bound", "", bound(&RegionContribution::a_bound), UpTo{Bound::overhead}},
            {"b_bound", "", bound(&RegionContribution::b_bound), UpTo{Bound::overhead}}};
}

static Members<Flip> flip_members() {
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

static Members<PartOf<Explanation>> compared_pair_members() {
    using P = PartOf<Explanation>;
    const auto parts = [](auto Attribution::*of) {
        return [of](const P& p) { return p.part->attribution.*of; };
    };
    return {
        {"a", "", [](const P& p) { return p.label(p.part->a); }},
        {"b", "", [](const P& p) { return p.label(p.part->b); }},
        {"metric", "", [](const P& p) { return p.part->attribution.metric->key; }},
        {"unit", "", [](const P& p) { return p.part->attribution.metric->unit; }},
        {"a_value", "", parts(&Attribution::a_value)},
        {"b_value", "", parts(&Attribution::b_value)},
        {"difference", "", parts(&Attribution::difference)},
        {"intervals_overlap", "the estimates cannot tell them apart",
         [](const P& p) { return p.part->overlapping; }},
        {"contributions", "they add up to the difference",
         [](const P& p) { return parts_of(*p.all, p.part->attribution.contributions); }, cause_members()},
        {"subgraphs", "the same by region",
         [](const P& p) { return parts_of(*p.all, p.part->attribution.region_contributions); },
         explained_region_members()},
        {"flips", "changes that would reverse it", [](const P& p) { return p.part->flips; }, flip_members()},
        {"no_flip", "what cannot reverse it", [](const P& p) { return p.part->no_flip; }},
        {"flip_limit", "largest factor that was tried",
         [](const P& p) { return finite(p.part->flip_limit); }}};
}

using Hybrid = PartOf<HybridPair>;

struct RegionPlace {
    std::string name, architecture;
};

static std::vector<RegionPlace> region_places(const Hybrid& h) {
    std::vector<RegionPlace> places;
    const HybridSplit& split = h.part->split;
    for (std::size_t r = 0; r < split.regions.size(); ++r)
        places.push_back({split.regions[r].name, h.label(split.on_b[r] ? h.part->b : h.part->a)});
    return places;
}

static Members<Hybrid> hybrid_members() {
    using H = Hybrid;
    struct Move {
        std::string before; // which region
        HybridTransfer transfer;
    };
    const auto moves = [](const H& h) {
        return mapped(h.part->split.transfers, [&](const HybridTransfer& t) {
            return Move{h.part->split.regions[t.before].name, t};
        });
    };
    return {{"a", "", [](const H& h) { return h.label(h.part->a); }},
            {"b", "", [](const H& h) { return h.label(h.part->b); }},
            {"value", "of both together", [](const H& h) { return h.part->split.value; }},
            {"a_value", "", [](const H& h) { return h.part->split.a_value; }},
            {"b_value", "", [](const H& h) { return h.part->split.b_value; }},
            {"wins", "better than either alone", [](const H& h) { return h.part->split.wins(); }},
            {"transfers", "between the two", moves,
             Members<Move>{{"before", "region", &Move::before},
                           {"bytes", "", [](const Move& m) { return m.transfer.bytes; }},
                           {"seconds", "", [](const Move& m) { return m.transfer.seconds; }},
                           {"joules", "", [](const Move& m) { return m.transfer.joules; }}}},
            {"assignment", "which architecture runs each region", region_places,
             Members<RegionPlace>{{"name", "", &RegionPlace::name},
                                  {"architecture", "", &RegionPlace::architecture}}}};
}

static Members<PartOf<WhatIf>> what_if_members(const MetricView& view) {
    return {
        {"changes", "as asked", [](auto& w) { return w.part->asked; }},
        {"results", "",
         [](const PartOf<WhatIf>& w) {
             std::vector<LabelledResult> results;
             for (std::size_t i = 0; i < w.part->results.size(); ++i)
                 results.push_back({w.label(i), {&w.part->results[i], w.part->results[i].estimate.batch, 0}});
             return results;
         },
         labelled_result_members(view)}};
}

static Members<PartOf<Sensitivity>> sensitivity_members() {
    using Row = PartOf<SensitivityRow>;
    return {
        {"variation", "share by which each input is lowered and raised",
         [](auto& s) { return s.part->variation; }},
        {"inputs_varied", "", [](auto& s) { return s.part->varied; }},
        {"inputs", "that move a result most",
         [](const PartOf<Sensitivity>& s) { return parts_of(*s.all, s.part->rows); },
         Members<Row>{
             {"architecture", "", [](const Row& r) { return r.label(r.part->architecture); }},
             {"input", "", [](const Row& r) { return r.part->input; }},
             {"effect_down", "of lowering it, as a share", [](const Row& r) { return r.part->effect_down; }},
             {"effect_up", "of raising it, as a share", [](const Row& r) { return r.part->effect_up; }},
             {"other_winner", "who wins then", [](const Row& r) {
                  const auto winner = r.part->other_winner;
                  return winner ? std::optional(r.label(*winner)) : std::nullopt;
              }}}}};
}

static Members<PartOf<BatchSweep>> batch_sweep_members(const MetricView& view) {
    using X = PartOf<Crossover>;
    struct Swept {
        std::string architecture;
        const BatchSeries* series;
    };
    return {{"batches", "", [](auto& s) { return s.part->analysis.batches; }},
            {"architectures", "",
             [](const PartOf<BatchSweep>& s) {
                 return mapped(indices(s.all->labels.size()), [&](std::size_t i) {
                     return Swept{s.label(i), &s.part->analysis.series[i]};
                 });
             },
             Members<Swept>{{"architecture", "", &Swept::architecture}}.with(
                 batch_series_members(view, "results").of<Swept>([](const Swept& s) { return *s.series; }))},
            {"crossovers", "batch sizes from which another one wins",
             [](const PartOf<BatchSweep>& s) { return parts_of(*s.all, s.part->crossovers); },
             Members<X>{{"metric", "", [](const X& x) { return x.part->metric->key; }},
                        {"batch_size", "", [](const X& x) { return x.part->batch; }},
                        {"winner", "", [](const X& x) { return x.label(x.part->winner); }},
                        {"loser", "", [](const X& x) { return x.label(x.part->loser); }}}}};
}

static std::vector<LabelledResult> ranked_architectures(const Compared& c) {
    const Metric& by = ranked_by(c.request.conditions);
    std::vector<int> places(c.results.size(), 0);
    for (const Rank& rank : rank_results(c.results, by))
        places[rank.result] = rank.place;
    const std::vector<double> odds = shares_of_best(c.results, by);
    return mapped(indices(c.results.size()), [&](std::size_t i) {
        return LabelledResult{c.labels[i],
                              {&c.results[i], static_cast<double>(c.request.workload.batch), places[i],
                               may_lead(c.results[i].estimate) ? odds[i] : 0}};
    });
}

AnswerDocument document_of(const ArchitectureComparison& comparison, const Explanations& explanations) {
    using C = Compared;
    const MetricView view = comparison.request.metric_view();
    return {
        comparison, "compare_architectures", "one model on architectures side by side",
        Members<C>{
            {"request", "what was asked", std::identity{}, architectures_request_members()},
            {"verdict", "the answer in a few lines",
             [](const C& c) { return verdict_record(architecture_verdict(c)); }, verdict_members()},
            {"model", "",
             [](const C& c) {
                 return KnownModel{c.model.get(), nullptr};
             },
             model_members()},
            {"results", "in the order asked", ranked_architectures, labelled_result_members(view)},
            {"baseline", "that others are compared with",
             [](const C& c) { return c.baseline ? std::optional(c.labels[*c.baseline]) : std::nullopt; }},
            {"recommendations", "the best by each metric; null: none has a value", metric_winners,
             metric_winner_members()},
            {"subgraphs", "regions that all run, one by one", compared_regions, compared_region_members()},
            {"hybrids", "two architectures that share the model; null: not asked for",
             [](const C& c) {
                 return c.hybrids.empty() ? std::nullopt : std::optional(parts_of(c, c.hybrids));
             },
             hybrid_members()},
            {"decision", "null: no limit and no choice was asked for",
             [](const C& c) {
                 return c.decision ? std::optional(LabelledDecision{&*c.decision, c.labels}) : std::nullopt;
             },
             decision_members()},
            part_member("what_if", "", &C::what_if, what_if_members(view)),
            part_member("sensitivity", "", &C::sensitivity, sensitivity_members()),
            part_member("batch_sweep", "", &C::batch_sweep, batch_sweep_members(view))}
            .with(explanation_members().of<C>([explanations](const C& c) {
                return Explained{c.results, explanations};
            }))
            .with({part_member("explanation", "of the difference between two; ", &C::explanation,
                               compared_pair_members())})};
}

} // namespace archsim
