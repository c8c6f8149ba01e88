// Bytes and shares of small graphs whose shapes are stated, worked by hand.

#include "archsim/map/work.hpp"
#include "map/sharding.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace archsim;

namespace {

/// A graph made operator by operator; each operator may be a subgraph of its own.
struct Stated {
    ShapedGraph graph;
    Partition partition;

    TensorId tensor(Shape shape, TensorRole role = TensorRole::intermediate) {
        ShapedTensor t;
        t.type = DataType::float32;
        t.known = true;
        t.role = role;
        t.shape = std::move(shape);
        graph.tensors.push_back(t);
        const auto id = static_cast<TensorId>(graph.tensors.size() - 1);
        if (role == TensorRole::input)
            graph.inputs.push_back(id);
        return id;
    }
    TensorId weight(Shape shape) { return tensor(std::move(shape), TensorRole::initializer); }
    TensorId input(Shape shape) { return tensor(std::move(shape), TensorRole::input); }
    Operator& op(OpKind kind, std::vector<TensorId> in, std::vector<TensorId> out) {
        Operator& o = graph.operators.emplace_back();
        o.work.kind = kind;
        o.inputs = std::move(in);
        o.outputs = std::move(out);
        return o;
    }
    TensorId product(TensorId x, TensorId w, bool constant = true) {
        const Shape a = graph.tensors[x].shape, b = graph.tensors[w].shape;
        Shape shape = a;
        shape.back() = b.back();
        const TensorId y = tensor(shape);
        Operator& o = op(OpKind::matmul, {x, w}, {y});
        Contraction c;
        c.m = 1;
        for (std::size_t i = 0; i + 1 < a.size(); ++i)
            c.m *= static_cast<double>(a[i]);
        c.k = static_cast<double>(a.back());
        c.n = static_cast<double>(b.back());
        c.weights_constant = constant;
        o.work.contractions = {c};
        o.work.macs = c.macs();
        return y;
    }
    void subgraph(std::vector<std::uint32_t> members, std::vector<TensorId> in, std::vector<TensorId> weights,
                  std::vector<TensorId> out, double repeat = 1) {
        Subgraph& s = partition.subgraphs.emplace_back();
        s.anchor = members.front();
        s.kind = graph.operators[s.anchor].work.kind;
        s.repeat = repeat;
        for (std::uint32_t m : members)
            s.members.push_back({m, FusionReason::activation_fused});
        s.inputs = std::move(in);
        s.weights = std::move(weights);
        s.outputs = std::move(out);
    }
    NetworkWork work(const PrecisionConfig& precision,
                     std::shared_ptr<const DerivedCounts> part = nullptr) const {
        return make_network_work(graph, partition, precision, {}, std::move(part));
    }
};

/// x (4 x 8) times w (8 x 6) plus r (4 x 6), three times over.
struct ProductAndSum : Stated {
    TensorId x = input({4, 8}), w = weight({8, 6}), r = input({4, 6});

    ProductAndSum() {
        const TensorId y = product(x, w), z = tensor({4, 6});
        op(OpKind::elementwise, {y, r}, {z}).work.vector_ops = 24;
        graph.outputs = {z};
        graph.dims["batch"] = 4;
        subgraph({0, 1}, {x, r}, {w}, {z}, 3);
    }
};

} // namespace

