// A language model served on real devices: laws over the prices of steps, and ways to share the model.

#include "answers/serving/serving_report.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/serve.hpp"
#include "archsim/run/step.hpp"
#include "result/format_parts.hpp"
#include "session/server/server.hpp"
#include "support/shipped_session.hpp"
#include "support/trace_check.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <set>

using namespace archsim;

namespace {

Conditions in_fp8() {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp8);
    return conditions;
}

ServingRequest load_of(double rate, std::int64_t count = 200) {
    ServingRequest request;
    request.load.count = count;
    request.load.rate_per_s = rate;
    request.load.prompt_tokens = 800;
    request.load.output_tokens = 100;
    return request;
}

ServingResult serve(const ServingRequest& request, const std::string& device = "H100",
                    const std::string& model = "llama-3-8b") {
    const Session& session = test::shipped_session();
    return run_serving(session, session.load(model), device, in_fp8(), request);
}

/// Prices that know nothing of steps that follow each other.
class OneByOne final : public StepPrices {
  public:
    explicit OneByOne(StepPrices& prices) : prices_(prices) {}
    StepCost price(const StepLoad& load) override { return prices_.price(load); }
    double cache_bytes(double positions) const override { return prices_.cache_bytes(positions); }

  private:
    StepPrices& prices_;
};

} // namespace

TEST_CASE("every step of a run is a slice of its trace, on a track of its engine", "[serving][step]") {
    ServingRequest request;
    request.load.count = 60;
    request.load.rate_per_s = 20;
    request.load.prompt_tokens = 1500;
    request.load.output_tokens = 40;
    request.parallelism = Parallelism{.data = 2};
    request.find_capacity = false;
    std::vector<ServedStep> steps;
    double busy_us = 0;
    request.plan.on_step = [&](double begins_s, std::span<const StepRequest> held, const StepCost& cost) {
        steps.push_back({begins_s, StepLoad::of(held), cost});
        busy_us += 1e6 * cost.seconds;
    };
    const Session& session = test::shipped_session();
    const ServingResult result = run_serving(session, session.load("qwen3-0.6b"), "H100", {}, request);
    REQUIRE(result.ok);
    const auto trace = nlohmann::json::parse(serving_trace(result, steps));
    CHECK(test::trace_faults(trace) == std::vector<std::string>{});
    std::size_t slices = 0, tracks = 0;
    double drawn_us = 0;
    for (const auto& event : trace["traceEvents"]) {
        tracks += event["name"] == "thread_name" ? 1U : 0U;
        if (!event["args"].contains("sequences"))
            continue;
        ++slices;
        drawn_us += event["dur"].get<double>();
    }
    CHECK(slices == steps.size());
    CHECK(tracks == 2);
    CHECK(drawn_us == Approx(busy_us).epsilon(1e-6));
}

TEST_CASE("served on every device that holds the model: Little's law and conserved tokens", "[serving]") {
    const Session& session = test::shipped_session();
    const Model model = session.load("llama-3.2-1b");
    int served = 0;
    for (const std::string& device : session.hardware().device_ids()) {
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(Precision::fp16);
        ServingRequest request = load_of(0.05, 30);
        request.find_capacity = false;
        const ServingResult r = run_serving(session, model, device, conditions, request);
        INFO(device << ": " << r.reason);
        if (!r.ok) {
            CHECK_FALSE(r.reason.empty());
            continue;
        }
        ++served;
        CHECK(r.summary.mean_in_system ==
              Approx(r.summary.requests_per_s * r.summary.end_to_end_s.mean).epsilon(1e-9));
        CHECK(r.outcome.output_tokens == 30 * 100);
        CHECK(r.outcome.prompt_tokens == 30 * 800);
        CHECK(r.outcome.cache_peak_bytes <= r.cache_room_bytes);
        CHECK(r.summary.utilization <= 1 + 1e-12);
        CHECK(r.step_low <= 1);
        CHECK(r.step_high >= 1);
    }
    CHECK(served > 20);
}

