#include "archsim/core/version.hpp"
#include "fit/report/validation_report.hpp"
#include "fit/report/validation_verdict.hpp"
#include "report/blocks/finding_json.hpp"
#include "report/render/json_document.hpp"

#include <nlohmann/json.hpp>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json row_json(const ValidatedRow& row) {
    const MeasuredRow& measured = row.measured;
    const Prediction& prediction = row.prediction;
    const auto known = [&](double value) { return prediction.ok() ? Json(value) : Json(nullptr); };
    return {{"id", measured.id},
            {"status", prediction.status},
            {"reason", prediction.reason.empty() ? Json(nullptr) : Json(prediction.reason)},
            {"predicted", known(prediction.predicted)},
            {"low", known(prediction.low)},
            {"high", known(prediction.high)},
            {"value", measured.value},
            {"error", known(row.error())},
            {"metric", name_of(measured.metric)},
            {"model", measured.model},
            {"batch", measured.batch ? Json(*measured.batch) : Json(nullptr)},
            {"precision", measured.precision},
            {"hardware", measured.hardware},
            {"power_mode", measured.power_mode.empty() ? Json(nullptr) : Json(measured.power_mode)},
            {"devices", measured.devices},
            {"runtime", measured.runtime},
            {"scope", measured.scope},
            {"weight", measured.weight},
            {"family", prediction.family.empty() ? Json(nullptr) : Json(prediction.family)},
            {"regime", prediction.regime.empty() ? Json(nullptr) : Json(prediction.regime)},
            {"source", measured.source}};
}

Json tau_json(const RankAgreement& agreement) {
    return {{"tau", agreement.pairs > 0 ? Json(agreement.tau) : Json(nullptr)},
            {"pairs", agreement.pairs},
            {"groups", agreement.groups}};
}

Json group_json(const ValidationGroup& group) {
    const ErrorStatistics& errors = group.errors;
    const auto known = [&](double value) { return errors.n > 0 ? Json(value) : Json(nullptr); };
    return {{"n", errors.n},
            {"median_ape", known(errors.median_ape)},
            {"mean_ape", known(errors.mean_ape)},
            {"p90_ape", known(errors.p90_ape)},
            {"bias", known(errors.bias)},
            {"within_10", known(errors.within_10)},
            {"within_25", known(errors.within_25)},
            {"within_50", known(errors.within_50)},
            {"interval_coverage", known(errors.coverage)},
            {"tau_of_devices", tau_json(group.devices)},
            {"tau_of_models", tau_json(group.models)}};
}

Json summary_json(const ValidationSummary& summary) {
    Json document = group_json(summary.all);
    for (const auto& [property, groups] : summary.by) {
        Json& by = document["by_" + property] = Json::object();
        for (const ValidationGroup& group : groups)
            by[group.name] = group_json(group);
    }
    return document;
}

} // namespace

std::string to_json(const ValidationAnswer& answer, const ValidationView&) {
    const Validation& validation = answer.validation;
    Json document = {{"schema", "archsim.validate_estimates/1"},
                     {"version", version()},
                     {"verdict", verdict_document(answer)}};
    Json& rows = document["rows"] = Json::array();
    std::size_t estimated = 0;
    for (const ValidatedRow& row : validation.rows) {
        rows.push_back(row_json(row));
        estimated += row.prediction.ok() ? 1 : 0;
    }
    document["summary"] = {{"rows", validation.rows.size()},
                           {"estimated", estimated},
                           {"not_estimated", validation.rows.size() - estimated},
                           {"trusted_weight", kTrustedWeight},
                           {"trusted", summary_json(validation.trusted)},
                           {"all", summary_json(validation.every)}};
    document["findings"] = findings_json(answer.findings);
    return document_text(document);
}

} // namespace archsim