TEST_CASE("work: bytes of a product with packed weights and a residual", "[formulas][map]") {
    const ProductAndSum s;
    PrecisionConfig precision = PrecisionConfig::uniform(Precision::fp16);
    precision.weights = Precision::int4;
    precision.weight_bits_overhead = 0.5;
    const NetworkWork n = s.work(precision);
    const SubgraphWork& work = n.subgraphs[0];
    const double x = 32 * 2, r = 24 * 2, z = 24 * 2, w = 48 * 4.5 / 8;
    CHECK(work.input_bytes == x);
    CHECK(work.extra_bytes == r);
    CHECK(work.given_bytes == x + r);
    CHECK(work.output_bytes == z);
    CHECK(work.weight_bytes == w);
    CHECK(work.macs == 192);
    CHECK(work.vector_ops == 24);
    CHECK(work.unfused_bytes == (x + w + z) + (z + r + z));
    REQUIRE(work.operators.size() == 2);
    CHECK(work.operators[0].read_bytes == x);
    CHECK(work.operators[0].weight_bytes == w);
    CHECK(work.operators[0].written_bytes == z);
    CHECK(work.operators[1].input_elements == 48);
    CHECK(work.operators[1].output_elements == 24);
    CHECK(n.batch == 4);
    CHECK(n.weight_bytes == w);
    CHECK(n.input_bytes == x + r);
    CHECK(n.output_bytes == z);
    CHECK(n.largest_activation_bytes == x + r + z);
    CHECK(n.macs == 3 * 192);
    CHECK(n.operations == 3 * (2 * 192 + 24));
}

TEST_CASE("work: inputs of the network at their widths, caches apart", "[formulas][map]") {
    ProductAndSum s;
    s.graph.tensors[s.x].kv_cache = true;
    s.graph.tensors[s.r].type = DataType::int64;
    CHECK(s.work(PrecisionConfig::uniform(Precision::fp16)).subgraphs[0].given_bytes == 24 * 8);
}

TEST_CASE("work: an output projection that is kept wide is multiplied wide", "[formulas][map]") {
    const ProductAndSum s;
    PrecisionConfig precision = PrecisionConfig::uniform(Precision::int8);
    precision.activations = Precision::fp16;
    precision.head_bits = 16;
    const NetworkWork wide = s.work(precision);
    CHECK(wide.subgraphs[0].precision == Precision::fp16);
    CHECK(wide.subgraphs[0].weight_bytes == 48 * 2);
    CHECK(wide.weight_bytes == 48 * 2);
    precision.head_bits = 10;
    const NetworkWork narrow = s.work(precision);
    CHECK(narrow.subgraphs[0].precision == Precision::int8);
    CHECK(narrow.subgraphs[0].weight_bytes == 48 * 10 / 8);
}

TEST_CASE("work: what a file holds packed stays so at any precision", "[formulas][map]") {
    ProductAndSum s;
    s.graph.tensors[s.w].storage_bits = 4.5;
    CHECK(s.work(PrecisionConfig::uniform(Precision::fp16)).weight_bytes == 48 * 4.5 / 8);
}

TEST_CASE("work: a cache is stored in its own format and is no input of the network", "[formulas][map]") {
    Stated s;
    const TensorId x = s.input({4, 8}), cache = s.input({2, 5, 8});
    s.graph.tensors[cache].kv_cache = true;
    const TensorId y = s.tensor({4, 8});
    s.op(OpKind::elementwise, {x, cache}, {y});
    s.graph.outputs = {y};
    s.subgraph({0}, {x, cache}, {}, {y});
    PrecisionConfig precision = PrecisionConfig::uniform(Precision::fp16);
    precision.kv_cache = Precision::int8;
    const NetworkWork n = s.work(precision);
    CHECK(n.subgraphs[0].kv_bytes == 80);
    CHECK(n.subgraphs[0].extra_bytes == 80);
    CHECK(n.input_bytes == 64);
}

