// Copies around products: channels-first images of convolutions, fp32 tensors under automatic mixed
// precision, scores between the products of attention. On the machine of gpu_ten_units.hpp, derived by hand
// from docs/mappers/gpu.md.

#include "family/gpu_ten_units.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace archsim;
using namespace archsim::test;

namespace {

/// Bytes of DRAM that kernels of their own move.
double copied(const Mapping& mapping) {
    double bytes = 0;
    for (const Demand& d : mapping.all())
        if (d.resource == Resource::dram_bytes && d.lane == Lane::overhead)
            bytes += d.amount;
    return bytes;
}

Machine channels_first() {
    Machine m = ten_units();
    set(m, Parameter::relayout_share, 0.5);
    set(m, Parameter::alignment_bytes, 16);
    set(m, Parameter::simple_bandwidth_efficiency, 0.9);
    return m;
}

Estimate of_stack(const std::string& model, const std::string& stack, Precision precision) {
    Conditions conditions;
    conditions.stack = stack;
    return laws::run_on(model, *laws::session().machine("RTX-4090", conditions), precision, 64);
}

} // namespace

TEST_CASE("GPU: convolutions copy images that lie with the channels first", "[formulas][gpu]") {
    const Machine m = channels_first();
    auto three = convolution(8, 64, 128, 14, 3, 1, Precision::fp16);
    const double images = 8.0 * (64 + 128) * 14 * 14;
    // Half of the images is read and written once more, in one kernel of the two.
    CHECK(copied(counted(*three, m)) == Approx(0.5 * 2 * images * 2));
    CHECK(copied(counted(*three, ten_units())) == 0);
    auto odd = convolution(8, 64, 128, 14, 1, 1, Precision::fp16); // rows of 392 bytes
    CHECK(copied(counted(*odd, m)) == Approx(0.5 * 2 * images * 2));
    auto even = convolution(8, 64, 128, 28, 1, 1, Precision::fp16); // 1568 bytes: a product as it lies
    CHECK(copied(counted(*even, m)) == 0);
    auto vector = convolution(8, 64, 128, 14, 3, 1, Precision::fp32); // no matrix engine has the format
    CHECK(copied(counted(*vector, m)) == 0);
    auto depthwise = convolution(8, 64, 64, 14, 3, 64, Precision::fp16);
    CHECK(copied(counted(*depthwise, m)) == 0);
}

TEST_CASE("GPU: groups of a width that no kernel has are widened by copies, or cut out one by one",
          "[formulas][gpu]") {
    Machine m = ten_units();
    set(m, Parameter::channels_last, 1);
    set(m, Parameter::group_copy_operations, 100);
    const auto lanes = [](const Mapping& out) {
        double cycles = 0;
        for (const Demand& d : out.all())
            if (d.resource == Resource::vector_cycles && d.lane == Lane::overhead)
                cycles += d.amount;
        return cycles;
    };
    // Two groups of 24 become two of 32: 8 x 14 x 14 pixels of 96 channels are 128 in the copies, 100
    // operations each of 640 a cycle.
    auto odd = convolution(8, 48, 48, 14, 3, 2, Precision::fp16);
    const double pixels = 8.0 * 14 * 14;
    const Mapping widened = counted(*odd, m);
    CHECK(lanes(widened) == Approx(pixels * 128 * 100 / 640));
    auto wide = convolution(8, 64, 64, 14, 3, 2, Precision::fp16);
    const Mapping made = counted(*wide, m);
    CHECK(lanes(made) == 0);
    CHECK(demand_on(widened, Resource::matrix_cycles)->amount ==
          Approx(demand_on(made, Resource::matrix_cycles)->amount));
    CHECK(widened.events[Event::vector_op] - made.events[Event::vector_op] ==
          Approx(pixels * 128 * 100).epsilon(0.01));
    // Where cutting takes less, each group has a kernel between two that copy, without padding.
    set(m, Parameter::group_slice_operations, 10);
    const Mapping cut = counted(*odd, m);
    CHECK(std::string(cut.allocation.scheme) == "group by group");
    CHECK(lanes(cut) == Approx(pixels * 96 * 10 / 640));
    // With the channels first the copies that are made anyway widen: half of 96 and of 128 channels.
    Machine first = channels_first();
    set(first, Parameter::group_copy_operations, 100);
    CHECK(lanes(counted(*odd, first)) == 0);
    CHECK(copied(counted(*odd, first)) == Approx(0.5 * pixels * (96 + 128) * 2));
    // A stack that chooses the order leaves a network of grouped convolutions alone as it comes.
    set(first, Parameter::channels_last, 1);
    CHECK(copied(counted(*odd, first)) == 0);
    set(first, Parameter::grouped_order_share, 0.33);
    CHECK(copied(counted(*odd, first)) == Approx(0.5 * pixels * (96 + 128) * 2));
    auto ungrouped = convolution(8, 48, 48, 14, 3, 1, Precision::fp16);
    CHECK(copied(counted(*ungrouped, first)) == 0);
}

TEST_CASE("GPU: what a product reads in fp32 is narrowed by a kernel of its own", "[formulas][gpu]") {
    auto one = matmul(64, 64, 64, Precision::fp16);
    one->work().narrowed_elements = 4096;
    one->work().narrowed_tensors = 1;
    const Mapping out = counted(*one, ten_units());
    CHECK(copied(out) == 4096 * (4 + 2));
    // The product's floor and launch, then the copy's.
    double cycles = 0;
    for (const Demand& d : out.all())
        if (d.resource == Resource::overhead_cycles)
            cycles += d.amount;
    CHECK(cycles == 6000 + 3000);
}

TEST_CASE("automatic mixed precision lies between fp32 and 16 bits throughout", "[laws][autocast]") {
    // ConvNeXt narrows and relays one image between stages, Swin narrows scores and gathers values at once.
    std::vector<std::string> models = laws::models();
    models.insert(models.end(), {"convnext_tiny", "swin_t", "t5-small-encoder"});
    for (const std::string& model : models) {
        INFO(model);
        const Estimate half = of_stack(model, "cuda-eager", Precision::fp16),
                       mixed = of_stack(model, "pytorch-autocast", Precision::fp16);
        CHECK(mixed.latency_s >= half.latency_s);
        CHECK(mixed.memory.activation_bytes >= half.memory.activation_bytes);
        CHECK(of_stack(model, "pytorch-channels-last", Precision::fp16).latency_s <= mixed.latency_s * 1.001);
        // Without a format to mix it is the same stack.
        CHECK(of_stack(model, "pytorch-autocast", Precision::fp32).latency_s ==
              Approx(of_stack(model, "cuda-eager", Precision::fp32).latency_s).epsilon(0.03));
    }
}

TEST_CASE("copies around a product are time of memory, not fixed cost", "[gpu][autocast]") {
    Conditions conditions;
    conditions.stack = "pytorch-autocast";
    const Estimate e =
        laws::run_on("swin_t", *laws::session().machine("RTX-4090", conditions), Precision::fp16, 1024);
    CHECK(e.overhead_bound == 0);
    CHECK(e.memory_bound > e.compute_bound);
}
