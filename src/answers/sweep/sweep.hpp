#pragma once
// Points of a design space, what came of them, and what a sweep concludes: Pareto fronts and sensitivities.

#include "archsim/compare/metric.hpp"
#include "archsim/estimate/estimate.hpp"
#include "archsim/run/session.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// One dimension of a design space: factors on a part of a device (VariedPart), "bandwidth" x 0.5, 1, 2, 4.
struct SweepAxis {
    std::string name;
    std::vector<double> factors;
    /// They are values in the library's unit of the part, until a Sweep makes factors on its device's of
    /// them.
    bool absolute = false;
    double own = 0; ///< what 1x is, where values were asked for; 0: factors were
};

/// One estimate of a sweep, totals only.
struct SweepRow {
    std::uint64_t point = 0; ///< index in the whole space, the same for every shard and thread count
    std::string model, hardware, runtime, precision, executed;
    std::int64_t batch = 1;
    std::vector<double> factors; ///< one per axis
    Status status = Status::ok;
    std::string reason; ///< when not ok
    const MetricTable* metrics = &MetricTable::standard();
    std::vector<std::optional<Measure>> measures; ///< one per metric; empty when not ok
    bool power_limited = false;
    Standing standing = Standing::measured; ///< what may not lead wins nothing

    /// Absent without an estimate.
    std::optional<Standing> evidence() const {
        return measures.empty() ? std::nullopt : std::optional(standing);
    }
    /// The metric's value for the row; absent where it is none of `metrics`, or has no value here.
    std::optional<double> value(const Metric& metric) const;
};

/// The rows that no other row of the same model beats in both metrics; fed one row at a time, so that a
/// million rows need the memory of the front alone.
class ParetoFront {
  public:
    /// Fronts of these two metrics, which must outlive it.
    ParetoFront(const Metric& first, const Metric& second) : first_(&first), second_(&second) {}
    /// Takes a row in; it may leave again when a better one comes.
    void add(const SweepRow& row);
    /// By model, then by the first metric, best first; of rows that may lead, where any may.
    std::vector<SweepRow> rows() const;
    const Metric& first() const { return *first_; }
    const Metric& second() const { return *second_; }

  private:
    const Metric *first_, *second_;
    std::vector<SweepRow> front_, unranked_; ///< unranked: of rows that may not lead
};

/// The effect of one axis by itself: every other axis at the device's own value.
struct AxisSensitivity {
    std::string axis;
    double low_factor = 1, high_factor = 1;
    double low_value = 0, high_value = 0, own_value = 0; ///< of the metric
    /// Distance between the values at both ends.
    double swing() const { return low_value < high_value ? high_value - low_value : low_value - high_value; }
};

/// The best rows of each model by one metric; fed one row at a time, so that a million rows need the memory
/// of the best alone. Rows without the metric are left out.
class BestRows {
  public:
    /// Keeps `most` rows per model, 0: all, by `metric`, which must outlive it.
    BestRows(const Metric& metric, std::size_t most) : metric_(&metric), most_(most) {}
    /// Takes a row in; it may leave again when better ones come.
    void add(const SweepRow& row);
    /// By model, best first, what may not lead behind the others; of equal values the design that changes
    /// least, then the lower point first. Of equal rows one stands, but where all are kept.
    std::vector<SweepRow> rows() const;
    /// The first of a model's; absent where it has none.
    std::optional<SweepRow> row_of(const std::string& model) const;
    const Metric& metric() const { return *metric_; }

  private:
    bool before(const SweepRow& a, const SweepRow& b) const;
    void keep_best(std::vector<SweepRow>& rows) const;

    const Metric* metric_;
    std::size_t most_;
    std::map<std::string, std::vector<SweepRow>> kept_; ///< at most twice as many as wanted
};

// Design spaces. Models, batches, devices, precisions and factors on parts of the device go in; a row for
// every combination comes out, in order, on any number of threads.

/// Parses "bandwidth=0.5x,1x,2x", "bandwidth=0.5x..4x:log8" (8 factors, equal ratios), "clock=0.8x..1.2x:5"
/// (equal steps), or values with a unit instead of factors: "bandwidth=51.2GB/s,102.4GB/s". Throws UsageError
/// that shows the form and the names.
SweepAxis parse_sweep_axis(std::string_view text);

