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

/// Many rows of one family, few of another.
LeftOutValidation left_out(double scatter) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal(0, scatter);
    std::vector<ValidatedRow> rows;
    for (int i = 0; i < 400; ++i)
        rows.push_back(row("gpu", i % 2 != 0 ? "one" : "two", i % 3 != 0 ? "compute" : "memory", "stack",
                           normal(random) * (i % 2 != 0 ? 1 : 2)));
    for (int i = 0; i < 3; ++i)
        rows.push_back(row("tpu", "xla", "compute", "stack", 0.01 * i));
    return {summarize(rows), summarize(rows), 0};
}

const ResidualClassFacts& find(const std::vector<ResidualClassFacts>& classes, const std::string& family,
                               const std::string& runtime, const std::string& evidence,
                               const std::string& regime = {}) {
    const auto found = std::find_if(classes.begin(), classes.end(), [&](const ResidualClassFacts& c) {
        return c.metric == "latency" && c.family == family && c.runtime == runtime &&
               c.evidence == evidence && c.regime == regime;
    });
    REQUIRE(found != classes.end());
    return *found;
}

} // namespace

TEST_CASE("an interval class covers nine rows of ten", "[compare][left_out]") {
    const LeftOutValidation validation = left_out(0.1);
    const auto classes = residual_classes(validation);
    for (const char* runtime : {"one", "two"}) {
        const ResidualClassFacts& c = find(classes, "gpu", runtime, "stack");
        double inside = 0, n = 0;
        for (const ValidatedRow& r : validation.without_model.rows)
            if (r.prediction.runtime == runtime) {
                const double ratio = r.measured.value / r.prediction.predicted;
                inside += ratio >= c.low && ratio <= c.high ? 1 : 0;
                n += 1;
            }
        CHECK(inside / n > 0.85);
        CHECK(inside / n < 0.95);
    }
    // The stack that scatters twice as much has the wider interval.
    CHECK(find(classes, "gpu", "two", "stack").high > 1.1 * find(classes, "gpu", "one", "stack").high);
    // Without measurements of the stack it is wider than with, and never narrower than the estimate itself.
    CHECK(find(classes, "gpu", "", "none").high >= 1.6);
    CHECK(find(classes, "gpu", "", "none").high > find(classes, "gpu", "", "stack").high);
    for (const ResidualClassFacts& c : classes) {
        CHECK(c.low <= 1);
        CHECK(c.high >= 1);
        CHECK_FALSE(c.basis.empty());
    }
}

TEST_CASE("a family of few rows is wide whatever its rows say", "[compare][left_out]") {
    const auto classes = residual_classes(left_out(0.1));
    CHECK(find(classes, "tpu", "", "stack").high >= 2);
    CHECK(find(classes, "tpu", "", "stack").low <= 0.5);
    CHECK(find(classes, "tpu", "", "none").high >= 2);
    CHECK(find(classes, "", "", "").high == Approx(2));
}

TEST_CASE("throughput counts as time and energy adds power", "[compare][left_out]") {
    std::vector<ValidatedRow> rows;
    for (int i = 0; i < 60; ++i) {
        rows.push_back(row("dpu", "vitis-ai", "compute", "stack", -0.2)); // predicted too low
        rows.back().measured.metric = MeasuredMetric::throughput_per_s;   // that is: too slow
        rows.back().measured.id += std::to_string(i);
    }
    const auto classes = residual_classes({summarize(rows), summarize(rows), 0});
    const ResidualClassFacts& time = find(classes, "dpu", "vitis-ai", "stack");
    CHECK(time.low < 0.9); // measured takes less time than predicted
    CHECK(time.high < 1.01);
    const auto energy = std::find_if(classes.begin(), classes.end(), [](const ResidualClassFacts& c) {
        return c.metric == "energy" && c.runtime == "vitis-ai" && c.evidence == "stack" && c.regime.empty();
    });
    REQUIRE(energy != classes.end());
    CHECK(energy->low == Approx(time.low / 1.25));
    CHECK(energy->high == Approx(time.high * 1.25));
}

