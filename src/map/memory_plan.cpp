#include "archsim/map/memory_plan.hpp"

#include <algorithm>
#include <numeric>

namespace archsim {

namespace {

/// Offset planning compares each buffer with those placed before it; above this many buffers the quadratic
/// search is not worth its time and the arena is reported as its lower bound.
constexpr std::size_t kLargestPlan = 4096;

/// Buffers with an offset, by offset; what a search reads of them lies together.
class Placements {
  public:
    explicit Placements(std::size_t most) : beside_(most) {
        for (auto* steps : {&first_, &last_})
            steps->reserve(most);
        for (auto* offsets : {&begin_, &end_})
            offsets->reserve(most);
    }

    /// The smallest gap among those alive together with `buffer` that holds it, else what is above them all.
    double best_fit(const Buffer& buffer, double size) {
        // Few are, and no branch can tell which: they are collected without one.
        std::size_t count = 0;
        for (std::uint32_t k = 0; k < begin_.size(); ++k) {
            beside_[count] = k;
            count += static_cast<unsigned>(first_[k] <= buffer.last) &
                     static_cast<unsigned>(last_[k] >= buffer.first);
        }
        double best = -1, best_gap = 0, cursor = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint32_t k = beside_[i];
            const double gap = begin_[k] - cursor;
            if (gap >= size && (best < 0 || gap < best_gap)) {
                best = cursor;
                best_gap = gap;
            }
            cursor = std::max(cursor, end_[k]);
        }
        return best >= 0 ? best : cursor;
    }

    void insert(const Buffer& buffer, double begin, double end) {
        const auto at = std::upper_bound(begin_.begin(), begin_.end(), begin) - begin_.begin();
        first_.insert(first_.begin() + at, buffer.first);
        last_.insert(last_.begin() + at, buffer.last);
        begin_.insert(begin_.begin() + at, begin);
        end_.insert(end_.begin() + at, end);
    }

  private:
    std::vector<std::uint32_t> first_, last_;
    std::vector<std::uint32_t> beside_; ///< memory for a search
    std::vector<double> begin_, end_;
};

double best_fit_arena(std::span<const Buffer> buffers, std::span<const double> sizes) {
    std::vector<std::size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    Placements placed(buffers.size());
    double arena = 0;
    for (const std::size_t i : order) {
        if (buffers[i].kv_cache || sizes[i] <= 0)
            continue;
        const double begin = placed.best_fit(buffers[i], sizes[i]), end = begin + sizes[i];
        placed.insert(buffers[i], begin, end);
        arena = std::max(arena, end);
    }
    return arena;
}

} // namespace

MemoryPlan plan_memory(std::span<const Buffer> buffers, std::span<const double> sizes, std::size_t steps) {
    MemoryPlan plan;
    plan.timeline.assign(std::max<std::size_t>(steps, 1), 0.0);
    std::vector<double> change(plan.timeline.size() + 1, 0.0), crossing(plan.timeline.size() + 2, 0.0);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        if (buffers[i].kv_cache) {
            plan.kv_cache_bytes += sizes[i];
            continue;
        }
        change[buffers[i].first] += sizes[i];
        change[buffers[i].last + 1] -= sizes[i];
        crossing[buffers[i].first + 1] += sizes[i];
        crossing[buffers[i].last + 1] -= sizes[i];
    }
    std::partial_sum(change.begin(), change.end() - 1, plan.timeline.begin());
    plan.crossing.resize(plan.timeline.size());
    std::partial_sum(crossing.begin(), crossing.begin() + static_cast<std::ptrdiff_t>(plan.crossing.size()),
                     plan.crossing.begin());
    const auto peak = std::max_element(plan.timeline.begin(), plan.timeline.end());
    plan.peak_step = static_cast<std::uint32_t>(peak - plan.timeline.begin());
    plan.peak_live_bytes = *peak;
    std::vector<std::size_t> alive;
    for (std::size_t i = 0; i < buffers.size(); ++i)
        if (!buffers[i].kv_cache && buffers[i].first <= plan.peak_step && plan.peak_step <= buffers[i].last)
            alive.push_back(i);
    std::stable_sort(alive.begin(), alive.end(),
                     [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    for (std::size_t i : alive) {
        plan.peak_tensors.push_back(buffers[i].tensor);
        plan.peak_tensor_bytes.push_back(sizes[i]);
    }
    plan.arena_bytes = buffers.size() <= kLargestPlan ? best_fit_arena(buffers, sizes) : plan.peak_live_bytes;
    return plan;
}

MemoryPlan scaled(MemoryPlan plan, double factor) {
    for (auto* bytes : {&plan.timeline, &plan.crossing, &plan.peak_tensor_bytes})
        for (double& value : *bytes)
            value *= factor;
    for (double* bytes : {&plan.peak_live_bytes, &plan.arena_bytes, &plan.kv_cache_bytes})
        *bytes *= factor;
    return plan;
}

} // namespace archsim