TEST_CASE("a mixture of experts on eight devices is priced on every kind of device, in every format",
          "[serving][laws]") {
    const Session& session = test::shipped_session();
    const Model model = session.load("qwen3-30b-a3b");
    std::set<std::string> seen;
    for (const std::string& device : session.hardware().device_ids()) {
        if (!seen.insert(session.hardware().device(device).device->generation).second)
            continue;
        for (const char* format : {"fp8", "int8", "w4a16"})
            for (const Parallelism& way : {Parallelism{.tensor = 8}, Parallelism{.experts = 8}}) {
                INFO(device << ", " << format << ", " << to_string(way));
                Conditions conditions;
                conditions.precision = precision_named(format);
                ServingRequest request = load_of(0.05, 2);
                request.find_capacity = false;
                request.parallelism = way;
                CHECK_NOTHROW(run_serving(session, model, device, conditions, request));
            }
    }
}

TEST_CASE("intervals of waits: in proportion to steps in flight, wider than steps at a rate", "[serving]") {
    ServingRequest held = load_of(0, 300);
    held.plan.concurrency = 16;
    held.plan.request_s = held.plan.prompt_token_s = held.plan.answer_token_s = 0; // steps alone
    const ServingResult in_flight = serve(held);
    REQUIRE(in_flight.ok);
    const auto& waits = in_flight.bounds;
    const double first = in_flight.summary.time_to_first_s.p99;
    CHECK(waits.time_to_first_s.high.p99 == Approx(first * in_flight.prompt_high));
    CHECK(waits.time_to_first_s.low.p99 == Approx(first * in_flight.prompt_low));
    // The simulation agrees, but for requests that just miss a step when something comes before it.
    held.plan.request_s = 1e-12;
    CHECK(serve(held).bounds.time_to_first_s.high.p99 ==
          Approx(waits.time_to_first_s.high.p99).epsilon(0.05));

    const double capacity = serve(load_of(1)).capacity_per_s;
    double before = 0;
    for (const double part : {0.2, 0.95}) {
        const ServingResult r = serve(load_of(part * capacity, 1000));
        const double p99 = r.summary.end_to_end_s.p99;
        CHECK(r.bounds.end_to_end_s.low.p99 < p99);
        before = r.bounds.end_to_end_s.high.p99 / p99;
        INFO(part);
        CHECK(before > r.step_high);
    }
    // Steps at the upper end are more than this engine stands: its queue is longer than steps are.
    CHECK(before > 1.5 * serve(load_of(0.95 * capacity, 1000)).step_high);
}

TEST_CASE("what a server does by default is its stack's, unless the request says otherwise", "[serving]") {
    const auto under_vllm = [](const ServingRequest& request, const char* model = "llama-3-8b") {
        Conditions conditions = in_fp8();
        conditions.stack = "vllm";
        const Session& session = test::shipped_session();
        return run_serving(session, session.load(model), "H100", conditions, request);
    };
    const auto first = [](const ServingResult& r) { return r.summary.time_to_first_s.mean; };
    ServingRequest request = load_of(0.5, 40);
    const ServingResult usual = under_vllm(request);
    request.plan.request_s = 0;
    request.plan.prompt_token_s = 0;
    const ServingResult bare = under_vllm(request);
    // HTTP, tokens and hand-over of vLLM come on top of the steps; an own number comes in their place.
    const double outside = first(usual) - first(bare);
    CHECK(outside > 0.005);
    CHECK(outside < 0.02);
    request.plan.request_s = 0.1;
    request.plan.prompt_token_s = 0;
    CHECK(first(under_vllm(request)) == Approx(first(bare) + 0.1).epsilon(0.05));
    // So many at once that only the limit on sequences makes some of them wait: 1,024 on 80 GB.
    ServingRequest burst = load_of(0, 1500);
    burst.load.prompt_tokens = 1;
    burst.load.output_tokens = 64;
    burst.plan.concurrency = 1500;
    burst.plan.warm_up = 0;
    burst.plan.request_s = burst.plan.prompt_token_s = burst.plan.answer_token_s =
        0; // else no more come through before the engine
    const double by_default = under_vllm(burst, "llama-3.2-1b").outcome.batch;
    burst.plan.engine.sequences = 256;
    CHECK(under_vllm(burst, "llama-3.2-1b").outcome.batch <= 256);
    CHECK(by_default > 256);
    CHECK(by_default <= 1024);
}

