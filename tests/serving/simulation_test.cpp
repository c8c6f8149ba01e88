// Laws of a serving run: Little's law, no token lost, more load never helps, and cases small enough to do by
// hand.

#include "archsim/core/finding.hpp"
#include "archsim/serving/simulation.hpp"
#include "serving/serving_engine.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace archsim;

namespace {

/// A step takes 10 ms, 10 us per sequence and 100 us per prompt token; a cached position takes one byte.
class SimplePrices final : public StepPrices {
  public:
    StepCost price(const StepLoad& load) override {
        StepCost cost;
        cost.prompt_seconds = 1e-4 * static_cast<double>(load.prompt_tokens);
        cost.seconds =
            0.01 + 1e-5 * static_cast<double>(load.sequences * load.verified) + cost.prompt_seconds;
        cost.joules = 100 * cost.seconds;
        cost.prompt_joules = 100 * cost.prompt_seconds;
        return cost;
    }
    double cache_bytes(double positions) const override { return positions; }
};

ServingPlan plain(double cache = 1e6) {
    ServingPlan plan;
    plan.engine.cache_bytes = cache;
    plan.engine.sequences = 64;
    plan.engine.step_tokens = 512;
    return plan;
}

std::vector<ServedRequest> requests(double rate, LengthShape shape = LengthShape::exponential,
                                    std::int64_t count = 400) {
    RequestPlan plan;
    plan.count = count;
    plan.rate_per_s = rate;
    plan.prompt_tokens = 200;
    plan.output_tokens = 50;
    plan.shape = shape;
    plan.seed = 7;
    return make_requests(plan);
}

/// Plans that differ in every mechanism.
std::vector<ServingPlan> all_plans() {
    std::vector<ServingPlan> plans(9, plain());
    plans[1].engines = 3;
    plans[2].prompt_engines = 1;
    plans[2].engines = 2;
    plans[2].transfer_bytes_per_s = 1e5;
    plans[3].engine.drafted = 3;
    plans[3].engine.accepted = 0.7;
    plans[3].engine.draft_cost = 0.02;
    plans[4].engine.cache_bytes = 4000; // some twenty requests
    plans[5].engine.prefix_hit = 0.6;
    for (const std::size_t i : {6, 7, 8}) {
        plans[i].engine.cache_bytes = 4000;
        plans[i].engine.admission = i == 7 ? Admission::expected : Admission::prompt;
    }
    plans[7].engine.prefix_hit = 0.3;
    plans[8].engines = 2;
    plans[8].engine.drafted = 2;
    plans[8].engine.accepted = 0.5;
    return plans;
}

} // namespace

TEST_CASE("one request alone, by hand", "[serving]") {
    SimplePrices prices;
    std::vector<ServedRequest> one(1);
    one[0].prompt_tokens = 1000;
    one[0].output_tokens = 5;
    const ServingOutcome out = simulate_serving(plain(), prices, one);
    // Two chunks of 512 and 488 tokens, then four steps.
    const double first = 2 * 0.01 + 1000 * 1e-4;
    CHECK(out.requests[0].first_token_s == Approx(first));
    CHECK(out.requests[0].end_s == Approx(first + 4 * (0.01 + 1e-5)));
    CHECK(out.requests[0].time_per_token() == Approx(0.01 + 1e-5));
    CHECK(out.steps == 6);
    CHECK(out.joules == Approx(100 * out.busy_s));
    CHECK(out.prompt_joules == Approx(100 * 0.1));
    CHECK(out.cache_peak_bytes == 1008); // 1005 positions in blocks of 16
}

TEST_CASE("tokens are conserved, whatever the plan", "[serving]") {
    SimplePrices prices;
    for (const ServingPlan& plan : all_plans()) {
        const ServingOutcome out = simulate_serving(plan, prices, requests(5));
        std::int64_t prompt = 0, output = 0;
        for (const ServedRequest& r : out.requests) {
            REQUIRE_FALSE(r.refused);
            CHECK(r.emitted == r.output_tokens);
            CHECK(r.arrival_s <= r.first_token_s);
            CHECK(r.first_token_s <= r.end_s);
            prompt += r.prompt_tokens;
            output += r.output_tokens;
        }
        CHECK(out.prompt_tokens == prompt);
        CHECK(out.output_tokens == output);
        CHECK(out.cache_peak_bytes <= plan.engine.cache_bytes);
        CHECK(out.cache_wasted >= 0);
        CHECK(out.cache_wasted < 1);
        CHECK(out.busy_s <= out.engines * out.duration_s * (1 + 1e-12));
    }
}

TEST_CASE("Little's law: requests in the system are their rate times their time", "[serving]") {
    SimplePrices prices;
    for (const ServingPlan& plan : all_plans())
        for (const double rate : {1.0, 10.0, 1000.0}) {
            const ServingOutcome out = simulate_serving(plan, prices, requests(rate));
            const ServingSummary s = summarize(out);
            CHECK(s.mean_in_system == Approx(s.requests_per_s * s.end_to_end_s.mean).epsilon(1e-9));
            CHECK(s.mean_waiting <= s.mean_in_system);
        }
}

