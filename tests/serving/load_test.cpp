// Loads as they come: arrivals even, by chance and in bursts; recorded ones; what is counted of a run.

#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "archsim/serving/simulation.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <list>
#include <random>
#include <unordered_map>

using namespace archsim;

namespace {

class EvenPrices final : public StepPrices {
  public:
    StepCost price(const StepLoad& load) override {
        StepCost cost;
        cost.prompt_seconds = 1e-5 * static_cast<double>(load.prompt_tokens);
        cost.seconds = 0.01 + cost.prompt_seconds;
        cost.joules = 100 * cost.seconds;
        return cost;
    }
    double cache_bytes(double positions) const override { return positions; }
};

/// Mean and coefficient of variation of the gaps.
std::pair<double, double> gaps(Arrivals arrivals, double burstiness = 1) {
    RequestPlan plan;
    plan.count = 20000;
    plan.rate_per_s = 4;
    plan.arrivals = arrivals;
    plan.burstiness = burstiness;
    const std::vector<ServedRequest> requests = make_requests(plan);
    double sum = 0, squares = 0, before = 0;
    for (const ServedRequest& r : requests) {
        const double gap = r.arrival_s - before;
        before = r.arrival_s;
        sum += gap;
        squares += gap * gap;
    }
    const auto n = static_cast<double>(requests.size());
    return {sum / n, std::sqrt(squares / n - sum / n * (sum / n)) / (sum / n)};
}

std::string write(const char* name, const std::string& text) {
    const auto file = std::filesystem::temp_directory_path() / name;
    std::ofstream(file) << text;
    return file.string();
}

/// Requests of conversations: each turn has the blocks of the one before it and new ones.
Trace conversations(std::size_t count) {
    std::mt19937 random(3);
    Trace trace;
    trace.block_tokens = 512;
    std::vector<std::vector<std::int64_t>> open(40);
    std::int64_t fresh = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::vector<std::int64_t>& blocks = open[random() % open.size()];
        if (blocks.size() > 24 || random() % 8 == 0)
            blocks.clear();
        if (blocks.empty())
            blocks.push_back(-1); // the same first block for all
        for (std::size_t more = 1 + random() % 6; more > 0; --more)
            blocks.push_back(fresh++);
        TraceRequest r;
        r.arrival_s = 0.3 * static_cast<double>(i);
        r.prompt_tokens = static_cast<std::int64_t>(blocks.size()) * 512;
        r.output_tokens = 20 + static_cast<std::int64_t>(random() % 100);
        r.blocks = blocks;
        trace.requests.push_back(std::move(r));
    }
    return trace;
}

/// Blocks found by a cache of least recently used blocks, requests one by one.
double reference_hits(const Trace& trace, std::size_t room) {
    std::list<std::int64_t> order;
    std::unordered_map<std::int64_t, std::list<std::int64_t>::iterator> held;
    double hits = 0, all = 0;
    for (const TraceRequest& r : trace.requests) {
        std::size_t found = 0;
        while (found < r.blocks.size() && held.contains(r.blocks[found]))
            ++found;
        hits += static_cast<double>(found);
        all += static_cast<double>(r.blocks.size());
        for (auto block = r.blocks.rbegin(); block != r.blocks.rend(); ++block) {
            if (const auto at = held.find(*block); at != held.end())
                order.erase(at->second);
            order.push_back(*block);
            held[*block] = std::prev(order.end());
        }
        while (held.size() > room) {
            held.erase(order.front());
            order.pop_front();
        }
    }
    return hits / all;
}

} // namespace

TEST_CASE("arrivals have the mean of their rate and the spread of their kind", "[serving]") {
    for (const auto& [arrivals, burstiness, spread] :
         std::vector<std::tuple<Arrivals, double, double>>{{Arrivals::poisson, 1, 1},
                                                           {Arrivals::constant, 1, 0},
                                                           {Arrivals::bursty, 1, 1},
                                                           {Arrivals::bursty, 0.25, 2},
                                                           {Arrivals::bursty, 4, 0.5}}) {
        INFO(static_cast<int>(arrivals) << " " << burstiness);
        const auto [mean, variation] = gaps(arrivals, burstiness);
        CHECK(mean == Approx(0.25).epsilon(0.05));
        CHECK(variation == Approx(spread).margin(0.06));
    }
}

