#include "fit/errors/price_check.hpp"

#include "support/shipped_session.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

using namespace archsim;

namespace {

/// Power of several networks at several batches, as if some prices were multiples of the table's.
std::vector<MeasuredRow> rows_priced_at(const RowEstimator& estimator, double dram, double rest) {
    std::vector<MeasuredRow> rows;
    for (const char* model : {"resnet50", "vgg16", "mobilenet_v2", "densenet121", "efficientnet_b0"})
        for (const int batch : {1, 8, 64, 256}) {
            MeasuredRow row;
            row.id = std::string(model) + std::to_string(batch);
            row.model = model;
            row.image_size = 224;
            row.batch = batch;
            row.precision = "fp16";
            row.hardware = "RTX-4090";
            row.runtime = "tensorrt";
            row.scope = "kernel";
            row.metric = MeasuredMetric::power_w;
            row.value = 1;
            const auto parts = estimator.power_parts(row);
            REQUIRE(parts);
            double dynamic = 0;
            for (const double watts : parts->event_w)
                dynamic += watts;
            const double moved = parts->event_w[static_cast<std::size_t>(Event::dram_byte)];
            row.value = parts->static_w + dram * moved + rest * (dynamic - moved);
            rows.push_back(std::move(row));
        }
    return rows;
}

const PriceColumn& price_column_of(const PriceCheck& check, const std::string& price) {
    return *std::find_if(check.columns.begin(), check.columns.end(), [&](const PriceColumn& column) {
        return std::find(column.prices.begin(), column.prices.end(), price) != column.prices.end();
    });
}

} // namespace

TEST_CASE("prices that measurements ask for are found, and every price is in one column", "[run][power]") {
    const RowEstimator estimator(test::shipped_session());
    const auto checks = check_prices(estimator, rows_priced_at(estimator, 1.5, 1));
    REQUIRE(checks.size() == 1);
    const PriceCheck& check = checks[0];
    CHECK(check.family == "gpu");
    CHECK(check.runs == 18); // two draw what the board is rated for, whatever the prices
    CHECK(check.networks == 5);
    CHECK(check.devices == 1);
    CHECK(check.median_before > 0.02);
    CHECK(check.median_after < 0.01);
    CHECK(check.median_network_out < 0.02);     // the multiples are the same for every network
    CHECK(std::isnan(check.median_device_out)); // of one device alone nothing is left
    CHECK(price_column_of(check, "dram_byte").factor == Approx(1.5).epsilon(0.02));
    CHECK(price_column_of(check, "static").factor == Approx(1).epsilon(0.05));
    double share = 0;
    for (const PriceColumn& column : check.columns) {
        CHECK(column.factor >= 0);
        share += column.share;
    }
    CHECK(share > 0.7);
    CHECK(3 * check.columns.size() <= check.runs);
}

TEST_CASE("one run tells nothing apart", "[run][power]") {
    const RowEstimator estimator(test::shipped_session());
    auto rows = rows_priced_at(estimator, 2, 2);
    rows.resize(2);
    const auto checks = check_prices(estimator, rows);
    REQUIRE(checks.size() == 1);
    CHECK(checks[0].columns.size() == 1);
    for (MeasuredRow& row : rows)
        row.weight = 0.4; // shown, not believed
    CHECK(check_prices(estimator, rows).empty());
}
