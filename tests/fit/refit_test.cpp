// A joint fit ends: values that hardly move stay as they were written, so that fits that follow each other
// settle.

#include "fit/parameters/calibrate.hpp"
#include "fit/parameters/parameter_fit.hpp"
#include "support/shipped_session.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace archsim;
using namespace archsim::test;

namespace {

/// Rows that one parameter's change by `factor` would make, and no other; all times `scatter` off, by turns.
std::vector<MeasuredRow> rows_after(const RowEstimator& estimator, double factor) {
    constexpr double kScatter = 0.002;
    std::vector<MeasuredRow> rows;
    for (const char* model :
         {"resnet18", "resnet50", "mobilenet_v2", "googlenet", "vgg16", "squeezenet1_1"}) {
        MeasuredRow row;
        row.id = row.model = model;
        row.image_size = 224;
        row.batch = 1;
        row.precision = "int8";
        row.hardware = "QCS8550";
        row.runtime = "qnn";
        row.scope = "kernel";
        row.value = 1;
        rows.push_back(row);
    }
    double scatter = kScatter;
    for (MeasuredRow& row : rows) {
        const Prediction prediction = estimator(row);
        REQUIRE(prediction.ok());
        row.value = prediction.predicted * factor * std::exp(scatter);
        scatter = -scatter;
    }
    return rows;
}

struct Moves {
    int stayed = 0, least = 0, moved = 0;
};

/// How the values of a fit lie to those that it began with.
Moves moves_of(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows) {
    constexpr double kLeast = 0.003;
    const std::vector<TunedParameter> before = fitted_parameters(estimator, rows);
    Moves moves;
    for (const CalibratedFile& file : refit_all(estimator, rows).files)
        for (const FittedValue& value : file.values) {
            const auto own = std::find_if(before.begin(), before.end(), [&](const TunedParameter& parameter) {
                return std::find(parameter.sites.begin(), parameter.sites.end(), value.site) !=
                       parameter.sites.end();
            });
            REQUIRE(own != before.end());
            const double change = std::abs(std::log(value.value / own->start));
            (value.value == own->start ? moves.stayed : change < kLeast ? moves.least : moves.moved) += 1;
        }
    return moves;
}

} // namespace

TEST_CASE("a fitted value that would move by less than 0.3 % stays to the last bit", "[run][calibrate]") {
    const RowEstimator estimator(shipped_session());
    const Moves same = moves_of(estimator, rows_after(estimator, 1));
    CHECK(same.stayed > 0); // a fit leaves nothing where it was: scatter and expectations move all of it
    CHECK(same.least == 0);
    const Moves slower = moves_of(estimator, rows_after(estimator, 1.5));
    CHECK(slower.moved > 0);
    CHECK(slower.least == 0);
}