TEST_CASE("more load never lowers the ninety-ninth percentile", "[serving]") {
    SimplePrices prices;
    for (const ServingPlan& plan : all_plans()) {
        double first = 0, whole = 0;
        for (const double rate : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
            const ServingSummary s =
                summarize(simulate_serving(plan, prices, requests(rate, LengthShape::constant, 4000)));
            INFO(rate);
            // Where nobody waits the percentile is that of where in a step a request arrives: 40 of 4000
            // draws.
            constexpr double kSampling = 0.03;
            CHECK(s.time_to_first_s.p99 >= first * (1 - kSampling));
            CHECK(s.end_to_end_s.p99 >= whole * (1 - kSampling));
            first = s.time_to_first_s.p99;
            whole = s.end_to_end_s.p99;
        }
    }
}

TEST_CASE("the same input gives the same bits, another seed does not", "[serving]") {
    SimplePrices prices;
    const ServingPlan plan = all_plans()[3];
    const ServingSummary a = summarize(simulate_serving(plan, prices, requests(3))),
                         b = summarize(simulate_serving(plan, prices, requests(3)));
    CHECK(a.end_to_end_s.p99 == b.end_to_end_s.p99);
    CHECK(a.watts == b.watts);
    RequestPlan other;
    other.rate_per_s = 3;
    other.seed = 8;
    CHECK(make_requests(other)[0].arrival_s != requests(3)[0].arrival_s);
}

TEST_CASE("requests keep lengths and proportions at every rate", "[serving]") {
    const auto slow = requests(2), fast = requests(20);
    for (std::size_t i = 0; i < slow.size(); ++i) {
        CHECK(slow[i].prompt_tokens == fast[i].prompt_tokens);
        CHECK(slow[i].arrival_s == Approx(10 * fast[i].arrival_s));
    }
    double sum = 0;
    for (const ServedRequest& r : requests(1, LengthShape::exponential, 20000))
        sum += static_cast<double>(r.prompt_tokens);
    CHECK(sum / 20000 == Approx(200).epsilon(0.03));
}

TEST_CASE("concurrency holds that many requests in flight", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    plan.concurrency = 8;
    const ServingOutcome out = simulate_serving(plan, prices, requests(0, LengthShape::constant, 800));
    const ServingSummary s = summarize(out);
    CHECK(s.mean_in_system == Approx(8).epsilon(0.05));
    CHECK(out.batch <= 8);
}

TEST_CASE("accepted drafts by their mean", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    plan.engine.drafted = 3;
    plan.engine.accepted = 0.8;
    std::vector<ServedRequest> one(1);
    one[0].output_tokens = 100001;
    const ServingOutcome out = simulate_serving(plan, prices, one);
    // (1 - 0.8^4) / (1 - 0.8) = 2.952 tokens per step.
    CHECK(100000.0 / static_cast<double>(out.steps - 1) == Approx(2.952).epsilon(0.01));
}

TEST_CASE("capacity is what a saturated run completes, and load beyond it queues", "[serving]") {
    SimplePrices prices;
    const ServingPlan plan = plain();
    const auto all = requests(0, LengthShape::constant, 2000);
    const double capacity = serving_capacity(plan, prices, all);
    // 64 sequences of 50 tokens: a step of 10.64 ms and the prompts of 64/50 requests, 200 tokens each.
    CHECK(capacity == Approx(64.0 / 50 / (0.01 + 64e-5 + 64.0 / 50 * 200e-4)).epsilon(0.05));
    // How many requests were asked for does not matter.
    CHECK(serving_capacity(plan, prices, requests(0, LengthShape::constant, 20)) ==
          Approx(capacity).epsilon(0.02));
    const auto waiting = [&](double rate) {
        return summarize(simulate_serving(plan, prices, requests(rate, LengthShape::constant, 2000)))
            .mean_waiting;
    };
    CHECK(waiting(0.7 * capacity) < 5);
    CHECK(waiting(1.5 * capacity) > 100);
}

TEST_CASE("what no cache holds is refused, and a plan without engines is no plan", "[serving]") {
    SimplePrices prices;
    std::vector<ServedRequest> two(2);
    two[0].prompt_tokens = 5000;
    const ServingOutcome out = simulate_serving(plain(1000), prices, two);
    CHECK(out.refused == 1);
    CHECK(out.requests[0].refused);
    CHECK(out.requests[1].emitted == 1);
    ServingPlan pools = plain(); // of which the one for prompts has less room
    pools.prompt_engines = 1;
    CHECK(simulate_serving(pools, prices, two).refused == 0);
    pools.prompt_engine = plain(1000).engine;
    CHECK(simulate_serving(pools, prices, two).refused == 1);
    ServingPlan none = plain();
    none.engines = 0;
    CHECK_THROWS_AS(simulate_serving(none, prices, two), UsageError);
    CHECK(simulate_serving(plain(), prices, {}).duration_s == 0);
}