TEST_CASE("intervals of a server at its stack's defaults have a width of their own", "[serving]") {
    const Session& session = test::shipped_session();
    const Model model = session.load("llama-3-8b");
    ServingRequest request = load_of(0.5, 20);
    Conditions conditions = in_fp8();
    conditions.stack = "vllm";
    const auto run = [&] { return run_serving(session, model, "H100", conditions, request); };
    const ServingResult usual = run();
    request.plan.engine.step_tokens = 8192; // what it is anyway: somebody chose it
    const ServingResult tuned = run();
    REQUIRE((usual.ok && tuned.ok));
    CHECK(usual.summary.time_per_token_s.mean == tuned.summary.time_per_token_s.mean);
    CHECK(usual.step_high > tuned.step_high);
    CHECK(usual.step_low * usual.step_high == Approx(1));
    request = load_of(0.5, 20);
    request.plan.stream_interval = 10;
    CHECK(run().step_high == tuned.step_high);
}

TEST_CASE("a stack whose host makes up steps in turn is waited for at every step, under its base's limits",
          "[serving]") {
    const Session& session = test::shipped_session();
    const Model model = session.load("llama-3-8b");
    const auto engine = [&](const char* stack) {
        Conditions conditions = in_fp8();
        conditions.stack = stack;
        return StepEngine(session, model, "H100", conditions);
    };
    const StepEngine ahead = engine("vllm"), in_turn = engine("vllm-0.13");
    const auto more = [&](std::int64_t sequences, StepRequest each) {
        const std::vector<StepRequest> step(static_cast<std::size_t>(sequences), each);
        return in_turn.step(step).seconds - ahead.step(step).seconds;
    };
    CHECK(more(64, {1, 1000}) == Approx(64 * 38e-6));
    CHECK(more(2, {4096, 0}) == Approx(2 * 38e-6));     // the device decides
    CHECK(more(1, {600, 0}) == Approx(0).margin(1e-9)); // launches, which were measured of whole steps
    CHECK(in_turn.cache_room_bytes() == Approx(ahead.cache_room_bytes()));
    ServingRequest request = load_of(0.5, 40);
    Conditions conditions = in_fp8();
    conditions.stack = "vllm-0.13";
    const ServingResult served = run_serving(session, model, "H100", conditions, request);
    CHECK(served.summary.time_to_first_s.mean > 0.0077); // requests pass the same process
}

TEST_CASE("hybrids under SGLang wait for kernels of each length, and for the host between steps",
          "[serving]") {
    const Session& session = test::shipped_session();
    const auto waits = [&](const char* model, const char* stack, LengthShape shape, bool keeps) {
        ServingRequest request = load_of(0, 40);
        request.load.shape = shape;
        request.load.shortest = 0.8;
        request.load.longest = 1;
        request.plan.concurrency = 1;
        request.plan.warm_up = 0;
        request.plan.engine.prefix_cache = keeps;
        request.find_capacity = false;
        Conditions conditions = in_fp8();
        conditions.stack = stack;
        const ServingResult r = run_serving(session, session.load(model), "H200", conditions, request);
        REQUIRE(r.ok);
        return std::pair(r.summary.time_to_first_s.mean, r.summary.time_per_token_s.mean);
    };
    const auto more = [&](const char* model, LengthShape shape, bool keeps) {
        const auto old = waits(model, "sglang", shape, keeps),
                   now = waits(model, "sglang-0.5.15", shape, keeps);
        return std::pair(old.first - now.first, old.second - now.second);
    };
    constexpr double kCompiles = 0.09, kTurn = 0.74e-3;
    const auto spread = more("qwen3.5-27b", LengthShape::uniform, false),
               equal = more("qwen3.5-27b", LengthShape::constant, false),
               kept = more("qwen3.5-27b", LengthShape::constant, true);
    CHECK(spread.first > 0.7 * kCompiles); // 40 prompts of 161 lengths: few are met twice
    CHECK(spread.first < kCompiles);
    CHECK(equal.first == Approx(kCompiles / 40));
    CHECK(equal.second == Approx(0).margin(1e-9));
    CHECK(kept.second == Approx(kTurn));
    // Networks without a state, and those whose state follows no delta rule, compile nothing.
    CHECK(more("llama-3-8b", LengthShape::uniform, true) == std::pair(0.0, 0.0));
    CHECK(more("nemotron-nano-9b-v2", LengthShape::uniform, false) == std::pair(0.0, 0.0));
}