TEST_CASE("sharding: columns, then rows and an all-reduce", "[formulas][sharding]") {
    // x (4 x 8) w1 (8 x 6), a function, w2 (6 x 8), on three devices.
    Stated s;
    const TensorId x = s.input({4, 8}), w1 = s.weight({8, 6}), w2 = s.weight({6, 8});
    const TensorId a = s.product(x, w1), b = s.tensor({4, 6});
    Operator& relu = s.op(OpKind::elementwise, {a}, {b});
    relu.work.vector_ops = 24;
    relu.work.special_ops = 12;
    const TensorId y = s.product(b, w2);
    s.graph.outputs = {y};
    s.subgraph({0, 1}, {x}, {w1}, {b});
    s.subgraph({2}, {b}, {w2}, {y});
    const auto part = shard(s.graph, 3);
    CHECK(part->operators[0].work.contractions[0].n == 2);
    CHECK(part->operators[0].work.macs == 192 / 3);
    CHECK(part->operators[1].work.vector_ops == 8);
    CHECK(part->operators[1].work.special_ops == 4);
    CHECK(part->operators[2].work.contractions[0].k == 2);
    CHECK(part->operators[2].work.macs == 192 / 3);
    CHECK(part->link_elements[2] == Approx(2 * 2 / 3.0 * 32));
    CHECK(part->collectives == std::vector<double>{0, 0, 1});
    CHECK(part->tensor_share[w1] == Approx(1 / 3.0));
    CHECK(part->tensor_share[b] == Approx(1 / 3.0));
    CHECK(part->tensor_share[y] == 1);
    const NetworkWork n = s.work(PrecisionConfig::uniform(Precision::fp16), part);
    CHECK(n.weight_bytes == Approx(96 * 2 / 3.0));
    CHECK(n.subgraphs[0].input_bytes == 64); // all of x
    CHECK(n.subgraphs[0].output_bytes == Approx(48 / 3.0));
    CHECK(n.subgraphs[1].input_bytes == Approx(48 / 3.0));
    CHECK(n.subgraphs[1].output_bytes == 64);
    CHECK(n.subgraphs[1].link_bytes == Approx(2 * 2 / 3.0 * 64));
    CHECK(n.subgraphs[1].collectives == 1);
}

TEST_CASE("sharding: results and whole rows are gathered", "[formulas][sharding]") {
    Stated s;
    const TensorId x = s.input({4, 8});
    const TensorId a = s.product(x, s.weight({8, 6})), b = s.tensor({4, 6});
    s.op(OpKind::softmax, {a}, {b});
    const TensorId y = s.product(x, s.weight({8, 9}));
    s.graph.outputs = {a, b, y};
    const auto part = shard(s.graph, 3);
    CHECK(part->link_elements[1] == Approx(2 / 3.0 * 24)); // before the softmax
    CHECK(part->link_elements[2] == Approx(2 / 3.0 * 36)); // a result of the network
    CHECK(part->collectives == std::vector<double>{0, 1, 1});
}

TEST_CASE("sharding: heads are whole, keys with fewer heads are repeated", "[formulas][sharding]") {
    // Six query heads and two key heads on four devices: the busiest has two and one.
    Stated s;
    const TensorId x = s.input({12, 8});
    const TensorId q = s.product(x, s.weight({8, 48})), y = s.tensor({12, 48});
    Operator& o = s.op(OpKind::attention, {q, q, q}, {y});
    o.work.attention = AttentionShape{1, 6, 2, 12, 12, 8, 8, false};
    o.work.contractions = {{2, 36, 12, 8, false}, {2, 36, 8, 12, false}};
    o.work.macs = 2 * 36 * 12 * 16;
    o.work.vector_ops = 600;
    o.work.special_ops = 300;
    const TensorId z = s.product(y, s.weight({48, 8}));
    s.graph.outputs = {z};
    const auto part = shard(s.graph, 4);
    const OperatorWork& w = part->operators[1].work;
    CHECK(w.attention->heads == Approx(2));
    CHECK(w.attention->kv_heads == Approx(1));
    CHECK(w.contractions[0].groups == Approx(1));
    CHECK(w.contractions[0].m == Approx(36 * 2 / 3.0)); // three query heads to a key head, two of them here
    CHECK(w.macs == Approx(2 * 36 * 12 * 16 / 3.0));
    CHECK(w.vector_ops == Approx(200));
    CHECK(w.special_ops == Approx(100));
    CHECK(part->tensor_share[y] == Approx(1 / 3.0));
    CHECK(part->operators[2].work.contractions[0].k == Approx(16));
}

