#include "serving/generating.hpp"

#include <algorithm>
#include <numeric>

namespace archsim::serving {

bool Generating::later(const Member& a, const Member& b) {
    return a.ends != b.ends ? a.ends > b.ends : a.serial > b.serial;
}

bool Generating::after(const Crossing& a, const Crossing& b) {
    return a.beat > b.beat;
}

/// When a context leaves its span, if its sequence lives to see it.
void Generating::cross(std::int64_t context, std::int64_t beat, std::int64_t ends) {
    const std::int64_t last = ContextCounts::last_of(context);
    if (last - context >= ends - beat)
        return;
    crossings_.push_back({beat + last + 1 - context, ends, ContextCounts::span_of(context)});
    std::push_heap(crossings_.begin(), crossings_.end(), after);
}

void Generating::count(std::int64_t context) {
    contexts_.add(context);
    spans_ = std::max(spans_, ContextCounts::span_of(context) + 1);
}

void Generating::add(const Sequence& s) {
    count(s.context);
    members_.push_back({s, beat_, beat_ + s.left, came_++});
    if (one_by_one_)
        return;
    cross(s.context, beat_, beat_ + s.left);
    std::push_heap(members_.begin(), members_.end(), later);
}

std::int64_t Generating::positions() const {
    const auto first = contexts_.positions.begin();
    return std::accumulate(first, first + static_cast<std::ptrdiff_t>(spans_), std::int64_t{0});
}

void Generating::go_on(std::int64_t steps) {
    beat_ += steps;
    for (std::size_t span = 0; span < spans_; ++span)
        contexts_.positions[span] += steps * contexts_.sequences[span];
}

void Generating::advance(std::vector<Sequence>& ended) {
    go_on(1);
    while (!crossings_.empty() && crossings_.front().beat <= beat_) {
        const Crossing c = crossings_.front();
        std::pop_heap(crossings_.begin(), crossings_.end(), after);
        crossings_.pop_back();
        const std::int64_t context = ContextCounts::kFirst << c.from;
        --contexts_.sequences[c.from];
        contexts_.positions[c.from] -= context;
        count(context);
        cross(context, beat_, c.ends);
    }
    while (!members_.empty() && members_.front().ends <= beat_) {
        std::pop_heap(members_.begin(), members_.end(), later);
        Sequence s = members_.back().s;
        members_.pop_back();
        s.context += s.left;
        s.emitted += s.left;
        s.left = 0;
        const std::size_t span = ContextCounts::span_of(s.context);
        --contexts_.sequences[span];
        contexts_.positions[span] -= s.context;
        ended.push_back(s);
    }
}

std::int64_t Generating::advance_by(const std::function<std::int64_t()>& tokens,
                                    std::vector<Sequence>& ended) {
    std::int64_t emitted = 0;
    contexts_ = {};
    for (Member& m : members_) {
        const std::int64_t taken = std::min(tokens(), m.s.left);
        emitted += taken;
        m.s.context += taken;
        m.s.emitted += taken;
        m.s.left -= taken;
        if (m.s.left == 0)
            ended.push_back(m.s);
        else
            count(m.s.context);
    }
    std::erase_if(members_, [](const Member& m) { return m.s.left == 0; });
    return emitted;
}

Sequence Generating::take(bool shortest_answer) {
    const auto gives_way = [&](const Member& a, const Member& b) {
        const std::int64_t one = a.s.emitted + moved(a), other = b.s.emitted + moved(b);
        return shortest_answer && one != other ? one < other : a.serial > b.serial;
    };
    const auto last = std::ranges::min_element(members_, gives_way);
    Sequence s = last->s;
    const std::int64_t steps = moved(*last), ends = last->ends;
    s.context += steps;
    s.emitted += steps;
    s.left -= steps;
    members_.erase(last);
    const std::size_t span = ContextCounts::span_of(s.context);
    --contexts_.sequences[span];
    contexts_.positions[span] -= s.context;
    if (one_by_one_)
        return s;
    std::make_heap(members_.begin(), members_.end(), later);
    const std::int64_t beat = beat_ + ContextCounts::last_of(s.context) + 1 - s.context;
    const auto own = std::ranges::find_if(
        crossings_, [&](const Crossing& c) { return c.beat == beat && c.ends == ends && c.from == span; });
    if (own != crossings_.end()) {
        crossings_.erase(own);
        std::make_heap(crossings_.begin(), crossings_.end(), after);
    }
    return s;
}

std::int64_t Generating::steps_alike() const {
    if (members_.empty())
        return 0;
    constexpr std::int64_t kItself = 2; // the next step, and the last one, in which a sequence ends
    std::int64_t steps = members_.front().ends - beat_ - kItself;
    if (!crossings_.empty())
        steps = std::min(steps, crossings_.front().beat - 1 - beat_);
    return std::max<std::int64_t>(0, steps);
}

std::vector<std::int64_t> Generating::contexts_in_turn() const {
    std::vector<std::pair<std::int64_t, std::int64_t>> of;
    for (const Member& m : members_)
        of.emplace_back(m.serial, m.s.context + moved(m));
    std::ranges::sort(of);
    std::vector<std::int64_t> contexts;
    for (const auto& [serial, context] : of)
        contexts.push_back(context);
    return contexts;
}

} // namespace archsim::serving
