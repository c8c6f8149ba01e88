#include "answers/architectures/architectures.hpp"
#include "core/lists.hpp"
#include "session/graph_run.hpp"
#include "session/prepared.hpp"
#include "session/varied_part.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>

namespace archsim {

constexpr double kLimit = 100;        ///< largest factor tried
constexpr double kResolution = 1.005; ///< factors are found to half a percent
constexpr std::int64_t kLargestBatch = 256, kBatchStep = 4;

struct Values {
    std::array<std::optional<double>, 2> value;
    bool known() const { return value[0] && value[1]; }
};

/// Every value is the answer to a what-if question of its own, so that what is said to reverse a ranking, or
/// not to, is what asking shows.
class Search {
  public:
    Search(const Session& session, const ArchitectureComparison& c, Explanation& out)
        : session_(session), asked_(c.request), out_(out),
          a_wins_(better(*asked_.metric, out.attribution.a_value, out.attribution.b_value)),
          hardware_{c.results[out.a].hardware, c.results[out.b].hardware}, label_{c.labels[out.a],
                                                                                  c.labels[out.b]},
          prepared_(prepare(asked_.workload)) {
        Conditions totals = asked_.conditions;
        totals.keep_subgraphs = false;
        if (const auto graph = prepared_->graph())
            for (const std::string& device : hardware_)
                trials_.emplace_back(session, graph, device, totals);
    }

    void run() {
        out_.flip_limit = kLimit;
        for (const VariedPart& part : varied_parts())
            try_part(part);
        std::ranges::sort(out_.flips, [](const Flip& x, const Flip& y) {
            return std::abs(std::log(x.factor)) < std::abs(std::log(y.factor));
        });
        try_batches();
        try_precisions();
    }

  private:
    /// With one part of one side changed.
    Values values(std::size_t changed, const VariedPart& part, double factor) const {
        Values v{{out_.attribution.a_value, out_.attribution.b_value}};
        Conditions conditions = asked_.conditions;
        part.of(conditions) *= factor;
        if (!trials_.empty() && conditions.structure == asked_.conditions.structure)
            v.value[changed] =
                value_of(trials_[changed].with(conditions.changes), *asked_.metric, asked_.decision.cost);
        else
            v.value[changed] = value(*prepared_, changed, std::move(conditions));
        return v;
    }

    std::optional<double> value(const Prepared& workload, std::size_t side, Conditions conditions) const {
        conditions.keep_subgraphs = false;
        return value_of(workload.on(session_, hardware_[side], conditions), *asked_.metric,
                        asked_.decision.cost);
    }

    bool flipped(const Values& v) const {
        return v.known() && (a_wins_ ? better(*asked_.metric, *v.value[1], *v.value[0])
                                     : better(*asked_.metric, *v.value[0], *v.value[1]));
    }

    static Flip flip_of(std::string_view change, std::string_view title, const Values& then) {
        Flip flip{
            .change = std::string(change), .title = std::string(title), .architecture = {}, .precisions = {}};
        flip.a_value = *then.value[0];
        flip.b_value = *then.value[1];
        return flip;
    }
    /// The smallest factor that flips, upwards or downwards: first within what a new version of the device
    /// could bring, then beyond; by bisection of its logarithm.
    std::optional<Flip> smallest(const VariedPart& part, std::size_t side, bool up) const {
        double keeps = 1, turns = 1;
        Values then; // with the factor that turns
        const auto turned = [&](double factor) {
            const Values v = values(side, part, factor);
            const bool turns_here = flipped(v);
            (turns_here ? turns : keeps) = factor;
            if (turns_here)
                then = v;
            return turns_here;
        };
        for (const double limit : {kPlausibleFactor, kLimit})
            if (turned(up ? limit : 1 / limit))
                break;
        if (!then.known())
            return std::nullopt;
        while (std::max(turns / keeps, keeps / turns) > kResolution)
            turned(std::sqrt(keeps * turns));
        Flip flip = flip_of(part.name(), part.title(), then);
        flip.architecture = label_[side];
        flip.factor = turns;
        return flip;
    }

    /// Keeps of each device the nearest factor, upwards or downwards: that the better one could get worse
    /// says nothing of what the other could gain.
    void try_part(const VariedPart& part) {
        const std::size_t before = out_.flips.size();
        for (std::size_t side = 0; side < 2; ++side) {
            std::optional<Flip> nearest;
            for (const bool up : {true, false})
                if (auto flip = smallest(part, side, up);
                    flip &&
                    (!nearest || std::abs(std::log(flip->factor)) < std::abs(std::log(nearest->factor))))
                    nearest = std::move(flip);
            if (nearest)
                out_.flips.push_back(std::move(*nearest));
        }
        if (out_.flips.size() == before)
            out_.no_flip.emplace_back(part.title());
    }

    Values at_batch(std::int64_t batch) const {
        Workload workload = asked_.workload;
        workload.batch = batch;
        const auto prepared = prepare(workload);
        return {{value(*prepared, 0, asked_.conditions), value(*prepared, 1, asked_.conditions)}};
    }

