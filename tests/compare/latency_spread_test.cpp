#include "result/latency_spread.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

using namespace archsim;

namespace {

SpreadRow made_row(double p50, double p90, double p99, double p999) {
    return {"s", "gpu", false, "d", "n", p50, p90, p99, p999, nullptr, "made"};
}

} // namespace

TEST_CASE("every published row of percentiles rises and names its source", "[percentiles]") {
    REQUIRE(latency_spread_rows().size() == 86);
    for (const SpreadRow& r : latency_spread_rows()) {
        INFO(r.hardware << " " << r.network << " " << r.run);
        CHECK(r.p50_ms > 0);
        CHECK(r.p99_ms >= r.p50_ms);
        if (r.p90_ms > 0) {
            CHECK(r.p90_ms >= r.p50_ms);
            CHECK(r.p99_ms >= r.p90_ms);
            CHECK(r.p999_ms >= r.p99_ms);
        }
        CHECK(!r.run.empty());
        REQUIRE(r.source != nullptr);
        CHECK(r.source->kind == SourceKind::measured);
        CHECK((r.source->cite.find("MLPerf") == 0 || r.source->cite.find("AWS Neuron") == 0));
    }
}

TEST_CASE("the spread's line goes through rows that lie on one", "[percentiles]") {
    // P99 = P50 + 0.1 ms + 2 % of P50, but for one stray row; P90 half and P99.9 twice the way to P99.
    std::vector<SpreadRow> rows;
    for (const double t : {1.0, 2.0, 4.0, 8.0, 16.0}) {
        const double excess = 0.1 + 0.02 * t;
        rows.push_back(made_row(t, t + excess / 2, t + excess, t + 2 * excess));
    }
    rows.push_back(made_row(3, 6, 9, 15));
    const LatencySpread spread = fit_spread(rows);
    CHECK(spread.fixed_s == Approx(1e-4));
    CHECK(spread.share == Approx(0.02));
    CHECK(spread.rows == 6);
    CHECK(spread.most == Approx(2.0));
    const RunPercentiles p = spread.at(4e-3);
    CHECK(p.p50 == Approx(4e-3));
    CHECK(p.p90 == Approx(4.09e-3));
    CHECK(p.p99 == Approx(4.18e-3));
    CHECK(p.p999 == Approx(4.36e-3));
    // What is shorter than every row keeps the ratio of the shortest: no row says what the host adds to it.
    CHECK(spread.at(1e-4).p99 == Approx(1e-4 * 1.12));
    CHECK(spread.at(1.0).p99 == Approx(1 + 0.02 + 0.1 / 16));
    CHECK(fit_spread({}).rows == 0);
}

TEST_CASE("the quantile function meets the percentiles and never falls", "[percentiles]") {
    const LatencySpread spread = fit_spread(latency_spread_rows());
    const RunPercentiles p = spread.at(2e-3);
    CHECK(spread.quantile(2e-3, 0.5) == Approx(p.p50));
    CHECK(spread.quantile(2e-3, 0.9) == Approx(p.p90));
    CHECK(spread.quantile(2e-3, 0.99) == Approx(p.p99));
    CHECK(spread.quantile(2e-3, 0.9995) == Approx(p.p999));
    double before = 0;
    for (int i = 0; i < 1000; ++i) {
        const double t = spread.quantile(2e-3, i / 1000.0);
        CHECK(t >= before);
        before = t;
    }
}

TEST_CASE("P99 of a row left out is met by the others of its class", "[percentiles]") {
    // Classes as latency_spread() takes them, with a row missing in turn.
    std::vector<double> errors;
    const auto all = latency_spread_rows();
    for (const SpreadRow& out : all) {
        std::vector<SpreadRow> rest;
        for (const SpreadRow& r : all)
            if (&r != &out && r.stack == out.stack && r.family == out.family &&
                r.integrated == out.integrated)
                rest.push_back(r);
        if (rest.size() < 4)
            continue;
        const double predicted = fit_spread(rest).at(out.p50_ms * 1e-3).p99;
        errors.push_back(std::abs(predicted / (out.p99_ms * 1e-3) - 1));
    }
    REQUIRE(errors.size() > 60);
    std::sort(errors.begin(), errors.end());
    CHECK(errors[errors.size() / 2] < 0.02);     // the median row
    CHECK(errors[errors.size() * 9 / 10] < 0.2); // nine in ten
    CHECK(errors[errors.size() / 2] > 0.001);    // left out indeed
}
