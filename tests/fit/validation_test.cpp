#include "fit/errors/validation.hpp"
#include "fit/report/validation_report.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace archsim;
using nlohmann::json;

namespace {

MeasuredRow row(const std::string& id, const std::string& hardware, const std::string& model, double value,
                double weight = 1) {
    MeasuredRow result;
    result.id = id;
    result.hardware = hardware;
    result.model = model;
    result.value = value;
    result.weight = weight;
    result.batch = 1;
    result.precision = "fp16";
    result.runtime = "tensorrt";
    result.scope = "kernel";
    return result;
}

/// A prediction that is off by the factor found in the row's note.
Prediction off_by_note(const MeasuredRow& measured) {
    Prediction prediction;
    prediction.family = "gpu";
    prediction.regime = "memory";
    if (measured.note == "fails") {
        prediction.status = "unsupported";
        prediction.reason = "no such mode";
        return prediction;
    }
    prediction.predicted = measured.value * std::stod(measured.note);
    prediction.low = prediction.predicted / 1.2;
    prediction.high = prediction.predicted * 1.2;
    return prediction;
}

Validation sample() {
    std::vector<MeasuredRow> rows = {row("a", "X", "m1", 1), row("b", "X", "m2", 2), row("c", "Y", "m1", 4),
                                     row("d", "Y", "m2", 8, 0.4), row("e", "Z", "m1", 16)};
    // Errors 0, +8 %, -20 %, +200 %; the last one does not run.
    const std::array notes = {"1.0", "1.08", "0.8", "3.0", "fails"};
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].note = notes[i];
    return validate(rows, off_by_note, 2);
}

} // namespace

TEST_CASE("statistics of errors, by hand", "[compare][validation]") {
    const Validation validation = sample();
    const ErrorStatistics& all = validation.every.all.errors;
    CHECK(all.n == 4);
    CHECK(all.median_ape == Approx(0.14)); // between 8 and 20 %
    CHECK(all.mean_ape == Approx((0 + 0.08 + 0.2 + 2.0) / 4));
    CHECK(all.p90_ape == Approx(0.2 + 0.7 * 1.8)); // rank 2.7 of 0..3
    CHECK(all.bias == Approx(std::pow(1.0 * 1.08 * 0.8 * 3.0, 0.25) - 1));
    CHECK(all.within_10 == Approx(0.5));
    CHECK(all.within_25 == Approx(0.75));
    CHECK(all.within_50 == Approx(0.75));
    CHECK(all.coverage == Approx(0.5)); // 0.8 x 1.2 = 0.96 misses 1
    CHECK(validation.trusted.all.errors.n == 3);
    const auto& families = validation.every.by.front();
    CHECK(families.first == "family");
    REQUIRE(families.second.size() == 1);
    CHECK(families.second[0].errors.n == 4);
}

TEST_CASE("rank agreement counts pairs inside groups", "[compare][validation]") {
    const std::array<RankedValue, 4> values{
        {{"a", 1.0, 1.0}, {"b", 2.0, 3.0}, {"c", 3.0, 2.0}, {"d", 3.0, 2.0}}};
    const PairCounts pairs = count_pairs(values);
    CHECK(pairs.concordant == 3); // (1,2) and (1,3) twice
    CHECK(pairs.discordant == 2); // (2,3) twice
    CHECK(pairs.undecided == 0);  // the equal measurements say nothing
    const std::array<RankedValue, 3> twice{{{"a", 1.0, 1.5}, {"a", 2.0, 1.5}, {"b", 3.0, 2.5}}};
    CHECK(count_pairs(twice).comparable() == 2); // two measurements of one device rank no devices
    CHECK(count_pairs(twice).concordant == 2);
    const Validation validation = sample();
    // m1 on X and Y, m2 on X and Y: both in order. Each device has two models: in order too.
    CHECK(validation.every.all.devices.pairs == 2);
    CHECK(validation.every.all.devices.tau == 1);
    CHECK(validation.every.all.models.groups == 2);
    CHECK(validation.trusted.all.devices.pairs == 1);
}

TEST_CASE("two stacks on one device are no pair of devices", "[compare][validation]") {
    std::vector<MeasuredRow> rows = {row("a", "X", "m1", 1), row("b", "X", "m1", 1.1),
                                     row("c", "Y", "m1", 4)};
    rows[1].runtime = "vllm";
    const std::array notes = {"1.3", "1.0", "1.0"}; // the stacks the wrong way round, both before Y
    for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i].note = notes[i];
    const Validation validation = validate(rows, off_by_note, 0);
    CHECK(validation.every.all.devices.pairs == 2);
    CHECK(validation.every.all.devices.tau == 1);
    CHECK(validation.every.all.models.pairs == 0);
}

TEST_CASE("no rows, no numbers", "[compare][validation]") {
    const Validation empty = validate({}, off_by_note);
    CHECK(empty.every.all.errors.n == 0);
    CHECK(empty.every.all.devices.pairs == 0);
    const json document = json::parse(to_json(ValidationAnswer{empty}));
    CHECK(document["summary"]["all"]["median_ape"].is_null());
    CHECK(document["rows"].empty());
    CHECK_FALSE(render(describe(ValidationAnswer{empty}), Format::text).empty());
    CHECK_THAT(scatter_svg(empty), Catch::Contains("</svg>"));
}

TEST_CASE("a prediction that throws is a row with its reason", "[compare][validation]") {
    const Validation validation = validate({row("a", "X", "m", 1)}, [](const MeasuredRow&) -> Prediction {
        throw std::runtime_error("broken model");
    });
    CHECK(validation.rows[0].prediction.status == "failed");
    CHECK(validation.rows[0].prediction.reason == "broken model");
}

TEST_CASE("the validation document", "[compare][validation][report]") {
    const Validation validation = sample();
    const json document = json::parse(to_json(ValidationAnswer{validation}));
    CHECK(document["schema"] == "archsim.validate_estimates/1");
    REQUIRE(document["rows"].size() == 5);
    CHECK(document["rows"][1]["error"].get<double>() == Approx(0.08));
    CHECK(document["rows"][1]["predicted"].get<double>() == Approx(2.16));
    CHECK(document["rows"][4]["status"] == "unsupported");
    CHECK(document["rows"][4]["reason"] == "no such mode");
    CHECK(document["rows"][4]["predicted"].is_null());
    CHECK(document["summary"]["rows"] == 5);
    CHECK(document["summary"]["not_estimated"] == 1);
    CHECK(document["summary"]["all"]["by_hardware"]["Y"]["n"] == 2);

    const std::string text = render(describe(ValidationAnswer{validation}), Format::text);
    const auto worst = text.find("+200.0 %"), better = text.rfind("-20.0 %");
    CHECK(worst < better); // worst rows first
    CHECK_THAT(text, Catch::Contains("no such mode"));
    const std::string csv = render(ValidationAnswer{validation}, Format::csv, ValidationView{});
    CHECK_THAT(csv, Catch::StartsWith("id,status,reason,predicted,low,high,value,metric,error"));
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 6);
    const std::string svg = scatter_svg(validation);
    CHECK_THAT(svg, Catch::Contains("gpu (4)"));
}
