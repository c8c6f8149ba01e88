// Sweeps over what is no single graph: models of several parts, and language models that answer a prompt.

#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_file.hpp"
#include "result/generation_metrics.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace archsim;

namespace {

std::vector<SweepRow> rows_of(const Sweep& sweep, unsigned threads) {
    std::vector<SweepRow> rows;
    sweep.run(sweep.first(), threads, [&](std::span<const SweepRow> some) {
        rows.insert(rows.end(), some.begin(), some.end());
        return true;
    });
    return rows;
}

SweepRequest answers() {
    SweepRequest q;
    q.models = {"gpt2"};
    q.hardware = {"H100", "Jetson-AGX-Orin"};
    q.precisions = {"fp16"};
    q.axes = {parse_sweep_axis("bandwidth=1x,2x"), parse_sweep_axis("units=1x,2x")};
    q.prompt = Prompt{.tokens = 64, .generate = 16};
    return q;
}

} // namespace

TEST_CASE("a point that answers a prompt is the estimate with the device's changes", "[sweep][generation]") {
    const Session& session = test::shipped_session();
    const Sweep sweep(session, answers());
    REQUIRE(sweep.request().view.metrics->find(metric::token_rate.key) != nullptr);
    CHECK(sweep.usual_order() == metric::token_rate);
    const std::vector<SweepRow> rows = rows_of(sweep, 2);
    REQUIRE(rows.size() == 8);
    Workload workload{session.load("gpt2"), 1, {}, answers().prompt};
    for (const SweepRow& row : rows) {
        INFO(row.hardware << " x" << row.factors[0] << " x" << row.factors[1]);
        REQUIRE(row.status == Status::ok);
        CHECK(row.model == "gpt2");
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(Precision::fp16);
        conditions.changes[Lever::bandwidth] = row.factors[0];
        conditions.structure[Structure::units] = row.factors[1];
        const Result own = session.estimate(workload, row.hardware, conditions);
        REQUIRE(own.generation);
        CHECK(row.value(metric::token_time) == own.generation->time_per_output_token_s);
        CHECK(row.value(metric::first_token) == own.generation->time_to_first_token_s);
        CHECK(row.value(metric::token_energy) == own.generation->energy_per_token_j);
        CHECK(row.value(metric::latency) > row.value(metric::first_token)); // of a whole answer
    }
    // Steps read the weights: twice the bandwidth is a gain, a clear one where kernels start in no time.
    CHECK(*rows[2].value(metric::token_time) < *rows[0].value(metric::token_time));
    CHECK(*rows[6].value(metric::token_time) < 0.9 * *rows[4].value(metric::token_time));
}

TEST_CASE("formats of storage apart from the arithmetic hold for every point", "[sweep][generation]") {
    SweepRequest q = answers();
    q.axes = {};
    q.hardware = {"H100"};
    const auto step = [&] {
        return *rows_of(Sweep(test::shipped_session(), q), 1)[0].value(metric::token_time);
    };
    const double plain = step();
    q.weights = Precision::int4;
    CHECK(step() < plain);
    q.weights = std::nullopt;
    q.prompt->context = 32768; // set aside before the prompt runs
    const Sweep reserved(test::shipped_session(), q);
    const auto memory = *rows_of(reserved, 1)[0].value(metric::memory);
    q.prompt->context = 0;
    CHECK(memory > *rows_of(Sweep(test::shipped_session(), q), 1)[0].value(metric::memory));
}

TEST_CASE("a model of several parts is swept as one", "[sweep][parts]") {
    SweepRequest q;
    q.models = {"resnet18", "clip-vit-b32", "mobilenet_v2"};
    q.hardware = {"H100"};
    q.precisions = {"fp16"};
    q.batches = {1, 4};
    q.axes = {parse_sweep_axis("bandwidth=1x,0.5x")};
    const Session& session = test::shipped_session();
    const std::vector<SweepRow> rows = rows_of(Sweep(session, q), 1);
    REQUIRE(rows.size() == 12);
    for (const SweepRow& row : rows) {
        INFO(row.model << " batch " << row.batch << " x" << row.factors[0]);
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(Precision::fp16);
        conditions.changes[Lever::bandwidth] = row.factors[0];
        const Result own = session.estimate({session.load(row.model), row.batch, {}, {}}, "H100", conditions);
        CHECK(*row.value(metric::latency) == Approx(own.estimate.latency_s).epsilon(1e-9));
    }
}

TEST_CASE("what answers no prompt is refused before anything runs", "[sweep][generation]") {
    SweepRequest q = answers();
    q.models = {"resnet18"};
    CHECK_THROWS_AS(Sweep(test::shipped_session(), q), UsageError);
    q = answers();
    q.prompt = std::nullopt;
    q.single_pass = true;
    q.conditions.devices = 0;
    CHECK_THROWS_AS(Sweep(test::shipped_session(), q), UsageError);
}

TEST_CASE("a sweep asks what is usual of its models", "[sweep][generation]") {
    SweepRequest q{.models = {"llama-3.2-1b"}, .hardware = {"H100"}};
    CHECK(Sweep(test::shipped_session(), q).request().prompt == Prompt{});
    CHECK(Sweep(test::shipped_session(), q).request().precisions == std::vector<std::string>{"bf16"});
    q.models = {"qwen3-32b-nvfp4"}; // in the format of its checkpoint
    CHECK(Sweep(test::shipped_session(), q).request().precisions != std::vector<std::string>{"bf16"});
    q.single_pass = true;
    CHECK_FALSE(Sweep(test::shipped_session(), q).request().prompt);
    q.models = {"resnet18", "llama-3.2-1b"}; // no prompt to one of them
    CHECK_FALSE(Sweep(test::shipped_session(), q).request().prompt);
    q = {.models = {"resnet18"}, .hardware = {"H100"}};
    CHECK(Sweep(test::shipped_session(), q).request().precisions == std::vector<std::string>{"usual"});
}

TEST_CASE("rows of another prompt, size or format are not continued", "[sweep][generation]") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / ("archsim_sweep_answers_" + std::to_string(getpid()));
    fs::create_directories(folder);
    const fs::path file = folder / "points.csv";
    SweepRequest q = answers();
    q.axes = {};
    write_sweep(Sweep(test::shipped_session(), q), file, {});
    CHECK(write_sweep(Sweep(test::shipped_session(), q), file, {.resume = true}) == 0);
    const auto refused = [&](const SweepRequest& other) {
        CHECK_THROWS_AS(write_sweep(Sweep(test::shipped_session(), other), file, {.resume = true}),
                        InputError);
    };
    SweepRequest other = q;
    other.prompt->generate = 17;
    refused(other);
    other = q;
    other.weights = Precision::int4;
    refused(other);
    other = q;
    other.conditions.kv_cache = Precision::fp8;
    refused(other);
    other = q;
    other.sizes.input_values["input_ids"] = {1};
    refused(other);
    fs::remove_all(folder);
}
