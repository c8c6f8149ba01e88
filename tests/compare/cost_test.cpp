// What an inference costs: rented or bought, at the user's prices.

#include "archsim/compare/cost.hpp"
#include "archsim/core/finding.hpp"

#include <catch2/catch.hpp>

#include <memory>

using namespace archsim;

namespace {

/// 100 inferences per second at 1 J each on a device without idle power.
Result made(const std::string& id, std::optional<double> hourly, std::optional<double> purchase) {
    auto device = std::make_shared<Device>();
    device->id = id;
    if (hourly)
        device->cloud_price.emplace().amount.value = *hourly;
    if (purchase)
        device->list_price.emplace().amount.value = *purchase;
    Result r;
    r.device = device;
    r.machine = std::make_shared<Machine>();
    r.estimate.throughput_per_s = 100;
    r.estimate.energy_per_inference_j = 1;
    return r;
}

CostOptions plain() {
    CostOptions options;
    options.utilization = 1;
    options.pue = 1;
    options.kwh_price = 0;
    return options;
}

} // namespace

TEST_CASE("prices are read with their unit", "[compare][cost]") {
    const GivenPrice rent = parse_price("H100=2.5/h"), buy = parse_price("Jetson-Orin-NX=700");
    CHECK(rent.hardware == "H100");
    CHECK(rent.amount == 2.5);
    CHECK(rent.hourly);
    CHECK(buy.hardware == "Jetson-Orin-NX");
    CHECK(buy.amount == 700);
    CHECK_FALSE(buy.hourly);
    for (const char* text :
         {"", "H100", "=3", "H100=", "H100=x", "H100=3/d", "H100=-1", "H100=1e999", "H100=3/h "})
        CHECK_THROWS_AS(parse_price(text), UsageError);
}

TEST_CASE("costs are those of the way asked for, at the user's prices", "[compare][cost]") {
    const Result both = made("both", 3.6, 1e-4 * 4 * 8766 * 3600); // 10 and 1 USD per million
    CostOptions options = plain();
    CHECK(*cost_of(both, options).cloud == Approx(1e-5));
    CHECK(*cost_of(both, options).owned() == Approx(1e-6));
    CHECK(cost_of(both, options).way() == Tenure::buy);
    options.tenure = Tenure::rent;
    CHECK(*cost_of(both, options).best() == Approx(1e-5));
    options.prices = {parse_price("both=7.2/h"), parse_price("other=1/h"), parse_price("both=1.8/h")};
    CHECK(*cost_of(both, options).best() == Approx(5e-6)); // the last one counts
    options.tenure = Tenure::buy;
    CHECK_FALSE(cost_of(made("rented", 1, {}), options).best());
    CHECK_FALSE(cost_of(made("rented", 1, {}), options).way());
    options.prices = {parse_price("rented=1000")};
    CHECK(cost_of(made("rented", 1, {}), options).way() == Tenure::buy);
}

TEST_CASE("rented beside bought is said", "[compare][cost]") {
    const std::vector<Result> mixed = {made("a", 1, {}), made("b", {}, 100)};
    CostOptions options = plain();
    CHECK_FALSE(mixed_tenure(mixed, options).empty());
    options.tenure = Tenure::rent;
    CHECK(mixed_tenure(mixed, options).empty());
}
