// Measurements of language models that somebody made: estimates of the same device and stack follow them.

#include "answers/local/local_models.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "estimate/intervals.hpp"
#include "hardware/uncertainty.hpp"
#include "measurements/given_output.hpp"
#include "session/generation/phases.hpp"
#include "session/given.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

using namespace archsim;

namespace {

const std::string kServed = "llama-3.2-1b";

/// A session of its own, whose measurements are nobody else's.
Session opened() {
    SessionOptions shipped;
    shipped.data = ARCHSIM_SOURCE_DIR;
    return Session(shipped);
}

ServingResult serve(const Session& session, const char* device = "L40S") {
    ServingRequest request;
    request.load.prompt_tokens = 512;
    request.load.output_tokens = 128;
    request.load.count = 100;
    request.plan.concurrency = 8;
    request.find_capacity = false;
    Conditions conditions;
    conditions.stack = "vllm";
    return run_serving(session, session.load(kServed), device, conditions, request);
}

double width_of(const ServingResult& run) {
    return run.bounds.time_per_token_s.high.p99 / run.bounds.time_per_token_s.low.p99;
}

MeasuredRow in_words(const Session& session, const std::string& text) {
    return parse_given(text, session, "L40S", "--measured");
}

/// A client's JSON of a server on which every wait is `factor` times the estimated one.
std::string client_json(const ServingResult& run, double factor, const std::string& model) {
    return fmt::format(R"({{"backend": "vllm", "model_id": "{}", "completed": 100, "duration": 10,
"total_input_tokens": 51200, "total_output_tokens": 12800, "max_concurrency": 8,
"mean_ttft_ms": {}, "mean_tpot_ms": {}}})",
                       model, 1e3 * factor * run.summary.time_to_first_s.mean,
                       1e3 * factor * run.summary.time_per_token_s.mean);
}

} // namespace

TEST_CASE("words say what was timed of a language model", "[serving]") {
    const Session& session = test::shipped_session();
    const MeasuredRow decode = in_words(session, "qwen3-8b int4 in2000 out300 b4 decode = 120/s");
    CHECK(decode.phase == "decode");
    CHECK(decode.prompt_tokens == "2000");
    CHECK(decode.generated_tokens == "300");
    CHECK(decode.batch == 4);
    const MeasuredRow wait = in_words(session, "qwen3-8b c32 tp=2 ttft under vllm = 140ms");
    CHECK(wait.phase == "served_first_token");
    CHECK(wait.batch == 32);
    CHECK(wait.devices == 2);
    CHECK(wait.prompt_tokens == "512");
    CHECK(in_words(session, "resnet50 = 1ms").precision == "fp32");
    for (const char* wrong : {"qwen3-8b ttft = 120/s", "qwen3-8b in2000 = 3ms", "qwen3-8b c0 ttft = 3ms",
                              "qwen3-8b inside ttft = 3ms", "qwen3-8b tp=x decode = 3ms"})
        CHECK_THROWS_AS(in_words(session, wrong), UsageError);
}

TEST_CASE("words about a GGUF file mean the row that llama-bench writes of it", "[local]") {
    Session session = opened();
    LocalRequest request;
    request.device = "RTX-3060";
    request.context = 640;
    request.models = {"llama3.1:8b"};
    const auto rate = [&] { return local_models(session, request).models.front().output; };
    const LocalRate before = rate();
    const auto following = [&](const MeasuredRow& row) {
        CHECK(row.runtime == "llama.cpp");
        CHECK(row.generated_tokens == "128");
        CHECK(row.prompt_tokens == "1"); // tg128 begins with an empty cache
        session.given({row});
        return rate();
    };
    const auto words = [&](const char* text, const char* stack) {
        return following(parse_given(text, session, "RTX-3060", "--measured", stack));
    };
    const LocalRate told = words("llama3.1:8b q4_K_M decode = 65/s", "");
    CHECK(told.per_s > before.per_s);
    CHECK(told.high / told.low < before.high / before.low);
    CHECK(words("llama3.1:8b decode = 65/s", "").per_s == Approx(told.per_s));
    CHECK(words("llama-3.1-8b int4 decode = 65/s", "llama.cpp").per_s == Approx(told.per_s));
}

