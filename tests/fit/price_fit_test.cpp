#include "fit/errors/leave_out.hpp"
#include "fit/parameters/price_fit.hpp"

#include "support/shipped_session.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace archsim;

namespace {

/// A run of 100 W without dynamic work, 60 of them a die awake, beside the power of events.
PricedRun run_of_watts(const MeasuredRow& row, double dram, double chip) {
    PricedRun run;
    run.row = &row;
    run.parts.family = "gpu";
    run.parts.static_w = 100;
    run.parts.awake_w = 60;
    run.parts.event_w[static_cast<std::size_t>(Event::dram_byte)] = dram;
    run.parts.event_w[static_cast<std::size_t>(Event::mac)] = chip;
    run.parts.event_w[static_cast<std::size_t>(Event::host_link_byte)] = 5; // no multiple
    run.parts.multiple = {1, 2, 1};
    return run;
}

/// Forty runs of five networks on four devices, whose power asks for these multiples of public prices.
struct PlantedRuns {
    std::vector<MeasuredRow> rows;
    std::vector<PricedRun> runs;

    explicit PlantedRuns(const PriceMultiples& asked) {
        for (int i = 0; i < 40; ++i) {
            MeasuredRow row;
            row.model = std::string("network") + std::to_string(i % 5);
            row.hardware = std::string("device") + std::to_string(i % 4);
            rows.push_back(row);
        }
        for (int i = 0; i < 40; ++i) {
            PricedRun run = run_of_watts(rows[static_cast<std::size_t>(i)], 20.0 * (i % 7), 15.0 * (i % 11));
            const double dram = 20.0 * (i % 7) / 2; // the watts hold a multiple of 2
            run.measured_w = 40 + asked[0] * 60 + 5 + asked[1] * dram + asked[2] * 15.0 * (i % 11);
            runs.push_back(run);
        }
    }
};

} // namespace

TEST_CASE("multiples of prices are what measured power asks for", "[run][power]") {
    const PriceMultiples asked{1.5, 0.8, 1.2};
    const PlantedRuns planted(asked);
    const PriceFit fit(planted.runs);
    CHECK(fit.decided());
    const FittedPrices fitted = fit.fitted();
    CHECK(fitted.runs == 40);
    CHECK(fitted.error < 0.02);
    for (std::size_t g = 0; g < kPriceGroupCount; ++g) {
        CHECK(fitted.used[g]);
        CHECK(fitted.values[g] == Approx(asked[g]).epsilon(0.05)); // an expectation of 1 pulls a little
    }
    CHECK(fit.without(LeaveOut::family, planted.rows[0]) == PriceMultiples{1, 1, 1});
}

TEST_CASE("runs at their power limit ask for no lower prices", "[run][power]") {
    // Half of the runs would draw more than the 200 W that their limit allows: they say no more than that.
    const PriceMultiples asked{1.5, 0.8, 1.2};
    PlantedRuns planted(asked);
    for (PricedRun& run : planted.runs) {
        run.limit_w = 200;
        run.measured_w = std::min(run.measured_w, run.limit_w);
    }
    const FittedPrices fitted = PriceFit(planted.runs).fitted();
    for (std::size_t g = 0; g < kPriceGroupCount; ++g)
        CHECK(fitted.values[g] == Approx(asked[g]).epsilon(0.1)); // fewer say so against an expectation of 1
    CHECK(fitted.error < 0.02);
}

TEST_CASE("a published clock at the limit is a run that draws the limit", "[run][power]") {
    const Session& session = test::shipped_session();
    const std::vector<MeasuredRow> rows = clocks_as_rows(session);
    REQUIRE(rows.size() == session.energy().clocks_at_limit().size());
    const auto runs = clock_runs(session, rows);
    REQUIRE(runs.contains("gpu"));
    for (const PricedRun& run : runs.at("gpu")) {
        INFO(run.row->id);
        CHECK(run.measured_w == session.machine(run.row->hardware)->power_limit_w);
        CHECK(run.parts.awake_w <= run.parts.static_w);
        // Prices are known within the margins of docs/energy.md.
        CHECK(run.parts.total() == Approx(run.measured_w).epsilon(0.2));
    }
    // A40: 84 units of 128 lanes, two operations each, at 1.635 GHz, 6.91 pJ at 1.74 GHz.
    const PricedRun& a40 = runs.at("gpu").front();
    const double chip = a40.parts.event_w[static_cast<std::size_t>(Event::mac)] /
                        a40.parts.multiple[static_cast<std::size_t>(PriceGroup::chip)];
    CHECK(chip == Approx(84 * 256 * 1.635e9 * 6.91e-12 * 1635 / 1740).epsilon(0.03));
}

TEST_CASE("prices do not see the rows that are left out", "[run][power]") {
    PlantedRuns planted({1.5, 0.8, 1.2});
    const auto without = [&](LeaveOut what) { return PriceFit(planted.runs).without(what, planted.rows[3]); };
    const PriceMultiples model = without(LeaveOut::model), device = without(LeaveOut::device);
    for (PricedRun& run : planted.runs)
        if (run.row->model == "network3")
            run.measured_w *= 3;
    CHECK(without(LeaveOut::model) == model);
    CHECK(without(LeaveOut::device) != device); // runs of that network on the others
    // Of runs on two devices nobody knows what belongs to the chip; of ten nobody tells three prices apart.
    std::vector<PricedRun> two;
    for (const PricedRun& run : planted.runs)
        if (run.row->hardware < "device2")
            two.push_back(run);
    CHECK_FALSE(PriceFit(two).decided());
    CHECK_FALSE(PriceFit({planted.runs.begin(), planted.runs.begin() + 10}).decided());
}

TEST_CASE("left-out power takes left-out prices, and shipped ones otherwise", "[run][power]") {
    const RowEstimator estimator(test::shipped_session());
    MeasuredRow row;
    row.id = "a";
    row.model = "resnet50";
    row.image_size = 224;
    row.batch = 1; // below the limit, which takes what dearer memory asks for from the clock
    row.precision = "fp16";
    row.hardware = "A40";
    row.runtime = "tensorrt";
    row.scope = "kernel";
    row.metric = MeasuredMetric::power_w;
    row.value = 250;
    const PriceFits few(estimator, {row}); // one run decides nothing
    CHECK(few.families().empty());
    CHECK(few.without(LeaveOut::model, row) == MachineChanges{});
    MachineChanges dearer;
    dearer[Lever::memory_energy] = 2;
    CHECK(estimator(row, nullptr, dearer).predicted > 1.05 * estimator(row).predicted);
}
