#include "family/contexts.hpp"
#include "map/accelerator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace archsim::npu {

/// The sums of stages side by side.
struct Sum {
    double units = 0, controllers = 0, weights = 0;

    void add(const Stage& stage, const Capacity& capacity, double interval) {
        const Needs needs = needs_of(stage, capacity, interval);
        units += needs.units;
        controllers += needs.controllers;
        weights += stage.weights;
    }
    bool within(const Capacity& capacity) const {
        return weights <= capacity.weights && (capacity.units <= 0 || units <= capacity.units) &&
               (capacity.controllers <= 0 || controllers <= capacity.controllers);
    }
};

static bool fit(std::span<const Stage> stages, const Capacity& capacity, double interval) {
    Sum sum;
    return std::ranges::all_of(stages, [&](const Stage& stage) {
        sum.add(stage, capacity, interval);
        return sum.within(capacity);
    });
}

/// The least and the most that an interval can be: all units at work, or one unit per stage.
class Range {
  public:
    void add(const Stage& stage) {
        work_ += stage.work;
        pooled_ += stage.pooled;
        floor_ = std::max(floor_, stage.floor);
        longest_ = std::max({longest_, stage.work, stage.floor});
    }
    double low(const Capacity& capacity) const {
        return std::max({work_ / std::max(1.0, capacity.units), floor_, pooled_});
    }
    double high(const Capacity& capacity) const { return std::max(low(capacity), longest_); }

  private:
    double work_ = 0, pooled_ = 0, floor_ = 0, longest_ = 0;
};

/// The interval that whole units leave of one in which the stages fit: that of the stage that waits longest.
static double tightened(std::span<const Stage> stages, const Capacity& capacity, double interval,
                        double low) {
    double own = low;
    for (const Stage& stage : stages)
        if (const double units = needs_of(stage, capacity, interval).units; units > 0)
            own = std::max(own, stage.work / units);
    constexpr double kRounding = 1 + 1e-13; // a quotient may ask for a unit more
    return std::min(own * kRounding, interval);
}

/// The shortest interval from `low` to `high` in which the stages fit, as they do in `high`. Halving comes
/// near it; from there every step takes the next interval that a whole unit more allows, until none does.
static double shortest_between(std::span<const Stage> stages, const Capacity& capacity, double low,
                               double high) {
    constexpr double kNear = 1.01, kBelow = 1 - 1e-12;
    if (fit(stages, capacity, low))
        return low;
    const double floor = low;
    while (high > low * kNear) {
        const double middle = std::sqrt(low * high);
        (fit(stages, capacity, middle) ? high : low) = middle;
    }
    while (true) {
        high = tightened(stages, capacity, high, floor);
        const double below = high * kBelow;
        if (below <= floor || !fit(stages, capacity, below))
            return high;
        high = below;
    }
}

/// The shortest interval of some stages side by side, as far as known: it is no shorter than `low`, or
/// exactly that.
struct Known {
    double low = 0;
    bool exact = false;
};

/// The intervals of every run of stages, whatever a byte costs; empty for networks of more stages than that,
/// as no published one has: its size grows with the square.
class Intervals {
  public:
    explicit Intervals(std::size_t stages)
        : stages_(stages <= kMost ? stages : 0), known_(stages_ * stages_) {}

    bool empty() const { return known_.empty(); }
    /// The interval of the stages `first` to `end`. Stages more never shorten an interval: bounds of fewer
    /// hold here.
    Known& of(std::size_t first, std::size_t end) {
        if (empty())
            return nothing_ = {};
        Known& known = at(first, end);
        if (!known.exact && end - first > 1)
            known.low = std::max({known.low, at(first + 1, end).low, at(first, end - 1).low});
        return known;
    }

  private:
    static constexpr std::size_t kMost = 1000;
    Known& at(std::size_t first, std::size_t end) { return known_[first * stages_ + end - 1]; }

    std::size_t stages_;
    std::vector<Known> known_;
    Known nothing_;
};

/// The contexts of the least cycles, where a byte that crosses the chip's border counts as `per_byte` of
/// them.
static Plan least_cycles(std::span<const Stage> stages, const Capacity& capacity, double per_byte,
                         Intervals& intervals) {
    // The least cycles up to each stage, over all first stages of the context that ends before it.
    struct Best {
        double cycles = std::numeric_limits<double>::infinity();
        Context last;
    };
    std::vector<Best> best(stages.size() + 1);
    best[0].cycles = 0;
    constexpr std::size_t kLongest = 16; // where nothing is known, so that time grows with the stages alone
    const std::size_t longest = intervals.empty() ? kLongest : stages.size();
    for (std::size_t end = 1; end <= stages.size(); ++end) {
        Best& here = best[end];
        Sum least;
        Range range;
        for (std::size_t first = end; first-- > 0;) {
            const std::span<const Stage> context = stages.subspan(first, end - first);
            range.add(stages[first]);
            least.add(stages[first], capacity, 0); // a unit for each, or what it decodes with
            if (context.size() > 1 && (context.size() > longest || !least.within(capacity)))
                break;
            const double crossing = first > 0 ? 2 * stages[first].crossing : 0; // out and in again
            const double before = best[first].cycles + crossing * per_byte;
            Known& known = intervals.of(first, end);
            const double low = std::max(range.low(capacity), known.low);
            if (before + low >= here.cycles)
                continue;
            double interval = low; // a stage that nothing holds has all units
            if (capacity.units > 0 && least.within(capacity) && !known.exact) {
                const double high = std::min(std::max(range.high(capacity), 1.0), here.cycles - before);
                if (high <= 0 || !fit(context, capacity, high)) {
                    known.low = std::max(known.low, high);
                    continue;
                }
                interval = shortest_between(context, capacity, std::min(std::max(low, 1.0), high), high);
                known = {interval, true};
            }
            here = {before + interval, {first, end - first, interval}};
        }
    }
    Plan plan;
    for (std::size_t end = stages.size(); end > 0; end = plan.contexts.back().first) {
        const Context& last = plan.contexts.emplace_back(best[end].last);
        plan.cycles += last.interval;
        plan.crossing_bytes += last.first > 0 ? 2 * stages[last.first].crossing : 0;
    }
    std::reverse(plan.contexts.begin(), plan.contexts.end());
    return plan;
}

