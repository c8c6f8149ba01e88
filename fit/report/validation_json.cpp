#include "fit/report/validation_report.hpp"
#include "hardware/held_rows.hpp"
#include "hardware/uncertainty.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/render/answer_document.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace archsim {

static Members<ValidatedRow> validated_row_members() {
    using R = ValidatedRow;
    const auto predicted = [](double Prediction::*number) {
        return [number](const R& r) { return known(r.prediction.ok(), r.prediction.*number); };
    };
    const auto said = [](std::string Prediction::*text) {
        return [text](const R& r) { return nonempty(r.prediction.*text); };
    };
    const auto measured = [](auto MeasuredRow::*field) {
        return [field](const R& r) { return r.measured.*field; };
    };
    return {
        {"id", "", measured(&MeasuredRow::id)},
        {"status", "of the estimate", [](const R& r) { return r.prediction.status; }},
        {"reason", "why there is no estimate", said(&Prediction::reason)},
        {"predicted", "in the metric's unit", predicted(&Prediction::predicted)},
        {"low", "end of the 90 % interval", predicted(&Prediction::low)},
        {"high", "end of the 90 % interval", predicted(&Prediction::high)},
        {"value", "measured", measured(&MeasuredRow::value)},
        {"error", "predicted / measured - 1", [](const R& r) { return known(r.prediction.ok(), r.error()); }},
        {"metric", "", [](const R& r) { return name_of(r.measured.metric); }},
        {"model", "", measured(&MeasuredRow::model)},
        {"batch", "null: not published", measured(&MeasuredRow::batch)},
        {"precision", "", measured(&MeasuredRow::precision)},
        {"hardware", "", measured(&MeasuredRow::hardware)},
        {"power_mode", "", [](const R& r) { return nonempty(r.measured.power_mode); }},
        {"devices", "that the value belongs to", measured(&MeasuredRow::devices)},
        {"runtime", "software stack", measured(&MeasuredRow::runtime)},
        {"scope", "", measured(&MeasuredRow::scope)},
        {"weight", "trust, 0 to 1", measured(&MeasuredRow::weight)},
        {"family", "architecture", said(&Prediction::family), OneOf{family_names()}},
        {"regime", "", said(&Prediction::regime)},
        {"source", "", measured(&MeasuredRow::source)}};
}

static Members<RankAgreement> agreement_members() {
    using A = RankAgreement;
    return {{"tau", "Kendall's; null: nothing is comparable",
             [](const A& a) { return known(a.pairs > 0, a.tau); }},
            {"pairs", "", &A::pairs},
            {"groups", "", &A::groups}};
}

static Members<ValidationGroup> validation_group_members() {
    using G = ValidationGroup;
    const auto error = [](double ErrorStatistics::*number) {
        return [number](const G& g) { return known(g.errors.n > 0, g.errors.*number); };
    };
    return {{"n", "rows", [](const G& g) { return g.errors.n; }},
            {"median_ape", "median of |predicted / measured - 1|", error(&ErrorStatistics::median_ape)},
            {"mean_ape", "", error(&ErrorStatistics::mean_ape)},
            {"p90_ape", "", error(&ErrorStatistics::p90_ape)},
            {"bias", "geometric mean of predicted / measured, minus 1", error(&ErrorStatistics::bias)},
            {"within_10", "share of rows within 10 %", error(&ErrorStatistics::within_10)},
            {"within_25", "", error(&ErrorStatistics::within_25)},
            {"within_50", "", error(&ErrorStatistics::within_50)},
            {"interval_coverage", "share of measurements inside the 90 % interval",
             error(&ErrorStatistics::coverage)},
            {"tau_of_devices", "rank agreement of devices", &G::devices, agreement_members()},
            {"tau_of_models", "rank agreement of models", &G::models, agreement_members()}};
}

static Members<ValidationSummary> summary_members() {
    using S = ValidationSummary;
    std::vector<Member<S>> groupings;
    for (const std::string_view property : validation_groupings())
        groupings.emplace_back(
            "by_" + std::string(property), "by value; absent where no row has the property",
            [property](const S& s) {
                using Groups = std::vector<std::pair<std::string, ValidationGroup>>;
                Sometimes<Groups> groups;
                for (const auto& [by, list] : s.by)
                    if (by == property) {
                        groups.value.emplace();
                        for (const ValidationGroup& group : list)
                            groups.value->emplace_back(group.name, group);
                    }
                return groups;
            },
            validation_group_members());
    return validation_group_members()
        .of<S>([](const S& s) { return s.all; })
        .with(Members<S>(std::move(groupings)));
}

static std::size_t estimated_rows(const ValidationAnswer& answer) {
    const auto& rows = answer.validation.rows;
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const ValidatedRow& row) { return row.prediction.ok(); }));
}

// The variances of the error model as hardware_db/uncertainty.json, one row a line.

using Json = nlohmann::ordered_json;

