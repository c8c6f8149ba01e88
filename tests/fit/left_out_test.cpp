// Variances from left-out errors and first runs: intervals cover what they say, few rows borrow from what is
// around them, and the table is read back as written.

#include "fit/errors/leave_out.hpp"
#include "fit/errors/left_out.hpp"
#include "fit/report/validation_report.hpp"
#include "hardware/error_model.hpp"
#include "hardware/temporary_database.hpp"
#include "hardware/uncertainty.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
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

/// Rows of `devices` times `networks`: a chip's own error, and what each row adds.
std::vector<ValidatedRow> rows_of(int devices, int networks, double shared, double scatter, unsigned seed,
                                  const std::string& name = "device") {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal(0, 1);
    std::vector<ValidatedRow> rows;
    for (int device = 0; device < devices; ++device) {
        const double own = shared * normal(random);
        for (int i = 0; i < networks; ++i) {
            rows.push_back(row("gpu", "one", "compute", "stack", own + scatter * normal(random)));
            rows.back().measured.hardware = name + std::to_string(device);
            rows.back().measured.model = "network" + std::to_string(i);
            rows.back().measured.id = name + std::to_string(device) + "-" + std::to_string(i);
        }
    }
    return rows;
}

ErrorModel fitted(const std::vector<ValidatedRow>& known, const std::vector<ValidatedRow>& blind) {
    const Validation validation = summarize(known);
    return fit_error_model({validation, validation, validation, 0, {}, {}}, {{"blind", blind}});
}

/// Half the width of an interval, in logarithms.
double half(const ErrorModel& model, const std::string& device, SpreadOf metric = SpreadOf::latency) {
    return model.reach() * std::sqrt(model.parts({"gpu", device, "one", {}, metric, true}).total());
}

} // namespace

TEST_CASE("intervals of measured chips cover nine rows of ten", "[compare][left_out]") {
    const auto known = rows_of(20, 30, 0, 0.1, 1);
    const ErrorModel model = fitted(known, {});
    const double width = half(model, "device0");
    const auto inside = std::count_if(known.begin(), known.end(), [&](const ValidatedRow& r) {
        return std::abs(std::log(r.measured.value / r.prediction.predicted)) < width;
    });
    const double share = static_cast<double>(inside) / static_cast<double>(known.size());
    CHECK(share > 0.85);
    CHECK(share < 0.97);
}

TEST_CASE("a chip that nobody measured takes the spread of first runs, and its rows narrow it",
          "[compare][left_out]") {
    const auto known = rows_of(20, 30, 0, 0.1, 1);
    const ErrorModel near = fitted(known, rows_of(12, 10, 0.15, 0.1, 2, "new")),
                     far = fitted(known, rows_of(12, 10, 0.6, 0.1, 2, "new"));
    CHECK(half(near, "nobody") > 1.3 * half(near, "device0"));
    CHECK(half(far, "nobody") > 1.5 * half(near, "nobody"));
    CHECK(half(far, "device0") == Approx(half(near, "device0")).epsilon(0.05));
    // One network narrows more than a tenth, each further one less.
    double before = half(far, "nobody"), gain = 0.1 * before;
    for (int networks = 1; networks < 6; ++networks) {
        const ErrorParts parts =
            far.parts({"gpu", "nobody", "one", {}, SpreadOf::latency, true}, networks, 3, 0);
        const double now = far.reach() * std::sqrt(parts.total());
        CHECK(now < before);
        if (networks == 1)
            CHECK(before - now > gain);
        before = now;
    }
    // A chip measured for another metric is known a little; one under a stack that nobody measured less than
    // all.
    CHECK(half(far, "device0", SpreadOf::throughput) <= half(far, "nobody", SpreadOf::throughput));
}

TEST_CASE("intervals of chips that nobody measured are neither too narrow nor too wide",
          "[compare][left_out]") {
    // Chips and networks err by Student's t, as the model says: a width from variances covers 97 %, not 90.
    std::mt19937 random(7);
    std::student_t_distribution<double> student(kErrorDegreesOfFreedom);
    const auto drawn = [&](int devices, double shared, const std::string& name) {
        std::vector<ValidatedRow> rows = rows_of(devices, 10, 0, 0, 1, name);
        std::map<std::string, double> own;
        for (ValidatedRow& r : rows) {
            const double chip = own.try_emplace(r.measured.hardware, shared * student(random)).first->second;
            r.prediction.predicted = std::exp(chip + 0.1 * student(random));
        }
        return rows;
    };
    const auto known = drawn(40, 0, "device"), blind = drawn(60, 0.3, "new"),
               later = drawn(400, 0.3, "later");
    const ErrorModel model = fitted(known, blind);
    const double width = half(model, "nobody");
    const auto inside = std::count_if(later.begin(), later.end(), [&](const ValidatedRow& r) {
        return std::abs(std::log(r.measured.value / r.prediction.predicted)) < width;
    });
    const double share = static_cast<double>(inside) / static_cast<double>(later.size());
    CHECK(share > 0.85);
    CHECK(share < 0.95);
}

