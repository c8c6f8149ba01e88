// The conclusions of a sweep beyond its rows: what binds the listed points, what each part does alone, where
// that bends, and which part would help next.

#include "answers/sweep/sweep_report.hpp"
#include "core/lists.hpp"
#include "result/bound_shares.hpp"
#include "session/varied_part.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace archsim {

constexpr std::size_t kStudied = 100;    ///< points of which it is said what binds them
constexpr std::size_t kCurves = 12;      ///< pairs of a model and a device
constexpr std::size_t kCurvePoints = 33; ///< of one curve; more say nothing
constexpr double kNext = 2;              ///< what is tried on every part, and its inverse
constexpr double kWorthNaming = 1.01;    ///< gains below that are none
constexpr double kBends = 2;             ///< slope before the knee over slope beyond it

using Factors = std::map<std::string, double>;

/// Times better than `base`.
static double gain_over(const Metric& metric, double base, double value) {
    return metric.better == Better::higher ? value / base : base / value;
}

static std::optional<double> value_at(const Result& result, const Metric& metric, const MetricView& view) {
    return result.ok() ? value_of(result, metric, view.conditions) : std::nullopt;
}

static SweepPointFacts facts_of(const Result& result) {
    SweepPointFacts facts;
    facts.moved = result.estimate.events[Event::dram_byte] + result.estimate.events[Event::host_link_byte];
    if (const auto shares = bound_shares(result)) {
        facts.bound = binding_text(result);
        facts.bound_share = shares->binding();
    }
    return facts;
}

/// Why the estimate does not depend on a part.
static std::string unused_in(const std::string& part, const Result& result) {
    if (part == info_of(Lever::bandwidth).name && result.machine && !result.device->dram)
        return "it has no external memory";
    const auto levels = levels_without_time(result);
    return part == info_of(Lever::on_chip).name && levels.size() == result.device->memory.size()
               ? "no time is counted for the bandwidth of its on-chip memory"
               : "";
}

/// At most kCurvePoints of the factors, evenly spread over their order, and 1.
static std::vector<double> charted(std::vector<double> factors) {
    factors.push_back(1);
    std::ranges::sort(factors);
    factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
    if (factors.size() <= kCurvePoints)
        return factors;
    auto some = mapped(indices(kCurvePoints),
                       [&](std::size_t i) { return factors[i * (factors.size() - 1) / (kCurvePoints - 1)]; });
    if (!contains(some, 1.0))
        some.insert(std::ranges::lower_bound(some, 1.0), 1.0);
    return some;
}

static SweepCurve curve_of(const Sweep& sweep, std::uint64_t workload, const SweepAxis& axis,
                           const std::vector<double>& factors, const Metric& metric) {
    const MetricView& view = sweep.request().view;
    SweepCurve curve;
    curve.part = axis.name;
    std::optional<double> own;
    for (const double factor : charted(factors)) {
        const Result result = sweep.result(workload, {{axis.name, factor}});
        const auto value = value_at(result, metric, view);
        if (!value)
            continue;
        curve.points.push_back({factor, *value, facts_of(result)});
        curve.unused = unused_in(axis.name, result);
        if (factor == 1)
            own = value;
    }
    for (SweepCurve::Point& point : curve.points)
        if (own && *own > 0 && point.value > 0)
            point.facts.gain = gain_over(metric, *own, point.value);
    curve.knee = knee_of(curve.points, metric);
    return curve;
}

/// Every part that a device has, doubled or halved on top of the point, whichever helps.
static std::vector<NextFactor> next_of(const Sweep& sweep, const SweepRow& best, const Metric& metric) {
    const Factors own = sweep.factors(best.point);
    const double now = *best.value(metric);
    std::vector<NextFactor> found;
    for (const VariedPart& varied : varied_parts()) {
        const std::string part(varied.name());
        std::optional<NextFactor> better_one;
        for (const double factor : {kNext, 1 / kNext}) {
            Factors factors = own;
            factors.try_emplace(part, 1).first->second *= factor;
            std::optional<double> value;
            try {
                value = value_at(sweep.result(best.point, factors), metric, sweep.request().view);
            } catch (const Error&) { // a structure that the device cannot have
                continue;
            }
            if (!value || !(*value > 0) || !(now > 0))
                continue;
            const double gain = gain_over(metric, now, *value);
            if (gain > kWorthNaming && (!better_one || gain > better_one->gain))
                better_one = NextFactor{best.model, part, factor, *value, gain};
        }
        if (better_one)
            found.push_back(*better_one);
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, &NextFactor::gain);
    return found;
}

