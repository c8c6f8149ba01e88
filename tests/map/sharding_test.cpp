// Tensor parallelism conserves work and pays for it on the links.

#include "laws/laws.hpp"
#include "map/sharding.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

constexpr double kFp16 = 2;

struct OperandSplit {
    std::shared_ptr<const BoundModel> model;
    std::shared_ptr<const NetworkWork> whole, chip;

    OperandSplit(const std::string& name, double devices, std::int64_t batch = 1, Bindings bindings = {}) {
        model = laws::session().bind(laws::session().load(name), batch, bindings);
        const PrecisionConfig fp16 = PrecisionConfig::uniform(Precision::fp16);
        whole = model->work({}, fp16, {});
        chip = model->work({}, fp16, {}, devices);
    }
    double link_bytes() const {
        double bytes = 0;
        for (const SubgraphWork& work : chip->subgraphs)
            bytes += work.link_bytes * work.repeat;
        return bytes;
    }
    double collectives() const {
        double count = 0;
        for (const SubgraphWork& work : chip->subgraphs)
            count += work.collectives * work.repeat;
        return count;
    }
};

Bindings sizes(std::int64_t sequence, std::int64_t past) {
    Bindings bindings;
    bindings.dims = {{"sequence", sequence}, {"past_sequence", past}};
    return bindings;
}

} // namespace

TEST_CASE("one chip's share is the whole", "[sharding]") {
    const auto model = laws::bound("bert-base", 1);
    const auto alone = shard(model->graph(), 1);
    const NetworkWork work = make_network_work(model->graph(), *model->partition({}),
                                               PrecisionConfig::uniform(Precision::fp16), {}, alone);
    const auto whole = model->work({}, PrecisionConfig::uniform(Precision::fp16), {});
    CHECK(work.macs == whole->macs);
    CHECK(work.weight_bytes == Approx(whole->weight_bytes));
    for (std::size_t i = 0; i < work.subgraphs.size(); ++i) {
        CHECK(work.subgraphs[i].activation_bytes() == Approx(whole->subgraphs[i].activation_bytes()));
        CHECK(work.subgraphs[i].link_bytes == 0);
    }
}

TEST_CASE("a decoder's products, heads and cache are divided, its norms repeated", "[sharding]") {
    const double devices = GENERATE(2.0, 4.0, 8.0);
    const double layers = 32, hidden = 4096, vocabulary = 128256, tokens = 100;
    const OperandSplit s("llama-3-8b", devices, 1, sizes(100, 0));
    CAPTURE(devices);
    CHECK(s.chip->macs * devices == Approx(s.whole->macs));
    CHECK(s.chip->memory.kv_cache_bytes * devices == Approx(s.whole->memory.kv_cache_bytes));
    // Norms lie on every chip.
    const double repeated = kFp16 * (2 * layers + 1) * hidden;
    CHECK(s.chip->weight_bytes * devices ==
          Approx(s.whole->weight_bytes + (devices - 1) * repeated).epsilon(1e-4));
    // After the embedding, after attention and after the MLP of every layer; the logits are gathered once.
    CHECK(s.collectives() == 2 * layers + 2);
    const double ring = (devices - 1) / devices, sums = 2 * layers + 1;
    CHECK(s.link_bytes() ==
          Approx(sums * 2 * ring * tokens * hidden * kFp16 + ring * vocabulary * kFp16).epsilon(1e-6));
}

TEST_CASE("norms of queries and keys leave their products divided", "[sharding]") {
    const double devices = GENERATE(2.0, 4.0, 8.0), tokens = 100;
    CAPTURE(devices);
    // Head by head: a chip norms its own heads.
    const OperandSplit heads("qwen3-8b", devices, 1, sizes(100, 0));
    CHECK(heads.chip->macs * devices == Approx(heads.whole->macs));
    CHECK(heads.collectives() == 2 * 36 + 2);
    // All heads at once: the sums of their squares are added up, in fp32, for queries and for keys.
    const OperandSplit whole("minimax-m2.5", devices, 1, sizes(100, 0));
    const double layers = 62, hidden = 3072, vocabulary = 200064, ring = (devices - 1) / devices;
    const double routers = layers * tokens * hidden * 256;
    CHECK(whole.chip->macs * devices == Approx(whole.whole->macs + (devices - 1) * routers));
    CHECK(whole.collectives() == 3 * layers + 2); // one for both norms
    CHECK(whole.link_bytes() == Approx((2 * layers + 1) * 2 * ring * tokens * hidden * kFp16 +
                                       2 * layers * 2 * ring * tokens * 4 + ring * vocabulary * kFp16)
                                    .epsilon(1e-6));
}

TEST_CASE("several devices hold a language model little more than once", "[sharding][laws]") {
    constexpr double kDevices = 4;
    // What every chip has: norms, routers, what latent attention compresses to, and heads that are few.
    constexpr double kRepeated = 1.15;
    int models = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (entry.kind != "decoder-lm")
            continue;
        CAPTURE(entry.name);
        const OperandSplit s(entry.name, kDevices, 1, sizes(64, 0));
        CHECK(s.chip->weight_bytes * kDevices < kRepeated * s.whole->weight_bytes);
        ++models;
    }
    CHECK(models > 40);
}

