// A model at several batches is partitioned once where that changes nothing: what is shared is what each
// batch would make for itself.

#include "partition/alike.hpp"

#include "laws/laws.hpp"
#include "map/sharding.hpp"
#include "session/generation/language_model.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

void check_same(const MemoryPlan& shared, const MemoryPlan& own) {
    CHECK(shared.timeline == own.timeline);
    CHECK(shared.crossing == own.crossing);
    CHECK(shared.peak_live_bytes == own.peak_live_bytes);
    CHECK(shared.arena_bytes == own.arena_bytes);
    CHECK(shared.kv_cache_bytes == own.kv_cache_bytes);
    CHECK(shared.peak_step == own.peak_step);
    CHECK(shared.peak_tensors == own.peak_tensors);
    CHECK(shared.peak_tensor_bytes == own.peak_tensor_bytes);
}

/// An addition of a tensor that the batch scales, and of one that it does not.
ShapedGraph addition(std::int64_t batch, std::int64_t fixed) {
    ShapedGraph graph;
    const auto tensor = [&graph](Shape shape) {
        ShapedTensor& made = graph.tensors.emplace_back();
        made.type = DataType::float32;
        made.known = true;
        made.shape = std::move(shape);
        return static_cast<TensorId>(graph.tensors.size() - 1);
    };
    const TensorId left = tensor({batch, 8}), right = tensor({fixed, 8});
    const TensorId sum = tensor({std::max(batch, fixed), 8});
    graph.inputs = {left, right};
    graph.outputs = {sum};
    Operator& add = graph.operators.emplace_back();
    add.type = "Add";
    add.inputs = {left, right};
    add.outputs = {sum};
    add.work.kind = OpKind::elementwise;
    return graph;
}

} // namespace

TEST_CASE("batches of a model share partitions and plans that each would make for itself",
          "[partition][batch]") {
    FusionPolicy strided;
    strided.strided_views = true;
    std::size_t models = 0, shared = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (!laws::one_graph(entry))
            continue;
        ++models;
        const auto large = laws::session().bind(laws::session().load(entry.name), 16);
        // From 16 over 8, 4 and 2 to 1: all of one chain may share.
        for (auto small = large; small; small = small->divided(2))
            for (const FusionPolicy& policy : {FusionPolicy{}, strided, FusionPolicy::unfused()}) {
                INFO(entry.name << " at " << small->work(policy, {}, {})->batch);
                const Partition own = partition(small->graph(), policy);
                CHECK(*small->partition(policy) == own);
                for (const Precision precision : {Precision::fp32, Precision::int8}) {
                    const auto config = PrecisionConfig::uniform(precision);
                    check_same(small->work(policy, config, {})->memory,
                               make_network_work(small->graph(), own, config).memory);
                }
                shared += policy == FusionPolicy{} && small != large &&
                          small->partition(policy) == large->partition(policy);
            }
    }
    CHECK(shared > 2 * models); // of four smaller batches each
}

TEST_CASE("prompts and steps of a language model share what each would make for itself", "[partition]") {
    struct Pass {
        std::int64_t batch, sequence, past;
    };
    // Contexts and batches that are powers of two of each other, and others; prompts alone and in pieces.
    const std::vector<Pass> passes = {{1, 1, 127}, {1, 1, 1000}, {8, 1, 1000}, {16, 1, 500}, {24, 1, 500},
                                      {1, 64, 0},  {1, 96, 0},   {4, 128, 0},  {1, 64, 512}, {2, 64, 500}};
    const FusionPolicy policy;
    const auto format = PrecisionConfig::uniform(Precision::fp16);
    const Sharing one, two(2), four(4);
    // Grouped queries, learned positions, a mixture of experts.
    for (const std::string name : {"tinyllama-1.1b", "gpt2", "mixtral-8x7b"}) {
        const GenerationModel model(laws::session().load(name), Bindings{});
        std::vector<std::shared_ptr<const BoundModel>> ways;
        for (const Pass& pass : passes) {
            INFO(name << ": " << pass.batch << " of " << pass.sequence << " past " << pass.past);
            const auto bound = model.bound(pass.batch, pass.sequence, pass.past);
            const Partition own = partition(bound->graph(), policy);
            CHECK(*bound->partition(policy) == own);
            check_same(bound->work(policy, format, {}, one)->memory,
                       make_network_work(bound->graph(), own, format).memory);
            for (const Sharing& sharing : {two, four})
                check_same(bound->work(policy, format, {}, sharing)->memory,
                           make_network_work(bound->graph(), own, format, {}, shard(bound->graph(), sharing))
                               .memory);
            if (std::none_of(ways.begin(), ways.end(),
                             [&](const auto& other) { return other->shares_partitions(*bound); }))
                ways.push_back(bound);
        }
        CHECK(ways.size() <= 6); // a step, a prompt and a piece of one, each for one sequence and for several
    }
}

TEST_CASE("sizes that fusion compares tell graphs apart when a batch turns them", "[partition][batch]") {
    CHECK(fuse_alike(addition(16, 4), addition(8, 4)));
    CHECK_FALSE(fuse_alike(addition(16, 4), addition(4, 4))); // as large as the sum now
    CHECK_FALSE(fuse_alike(addition(16, 4), addition(2, 4))); // broadcast to the other
}

TEST_CASE("operators and tensors that fusion tells apart are no likeness", "[partition][batch]") {
    const ShapedGraph graph = addition(16, 4);
    const auto differs = [&graph](auto change) {
        ShapedGraph other = graph;
        change(other);
        return !fuse_alike(graph, other);
    };
    CHECK_FALSE(differs([](ShapedGraph&) {}));
    CHECK(differs([](ShapedGraph& g) { g.operators[0].type = "Mul"; }));
    CHECK(differs([](ShapedGraph& g) { g.operators[0].work.kind = OpKind::reduction; }));
    CHECK(differs([](ShapedGraph& g) { g.operators[0].work.special_ops = 1; }));
    CHECK(differs([](ShapedGraph& g) { g.operators[0].folded = true; }));
    CHECK(differs([](ShapedGraph& g) { g.operators[0].repeat = 2; }));
    CHECK(differs([](ShapedGraph& g) { g.operators[0].inputs = {1, 0}; }));
    CHECK(differs([](ShapedGraph& g) { g.tensors[1].constant = true; }));
    CHECK(differs([](ShapedGraph& g) { g.tensors[1].kv_cache = true; }));
    CHECK(differs([](ShapedGraph& g) { g.outputs.clear(); }));
    CHECK(differs([](ShapedGraph& g) { g.tensors.emplace_back(); }));
}
