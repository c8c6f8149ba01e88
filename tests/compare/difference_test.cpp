// Differences of whatever two estimates: laws over random pairs of every kind, three by hand, alignment.

#include "answers/difference/difference.hpp"
#include "laws/laws.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

using namespace archsim;

namespace {

constexpr std::array kExplainedMetrics = {&metric::latency, &metric::throughput, &metric::energy,
                                          &metric::power,   &metric::memory,     &metric::cost};

double cause(const Difference& d, Factor factor) {
    for (const Contribution& c : d.attribution.contributions)
        if (c.factor == factor)
            return c.value;
    return 0;
}

template <class Rows>
double sum_of(const Rows& rows) {
    double sum = 0;
    for (const auto& row : rows)
        sum += row.part.value;
    return sum;
}

void check_adds_up(const Difference& d) {
    const Attribution& x = d.attribution;
    const double scale = std::max(std::abs(x.a_value), std::abs(x.b_value));
    double causes = 0;
    for (const Contribution& c : x.contributions)
        causes += c.value;
    CHECK(std::abs(causes - x.difference) <= 1e-9 * std::abs(x.difference) + 1e-13 * scale);
    // Nothing but rounding was given to the largest part.
    CHECK(std::abs(x.residual) <= 1e-10 * scale);
    if (d.blocks.empty())
        return;
    CHECK(std::abs(sum_of(d.blocks) - x.difference) <= 1e-10 * scale);
    CHECK(std::abs(sum_of(d.classes) - x.difference) <= 1e-10 * scale);
    const double changes = std::accumulate(d.by_change.begin(), d.by_change.end(), 0.0);
    CHECK(std::abs(changes - x.difference) <= 1e-10 * scale);
}

void check_turned(const Difference& d, const Difference& turned) {
    const double scale = std::max(std::abs(d.attribution.a_value), std::abs(d.attribution.b_value));
    CHECK(d.attribution.difference == -turned.attribution.difference);
    CHECK(d.aligned == turned.aligned);
    // Either side may list a part that the other drops as rounding.
    for (const Contribution& c : d.attribution.contributions)
        CHECK(std::abs(c.value + cause(turned, c.factor)) <= 1e-10 * scale);
    for (const Contribution& c : turned.attribution.contributions)
        CHECK(std::abs(c.value + cause(d, c.factor)) <= 1e-10 * scale);
    for (const auto& [change, other] : {std::pair(Change::kept, Change::kept),
                                        {Change::added, Change::removed},
                                        {Change::removed, Change::added},
                                        {Change::displaced, Change::displaced}})
        CHECK(std::abs(d.by_change[static_cast<std::size_t>(change)] +
                       turned.by_change[static_cast<std::size_t>(other)]) <= 1e-10 * scale);
}

/// What one random side is estimated for.
struct Draw {
    std::string model, hardware, stack;
    Precision precision = Precision::fp16;
    std::int64_t batch = 1;
};

Result estimate_of(const Draw& draw) {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(draw.precision);
    conditions.stack = draw.stack;
    return run_graph(laws::session(), laws::bound(draw.model, draw.batch), draw.hardware, conditions);
}

class Dice {
  public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    template <class List>
    auto one_of(const List& list) {
        return list[engine_() % list.size()];
    }