TEST_CASE("percentiles by the nearest rank", "[serving]") {
    std::vector<double> values;
    for (int i = 100; i >= 1; --i)
        values.push_back(i);
    const Percentiles p = percentiles_of(values);
    CHECK(p.p50 == 50);
    CHECK(p.p90 == 90);
    CHECK(p.p99 == 99);
    CHECK(p.mean == 50.5);
    CHECK(percentiles_of({}).p99 == 0);
}

TEST_CASE("so many values may lie above a limit that their P99 holds, and no more", "[serving]") {
    for (const std::int64_t count : {1, 2, 99, 100, 101, 600, 1000, 2750}) {
        const std::int64_t beyond = beyond_p99(count);
        for (const std::int64_t misses : {beyond, beyond + 1}) {
            std::vector<double> values(static_cast<std::size_t>(count), 1.0);
            std::fill_n(values.begin(), std::min(misses, count), 2.0);
            CHECK((percentiles_of(values).p99 <= 1) == (misses == beyond));
        }
    }
    CHECK(beyond_p99(0) == 0);
}

TEST_CASE("what arrives during a step is in the next but one where steps are put together ahead",
          "[serving]") {
    SimplePrices prices;
    std::vector<ServedRequest> two(2);
    two[0].prompt_tokens = two[1].prompt_tokens = 100;
    two[0].output_tokens = 100;
    // Steps: the prompt until 20 ms, then one token every 10.01 ms; the second request comes in the third.
    two[1].arrival_s = 0.02 + 0.01001 + 0.005;
    for (const bool ahead : {false, true}) {
        ServingPlan plan = plain();
        plan.engine.scheduled_ahead = ahead;
        const ServingOutcome out = simulate_serving(plan, prices, two);
        const double began = 0.02 + (ahead ? 3 : 2) * 0.01001;
        CHECK(out.requests[1].first_token_s == Approx(began + 0.01 + 100e-4 + 1e-5));
    }
    // Nobody is waited for where nothing runs.
    std::vector<ServedRequest> one(1);
    one[0].arrival_s = 1;
    CHECK(simulate_serving(plain(), prices, one).requests[0].time_to_first() == Approx(0.01 + 1e-4));
}

TEST_CASE("prompts wait for a full step or so many steps, but only beside others", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    plan.engine.scheduled_ahead = false;
    plan.engine.wait_steps = 5;
    plan.engine.wait_tokens = 0.5; // 256 tokens
    std::vector<ServedRequest> all(2);
    all[0].prompt_tokens = all[1].prompt_tokens = 100;
    all[0].output_tokens = 100;
    all[1].arrival_s = 0.021;
    const double step = 0.01001, first = 0.02 + step;
    ServingOutcome out = simulate_serving(plan, prices, all);
    CHECK(out.requests[0].first_token_s == Approx(0.02));
    CHECK(out.requests[1].first_token_s == Approx(first + 5 * step + 0.02 + 1e-5));
    // Two of 200 tokens make up half a step.
    all.resize(3);
    all[1].prompt_tokens = 200;
    all[2] = all[1];
    out = simulate_serving(plan, prices, all);
    CHECK(out.requests[1].first_token_s == Approx(first + 0.01 + 400e-4 + 1e-5));
}

TEST_CASE("prompts wait until every group of data-parallel attention has one", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    plan.engine.scheduled_ahead = false;
    plan.engine.wait_steps = 5;
    plan.engine.wait_prompts = 2;
    std::vector<ServedRequest> all(3);
    for (ServedRequest& r : all) {
        r.prompt_tokens = 100;
        r.output_tokens = 100;
    }
    all[2].arrival_s = 0.031; // two generate from 30 ms on, and nobody joins this one
    const double step = 0.01002, first = 0.03 + step;
    CHECK(simulate_serving(plan, prices, all).requests[2].first_token_s ==
          Approx(first + 5 * step + 0.02 + 2e-5));
    all.push_back(all[2]);
    CHECK(simulate_serving(plan, prices, all).requests[2].first_token_s == Approx(first + 0.03 + 2e-5));
    // Where a group has nothing to do, nobody waits.
    plan.engine.wait_prompts = 3;
    all.pop_back();
    CHECK(simulate_serving(plan, prices, all).requests[2].first_token_s == Approx(first + 0.02 + 2e-5));
    // Of groups, a prompt joins the one with the fewest requests. Here that is the first one for both: its
    // own have ended, and the second has two.
    std::vector<ServedRequest> pairs(6);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].prompt_tokens = 100;
        pairs[i].output_tokens = i == 0 || i == 2 ? 2 : 100;
        pairs[i].arrival_s = i < 4 ? 0 : 0.08;
    }
    const auto waits = [&](std::int64_t groups) {
        plan.engine.groups = groups;
        plan.engine.wait_prompts = 2;
        return simulate_serving(plan, prices, pairs).requests[4].time_to_first();
    };
    CHECK(waits(2) == Approx(waits(1) + 5 * step));
}