Needs needs_of(const Stage& stage, const Capacity& capacity, double interval) {
    if (stage.controllers <= 0)
        return {};
    Needs needs{1, stage.controllers};
    if (interval > 0 && stage.work > interval)
        needs.units = std::ceil(stage.work / interval);
    const double each = stage.per_controller > 0 ? std::min(stage.per_controller, capacity.per_controller)
                                                 : capacity.per_controller;
    if (each > 0 && needs.units > each)
        needs.controllers += std::ceil(needs.units / each);
    return needs;
}

double shortest_interval(std::span<const Stage> stages, const Capacity& capacity) {
    Range range;
    for (const Stage& stage : stages)
        range.add(stage);
    const double low = range.low(capacity), high = range.high(capacity);
    if (capacity.units <= 0) // any parts of the array
        return fit(stages, {0, capacity.controllers, 0, capacity.weights}, high)
                   ? std::max(low, std::numeric_limits<double>::min())
                   : 0;
    if (!fit(stages, capacity, std::max(high, 1.0)))
        return 0;
    return shortest_between(stages, capacity, std::max(low, 1.0), std::max(high, 1.0));
}

Plan plan_contexts(std::span<const Stage> stages, const Capacity& capacity,
                   const std::function<double(const Plan&)>& time_of) {
    // Cycles per byte, whatever the border's bandwidth: more of it never takes a plan away.
    constexpr std::array kPrices = {0.0, 1.0 / 256, 1.0 / 64, 1.0 / 16, 1.0 / 4, 1.0};
    Plan best;
    double least = std::numeric_limits<double>::infinity();
    Intervals intervals(stages.size());
    // Where nothing is remembered, one price in the middle has to do.
    const std::span<const double> prices =
        intervals.empty() ? std::span(kPrices).subspan(kPrices.size() / 2, 1) : std::span(kPrices);
    for (const double per_byte : prices) {
        Plan plan = least_cycles(stages, capacity, per_byte, intervals);
        if (const double time = time_of(plan); time < least || best.contexts.empty()) {
            least = time;
            best = std::move(plan);
        }
    }
    return best;
}

using namespace accelerator;

double layers_of(const SubgraphWork& work, const Machine& machine) {
    double layers = 0, activations = 0;
    for (const OperatorUse& use : work.operators) {
        if (on_host(use, machine))
            continue;
        const OperatorWork& w = use.op->work;
        switch (w.kind) {
        case OpKind::free:
            break;
        case OpKind::normalization: // mean, difference, square, mean, root, quotient, scale, shift
            layers += 8;
            break;
        case OpKind::softmax: // maximum, difference, exponential, sum, reciprocal, product
            layers += 6;
            break;
        case OpKind::elementwise:
            activations += w.special_ops > 0;
            break;
        default:
            layers += 1;
        }
    }
    if (layers > 0 && activations > 0 && work.extra_bytes > 0)
        layers += 1;
    return std::max(1.0, layers);
}

double units_of_controller(const SubgraphWork& work, double unit_channels) {
    if (unit_channels <= 0)
        return 0;
    double channels = 0;
    for (const OperatorUse& use : work.operators)
        for (const Contraction& c : use.op->work.contractions)
            channels =
                std::max(channels, use.op->work.window ? use.op->work.window->out_channels : c.n * c.groups);
    return channels > 0 ? std::ceil(channels / unit_channels) : 1;
}

double largest_tensor_bytes(const SubgraphWork& work, const Machine& machine) {
    double bytes = 0;
    for (const OperatorUse& use : work.operators)
        if (!on_host(use, machine))
            bytes = std::max({bytes, use.written_bytes, use.read_bytes});
    return bytes;
}

std::vector<bool> decodes_results(const NetworkWork& network) {
    constexpr double kOfProducts = 1e-3; // the least share of the products that makes a layer
    const std::size_t count = network.subgraphs.size();
    std::vector<bool> decodes(count, network.macs > 0);
    for (std::size_t i = count; i-- > 0;) {
        const SubgraphWork& work = network.subgraphs[i];
        if (work.repeat * work.macs >= kOfProducts * network.macs)
            decodes[i] = false;
        if (!decodes[i] && network.partition != nullptr && i < network.partition->subgraphs.size())
            for (const std::uint32_t before : network.partition->subgraphs[i].predecessors)
                decodes[before] = false;
    }
    return decodes;
}

} // namespace archsim::npu
