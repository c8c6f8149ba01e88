#include "map/network_parts.hpp"

#include <algorithm>
#include <numeric>

namespace archsim {

/// Offset planning compares each buffer with those placed before it and alive with it, in the worst case with
/// all; above this many the search is not worth its time and the arena is reported as its lower bound.
constexpr std::size_t kLargestPlan = 4096;

/// Up to so many buffers, comparing with each of them takes less time than keeping lists by step.
constexpr std::size_t kFewBuffers = 256;

/// Room on the way up through buffers that are alive together, lowest first: the smallest gap that holds
/// `size`, else what is above them all.
class Fit {
  public:
    explicit Fit(double size) : size_(size) {}
    void pass(double begin, double end) {
        const double gap = begin - cursor_;
        if (gap >= size_ && (best_ < 0 || gap < best_gap_)) {
            best_ = cursor_;
            best_gap_ = gap;
        }
        cursor_ = std::max(cursor_, end);
    }
    double offset() const { return best_ >= 0 ? best_ : cursor_; }

  private:
    double size_, best_ = -1, best_gap_ = 0, cursor_ = 0;
};

/// Few buffers with an offset, by offset; what a search reads of them lies together.
class FewPlacements {
  public:
    FewPlacements(std::size_t most, std::size_t /*steps*/) : beside_(most) {
        for (auto* steps : {&first_, &last_})
            steps->reserve(most);
        for (auto* offsets : {&begin_, &end_})
            offsets->reserve(most);
    }

    double best_fit(const Buffer& buffer, double size) {
        // Few are alive together with it, and no branch can tell which: they are collected without one.
        std::size_t count = 0;
        for (std::uint32_t k = 0; k < begin_.size(); ++k) {
            beside_[count] = k;
            count += static_cast<unsigned>(first_[k] <= buffer.last) &
                     static_cast<unsigned>(last_[k] >= buffer.first);
        }
        Fit fit(size);
        for (std::size_t i = 0; i < count; ++i)
            fit.pass(begin_[beside_[i]], end_[beside_[i]]);
        return fit.offset();
    }

    void insert(const Buffer& buffer, double begin, double end) {
        const auto at = std::ranges::upper_bound(begin_, begin) - begin_.begin();
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

/// Many buffers with an offset, listed at every step at which they are alive: of a deep network's, few are
/// at once.
class ManyPlacements {
  public:
    ManyPlacements(std::size_t most, std::size_t steps) : alive_(steps, kNone), begun_(steps, kNone) {
        nodes_.reserve(4 * most);
    }

    double best_fit(const Buffer& buffer, double size) {
        // Who is alive together with it is so at its first step or begins at a later one.
        beside_.clear();
        collect(alive_[buffer.first]);
        for (std::uint32_t step = buffer.first + 1; step <= buffer.last; ++step)
            collect(begun_[step]);
        std::ranges::sort(beside_, {}, &Range::begin);
        Fit fit(size);
        for (const Range& range : beside_)
            fit.pass(range.begin, range.end);
        return fit.offset();
    }

    void insert(const Buffer& buffer, double begin, double end) {
        push(begun_[buffer.first], {begin, end});
        for (std::uint32_t step = buffer.first; step <= buffer.last; ++step)
            push(alive_[step], {begin, end});
    }

  private:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    struct Range {
        double begin, end;
    };
    struct Node {
        Range range;
        std::uint32_t next;
    };
    void push(std::uint32_t& head, const Range& range) {
        nodes_.push_back({range, head});
        head = static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    void collect(std::uint32_t head) {
        for (; head != kNone; head = nodes_[head].next)
            beside_.push_back(nodes_[head].range);
    }

    std::vector<std::uint32_t> alive_, begun_; ///< heads of lists, by step
    std::vector<Node> nodes_;
    std::vector<Range> beside_; ///< memory for a search
};

template <class Placements>
static double best_fit_arena(std::span<const Buffer> buffers, std::span<const double> sizes,
                             std::size_t steps) {
    std::vector<std::size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    Placements placed(buffers.size(), steps);
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
    const auto peak = std::ranges::max_element(plan.timeline);
    plan.peak_step = static_cast<std::uint32_t>(peak - plan.timeline.begin());
    plan.peak_live_bytes = *peak;
    std::vector<std::size_t> alive;
    for (std::size_t i = 0; i < buffers.size(); ++i)
        if (!buffers[i].kv_cache && buffers[i].first <= plan.peak_step && plan.peak_step <= buffers[i].last)
            alive.push_back(i);
    std::ranges::stable_sort(alive, [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    for (std::size_t i : alive) {
        plan.peak_tensors.push_back(buffers[i].tensor);
        plan.peak_tensor_bytes.push_back(sizes[i]);
    }
    const std::size_t count = buffers.size();
    plan.arena_bytes =
        count <= kFewBuffers    ? best_fit_arena<FewPlacements>(buffers, sizes, plan.timeline.size())
        : count <= kLargestPlan ? best_fit_arena<ManyPlacements>(buffers, sizes, plan.timeline.size())
                                : plan.peak_live_bytes;
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
