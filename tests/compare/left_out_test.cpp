// Intervals from left-out errors: they cover what they say, few rows borrow from the class around them, and
// the table is read back as written.

#include "archsim/compare/left_out.hpp"
#include "archsim/hardware/uncertainty.hpp"
#include "archsim/report/validation_report.hpp"
#include "archsim/run/left_out_file.hpp"
#include "hardware/temporary_database.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace archsim;

namespace {

ValidatedRow row(const std::string& family, const std::string& runtime, const std::string& regime,
                 const std::string& evidence, double log_error) {
    ValidatedRow result;
    result.measured.id = family + runtime + regime + std::to_string(log_error);
    result.prediction.runtime = runtime;
    result.measured.value = 1;
    result.prediction.predicted = std::exp(log_error);
    result.prediction.low = result.prediction.high = result.prediction.predicted;
    result.prediction.family = family;
    result.prediction.regime = regime;
    result.prediction.evidence = evidence;
    return result;
}

/// Thirty devices of one family under two stacks, three rows of another family.
LeftOutValidation left_out(double scatter) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal(0, scatter);
    std::vector<ValidatedRow> rows;
    for (int device = 0; device < 30; ++device)
        for (int i = 0; i < 12; ++i) {
            const bool memory = i % 3 == 0;
            rows.push_back(row("gpu", device % 2 != 0 ? "one" : "two", memory ? "memory" : "compute", "stack",
                               normal(random) * (memory ? 2 : 1)));
            rows.back().measured.hardware = "device" + std::to_string(device);
            rows.back().measured.model = "network" + std::to_string(i);
        }
    for (int i = 0; i < 3; ++i) {
        rows.push_back(row("tpu", "xla", "compute", "stack", 0.01 * i));
        rows.back().measured.hardware = "lone";
    }
    return {summarize(rows), summarize(rows), summarize(rows), 0};
}

const ResidualClassFacts& find(const std::vector<ResidualClassFacts>& classes, const std::string& metric,
                               const std::string& family, const std::string& evidence,
                               const std::string& regime = {}, const std::string& runtime = {}) {
    const auto found = std::find_if(classes.begin(), classes.end(), [&](const ResidualClassFacts& c) {
        return c.metric == metric && c.family == family && c.evidence == evidence && c.regime == regime &&
               c.runtime == runtime;
    });
    REQUIRE(found != classes.end());
    return *found;
}

} // namespace

TEST_CASE("an interval class covers nine rows of ten", "[compare][left_out]") {
    const LeftOutValidation validation = left_out(0.1);
    const auto classes = residual_classes(validation);
    for (const char* regime : {"compute", "memory"}) {
        const ResidualClassFacts& c = find(classes, "latency", "gpu", "stack", regime);
        double inside = 0, n = 0;
        for (const ValidatedRow& r : validation.without_device.rows)
            if (r.prediction.family == "gpu" && r.prediction.regime == regime) {
                const double ratio = r.measured.value / r.prediction.predicted;
                inside += ratio >= c.low && ratio <= c.high ? 1 : 0;
                n += 1;
            }
        CHECK(inside / n > 0.85);
        CHECK(inside / n < 0.96);
    }
    // The regime that scatters twice as much has the wider interval.
    CHECK(find(classes, "latency", "gpu", "stack", "memory").high >
          1.1 * find(classes, "latency", "gpu", "stack", "compute").high);
    for (const ResidualClassFacts& c : classes) {
        CHECK(c.low <= 1);
        CHECK(c.high >= 1);
        CHECK_FALSE(c.basis.empty());
    }
}

TEST_CASE("a stack with devices of its own has its own width", "[compare][left_out]") {
    // Two stacks of fifteen devices each; the second is three times as precise.
    LeftOutValidation validation = left_out(0.1);
    for (ValidatedRow& r : validation.without_device.rows)
        if (r.prediction.runtime == "two")
            r.prediction.predicted = std::cbrt(r.prediction.predicted);
    const auto classes = residual_classes(validation);
    const auto width = [&](const std::string& stack) {
        const ResidualClassFacts& c = find(classes, "latency", "gpu", "stack", {}, stack);
        return std::log(c.high / c.low);
    };
    CHECK(width("two") < 0.7 * width("one"));
    CHECK(width("two") < width(""));
    // One device is no class of its own.
    CHECK(std::none_of(classes.begin(), classes.end(),
                       [](const ResidualClassFacts& c) { return c.runtime == "xla"; }));
}

