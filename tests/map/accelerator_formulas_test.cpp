// Counting that the accelerator mappers share, worked by hand.

#include "accelerator_support.hpp"
#include "expected_counts.hpp"
#include "map/accelerator.hpp"

using namespace archsim;
using namespace archsim::test;

namespace {

Rig costs() {
    Rig rig(Family("npu"), 1, 1000);
    rig.set(Parameter::drain_cost, 2).set(Parameter::elementwise_cost, 3).set(Parameter::pooling_cost, 5);
    rig.set(Parameter::activation_cost, 7).set(Parameter::normalization_cost, 11);
    return rig.set(Parameter::softmax_cost, 13).set(Parameter::special_function_cost, 17);
}
/// A stack that states nothing but what a special function costs.
Rig silent() {
    return Rig(Family("npu"), 1, 1000).set(Parameter::special_function_cost, 17);
}

/// Operators of one subgraph, filled in by hand.
struct Members {
    std::deque<Operator> operators;
    Uses uses;
    SubgraphWork work;

    explicit Members(OpKind kind) { work.kind = kind; }
    OperatorWork& add(OpKind kind, double in, double out) {
        OperatorWork& w = operators.emplace_back().work;
        w.kind = kind;
        OperatorUse use;
        use.op = &operators.back();
        use.input_elements = in;
        use.output_elements = out;
        use.written_bytes = out;
        uses.add(work, use);
        return w;
    }
    accelerator::VectorWork on(const Rig& rig) const { return accelerator::vector_work(work, rig.machine()); }
};

Window window(double in, double out, double groups, double kernel) {
    Window w;
    w.in_channels = in;
    w.out_channels = out;
    w.groups = groups;
    w.kernel = {1, kernel, kernel};
    w.out = {1, 4, 4};
    return w;
}

} // namespace

TEST_CASE("vector unit: a chain of element-wise operators is one pass over the widest", "[formulas][npu]") {
    Members m(OpKind::elementwise);
    OperatorWork& gelu = m.add(OpKind::elementwise, 100, 100);
    gelu.vector_ops = 200;
    gelu.special_ops = 150;
    m.add(OpKind::elementwise, 260, 130).vector_ops = 130;
    const auto stated = m.on(costs());
    CHECK(stated.operations == 3 * (260 + 130) + 7 * 100);
    CHECK(stated.special == 150);
    CHECK(stated.small_operators == 1);
    CHECK(m.on(silent()).operations == 200 + 130 + 17 * 150);
}

TEST_CASE("vector unit: behind a product only a second tensor is read", "[formulas][npu]") {
    Members m(OpKind::convolution);
    m.add(OpKind::convolution, 500, 130);
    m.add(OpKind::elementwise, 260, 130);
    CHECK(m.on(costs()).operations == 2 * 130);
    CHECK(m.on(costs()).small_operators == 0);
    m.work.extra_bytes = 130;
    CHECK(m.on(costs()).operations == 2 * 130 + 3 * 390);
    CHECK(m.on(costs()).small_operators == 1);
    m.add(OpKind::elementwise, 130, 130); // reads what the other wrote
    CHECK(m.on(costs()).operations == 2 * 130 + 3 * 390);
}

TEST_CASE("vector unit: normalisation, softmax, reduction, copies and sorting", "[formulas][npu]") {
    const auto cost = [](OpKind kind, const Rig& rig, double passes = 2) {
        Members m(kind);
        OperatorWork& w = m.add(kind, 300, 100);
        w.vector_ops = 1000;
        w.special_ops = 10;
        w.passes = passes;
        return m.on(rig).operations;
    };
    const double own = 1000 + 17 * 10;
    for (const auto& [kind, stated] : {std::pair{OpKind::normalization, 11 * 100.0},
                                       {OpKind::softmax, 13 * 100.0},
                                       {OpKind::reduction, 3 * 400.0},
                                       {OpKind::data_movement, 3 * 400.0},
                                       {OpKind::sorting, own}}) {
        INFO(name_of(kind));
        CHECK(cost(kind, costs()) == stated);
        CHECK(cost(kind, silent()) == own);
    }
    CHECK(cost(OpKind::normalization, costs(), 1) == 3 * 400); // one pass: an affine function
    CHECK(cost(OpKind::recurrent, costs()) == own + 2 * 100);
    Members copy(OpKind::data_movement);
    copy.add(OpKind::data_movement, 1, 1);
    CHECK(copy.on(costs()).small_operators == 1);
}

