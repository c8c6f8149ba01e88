#pragma once
// Questions to a file of results: what changed between two runs or versions, how one answer developed, what
// got worse.

#include "archsim/extend/renderer.hpp"
#include "report/render/answer_document.hpp"
#include "store/results_file.hpp"

namespace archsim {

/// Which results a question is about: those whose texts contain these, in any case; empty: all.
struct HistoryFilter {
    std::string model, hardware, runtime, precision;
    std::optional<std::int64_t> batch_size;
};

/// The runs of a file.
struct HistoryList {
    std::string file;
    std::vector<SavedRun> runs;
};
/// Throws InputError for a file that holds no results, as every question to one does.
HistoryList list_history(const std::filesystem::path& file);

/// One question in two runs.
struct CellChange {
    CellKey key;
    std::optional<Measure> before, after; ///< absent: no estimate there
    std::string status_before, status_after;
    bool better = false, worse = false; ///< by the metric, beyond the threshold

    /// after / before; absent where one is missing or `before` is 0.
    std::optional<double> ratio() const;
};
/// Two sets of runs on the same questions.
struct HistoryChanges {
    std::string file, before, after; ///< the sides as they were named, with their runs
    const Metric* metric = nullptr;
    double threshold = 0;
    std::vector<CellChange> changes;  ///< questions of both sides that differ by more than the threshold
    std::size_t same = 0;             ///< questions of both sides that do not
    std::vector<CellKey> gone, added; ///< questions of one side alone
    /// Changes for the worse.
    std::size_t worse() const;
};
/// `before` and `after` name a run by its number, `last`, `previous`, or all runs of a version of the
/// library: of several answers to a question the newest counts. A change of less than `threshold` (0.01: one
/// per cent) is none. Throws UsageError for sides without a run.
HistoryChanges compare_history(const std::filesystem::path& file, const std::string& before,
                               const std::string& after, const Metric& metric, double threshold = 0,
                               const HistoryFilter& filter = {});
/// The newest answer of every question against the one before it, as far as it got worse by more than the
/// threshold.
HistoryChanges find_regressions(const std::filesystem::path& file, const Metric& metric, double threshold = 0,
                                const HistoryFilter& filter = {});

/// One answer of a trend.
struct TrendPoint {
    SavedRun run;
    std::string status;
    std::optional<Measure> measure;
};
/// One question through the runs that asked it.
struct Trend {
    CellKey key;
    std::vector<TrendPoint> points;
};
/// Every question that a filter takes, with its answers in time.
struct HistoryTrend {
    std::string file;
    const Metric* metric = nullptr;
    std::vector<Trend> trends;
};
/// The trend of every question that the filter takes.
HistoryTrend history_trend(const std::filesystem::path& file, const Metric& metric,
                           const HistoryFilter& filter = {});

/// Every result as one row of a table with typed columns: what spreadsheets, pandas and Parquet take.
struct HistoryRows {
    std::string file;
    std::vector<SavedRun> runs;
    std::vector<SavedResult> results;
};
/// The results that the filter takes.
HistoryRows history_rows(const std::filesystem::path& file, const HistoryFilter& filter = {});

/// The answers as blocks and as documents ("archsim.history/1").
Report describe(const HistoryList& list, PlainView view = {}, Format format = Format::text);
Report describe(const HistoryChanges& changes, PlainView view = {}, Format format = Format::text);
Report describe(const HistoryTrend& trend, PlainView view = {}, Format format = Format::text);
Report describe(const HistoryRows& rows, PlainView view = {}, Format format = Format::text);
AnswerDocument document_of(const HistoryList& list, PlainView view = {});
AnswerDocument document_of(const HistoryChanges& changes, PlainView view = {});
AnswerDocument document_of(const HistoryTrend& trend, PlainView view = {});
AnswerDocument document_of(const HistoryRows& rows, PlainView view = {});
nlohmann::ordered_json history_schema();

} // namespace archsim