  private:
    std::mt19937 engine_;
};

enum class Kind { model, batch, precision, stack, mode, device, several };
constexpr std::array kFormats = {Precision::fp32, Precision::fp16, Precision::bf16, Precision::int8};
constexpr std::array<std::int64_t, 4> kBatches = {1, 2, 5, 8};

Draw random_draw(Dice& dice) {
    return {dice.one_of(laws::models()), dice.one_of(laws::hardware()), "", dice.one_of(kFormats),
            dice.one_of(kBatches)};
}

/// Another side that differs in that one thing; empty hardware where there is no other.
Draw changed(const Draw& draw, Kind kind, Dice& dice) {
    Draw other = draw;
    const Device& device = *laws::session().machine(draw.hardware)->device;
    const std::string id = draw.hardware.substr(0, draw.hardware.find('@'));
    switch (kind) {
    case Kind::model:
        other.model = dice.one_of(laws::models());
        break;
    case Kind::batch:
        other.batch = dice.one_of(kBatches);
        break;
    case Kind::precision:
        other.precision = dice.one_of(kFormats);
        break;
    case Kind::stack:
        if (device.runtimes.empty())
            other.hardware.clear();
        else
            other.stack = dice.one_of(device.runtimes);
        break;
    case Kind::mode: {
        std::vector<std::string> modes;
        for (const std::string& name : laws::hardware())
            if (name.starts_with(id + "@"))
                modes.push_back(name);
        other.hardware = modes.empty() ? "" : dice.one_of(modes);
        break;
    }
    case Kind::device:
        other.hardware = dice.one_of(laws::hardware());
        break;
    case Kind::several:
        other = random_draw(dice);
        break;
    }
    return other;
}

/// Pairs of that kind of which every law was checked.
int check_random_pairs(Kind kind, int wanted, unsigned seed) {
    Dice dice(seed);
    int checked = 0;
    for (int tries = 0; checked < wanted && tries < 40 * wanted; ++tries) {
        const Draw draw = random_draw(dice), other = changed(draw, kind, dice);
        if (other.hardware.empty())
            continue;
        const Result before = estimate_of(draw), after = estimate_of(other);
        if (!before.ok() || !after.ok())
            continue;
        CAPTURE(draw.model, draw.hardware, draw.batch, name_of(draw.precision), other.model, other.hardware,
                other.stack, other.batch, name_of(other.precision));
        EstimateRecord x = record_of(before), y = record_of(after);
        for (const Metric* metric : kExplainedMetrics) {
            if (!x.values.contains(metric->key) || !y.values.contains(metric->key))
                continue;
            CAPTURE(metric->key);
            // The sides are handed on: copies of their names would take longer than the differences.
            Difference d = explain_difference(std::move(x), std::move(y), *metric);
            check_adds_up(d);
            Difference turned = explain_difference(std::move(d.sides[1]), std::move(d.sides[0]), *metric);
            check_turned(d, turned);
            x = std::move(turned.sides[1]);
            y = std::move(turned.sides[0]);
        }
        const Difference none = explain_difference(x, x, metric::latency);
        CHECK(none.attribution.contributions.empty());
        CHECK(none.aligned == none.operators[0]);
        ++checked;
    }
    return checked;
}

/// True where a side against itself has no causes.
bool ask_nothing(const Session& session, const DifferenceSide& side) {
    const DifferenceAnswer answer = explain_difference(session, {.before = side, .after = side});
    return answer.difference.attribution.difference == 0 &&
           answer.difference.attribution.contributions.empty();
}

/// One kernel of one operator.
KernelRecord hand_made_kernel(std::uint32_t op, double operations, double compute_s, double bytes,
                              double memory_s, double fixed_s) {
    KernelRecord kernel;
    kernel.operators = {op};
    kernel.kind = "matmul";
    kernel.time.operations = kernel.time.device_operations = operations;
    kernel.time.compute_s = compute_s;
    kernel.time.bytes = bytes;
    kernel.time.memory_s = memory_s;
    kernel.time.fixed_s = fixed_s;
    kernel.time.starts = 1;
    return kernel;
}

/// A device of 1 Top/s and 1 GB/s whose lanes combine with `exponent`.
EstimateRecord hand_made(double exponent, std::vector<KernelRecord> kernels) {
    EstimateRecord record;
    GraphRecord graph;
    graph.peak = 1e12;
    graph.bandwidth = 1e9;
    graph.exponent = exponent;
    for (std::uint32_t i = 0; i < kernels.size(); ++i) {
        KernelRecord& kernel = kernels[i];
        const RegionTime& t = kernel.time;
        kernel.name = "/block." + std::to_string(kernel.operators.front()) + "/MatMul";
        graph.operators.push_back({kernel.name, "MatMul", ""});
        kernel.operators = {i};
        kernel.time.body_s =
            std::pow(std::pow(t.compute_s, exponent) + std::pow(t.memory_s, exponent), 1 / exponent);
        kernel.latency_s = kernel.time.body_s + t.fixed_s;
        graph.latency_s += kernel.latency_s;
    }
    graph.interval_s = graph.latency_s;
    graph.kernels = std::move(kernels);
    record.values["latency"] = {graph.latency_s, {graph.latency_s, graph.latency_s}};
    record.graphs.push_back(std::move(graph));
    return record;
}

} // namespace

// A difference adds up, turns round and is nothing against itself: 200 random pairs of every kind.
TEST_CASE("differences of models keep the laws", "[difference]") {
    CHECK(check_random_pairs(Kind::model, 200, 1) == 200);
}
TEST_CASE("differences of batches keep the laws", "[difference]") {
    CHECK(check_random_pairs(Kind::batch, 200, 2) == 200);
}
TEST_CASE("differences of formats keep the laws", "[difference]") {
    CHECK(check_random_pairs(Kind::precision, 200, 3) == 200);
}
TEST_CASE("differences of software stacks keep the laws", "[difference]") {
    CHECK(check_random_pairs(Kind::stack, 200, 4) == 200);
}
TEST_CASE("differences of power modes keep the laws", "[difference]") {
    CHECK(check_random_pairs(Kind::mode, 200, 5) == 200);
}
TEST_CASE("differences of devices keep the laws", "[difference]") {
    CHECK(check_random_pairs(Kind::device, 200, 6) == 200);
}
TEST_CASE("differences of several things at once keep the laws", "[difference]") {
    CHECK(check_random_pairs(Kind::several, 200, 7) == 200);
}