TEST_CASE("more devices than key heads repeat the keys, heads are whole", "[sharding]") {
    const OperandSplit grouped("llama-3-8b", 16, 1, sizes(1, 256));
    CHECK(grouped.chip->memory.kv_cache_bytes * 8 == Approx(grouped.whole->memory.kv_cache_bytes));
    // 14 heads on 8 devices: the busiest has two.
    const OperandSplit uneven("qwen2-0.5b", 8, 1, sizes(64, 0));
    const auto attention_macs = [](const NetworkWork& network) {
        double macs = 0;
        for (const SubgraphWork& work : network.subgraphs)
            if (work.kind == OpKind::attention)
                macs += work.macs;
        return macs;
    };
    CHECK(attention_macs(*uneven.chip) == Approx(attention_macs(*uneven.whole) * 2 / 14));
}

TEST_CASE("attention as a chain of products is divided by heads too", "[sharding]") {
    const OperandSplit s("bert-base", 4);
    const double layers = 12, hidden = 768, tokens = 128;
    // The pooler is small and its result is one row: it may be divided or repeated.
    CHECK(s.chip->macs * 4 == Approx(s.whole->macs).epsilon(0.001));
    CHECK(s.collectives() >= 2 * layers);
    CHECK(s.collectives() <= 2 * layers + 2); // one of them after the embedding
    CHECK(s.link_bytes() == Approx((2 * layers + 1) * 2 * 0.75 * tokens * hidden * kFp16).epsilon(0.001));
}

TEST_CASE("experts are divided inside, all of them in memory", "[sharding]") {
    const OperandSplit s("mixtral-8x7b", 8, 1, sizes(1, 128));
    const double routers = 32 * 4096 * 8;
    CHECK(s.chip->macs * 8 == Approx(s.whole->macs + 7 * routers).epsilon(1e-6));
    CHECK(s.chip->weight_bytes * 8 / s.whole->weight_bytes < 1.05);
    CHECK(s.collectives() == 2 * 32 + 2);
}

TEST_CASE("convolutions alternate between output and input channels", "[sharding]") {
    const OperandSplit s("resnet50", 2);
    CHECK(s.chip->macs * 2 == Approx(s.whole->macs).epsilon(0.05));
    CHECK(s.link_bytes() > 0);
    CHECK(s.chip->weight_bytes * 2 == Approx(s.whole->weight_bytes).epsilon(0.05));
}

TEST_CASE("several devices cost energy on all of them and wait for the link", "[sharding]") {
    const auto model = laws::session().bind(laws::session().load("llama-3-8b"), 1, sizes(512, 0));
    Conditions options;
    options.precision = PrecisionConfig::uniform(Precision::fp16);
    options.stack = "trt-llm";
    const Result one = run_graph(laws::session(), model, "H100", options);
    options.devices = 2;
    const Result two = run_graph(laws::session(), model, "H100", options);
    REQUIRE(one.ok());
    REQUIRE(two.ok());
    CHECK(two.estimate.latency_s < one.estimate.latency_s);
    CHECK(two.estimate.latency_s > one.estimate.latency_s / 2);
    CHECK(two.estimate.energy_per_inference_j > one.estimate.energy_per_inference_j * 0.9);
    CHECK(two.estimate.energy_per_inference_j == Approx(two.estimate.energy.total()));
    const Result unlinked = run_graph(laws::session(), model, "Jetson-AGX-Orin", options);
    CHECK(unlinked.estimate.status == Status::unsupported);
    CHECK(unlinked.estimate.reason.find("chip-to-chip link") != std::string::npos);
}

TEST_CASE("latent attention is divided by heads, its narrow cache lies on every chip", "[sharding]") {
    const double devices = GENERATE(4.0, 8.0);
    // A step takes queries to the latent space, a prompt expands keys and values.
    const auto [tokens, past] = GENERATE(std::pair(1, 999), std::pair(512, 0));
    const OperandSplit s("deepseek-v3", devices, 1, sizes(tokens, past));
    CAPTURE(devices, tokens);
    CHECK(s.chip->memory.kv_cache_bytes == Approx(s.whole->memory.kv_cache_bytes));
    // Repeated: compressed queries and keys, routers and norms.
    CHECK(s.chip->weight_bytes * devices < 1.07 * s.whole->weight_bytes);
    const auto attention = [](const NetworkWork& network) {
        double macs = 0;
        for (const SubgraphWork& work : network.subgraphs)
            if (work.kind == OpKind::attention)
                macs += work.macs * work.repeat;
        return macs;
    };
    CHECK(attention(*s.chip) * devices == Approx(attention(*s.whole)));
    // After the embedding, after attention, after the shared experts and after the others of every layer; the
    // first three are dense.
    CHECK(s.collectives() == 61 + 3 + 2 * 58 + 2);
}