TEST_CASE("a server launches the kernels of a prompt that an estimate of the same prompt launches",
          "[serving]") {
    const Session& session = test::shipped_session();
    for (const char* name : {"qwen3.5-27b", "llama-3.2-1b", "nemotron-nano-9b-v2"}) {
        INFO(name);
        const Model model = session.load(name);
        Conditions conditions = in_fp8();
        conditions.stack = "sglang";
        const StepEngine engine(session, model, "B200", conditions);
        const Result r = session.estimate({.model = model, .prompt = Prompt{.tokens = 512, .generate = 1}},
                                          "B200", conditions);
        REQUIRE(r.ok());
        const std::vector<StepRequest> prompt(1, {512, 0});
        // Small enough that the host decides.
        CHECK(engine.step(prompt).seconds == Approx(r.generation->time_to_first_token_s).epsilon(0.05));
    }
}

TEST_CASE("a share of the memory is what the stack means by it", "[serving]") {
    const Session& session = test::shipped_session();
    for (const char* stack : {"vllm", "sglang", "trt-llm"}) {
        INFO(stack);
        Conditions conditions = in_fp8();
        conditions.stack = stack;
        double before = 0;
        for (const double share : {0.5, 0.7, 0.9}) {
            ServingRequest request = load_of(1, 10);
            request.find_capacity = false;
            request.plan.engine.memory_share = share;
            const ServingResult r =
                run_serving(session, session.load("llama-3-8b"), "H100", conditions, request);
            REQUIRE(r.ok);
            CHECK(r.cache_room_bytes < share * 85.6e9);
            // By a fifth of the memory, or of what weights leave; less where activations take what is left of
            // it.
            if (before > 0)
                CHECK((r.cache_room_bytes - before > 0.7 * 17.1e9 &&
                       r.cache_room_bytes - before < 1.1 * 17.1e9));
            before = r.cache_room_bytes;
        }
    }
}

TEST_CASE("a drafted token costs a layer and the head, unless the request says otherwise", "[serving]") {
    ServingRequest request = load_of(0, 20);
    request.plan.concurrency = 1;
    const double plain = serve(request).summary.time_per_token_s.mean;
    request.plan.engine.drafted = 2;
    request.plan.engine.accepted = 0.78;
    const double drafted = serve(request).summary.time_per_token_s.mean;
    request.plan.engine.draft_cost = 0;
    const double free = serve(request).summary.time_per_token_s.mean;
    CHECK(free < drafted);
    CHECK(drafted < plain);
    CHECK(drafted < 1.3 * free);
}

TEST_CASE("more load never shortens the wait, and what overflows is said", "[serving]") {
    const double capacity = serve(load_of(1)).capacity_per_s;
    REQUIRE(capacity > 0);
    double first = 0, whole = 0;
    for (const double part : {0.1, 0.3, 0.6, 0.9, 1.3}) {
        const ServingResult r = serve(load_of(part * capacity, 1000));
        INFO(part);
        REQUIRE(r.ok);
        CHECK(r.overloaded == (part > 1));
        // Where nobody waits the percentile is that of where in a step a request arrives.
        CHECK(r.summary.time_to_first_s.p99 >= 0.97 * first);
        CHECK(r.summary.end_to_end_s.p99 >= 0.97 * whole);
        first = r.summary.time_to_first_s.p99;
        whole = r.summary.end_to_end_s.p99;
    }
}

TEST_CASE("steps are interpolated between sizes that no cache holds", "[serving]") {
    // Contexts of 2150 tokens lie between 2048 and 4096, of which 256 sequences would take 120 GB.
    ServingRequest request = load_of(2, 50);
    request.load.prompt_tokens = 2000;
    request.load.output_tokens = 300;
    const ServingResult r = serve(request, "H100", "qwen3-0.6b");
    INFO(r.reason);
    CHECK(r.ok);
    CHECK(r.outcome.cache_peak_bytes <= r.cache_room_bytes);
}

