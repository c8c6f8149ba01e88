#include "archsim/compare/left_out.hpp"

#include "compare/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>

namespace archsim {

namespace {

constexpr double kOutdated = 0.01;

// See residual_classes() for what these mean.
constexpr double kTail = 0.05;
constexpr double kDrawnTowards = 15;
constexpr double kUnmeasuredWidening = 1.5;
constexpr double kUnmeasuredLeast = 1.6;
constexpr std::size_t kFewRows = 10;
constexpr double kFewRowsFactor = 2;
constexpr double kPowerFactor = 1.25;
constexpr double kProjectionFactor = 3.5;

/// log(measured / predicted) of a row, turned so that it is about time.
struct Residual {
    std::string family, runtime, regime, evidence;
    double value = 0;
};

bool is_rate(const MeasuredRow& row) {
    return row.metric == MeasuredMetric::throughput_per_s;
}

std::vector<Residual> residuals_of(const Validation& validation) {
    std::vector<Residual> result;
    for (const ValidatedRow& row : validation.rows) {
        const bool time = row.measured.metric == MeasuredMetric::latency_ms || is_rate(row.measured);
        if (!row.prediction.ok() || !time || row.measured.weight < kTrustedWeight)
            continue;
        const double ratio = std::log(row.measured.value / row.prediction.predicted);
        result.push_back({row.prediction.family, row.prediction.runtime, row.prediction.regime,
                          row.prediction.evidence, is_rate(row.measured) ? -ratio : ratio});
    }
    return result;
}

/// Logarithms of the factors.
struct Band {
    double low = 0, high = 0;
    std::size_t rows = 0;
};

/// Percentiles of the residuals, drawn towards the band around them. With few rows the extreme ones stand
/// for the tails: the (n + 1)-quantile, as for a new row.
Band band_of(std::vector<double> values, const Band* around) {
    Band band;
    band.rows = values.size();
    if (values.empty())
        return around ? Band{around->low, around->high, 0} : Band{};
    std::sort(values.begin(), values.end());
    const auto n = static_cast<double>(values.size());
    const double share = std::min(1.0, (1 - kTail) * (n + 1) / n);
    band.high = quantile(values, share);
    band.low = quantile(values, 1 - share);
    if (around) {
        band.low = (n * band.low + kDrawnTowards * around->low) / (n + kDrawnTowards);
        band.high = (n * band.high + kDrawnTowards * around->high) / (n + kDrawnTowards);
    }
    // An estimate is part of its own interval.
    band.low = std::min(band.low, 0.0);
    band.high = std::max(band.high, 0.0);
    return band;
}

using Pick = std::function<bool(const Residual&)>;

std::vector<double> chosen(const std::vector<Residual>& residuals, const Pick& pick) {
    std::vector<double> values;
    for (const Residual& residual : residuals)
        if (pick(residual))
            values.push_back(residual.value);
    return values;
}

class ClassMaker {
  public:
    explicit ClassMaker(const LeftOutValidation& left_out)
        : models_(residuals_of(left_out.without_model)), devices_(residuals_of(left_out.without_device)) {}

    std::vector<ResidualClassFacts> run() {
        const Band all = band_of(pool("stack", [](const Residual&) { return true; }), nullptr);
        std::map<std::string, std::size_t> families;
        for (const Residual& residual : models_)
            ++families[residual.family];
        for (const auto& [family, n] : families)
            add_family(family, n, all);
        ResidualClassFacts rest;
        const double factor = std::log(kFewRowsFactor);
        add({.low = -factor, .high = factor, .rows = 0}, rest,
            "no measurements of this family: a factor of two");
        return std::move(classes_);
    }

  private:
    /// The left-out errors that answer for one kind of evidence.
    std::vector<double> pool(const std::string& evidence, const Pick& pick) const {
        if (evidence == "device")
            return chosen(models_, [&](const Residual& r) { return pick(r) && r.evidence == "device"; });
        std::vector<double> values = chosen(devices_, pick);
        if (evidence == "stack")
            for (const double value :
                 chosen(models_, [&](const Residual& r) { return pick(r) && r.evidence != "device"; }))
                values.push_back(value);
        return values;
    }

    void add_family(const std::string& family, std::size_t n, const Band& all) {
        const bool few = n < kFewRows;
        const Pick in_family = [&](const Residual& r) { return r.family == family; };
        const Band whole = band_of(pool("stack", in_family), &all);
        for (const std::string evidence : {"device", "stack", "none"}) {
            Band band = band_of(pool(evidence, in_family), &whole);
            if (evidence == "none")
                band = widened(band);
            ResidualClassFacts facts;
            facts.family = family;
            facts.evidence = evidence;
            const std::string what = evidence == "device"  ? "devices with their own fit, left-out networks"
                                     : evidence == "stack" ? "left-out networks and devices"
                                                           : "left-out devices, widened";
            add(floored(band, few), facts, what);
            if (evidence == "none" || few)
                continue;
            add_regimes(facts, band, what, in_family, false);
            std::map<std::string, std::size_t> runtimes;
            for (const Residual& r : models_)
                if (r.family == family)
                    ++runtimes[r.runtime];
            for (const auto& [runtime, _] : runtimes) {
                const Pick with_runtime = [&in_family, &name = runtime](const Residual& r) {
                    return in_family(r) && r.runtime == name;
                };
                const Band own = band_of(pool(evidence, with_runtime), &band);
                if (own.rows == 0)
                    continue;
                facts.runtime = runtime;
                add(own, facts, what);
                add_regimes(facts, own, what, with_runtime, true);
                facts.runtime.clear();
            }
        }
    }

