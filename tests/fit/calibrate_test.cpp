// Calibration finds parameters that were planted, leaves the bounds alone and says what it does not know.

#include "fit/errors/leave_out.hpp"
#include "fit/parameters/calibrate.hpp"
#include "fit/rows/measurements.hpp"
#include "hardware/temporary_database.hpp"
#include "support/places.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <iterator>

using namespace archsim;
using namespace archsim::test;

namespace {

MeasuredRow row(const std::string& model, const std::string& precision) {
    MeasuredRow result;
    result.id = model + '-' + precision;
    result.model = model;
    result.image_size = 224;
    result.batch = 1;
    result.precision = precision;
    result.hardware = "QCS8550";
    result.runtime = "qnn";
    result.scope = "kernel";
    result.value = 1;
    return result;
}

/// Rows whose values are what the estimator says with other parameters, and a few per cent of scatter.
std::vector<MeasuredRow> planted(const RowEstimator& estimator, const ParameterOverrides& truth,
                                 double scatter) {
    std::vector<MeasuredRow> rows;
    for (const char* model : {"resnet18", "resnet50", "resnet101", "mobilenet_v2", "googlenet", "vgg16",
                              "squeezenet1_1", "alexnet"})
        for (const char* precision : {"int8", "fp16"})
            rows.push_back(row(model, precision));
    const auto overrides = std::make_shared<const ParameterOverrides>(truth);
    double sign = 1;
    for (MeasuredRow& r : rows) {
        const Prediction prediction = estimator(r, overrides);
        INFO(prediction.reason);
        REQUIRE(prediction.ok());
        r.value = prediction.predicted * std::exp(scatter * sign);
        sign = -sign;
    }
    return rows;
}

ParameterSite site(Parameter parameter) {
    return {"QCS8550", {}, {}, parameter};
}

double after(const Calibration& calibration, const std::string& name) {
    for (const CalibratedParameter& parameter : calibration.parameters)
        if (parameter.name == name)
            return parameter.after;
    FAIL("no parameter " << name);
    return 0;
}

} // namespace

TEST_CASE("calibration recovers planted parameters", "[run][calibrate]") {
    const RowEstimator estimator(shipped_session());
    const auto rows = planted(estimator,
                              {{site(Parameter::matrix_efficiency), 0.6},
                               {site(Parameter::dram_efficiency), 0.5},
                               {site(Parameter::inference_overhead), 4e-4}},
                              0.03);
    const Calibration calibration =
        calibrate(estimator, rows,
                  {.device = "QCS8550",
                   .parameters = {"matrix_efficiency", "dram_efficiency", "inference_overhead"}})
            .calibration;
    CHECK(after(calibration, "matrix_efficiency") == Approx(0.6).epsilon(0.1));
    CHECK(after(calibration, "dram_efficiency") == Approx(0.5).epsilon(0.1));
    CHECK(after(calibration, "inference_overhead") == Approx(4e-4).epsilon(0.1));
    // Not told what to fit, it takes what the file states as fitted or tuned.
    const Calibration chosen = calibrate(estimator, rows, {.device = "QCS8550"}).calibration;
    CHECK(chosen.parameters.size() <= kMostDeviceParameters);
    for (const CalibratedParameter& parameter : chosen.parameters)
        CHECK((parameter.name == "matrix_efficiency" || parameter.name == "inference_overhead"));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(std::abs(calibration.after[i].error()) < 0.12);
        CHECK(std::abs(calibration.left_out[i].error()) < 0.3);
    }
}

TEST_CASE("one wrong measurement does not move a calibration", "[run][calibrate]") {
    const RowEstimator estimator(shipped_session());
    auto rows = planted(estimator, {{site(Parameter::matrix_efficiency), 0.6}}, 0.0);
    rows[2].value *= 5;
    const Calibration calibration =
        calibrate(estimator, rows, {.device = "QCS8550", .parameters = {"matrix_efficiency"}}).calibration;
    CHECK(after(calibration, "matrix_efficiency") == Approx(0.6).epsilon(0.06));
}

TEST_CASE("parameters that nothing determines stay where they are expected", "[run][calibrate]") {
    const RowEstimator estimator(shipped_session());
    const auto rows = planted(estimator, {}, 0.0);
    // No row has a softmax or layer normalisation.
    const Calibration calibration =
        calibrate(estimator, rows,
                  {.device = "QCS8550", .parameters = {"matrix_efficiency", "normalization_cost"}})
            .calibration;
    CHECK(after(calibration, "matrix_efficiency") == Approx(0.6173).epsilon(0.2));
    const double cost = after(calibration, "normalization_cost");
    CHECK(cost > 100);
    CHECK(cost < 1e4);
    CHECK(calibration.parameters[1].spread > 0.3);
}

