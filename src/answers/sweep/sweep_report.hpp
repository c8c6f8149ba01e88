#pragma once
// Rows of a sweep as CSV or NDJSON, one by one, and what a sweep concludes as a report.

#include "answers/sweep/sweep.hpp"
#include "archsim/extend/renderer.hpp"
#include "report/render/answer_document.hpp"

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim {

// Numbers in files for programs, with 9 significant digits: beyond the meaning of any estimate, in half the
// bytes of all 17.

/// Appends what printf("%.9g") prints in the C locale, in a third of the time. Worked: 0.00012 -> 0.00012,
/// 1.5e9 -> 1.5e+09, 1/3 -> 0.333333333.
void append_short_number(double value, std::string& text);

enum class RowFormat : std::uint8_t { csv, ndjson };

/// The first line of a CSV file, with its line end; empty for NDJSON, whose rows name their values.
std::string sweep_header(const std::vector<SweepAxis>& axes, RowFormat format,
                         const MetricTable& metrics = MetricTable::standard());
/// Appends one line per row. Values are SI; what a row does not have is empty (CSV) or null (NDJSON). The
/// rows hold the metrics of `metrics`.
void append_rows(std::span<const SweepRow> rows, const std::vector<SweepAxis>& axes, RowFormat format,
                 std::string& text, const MetricTable& metrics = MetricTable::standard());

/// The bound of a point, and how it compares with the device as the database states it.
struct SweepPointFacts {
    std::string bound;            ///< "DRAM bandwidth"; empty: not known
    double bound_share = 0;       ///< of the point's time, of the side that the resource is on
    std::optional<double> gain{}; ///< times better by the metric that ranks; absent where nothing is varied
    double moved = 0;             ///< bytes of a batch to and from memory outside the chip
};

/// One part alone, every other as the device has it: the metric that ranks at every factor.
struct SweepCurve {
    /// The part at `factor` times its own, and the metric there in its own unit.
    struct Point {
        double factor = 1, value = 0;
        SweepPointFacts facts;
    };
    std::string model, hardware, part;
    std::string unused;        ///< why the part can change nothing; empty: it may
    std::vector<Point> points; ///< by factor; the device as it is (1x) is one of them
    /// Where the curve bends: more of the part gains less than half as much beyond it as before it, factor
    /// for factor. Absent where it does not bend.
    std::optional<std::size_t> knee;
};
/// Index of the knee: the point farthest above the line between both ends, of the logarithms of factor and
/// gain, where the slope beyond is less than half of that before. Worked: gains 1, 2, 2 at factors 1, 2, 4
/// bend at the second.
std::optional<std::size_t> knee_of(const std::vector<SweepCurve::Point>& points, const Metric& metric);

/// The effect of one more change of a part at the best point.
struct NextFactor {
    std::string model, part;
    double factor = 2, value = 0, gain = 1; ///< on the point's own; the metric that ranks there
};

/// The conclusions of a sweep; fed one row at a time, in the order of the points.
struct SweepSummary {
    /// A summary of `all` points, of which `top` per model are listed by `ranks`, one of `metrics`; 0: every
    /// one.
    explicit SweepSummary(std::vector<SweepAxis> parts = {}, const Metric& ranks = metric::latency,
                          std::size_t top = kListed, std::uint64_t all = 0,
                          const MetricTable& metrics = MetricTable::standard());
    /// Counts a row, ranks it, and keeps it for the charts where it is one of the evenly spread.
    void add(const SweepRow& row);
    /// Counts a row and does nothing else: enough where the summary is not shown.
    void count(const SweepRow& row);
    /// Looks closer at what is listed, once every row is in: what binds, gains over the device as it is, each
    /// part alone, and what would help next at the best points.
    void study(const Sweep& sweep);

    /// The best row of a model by the metric that ranks: what the first line names. Measurements stand behind
    /// it, unless none stand behind any of the model's rows.
    std::optional<SweepRow> headline(const std::string& model) const;

    std::uint64_t points = 0, estimated = 0; ///< of this shard; those with an estimate
    std::uint64_t incomplete = 0;            ///< those of which a part of the model is not known
    BestRows best;                           ///< the rows that are listed
    /// The best row of each model by the ranking metric, speed and energy: of those that measurements stand
    /// behind, and of projections, which win nothing.
    std::vector<BestRows> winners, projected_winners;
    std::vector<const Metric*> shown; ///< columns of the rows beside the one that ranks
    std::optional<ParetoFront> front;
    const Metric* sensitivity_of = nullptr; ///< null: not asked for
    std::vector<AxisSensitivity> sensitivities;
    /// Why points have no estimate: "H100: needs 141.2 GB, ...", the first few.
    std::vector<std::string> reasons;
    std::vector<std::string> notes; ///< Sweep::notes()
    std::vector<SweepAxis> axes;
    std::vector<SweepRow> sample; ///< evenly spread over the points, for charts
    std::uint64_t stride = 1;     ///< between two of them

    std::map<std::uint64_t, SweepPointFacts> facts; ///< of listed points, the first hundred
    /// The values of the device as stated by the metrics of `winners`, by the winner's point and the metric's
    /// key.
    std::map<std::pair<std::uint64_t, std::string>, double> stated;
    std::vector<SweepCurve> curves; ///< of each model on each device, its first format and batch
    std::vector<NextFactor> next;   ///< per model, the largest gain first

    static constexpr std::size_t kListed = 10, kReasons = 3;
};
/// The verdict, the best points, and what else was asked for. CSV: the best points; HTML: with charts.
Report describe(const SweepSummary& summary, PlainView view = {}, Format format = Format::text);
/// {"schema": "archsim.sweep_design_space/1", "verdict": {...}, "best": [...], "pareto": [...], ...}.
AnswerDocument document_of(const SweepSummary& summary, PlainView view = {});

/// "1.22x": a factor on a part of a device.
std::string factor_text(double factor);
/// The same in the unit that was asked for: "64x64", "408 MHz".
std::string amount_text(const SweepAxis& axis, double factor);
/// "int8 (fp16 requested)": what runs, and what was asked for where that is not it.
std::string format_label(const SweepRow& row);
/// "TPU-v4, bandwidth 1.22x, batch 8, bf16"; what is as the device states it (1x) is left out.
std::string point_label(const SweepRow& row, const std::vector<SweepAxis>& axes);
/// "resnet50: fastest TPU-v4, bandwidth 1.22x, batch 1, bf16: 191 us; least energy ...", a line per model,
/// then the part that matters most and the size of the front.
std::vector<std::string> sweep_lines(const SweepSummary& summary);

} // namespace archsim