TEST_CASE("an engine that looks every few steps leaves alone what comes in between", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    plan.engine.scheduled_ahead = false;
    std::vector<ServedRequest> all(2);
    all[0].prompt_tokens = all[1].prompt_tokens = 100;
    all[0].output_tokens = all[1].output_tokens = 100;
    const double step = 0.01001, first = 0.02; // the first prompt's step ends with a look
    all[1].arrival_s = first + 0.5 * step;
    const auto waits_for = [&](std::int64_t steps) {
        plan.engine.poll_steps = steps;
        return simulate_serving(plan, prices, all).requests[1].first_token_s;
    };
    for (const std::int64_t steps : {1, 5, 30})
        CHECK(waits_for(steps) == Approx(first + static_cast<double>(steps) * step + 0.02 + 1e-5));
    // A step with a prompt is followed by a look, and so is one after which nothing runs.
    all[1].arrival_s = 0.01;
    CHECK(waits_for(30) == Approx(first + 0.02 + 1e-5));
    all[1].arrival_s = 10;
    CHECK(waits_for(30) == Approx(10.02));
    plan.engine.poll_steps = 0;
    CHECK_THROWS_AS(simulate_serving(plan, prices, all), UsageError);
}

TEST_CASE("requests pass the process before an engine one after another", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    plan.request_s = 0.5;
    std::vector<ServedRequest> all(3);
    for (ServedRequest& r : all)
        r.prompt_tokens = 100;
    all[2].arrival_s = 10;
    ServingOutcome out = simulate_serving(plan, prices, all);
    CHECK(out.requests[0].time_to_first() == Approx(0.52));
    CHECK(out.requests[1].time_to_first() == Approx(1.02));
    CHECK(out.requests[2].time_to_first() == Approx(0.52));
    CHECK(serving_capacity(plan, prices, all) == Approx(2)); // the engine would stand more
    // Of the half second a part is for each token.
    plan.request_s = 0.3;
    plan.prompt_token_s = 0.002;
    CHECK(simulate_serving(plan, prices, all).requests[1].time_to_first() == Approx(1.02));
    CHECK(serving_capacity(plan, prices, all) == Approx(2));
    plan.request_s = 0.5;
    plan.prompt_token_s = 0;
    plan.side_by_side = true;
    CHECK(simulate_serving(plan, prices, all).requests[1].time_to_first() ==
          Approx(0.53)); // one step of both
    CHECK(serving_capacity(plan, prices, all) > 2);
    plan.side_by_side = false;
    // Every engine has one.
    plan.engines = 2;
    out = simulate_serving(plan, prices, all);
    CHECK(out.requests[1].time_to_first() == Approx(0.52));
}

TEST_CASE("tokens pass the process behind an engine, which goes on meanwhile", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    std::vector<ServedRequest> all(2);
    for (ServedRequest& r : all) {
        r.prompt_tokens = 100;
        r.output_tokens = 200;
    }
    const double read = 0.01 + 200e-4, step = 0.01 + 2e-5;
    // Two tokens a step, 2 ms: each is on its way before the next ones come.
    plan.answer_token_s = 0.001;
    ServingOutcome out = simulate_serving(plan, prices, all);
    CHECK(out.requests[1].first_token_s == Approx(read + 0.002));
    CHECK(out.requests[1].end_s == Approx(read + 199 * step + 0.002));
    CHECK(serving_capacity(plan, prices, all) == Approx(1 / (200 * 0.001)));
    // 40 ms: the engine is done when the process is at a quarter of its work.
    plan.answer_token_s = 0.02;
    out = simulate_serving(plan, prices, all);
    CHECK(out.requests[1].first_token_s == Approx(read + 0.04));
    CHECK(out.requests[1].end_s == Approx(read + 400 * 0.02));
    CHECK(out.busy_s == Approx(read + 199 * step));
    CHECK(serving_capacity(plan, prices, all) == Approx(1 / (200 * 0.02)));
    // Who waits for answers asks anew when they are there; a request passes before tokens that come later.
    plan.concurrency = 1;
    out = simulate_serving(plan, prices, all);
    CHECK(out.requests[1].arrival_s == Approx(out.requests[0].end_s));
    CHECK(out.output_tokens == 400);
    plan.concurrency = 0;
    // Ten at a time are one message; where answers pass side by side nobody waits for others.
    plan.stream_interval = 10;
    CHECK(simulate_serving(plan, prices, all).requests[1].end_s == Approx(read + 199 * step + 0.004));
    plan.side_by_side = true;
    CHECK(simulate_serving(plan, prices, all).requests[1].end_s == Approx(read + 199 * step));
    plan.stream_interval = 0;
    CHECK_THROWS_AS(simulate_serving(plan, prices, all), UsageError);
}