constexpr double kDecimals = 1e4;

static double rounded(double value) {
    return std::round(value * kDecimals) / kDecimals;
}

/// A standard deviation of the logarithm.
static double deviation(double variance) {
    return rounded(std::sqrt(variance));
}

template <class Row, class Write>
static std::string lines_of(const std::vector<Row>& rows, Write write) {
    std::string lines;
    for (const Row& row : rows) {
        Json line = Json::object();
        write(row, line);
        lines += (lines.empty() ? "    " : ",\n    ") + line.dump();
    }
    return lines;
}

static void add(Json& line, const char* key, const std::string& value) {
    if (!value.empty())
        line[key] = value;
}

// The measurements, and whether estimates held, as hardware_db/evidence.json: one chip, stack, kind of
// network and kind of time a line.

struct HeldGroup {
    HeldSet set;
    std::vector<double> slowness;
    std::map<std::string, int> models;
};

static TimeKind time_of_row(const MeasuredRow& row) {
    return row.phase.empty()                  ? TimeKind::inference
           : row.phase.starts_with("served_") ? TimeKind::served
           : row.phase == "prefill"           ? TimeKind::prefill
                                              : TimeKind::decode;
}

static std::vector<HeldGroup> held_groups(const Validation& validation) {
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
static double deviation_between_kinds(const std::vector<HeldGroup>& groups) {
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

static double three_digits(double value) {
    return std::stod(fmt::format("{:.3g}", value));
}

AnswerDocument document_of(const ValidationAnswer& answer, const ValidationView&) {
    using A = ValidationAnswer;
    const Members<A> summary = {
        {"rows", "", [](const A& a) { return a.validation.rows.size(); }},
        {"estimated", "", estimated_rows},
        {"not_estimated", "", [](const A& a) { return a.validation.rows.size() - estimated_rows(a); }},
        {"trusted_weight", "from which a row counts as trusted", [](const A&) { return kTrustedWeight; }},
        {"trusted", "", [](const A& a) { return a.validation.trusted; }, summary_members()},
        {"all", "", [](const A& a) { return a.validation.every; }, summary_members()}};
    return {answer,
            "validate_estimates",
            "how far estimates are from measurements",
            {{"verdict", "the answer", [](const A& a) { return verdict_lines(a); }, lines_members()},
             {"rows", "", [](const A& a) { return std::span(a.validation.rows); }, validated_row_members()},
             {"summary", "", std::identity{}, summary},
             {"findings", "rows that could not be read", &A::findings, finding_members()}}};
}

std::string uncertainty_json(const ErrorModel& model) {
    const std::string within = lines_of(model.within, [](const ErrorModel::Within& row, Json& line) {
        add(line, "family", row.family);
        add(line, "runtime", row.runtime);
        if (row.metric >= 0)
            line["metric"] = name_of(static_cast<SpreadOf>(row.metric));
        line["deviation"] = deviation(row.variance);
        line["rows"] = row.rows;
    });
    const std::string fresh = lines_of(model.fresh, [](const ErrorModel::Fresh& row, Json& line) {
        add(line, "family", row.family);
        line["of"] = row.draw ? "draw" : "time";
        line["deviation"] = deviation(row.variance);
        line["scatter"] = rounded(row.scatter);
        line["devices"] = row.devices;
    });
    const std::string sets = lines_of(model.sets, [](const ErrorModel::Set& set, Json& line) {
        line["family"] = set.family;
        line["device"] = set.device;
        line["runtime"] = set.runtime;
        line["metric"] = name_of(set.metric);
        line["networks"] = set.networks;
    });
    return fmt::format(
        "{{\n"
        "  \"$schema\": \"uncertainty_schema.json\",\n"
        "  \"description\": [\"Standard deviations of log(measured / predicted). Written by "
        "scripts/validate from left-out predictions and recorded first runs.\"],\n"
        "  \"degrees_of_freedom\": {},\n"
        "  \"unmeasured_stack\": {},\n"
        "  \"device_share\": {},\n"
        "  \"lane_share\": {},\n"
        "  \"network_share\": {},\n"
        "  \"cell_share\": {},\n"
        "  \"generation_share\": {},\n"
        "  \"difference_scale\": {},\n"
        "  \"within\": [\n{}\n  ],\n"
        "  \"fresh\": [\n{}\n  ],\n"
        "  \"sets\": [\n{}\n  ],\n"
        "  \"sources\": {{\n"
        "    \"left-out\": {{\"kind\": \"fitted\", \"cite\": \"errors of left-out networks and of "
        "first runs of tests/measured, see docs/evidence/validation.md\"}}\n"
        "  }}\n"
        "}}\n",
        model.degrees_of_freedom, deviation(model.unmeasured_stack), rounded(model.device_share),
        rounded(model.lane_share), rounded(model.network_share), rounded(model.cell_share),
        rounded(model.generation_share), rounded(model.difference_scale), within, fresh, sets);
}

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