TEST_CASE("a new network of a measured device is judged by left-out networks", "[compare][left_out]") {
    std::vector<ValidatedRow> shipped;
    std::vector<LeftOutRow> predictions;
    for (int device = 0; device < 6; ++device)
        for (int i = 0; i < (device == 5 ? 1 : 8); ++i) {
            ValidatedRow r = row("cpu", "one", "compute", "stack", 0);
            r.measured.id = std::to_string(device) + "-" + std::to_string(i);
            r.measured.hardware = "device" + std::to_string(device);
            r.measured.model = "network" + std::to_string(i);
            predictions.push_back({r.measured.id, 1, 1, 1, 1});
            shipped.push_back(std::move(r));
        }
    const LeftOutValidation validation = left_out_validation(summarize(shipped), predictions);
    for (const ValidatedRow& r : validation.without_model.rows) // the sixth has no other network
        CHECK(r.prediction.evidence == (r.measured.hardware == "device5" ? "stack" : "device"));
    for (const ValidatedRow& r : validation.without_device.rows)
        CHECK(r.prediction.evidence == "stack");
    for (const ValidatedRow& r : validation.without_family.rows)
        CHECK(r.prediction.evidence == "none");
    const MeasuredOn on = measured_on(summarize(shipped));
    CHECK(on.pairs.size() == 6);
    CHECK(on.pairs.front() == "device0 one");
}

TEST_CASE("a family of few rows borrows its width, and power widens it", "[compare][left_out]") {
    const auto classes = residual_classes(left_out(0.1));
    // Three rows that agree to 2 % do not make an interval of 2 %: one device among five around it.
    CHECK(find(classes, "latency", "tpu", "stack").high > 1.1);
    const ResidualClassFacts& time = find(classes, "latency", "gpu", "stack");
    const ResidualClassFacts& energy = find(classes, "energy", "gpu", "stack");
    CHECK(energy.high > 1.1 * time.high);
    CHECK(energy.low < time.low / 1.1);
    // Every metric has an answer for a family that nobody measured.
    for (const char* metric :
         {"latency", "throughput", "prefill", "decode", "energy", "power", "first_token", "later_token"})
        CHECK(find(classes, metric, "", "").high > 1);
}

TEST_CASE("a family that nobody measured has one width for all its times of a regime",
          "[compare][left_out]") {
    // Five families lie off by -0.2 to 0.2 as a whole and by 0.1 either way within; one is a decoder's.
    std::vector<ValidatedRow> rows;
    for (int family = 0; family < 5; ++family)
        for (int i = 0; i < 48; ++i) {
            rows.push_back(row("family" + std::to_string(family), "one", i % 2 == 0 ? "compute" : "overhead",
                               "none", 0.1 * (family - 2) + 0.1 * (i % 3 - 1)));
            rows.back().measured.hardware = std::to_string(family) + "-" + std::to_string(i % 8);
            rows.back().measured.phase = family == 4 ? "decode" : "";
        }
    const auto classes = residual_classes({summarize(rows), summarize(rows), summarize(rows), 0});
    const ResidualClassFacts& all = find(classes, "latency", "", "");
    for (const char* metric : {"throughput", "prefill", "decode", "first_token"}) {
        CHECK(find(classes, metric, "", "").low == all.low);
        CHECK(find(classes, metric, "", "").high == all.high);
    }
    // What families share, 1.4 times for five of them, and what their rows differ by.
    CHECK(all.high == Approx(std::exp(1.4 * 0.2 + 0.1)));
    CHECK(all.low == Approx(std::exp(-1.4 * 0.2 - 0.1)));
    CHECK(all.rows == 240);
    CHECK(find(classes, "decode", "family0", "none").high == Approx(all.high)); // no decoder there

    // Fixed costs are known less well than arithmetic: the same shifts, wider around them.
    for (ValidatedRow& r : rows)
        if (r.prediction.regime == "overhead")
            r.prediction.predicted *= r.measured.value > r.prediction.predicted ? 0.8 : 1.25;
    const auto apart = residual_classes({summarize(rows), summarize(rows), summarize(rows), 0});
    const auto of = [&](const std::string& regime) { return find(apart, "latency", "", "", regime); };
    CHECK(of("overhead").high > 1.05 * of("compute").high);
    CHECK(of("overhead").rows == 120);
    CHECK(of("").rows == 240);
    // No row of the regime: as all of them.
    CHECK(of("memory").high == of("").high);
}

