#include "archsim/compare/left_out.hpp"

#include "compare/interval_maker.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace archsim {

namespace {

constexpr double kOutdated = 0.01;

constexpr std::array kMetrics = {SpreadOf::latency,     SpreadOf::throughput, SpreadOf::prefill,
                                 SpreadOf::decode,      SpreadOf::energy,     SpreadOf::power,
                                 SpreadOf::first_token, SpreadOf::later_token};
constexpr std::array kEvidence = {Evidence::device, Evidence::stack, Evidence::none};
constexpr std::array kRegimes = {"", "compute", "memory", "overhead"}; ///< the first: of any

using Members = std::map<std::string, std::set<std::string>>;

/// What was measured: devices of each stack, and networks of each device under its stack.
struct Measured {
    explicit Measured(const Validation& shipped) {
        for (const ValidatedRow& row : shipped.rows)
            if (row.prediction.ok()) {
                devices[row.prediction.runtime].insert(row.measured.hardware);
                networks[pair_of(row)].insert(row.measured.model);
            }
    }
    static std::string pair_of(const ValidatedRow& row) {
        return row.measured.hardware + " " + row.prediction.runtime;
    }
    Members devices, networks;
};

/// What is left to go by: after a network the other networks of its device where there are any, after a
/// device the stack where other devices carry it, after a family nothing.
std::string evidence_after(LeaveOut what, const ValidatedRow& row, const Measured& measured) {
    const auto others = [](const Members& members, const std::string& of) {
        const auto found = members.find(of);
        return found != members.end() && found->second.size() > 1;
    };
    const bool fitted = row.prediction.evidence != name_of(Evidence::none);
    if (what == LeaveOut::model && fitted)
        return std::string(
            name_of(others(measured.networks, Measured::pair_of(row)) ? Evidence::device : Evidence::stack));
    const bool known = what == LeaveOut::device && fitted && others(measured.devices, row.prediction.runtime);
    return std::string(name_of(known ? Evidence::stack : Evidence::none));
}

/// The shipped rows with left-out predictions, without intervals.
std::vector<ValidatedRow> replaced(const Validation& shipped,
                                   const std::map<std::string, double>& predictions, LeaveOut what) {
    const Measured measured(shipped);
    std::vector<ValidatedRow> rows = shipped.rows;
    for (ValidatedRow& row : rows) {
        if (!row.prediction.ok())
            continue;
        const auto found = predictions.find(row.measured.id);
        if (found == predictions.end() || std::isnan(found->second)) {
            row.prediction.status = "not_left_out";
            row.prediction.reason = "no left-out prediction; write them again with scripts/validate";
            continue;
        }
        row.prediction.evidence = evidence_after(what, row, measured);
        row.prediction.predicted = row.prediction.low = row.prediction.high = found->second;
    }
    return rows;
}

void set_interval(const Band& band, ValidatedRow& row) {
    Prediction& p = row.prediction;
    const double low = std::exp(band.low), high = std::exp(band.high);
    const bool rate = row.measured.metric == MeasuredMetric::throughput_per_s;
    p.low = rate ? p.predicted / high : p.predicted * low;
    p.high = rate ? p.predicted / low : p.predicted * high;
}

Evidence evidence_named(const std::string& name) {
    for (const Evidence evidence : kEvidence)
        if (name == name_of(evidence))
            return evidence;
    return Evidence::none;
}

/// The narrowest class that enough groups have rows of: those of the stack and the regime, of the stack, of
/// the regime, of the family. The table that is written answers in the same order. A family without rows has
/// one width for each regime, and power and energy of what nobody measured follow from all families.
IntervalClass class_for(IntervalMaker& maker, IntervalClass wanted) {
    const bool drawn = wanted.metric == SpreadOf::energy || wanted.metric == SpreadOf::power;
    const bool narrow_ones = !wanted.family.empty() && (!drawn || wanted.evidence != Evidence::none);
    IntervalClass of_family = wanted, of_stack = wanted, of_regime = wanted;
    of_family.runtime = of_stack.regime = of_regime.runtime = {};
    of_family.regime = {};
    if (wanted.family.empty() && !drawn)
        return of_regime;
    for (const IntervalClass& narrow : {wanted, of_stack, of_regime})
        if (narrow_ones && maker.groups(narrow) >= kGroupsOfOwn)
            return narrow;
    return of_family;
}

/// Intervals from a table that has not seen the row's network, device or family.
void nest(const IntervalMaker& all, LeaveOut what, std::vector<ValidatedRow>& rows) {
    std::map<std::string, IntervalMaker> makers;
    for (ValidatedRow& row : rows) {
        if (!row.prediction.ok())
            continue;
        const std::string model = what == LeaveOut::model ? row.measured.model : std::string("-");
        const std::string device = what == LeaveOut::device ? row.measured.hardware : std::string("-");
        const std::string family = what == LeaveOut::family ? row.prediction.family : std::string("-");
        const std::string key = model + '\n' + device + '\n' + family;
        auto maker = makers.find(key);
        if (maker == makers.end())
            maker = makers.emplace(key, all.without(model, device, family)).first;
        const SpreadOf metric = metric_of(row.measured);
        const Evidence evidence = evidence_named(row.prediction.evidence);
        // A family that is left out is one without rows.
        const std::string own = what == LeaveOut::family ? std::string() : row.prediction.family;
        const IntervalClass wanted{own, evidence, metric, row.prediction.runtime, row.prediction.regime};
        set_interval(maker->second.band(class_for(maker->second, wanted)), row);
    }
}

std::string_view basis_of(Evidence evidence) {
    switch (evidence) {
    case Evidence::device:
        return "left-out networks";
    case Evidence::stack:
        return "left-out devices";
    case Evidence::none:
        break;
    }
    return "left-out families";
}

ResidualClassFacts facts_of(IntervalMaker& maker, const IntervalClass& c) {
    const Band& band = maker.band(c);
    ResidualClassFacts facts;
    facts.metric = name_of(c.metric);
    facts.family = c.family;
    facts.evidence = name_of(c.evidence);
    facts.runtime = c.runtime;
    facts.regime = c.regime;
    facts.low = std::exp(band.low);
    facts.high = std::exp(band.high);
    facts.rows = band.rows;
    std::string subject;
    for (const std::string& part : {c.family, c.runtime, c.regime})
        if (!part.empty())
            subject += part + ", ";
    facts.basis = fmt::format("{}{}, {} rows of {} {}", subject, basis_of(c.evidence), band.rows, band.groups,
                              c.evidence == Evidence::device ? "networks"
                              : c.family.empty()             ? "families"
                                                             : "devices");
    return facts;
}

} // namespace