TEST_CASE("groups of an engine have limits of their own", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    plan.engine.step_tokens = 100;
    plan.engine.sequences = 1;
    std::vector<ServedRequest> all(4);
    for (ServedRequest& r : all) {
        r.prompt_tokens = 100;
        r.output_tokens = 1;
    }
    const double step = 0.01 + 100 * 1e-4, four = 0.01 + 400 * 1e-4;
    CHECK(simulate_serving(plan, prices, all).duration_s == Approx(4 * step));
    plan.engine.groups = 4;
    CHECK(simulate_serving(plan, prices, all).duration_s == Approx(four));
    plan.engine.groups = 0;
    CHECK_THROWS_AS(simulate_serving(plan, prices, all), UsageError);
}

TEST_CASE("whole prompts wait for a step that holds them", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    plan.engine.chunked = false;
    std::vector<ServedRequest> all(3);
    for (ServedRequest& r : all)
        r.prompt_tokens = 300;
    all[2].prompt_tokens = 1000; // more than a step
    const ServingOutcome out = simulate_serving(plan, prices, all);
    CHECK(out.requests[0].first_token_s == Approx(0.01 + 300e-4));
    CHECK(out.requests[1].first_token_s == Approx(2 * (0.01 + 300e-4)));
    CHECK(out.requests[2].first_token_s == Approx(2 * (0.01 + 300e-4) + 0.01 + 1000e-4));
    CHECK(out.steps == 3);
}

TEST_CASE("uniform lengths stay in their range", "[serving]") {
    RequestPlan plan;
    plan.shape = LengthShape::uniform;
    plan.shortest = 0.8;
    plan.longest = 1;
    plan.count = 5000;
    plan.prompt_tokens = plan.output_tokens = 1000;
    double sum = 0;
    for (const ServedRequest& r : make_requests(plan)) {
        CHECK(r.prompt_tokens >= 800);
        CHECK(r.prompt_tokens <= 1000);
        CHECK(r.output_tokens >= 800);
        sum += static_cast<double>(r.output_tokens);
    }
    CHECK(sum / 5000 == Approx(900).epsilon(0.01));
}

TEST_CASE("a prompt that repeats is computed once, but for its last block", "[serving]") {
    SimplePrices prices;
    RequestPlan load;
    load.count = 3;
    load.prompt_tokens = 500;
    load.output_tokens = 2;
    load.shape = LengthShape::constant;
    load.distinct_prompts = 1;
    std::vector<ServedRequest> again = make_requests(load);
    for (std::size_t i = 0; i < again.size(); ++i)
        again[i].arrival_s = static_cast<double>(i); // one after the other
    const ServingOutcome out = simulate_serving(plain(), prices, again);
    const double whole = 0.01 + 500 * 1e-4, rest = 0.01 + (500 - 496) * 1e-4; // 31 blocks of 16 are kept
    CHECK(out.requests[0].time_to_first() == Approx(whole));
    CHECK(out.requests[1].time_to_first() == Approx(rest));
    CHECK(out.requests[2].time_to_first() == Approx(rest));
    CHECK(out.cache_peak_bytes == 512); // 502 positions in blocks: the kept ones lie there once
    ServingPlan without = plain();
    without.engine.prefix_cache = false;
    CHECK(simulate_serving(without, prices, again).requests[2].time_to_first() == Approx(whole));
    // Requests that are admitted beside the first find what the step computes for it, as vLLM's do (its
    // design/prefix_caching: a full block is cached at once, for others of the same batch).
    for (ServedRequest& r : again)
        r.arrival_s = 0;
    const ServingOutcome beside = simulate_serving(plain(), prices, again);
    for (const ServedRequest& r : beside.requests)
        CHECK(r.time_to_first() < whole + 3 * 4 * 1e-4);
    CHECK(beside.requests[1].cached_tokens == 496);
    CHECK(beside.cache_peak_bytes < 2 * 512);
}

