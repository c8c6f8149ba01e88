#pragma once
// One result as a row for programs: the same columns in CSV, in the JSON of every tool and in Python.

#include "archsim/compare/decisions.hpp"
#include "archsim/compare/metric.hpp"
#include "report/blocks/columns.hpp"
#include "result/ranking.hpp"

#include <span>
#include <string>

namespace archsim {

/// A result with its place among those it was compared with.
struct RankedResult {
    const Result* result = nullptr;
    double batch_size = 1;
    int place = 0;          ///< 0: no rank
    double probability = 0; ///< that it is the best of those that may lead
};

/// Its identity, every metric of the view, and the rest of an estimate; unknown values are empty.
std::vector<ColumnOf<RankedResult>> result_columns(const MetricView& view);

/// The row for documents, with its cold start, generated text and parts where there are any.
Members<RankedResult> result_members(const MetricView& view = {});
/// The meaning of a metric's number: "energy per inference, J".
std::string meaning_of(const MetricField& field);
/// Every status that an estimate may have, as status_text() names them.
OneOf result_status();

/// Results that rank among each other: one model, one batch size, one format.
struct RankedGroup {
    std::span<const Result> results;
    double batch_size = 1;
    const Metric* by = &metric::latency;
};
/// Its rows, best first.
std::vector<RankedResult> ranked(const RankedGroup& group, const MetricView& view);

/// The question: its model, its device, and every field of the question.
Members<Result> request_members();

/// Limits and fronts as they can be asked for again: {"limits": {"max_latency": "0.001s"}, "pareto": []}.
Members<DecisionRequest> limit_members();

struct KnownModel {
    const ModelFacts* model = nullptr;
    const Partition* partition = nullptr;
};
/// The facts of it without hardware.
Members<KnownModel> model_members();

/// One result as JSON: the same keys as a row of "results" of `compare_models --format json`; "rank" is null.
std::string to_json(const Result& result, const MetricView& view = {});

} // namespace archsim
