#include "run/compare/batch_sweep.hpp"

#include <algorithm>
#include <array>

namespace archsim {

namespace {

constexpr std::array kSwept = {&metric::throughput, &metric::energy};

class BatchRuns {
  public:
    BatchRuns(const Session& session, const CompareArchitecturesRequest& request,
              const std::vector<ArchitectureChoice>& choices)
        : session_(session), choices_(choices), workload_(request.workload), conditions_(request.conditions),
          cost_(request.decision.cost) {
        conditions_.keep_subgraphs = false;
    }

    Result at(std::size_t architecture, std::int64_t batch) {
        workload_.batch = batch;
        return session_.estimate(workload_, choices_[architecture].hardware, conditions_);
    }

    std::optional<double> value(std::size_t architecture, std::int64_t batch, const Metric& metric) {
        return value_of(at(architecture, batch), metric, cost_);
    }

    /// The smallest batch in (low, high] at which `b` is better than `a`, where that is so at `high` and not
    /// at `low`.
    std::int64_t crossover(std::size_t a, std::size_t b, const Metric& metric, std::int64_t low,
                           std::int64_t high) {
        while (high - low > 1) {
            const std::int64_t middle = low + (high - low) / 2;
            const auto x = value(a, middle, metric), y = value(b, middle, metric);
            (x && y && better(metric, *y, *x) ? high : low) = middle;
        }
        return high;
    }

  private:
    const Session& session_;
    const std::vector<ArchitectureChoice>& choices_;
    Workload workload_;
    Conditions conditions_;
    const CostOptions& cost_;
};

} // namespace

BatchSweep run_batch_sweep(const Session& session, const CompareArchitecturesRequest& request,
                           const std::vector<ArchitectureChoice>& choices,
                           std::optional<double> latency_bound_s) {
    const std::vector<std::int64_t>& batches = request.batch_sweep;
    BatchSweep out;
    out.batches = batches;
    out.latency_bound_s = latency_bound_s;
    BatchRuns sweep(session, request, choices);
    for (std::size_t i = 0; i < choices.size(); ++i) {
        std::vector<Result> row;
        for (std::int64_t batch : batches)
            row.push_back(sweep.at(i, batch));
        out.results.push_back(std::move(row));
    }
    for (std::size_t i = 0; i < choices.size(); ++i) {
        BestBatch best;
        for (std::size_t b = 0; b < batches.size(); ++b) {
            const Result& r = out.results[i][b];
            if (!r.ok() || (latency_bound_s && r.estimate.latency_s > *latency_bound_s))
                continue;
            const auto improve = [&](std::optional<std::size_t>& at, const Metric& metric) {
                const auto value = value_of(r, metric);
                if (value && (!at || better(metric, *value, *value_of(out.results[i][*at], metric))))
                    at = b;
            };
            improve(best.throughput, metric::throughput);
            improve(best.energy, metric::energy);
        }
        out.best.push_back(best);
    }
    for (const Metric* metric : kSwept)
        for (std::size_t a = 0; a < choices.size(); ++a)
            for (std::size_t b = 0; b < choices.size(); ++b)
                for (std::size_t k = 0; a != b && k + 1 < batches.size(); ++k) {
                    const auto x0 = value_of(out.results[a][k], *metric),
                               y0 = value_of(out.results[b][k], *metric),
                               x1 = value_of(out.results[a][k + 1], *metric),
                               y1 = value_of(out.results[b][k + 1], *metric);
                    if (x0 && y0 && x1 && y1 && better(*metric, *x0, *y0) && better(*metric, *y1, *x1))
                        out.crossovers.push_back(
                            {metric, b, a, sweep.crossover(a, b, *metric, batches[k], batches[k + 1])});
                }
    return out;
}

} // namespace archsim