TEST_CASE("a processor runs itself what its stack has no kernels for", "[difference]") {
    Draw one{"bert-base", "Graviton3", "tflite", Precision::fp32, 5}, other = one;
    other.stack = "arm-compute-library"; // which leaves layer normalization to its host
    const EstimateRecord a = record_of(estimate_of(one)), b = record_of(estimate_of(other));
    const Difference d = explain_difference(a, b, metric::latency),
                     turned = explain_difference(b, a, metric::latency);
    check_adds_up(d);
    check_adds_up(turned);
    check_turned(d, turned);
    CHECK(cause(d, Factor::host) == 0);
}

TEST_CASE("by hand: twice the work at twice the efficiency", "[difference]") {
    // 1 Mop in 2 us, then 2 Mop in 2 us: work (2 - 1) x mean cost 1.5 = +1.5 us, efficiency -1 x mean
    // work 1.5.
    const Difference d =
        explain_difference(hand_made(1, {hand_made_kernel(0, 1e6, 2e-6, 3e3, 3e-6, 0)}),
                           hand_made(1, {hand_made_kernel(0, 2e6, 2e-6, 3e3, 3e-6, 0)}), metric::latency);
    CHECK(d.attribution.difference == 0);
    CHECK(cause(d, Factor::work) == Approx(1.5e-6));
    CHECK(cause(d, Factor::achieved) == Approx(-1.5e-6));
    CHECK(d.attribution.contributions.size() == 2);
}

TEST_CASE("by hand: an added kernel whose compute and memory time overlap", "[difference]") {
    // sqrt(3^2 + 4^2) = 5 us: work ((3 - 0) + (5 - 4)) / 2 = 2, bytes ((4 - 0) + (5 - 3)) / 2 = 3, and its
    // start.
    const KernelRecord kept = hand_made_kernel(0, 1e6, 1e-6, 1e3, 1e-6, 4e-6);
    const Difference d = explain_difference(
        hand_made(2, {kept}), hand_made(2, {kept, hand_made_kernel(1, 3e6, 3e-6, 4e3, 4e-6, 4e-6)}),
        metric::latency);
    CHECK(d.attribution.difference == Approx(9e-6));
    CHECK(cause(d, Factor::work) == Approx(2e-6));
    CHECK(cause(d, Factor::memory_bytes) == Approx(3e-6));
    CHECK(cause(d, Factor::kernels) == Approx(4e-6));
    CHECK(d.by_change[static_cast<std::size_t>(Change::added)] == Approx(9e-6));
    REQUIRE(d.blocks.size() == 3); // both kernels, and the network as a whole
    CHECK(d.blocks[0].name == "block.1");
    CHECK(d.blocks[0].change == Change::added);
    CHECK(d.blocks[0].main_kind == "matmul");
    CHECK(d.blocks[0].main_part.peak_share[1] == Approx(3e6 / 9e-6 / 1e12));
}

TEST_CASE("by hand: fewer kernels that cost more each", "[difference]") {
    // Ten kernels of 2 us become six of 3 us, one operator in each matched: -4 x 2.5 = -10 us, +1 x 8 = +8
    // us, were they one region; kernel by kernel six cost 1 us more each, and four of 2 us are gone.
    std::vector<KernelRecord> ten, six;
    for (std::uint32_t i = 0; i < 10; ++i)
        ten.push_back(hand_made_kernel(i, 0, 0, 0, 0, 2e-6));
    for (std::uint32_t i = 0; i < 6; ++i)
        six.push_back(hand_made_kernel(i, 0, 0, 0, 0, 3e-6));
    EstimateRecord other_device = hand_made(1, six);
    other_device.hardware = "another";
    const Difference apart = explain_difference(hand_made(1, ten), other_device, metric::latency);
    CHECK(apart.attribution.difference == Approx(-2e-6));
    CHECK(cause(apart, Factor::fixed_cost) == Approx(6e-6));
    CHECK(cause(apart, Factor::kernels) == Approx(-8e-6));
    // All ten operators in one fused kernel of 3 us on the other side: 10 x 2 us -> 1 x 3 us.
    EstimateRecord before = hand_made(1, ten), after = hand_made(1, {six[0]});
    after.graphs[0].operators = before.graphs[0].operators;
    after.graphs[0].kernels[0].operators = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const Difference fused = explain_difference(before, after, metric::latency);
    CHECK(fused.attribution.difference == Approx(-17e-6));
    CHECK(cause(fused, Factor::kernels) == Approx(-9 * 2.5e-6));
    CHECK(cause(fused, Factor::fixed_cost) == Approx(1 * 5.5e-6));
    CHECK(fused.by_change[0] == Approx(-17e-6));
}

