#include "fit/rows/measurements.hpp"
#include "fit/rows/validate.hpp"
#include "support/places.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <vector>

using namespace archsim;
using namespace archsim::test;

namespace {

MeasuredRow row_in_scope(const std::string& scope, MeasuredMetric metric) {
    MeasuredRow result;
    result.id = "row";
    result.model = "resnet50";
    result.image_size = 224;
    result.batch = 1;
    result.precision = "fp16";
    result.hardware = "A100";
    result.runtime = "tensorrt";
    result.scope = scope;
    result.metric = metric;
    result.value = 1;
    return result;
}

} // namespace

TEST_CASE("a row is estimated in its own unit", "[run][validate]") {
    const RowEstimator estimator(test::shipped_session());
    const Prediction latency = estimator(row_in_scope("kernel", MeasuredMetric::latency_ms));
    INFO(latency.reason);
    REQUIRE(latency.ok());
    CHECK(latency.family == "gpu");
    CHECK(latency.predicted > 0.1); // milliseconds
    CHECK(latency.predicted < 10);
    CHECK(latency.low <= latency.predicted);
    CHECK(latency.high >= latency.predicted);
    CHECK(estimator(row_in_scope("end_to_end", MeasuredMetric::latency_ms)).predicted >= latency.predicted);

    MeasuredRow offline = row_in_scope("offline", MeasuredMetric::throughput_per_s);
    const double one = estimator(offline).predicted;
    offline.batch.reset();
    CHECK(estimator(offline).predicted >= one); // the best of several batches, of which 1 is one
    offline.devices = 2;
    offline.batch = 1;
    CHECK(estimator(offline).predicted == Approx(2 * one));

    MeasuredRow power = row_in_scope("kernel", MeasuredMetric::power_w);
    const double watts = estimator(power).predicted;
    const double millijoules = estimator(row_in_scope("kernel", MeasuredMetric::energy_mj)).predicted;
    CHECK(watts * latency.predicted == Approx(millijoules));
    power.boundary = PowerBoundary::wall;
    CHECK(estimator(power).predicted > watts); // at the wall
}

TEST_CASE("a row says how long the cache of a stack with fixed shapes is", "[run][validate]") {
    const RowEstimator estimator(test::shipped_session());
    MeasuredRow served = row_in_scope("offline", MeasuredMetric::throughput_per_s);
    served.model = "llama-2-7b";
    served.image_size.reset();
    served.precision = "bf16";
    served.hardware = "TPU-v5e";
    served.devices = 8;
    served.runtime = "xla";
    served.batch = 96;
    served.phase = "generate";
    served.prompt_tokens = "215";
    served.generated_tokens = "198";
    const Prediction as_needed = estimator(served);
    INFO(as_needed.reason);
    REQUIRE(as_needed.ok());
    served.context = 2048;
    const double whole = estimator(served).predicted;
    CHECK(whole < 0.6 * as_needed.predicted);
    served.note = "context length 1024"; // for people alone
    CHECK(estimator(served).predicted == whole);
}

TEST_CASE("an offline row that includes the transfers counts them in every batch", "[run][validate]") {
    const RowEstimator estimator(test::shipped_session());
    MeasuredRow offline = row_in_scope("offline", MeasuredMetric::throughput_per_s);
    offline.batch = 64;
    const double overlapped = estimator(offline).predicted;
    offline.transfers = true;
    const double serial = estimator(offline).predicted;
    CHECK(serial < overlapped);
    MeasuredRow latency = row_in_scope("end_to_end", MeasuredMetric::latency_ms);
    latency.batch = 64;
    const double with_host = estimator(latency).predicted;
    latency.transfers = true;
    const double copied = estimator(latency).predicted;
    CHECK(serial == Approx(64 / (copied * 1e-3))); // one batch after another
    CHECK(copied < with_host);                     // the copies, and nothing else of the host's
    MeasuredRow kernel = row_in_scope("kernel", MeasuredMetric::latency_ms);
    const double before = estimator(kernel).predicted;
    kernel.transfers = true; // says nothing where the scope leaves the transfers out
    CHECK(estimator(kernel).predicted == Approx(before));
}

TEST_CASE("what cannot be estimated says why", "[run][validate]") {
    const RowEstimator estimator(test::shipped_session());
    MeasuredRow bad = row_in_scope("kernel", MeasuredMetric::latency_ms);
    SECTION("model") {
        bad.model = "resnet51";
        CHECK_THAT(estimator(bad).reason, Catch::Contains("resnet50"));
    }
    SECTION("device") {
        bad.hardware = "A1000";
        CHECK_THAT(estimator(bad).reason, Catch::Contains("A100"));
    }
    SECTION("power mode") {
        bad.power_mode = "Turbo";
        CHECK_THAT(estimator(bad).reason, Catch::Contains("power mode"));
    }
    SECTION("software stack") {
        bad.runtime = "openvino";
        CHECK_THAT(estimator(bad).reason, Catch::Contains("does not run on A100"));
    }
    SECTION("precision") {
        bad.precision = "fp17";
        CHECK_THAT(estimator(bad).reason, Catch::Contains("fp17"));
    }
    SECTION("variable length") {
        bad.model = "bert-large";
        bad.image_size.reset();
        bad.sequence = "variable";
        CHECK_THAT(estimator(bad).reason, Catch::Contains("variable length"));
    }
    SECTION("size that the file does not take") {
        bad.model = "swin_t";
        bad.image_size = 448;
        CHECK_THAT(estimator(bad).reason, Catch::Contains("448"));
    }
    CHECK_FALSE(estimator(bad).ok());
}