TEST_CASE("vector unit: a normalisation in pieces costs what a whole one does", "[formulas][npu]") {
    Members m(OpKind::reduction);
    m.add(OpKind::reduction, 400, 10).vector_ops = 400;
    m.add(OpKind::elementwise, 410, 400).vector_ops = 800;
    m.add(OpKind::reduction, 400, 10).vector_ops = 400;
    m.add(OpKind::elementwise, 10, 10).special_ops = 10;
    CHECK(m.on(costs()).operations == 11 * 400);
    CHECK(m.on(silent()).operations == 1600 + 17 * 10);
    m.work.operators = m.work.operators.subspan(1); // one reduction is a mean
    CHECK(m.on(costs()).operations == 3 * 410 + 3 * 810 + 7 * 10);
}

TEST_CASE("vector unit: pooling by taps, attention by scores", "[formulas][npu]") {
    Members pool(OpKind::pooling);
    OperatorWork& w = pool.add(OpKind::pooling, 640, 160);
    w.vector_ops = 1440;
    CHECK(pool.on(costs()).operations == 3 * 800); // no window known
    w.window = window(10, 10, 1, 3);
    CHECK(pool.on(costs()).operations == 5 * 9 * 160);
    CHECK(pool.on(costs()).small_operators == 0);
    CHECK(pool.on(silent()).operations == 1440);
    w.window->out = {1, 1, 1};
    CHECK(pool.on(costs()).small_operators == 1); // global
    Members scores(OpKind::attention);
    OperatorWork& a = scores.add(OpKind::attention, 100, 50);
    a.vector_ops = 600;
    a.special_ops = 100;
    a.attention = AttentionShape{2, 3, 3, 4, 5, 8, 8, false};
    CHECK(scores.on(costs()).operations == 2 * 50 + 13 * 2 * 3 * 4 * 5);
    a.contractions = {{1, 9, 9, 9, true}, {6, 4, 3, 8, false}}; // masks leave three of five keys
    CHECK(scores.on(costs()).operations == 2 * 50 + 13 * 6 * 4 * 3);
    CHECK(scores.on(silent()).operations == 600 + 17 * 100);
}

TEST_CASE("vector unit: depthwise and grouped convolutions are small operators", "[formulas][npu]") {
    Members m(OpKind::convolution);
    OperatorWork& w = m.add(OpKind::convolution, 100, 100);
    w.macs = 900;
    w.window = window(8, 8, 8, 3);
    CHECK(m.on(costs()).depthwise_macs == 900);
    CHECK(m.on(costs()).small_operators == 1);
    w.window = window(8, 8, 4, 3);
    CHECK(m.on(costs()).depthwise_macs == 0);
    CHECK(m.on(costs()).small_operators == 1);
    w.window = window(8, 8, 1, 3);
    CHECK(m.on(costs()).small_operators == 0);
}

TEST_CASE("accelerators: channels of every tap, or the flattened reduction, are padded", "[formulas][npu]") {
    OperatorWork w;
    w.kind = OpKind::convolution;
    Contraction c;
    c.m = 16;
    const auto padded = [&](double in, double out, double groups, bool pack) {
        w.window = window(in, out, groups, 5);
        return accelerator::channel_padded_macs(w, c, 32, pack);
    };
    CHECK(padded(40, 70, 1, false) == 16 * 25 * 64 * 96);
    CHECK(padded(3, 70, 1, false) == 16 * 25 * 32 * 96);
    CHECK(padded(3, 70, 1, true) == 16 * 5 * 32 * 96);         // a row of 15 in one block
    CHECK(padded(16, 70, 1, true) == 16 * 5 * 96 * 96);        // a row of 80 in three
    CHECK(padded(17, 70, 1, true) == 16 * 25 * 32 * 96);       // more than half a block
    CHECK(padded(40, 40, 4, false) == 16 * 25 * 32 * 64);      // groups of ten share the output side
    CHECK(padded(80, 160, 4, false) == 16 * 25 * 32 * 64 * 4); // groups of forty do not
    w.window.reset();
    w.kind = OpKind::matmul;
    c = {3, 10, 40, 50, true};
    CHECK(accelerator::channel_padded_macs(w, c, 32, false) == 3 * 10 * 64 * 64);
    CHECK(accelerator::flat_padded_macs(c, 16, 12) == 3 * 10 * 64 * 48);
    c.m = 1; // one row: nothing is padded
    CHECK(accelerator::channel_padded_macs(w, c, 32, false) == 3 * 40 * 50);
}