TEST_CASE("sharding: the largest input that is divided says how", "[formulas][sharding]") {
    // Columns in quarters beside a cache of two heads, in halves.
    Stated s;
    const TensorId cache = s.input({1, 2, 5, 1}), a = s.product(s.input({4, 8}), s.weight({8, 8}));
    s.graph.tensors[cache].kv_cache = true;
    const TensorId y = s.tensor({4, 8});
    s.op(OpKind::elementwise, {cache, a}, {y}).work.vector_ops = 32;
    s.graph.outputs = {y};
    CHECK(shard(s.graph, 4)->operators[1].work.vector_ops == 8);
}

TEST_CASE("sharding: experts are divided inside", "[formulas][sharding]") {
    Stated s;
    const TensorId x = s.input({4, 8}), up = s.weight({8, 20}), down = s.weight({20, 8}),
                   y = s.tensor({4, 8});
    Operator& o = s.op(OpKind::matmul, {x, up, down}, {y});
    o.work.contractions = {{1, 4, 20, 8, true}, {1, 4, 8, 20, true}};
    o.work.macs = 2 * 640;
    o.work.vector_ops = 80;
    o.work.special_ops = 40;
    s.graph.outputs = {y};
    const auto part = shard(s.graph, 5);
    const OperatorWork& w = part->operators[0].work;
    CHECK(w.contractions[0].n == 4);
    CHECK(w.contractions[1].k == 4);
    CHECK(w.macs == 256);
    CHECK(w.vector_ops == 16);
    CHECK(w.special_ops == 8);
    CHECK(part->tensor_share[up] == Approx(0.2));
    CHECK(part->link_elements[0] == Approx(2 * 0.8 * 32));
}

TEST_CASE("sharding: whole experts, and the tokens that travel to them", "[formulas][sharding]") {
    // Four tokens of eight experts' best two; on four devices of two experts each there are sixteen tokens.
    Stated s;
    const TensorId x = s.input({4, 8}), up = s.weight({8, 8, 20}), down = s.weight({8, 20, 8}),
                   y = s.tensor({4, 8});
    Operator& o = s.op(OpKind::matmul, {x, up, down}, {y});
    const double touched = 8 * (1 - std::pow(0.75, 4));
    o.work.contractions = {{touched, 8 / touched, 20, 8, true}, {touched, 8 / touched, 8, 20, true}};
    o.work.macs = 2 * 8 * 160;
    o.work.partial_reads = {{1, 1280 * touched / 8}, {2, 1280 * touched / 8}};
    s.graph.outputs = {y};
    CHECK(has_experts(s.graph));
    Sharing sharing(1);
    sharing.experts = 4;
    const auto part = shard(s.graph, sharing);
    const OperatorWork& w = part->operators[0].work;
    // 32 picks, 8 for each chip, 1.0294 deviations more for the busiest: the mean of the largest of four.
    constexpr double kLargestOfFour = 1.02938, kLargestOfTwo = 0.56419;
    const double busiest = 8 + kLargestOfFour * std::sqrt(8.0),
                 held = 2; // 1.98 on average, 2.1 with the spread
    CHECK(w.contractions[0].groups == Approx(held));
    CHECK(w.contractions[0].groups * w.contractions[0].m == Approx(busiest).epsilon(1e-4));
    CHECK(w.macs == Approx(2 * busiest * 160).epsilon(1e-4));
    CHECK(w.partial_reads[0].second == Approx(1280 * held / 8));
    CHECK(part->tensor_share[up] == Approx(0.25));
    // A token reaches 3 x (1 - (3/4)^2) other devices, there and back, eight elements each time.
    CHECK(part->link_elements[0] == Approx(2 * 4 * 3 * (1 - 0.5625) * 8 * busiest / 8).epsilon(1e-4));
    CHECK(part->collectives[0] == Approx(2 * 1.3)); // each starts later than an all-reduce
    // Two nodes of two devices, where a byte takes five times as long: two of the three others are outside.
    sharing.node = 2;
    sharing.network = 5;
    CHECK(shard(s.graph, sharing)->link_elements[0] ==
          Approx(part->link_elements[0] * (1.0 / 3 + 5 * 2.0 / 3)));
    // Chips that share every matrix have the tokens already: the results are summed.
    Sharing same(4);
    same.experts = 4;
    const auto summed = shard(s.graph, same);
    CHECK(summed->link_elements[0] == Approx(2 * 0.75 * 32));
    CHECK(summed->operators[0].work.contractions[0].groups == 2); // 1.37 and 0.68 more, of two
    // Two devices of four experts each: 2.73 are picked on average, of deviation 0.93; 0.52 more.
    Sharing halves(2);
    halves.experts = 2;
    const double p = 1 - std::pow(0.75, 4);
    CHECK(shard(s.graph, halves)->operators[0].work.contractions[0].groups ==
          Approx(4 * p + kLargestOfTwo * std::sqrt(4 * p * (1 - p))).epsilon(1e-4));
}

