#include "family/contexts.hpp"

#include "core/same_everywhere.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace archsim::npu {

namespace {

/// What stages side by side take together.
struct Sum {
    double units = 0, controllers = 0, weights = 0, work = 0;

    void add(const Stage& stage, const Capacity& capacity, double interval) {
        const Needs needs = needs_of(stage, capacity, interval);
        units += needs.units;
        controllers += needs.controllers;
        weights += stage.weights;
        work += stage.work;
    }
    bool within(const Capacity& capacity) const {
        return weights <= capacity.weights && (capacity.units <= 0 || units <= capacity.units) &&
               (capacity.controllers <= 0 || controllers <= capacity.controllers);
    }
};

bool fit(std::span<const Stage> stages, const Capacity& capacity, double interval) {
    Sum sum;
    for (const Stage& stage : stages)
        sum.add(stage, capacity, interval);
    return sum.within(capacity);
}

/// The least and the most that an interval can be: all units at work, or one unit per stage.
struct Range {
    double low = 0, high = 0;
};
Range intervals(std::span<const Stage> stages, const Capacity& capacity) {
    Range range;
    double floor = 0, pooled = 0;
    for (const Stage& stage : stages) {
        range.low += stage.work / std::max(1.0, capacity.units);
        range.high = std::max({range.high, stage.work, stage.floor});
        floor = std::max(floor, stage.floor);
        pooled += stage.pooled;
    }
    range.low = std::max({range.low, floor, pooled});
    range.high = std::max(range.low, range.high);
    return range;
}

/// Cut where the next stage no longer fits, every context at the same interval.
std::vector<Context> cut(std::span<const Stage> stages, const Capacity& capacity, double interval) {
    std::vector<Context> contexts;
    Sum sum;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        sum.add(stages[i], capacity, interval);
        if (contexts.empty() || !sum.within(capacity)) {
            sum = {};
            sum.add(stages[i], capacity, interval);
            contexts.push_back({i, 0, interval});
        }
        ++contexts.back().count;
    }
    return contexts;
}

double cost_of(std::span<const Stage> stages, std::span<const Context> contexts, const Costs& costs) {
    double cycles = 0;
    for (const Context& context : contexts) {
        double interval = context.interval, pooled = 0;
        for (const Stage& stage : stages.subspan(context.first, context.count)) {
            interval = std::max(interval, stage.floor);
            pooled += stage.pooled;
        }
        cycles += std::max(interval, pooled) + costs.change;
        if (context.first > 0) // out of the one before and in again
            cycles += 2 * stages[context.first].crossing * costs.per_byte;
    }
    return cycles;
}

} // namespace

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
    const Range range = intervals(stages, capacity);
    if (capacity.units <= 0) // any parts of the array
        return fit(stages, {0, capacity.controllers, 0, capacity.weights}, range.high)
                   ? std::max(range.low, std::numeric_limits<double>::min())
                   : 0;
    if (!fit(stages, capacity, range.high))
        return 0;
    double low = std::max(range.low, 1.0), high = std::max(range.high, 1.0);
    constexpr int kHalvings = 24;
    for (int i = 0; i < kHalvings && high > low * 1.001; ++i) {
        const double middle = std::sqrt(low * high);
        (fit(stages, capacity, middle) ? high : low) = middle;
    }
    return high;
}

std::vector<Context> plan_contexts(std::span<const Stage> stages, const Capacity& capacity,
                                   const Costs& costs) {
    const Range range = intervals(stages, capacity);
    constexpr int kSteps = 24;
    std::vector<Context> best;
    double least = std::numeric_limits<double>::infinity();
    double low = 1;
    for (const Stage& stage : stages)
        low += stage.work / std::max(1.0, capacity.units) / static_cast<double>(stages.size());
    const double high = std::max(range.high, low);
    for (int i = 0; i <= kSteps; ++i) {
        const double interval = low * same_everywhere(std::pow(high / low, static_cast<double>(i) / kSteps));
        std::vector<Context> contexts = cut(stages, capacity, interval);
        const double cycles = cost_of(stages, contexts, costs);
        if (cycles < least) {
            least = cycles;
            best = std::move(contexts);
        }
    }
    for (Context& context : best)
        if (const double own = shortest_interval(stages.subspan(context.first, context.count), capacity);
            own > 0)
            context.interval = own;
    return best;
}

} // namespace archsim::npu