TEST_CASE("what is begun before its answer fits gives way, and is computed again", "[serving]") {
    SimplePrices prices;
    // Two answers of 304 positions in whole blocks, in a cache that holds one of them and its prompt.
    std::vector<ServedRequest> two(2);
    for (ServedRequest& r : two) {
        r.prompt_tokens = 100;
        r.output_tokens = 200;
    }
    ServingPlan plan = plain(448);
    const ServingOutcome whole = simulate_serving(plan, prices, two);
    CHECK(whole.preempted == 0);
    CHECK(whole.requests[1].first_token_s > whole.requests[0].end_s);
    plan.engine.admission = Admission::prompt;
    const ServingOutcome begun = simulate_serving(plan, prices, two);
    CHECK(begun.requests[1].first_token_s == begun.requests[0].first_token_s);
    CHECK(begun.preempted == 1);
    // Both grow to 224 positions, fourteen blocks, before the second gives way.
    CHECK(begun.recomputed_tokens == 224);
    CHECK(begun.prompt_busy_s == Approx(whole.prompt_busy_s + 224 * 1e-4));
    CHECK(begun.requests[1].end_s < whole.requests[1].end_s);
    CHECK(begun.cache_peak_bytes == 448);
    // 0.7 of the rest of the first, and the whole of the second, do not fit: it waits for a part of that.
    plan.engine.admission = Admission::expected;
    const ServingOutcome expected = simulate_serving(plan, prices, two);
    CHECK(expected.requests[1].first_token_s > begun.requests[1].first_token_s);
    CHECK(expected.requests[1].first_token_s <= whole.requests[1].first_token_s);
    for (const ServingOutcome* out : {&begun, &expected})
        for (const ServedRequest& r : out->requests)
            CHECK(r.emitted == 200);
}

TEST_CASE("kept prompts give way, the least recently used first", "[serving]") {
    SimplePrices prices;
    RequestPlan load;
    load.count = 6;
    load.prompt_tokens = 161; // 160 positions are kept
    load.output_tokens = 1;
    load.shape = LengthShape::constant;
    load.distinct_prompts = 3;
    std::vector<ServedRequest> turns = make_requests(load);
    for (std::size_t i = 0; i < turns.size(); ++i)
        turns[i].arrival_s = static_cast<double>(i);
    // One token behind cached ones is priced as a sequence that generates.
    const double whole = 0.01 + 161 * 1e-4, rest = 0.01 + 1e-5;
    const ServingOutcome roomy = simulate_serving(plain(), prices, turns);
    const ServingOutcome tight = simulate_serving(plain(400), prices, turns); // two prompts and a block
    for (std::size_t i = 3; i < 6; ++i) {
        CHECK(roomy.requests[i].time_to_first() == Approx(rest));
        CHECK(tight.requests[i].time_to_first() == Approx(whole)); // in turn, each was given up just before
    }
    CHECK(tight.cache_peak_bytes <= 400);
    CHECK(roomy.requests[0].time_to_first() == Approx(whole));
}

TEST_CASE("prompts that repeat keep tokens and room, and take no longer to process", "[serving][laws]") {
    SimplePrices prices;
    for (const std::int64_t distinct : {1, 7, 100, 399}) {
        RequestPlan load;
        load.count = 400;
        load.rate_per_s = 5;
        load.prompt_tokens = 200;
        load.output_tokens = 50;
        load.shape = LengthShape::exponential;
        load.distinct_prompts = distinct;
        for (ServingPlan plan : all_plans()) {
            const ServingOutcome with = simulate_serving(plan, prices, make_requests(load));
            plan.engine.prefix_cache = false;
            const ServingOutcome without = simulate_serving(plan, prices, make_requests(load));
            CHECK(with.output_tokens == without.output_tokens);
            CHECK(with.prompt_tokens == without.prompt_tokens);
            CHECK(with.cache_peak_bytes <= plan.engine.cache_bytes);
            CHECK(with.prompt_busy_s <= without.prompt_busy_s * (1 + 1e-9));
            CHECK(with.refused == 0);
        }
    }
}

TEST_CASE("a step that is counted as a whole costs what its sequences, one by one, cost", "[serving]") {
    /// A step takes longer with every position, span by span, as a table of prices has it.
    class SpanPrices final : public StepPrices {
      public:
        StepCost price(const StepLoad& load) override {
            StepCost cost;
            cost.seconds = 0.01 + 1e-4 * static_cast<double>(load.prompt_tokens);
            for (std::size_t span = 0; span < ContextCounts::kSpans; ++span)
                cost.seconds +=
                    1e-7 * static_cast<double>(span + 1) * static_cast<double>(load.contexts.positions[span]);
            cost.joules = cost.seconds * load.context;
            return cost;
        }
        double cache_bytes(double positions) const override { return positions; }
    };
    SpanPrices prices;
    for (ServingPlan plan : all_plans()) {
        if (plan.engine.drafted > 0)
            continue;
        bool same = true;
        std::size_t looked = 0;
        plan.on_step = [&](double, std::span<const StepRequest> held, const StepCost& cost) {
            SpanPrices anew;
            const StepCost own = anew.price(StepLoad::of(held));
            same = same && own.seconds == cost.seconds && own.joules == cost.joules;
            ++looked;
        };
        for (const double rate : {0.5, 5.0, 500.0}) {
            const ServingOutcome out = simulate_serving(plan, prices, requests(rate));
            CHECK(static_cast<std::int64_t>(looked) == out.steps);
            CHECK(same);
            looked = 0;
        }
    }
}

