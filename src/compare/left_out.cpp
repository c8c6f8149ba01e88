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
/// Exchangeable groups from which a regime has a class of its own.
constexpr std::size_t kGroupsOfRegime = 5;

constexpr std::array kMetrics = {SpreadOf::latency,     SpreadOf::throughput, SpreadOf::prefill,
                                 SpreadOf::decode,      SpreadOf::energy,     SpreadOf::power,
                                 SpreadOf::first_token, SpreadOf::later_token};
constexpr std::array kEvidence = {Evidence::device, Evidence::stack, Evidence::none};

using Devices = std::map<std::string, std::set<std::string>>;

/// What is left to go by: after a network everything else, after a device the stack where other devices carry
/// it, after a family nothing.
std::string evidence_after(LeaveOut what, const Prediction& shipped, const Devices& of_stack) {
    if (what == LeaveOut::model)
        return shipped.evidence;
    const auto devices = of_stack.find(shipped.runtime);
    const bool others = devices != of_stack.end() && devices->second.size() > 1;
    const bool known = what == LeaveOut::device && others && shipped.evidence != name_of(Evidence::none);
    return std::string(name_of(known ? Evidence::stack : Evidence::none));
}

/// The shipped rows with left-out predictions, without intervals.
std::vector<ValidatedRow> replaced(const Validation& shipped,
                                   const std::map<std::string, double>& predictions, LeaveOut what) {
    Devices of_stack;
    for (const ValidatedRow& row : shipped.rows)
        if (row.prediction.ok())
            of_stack[row.prediction.runtime].insert(row.measured.hardware);
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
        row.prediction.evidence = evidence_after(what, row.prediction, of_stack);
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

std::string regime_for(const IntervalMaker& maker, const std::string& family, Evidence evidence,
                       SpreadOf metric, const std::string& regime) {
    const bool own = metric != SpreadOf::energy && metric != SpreadOf::power &&
                     maker.groups(family, evidence, metric, regime) >= kGroupsOfRegime;
    return own ? regime : std::string();
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
        set_interval(
            maker->second.band(own, evidence, metric,
                               regime_for(maker->second, own, evidence, metric, row.prediction.regime)),
            row);
    }
}

std::string_view basis_of(Evidence evidence) {
    switch (evidence) {
    case Evidence::device:
        return "left-out networks on devices with their own fit";
    case Evidence::stack:
        return "left-out devices of fitted stacks";
    case Evidence::none:
        break;
    }
    return "whole families left out";
}

ResidualClassFacts class_of(IntervalMaker& maker, const std::string& family, Evidence evidence,
                            SpreadOf metric, const std::string& regime) {
    const Band& band = maker.band(family, evidence, metric, regime);
    ResidualClassFacts facts;
    facts.metric = name_of(metric);
    facts.family = family;
    facts.evidence = name_of(evidence);
    facts.regime = regime;
    facts.low = std::exp(band.low);
    facts.high = std::exp(band.high);
    facts.rows = band.rows;
    std::string subject;
    for (const std::string& part : {family, regime})
        if (!part.empty())
            subject += part + ", ";
    facts.basis = fmt::format("{}{}, {} rows of {} {}", subject, basis_of(evidence), band.rows, band.groups,
                              evidence == Evidence::device ? "networks"
                              : family.empty()             ? "families"
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
    const IntervalMaker maker(
        {summarize(without_model), summarize(without_device), summarize(without_family), 0});
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
    std::set<std::string> devices, stacks;
    for (const ValidatedRow& row : validation.rows)
        if (row.prediction.ok() && row.measured.weight >= kTrustedWeight) {
            devices.insert(row.measured.hardware);
            stacks.insert(row.prediction.family + " " + row.prediction.runtime);
        }
    return {{devices.begin(), devices.end()}, {stacks.begin(), stacks.end()}};
}

std::vector<ResidualClassFacts> projection_classes(const std::vector<ResidualClassFacts>& classes) {
    const auto find = [&](std::string_view metric, std::string_view family, std::string_view evidence) {
        return std::find_if(classes.begin(), classes.end(), [&](const ResidualClassFacts& c) {
            return c.metric == metric && c.family == family && c.evidence == evidence && c.regime.empty();
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
    IntervalMaker maker(left_out);
    std::vector<ResidualClassFacts> classes;
    for (const SpreadOf metric : kMetrics) {
        for (const std::string& family : maker.families())
            for (const Evidence evidence : kEvidence) {
                classes.push_back(class_of(maker, family, evidence, metric, {}));
                for (const std::string regime : {"compute", "memory", "overhead"})
                    if (!regime_for(maker, family, evidence, metric, regime).empty())
                        classes.push_back(class_of(maker, family, evidence, metric, regime));
            }
        ResidualClassFacts rest = class_of(maker, {}, Evidence::none, metric, {});
        rest.evidence.clear(); // a family without rows has no evidence that was tried
        classes.push_back(std::move(rest));
    }
    return classes;
}

} // namespace archsim