TEST_CASE("sharding: sums between nodes are of what a node has summed", "[formulas][sharding]") {
    Stated s;
    const TensorId a = s.product(s.input({2, 32}), s.weight({32, 32}));
    s.graph.outputs = {s.product(a, s.weight({32, 32}))};
    Sharing two_nodes(16);
    two_nodes.node = 8;
    two_nodes.network = 9;
    CHECK(shard(s.graph, 16)->link_elements[1] == Approx(2 * 15.0 / 16 * 64));
    const auto part = shard(s.graph, two_nodes);
    // Within a node 2 x 7/8 of the result, then 2 x 1/2 of an eighth of it at a ninth of the speed.
    CHECK(part->link_elements[1] == Approx((2 * 7.0 / 8 + 2 * 0.5 / 8 * 9) * 64));
    CHECK(part->collectives[1] == 2);
}

TEST_CASE("sharding: channels of convolutions, groups of grouped ones", "[formulas][sharding]") {
    // 8 -> 12 channels, 12 in 4 groups, 12 -> 6, on two devices; 3 x 3 on 5 x 5 pixels.
    Stated s;
    const auto convolution = [&s](TensorId x, double in, double out, double groups) {
        const TensorId y = s.tensor({1, static_cast<std::int64_t>(out), 5, 5});
        const TensorId w =
            s.weight({static_cast<std::int64_t>(out), static_cast<std::int64_t>(in / groups), 3, 3});
        Operator& o = s.op(OpKind::convolution, {x, w}, {y});
        Window window;
        window.in_channels = in;
        window.out_channels = out;
        window.groups = groups;
        window.out = {1, 5, 5};
        window.kernel = {1, 3, 3};
        o.work.window = window;
        o.work.contractions = {{groups, 25, out / groups, in / groups * 9, true}};
        o.work.macs = o.work.contractions[0].macs();
        return y;
    };
    const TensorId x = s.input({1, 8, 5, 5});
    const TensorId a = convolution(x, 8, 12, 1), b = convolution(a, 12, 12, 4), y = convolution(b, 12, 6, 1);
    s.graph.outputs = {y};
    const auto part = shard(s.graph, 2);
    const auto window = [&](std::size_t i) { return *part->operators[i].work.window; };
    CHECK(window(0).in_channels == 8);
    CHECK(window(0).out_channels == 6);
    CHECK(part->operators[0].work.contractions[0].n == 6);
    CHECK(window(1).groups == 2);
    CHECK(window(1).in_channels == 6);
    CHECK(window(1).out_channels == 6);
    CHECK(part->operators[1].work.contractions[0].groups == 2);
    CHECK(part->operators[1].work.macs == 25 * 12 * 27 / 2.0);
    CHECK(window(2).in_channels == 6);
    CHECK(window(2).out_channels == 6);
    CHECK(part->operators[2].work.contractions[0].k == 54);
    CHECK(part->link_elements[2] == 2 * 0.5 * 150);
}