TEST_CASE("the start of a run in flight is not counted, and its rates are of one window", "[serving]") {
    EvenPrices prices;
    ServingPlan plan;
    plan.engine.cache_bytes = 1e9;
    plan.engine.sequences = 64;
    plan.concurrency = 64;
    RequestPlan load;
    load.prompt_tokens = 2000;
    load.output_tokens = 100;
    load.shape = LengthShape::uniform;
    double before = 0;
    for (const std::int64_t count : {1000, 4000}) {
        load.count = count;
        const ServingOutcome out = simulate_serving(plan, prices, make_requests(load));
        const ServingSummary s = summarize(out);
        CHECK(s.warm_up == 128);
        CHECK(s.counted == count - 128);
        // What all 64 wait that start at once is no percentile of the run, however short it is.
        const double burst = out.requests[63].time_to_first();
        CHECK(s.time_to_first_s.p99 < 0.7 * burst);
        if (before > 0)
            CHECK(s.time_to_first_s.p99 == Approx(before).epsilon(0.2));
        before = s.time_to_first_s.p99;
        CHECK(s.output_tokens_per_s == Approx(100 * s.requests_per_s).epsilon(0.05));
        CHECK(s.prompt_tokens_per_s == Approx(2000 * s.requests_per_s).epsilon(0.05));
        // Little: as many are in flight as clients, at that rate.
        CHECK(s.requests_per_s * s.end_to_end_s.mean == Approx(64).epsilon(0.04));
    }
    plan.warm_up = 0;
    load.count = 1000;
    const ServingSummary all = summarize(simulate_serving(plan, prices, make_requests(load)));
    CHECK(all.counted == 1000);
    CHECK(all.time_to_first_s.p99 > before);
}

TEST_CASE("recorded loads are read in three formats, and what is wrong is named", "[serving]") {
    const Trace mooncake = read_trace(
        write("archsim_mooncake.jsonl",
              "{\"timestamp\": 3000, \"input_length\": 1100, \"output_length\": 7, \"hash_ids\": [0, 5, 6]}\n"
              "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}\n"));
    REQUIRE(mooncake.requests.size() == 2);
    CHECK(mooncake.block_tokens == 512);
    CHECK(mooncake.requests[1].arrival_s == 3);
    CHECK(mooncake.requests[1].blocks == std::vector<std::int64_t>{0, 5, 6});
    const Trace azure = read_trace(write("archsim_azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n"
                                                              "2023-11-16 23:59:59.5000000,374,44\n"
                                                              "2023-11-17 00:00:01.2500000,396,109\n"));
    CHECK(azure.requests[1].arrival_s == Approx(1.75));
    CHECK(azure.requests[1].output_tokens == 109);
    const Trace burst = read_trace(
        write("archsim_burstgpt.csv", "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
                                      "5,ChatGPT,472,18,490,Conversation log\n"
                                      "45,ChatGPT,1087,0,1087,Conversation log\n"
                                      "118,GPT-4,417,276,693,Conversation log\n"));
    REQUIRE(burst.requests.size() == 2); // one failed
    CHECK(burst.requests[1].arrival_s == 113);
    for (const auto& [text, why] : std::vector<std::pair<std::string, const char*>>{
             {"{\"timestamp\": 0, \"input_length\": -5, \"output_length\": 5}\n", "line 1: \"input_length\""},
             {"{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 5}\n{oh\n", "line 2"},
             {"TIMESTAMP,ContextTokens,GeneratedTokens\nsoon,1,1\n", "line 2: \"soon\" is no time"},
             {"a,b\n1,2\n", "no trace that is known"},
             {"TIMESTAMP,ContextTokens,GeneratedTokens\n", "no request"}})
        CHECK_THROWS_WITH(read_trace(write("archsim_wrong_trace", text)), Catch::Contains(why));
    CHECK_THROWS_AS(read_trace("/no/such/trace"), InputError);
}

TEST_CASE("a trace keeps its times and lengths, and a rate stretches them", "[serving]") {
    RequestPlan plan;
    plan.trace = std::make_shared<const Trace>(conversations(200));
    plan.count = 100;
    const std::vector<ServedRequest> as_recorded = make_requests(plan);
    REQUIRE(as_recorded.size() == 100);
    CHECK(as_recorded[99].arrival_s == plan.trace->requests[99].arrival_s);
    CHECK(as_recorded[7].prompt_tokens == plan.trace->requests[7].prompt_tokens);
    plan.rate_per_s = 10;
    const std::vector<ServedRequest> faster = make_requests(plan);
    CHECK(faster[99].arrival_s == Approx(9.9));
    CHECK(faster[40].arrival_s / faster[99].arrival_s ==
          Approx(as_recorded[40].arrival_s / as_recorded[99].arrival_s));
}

TEST_CASE("hits of the prefix cache follow the blocks of a trace", "[serving][laws]") {
    const Trace trace = conversations(1000);
    RequestPlan load;
    load.trace = std::make_shared<const Trace>(trace);
    EvenPrices prices;
    double before = 0;
    for (const std::size_t blocks : {80, 200, 600, 100000}) {
        INFO(blocks);
        ServingPlan plan;
        plan.engine.step_tokens = 1 << 20; // nobody waits: a reference has one request after another
        plan.engine.cache_bytes = 512.0 * static_cast<double>(blocks);
        // The reference gives up blocks behind a request, an engine before it and for its answer, too.
        const ServingOutcome out = simulate_serving(plan, prices, make_requests(load));
        const double share = summarize(out).cached_share;
        CHECK(out.cache_peak_bytes <= plan.engine.cache_bytes);
        CHECK(share >= before - 0.01);
        CHECK(share == Approx(reference_hits(trace, blocks)).margin(blocks < 100000 ? 0.12 : 0.01));
        before = share;
    }
    ServingPlan without;
    without.engine.cache_bytes = 1e12;
    without.engine.prefix_cache = false;
    CHECK(summarize(simulate_serving(without, prices, make_requests(load))).cached_share == 0);
}
