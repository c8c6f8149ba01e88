#include "answers/architectures/architectures.hpp"
#include "answers/batch/batch_report.hpp"
#include "report/blocks/decision_report.hpp"
#include "report/blocks/result_row.hpp"

namespace archsim {

namespace {

/// A part of a comparison, with the comparison whose architectures it speaks of.
template <class Part>
struct PartOf {
    const ArchitectureComparison* all = nullptr;
    const Part* part = nullptr;

    const std::string& label(std::size_t architecture) const { return all->labels[architecture]; }
};

template <class Part>
std::vector<PartOf<Part>> parts_of(const ArchitectureComparison& c, const std::vector<Part>& list) {
    std::vector<PartOf<Part>> parts;
    for (const Part& part : list)
        parts.push_back({&c, &part});
    return parts;
}
template <class Part>
std::optional<PartOf<Part>> part_of(const ArchitectureComparison& c, const std::optional<Part>& part) {
    return part ? std::optional(PartOf<Part>{&c, &*part}) : std::nullopt;
}

using Hybrid = PartOf<HybridPair>;

struct RegionPlace {
    std::string name, architecture;
};
std::vector<RegionPlace> region_places(const Hybrid& h) {
    std::vector<RegionPlace> places;
    const auto& split = h.part->split;
    for (std::size_t r = 0; r < split.regions.size(); ++r)
        places.push_back({split.regions[r].name, h.label(split.on_b[r] ? h.part->b : h.part->a)});
    return places;
}

struct HybridMove {
    std::string before;
    double bytes = 0, seconds = 0, joules = 0;
};
std::vector<HybridMove> hybrid_moves(const Hybrid& h) {
    std::vector<HybridMove> moves;
    for (const HybridTransfer& t : h.part->split.transfers)
        moves.push_back({h.part->split.regions[t.before].name, t.bytes, t.seconds, t.joules});
    return moves;
}

Members<Hybrid> hybrid_members() {
    return {{"a", "", [](const Hybrid& h) { return h.label(h.part->a); }},
            {"b", "", [](const Hybrid& h) { return h.label(h.part->b); }},
            {"value", "of both together", [](const Hybrid& h) { return h.part->split.value; }},
            {"a_value", "", [](const Hybrid& h) { return h.part->split.a_value; }},
            {"b_value", "", [](const Hybrid& h) { return h.part->split.b_value; }},
            {"wins", "better than either alone", [](const Hybrid& h) { return h.part->split.wins(); }},
            {"transfers", "between the two", hybrid_moves,
             Members<HybridMove>{{"before", "region", &HybridMove::before},
                                 {"bytes", "", &HybridMove::bytes},
                                 {"seconds", "", &HybridMove::seconds},
                                 {"joules", "", &HybridMove::joules}}},
            {"assignment", "which architecture runs each region", region_places,
             Members<RegionPlace>{{"name", "", &RegionPlace::name},
                                  {"architecture", "", &RegionPlace::architecture}}}};
}

struct ChangedResult {
    std::string architecture;
    const Result* result = nullptr;
};
std::vector<ChangedResult> changed_results(const PartOf<WhatIf>& w) {
    std::vector<ChangedResult> results;
    for (std::size_t i = 0; i < w.part->results.size(); ++i)
        results.push_back({w.label(i), &w.part->results[i]});
    return results;
}

Members<PartOf<WhatIf>> what_if_members(const MetricView& view) {
    return {{"changes", "as asked", [](auto& w) { return w.part->asked; }},
            {"results", "", changed_results,
             Members<ChangedResult>{{"architecture", "", &ChangedResult::architecture}}.with(
                 result_members(view).of<ChangedResult>([](const ChangedResult& c) {
                     return RankedResult{c.result, c.result->estimate.batch, 0};
                 }))}};
}

Members<PartOf<Sensitivity>> sensitivity_members() {
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

struct SweptArchitecture {
    std::string architecture;
    const BatchSeries* series = nullptr;
};
std::vector<SweptArchitecture> swept_architectures(const PartOf<BatchSweep>& s) {
    std::vector<SweptArchitecture> list;
    for (std::size_t i = 0; i < s.all->labels.size(); ++i)
        list.push_back({s.label(i), &s.part->analysis.series[i]});
    return list;
}

Members<PartOf<BatchSweep>> batch_sweep_members(const MetricView& view) {
    using X = PartOf<Crossover>;
    return {{"batches", "", [](auto& s) { return s.part->analysis.batches; }},
            {"architectures", "", swept_architectures,
             Members<SweptArchitecture>{{"architecture", "", &SweptArchitecture::architecture}}.with(
                 batch_series_members(view, "results").of<SweptArchitecture>([](const SweptArchitecture& s) {
                     return *s.series;
                 }))},
            {"crossovers", "batch sizes from which another one wins",
             [](const PartOf<BatchSweep>& s) { return parts_of(*s.all, s.part->crossovers); },
             Members<X>{{"metric", "", [](const X& x) { return x.part->metric->key; }},
                        {"batch_size", "", [](const X& x) { return x.part->batch; }},
                        {"winner", "", [](const X& x) { return x.label(x.part->winner); }},
                        {"loser", "", [](const X& x) { return x.label(x.part->loser); }}}}};
}

} // namespace

Members<ArchitectureComparison> scenario_members(const MetricView& view) {
    using C = ArchitectureComparison;
    return {
        {"hybrids", "two architectures that share the model; null: not asked for",
         [](const C& c) { return c.hybrids.empty() ? std::nullopt : std::optional(parts_of(c, c.hybrids)); },
         hybrid_members()},
        {"decision", "null: no limit and no choice was asked for",
         [](const C& c) {
             return c.decision ? std::optional(LabelledDecision{&*c.decision, c.labels}) : std::nullopt;
         },
         decision_members()},
        {"what_if", "null: not asked for", [](const C& c) { return part_of(c, c.what_if); },
         what_if_members(view)},
        {"sensitivity", "null: not asked for", [](const C& c) { return part_of(c, c.sensitivity); },
         sensitivity_members()},
        {"batch_sweep", "null: not asked for", [](const C& c) { return part_of(c, c.batch_sweep); },
         batch_sweep_members(view)}};
}

} // namespace archsim
