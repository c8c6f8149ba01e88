#include "fit/errors/price_check.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

namespace {

ValidatedRow power_row_of(MeasuredMetric metric, PowerBoundary boundary, double measured, double predicted) {
    ValidatedRow row;
    row.measured.id = std::to_string(static_cast<int>(measured));
    row.measured.metric = metric;
    row.measured.boundary = boundary;
    row.measured.value = measured;
    row.prediction.predicted = predicted;
    row.prediction.family = "gpu";
    row.prediction.regime = "memory";
    return row;
}

} // namespace

TEST_CASE("power and energy are grouped by boundary, family and regime", "[validate][power]") {
    std::vector<ValidatedRow> rows = {
        power_row_of(MeasuredMetric::power_w, PowerBoundary::rail, 100, 110),
        power_row_of(MeasuredMetric::power_w, PowerBoundary::rail, 200,
                     100), // half is farther off than + 60 %
        power_row_of(MeasuredMetric::power_w, PowerBoundary::wall, 1000, 1600),
        power_row_of(MeasuredMetric::energy_mj, PowerBoundary::rail, 5, 6),
        power_row_of(MeasuredMetric::latency_ms, PowerBoundary::rail, 5, 50),
    };
    rows.push_back(rows.front());
    rows.back().measured.weight = 0.4;
    const auto groups = power_groups(summarize(rows));
    // power: all, rail, wall, rail gpu memory, wall gpu memory; energy: all, rail, rail gpu memory
    REQUIRE(groups.size() == 8);
    CHECK(groups[0].metric == MeasuredMetric::power_w);
    CHECK_FALSE(groups[0].boundary);
    CHECK(groups[0].errors.n == 3);
    CHECK(groups[0].errors.median_ape == Approx(0.5));
    CHECK(groups[0].worst == "200");
    CHECK(groups[0].worst_error == Approx(-0.5));
    CHECK(groups[1].boundary == PowerBoundary::rail);
    CHECK(groups[1].errors.n == 2);
    CHECK(groups[2].boundary == PowerBoundary::wall);
    CHECK(groups[2].worst_error == Approx(0.6));
    CHECK(groups[3].family == "gpu");
    CHECK(groups[3].regime == "memory");
    CHECK(groups[5].metric == MeasuredMetric::energy_mj);
    CHECK(groups[7].errors.n == 1);
}

// 6 / 5 J at 110 / 100 W: the time is 1.2 / 1.1 of the measured one. The other run states no power.
TEST_CASE("errors of energy are split into those of power and of time", "[validate][power]") {
    std::vector<ValidatedRow> rows = {
        power_row_of(MeasuredMetric::power_w, PowerBoundary::rail, 100, 110),
        power_row_of(MeasuredMetric::energy_mj, PowerBoundary::rail, 5, 6),
        power_row_of(MeasuredMetric::energy_mj, PowerBoundary::rail, 7, 70),
    };
    rows[2].measured.model = "another";
    const auto groups = power_groups(summarize(rows));
    REQUIRE(groups.size() == 6);
    CHECK(groups[0].split == 0); // power is no product
    const PowerGroup& energy = groups[3];
    CHECK(energy.errors.n == 2);
    CHECK(energy.split == 1);
    CHECK(energy.power_error == Approx(0.1));
    CHECK(energy.power_bias == Approx(0.1));
    CHECK(energy.time_error == Approx(1.2 / 1.1 - 1));
    CHECK(energy.time_bias == Approx(1.2 / 1.1 - 1));
    CHECK(run_of(rows[0].measured) == run_of(rows[1].measured));
    CHECK(run_of(rows[0].measured) != run_of(rows[2].measured));
}