TEST_CASE("inputs of a data set run at their stated mean length", "[run][validate]") {
    const RowEstimator estimator(test::shipped_session());
    MeasuredRow text = row_in_scope("offline", MeasuredMetric::throughput_per_s);
    text.model = "bert-large";
    text.image_size.reset();
    text.batch = 32;
    text.sequence = "177";
    const Prediction stated = estimator(text);
    text.sequence = "variable:177";
    const Prediction mean = estimator(text);
    REQUIRE(mean.ok());
    CHECK(mean.predicted == stated.predicted);
    MeasuredRow chat = row_in_scope("offline", MeasuredMetric::throughput_per_s);
    chat.model = "llama-3-8b";
    chat.image_size.reset();
    chat.runtime = "trt-llm";
    chat.phase = "generate";
    chat.prompt_tokens = "variable:778";
    chat.generated_tokens = "variable:73";
    CHECK(estimator(chat).ok());
    chat.prompt_tokens.clear();
    CHECK_THAT(estimator(chat).reason, Catch::Contains("how long its prompts are"));
}

TEST_CASE("power and energy of a decoding language model agree with its rate", "[run][validate]") {
    const RowEstimator estimator(test::shipped_session());
    MeasuredRow decode = row_in_scope("kernel", MeasuredMetric::throughput_per_s);
    decode.model = "llama-3-8b";
    decode.image_size.reset();
    decode.runtime = "trt-llm";
    decode.phase = "decode";
    decode.prompt_tokens = decode.generated_tokens = "128";
    const double tokens_per_s = estimator(decode).predicted;
    decode.metric = MeasuredMetric::power_w;
    const Prediction watts = estimator(decode);
    decode.metric = MeasuredMetric::energy_mj;
    const Prediction millijoules = estimator(decode);
    REQUIRE(watts.ok());
    CHECK(millijoules.predicted == Approx(1e3 * watts.predicted / tokens_per_s));
    CHECK(watts.low < watts.predicted);
    CHECK(millijoules.high > millijoules.predicted);
}

TEST_CASE("answers of a stated batch are not those of a server that is full", "[run][validate]") {
    const RowEstimator estimator(test::shipped_session());
    MeasuredRow chat = row_in_scope("offline", MeasuredMetric::throughput_per_s);
    chat.model = "llama-3-8b";
    chat.image_size.reset();
    chat.runtime = "trt-llm";
    chat.phase = "generate";
    chat.prompt_tokens = chat.generated_tokens = "128";
    chat.batch.reset();
    const double full = estimator(chat).predicted;
    chat.batch = 4;
    const double four = estimator(chat).predicted;
    CHECK(full > 4 * four);
    chat.scope = "kernel"; // the same four sequences
    CHECK(estimator(chat).predicted == Approx(four).epsilon(0.01));
}

TEST_CASE("decoding one sequence is bound by memory, a long prompt by compute", "[run][validate]") {
    const RowEstimator estimator(test::shipped_session());
    MeasuredRow measured = row_in_scope("kernel", MeasuredMetric::throughput_per_s);
    measured.model = "llama-3-8b";
    measured.image_size.reset();
    measured.runtime = "trt-llm";
    measured.phase = "decode";
    measured.generated_tokens = "128";
    CHECK(estimator(measured).regime == "memory");
    measured.phase = "prefill";
    measured.prompt_tokens = "4096";
    CHECK(estimator(measured).regime == "compute");
}

TEST_CASE("rows of multi-part models choose the part by their input", "[run][validate]") {
    const RowEstimator estimator(test::shipped_session());
    MeasuredRow text = row_in_scope("kernel", MeasuredMetric::latency_ms);
    text.model = "clip-vit-b32";
    const Prediction image = estimator(text);
    text.image_size.reset();
    text.sequence = "20";
    const Prediction tokens = estimator(text);
    CHECK(image.ok());
    CHECK(tokens.ok());
    CHECK(image.predicted != tokens.predicted);
}