struct SweepRequest {
    std::vector<std::string> models, hardware;
    /// Formats by name, "usual" (each device's own) among them; empty: the one that all models have by
    /// themselves, else the devices' own.
    std::vector<std::string> precisions;
    std::vector<std::int64_t> batches{1};
    std::vector<SweepAxis> axes;
    Bindings sizes; ///< besides the batch
    /// For language models: the answer is what is estimated; absent: usual_question().
    std::optional<Prompt> prompt;
    bool single_pass = false;         ///< of language models too
    std::optional<Precision> weights; ///< their storage, where it is not that of each format
    Conditions conditions; ///< its formats and changes are each of the above in turn, but for strict_fp32
    /// The metrics of the rows; the standard metrics of answers to a prompt are those of language models
    /// (generation_metrics).
    MetricView view;
    std::uint64_t shard = 0, shards = 1; ///< this part of the space, counted from 0
    /// The files laid over the session's database (SessionOptions::hardware_overlays): their contents are
    /// part of Sweep::content().
    std::vector<std::filesystem::path> overlays;
};

/// Where a point lies along every dimension.
struct SweepPoint {
    std::uint64_t number = 0;
    std::size_t model = 0, hardware = 0, precision = 0, batch = 0;
    std::vector<double> factors; ///< one per axis
};

/// A design space. Points are numbered by model, device, precision, batch and axes, the last axis running
/// fastest; shards are contiguous ranges of numbers.
/// @code
/// const Session session;
/// SweepRequest request;
/// request.models = {"resnet50"};
/// request.hardware = {"TPU-v4"};
/// request.axes = {parse_sweep_axis("bandwidth=0.5x..4x:log8")};
/// const Sweep sweep(session, request);
/// double fastest = 1;
/// sweep.run(sweep.first(), 2, [&](std::span<const SweepRow> rows) {
///     for (const SweepRow& row : rows)
///         fastest = std::min(fastest, row.value(metric::latency).value_or(fastest));
///     return true;
/// });
/// assert(sweep.size() == 8 && fastest < 1);
/// @endcode
class Sweep {
  public:
    /// Loads the models, of whatever kind, and checks every name. Throws InputError or UsageError.
    Sweep(const Session& session, SweepRequest request);

    /// As it was asked, with factors for values, and of one device's units those that can be built, each
    /// once.
    const SweepRequest& request() const { return request_; }
    /// Which factors stand for others that were asked for: "units 0.4x is built as 0.5x (2 of 4)".
    const std::vector<std::string>& notes() const { return notes_; }
    /// The factors of an axis as they are built on one of the devices.
    std::vector<double> built(std::size_t axis, std::size_t hardware) const;
    /// The metric that ranks the points when nothing else is asked for.
    const Metric& usual_order() const;
    std::uint64_t size() const { return size_; } ///< points of the whole space
    std::uint64_t first() const;                 ///< first point of the shard
    std::uint64_t last() const;                  ///< one past its last point

    /// A digest of everything that the request names and that decides a row: graphs of the models, devices,
    /// stacks, prices, uncertainties. Two sweeps of equal requests and contents have the same rows.
    std::string content() const;

    /// Estimates the points [from, last()) on `threads` threads and hands them to `sink` in order, in spans;
    /// stops early when `sink` returns false. The rows are the same bits for any number of threads. At most
    /// four spans per thread are in memory, of 8192 rows at most.
    void run(std::uint64_t from, unsigned threads,
             const std::function<bool(std::span<const SweepRow>)>& sink) const;

    /// The effect of each axis alone on one workload, largest first: the first model, batch, device and
    /// precision.
    std::vector<AxisSensitivity> sensitivities(const Metric& metric) const;

    /// One point as a whole estimate with its subgraphs, on the device with `factors` by the name of the part
    /// in place of the point's own: {} is the device as the database states it. Slower than run(), which
    /// keeps totals alone. Throws UsageError for a part that cannot be varied.
    Result result(std::uint64_t point, const std::map<std::string, double>& factors) const;
    /// The point's own factors, as result() takes them.
    std::map<std::string, double> factors(std::uint64_t point) const;

  private:
    std::string usual_format() const;
    void check();
    void settle_axes();
    double built(const SweepAxis& axis, double factor, std::size_t hardware) const;
    SweepPoint at(std::uint64_t number) const;

    const Session& session_;
    SweepRequest request_;
    std::vector<Model> models_;
    std::vector<Bindings> sizes_;     ///< of each model: those of the request that it has
    std::vector<Conditions> formats_; ///< the request's, in each of its formats
    std::vector<std::shared_ptr<const Device>> devices_;
    std::vector<std::string> notes_;
    std::uint64_t size_ = 0;
};

} // namespace archsim