TEST_CASE("steps that are alike are taken together, and no request notices", "[serving][laws]") {
    SimplePrices prices;
    for (const ServingPlan& own : all_plans())
        for (const std::int64_t poll_steps : {1, 4})
            for (const std::int64_t concurrency : {0, 1, 7})
                for (const double rate : {0.2, 5.0, 500.0}) {
                    ServingPlan plan = own;
                    plan.engine.poll_steps = poll_steps;
                    plan.engine.scheduled_ahead = poll_steps == 1;
                    plan.concurrency = concurrency;
                    ServingPlan watched = plan;
                    watched.on_step = [](double, std::span<const StepRequest>, const StepCost&) {};
                    const auto load = requests(concurrency > 0 ? 0 : rate, LengthShape::exponential, 200);
                    const ServingOutcome a = simulate_serving(plan, prices, load),
                                         b = simulate_serving(watched, prices, load);
                    for (std::size_t i = 0; i < load.size(); ++i) {
                        CHECK(a.requests[i].first_token_s == b.requests[i].first_token_s);
                        CHECK(a.requests[i].end_s == b.requests[i].end_s);
                    }
                    CHECK(a.steps == b.steps);
                    CHECK(a.batch == b.batch);
                    CHECK(a.ended_s == b.ended_s);
                    CHECK(a.cache_peak_bytes == b.cache_peak_bytes);
                    CHECK(a.preempted == b.preempted);
                    CHECK(a.joules == Approx(b.joules).epsilon(1e-12));
                    CHECK(a.cache_wasted == Approx(b.cache_wasted).epsilon(1e-12));
                    CHECK(a.in_system_s == Approx(b.in_system_s).epsilon(1e-12));
                }
}

TEST_CASE("a saturated engine that begins full completes what one that fills up does in the long run",
          "[serving]") {
    SimplePrices prices;
    for (const LengthShape shape : {LengthShape::constant, LengthShape::uniform, LengthShape::exponential}) {
        const auto all = requests(0, shape, 20000);
        const ServingOutcome out = simulate_serving(plain(), prices, all);
        double outputs = 0;
        for (const ServedRequest& r : all)
            outputs += static_cast<double>(r.output_tokens);
        const double in_the_long_run = static_cast<double>(out.emitted_till_then) / out.last_waited_s *
                                       static_cast<double>(all.size()) / outputs;
        CHECK(serving_capacity(plain(), prices, all) == Approx(in_the_long_run).epsilon(0.03));
    }
}

TEST_CASE("a saturated engine finds in its cache what a run of the same requests finds", "[serving]") {
    SimplePrices prices;
    const auto capacity_of = [&](const RequestPlan& load, const ServingPlan& plan, double within = 0.05) {
        const ServingOutcome out = simulate_serving(plan, prices, make_requests(load));
        double outputs = 0;
        for (const ServedRequest& r : out.requests)
            outputs += static_cast<double>(r.output_tokens);
        const double in_the_long_run = static_cast<double>(out.emitted_till_then) / out.last_waited_s *
                                       static_cast<double>(load.count) / outputs;
        RequestPlan shorter = load; // which lasts less than the engine needs to be full
        shorter.count = 40;
        CHECK(serving_capacity(plan, prices, make_requests(shorter)) ==
              Approx(in_the_long_run).epsilon(within));
        return in_the_long_run;
    };
    RequestPlan alone;
    alone.count = 8000;
    alone.prompt_tokens = 400;
    alone.output_tokens = 50;
    RequestPlan repeated = alone, begun_alike = alone, recorded = alone;
    repeated.distinct_prompts = 10;
    begun_alike.system_prompts = 2;
    begun_alike.system_tokens = 320;
    Trace trace{.requests = {}, .block_tokens = 200};
    for (std::int64_t i = 0; i < alone.count; ++i) // every other half of a prompt is known
        trace.requests.push_back({0, 400, 50, {0, i + 1}});
    recorded.trace = std::make_shared<const Trace>(std::move(trace));
    const ServingPlan roomy = plain(), tight = plain(8000);
    ServingPlan forgetful = plain();
    forgetful.engine.prefix_cache = false;
    const double none = capacity_of(alone, roomy);
    for (const RequestPlan* load : {&repeated, &begun_alike, &recorded}) {
        CHECK(capacity_of(*load, roomy) > 1.3 * none);
        CHECK(capacity_of(*load, forgetful) == Approx(none).epsilon(0.01));
        capacity_of(*load, tight);
    }
}

