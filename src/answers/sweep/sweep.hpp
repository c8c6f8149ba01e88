#pragma once
// Design spaces. Models, batches, devices, precisions and factors on parts of the device go in; a row for
// every combination comes out, in order, on any number of threads.

#include "answers/sweep/sweep_row.hpp"
#include "archsim/run/session.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// Parses "bandwidth=0.5x,1x,2x", "bandwidth=0.5x..4x:log8" (8 factors, equal ratios) or "clock=0.8x..1.2x:5"
/// (equal steps). Throws UsageError that shows the form and the names.
SweepAxis parse_sweep_axis(std::string_view text);

struct SweepRequest {
    std::vector<std::string> models, hardware;
    /// Formats by name, "usual" (each device's own) among them; empty: the one that all models have by
    /// themselves.
    std::vector<std::string> precisions;
    std::vector<std::int64_t> batches{1};
    std::vector<SweepAxis> axes;
    Bindings sizes;                   ///< besides the batch
    std::optional<Prompt> prompt;     ///< of language models: the answer is what is estimated
    std::optional<Precision> weights; ///< their storage, where it is not that of each format
    Conditions conditions; ///< its formats and changes are each of the above in turn, but for strict_fp32
    /// What the rows hold; the standard metrics of answers to a prompt are those of language models
    /// (generation_metrics).
    MetricView view;
    std::uint64_t shard = 0, shards = 1; ///< this part of the space, counted from 0
    /// What was laid over the session's database (SessionOptions::hardware_overlays): their contents are part
    /// of Sweep::content().
    std::vector<std::filesystem::path> overlays;
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
    ~Sweep();
    /// Sweeps move; they are not copied.
    Sweep(Sweep&&) noexcept;

    const SweepRequest& request() const;
    /// What ranks the points when nothing else is asked for.
    const Metric& usual_order() const;
    std::uint64_t size() const;  ///< points of the whole space
    std::uint64_t first() const; ///< first point of the shard
    std::uint64_t last() const;  ///< one past its last point

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
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace archsim