    void add_regimes(ResidualClassFacts facts, const Band& around, const std::string& what, const Pick& pick,
                     bool only_where_rows) {
        for (const std::string regime : {"compute", "memory", "overhead"}) {
            const Band band = band_of(
                pool(facts.evidence, [&](const Residual& r) { return pick(r) && r.regime == regime; }),
                &around);
            if (band.rows == 0 && only_where_rows)
                continue;
            facts.regime = regime;
            add(band, facts, what);
        }
    }

    static Band widened(Band band) {
        const double least = std::log(kUnmeasuredLeast);
        return {std::min(kUnmeasuredWidening * band.low, -least),
                std::max(kUnmeasuredWidening * band.high, least), band.rows};
    }
    static Band floored(Band band, bool few) {
        if (!few)
            return band;
        const double factor = std::log(kFewRowsFactor);
        return {std::min(band.low, -factor), std::max(band.high, factor), band.rows};
    }

    void add(const Band& band, ResidualClassFacts facts, const std::string& what) {
        facts.metric = "latency";
        facts.low = std::exp(band.low);
        facts.high = std::exp(band.high);
        facts.rows = band.rows;
        std::string subject;
        for (const std::string& part : {facts.family, facts.runtime, facts.regime})
            if (!part.empty())
                subject += part + ", ";
        facts.basis = fmt::format("{}{}, {} rows", subject, what, band.rows);
        classes_.push_back(facts);
        facts.metric = "energy";
        facts.low /= kPowerFactor;
        facts.high *= kPowerFactor;
        facts.basis += ", and 25 % of power";
        classes_.push_back(std::move(facts));
    }

    std::vector<Residual> models_, devices_;
    std::vector<ResidualClassFacts> classes_;
};

/// The shipped rows with left-out predictions; `device`: without measurements of the row's device.
Validation replaced(const Validation& shipped, const std::map<std::string, double>& predictions,
                    bool device) {
    std::vector<ValidatedRow> rows = shipped.rows;
    for (ValidatedRow& row : rows) {
        if (!row.prediction.ok())
            continue;
        const auto found = predictions.find(row.measured.id);
        if (found == predictions.end() || std::isnan(found->second)) {
            row.prediction.status = "not_left_out";
            row.prediction.reason =
                "no left-out prediction; write them again with validate_estimates --save-left-out";
            continue;
        }
        Prediction& p = row.prediction;
        const double ratio = found->second / p.predicted;
        p.predicted *= ratio;
        // A device that was not measured gets the interval of such a device.
        p.low = ratio * (device ? p.unfitted_low : p.low);
        p.high = ratio * (device ? p.unfitted_high : p.high);
    }
    return summarize(std::move(rows));
}

} // namespace

LeftOutValidation left_out_validation(const Validation& shipped, const std::vector<LeftOutRow>& rows) {
    std::map<std::string, double> without_model, without_device, before;
    for (const LeftOutRow& row : rows) {
        without_model[row.id] = row.without_model;
        without_device[row.id] = row.without_device;
        before[row.id] = row.shipped;
    }
    LeftOutValidation result{replaced(shipped, without_model, false), replaced(shipped, without_device, true),
                             0};
    for (const ValidatedRow& row : shipped.rows) {
        if (!row.prediction.ok())
            continue;
        const auto found = before.find(row.measured.id);
        if (found == before.end() || !(std::abs(found->second / row.prediction.predicted - 1) <= kOutdated))
            ++result.outdated;
    }
    return result;
}

MeasuredOn measured_on(const Validation& validation) {
    std::set<std::string> devices, stacks;
    for (const ValidatedRow& row : validation.rows)
        if (row.prediction.ok() && row.measured.weight >= kTrustedWeight) {
            devices.insert(row.measured.hardware);
            stacks.insert(row.prediction.family + " " + row.prediction.runtime);
        }
    return {{devices.begin(), devices.end()}, {stacks.begin(), stacks.end()}};
}

std::vector<ResidualClassFacts> projection_classes(const std::vector<ResidualClassFacts>& classes) {
    std::vector<ResidualClassFacts> result;
    for (const std::string metric : {"latency", "energy"}) {
        const auto unmeasured_cpu =
            std::find_if(classes.begin(), classes.end(), [&](const ResidualClassFacts& c) {
                return c.metric == metric && c.family == "cpu" && c.evidence == "none" && c.regime.empty();
            });
        if (unmeasured_cpu != classes.end())
            for (const std::string family : {"cpu", "gpu"}) {
                ResidualClassFacts facts = *unmeasured_cpu;
                facts.family = family;
                facts.evidence.clear();
                facts.basis = "projection, nothing measured on this chip or stack: " + facts.basis;
                result.push_back(std::move(facts));
            }
        ResidualClassFacts other;
        other.metric = metric;
        other.high = kProjectionFactor * (metric == "energy" ? kPowerFactor : 1);
        other.low = 1 / other.high;
        other.basis = fmt::format("projection, nothing measured on this chip or stack: a factor of {:g}{}",
                                  kProjectionFactor, metric == "energy" ? ", and 25 % of power" : "");
        result.push_back(std::move(other));
    }
    return result;
}

std::vector<ResidualClassFacts> residual_classes(const LeftOutValidation& left_out) {
    return ClassMaker(left_out).run();
}

} // namespace archsim