TEST_CASE("chips of one generation share a network's error, and odds between them say so",
          "[compare][left_out]") {
    std::mt19937 random(5);
    std::normal_distribution<double> normal(0, 0.15);
    std::vector<ValidatedRow> rows = rows_of(12, 80, 0, 0.03, 3);
    std::map<std::string, double> kernels;
    for (ValidatedRow& r : rows) {
        r.prediction.generation = r.measured.hardware < "device5" ? "old" : "new";
        const std::string kernel = r.prediction.generation + r.measured.model;
        r.measured.value = std::exp(0.04 * static_cast<double>(r.measured.hardware.back() - '0'));
        r.prediction.predicted *= r.measured.value;
        r.prediction.predicted *= std::exp(kernels.try_emplace(kernel, normal(random)).first->second);
    }
    std::vector<LeftOutRow> predictions;
    for (const ValidatedRow& r : rows) {
        const double p = r.prediction.predicted;
        predictions.push_back({r.measured.id, p, p, p, p});
    }
    const LeftOutValidation validation = left_out_validation(summarize(rows), predictions);
    const ErrorModel model = fit_error_model(validation, {});
    CHECK(model.network_share < 0.2);
    CHECK(model.generation_share > 0.5);
    // What is said of pairs is what happens to them.
    double said = 0, was = 0;
    for (const PairOdds::Tenth& tenth : validation.pairs.tenths) {
        said += tenth.said;
        was += static_cast<double>(tenth.right);
    }
    const auto pairs = static_cast<double>(validation.pairs.pairs);
    REQUIRE(pairs > 1000);
    CHECK(said / pairs == Approx(was / pairs).margin(0.06));
}

TEST_CASE("few rows of a family borrow from the others", "[compare][left_out]") {
    auto known = rows_of(20, 30, 0, 0.1, 1);
    for (int i = 0; i < 3; ++i) { // three rows that agree to 1 %
        known.push_back(row("tpu", "xla", "compute", "stack", 0.005 * i));
        known.back().measured.hardware = "lone";
        known.back().measured.model = "network" + std::to_string(i);
    }
    const ErrorModel model = fitted(known, {});
    const double lone =
        model.reach() * std::sqrt(model.parts({"tpu", "lone", "xla", {}, SpreadOf::latency, true}).total());
    CHECK(lone > 0.05);
    CHECK(model.networks({"tpu", "lone", "xla", {}, SpreadOf::latency, true}) == 3);
    CHECK(model.networks({"tpu", "lone", "xla", {}, SpreadOf::energy, true}) == 0);
    CHECK(model.devices({"tpu", "another", "xla", {}, SpreadOf::latency, true}) == 1);
    CHECK(model.devices({"tpu", "another", "xla", {}, SpreadOf::latency, false}) == 0); // no kin of it
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
}

TEST_CASE("the written variances are read back", "[compare][left_out]") {
    const ErrorModel model = fitted(rows_of(20, 30, 0, 0.1, 1), rows_of(12, 10, 0.3, 0.1, 2, "new"));
    test::TemporaryDatabase folder;
    const UncertaintyTable table{
        std::filesystem::path(folder.write("uncertainty.json", uncertainty_json(model)))};
    Device device;
    device.family = Family("gpu");
    device.id = "device0";
    Runtime runtime;
    runtime.id = "one";
    Fact known_value;
    known_value.value = 1;
    known_value.source = std::make_shared<const Source>(Source{SourceKind::fitted, "a fit"});
    runtime.parameters.push_back({Parameter::matrix_efficiency, known_value, {}});
    const auto same = [&](SpreadOf metric) {
        const Spread spread = table.spread(metric, device, runtime);
        CHECK(std::log(spread.high) == Approx(half(model, device.id, metric)).epsilon(0.01));
        CHECK(spread.low == Approx(1 / spread.high));
    };
    for (const char* id : {"device0", "nobody"}) {
        device.id = id;
        for (const SpreadOf metric : {SpreadOf::latency, SpreadOf::energy, SpreadOf::power})
            same(metric);
    }
    CHECK(table.evidence(device, runtime, SpreadOf::latency) == Evidence::stack);
    CHECK(table.evidence(device, runtime, SpreadOf::energy) == Evidence::none); // time says nothing of it
    device.id = "device0";
    CHECK(table.evidence(device, runtime, SpreadOf::latency) == Evidence::device);
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