TEST_CASE("what cannot be calibrated is an error that says why", "[run][calibrate]") {
    const RowEstimator estimator(shipped_session());
    const std::vector<MeasuredRow> rows = {row("resnet18", "int8")};
    CHECK_THROWS_WITH(calibrate(estimator, rows, {.device = "H100"}), Catch::Contains("no row of H100"));
    CHECK_THROWS_WITH(calibrate(estimator, rows, {.device = "QCS8550", .parameters = {"matrix_eficiency"}}),
                      Catch::Contains("matrix_efficiency"));
    CHECK_THROWS_AS(calibrate(estimator, rows, {}), UsageError);
    const std::vector<std::string> seven(7, "matrix_efficiency");
    CHECK_THROWS_WITH(calibrate(estimator, rows, {.device = "QCS8550", .parameters = seven}),
                      Catch::Contains("at most 6"));
}

TEST_CASE("calibrated values are written as fitted and read back", "[run][calibrate]") {
    const RowEstimator estimator(shipped_session());
    const auto rows = planted(estimator, {{site(Parameter::matrix_efficiency), 0.6}}, 0.02);
    const CalibrationOutcome outcome = calibrate(estimator, rows, {.device = "QCS8550"});
    REQUIRE(outcome.files.size() == 1);
    TemporaryDatabase folder;
    const std::string file =
        folder.write("QCS8550.json", calibrated_text(outcome.files.front(), "planted", "2026-11-21"));
    for (const Finding& finding : check_hardware(file))
        UNSCOPED_INFO(to_string(finding));
    CHECK(check_hardware(file).empty());
    const HardwareDatabase database(kSource / "hardware_db", {folder.root()});
    const auto device = database.device("QCS8550").device;
    std::size_t written = 0;
    for (const FittedParameter& fit : device->fitted) {
        if (fit.fact.source->kind != SourceKind::fitted) // known from elsewhere, and left alone
            continue;
        ++written;
        CHECK(fit.fact.value == Approx(after(outcome.calibration, fit.name)).epsilon(1e-3));
        CHECK(fit.fact.source->cite == "planted");
        CHECK(fit.fact.fitted_n == 16);
    }
    CHECK(written == outcome.calibration.parameters.size());
    CHECK(written > 0);
}

TEST_CASE("the guide to calibration has measurements that can be used", "[run][calibrate]") {
    std::ifstream stream(kSource / "docs" / "calibrating.md");
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const auto begin = text.find("```csv\n") + 7;
    const MeasuredTable table =
        parse_measurements(text.substr(begin, text.find("```", begin) - begin), "guide");
    CHECK(table.findings.empty());
    REQUIRE(table.rows.size() == 3);
    const RowEstimator estimator(shipped_session());
    const Calibration calibration =
        calibrate(estimator, table.rows, {.device = "QCS8550", .parameters = {"matrix_efficiency"}})
            .calibration;
    for (const ValidatedRow& r : calibration.after)
        CHECK(r.prediction.ok());
}

TEST_CASE("left-out predictions do not see the left-out rows", "[run][calibrate]") {
    const RowEstimator estimator(shipped_session());
    auto rows = planted(estimator, {}, 0.02);
    const auto before = predict_left_out(estimator, rows, LeaveOut::model);
    const std::size_t changed = 2; // resnet50, int8
    rows[changed].value *= 1.5;
    rows[changed + 1].value *= 1.5;
    const auto again = predict_left_out(estimator, rows, LeaveOut::model);
    // Its own measurement does not decide its prediction; it does decide those of the others.
    CHECK(again[changed].predicted == Approx(before[changed].predicted).epsilon(0.03));
    double moved = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        if (rows[i].model != "resnet50")
            moved = std::max(moved, std::abs(again[i].predicted / before[i].predicted - 1));
    CHECK(moved > 0.005);
    // A device that is left out takes what its family states, whatever was measured on it.
    const auto device = predict_left_out(estimator, rows, LeaveOut::device);
    for (MeasuredRow& r : rows)
        r.value *= 3;
    const auto tripled = predict_left_out(estimator, rows, LeaveOut::device);
    for (std::size_t i = 0; i < rows.size(); ++i)
        CHECK(tripled[i].predicted == Approx(device[i].predicted).epsilon(0.05));
}
