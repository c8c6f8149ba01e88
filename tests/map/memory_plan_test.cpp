#include "map/network_parts.hpp"

#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace archsim;

TEST_CASE("a plan for sizes twice as small is the plan at half the bytes, to the last bit", "[map]") {
    for (const char* name : {"resnet50", "yolov8n", "gpt2", "densenet121"}) {
        INFO(name);
        const auto model = laws::bound(name, 3);
        const Partition& fused = *model->partition({});
        std::vector<double> sizes, halves;
        for (const Buffer& buffer : fused.buffers) {
            sizes.push_back(4 * model->graph().tensors[buffer.tensor].elements());
            halves.push_back(sizes.back() / 2);
        }
        const MemoryPlan whole = plan_memory(fused.buffers, sizes, fused.subgraphs.size());
        const MemoryPlan half = plan_memory(fused.buffers, halves, fused.subgraphs.size());
        const MemoryPlan from_whole = scaled(whole, 0.5);
        CHECK(whole.arena_bytes >= whole.peak_live_bytes);
        CHECK(half.arena_bytes == from_whole.arena_bytes);
        CHECK(half.peak_live_bytes == from_whole.peak_live_bytes);
        CHECK(half.kv_cache_bytes == from_whole.kv_cache_bytes);
        CHECK(half.timeline == from_whole.timeline);
        CHECK(half.crossing == from_whole.crossing);
        CHECK(half.peak_step == from_whole.peak_step);
        CHECK(half.peak_tensors == from_whole.peak_tensors);
        CHECK(half.peak_tensor_bytes == from_whole.peak_tensor_bytes);
    }
}

namespace {

/// Greedy by size, best fit, with nothing done to be quick.
double plain_arena(const std::vector<Buffer>& buffers, const std::vector<double>& sizes) {
    std::vector<std::size_t> order(buffers.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    std::vector<std::pair<std::size_t, double>> placed;
    double arena = 0;
    for (const std::size_t i : order) {
        std::vector<std::pair<double, double>> beside;
        for (const auto& [k, begin] : placed)
            if (buffers[k].first <= buffers[i].last && buffers[k].last >= buffers[i].first)
                beside.emplace_back(begin, begin + sizes[k]);
        std::sort(beside.begin(), beside.end());
        double best = -1, best_gap = 0, cursor = 0;
        for (const auto& [begin, end] : beside) {
            if (begin - cursor >= sizes[i] && (best < 0 || begin - cursor < best_gap)) {
                best = cursor;
                best_gap = begin - cursor;
            }
            cursor = std::max(cursor, end);
        }
        placed.emplace_back(i, best >= 0 ? best : cursor);
        arena = std::max(arena, placed.back().second + sizes[i]);
    }
    return arena;
}

} // namespace

TEST_CASE("few buffers and many are placed alike: largest first, each into the tightest gap", "[map]") {
    std::mt19937 random(7);
    const auto draw = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
    for (const std::uint32_t count : {1U, 40U, 256U, 257U, 900U}) {
        const std::uint32_t steps = std::max(1U, count / 2);
        std::vector<Buffer> buffers(count);
        std::vector<double> sizes(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            buffers[i].first = draw(steps);
            buffers[i].last = std::min(steps - 1, buffers[i].first + draw(i % 10 == 0 ? steps : 6U));
            sizes[i] = 16.0 * (1 + draw(64));
        }
        INFO(count);
        CHECK(plan_memory(buffers, sizes, steps).arena_bytes == plain_arena(buffers, sizes));
    }
}
