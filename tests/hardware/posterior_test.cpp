// What a few measured rows say of other estimates.

#include "hardware/posterior.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

using namespace archsim;

namespace {

constexpr LaneShares kCompute = {1, 0, 0}, kMemory = {0, 1, 0};

ErrorParts parts(double common, double lane, double rest) {
    ErrorParts p;
    p.set = common;
    p.lane = lane;
    p.rest = rest;
    return p;
}

GivenRow row(const std::string& device, double log_ratio, const ErrorParts& p,
             const LaneShares& lanes = kCompute) {
    GivenRow r;
    r.family = "gpu";
    r.device = device;
    r.runtime = "stack";
    r.lanes = lanes;
    r.log_ratio = log_ratio;
    r.parts = p;
    return r;
}

const ErrorSubject kSubject{"gpu", "chip", "stack", {}, SpreadOf::latency, true};

} // namespace

TEST_CASE("one row moves what shares its error, by the share", "[posterior]") {
    const ErrorParts p = parts(0.09, 0, 0.03);
    const Posterior one = posterior({row("chip", std::log(1.3), p)}, kSubject, p);
    CHECK(one.rows == 1);
    CHECK(one.mean_at(kCompute) == Approx(std::log(1.3) * 0.09 / 0.12).epsilon(0.01));
    CHECK(one.fall_at(kCompute) == Approx(0.09 * 0.09 / 0.12).epsilon(0.01));
    // Nothing of another chip's rows.
    CHECK(posterior({row("other", 1, p)}, kSubject, p).rows == 0);
    CHECK(posterior({}, kSubject, p).mean_at(kCompute) == 0);
}

TEST_CASE("a row of one lane says less of another", "[posterior]") {
    const ErrorParts p = parts(0.04, 0.05, 0.03);
    const Posterior one = posterior({row("chip", 0.3, p)}, kSubject, p);
    CHECK(one.mean_at(kMemory) > 0);
    CHECK(one.mean_at(kMemory) < one.mean_at(kCompute));
    const LaneShares half = {0.5, 0.5, 0};
    CHECK(one.mean_at(half) == Approx((one.mean_at(kMemory) + one.mean_at(kCompute)) / 2));
}

TEST_CASE("each row more leaves less unknown, and never less than nothing", "[posterior]") {
    const ErrorParts p = parts(0.09, 0.03, 0.03);
    std::vector<GivenRow> rows;
    double before = 0;
    for (int i = 0; i < 20; ++i) {
        rows.push_back(row("chip", 0.2, p, i % 2 == 0 ? kCompute : kMemory));
        const double fall = posterior(rows, kSubject, p).fall_at(kCompute);
        CHECK(fall >= before);
        CHECK(fall < 0.12);
        before = fall;
    }
    CHECK(posterior(rows, kSubject, p).mean_at(kCompute) == Approx(0.2).epsilon(0.05));
}

TEST_CASE("fifty rows and fifty devices take no time that one notices", "[posterior]") {
    const ErrorParts p = parts(0.09, 0.03, 0.03);
    std::vector<GivenRow> rows;
    for (int i = 0; i < 50; ++i)
        rows.push_back(row("chip" + std::to_string(i % 10), 0.1, p));
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 50; ++i) {
        const std::string name = "chip" + std::to_string(i % 10);
        const ErrorSubject of{"gpu", name, "stack", {}, SpreadOf::latency, true};
        CHECK(posterior(rows, of, p).rows == 5);
    }
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(1));
}