TEST_CASE("by hand: a kernel that an added one displaces from the chip", "[difference]") {
    // The kept kernel takes 2 us and, beside another one, 5 us: the same operator at the same size, so that
    // the 3 us are room on the chip. The added kernel takes 4 us of its own.
    const KernelRecord stays = hand_made_kernel(0, 1e6, 1e-6, 0, 0, 1e-6),
                       loaded = hand_made_kernel(0, 1e6, 1e-6, 0, 0, 4e-6),
                       added = hand_made_kernel(1, 2e6, 2e-6, 0, 0, 2e-6);
    const EstimateRecord before = hand_made(1, {stays});
    const Difference d = explain_difference(before, hand_made(1, {loaded, added}), metric::latency);
    CHECK(d.attribution.difference == Approx(7e-6));
    CHECK(cause(d, Factor::placement) == Approx(3e-6));
    CHECK(cause(d, Factor::work) == Approx(2e-6));
    CHECK(cause(d, Factor::kernels) == Approx(2e-6));
    CHECK(d.by_change[static_cast<std::size_t>(Change::displaced)] == Approx(3e-6));
    CHECK(d.by_change[static_cast<std::size_t>(Change::added)] == Approx(4e-6));
    CHECK(d.by_change[static_cast<std::size_t>(Change::kept)] == 0);
    // Where nothing of the network changed it is the device: the same kernel costs more to start.
    const Difference same = explain_difference(before, hand_made(1, {loaded}), metric::latency);
    CHECK(cause(same, Factor::placement) == 0);
    CHECK(cause(same, Factor::fixed_cost) == Approx(3e-6));
    // So it is where the added kernel comes with another device.
    EstimateRecord elsewhere = hand_made(1, {loaded, added});
    elsewhere.hardware = "another";
    CHECK(cause(explain_difference(before, elsewhere, metric::latency), Factor::placement) == 0);
}

TEST_CASE("what ResNet-34 has more than ResNet-18 lies in its added blocks", "[difference]") {
    // Hailo-8 holds the smaller one alone: what its layers cost more is the added blocks' doing, too.
    for (const char* hardware : {"H100", "Xeon-8490H", "TPU-v4", "Jetson-Orin-Nano", "Hailo-8"}) {
        CAPTURE(hardware);
        const Result small = laws::run("resnet18", hardware, Precision::fp16),
                     large = laws::run("resnet34", hardware, Precision::fp16);
        REQUIRE(small.ok());
        REQUIRE(large.ok());
        const Difference d = explain_difference(record_of(small), record_of(large), metric::latency);
        CHECK(d.attribution.difference > 0);
        CHECK(d.aligned == d.operators[0]);
        const double added = d.by_change[static_cast<std::size_t>(Change::added)],
                     displaced = d.by_change[static_cast<std::size_t>(Change::displaced)];
        CHECK(added + displaced > 0.95 * d.attribution.difference);
        if (std::string(hardware) == "Hailo-8")
            CHECK(displaced > 0.3 * d.attribution.difference);
        else
            CHECK(added > 0.95 * d.attribution.difference);
        CHECK(d.by_change[static_cast<std::size_t>(Change::removed)] == 0);
        CHECK(d.blocks.front().change == Change::added);
    }
}