TEST_CASE("what servers' clients wait for is as wide as such rows, not as kernels", "[compare][left_out]") {
    // Kernels of thirty devices scatter by 10 %, decoding by 5 %; clients of three devices waited 0.4 to 2.5
    // times what was estimated.
    LeftOutValidation validation = left_out(0.1);
    std::vector<ValidatedRow> rows = validation.without_device.rows;
    const auto language = [&](const std::string& phase, int device, double log_error) {
        rows.push_back(row("gpu", "one", "memory", "stack", log_error));
        rows.back().measured.phase = phase;
        rows.back().measured.id += phase + std::to_string(device);
        rows.back().measured.hardware = "device" + std::to_string(device);
        rows.back().measured.model = "network" + std::to_string(device);
    };
    for (int device = 0; device < 9; ++device)
        for (const double error : {-0.05, 0.0, 0.05}) {
            language("decode", device, error);
            if (device < 3)
                language("served_first_token", device, 18 * error);
        }
    validation = {summarize(rows), summarize(rows), summarize(rows), 0};
    const auto classes = residual_classes(validation);
    // Language models alone: kernels that scatter by 10 % do not widen tokens that scatter by 5 %.
    CHECK(find(classes, "decode", "gpu", "stack").high < std::exp(0.1));
    const ResidualClassFacts& first = find(classes, "first_token", "gpu", "stack");
    CHECK(first.high > 2.4);
    CHECK(first.low < 0.42);
    // A family whose servers nobody measured has the others' width.
    CHECK(find(classes, "first_token", "tpu", "stack").high > 2);
    CHECK(find(classes, "later_token", "gpu", "stack").high < std::exp(0.2));
}

TEST_CASE("power of a regime has its own width where enough networks were measured", "[compare][left_out]") {
    // Forty networks that decode are off by 5 % either way, ten that compute by 30 %. The five that the stack
    // counts for beside the forty hold a fifth of networks that compute: 2 % of the weight, less than a tail.
    std::vector<ValidatedRow> rows;
    for (int i = 0; i < 400; ++i) {
        const bool memory = i / 8 % 5 != 0;
        const double off = (memory ? 0.05 : 0.3) * (i % 2 == 0 ? 1 : -1);
        rows.push_back(row("gpu", "vllm", memory ? "memory" : "compute", "device", off));
        rows.back().measured.metric = MeasuredMetric::power_w;
        rows.back().measured.model = (memory ? "decoder" : "network") + std::to_string(i / 8);
        rows.back().measured.hardware = "device";
        rows.back().measured.id += std::to_string(i);
    }
    const auto classes = residual_classes({summarize(rows), summarize(rows), summarize(rows), 0});
    const ResidualClassFacts& memory = find(classes, "power", "gpu", "device", "memory", "vllm");
    const ResidualClassFacts& compute = find(classes, "power", "gpu", "device", "compute", "vllm");
    CHECK(memory.rows == 320);
    CHECK(memory.high < 1.2);
    CHECK(memory.high < compute.high);
    CHECK(memory.low > compute.low);
    // A family that nobody measured has the width of all.
    CHECK(std::none_of(classes.begin(), classes.end(), [](const ResidualClassFacts& c) {
        return c.metric == "power" && c.evidence == "none" && !c.regime.empty();
    }));
}

TEST_CASE("a rate that is predicted too low is a time that is predicted too long", "[compare][left_out]") {
    std::vector<ValidatedRow> rows;
    for (int i = 0; i < 60; ++i) {
        rows.push_back(row("dpu", "vitis-ai", "compute", "stack", -0.2)); // predicted too low
        rows.back().measured.metric = MeasuredMetric::throughput_per_s;
        rows.back().measured.scope = "offline";
        rows.back().measured.hardware = "board" + std::to_string(i % 12);
        rows.back().measured.id += std::to_string(i);
    }
    const auto classes = residual_classes({summarize(rows), summarize(rows), summarize(rows), 0});
    const ResidualClassFacts& time = find(classes, "throughput", "dpu", "stack");
    CHECK(time.low == Approx(std::exp(-0.2 * (1 + 2.0 / 17)))); // measured takes less time than predicted
    CHECK(time.high == Approx(1));
}

TEST_CASE("the written interval table is read back", "[compare][left_out]") {
    const auto classes = residual_classes(left_out(0.1));
    test::TemporaryDatabase folder;
    const std::string file =
        folder.write("uncertainty.json", uncertainty_json(classes, {{}, {"gpu two"}, {"known two"}}));
    const UncertaintyTable table{std::filesystem::path(file)};
    Device device;
    device.family = Family("gpu");
    Runtime runtime;
    runtime.id = "two";
    Fact fitted;
    fitted.value = 1;
    fitted.source = std::make_shared<const Source>(Source{SourceKind::fitted, "a fit"});
    runtime.parameters.push_back({Parameter::matrix_efficiency, fitted, {}});
    const Spread spread = table.spread(SpreadOf::latency, device, runtime, "compute");
    CHECK(spread.high ==
          Approx(find(classes, "latency", "gpu", "stack", "compute", "two").high).margin(0.011));
    // Nothing fitted prices memory: that part of the time rests on nothing that was measured.
    CHECK(table.spread(SpreadOf::latency, device, runtime, "memory").high ==
          Approx(find(classes, "latency", "gpu", "none", "memory", "two").high).margin(0.011));
    CHECK(table.measured(device, runtime));
    // The stack was fitted with rows of this very device: what is new is the network.
    CHECK(table.evidence(device, runtime, "compute") == Evidence::stack);
    device.id = "known";
    CHECK(table.evidence(device, runtime, "compute") == Evidence::device);
    CHECK(table.evidence(device, runtime, "memory") == Evidence::none);
    device.family = Family("cgra"); // of which no chip was measured: whole families left out
    CHECK_FALSE(table.measured(device, runtime));
    CHECK(table.spread(SpreadOf::latency, device, runtime, "compute").high ==
          Approx(find(classes, "latency", "", "").high).margin(0.011));
}

