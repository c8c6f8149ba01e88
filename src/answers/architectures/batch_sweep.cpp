#include "answers/architectures/runs.hpp"

#include "answers/batch/analyze_batch.hpp"

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

    std::optional<double> value(std::size_t architecture, std::int64_t batch, const Metric& metric) {
        workload_.batch = batch;
        return value_of(session_.estimate(workload_, choices_[architecture].hardware, conditions_), metric,
                        cost_);
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
                           const std::vector<ArchitectureChoice>& choices) {
    BatchRequest asked{.workload = request.workload,
                       .conditions = request.conditions,
                       .batches = request.batch_sweep,
                       .limits = request.decision};
    asked.conditions.keep_subgraphs = false;
    for (const ArchitectureChoice& choice : choices)
        asked.hardware.push_back(choice.hardware);
    BatchSweep out{analyze_batches(session, asked), {}};
    BatchRuns sweep(session, request, choices);
    const std::vector<std::int64_t>& batches = out.analysis.batches;
    for (const Metric* metric : kSwept) {
        const auto value = [&](std::size_t architecture, std::size_t batch) {
            return value_of(out.analysis.series[architecture].points[batch].result, *metric);
        };
        for (std::size_t a = 0; a < choices.size(); ++a)
            for (std::size_t b = 0; b < choices.size(); ++b)
                for (std::size_t k = 0; a != b && k + 1 < batches.size(); ++k) {
                    const auto x0 = value(a, k), y0 = value(b, k), x1 = value(a, k + 1), y1 = value(b, k + 1);
                    if (x0 && y0 && x1 && y1 && better(*metric, *x0, *y0) && better(*metric, *y1, *x1))
                        out.crossovers.push_back(
                            {metric, b, a, sweep.crossover(a, b, *metric, batches[k], batches[k + 1])});
                }
    }
    return out;
}

} // namespace archsim