TEST_CASE("accelerators: what stands in for a format without a rate", "[formulas][npu]") {
    Rig rig(Family("npu"), 1, 1000); // 8-bit
    Machine m = rig.machine();
    const auto rate = [&](Precision p, double value) {
        m.matrix_ops_per_cycle[static_cast<std::size_t>(p)] = value;
    };
    const auto format = [&](Precision p) {
        return accelerator::matrix_format(m, PrecisionConfig::uniform(p), p);
    };
    rate(Precision::fp32, 40);
    rate(Precision::fp16, 200);
    CHECK(format(Precision::bf16).multiplies == Precision::fp16); // a float as wide, and faster than fp32
    CHECK(format(Precision::fp64).multiplies == Precision::fp16); // none is as wide: the fastest float
    rate(Precision::fp16, 30);
    rate(Precision::fp8, 500);
    CHECK(format(Precision::bf16).multiplies == Precision::fp32); // not the faster, narrower float
    rate(Precision::fp8, 0);
    CHECK(format(Precision::int4).multiplies == Precision::int8);
    CHECK(format(Precision::int16).multiplies ==
          Precision::fp32); // may be held by a float, not by a narrower integer
    m.parameters.facts[static_cast<std::size_t>(Parameter::wide_passes)] = fact(3);
    CHECK(format(Precision::fp64).passes == 3);
    CHECK(format(Precision::bf16).passes == 1);
    // A vector engine of the format runs it where no passes are known.
    m.parameters.facts[static_cast<std::size_t>(Parameter::wide_passes)] = {};
    m.vector_ops_per_cycle[static_cast<std::size_t>(Precision::bf16)] = 5;
    CHECK(format(Precision::bf16).resource == Resource::vector_cycles);
    CHECK(format(Precision::bf16).ops_per_cycle == 5);
    // The vector unit: its widest useful format, else whatever it has.
    m.vector_ops_per_cycle[static_cast<std::size_t>(Precision::fp32)] = 4;
    m.vector_ops_per_cycle[static_cast<std::size_t>(Precision::int8)] = 50;
    CHECK(accelerator::vector_ops_per_cycle(m) == 5);
    m.vector_ops_per_cycle = {};
    m.vector_ops_per_cycle[static_cast<std::size_t>(Precision::int8)] = 50;
    CHECK(accelerator::vector_ops_per_cycle(m) == 50);
}

TEST_CASE("accelerators: memory of the whole chip, and of all units", "[formulas][npu]") {
    Rig rig(Family("npu"), 6, 100);
    rig.device->memory = {level("L1", "core", fact(100)), level("L2", "chip", fact(500))};
    CHECK(on_chip_bytes(rig.machine()) == 600);
    rig.device->memory[1].capacity = fact(700);
    CHECK(on_chip_bytes(rig.machine()) == 700);
    CHECK(managed_memory_bytes(rig.machine()) == 700);
    own(*rig.device, "sram") = fact(450);
    CHECK(managed_memory_bytes(rig.machine()) == 450);
    rig.device->family = Family("gpu");
    CHECK(managed_memory_bytes(rig.machine()) == 0);
    Machine half = rig.machine();
    half.units = 0.5; // of a shared unit
    CHECK(on_chip_bytes(half) == 700);
}