TEST_CASE("prompts that begin alike compute their system prompt once, in whole blocks", "[serving]") {
    SimplePrices prices;
    RequestPlan load;
    load.count = 6;
    load.rate_per_s = 1;
    load.arrivals = Arrivals::constant;
    load.prompt_tokens = 200;
    load.output_tokens = 2;
    load.system_prompts = 2;
    load.system_tokens = 100; // 96 of them in blocks of 16
    const ServingOutcome out = simulate_serving(plain(), prices, make_requests(load));
    for (std::size_t i = 0; i < 6; ++i)
        CHECK(out.requests[i].cached_tokens == (i < 2 ? 0 : 96));
    // Prompts that repeat besides: the whole of one is in the cache, but for its last block.
    load.distinct_prompts = 3;
    const ServingOutcome again = simulate_serving(plain(), prices, make_requests(load));
    CHECK(again.requests[2].cached_tokens == 96);
    CHECK(again.requests[3].cached_tokens == 192);
    // A system prompt as long as the prompt is the prompt.
    load.distinct_prompts = 0;
    load.system_tokens = 500;
    const ServingOutcome whole = simulate_serving(plain(), prices, make_requests(load));
    CHECK(whole.requests[0].cached_tokens == 0);
    CHECK(whole.requests[2].cached_tokens == 192);
}

TEST_CASE("prompts with steps of their own hold up who generates", "[serving]") {
    SimplePrices prices;
    ServingPlan plan = plain();
    plan.engine.scheduled_ahead = false;
    std::vector<ServedRequest> two(2);
    two[0].prompt_tokens = two[1].prompt_tokens = 100;
    two[0].output_tokens = 10;
    two[1].arrival_s = 0.021;
    // The prompt until 20 ms, a token, and beside the next one the other prompt, or between them.
    const double step = 0.01001, first = 0.02 + step;
    const ServingOutcome mixed = simulate_serving(plan, prices, two);
    CHECK(mixed.requests[1].first_token_s == Approx(first + step + 100e-4));
    CHECK(mixed.requests[0].end_s == Approx(0.02 + 9 * step + 100e-4));
    plan.engine.prompts_apart = true;
    const ServingOutcome apart = simulate_serving(plan, prices, two);
    CHECK(apart.requests[1].first_token_s == Approx(first + 0.01 + 100e-4));
    CHECK(apart.requests[0].end_s == Approx(0.02 + 9 * step + 0.01 + 100e-4));
}

TEST_CASE("requests a second times their time are those in flight, of any number of requests",
          "[serving][laws]") {
    for (const std::int64_t flight : {1, 3, 16, 64})
        for (const std::int64_t count : {2, 4, 17, 64, 200, 800})
            for (const LengthShape shape : {LengthShape::constant, LengthShape::exponential}) {
                CAPTURE(flight, count);
                SimplePrices prices;
                ServingPlan plan = plain();
                plan.concurrency = flight;
                const ServingSummary s = summarize(simulate_serving(plan, prices, requests(0, shape, count)));
                const double in_flight = s.requests_per_s * s.end_to_end_s.mean;
                CHECK(in_flight <= static_cast<double>(flight) * (1 + 1e-9));
                if (count >= 4 * flight)
                    CHECK(in_flight >= static_cast<double>(flight) * 0.95);
            }
}

TEST_CASE("a step with a number of prompt tokens that no step had waits for the kernel compiled for it",
          "[serving]") {
    class Compiling final : public StepPrices {
      public:
        StepCost price(const StepLoad& load) override { return prices_.price(load); }
        double cache_bytes(double positions) const override { return positions; }
        StepCost new_length() const override { return {0.5, 5, 0.5, 5}; }

      private:
        SimplePrices prices_;
    } compiling;
    SimplePrices known;
    // One after another, so that no two share a step.
    const auto outcome = [&](StepPrices& prices, const std::vector<std::int64_t>& prompts) {
        std::vector<ServedRequest> alone(prompts.size());
        for (std::size_t i = 0; i < prompts.size(); ++i) {
            alone[i].arrival_s = 10 * static_cast<double>(i);
            alone[i].prompt_tokens = prompts[i];
            alone[i].output_tokens = 3;
        }
        return simulate_serving(plain(), prices, alone);
    };
    const auto more = [&](const std::vector<std::int64_t>& prompts) {
        const ServingOutcome with = outcome(compiling, prompts), without = outcome(known, prompts);
        std::vector<double> waits;
        for (std::size_t i = 0; i < prompts.size(); ++i)
            waits.push_back(with.requests[i].time_to_first() - without.requests[i].time_to_first());
        CHECK(with.requests.back().time_per_token() == Approx(without.requests.back().time_per_token()));
        CHECK(with.prompt_joules - without.prompt_joules ==
              Approx(10 * (with.prompt_busy_s - without.prompt_busy_s)));
        return waits;
    };
    const std::vector<double> equal = more({100, 100, 100}), each = more({100, 101, 102, 101});
    CHECK(equal[0] == Approx(0.5));
    CHECK(equal[1] + equal[2] == Approx(0).margin(1e-12));
    CHECK(each[0] + each[1] + each[2] == Approx(1.5));
    CHECK(each[3] == Approx(0).margin(1e-12));
    // Chunks of a long prompt have the length of a step, and what is left of it.
    CHECK(more({3 * 512 + 7})[0] == Approx(1));
}
