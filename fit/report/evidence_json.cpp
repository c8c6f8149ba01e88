// What was measured, and whether estimates held, as hardware_db/evidence.json: one chip, stack, kind of
// network and kind of time a line.

#include "fit/errors/quantile.hpp"
#include "fit/report/validation_report.hpp"
#include "hardware/held_rows.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace archsim {

namespace {

struct HeldGroup {
    HeldSet set;
    std::vector<double> slowness;
    std::map<std::string, int> models;
};

TimeKind time_of_row(const MeasuredRow& row) {
    return row.phase.empty()                  ? TimeKind::inference
           : row.phase.starts_with("served_") ? TimeKind::served
           : row.phase == "prefill"           ? TimeKind::prefill
                                              : TimeKind::decode;
}

std::vector<HeldGroup> held_groups(const Validation& validation) {
    std::map<std::tuple<std::string, std::string, NetworkKind, TimeKind>, HeldGroup> groups;
    for (const ValidatedRow& row : validation.rows) {
        const Prediction& p = row.prediction;
        if (!p.ok() || row.of_power() || !(p.predicted > 0) || !(row.measured.value > 0))
            continue;
        const TimeKind time = time_of_row(row.measured);
        HeldGroup& group = groups[{p.device, p.runtime, p.kind, time}];
        group.set = {p.family, p.vendor,           p.generation,
                     p.device, p.runtime,          p.kind,
                     time,     group.set.rows + 1, group.set.inside + (row.covered() ? 1 : 0)};
        group.slowness.push_back(row.slowness());
        ++group.models[row.measured.model];
    }
    std::vector<HeldGroup> list;
    for (auto& [key, group] : groups) {
        std::vector<double>& all = group.slowness;
        std::sort(all.begin(), all.end());
        group.set.low = quantile(all, 0.1);
        group.set.median = quantile(all, 0.5);
        group.set.high = quantile(all, 0.9);
        group.set.example = std::max_element(group.models.begin(), group.models.end(), [](auto& a, auto& b) {
                                return a.second < b.second;
                            })->first;
        list.push_back(std::move(group));
    }
    return list;
}

/// How far the median errors of two kinds of networks on one chip and stack differ, by the median of all such
/// pairs: what one kind tells of another. Of independent parts each kind has half of the squared difference.
double deviation_between_kinds(const std::vector<HeldGroup>& groups) {
    constexpr int kRowsOfMedian = 3;
    constexpr double kOfNormal = 0.6745; // the median of absolute values, in standard deviations
    std::vector<double> differences;
    for (std::size_t i = 0; i < groups.size(); ++i)
        for (std::size_t k = i + 1; k < groups.size(); ++k) {
            const HeldSet &a = groups[i].set, &b = groups[k].set;
            if (a.device == b.device && a.runtime == b.runtime && a.time == b.time &&
                a.rows >= kRowsOfMedian && b.rows >= kRowsOfMedian)
                differences.push_back(std::abs(std::log(a.median / b.median)));
        }
    std::sort(differences.begin(), differences.end());
    return differences.empty() ? 0 : quantile(differences, 0.5) / kOfNormal;
}

double three_digits(double value) {
    return std::stod(fmt::format("{:.3g}", value));
}

} // namespace

std::string evidence_json(const Validation& validation) {
    const std::vector<HeldGroup> groups = held_groups(validation);
    std::vector<std::string> lines;
    for (const HeldGroup& group : groups) {
        const HeldSet& set = group.set;
        nlohmann::ordered_json line = {{"family", set.family}, {"vendor", set.vendor}};
        if (!set.generation.empty())
            line["generation"] = set.generation;
        line.update({{"device", set.device},
                     {"runtime", set.runtime},
                     {"kind", name_of(set.kind)},
                     {"time", name_of(set.time)},
                     {"rows", set.rows},
                     {"inside", set.inside},
                     {"low", three_digits(set.low)},
                     {"median", three_digits(set.median)},
                     {"high", three_digits(set.high)},
                     {"example", set.example}});
        lines.push_back("    " + line.dump());
    }
    return fmt::format(
        "{{\n"
        "  \"$schema\": \"evidence_schema.json\",\n"
        "  \"description\": [\"Every measured row beside its estimate, written by scripts/validate "
        "evidence.\"],\n"
        "  \"kind_deviation\": {},\n"
        "  \"sets\": [\n{}\n  ]\n"
        "}}\n",
        three_digits(deviation_between_kinds(groups)), fmt::join(lines, ",\n"));
}

} // namespace archsim