TEST_CASE("columns decide how a client's row is followed, its note does not", "[serving]") {
    const auto first_token = [](const std::string& note, bool at_rate) {
        Session session = opened();
        MeasuredRow row = in_words(session, fmt::format("{} c8 ttft under vllm = 100ms", kServed));
        row.client = "vllm bench serve";
        row.note = note;
        row.at_rate = at_rate;
        session.given({row});
        return serve(session).summary.time_to_first_s.mean;
    };
    CHECK(first_token("", false) == first_token("on the machine under the desk", false));
    CHECK(first_token("", false) != first_token("", true)); // the burst at the start is in the estimate, too
    Session session = opened();
    MeasuredRow row = in_words(session, fmt::format("{} c8 ttft under vllm = 100ms", kServed));
    row.prompt_tokens = "many";
    CHECK_THROWS_WITH(session.given({row}), Catch::Contains("prompt_tokens \"many\" is not a whole number"));
}

TEST_CASE("a server that was measured is answered as it was measured, and more surely", "[serving]") {
    Session session = opened();
    const ServingResult before = serve(session);
    REQUIRE(before.ok);
    CHECK(std::none_of(before.notes.begin(), before.notes.end(),
                       [](const std::string& note) { return note.starts_with("given your"); }));
    const auto given = [&](double token_factor, double first_factor) {
        std::vector<MeasuredRow> rows;
        for (const auto& [what, ms] : {std::pair{"tpot", token_factor * before.summary.time_per_token_s.mean},
                                       std::pair{"ttft", first_factor * before.summary.time_to_first_s.mean}})
            rows.push_back(
                in_words(session, fmt::format("{} c8 {} under vllm = {}ms", kServed, what, 1e3 * ms)));
        session.given(rows);
        return serve(session);
    };
    const ServingResult same = given(1, 1);
    CHECK(same.summary.time_per_token_s.mean == Approx(before.summary.time_per_token_s.mean).epsilon(0.02));
    CHECK(width_of(same) < 0.95 * width_of(before));
    REQUIRE(std::any_of(same.notes.begin(), same.notes.end(), [](const std::string& note) {
        return note.starts_with("given your 2 measurements");
    }));
    // Slower than estimated: the answer moves there, most of the way, and never beyond.
    const ServingResult slower = given(1.4, 2);
    const double token = slower.summary.time_per_token_s.mean / before.summary.time_per_token_s.mean,
                 first = slower.summary.time_to_first_s.mean / before.summary.time_to_first_s.mean;
    CHECK(token > 1.15);
    CHECK(token < 1.4);
    CHECK(first > 1.3);
    CHECK(first < 2);
    CHECK(slower.bounds.time_to_first_s.low.p99 <= slower.summary.time_to_first_s.p99);
    CHECK(slower.bounds.time_to_first_s.high.p99 >= slower.summary.time_to_first_s.p99);
    // Another device of another stack does not follow.
    const ServingResult other = serve(session, "MI300X");
    session.given({});
    CHECK(serve(session).summary.time_per_token_s.mean == before.summary.time_per_token_s.mean);
    REQUIRE(other.ok == serve(session, "MI300X").ok);
}

TEST_CASE("what was measured moves a pass once, as the kind of time that it is", "[serving]") {
    Session session = opened();
    const GenerationModel model(session.load(kServed), Bindings{});
    const Conditions conditions;
    const Prompt prompt{.tokens = 512, .generate = 2};
    const auto decode = [&] {
        return estimate_phase(session, model, "L40S", conditions, GenerationPhase::decode, 1, prompt);
    };
    const PhaseEstimate before = decode();
    REQUIRE(before.status == Status::ok);
    // An inference, on the same device: what it says of the device moves tokens as it moves tokens, not
    // first as an inference and then again.
    session.given({in_words(session, "resnet50 fp16 = 5ms")});
    const PhaseEstimate after = decode();
    const Machine& m = *after.machine;
    const Posterior learnt =
        posterior(m.uncertainty->given(), UncertaintyTable::subject(SpreadOf::decode, *m.device, *m.runtime),
                  m.uncertainty->parts(SpreadOf::decode, *m.device, *m.runtime));
    const double moved = std::exp(learnt.mean_at(lane_shares(before.step)));
    CHECK(moved > 1.02);
    CHECK(after.latency_s / before.latency_s == Approx(moved).epsilon(1e-3));
}