TEST_CASE("ways to share a model", "[serving]") {
    const auto shared = [](const Parallelism& way) {
        ServingRequest request = load_of(2);
        request.parallelism = way;
        return serve(request, "H100", "llama-3-70b");
    };
    const ServingResult two = shared({.tensor = 2}), four = shared({.tensor = 4}),
                        stages = shared({.tensor = 2, .pipeline = 2}),
                        copies = shared({.tensor = 2, .data = 2});
    for (const ServingResult* r : {&two, &four, &stages, &copies}) {
        INFO(to_string(r->parallelism) << ": " << r->reason);
        REQUIRE(r->ok);
    }
    // Engines beside each other serve as many as the sum of them.
    CHECK(copies.capacity_per_s == Approx(2 * two.capacity_per_s).epsilon(0.05));
    // Weights spread over twice the devices leave more room for caches, and a token comes sooner.
    CHECK(four.cache_room_bytes > 2 * two.cache_room_bytes);
    CHECK(stages.cache_room_bytes > 2 * two.cache_room_bytes);
    CHECK(four.summary.time_per_token_s.p50 < two.summary.time_per_token_s.p50);
    // Stages do not shorten the way of one token.
    CHECK(stages.summary.time_per_token_s.p50 > four.summary.time_per_token_s.p50);
    CHECK(copies.usd_per_hour == Approx(2 * two.usd_per_hour));
    CHECK(parse_parallelism("tp=2,pp=4,dp=8") == Parallelism{.tensor = 2, .pipeline = 4, .data = 8});
    CHECK(to_string(parse_parallelism("pp=4")) == "pp=4");
    for (const char* wrong : {"tp", "tp=0", "tp=x", "xp=2", "tp=2;pp=2"})
        CHECK_THROWS_AS(parse_parallelism(wrong), UsageError);
}

TEST_CASE("experts on devices of their own", "[serving]") {
    const auto shared = [](const Parallelism& way, const std::string& model = "qwen3-30b-a3b") {
        ServingRequest request = load_of(20);
        request.parallelism = way;
        return serve(request, "H100", model);
    };
    const ServingResult matrices = shared({.tensor = 8}), experts = shared({.experts = 8}),
                        both = shared({.tensor = 2, .experts = 8}),
                        summed = shared({.tensor = 8, .experts = 8});
    for (const ServingResult* r : {&matrices, &experts, &both, &summed}) {
        INFO(to_string(r->parallelism) << ": " << r->reason);
        REQUIRE(r->ok);
        CHECK(r->parallelism.engine_devices() == 8);
        CHECK(r->outcome.output_tokens == 200 * 100);
    }
    // Attention lies whole on every chip, and leaves less room for caches.
    CHECK(experts.cache_room_bytes < both.cache_room_bytes);
    CHECK(both.cache_room_bytes < matrices.cache_room_bytes);
    const ServingResult none = shared({.experts = 4}, "llama-3-8b");
    CHECK_FALSE(none.ok);
    CHECK_THAT(none.reason, Catch::Contains("no experts"));
    CHECK_THROWS_WITH(parse_parallelism("tp=4,ep=6"), Catch::Contains("no multiple"));
    CHECK(to_string(parse_parallelism("tp=2,ep=8")) == "tp=2,ep=8");
}

TEST_CASE("more devices than a node joins wait for its network", "[serving]") {
    const auto tokens = [](std::int64_t devices) {
        ServingRequest request = load_of(0.1, 50);
        request.load.prompt_tokens = 16000; // the chips are slower than the host that launches their kernels
        request.parallelism = Parallelism{.tensor = devices};
        request.find_capacity = false;
        const ServingResult r = serve(request, "H100", "llama-3.1-70b"); // which reads as much
        INFO(r.reason);
        REQUIRE(r.ok);
        return r.summary.time_to_first_s.p50;
    };
    CHECK(tokens(8) < tokens(4));
    CHECK(tokens(16) > tokens(8)); // 50 GB/s between nodes
}

TEST_CASE("the highest rate within limits meets them, and a stricter limit never allows more", "[serving]") {
    const Session& session = test::shipped_session();
    const Model model = session.load("llama-3-8b");
    double before = 0;
    for (const double limit : {0.015, 0.03, 0.3}) {
        const ServiceLevel level{.time_to_first_s = 2, .time_per_token_s = limit};
        const ServingResult r = highest_rate(session, model, "H100", in_fp8(), load_of(0, 300), level);
        INFO(limit << ": " << r.reason);
        REQUIRE(r.ok);
        CHECK(level.met_by(r.summary));
        CHECK(r.rate_per_s <= r.capacity_per_s);
        CHECK(r.rate_per_s >= 0.97 * before);
        before = r.rate_per_s;
    }
    const ServingResult never =
        highest_rate(session, model, "H100", in_fp8(), load_of(0, 100), {.time_per_token_s = 1e-6});
    CHECK_FALSE(never.ok);
    CHECK_THAT(never.reason, Catch::Contains("no rate meets the limits"));
}

