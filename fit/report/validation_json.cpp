#include "fit/report/validation_report.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/render/answer_document.hpp"

#include <algorithm>

namespace archsim {

namespace {

Members<ValidatedRow> validated_row_members() {
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

Members<RankAgreement> agreement_members() {
    using A = RankAgreement;
    return {{"tau", "Kendall's; null: nothing is comparable",
             [](const A& a) { return known(a.pairs > 0, a.tau); }},
            {"pairs", "", &A::pairs},
            {"groups", "", &A::groups}};
}

Members<ValidationGroup> validation_group_members() {
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

Members<ValidationSummary> summary_members() {
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

std::size_t estimated_rows(const ValidationAnswer& answer) {
    const auto& rows = answer.validation.rows;
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [](const ValidatedRow& row) { return row.prediction.ok(); }));
}

AnswerDocument<ValidationAnswer> validation_document() {
    using A = ValidationAnswer;
    const Members<A> summary = {
        {"rows", "", [](const A& a) { return a.validation.rows.size(); }},
        {"estimated", "", estimated_rows},
        {"not_estimated", "", [](const A& a) { return a.validation.rows.size() - estimated_rows(a); }},
        {"trusted_weight", "from which a row counts as trusted", [](const A&) { return kTrustedWeight; }},
        {"trusted", "", [](const A& a) { return a.validation.trusted; }, summary_members()},
        {"all", "", [](const A& a) { return a.validation.every; }, summary_members()}};
    return {"validate_estimates",
            "how far estimates are from measurements",
            {{"verdict", "the answer", [](const A& a) { return verdict_lines(a); }, lines_members()},
             {"rows", "", [](const A& a) { return std::span(a.validation.rows); }, validated_row_members()},
             {"summary", "", std::identity{}, summary},
             {"findings", "rows that could not be read", &A::findings, finding_members()}}};
}

} // namespace

nlohmann::ordered_json validate_estimates_schema() {
    return validation_document().schema();
}

std::string to_json(const ValidationAnswer& answer, const ValidationView&) {
    return validation_document().text(answer);
}

} // namespace archsim