TEST_CASE("every step follows a measured server by one factor, that of the note", "[serving]") {
    Session session = opened();
    const auto per_token = [&](std::int64_t in_flight) {
        ServingRequest request;
        request.load.prompt_tokens = 512;
        request.load.output_tokens = 64;
        request.load.count = 50;
        request.plan.concurrency = in_flight;
        request.plan.request_s = 0;
        request.plan.prompt_token_s = request.plan.answer_token_s = 0;
        request.find_capacity = false;
        Conditions conditions;
        conditions.stack = "vllm";
        return run_serving(session, session.load(kServed), "L40S", conditions, request);
    };
    const ServingResult one = per_token(1), many = per_token(16);
    session.given({in_words(session, kServed + " c8 tpot under vllm = 9ms")});
    const ServingResult one_given = per_token(1), many_given = per_token(16);
    const auto factor = [](const ServingResult& given, const ServingResult& before) {
        return given.summary.time_per_token_s.mean / before.summary.time_per_token_s.mean;
    };
    CHECK(factor(one_given, one) != Approx(1).margin(0.01));
    CHECK(factor(many_given, many) == Approx(factor(one_given, one)).epsilon(1e-6));
    const std::string said = fmt::format("{:.3g} x the estimated time per token", factor(one_given, one));
    CHECK(std::any_of(one_given.notes.begin(), one_given.notes.end(),
                      [&](const std::string& note) { return note.find(said) != std::string::npos; }));
}

TEST_CASE("what a client wrote is a measurement of the model, the device and the layout asked for",
          "[serving]") {
    Session session = opened();
    const ServingResult before = serve(session);
    const auto file = std::filesystem::temp_directory_path() / "archsim_client.json";
    MeasuredContext context;
    context.hardware = "L40S";
    context.model = kServed;
    for (const std::string& name : {kServed, std::string("/data/some/folder")}) {
        std::ofstream(file) << client_json(before, 1.3, name);
        const std::vector<std::string> texts = {file.string(), "llama-3.2-1b decode under vllm = 200/s"};
        const auto rows = read_measured(texts, session, context, "--from");
        REQUIRE(rows.size() == 3);
        CHECK(rows[0].model == kServed);
        CHECK(rows[0].hardware == "L40S");
        CHECK(rows[0].batch == 8);
        CHECK(rows[2].phase == "decode");
        session.given({rows[0], rows[1]});
        const ServingResult after = serve(session);
        CHECK(after.summary.time_per_token_s.mean > 1.1 * before.summary.time_per_token_s.mean);
        session.given({});
    }
    // One of several devices stands before the file.
    MeasuredContext several;
    several.model = kServed;
    for (const std::string& device : {std::string("L40S"), std::string("H100")}) {
        const std::vector<std::string> named = {device + "=" + file.string()};
        CHECK(read_outputs(named, session, several).front().hardware == device);
    }
    CHECK_THROWS_AS(read_outputs(std::vector{"no such chip=" + file.string()}, session, several), InputError);
    // What the output says is what ran.
    context.model = "qwen3-8b";
    std::ofstream(file) << client_json(before, 1, kServed);
    CHECK(read_measured(std::vector{file.string()}, session, context, "--from").front().model == kServed);
    context.hardware.clear();
    CHECK_THROWS_WITH(read_measured(std::vector{file.string()}, session, context, "--from"),
                      Catch::Contains("which device"));
    context.hardware = "L40S";
    for (const char* text : {"", "# nothing\n", "{\"a\": 1}", "not json"}) {
        std::ofstream(file) << text;
        const std::vector<std::string> files = {file.string()};
        CHECK_THROWS_WITH(read_outputs(files, session, context), Catch::Contains(file.string()));
        CHECK_THROWS_WITH(read_measured(files, session, context, "--measured"),
                          Catch::Contains(file.string()));
    }
    CHECK_THROWS_AS(read_outputs(std::vector<std::string>{"no such file"}, session, context), InputError);
    CHECK_THROWS_WITH(read_measured(std::vector<std::string>{"none.csv"}, session, context, "--measured"),
                      Catch::Contains("no such file"));
    std::filesystem::remove(file);
}