TEST_CASE("the written interval table is read back", "[compare][left_out]") {
    const auto classes = residual_classes(left_out(0.1));
    test::TemporaryDatabase folder;
    const std::string file = folder.write("uncertainty.json", uncertainty_json(classes, {{}, {"gpu two"}}));
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
    CHECK(spread.high == Approx(find(classes, "gpu", "two", "stack", "compute").high).margin(0.011));
    runtime.parameters.clear(); // nothing fitted any more
    CHECK(table.spread(SpreadOf::latency, device, runtime, "compute").high > spread.high);
    CHECK(table.measured(device, runtime));
    runtime.id = "three"; // of which no chip was measured: no narrower than an unmeasured CPU's, or by family
    CHECK_FALSE(table.measured(device, runtime));
    device.family = Family("cgra");
    CHECK(table.spread(SpreadOf::latency, device, runtime, "compute").high == Approx(3.5));
}

TEST_CASE("only values that were fitted on a device are evidence of it", "[compare][left_out]") {
    Device device;
    Runtime runtime;
    runtime.id = "stack";
    Fact value;
    value.value = 0.5;
    value.source = std::make_shared<const Source>(Source{SourceKind::assumed, "as its neighbour"});
    device.fitted.push_back({"matrix_efficiency", value, {}});
    CHECK(evidence_for(device, runtime) == Evidence::none);
    device.fitted.front().fact.source = std::make_shared<const Source>(Source{SourceKind::fitted, "a fit"});
    CHECK(evidence_for(device, runtime) == Evidence::device);
    device.fitted.front().runtime = "another";
    CHECK(evidence_for(device, runtime) == Evidence::none);
}

TEST_CASE("left-out predictions survive their file, and show when they are old", "[compare][left_out]") {
    test::TemporaryDatabase folder;
    std::vector<LeftOutRow> rows = {{"a", 1.5, 1.25, 2.5}, {"b", 3, std::nan(""), 4}};
    const auto read = read_left_out(folder.write("left_out.csv", to_csv(rows)));
    REQUIRE(read.size() == 2);
    CHECK(read[0].without_model == 1.25);
    CHECK(std::isnan(read[1].without_model));
    CHECK_THROWS_WITH(
        read_left_out(folder.write("bad.csv", "id,shipped,without_model,without_device\na,x,1,1\n")),
        Catch::Contains("line 2"));
    CHECK_THROWS_AS(read_left_out(folder.root() / "absent.csv"), InputError);

    std::vector<ValidatedRow> shipped(2);
    shipped[0].measured.id = "a";
    shipped[1].measured.id = "b";
    for (ValidatedRow& r : shipped) {
        r.measured.value = 2;
        r.prediction.predicted = r.measured.id == "a" ? 1.5 : 3.3;
        r.prediction.low = 1;
        r.prediction.high = 4;
        r.prediction.unfitted_low = 0.5;
        r.prediction.unfitted_high = 8;
    }
    const LeftOutValidation validation = left_out_validation(summarize(shipped), read);
    CHECK(validation.outdated == 1); // b has moved by a tenth
    CHECK(validation.without_model.rows[0].prediction.predicted == 1.25);
    CHECK(validation.without_model.rows[0].prediction.high == Approx(4 * 1.25 / 1.5));
    CHECK_FALSE(validation.without_model.rows[1].prediction.ok());
    CHECK(validation.without_device.rows[1].prediction.ok());
    // A device without its own measurements gets the wider interval.
    CHECK(validation.without_device.rows[0].prediction.low == Approx(0.5 * 2.5 / 1.5));
    CHECK(validation.without_device.rows[0].prediction.high == Approx(8 * 2.5 / 1.5));
}