TEST_CASE("lengths of requests from a file", "[serving]") {
    const auto file = std::filesystem::temp_directory_path() / "archsim_lengths.csv";
    std::ofstream(file) << "prompt_tokens,output_tokens\n100,10\n300,30\n";
    const auto lengths = read_request_lengths(file.string());
    REQUIRE(lengths.size() == 2);
    CHECK(lengths[1] == std::pair<std::int64_t, std::int64_t>(300, 30));
    std::ofstream(file) << "prompt_tokens,output_tokens\n100,ten\n";
    CHECK_THROWS_WITH(read_request_lengths(file.string()),
                      Catch::Contains("line 2") && Catch::Contains("ten"));
    std::ofstream(file) << "prompt,output\n1,1\n";
    CHECK_THROWS_WITH(read_request_lengths(file.string()), Catch::Contains("prompt_tokens"));
    std::filesystem::remove(file);
    CHECK_THROWS_AS(read_request_lengths(file.string()), InputError);
}

TEST_CASE("prompts that no captured graph holds wait for the host, one graph longer than pieces",
          "[serving]") {
    const Session& session = test::shipped_session();
    const Model model = session.load("llama-3.2-1b");
    const auto first_token = [&](std::int64_t prompt, const char* stack) {
        Conditions conditions = in_fp8();
        conditions.stack = stack;
        const Result r = session.estimate({.model = model, .prompt = Prompt{.tokens = prompt, .generate = 1}},
                                          "B200", conditions);
        REQUIRE(r.ok());
        return std::pair(r.generation->time_to_first_token_s,
                         static_cast<double>(r.work->subgraphs.size()) *
                             r.machine->param(Parameter::uncaptured_launch, 0));
    };
    // 16 layers of a small model on a fast chip: the device would be done before the host.
    const auto [captured, host] = first_token(512, "vllm");
    REQUIRE(host > 0);
    CHECK(captured < host);
    CHECK(first_token(513, "vllm").first > 0.999 * host);
    CHECK(first_token(513, "vllm").first == Approx(first_token(600, "vllm").first));
    const auto [long_prompt, same_host] = first_token(32768, "vllm");
    CHECK(long_prompt > same_host);                   // the device decides
    CHECK(first_token(513, "llama.cpp").second == 0); // a stack that nothing is known of
    CHECK(first_token(513, "llama.cpp").first < host);

    ServingRequest request = load_of(0, 64);
    request.plan.concurrency = 4;
    request.plan.request_s = request.plan.prompt_token_s = request.plan.answer_token_s = 0; // steps alone
    request.find_capacity = false;
    Conditions conditions = in_fp8();
    conditions.stack = "vllm";
    const ServingResult pieces = run_serving(session, model, "B200", conditions, request);
    request.plan.engine.whole_graph = true;
    const ServingResult whole = run_serving(session, model, "B200", conditions, request);
    REQUIRE(pieces.ok);
    CHECK(pieces.summary.time_to_first_s.mean > 0.999 * host);
    CHECK(whole.summary.time_to_first_s.mean > 0.999 * 2 * host);
    CHECK(whole.summary.time_to_first_s.mean > pieces.summary.time_to_first_s.mean);
    // Small prompts run from captured pieces, and from no whole graph.
    request.load.prompt_tokens = 100;
    CHECK(run_serving(session, model, "B200", conditions, request).summary.time_to_first_s.mean >
          0.999 * 2 * host);
    request.plan.engine.whole_graph = false;
    CHECK(run_serving(session, model, "B200", conditions, request).summary.time_to_first_s.mean < host);
    // So do larger ones where the server captures larger steps.
    request.load.prompt_tokens = 600;
    const double launched =
        run_serving(session, model, "B200", conditions, request).summary.time_to_first_s.mean;
    request.plan.engine.captured_tokens = 8192;
    const double captured_more =
        run_serving(session, model, "B200", conditions, request).summary.time_to_first_s.mean;
    CHECK(launched > 0.999 * host);
    CHECK(captured_more < host);
}

TEST_CASE("a float narrower than the checkpoint holds means weights that were quantised anew", "[serving]") {
    const Session& session = test::shipped_session();
    const Model model = session.load("qwen3-32b-fp8");
    const auto served = [&](Precision format) {
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(format);
        ServingRequest request = load_of(0);
        request.plan.concurrency = 4;
        request.parallelism = Parallelism{.tensor = 2};
        return Server(session, model, "B200", conditions, request);
    };
    const Server stored = served(Precision::fp8), wide = served(Precision::bf16),
                 anew = served(Precision::fp4);
    CHECK(wide.prices().weight_bytes() == stored.prices().weight_bytes());
    CHECK(stored.basis().precision == "fp8");
    CHECK(wide.basis().precision == "w8a16");
    // What the checkpoint leaves in 16 bits, tables and the output projection, stays so.
    CHECK(anew.prices().weight_bytes() < 0.65 * stored.prices().weight_bytes());
    CHECK(anew.prices().weight_bytes() > 0.5 * stored.prices().weight_bytes());
    CHECK(anew.basis().precision == "fp4");
    CHECK(anew.prices().typical_step(4).latency_s < stored.prices().typical_step(4).latency_s);
}

