#include "answers/compare/compare_models_report.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/serving/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

/// Inferences as steps of a serving engine: every request is a prompt of one token with one answer.
class InferencePrices : public StepPrices {
  public:
    InferencePrices(const LatencySpread& spread, double median_s, std::uint64_t seed)
        : spread_(spread), median_s_(median_s), seed_(seed) {}

    StepCost price(const StepLoad&) override {
        // A low-discrepancy sequence: its percentiles are the spread's, however few steps there are.
        constexpr double kGoldenRatio = 0.6180339887498949;
        const double u = std::fmod(
            static_cast<double>(seed_ % kSeeds) / kSeeds + kGoldenRatio * static_cast<double>(++steps_), 1.0);
        return {.seconds = spread_.quantile(median_s_, u)};
    }
    double cache_bytes(double) const override { return 0; }

  private:
    static constexpr std::uint64_t kSeeds = 1009;
    const LatencySpread& spread_;
    double median_s_;
    std::uint64_t seed_, steps_ = 0;
};

/// Mean of the straight lines between the percentiles.
static double mean_seconds(const LatencySpread& spread, double median_s) {
    const RunPercentiles p = spread.at(median_s);
    constexpr double kHalf = 0.5, kToNinety = 0.4, kToTail = 0.09, kToFar = 0.009, kFar = 0.001;
    return kHalf * p.p50 + kToNinety * (p.p50 + p.p90) / 2 + kToTail * (p.p90 + p.p99) / 2 +
           kToFar * (p.p99 + p.p999) / 2 + kFar * p.p999;
}

static QueuedPercentiles queue_before(const LatencySpread& spread, double median_s, double batch,
                                      const PercentileRequest& request) {
    QueuedPercentiles queued;
    queued.capacity_per_s = batch / mean_seconds(spread, median_s);
    queued.overloaded = request.rate_per_s >= queued.capacity_per_s;
    if (queued.overloaded)
        return queued;
    RequestPlan load;
    load.count = request.requests;
    load.rate_per_s = request.rate_per_s;
    load.prompt_tokens = load.output_tokens = 1;
    load.seed = request.seed;
    ServingPlan plan;
    plan.engine.sequences = plan.engine.step_tokens = std::max<std::int64_t>(1, std::llround(batch));
    plan.engine.scheduled_ahead = false;
    InferencePrices prices(spread, median_s, request.seed);
    const ServingOutcome outcome = simulate_serving(plan, prices, make_requests(load));
    const ServingSummary summary = summarize(outcome);
    const Percentiles& p = summary.end_to_end_s;
    queued.mean_wait_s =
        summary.requests_per_s > 0 ? summary.mean_waiting / summary.requests_per_s : 0; // Little
    queued.utilization = summary.utilization;
    queued.latency = {p.p50, p.p90, p.p99, p.p999};
    return queued;
}

std::optional<ResultPercentiles> percentiles(const Result& result, const PercentileRequest& request) {
    if (!(request.rate_per_s >= 0) || !std::isfinite(request.rate_per_s))
        throw UsageError(fmt::format("--rate: {:g} is no number of items per second", request.rate_per_s));
    if (!result.ok() || !result.device || !result.runtime || !(result.estimate.latency_s > 0))
        return std::nullopt;
    ResultPercentiles answer;
    answer.spread = request.rows ? latency_spread(*result.device, *result.runtime, *request.rows)
                                 : latency_spread(*result.device, *result.runtime);
    answer.run_to_run = answer.spread.at(result.estimate.latency_s);
    if (request.rate_per_s > 0)
        answer.queued =
            queue_before(answer.spread, result.estimate.latency_s, result.estimate.batch, request);
    return answer;
}

} // namespace archsim