TEST_CASE("accelerators: caches and inputs of the network come from outside", "[formulas][npu]") {
    SubgraphWork work;
    work.kv_bytes = 30;
    work.given_bytes = 240;
    work.input_bytes = 1000;
    CHECK(accelerator::outside_bytes(work) == 270);
    work.input_bytes = 100;
    work.extra_bytes = 50; // not all of it is read
    CHECK(accelerator::outside_bytes(work) == 150);
}

TEST_CASE("accelerators: the host takes over operator by operator", "[formulas][npu]") {
    Rig rig(Family("npu"), 1, 1000);
    rig.runtime->fallback = Fallback::host;
    rig.set(Parameter::fallback_switch, 1e-4).set(Parameter::fallback_operation_time, 1e-9);
    Network network;
    SubgraphWork& s = network.product(4, 5, 6);
    network.follow(s, 20, 30, 7);
    network.follow(s, 20, 40, 0);
    const auto uses = network.uses().of(s);
    uses[1].supported = uses[2].supported = false;
    Mapping out;
    accelerator::add_fallback(s, rig.machine(), out);
    check_demands(out, {{Resource::seconds, Lane::overhead, 77e-9},
                        {Resource::seconds, Lane::overhead, 2e-4},
                        {Resource::dram_bytes, Lane::overhead, 2 * 40}});
    check_events(out.events, {}, {{Event::host_busy_second, 77e-9}, {Event::dram_byte, 80}});
    rig.device->host_link_bandwidth = fact(1e9);
    Mapping linked;
    accelerator::add_fallback(s, rig.machine(), linked);
    check_events(linked.events, {}, {{Event::host_busy_second, 77e-9}, {Event::host_link_byte, 80}});
    CHECK(demand(linked, Resource::host_link_bytes, Lane::overhead) == 80);
    Mapping events;
    accelerator::count_arithmetic(s, network.work(), rig.machine(), events);
    check_events(events.events, {{Precision::int8, 120}}, {}); // the host's work is not the chip's
}

TEST_CASE("accelerators: fixed times of an inference", "[formulas][npu]") {
    Rig rig(Family("npu"), 1, 1000);
    rig.device->host_link_bandwidth = fact(1e9);
    rig.set(Parameter::inference_overhead, 1e-4).set(Parameter::host_time, 2e-4);
    NetworkWork network;
    network.input_bytes = 300;
    network.output_bytes = 40;
    const auto fixed = [&] {
        Mapping out;
        accelerator::add_inference_overhead(network, rig.machine(), out);
        return out;
    };
    check_demands(fixed(), {{Resource::seconds, Lane::overhead, 1e-4}});
    rig.options.scope = Scope::end_to_end;
    check_demands(fixed(), {{Resource::seconds, Lane::overhead, 1e-4},
                            {Resource::seconds, Lane::overhead, 2e-4},
                            {Resource::host_link_bytes, Lane::overhead, 340}});
    CHECK(fixed().events[Event::host_link_byte] == 340);
    rig.set(Parameter::host_copy_bandwidth, 1e8); // staged through memory that the device can fetch from
    CHECK(demand(fixed(), Resource::seconds, Lane::overhead) == Approx(3e-4 + 340 / 1e8));
    rig.device->host_link_bandwidth = {}; // shared memory: nothing to stage
    check_demands(fixed(),
                  {{Resource::seconds, Lane::overhead, 1e-4}, {Resource::seconds, Lane::overhead, 2e-4}});
    rig.device->host_link_bandwidth = fact(1e9);
    rig.runtime->parameters.pop_back();
    rig.options.scenario = Scenario::throughput; // the host prepares one while the device runs another
    check_demands(fixed(), {{Resource::seconds, Lane::overhead, 1e-4}});
    CHECK(fixed().events[Event::host_link_byte] == 340);
    rig.set(Parameter::stream_overlap, 0.25); // and starts one while another runs
    check_demands(fixed(), {{Resource::seconds, Lane::overhead, 0.25e-4}});
    rig.runtime->parameters.back().value = fact(0);
    check_demands(fixed(), {});
    rig.options.scenario = Scenario::latency;
    rig.options.scope = Scope::kernel;
    check_demands(fixed(), {{Resource::seconds, Lane::overhead, 1e-4}});
}
