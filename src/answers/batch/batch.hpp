#pragma once
// One model on some devices at rising batch sizes. A request goes in; a result for each device and batch, and
// the best batch of each device, come out.

#include "archsim/compare/decisions.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/compare_models.hpp"
#include "fields/json_members.hpp"
#include "report/render/answer_document.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

struct BatchSeries {
    std::string hardware;                   ///< as asked for
    std::vector<std::int64_t> batches = {}; ///< ascending
    std::vector<Result> results = {};       ///< one per batch
    Decision decision = {};                 ///< over them: which keep the limits, and which to take
};

struct BatchAnalysis {
    std::vector<std::int64_t> batches; ///< ascending
    DecisionRequest limits;
    std::vector<BatchSeries> series;
    const MetricTable* metrics = &MetricTable::standard(); ///< what reports of it show
};

/// Share of the best throughput from which a smaller batch counts as good enough.
inline constexpr double kNearlyBest = 0.9;

/// The metrics that judge batches: items per second, time of a batch, energy of an item; of language models
/// with a prompt tokens per second of all sequences, time and energy of a token.
struct BatchMetrics {
    const Metric *rate, *time, *energy;
};
/// Indices into BatchSeries::results; absent when none has an estimate that keeps every limit.
struct BestBatches {
    std::optional<std::size_t> throughput; ///< most items per second; the smaller batch among equals
    std::optional<std::size_t> latency;    ///< least time of a batch
    std::optional<std::size_t> energy;     ///< least energy per item
    std::optional<std::size_t> knee;       ///< smallest batch with kNearlyBest of the best throughput
};
BestBatches best_batches(const BatchSeries& series);

/// The question of a comparison of one model, at each batch in turn.
struct BatchRequest : CompareModelsRequest {
    std::vector<std::int64_t> batches; ///< sorted, doubles removed
    /// Twice the largest follows, up to this, while it keeps the limits on a device and has the knee there.
    std::int64_t largest = 0;
    std::function<void(std::size_t done, std::size_t total)> progress;
};

/// Compares the devices at every batch. A batch that fails (it does not fit, say) becomes a result with its
/// reason. Throws as compare_models does, and UsageError for no batch or one below 1.
BatchAnalysis analyze_batches(const Session& session, BatchRequest request);

// Throughput, latency, energy and memory against batch, for one or more devices, and the best batch of each.

/// One line per device: the batch that is good enough, the one that does most, the one that answers first.
std::vector<std::string> batch_lines(const BatchAnalysis& analysis, const std::vector<std::string>& labels);
/// One device of an analysis: {"best_batch": {"throughput": 64, "latency": 1, "energy": 64, "knee": 32},
/// "points": [...]}; a best batch is null where none keeps the limits. `points`: their key.
Members<BatchSeries> batch_series_members(const MetricView& view, const std::string& points);

Report describe(const BatchAnalysis& sweep, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.analyze_batch/1", "series": [...]}; unknown values are null.
AnswerDocument document_of(const BatchAnalysis& sweep, PlainView view = {});

/// One line per device over batch, logarithmic in batch.
Chart batch_chart(const BatchAnalysis& sweep, const Metric& metric);

} // namespace archsim
