#include "result/ties.hpp"

#include "hardware/posterior.hpp"

#include "estimate/intervals.hpp"
#include "hardware/uncertainty.hpp"
#include "result/error_terms.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace archsim {

/// Relative; closer values are one value, rounded.
constexpr double kRoundedRatio = 1e-9;

static double scale_of(const Interval& i) {
    return i.low > 0 && i.high > i.low ? std::log(i.high / i.low) / (2 * kErrorReach) : 0;
}

static bool same(const Result& a, const Result& b, const auto& part) {
    return part(a) && part(b) && part(a)->id == part(b)->id;
}

static double difference_scale(const ErrorTerms& a, const ErrorTerms& b) {
    return a.parts && b.parts ? a.result->machine->uncertainty->model().difference_scale : 1;
}

static double probability(const Metric& by, const ErrorTerms& a, const Measure& x, const ErrorTerms& b,
                          const Measure& y) {
    if (!(x.value > 0) || !(y.value > 0))
        return better(by, x.value, y.value) ? 1 : better(by, y.value, x.value) ? 0 : 0.5;
    const double ratio = std::log(y.value / x.value) * (by.better == Better::higher ? -1 : 1);
    const bool open =
        x.asleep.has_value() != y.asleep.has_value() && (x.leaves_open(y.value) || y.leaves_open(x.value));
    if (open || std::abs(ratio) < kRoundedRatio)
        return 0.5;
    const double s = scale_of(x.interval), t = scale_of(y.interval);
    const double squared = (s * s + t * t - 2 * correlation(a, b) * s * t) * difference_scale(a, b);
    if (!(squared > kRoundedRatio * kRoundedRatio))
        return ratio > 0 ? 1 : 0;
    return student_t(ratio / std::sqrt(squared), kErrorDegreesOfFreedom);
}

SpreadOf error_metric(const Metric& by, const Result& result) {
    for (const Metric* draw :
         {&metric::energy, &metric::power, &metric::efficiency, &metric::carbon, &metric::balance})
        if (by.key == draw->key)
            return SpreadOf::energy;
    if (result.generation)
        return SpreadOf::decode;
    return result.conditions.scenario == Scenario::throughput ? SpreadOf::throughput : SpreadOf::latency;
}

ErrorTerms error_terms(const Result& result, SpreadOf metric) {
    ErrorTerms terms;
    terms.result = &result;
    terms.metric = metric;
    const Estimate& e = result.estimate;
    terms.lanes = lane_shares(e);
    if (result.machine && result.machine->uncertainty && result.device && result.runtime)
        terms.parts = result.machine->uncertainty->parts(metric, *result.device, *result.runtime);
    if (terms.parts && !e.unlike.empty() && !of_draw(metric))
        terms.parts->cell += result.machine->uncertainty->held().kind_variance;
    return terms;
}

double correlation(const ErrorTerms& a, const ErrorTerms& b) {
    const Result &r = *a.result, &q = *b.result;
    const bool device = same(r, q, [](const Result& x) { return x.device; });
    const bool stack = same(r, q, [](const Result& x) { return x.runtime; });
    const bool network = r.model && q.model && r.model->name == q.model->name;
    const bool kin = stack && r.device && q.device && r.device->family == q.device->family;
    const bool workload =
        kin && network && r.estimate.batch == q.estimate.batch && r.estimate.executed == q.estimate.executed;
    if (!a.parts || !b.parts)
        return device && stack && network ? 1 : 0;
    const ErrorParts &p = *a.parts, &s = *b.parts;
    const auto lanes = [](const LaneShares& x, const LaneShares& y) {
        return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
    };
    const bool metric = a.metric == b.metric;
    CommonEffects common;
    common.device = device;
    common.set = device && stack && metric;
    common.stack = kin && metric;
    common.workload = workload;
    common.generation =
        workload && !r.device->generation.empty() && r.device->generation == q.device->generation;
    common.cell = device && network;
    const double scale = std::sqrt(p.total(lanes(a.lanes, a.lanes)) * s.total(lanes(b.lanes, b.lanes)));
    return scale > 0 ? std::clamp(covariance(p, s, common, lanes(a.lanes, b.lanes)) / scale, 0.0, 1.0) : 0;
}

double probability_better(const Metric& by, const Result& a, const Measure& x, const Result& b,
                          const Measure& y) {
    return probability(by, error_terms(a, error_metric(by, a)), x, error_terms(b, error_metric(by, b)), y);
}

Contest::Contest(std::span<const Result> results, const Metric& by, const CostOptions& conditions) : by_(by) {
    for (const Result& result : results) {
        measures_.push_back(measure_of(result, by, conditions));
        terms_.push_back(measures_.back() ? error_terms(result, error_metric(by, result)) : ErrorTerms{});
    }
}

double Contest::probability_better(std::size_t a, std::size_t b) const {
    return probability(by_, terms_[a], *measures_[a], terms_[b], *measures_[b]);
}

std::optional<double> width_after_measuring(const Result& result) {
    const double scale = scale_of(result.estimate.latency_interval);
    const ErrorTerms terms = error_terms(result, SpreadOf::latency);
    if (!result.ok() || result.generation || !terms.parts || scale == 0)
        return std::nullopt;
    const ErrorSubject of = UncertaintyTable::subject(terms.metric, *result.device, *result.runtime);
    GivenRow row;
    row.family = of.family;
    row.device = of.device;
    row.runtime = of.runtime;
    row.metric = of.metric;
    row.lanes = terms.lanes;
    row.parts = *terms.parts;
    std::vector<GivenRow> rows = result.machine->uncertainty->given();
    const double known = posterior(rows, of, *terms.parts).fall_at(terms.lanes);
    rows.push_back(std::move(row));
    const double more = posterior(rows, of, *terms.parts).fall_at(terms.lanes);
    return std::exp(2 * kErrorReach * std::sqrt(std::max(0.0, scale * scale - (more - known))));
}

} // namespace archsim