std::string_view name_of(LeaveOut what) {
    return what == LeaveOut::model ? "model" : what == LeaveOut::device ? "device" : "family";
}

LeftOutValidation left_out_validation(const Validation& shipped, const std::vector<LeftOutRow>& rows) {
    std::map<std::string, double> model, device, family, before;
    for (const LeftOutRow& row : rows) {
        model[row.id] = row.without_model;
        device[row.id] = row.without_device;
        family[row.id] = row.without_family;
        before[row.id] = row.shipped;
    }
    std::vector<ValidatedRow> without_model = replaced(shipped, model, LeaveOut::model);
    std::vector<ValidatedRow> without_device = replaced(shipped, device, LeaveOut::device);
    std::vector<ValidatedRow> without_family = replaced(shipped, family, LeaveOut::family);
    const IntervalMaker maker(without_model, without_device, without_family);
    nest(maker, LeaveOut::model, without_model);
    nest(maker, LeaveOut::device, without_device);
    nest(maker, LeaveOut::family, without_family);
    LeftOutValidation result{summarize(std::move(without_model)), summarize(std::move(without_device)),
                             summarize(std::move(without_family)), 0};
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
    std::set<std::string> devices, stacks, pairs;
    for (const ValidatedRow& row : validation.rows)
        if (row.prediction.ok() && row.measured.weight >= kTrustedWeight) {
            devices.insert(row.measured.hardware);
            stacks.insert(row.prediction.family + " " + row.prediction.runtime);
            pairs.insert(Measured::pair_of(row));
        }
    return {{devices.begin(), devices.end()}, {stacks.begin(), stacks.end()}, {pairs.begin(), pairs.end()}};
}

std::vector<ResidualClassFacts> projection_classes(const std::vector<ResidualClassFacts>& classes) {
    const auto find = [&](std::string_view metric, std::string_view family, std::string_view evidence) {
        return std::find_if(classes.begin(), classes.end(), [&](const ResidualClassFacts& c) {
            return c.metric == metric && c.family == family && c.evidence == evidence && c.runtime.empty() &&
                   c.regime.empty();
        });
    };
    std::vector<ResidualClassFacts> result;
    for (const SpreadOf metric : kMetrics) {
        const auto cpu = find(name_of(metric), "cpu", name_of(Evidence::none));
        const auto any = find(name_of(metric), {}, {});
        for (const std::string family : {"cpu", "gpu", ""}) {
            const auto own = family.empty() ? any : cpu;
            if (own == classes.end())
                continue;
            ResidualClassFacts facts = *own;
            facts.family = family;
            facts.evidence.clear();
            if (cpu != classes.end()) {
                facts.low = std::min(facts.low, cpu->low);
                facts.high = std::max(facts.high, cpu->high);
            }
            facts.basis = "projection, nothing measured on this chip or stack: " + facts.basis;
            result.push_back(std::move(facts));
        }
    }
    return result;
}

std::vector<ResidualClassFacts> residual_classes(const LeftOutValidation& left_out) {
    IntervalMaker maker(left_out.without_model.rows, left_out.without_device.rows,
                        left_out.without_family.rows);
    std::vector<ResidualClassFacts> classes;
    for (const SpreadOf metric : kMetrics) {
        for (const std::string& family : maker.families())
            for (const Evidence evidence : kEvidence) {
                std::vector<std::string> stacks = maker.stacks(family);
                stacks.insert(stacks.begin(), std::string());
                for (const std::string& stack : stacks)
                    for (const std::string regime : kRegimes) {
                        const IntervalClass wanted{family, evidence, metric, stack, regime};
                        if (class_for(maker, wanted) == wanted)
                            classes.push_back(facts_of(maker, wanted));
                    }
            }
        for (const std::string regime : kRegimes) {
            const IntervalClass wanted{{}, Evidence::none, metric, {}, regime};
            if (class_for(maker, wanted) != wanted)
                continue;
            ResidualClassFacts rest = facts_of(maker, wanted);
            rest.evidence.clear(); // a family without rows has no evidence that was tried
            classes.push_back(std::move(rest));
        }
    }
    return classes;
}

} // namespace archsim