TEST_CASE("answers of language models are taken apart pass by pass", "[difference]") {
    const auto side = [](const char* model, const char* hardware, std::int64_t tokens, std::int64_t generate,
                         std::int64_t batch) {
        DifferenceSide one{.model = model, .hardware = hardware};
        one.workload.batch = batch;
        one.workload.prompt = Prompt{.tokens = tokens, .generate = generate};
        one.conditions.precision = PrecisionConfig::uniform(Precision::fp16);
        return one;
    };
    const DifferenceSide base = side("llama-3-8b", "H100", 512, 128, 1);
    for (const DifferenceSide& other :
         {side("llama-3-8b", "H100", 4096, 128, 1), side("llama-3-8b", "H100", 512, 1, 1),
          side("llama-3-8b", "H100", 512, 256, 8), side("llama-3-8b", "A100", 512, 128, 1),
          side("qwen3-8b", "H100", 512, 128, 1)}) {
        CAPTURE(other.model, other.hardware, other.workload.prompt->tokens, other.workload.prompt->generate);
        for (const Metric* metric : {&metric::latency, &metric::throughput, &metric::energy}) {
            CAPTURE(metric->key);
            const auto ask = [&](const DifferenceSide& before, const DifferenceSide& after) {
                DifferenceRequest request{.before = before, .after = after};
                request.metric = metric;
                return explain_difference(laws::session(), request);
            };
            const DifferenceAnswer there = ask(base, other), back = ask(other, base);
            check_adds_up(there.difference);
            check_turned(there.difference, back.difference);
            // The whole answer, not one of its passes.
            for (std::size_t i = 0; i < 2; ++i) {
                double seconds = 0;
                for (const ResultPart& part : there.results[i].parts)
                    seconds += part.repeat * part.result->estimate.latency_s;
                CHECK(seconds == Approx(there.results[i].estimate.latency_s).epsilon(1e-12));
            }
        }
        CHECK(ask_nothing(laws::session(), other));
    }
    DifferenceSide shared = base;
    shared.workload.prompt->parallel = Parallelism{};
    DifferenceRequest refused{.before = base, .after = shared};
    CHECK_THROWS_AS(explain_difference(laws::session(), refused), UsageError);
}

TEST_CASE("operators are aligned by type, shape and name", "[difference]") {
    using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
    const std::vector<OperatorRecord> before = {
        {"/a/Conv", "Conv", "8"}, {"/a/Relu", "Relu", "8"}, {"/b/Conv", "Conv", "8"}};
    SECTION("what was inserted stays alone") {
        const std::vector<OperatorRecord> after = {{"/a/Conv", "Conv", "8"},
                                                   {"/a/Relu", "Relu", "8"},
                                                   {"/new/Conv", "Conv", "8"},
                                                   {"/new/Relu", "Relu", "8"},
                                                   {"/b/Conv", "Conv", "8"}};
        CHECK(align_operators(before, after) == Pairs{{0, 0}, {1, 1}, {2, 4}});
        CHECK(align_operators(after, before) == Pairs{{0, 0}, {1, 1}, {4, 2}});
    }
    SECTION("types never change") {
        CHECK(align_operators(before, std::vector<OperatorRecord>{{"/a/Conv", "Gemm", "8"}}).empty());
    }
    SECTION("numbered names say nothing, shapes decide") {
        const std::vector<OperatorRecord> x = {{"Conv_0", "Conv", "8"}, {"Conv_1", "Conv", "16"}};
        const std::vector<OperatorRecord> y = {
            {"Conv_0", "Conv", "4"}, {"Conv_1", "Conv", "8"}, {"Conv_2", "Conv", "16"}};
        CHECK(align_operators(x, y) == Pairs{{0, 1}, {1, 2}});
    }
    SECTION("branches in another order keep their names") {
        const std::vector<OperatorRecord> after = {
            {"/b/Conv", "Conv", "8"}, {"/a/Conv", "Conv", "8"}, {"/a/Relu", "Relu", "8"}};
        const Pairs pairs = align_operators(before, after);
        CHECK(pairs == Pairs{{0, 1}, {1, 2}, {2, 0}});
    }
    SECTION("long lists are cut where they agree") {
        std::vector<OperatorRecord> x, y;
        for (int i = 0; i < 9000; ++i) {
            const OperatorRecord op{"/n." + std::to_string(i) + "/Add", "Add", std::to_string(i % 7)};
            x.push_back(op);
            if (i % 3 != 0)
                y.push_back(op);
            else
                y.push_back({"/m." + std::to_string(i) + "/Mul", "Mul", "1"});
        }
        const Pairs pairs = align_operators(x, y);
        CHECK(pairs.size() == 6000);
        CHECK(std::all_of(pairs.begin(), pairs.end(), [](const auto& p) { return p.first == p.second; }));
    }
}

TEST_CASE("blocks are read from names of operators", "[difference]") {
    CHECK(block_of("/layer1/layer1.0/conv1/Conv") == "layer1.0");
    CHECK(block_of("/encoder/layers/encoder_layer_11/mlp/mlp.0/MatMul") == "encoder_layer_11");
    CHECK(block_of("/model.6/m.0/attn/qkv/conv/Conv") == "model.6");
    CHECK(block_of("/conv1/Conv") == "conv1");
    CHECK(block_of("layer1.0.conv1") == "layer1.0");
    CHECK(block_of("Conv_12") == "");
    CHECK(block_of("") == "");
}