TEST_CASE("most shipped measurements can be estimated", "[run][validate][measurements]") {
    const RowEstimator estimator(test::shipped_session());
    const auto table = read_measurements(kSource / "tests" / "measured" / "calibration.csv");
    const Validation validation = validate(
        table.rows, [&](const MeasuredRow& r) { return estimator(r); }, 2);
    for (const ValidatedRow& r : validation.rows) {
        INFO(r.measured.id << ": " << r.prediction.reason);
        CHECK(r.prediction.ok());
    }
    CHECK(validation.trusted.all.models.tau > 0.8);
}

namespace {

MeasuredRow served_row(MeasuredMetric metric) {
    MeasuredRow result = row_in_scope("offline", metric);
    result.model = "llama-3-8b";
    result.image_size.reset();
    result.batch = 8;
    result.precision = "bf16";
    result.hardware = "H100";
    result.runtime = "vllm";
    result.phase = "saturated";
    result.prompt_tokens = "variable:120";
    result.generated_tokens = "389";
    return result;
}

} // namespace

TEST_CASE("a served language model: power of one chip, energy per token of all", "[run][validate][power]") {
    const RowEstimator estimator(test::shipped_session());
    const double watts = estimator(served_row(MeasuredMetric::power_w)).predicted;
    const double rate = estimator(served_row(MeasuredMetric::throughput_per_s)).predicted;
    CHECK(watts > 112); // of an H100 that does nothing
    CHECK(watts < 700);
    CHECK(estimator(served_row(MeasuredMetric::energy_mj)).predicted == Approx(watts / rate * 1e3));

    MeasuredRow more = served_row(MeasuredMetric::throughput_per_s);
    more.batch = 16; // sequences that run at once
    const double doubled = estimator(more).predicted;
    CHECK(doubled > 1.5 * rate);
    CHECK(doubled < 2 * rate);
    more.batch.reset(); // as many as the memory holds
    CHECK(estimator(more).predicted > doubled);

    MeasuredRow pair = served_row(MeasuredMetric::power_w);
    pair.devices = 2; // one model over two devices: each works less
    CHECK(estimator(pair).predicted < watts);
    pair.replicas = 2; // two copies of it
    CHECK(estimator(pair).predicted == Approx(watts));
    pair.boundary = PowerBoundary::wall; // of the whole system
    CHECK(estimator(pair).predicted > 2 * watts);
}

TEST_CASE("the parts of a row of power add up to it", "[run][validate][power]") {
    const RowEstimator estimator(test::shipped_session());
    for (const PowerBoundary boundary : {PowerBoundary::rail, PowerBoundary::wall})
        for (MeasuredRow each :
             {row_in_scope("offline", MeasuredMetric::power_w), served_row(MeasuredMetric::power_w)}) {
            each.boundary = boundary;
            each.devices = 2;
            each.replicas = 2;
            const auto parts = estimator.power_parts(each);
            REQUIRE(parts);
            CHECK(parts->total() == Approx(estimator(each).predicted));
            CHECK((parts->outside_w > 0) == (boundary == PowerBoundary::wall));
            each.metric = MeasuredMetric::throughput_per_s;
            CHECK_FALSE(estimator.power_parts(each));
        }
}

TEST_CASE("both waits of a served measurement are those of its own run", "[run][validate][serving]") {
    MeasuredRow first = row_in_scope("end_to_end", MeasuredMetric::latency_ms);
    first.model = "tinyllama-1.1b";
    first.image_size.reset();
    first.hardware = "H100";
    first.runtime = "vllm";
    first.batch = 2;
    first.phase = "served_first_token";
    first.prompt_tokens = "64";
    first.generated_tokens = "16";
    // Every way in which the next row of a file may differ, and none.
    std::vector<MeasuredRow> rows(9, first);
    rows[1].phase = "served_per_token";
    rows[2].batch = 4;
    rows[3].prompt_tokens = "192";
    rows[4].generated_tokens = "32";
    rows[5].hardware = "A100";
    rows[6].runtime = "trt-llm";
    rows[7].devices = 2;
    rows[8].precision = "fp8";
    const RowEstimator one(shipped_session());
    std::set<double> different;
    for (const MeasuredRow& row : rows) {
        CAPTURE(row.phase, row.batch, row.prompt_tokens, row.generated_tokens, row.hardware, row.runtime,
                row.devices, row.precision);
        const Prediction after_others = one(row), alone = RowEstimator(shipped_session())(row);
        INFO(alone.reason);
        REQUIRE(alone.ok());
        CHECK(after_others.predicted == alone.predicted);
        CHECK(after_others.low == alone.low);
        CHECK(after_others.high == alone.high);
        CHECK(after_others.regime == alone.regime);
        if (row.generated_tokens == first.generated_tokens) // the first token does not wait for the last
            CHECK(different.insert(alone.predicted).second);
        // What stands in for the database is not answered from the database's run.
        MachineChanges slower;
        slower[Lever::bandwidth] = slower[Lever::peak] = 0.25;
        slower[Lever::fixed_cost] = 4;
        CHECK(one(row, nullptr, slower).predicted > 1.2 * alone.predicted);
        CHECK(one(row).predicted == alone.predicted);
    }
}