    /// In steps of four upwards from the batch asked for, then downwards; within the step found, the nearest
    /// batch.
    void try_batches() {
        for (const bool up : {true, false}) {
            std::int64_t keeps = asked_.workload.batch;
            while (up ? keeps * kBatchStep <= kLargestBatch : keeps > 1) {
                const std::int64_t next =
                    up ? keeps * kBatchStep : std::max<std::int64_t>(1, keeps / kBatchStep);
                Values then = at_batch(next);
                if (!then.known())
                    break;
                if (!flipped(then)) {
                    keeps = next;
                    continue;
                }
                std::int64_t turns = next;
                while (std::abs(turns - keeps) > 1) {
                    const std::int64_t middle = (keeps + turns) / 2;
                    const Values v = at_batch(middle);
                    (flipped(v) ? turns : keeps) = middle;
                    if (turns == middle)
                        then = v;
                }
                out_.flips.push_back(flip_of("batch", "batch size", then));
                out_.flips.back().batch = turns;
                break;
            }
        }
    }

    /// A format that a device replaces by another says nothing about the format.
    bool executes(std::size_t side, const PrecisionConfig& config) const {
        const auto machine = session_.machine(hardware_[side], asked_.conditions);
        const ExecutedPrecision executed = resolve_precision(*machine->device, *machine->runtime, config);
        return executed.supported && executed.config.compute == config.compute;
    }

    void try_precisions() {
        for (Precision p : kPrecisions) {
            const PrecisionConfig config = PrecisionConfig::uniform(p);
            if (config == asked_.conditions.precision)
                continue;
            if (!executes(0, config) || !executes(1, config))
                continue;
            Conditions conditions = asked_.conditions;
            conditions.precision = config;
            const Values v{{value(*prepared_, 0, conditions), value(*prepared_, 1, conditions)}};
            if (!flipped(v))
                continue;
            if (!out_.flips.empty() && out_.flips.back().change == "precision" &&
                out_.flips.back().a_value == *v.value[0] && out_.flips.back().b_value == *v.value[1]) {
                out_.flips.back().precisions.emplace_back(name_of(p));
                continue;
            }
            out_.flips.push_back(flip_of("precision", "precision", v));
            out_.flips.back().precisions.emplace_back(name_of(p));
        }
    }

    const Session& session_;
    const CompareArchitecturesRequest& asked_;
    Explanation& out_;
    const bool a_wins_;
    const std::array<std::string, 2> hardware_, label_;
    const std::shared_ptr<const Prepared> prepared_; ///< the workload as asked
    mutable std::deque<RateTrials> trials_;          ///< of a graph on each of them
};

BatchSweep run_batch_sweep(const Session& session, const CompareArchitecturesRequest& request,
                           const std::vector<ArchitectureChoice>& choices) {
    BatchRequest asked;
    asked.models = {request.model};
    asked.hardware = mapped(choices, &ArchitectureChoice::hardware);
    asked.workload = request.workload;
    asked.conditions = request.conditions;
    asked.conditions.keep_subgraphs = false;
    asked.decision = request.decision;
    asked.batches = request.batch_sweep;
    BatchSweep out{analyze_batches(session, asked), {}};
    const std::vector<std::int64_t>& batches = out.analysis.batches;
    Workload workload = request.workload;
    const auto value_at = [&](std::size_t architecture, std::int64_t batch, const Metric& metric) {
        workload.batch = batch;
        return value_of(session.estimate(workload, choices[architecture].hardware, asked.conditions), metric,
                        request.decision.cost);
    };
    // The smallest batch in (low, high] at which `b` is better than `a`, as it is at `high` and not at `low`.
    const auto crossover = [&](std::size_t a, std::size_t b, const Metric& metric, std::int64_t low,
                               std::int64_t high) {
        while (high - low > 1) {
            const std::int64_t middle = low + (high - low) / 2;
            const auto x = value_at(a, middle, metric), y = value_at(b, middle, metric);
            (x && y && better(metric, *y, *x) ? high : low) = middle;
        }
        return high;
    };
    for (const Metric* metric : {&metric::throughput, &metric::energy}) {
        const auto value = [&](std::size_t architecture, std::size_t batch) {
            return value_of(out.analysis.series[architecture].results[batch], *metric);
        };
        for (std::size_t a = 0; a < choices.size(); ++a)
            for (std::size_t b = 0; b < choices.size(); ++b)
                for (std::size_t k = 0; a != b && k + 1 < batches.size(); ++k) {
                    const auto x0 = value(a, k), y0 = value(b, k), x1 = value(a, k + 1), y1 = value(b, k + 1);
                    if (x0 && y0 && x1 && y1 && better(*metric, *x0, *y0) && better(*metric, *y1, *x1))
                        out.crossovers.push_back(
                            {metric, b, a, crossover(a, b, *metric, batches[k], batches[k + 1])});
                }
    }
    return out;
}

void find_flips(const Session& session, const ArchitectureComparison& c, Explanation& out) {
    if (out.attribution.difference != 0)
        Search(session, c, out).run();
}

} // namespace archsim
