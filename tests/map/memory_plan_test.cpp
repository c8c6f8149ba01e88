#include "archsim/map/memory_plan.hpp"

#include "laws/laws.hpp"

#include <catch2/catch.hpp>

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