TEST_CASE("steps that are priced ahead cost what each costs for itself, to the bit", "[serving]") {
    const Session& session = test::shipped_session();
    const Model model = session.load("llama-3-8b");
    for (const Parallelism way : {Parallelism{}, Parallelism{.tensor = 2}, Parallelism{.pipeline = 2}})
        for (const double rate : {1.0, 20.0}) {
            ServingRequest request = load_of(rate);
            request.load.shape = rate > 1 ? LengthShape::exponential : LengthShape::constant;
            request.parallelism = way;
            Server server(session, model, "H100", in_fp8(), request);
            REQUIRE(server.ready());
            OneByOne one_by_one(server.prices());
            const ServingOutcome ahead = simulate_serving(server.plan(), server.prices(),
                                                          make_requests(request.load)),
                                 each =
                                     simulate_serving(server.plan(), one_by_one, make_requests(request.load));
            CHECK(ahead.steps == each.steps);
            CHECK(ahead.joules == each.joules);
            CHECK(ahead.busy_s == each.busy_s);
            CHECK(ahead.cache_wasted == each.cache_wasted);
            for (std::size_t i = 0; i < each.requests.size(); ++i)
                if (ahead.requests[i].end_s != each.requests[i].end_s)
                    FAIL_CHECK("request " << i);
        }
}

TEST_CASE("what a server notes of its conditions does not depend on how its engines were set", "[serving]") {
    ServingRequest request = load_of(2);
    request.parallelism = Parallelism{};
    Server server(test::shipped_session(), test::shipped_session().load("tinyllama-1.1b"), "TPU-v5e",
                  Conditions{}, request);
    REQUIRE(server.ready());
    const std::vector<std::string> notes = server.basis().notes;
    REQUIRE_FALSE(notes.empty()); // the stack compiles fixed shapes
    for (const std::int64_t engines : {2, 3})
        server.use_engines(engines);
    CHECK(server.basis().notes == notes);
}

TEST_CASE("format and stack of what is served stand in the first line, the table and the CSV", "[serving]") {
    const Session& session = test::shipped_session();
    for (const char* stack : {"trt-llm", "vllm", "sglang"}) {
        Conditions conditions = in_fp8();
        conditions.stack = stack;
        const ServingResult result =
            run_serving(session, session.load("llama-3-8b"), "H100", conditions, load_of(1, 20));
        REQUIRE(result.ok);
        const std::span<const ServingResult> one(&result, 1);
        const std::string text = render(describe_serving(one, {}), Format::text, {.width = 100});
        CHECK_THAT(text, Catch::Contains("H100, 1 device, fp8, " + result.runtime + ":"));
        const std::size_t table = text.find("Hardware  Parallel");
        REQUIRE(table != std::string::npos);
        const std::string head = text.substr(table, text.find('\n', table) - table);
        CHECK_THAT(head, Catch::Contains("Format") && Catch::Contains("Stack"));
        const std::string csv = render(tabulate_serving(one), Format::csv, {});
        CHECK_THAT(csv.substr(0, csv.find('\n')), Catch::Contains("precision") && Catch::Contains("runtime"));
    }
}

TEST_CASE("a stack that nobody knows is no fault of a device", "[serving]") {
    const Session& session = test::shipped_session();
    Conditions conditions;
    conditions.stack = "tgi";
    CHECK_THROWS_AS(run_serving(session, session.load("llama-3-8b"), "H100", conditions, load_of(1)), Error);
    // Why nothing is served is in the first line.
    ServingRequest longer = load_of(1);
    longer.load.prompt_tokens = 1e6;
    const ServingResult none = serve(longer);
    REQUIRE_FALSE(none.ok);
    CHECK_THAT(render(describe_serving({&none, 1}, {}), Format::text, {.width = 1000}),
               Catch::Contains("None of these devices serves it: " + none.reason));
}