std::optional<std::size_t> knee_of(const std::vector<SweepCurve::Point>& points, const Metric& metric) {
    if (points.size() < 3 || std::ranges::any_of(points, [](const SweepCurve::Point& p) {
            return !(p.value > 0 && p.factor > 0);
        }))
        return std::nullopt;
    const auto x = [&](std::size_t i) { return std::log(points[i].factor / points.front().factor); };
    const auto y = [&](std::size_t i) {
        return std::log(gain_over(metric, points.front().value, points[i].value));
    };
    const std::size_t last = points.size() - 1;
    const double mean = y(last) / x(last);
    std::size_t knee = 0;
    double farthest = 0;
    for (std::size_t i = 1; i < last; ++i)
        if (const double above = y(i) - mean * x(i); above > farthest) {
            knee = i;
            farthest = above;
        }
    if (knee == 0 || std::exp(y(knee)) < kWorthNaming)
        return std::nullopt;
    const double before = y(knee) / x(knee), beyond = (y(last) - y(knee)) / (x(last) - x(knee));
    return before > kBends * beyond ? std::optional(knee) : std::nullopt;
}

std::optional<SweepRow> SweepSummary::headline(const std::string& model) const {
    for (const auto* kind : {&winners, &projected_winners})
        if (!kind->empty())
            if (auto row = kind->front().row_of(model))
                return row;
    return std::nullopt;
}

void SweepSummary::study(const Sweep& sweep) {
    const Metric& metric = best.metric();
    const SweepRequest& q = sweep.request();
    notes = sweep.notes();
    std::uint64_t of_axes = 1;
    for (const SweepAxis& axis : q.axes)
        of_axes *= axis.factors.size();
    std::map<std::uint64_t, std::optional<double>> own_values; // by the number of the workload
    const auto own_value = [&](std::uint64_t point) {
        const std::uint64_t workload = point / of_axes;
        if (const auto known = own_values.find(workload); known != own_values.end())
            return known->second;
        return own_values[workload] = value_at(sweep.result(point, {}), metric, q.view);
    };
    std::vector<SweepRow> listed;
    std::set<std::string> models;
    for (const SweepRow& row : best.rows())
        if (models.insert(row.model).second)
            if (auto named = headline(row.model))
                listed.push_back(std::move(*named));
    const std::vector<SweepRow> headlines = listed;
    append(listed, best.rows());
    if (front)
        append(listed, front->rows());
    for (const SweepRow& row : listed) {
        if (facts.size() >= kStudied || facts.contains(row.point) || row.status != Status::ok)
            continue;
        SweepPointFacts& known = facts[row.point] =
            facts_of(sweep.result(row.point, sweep.factors(row.point)));
        const auto own = q.axes.empty() ? std::nullopt : own_value(row.point);
        const auto value = row.value(metric);
        if (own && value && *own > 0 && *value > 0)
            known.gain = gain_over(metric, *own, *value);
    }
    if (q.axes.empty())
        return;
    for (const auto* kind : {&winners, &projected_winners})
        for (const BestRows& winner : *kind)
            for (const SweepRow& row : winner.rows())
                if (const auto own = value_at(sweep.result(row.point, {}), winner.metric(), q.view))
                    stated[{row.point, winner.metric().key}] = *own;
    const std::uint64_t of_device = of_axes * q.batches.size() * q.precisions.size();
    for (std::size_t pair = 0; pair < std::min(kCurves, q.models.size() * q.hardware.size()); ++pair)
        for (std::size_t a = 0; a < q.axes.size(); ++a) {
            const std::size_t hardware = pair % q.hardware.size();
            SweepCurve curve = curve_of(sweep, pair * of_device, q.axes[a], sweep.built(a, hardware), metric);
            curve.model = q.models[pair / q.hardware.size()];
            curve.hardware = q.hardware[hardware];
            if (curve.points.size() > 1)
                curves.push_back(std::move(curve));
        }
    for (const SweepRow& row : headlines)
        if (row.status == Status::ok)
            append(next, next_of(sweep, row, metric));
}

} // namespace archsim