TEST_CASE("the interval of a left-out device has not seen it", "[compare][left_out]") {
    // Eleven devices agree; the twelfth is far off. Its own errors must not widen the interval it is held
    // against.
    std::vector<ValidatedRow> shipped;
    std::vector<LeftOutRow> predictions;
    for (int device = 0; device < 12; ++device)
        for (int i = 0; i < 5; ++i) {
            ValidatedRow r = row("gpu", "one", "compute", "stack", device == 11 ? 1.0 : 0.05);
            r.measured.id = std::to_string(device) + "-" + std::to_string(i);
            r.measured.hardware = "device" + std::to_string(device);
            r.measured.model = "network" + std::to_string(i);
            const double p = r.prediction.predicted;
            predictions.push_back({r.measured.id, p, p, p, p});
            shipped.push_back(std::move(r));
        }
    const LeftOutValidation validation = left_out_validation(summarize(shipped), predictions);
    for (const ValidatedRow& r : validation.without_device.rows) {
        if (r.measured.hardware == "device11")
            CHECK_FALSE(r.covered());
        else
            CHECK(r.covered());
    }
}

TEST_CASE("only values that were fitted on a device are evidence of it", "[compare][left_out]") {
    Device device;
    Runtime runtime;
    runtime.id = "stack";
    Fact value;
    value.value = 0.5;
    value.source = std::make_shared<const Source>(Source{SourceKind::assumed, "as its neighbour"});
    device.fitted.push_back({"matrix_efficiency", value, {}});
    CHECK(evidence_for(device, runtime, "compute") == Evidence::none);
    device.fitted.front().fact.source = std::make_shared<const Source>(Source{SourceKind::fitted, "a fit"});
    CHECK(evidence_for(device, runtime, "compute") == Evidence::device);
    // What prices arithmetic says nothing about a time that launches decide.
    CHECK(evidence_for(device, runtime, "overhead") == Evidence::none);
    device.fitted.front().fact.source = std::make_shared<const Source>(Source{SourceKind::tuned, "by hand"});
    CHECK(evidence_for(device, runtime, "compute") == Evidence::device);
    device.fitted.front().runtime = "another";
    CHECK(evidence_for(device, runtime, "compute") == Evidence::none);
}

TEST_CASE("left-out predictions survive their file, and show when they are old", "[compare][left_out]") {
    test::TemporaryDatabase folder;
    std::vector<LeftOutRow> rows = {{"a", 1.5, 1.25, 2.5, 3.5}, {"b", 3, std::nan(""), 4, 5}};
    const auto read = read_left_out(folder.write("left_out.csv", to_csv(rows)));
    REQUIRE(read.size() == 2);
    CHECK(read[0].without_model == 1.25);
    CHECK(read[1].without_family == 5);
    CHECK(std::isnan(read[1].without_model));
    CHECK_THROWS_WITH(read_left_out(folder.write(
                          "bad.csv", "id,shipped,without_model,without_device,without_family\na,x,1,1,1\n")),
                      Catch::Contains("line 2"));
    CHECK_THROWS_AS(read_left_out(folder.root() / "absent.csv"), InputError);

    std::vector<ValidatedRow> shipped(2);
    shipped[0].measured.id = "a";
    shipped[1].measured.id = "b";
    for (ValidatedRow& r : shipped) {
        r.measured.value = 2;
        r.prediction.predicted = r.measured.id == "a" ? 1.5 : 3.3;
    }
    const LeftOutValidation validation = left_out_validation(summarize(shipped), read);
    CHECK(validation.outdated == 1); // b has moved by a tenth
    CHECK(validation.without_model.rows[0].prediction.predicted == 1.25);
    CHECK_FALSE(validation.without_model.rows[1].prediction.ok());
    CHECK(validation.without_device.rows[1].prediction.ok());
    CHECK(validation.without_family.rows[0].prediction.predicted == 3.5);
}
