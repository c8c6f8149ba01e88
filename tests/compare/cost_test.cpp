// What an inference costs: rented or bought, at the user's prices.

#include "archsim/compare/cost.hpp"
#include "archsim/core/finding.hpp"
#include "result/cost_terms.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace archsim;

namespace {

/// 100 inferences per second at 1 J each on a device without idle power.
Result made(const std::string& id, std::optional<double> hourly, std::optional<double> purchase) {
    auto device = std::make_shared<Device>();
    device->id = id;
    if (hourly)
        device->cloud_price.emplace().amount.value = *hourly;
    device->for_servers = id == "rack";
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
    for (const char* text : {"", "H100", "=3", "H100=", "H100=x", "H100=3/fortnight", "H100=20EUR", "H100=-1",
                             "H100=1e999", "H100=3/h "})
        CHECK_THROWS_AS(parse_price(text), UsageError);
}

TEST_CASE("what holds several devices is rented in the sizes that are let, whole where nobody shares",
          "[compare][cost]") {
    Device device;
    device.id = "card";
    Price& price = device.cloud_price.emplace();
    price.amount.value = 2;
    price.date = "2026";
    price.instances = {{"small", 1, 2}, {"middle", 4, 10}, {"large", 8, 30}};
    const auto usd = [&](double each, double engines, Share share) {
        return rental(device, each, engines, share, {})->usd_per_hour;
    };
    CHECK(usd(1, 3, Share::none) == 6);
    CHECK(usd(2, 5, Share::none) == 30);    // three of four, which hold six
    CHECK(usd(4, 1, Share::allowed) == 10); // not four small ones, which share nothing
    CHECK(usd(16, 1, Share::none) == 60);   // two of the largest
    CHECK(usd(2, 1, Share::allowed) == 5);  // half of a middle one
    CHECK_THAT(rental_text(device, *rental(device, 2, 5, Share::none, {}), 10),
               Catch::Contains("3 x middle, all 12 devices, 2026"));
    price.instances = {{"whole", 8, 16}};
    CHECK(usd(1, 1, Share::none) == 16);
    CHECK(usd(1, 1, Share::allowed) == 2);
    CostOptions own;
    own.prices = {parse_price("card=3/h")};
    CHECK(rental(device, 4, 1, Share::none, own)->usd_per_hour == 12);
    price.instances.clear();
    price.instance = "somewhere";
    CHECK(usd(4, 1, Share::none) == 8);
    CHECK_THAT(rental_text(device, *rental(device, 4, 1, Share::none, {}), 4), Catch::Contains("not known"));
}

TEST_CASE("the sizes that are let cost what one device is said to cost, fewest devices first",
          "[compare][cost]") {
    const HardwareDatabase& database = archsim::test::shipped_session().hardware();
    for (const std::string& id : database.device_ids()) {
        const auto device = database.device(id).device;
        if (!device->cloud_price || !device->cloud_price->amount.known())
            continue;
        INFO(id);
        const std::vector<RentalSize>& sizes = device->cloud_price->instances;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            CHECK((i == 0 || (sizes[i].devices > sizes[i - 1].devices &&
                              sizes[i].usd_per_hour > sizes[i - 1].usd_per_hour)));
        if (!sizes.empty())
            CHECK(sizes[0].usd_per_hour / sizes[0].devices ==
                  Approx(device->cloud_price->amount.value).epsilon(0.01));
    }
}

TEST_CASE("electricity of a data centre cools it, too; that of a desk does not", "[compare][cost]") {
    CostOptions options = plain();
    options.pue = 0;
    options.kwh_price = 3.6;
    const Result rented = made("rack", 1, {}), home = made("home", 1, 1); // who rents it out decides nothing
    CHECK(*cost_of(home, options).electricity == Approx(1e-6));
    CHECK(*cost_of(rented, options).electricity == Approx(1.58e-6));
    CHECK(*cost_of(rented, options).carbon_g == Approx(1.58 * *cost_of(home, options).carbon_g));
    options.pue = 1.2; // as stated, wherever it is
    CHECK(*cost_of(home, options).electricity == Approx(1.2e-6));
    CHECK(*cost_of(rented, options).electricity == Approx(1.2e-6));
}

TEST_CASE("a price that is given is used, or said to be of no use, or of nothing", "[compare][cost]") {
    const std::vector<Result> results = {made("a", 1, 100), made("b", 2, 100)};
    std::vector<std::shared_ptr<const Device>> devices = {results[0].device, results[1].device};
    CostOptions options = plain();
    CHECK(on_one_basis(results, options).tenure == Tenure::rent);
    options.prices = {parse_price("a=50")}; // who states what it costs to buy asks about buying
    CHECK(on_one_basis(results, options).tenure == Tenure::buy);
    CHECK(unused_prices(devices, on_one_basis(results, options)).empty());
    options.prices.push_back(parse_price("b=1/h"));
    CHECK(on_one_basis(results, options).tenure == Tenure::rent);
    CHECK_THAT(unused_prices(devices, on_one_basis(results, options)).at(0),
               Catch::Contains("--price a is not used") && Catch::Contains("--buy"));
    const HardwareDatabase& database = test::shipped_session().hardware();
    options.prices = {parse_price("h100=3/h"), parse_price("a=3/h")};
    options = with_known_prices(options, devices, database);
    CHECK(options.prices[0].hardware == "H100");
    CHECK_THAT(unused_prices(devices, options).at(0), Catch::Contains("none of these devices"));
    options.prices = {parse_price("H100X=3/h")};
    CHECK_THROWS_WITH(with_known_prices(options, devices, database),
                      Catch::Contains("--price H100X: ") && Catch::Contains("H100"));
}

TEST_CASE("numbers of costs are read with their units, and what is none is named", "[compare][cost]") {
    CostOptions options;
    const auto put = [&](std::string_view key, std::string_view text) {
        std::ranges::find(cost_numbers(), key, &CostNumber::key)->put(text, key, options);
    };
    put("utilization", "30%");
    CHECK(options.utilization == Approx(0.3));
    put("kwh_price", "$0.32");
    CHECK(options.kwh_price == Approx(0.32));
    CHECK_THROWS_WITH(put("kwh_price", "0.32EUR"),
                      Catch::Contains("kwh_price: expected US dollars") && Catch::Contains("0.32EUR"));
    for (const CostNumber& number : cost_numbers()) // each reads what it is usually
        if (const double usual = CostOptions{}.*number.at; usual > 0)
            CHECK_NOTHROW(put(number.key, std::to_string(usual)));
    CHECK_THROWS_WITH(put("pue", "0"), Catch::Contains("pue: expected a ratio from 1"));
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

TEST_CASE("costs that are compared are on one basis, and who has none is named", "[compare][cost]") {
    const std::vector<Result> mixed = {made("a", 1, {}), made("b", {}, 100), made("c", {}, 100)};
    CHECK(on_one_basis(mixed, plain()).tenure == Tenure::buy);
    CHECK_THAT(cost_basis(mixed, plain()), Catch::Contains("bought") && Catch::Contains("list price: a"));
    const std::vector<Result> rented = {made("a", 1, {}), made("b", 2, 100)};
    CHECK(on_one_basis(rented, plain()).tenure == Tenure::rent); // both can be rented, one bought
    CHECK_THAT(cost_basis(rented, plain()),
               Catch::Contains("rented by the hour") && !Catch::Contains("not ranked"));
    CostOptions options = plain();
    options.tenure = Tenure::rent;
    CHECK(on_one_basis(mixed, options).tenure == Tenure::rent); // as asked
    std::vector<Result> markets = {made("a", 1, {}), made("b", 2, {}), made("c", 3, {})};
    for (std::size_t i = 0; i < markets.size(); ++i) {
        auto device = std::make_shared<Device>(*markets[i].device);
        device->cloud_price->market = i == 1 ? "marketplace" : "hyperscaler";
        device->cloud_price->amount.note = "specialised cloud"; // words decide nothing
        markets[i].device = device;
    }
    CHECK_THAT(cost_basis(markets, plain()),
               Catch::Contains("prices of a marketplace do not compare with the others: b"));
}

// 8 requests of 1,000 tokens are read in 0.5 s at 400 J: 16,000 tokens/s of 0.05 J. A step writes 8 tokens in
// 20 ms at 2 J each: 400 tokens/s. At 3.6 USD/h and full use: 1e-3 / 16,000 and 1e-3 / 400 USD.
TEST_CASE("tokens read and tokens written have their own price", "[compare][cost]") {
    Result r = made("server", 3.6, {});
    CHECK_FALSE(token_costs(r, plain()));
    const auto generation = std::make_shared<GenerationEstimate>();
    r.generation = generation;
    GenerationEstimate& g = *generation;
    g.batch = 8;
    g.prompt_tokens = 1000;
    g.time_to_first_token_s = 0.5;
    g.energy_first_token_j = 400;
    g.time_per_output_token_s = 0.02;
    g.energy_per_token_j = 2;
    CostOptions options = plain();
    options.kwh_price = 0.36; // 1e-7 USD per joule
    options.grid_intensity = 360;
    const auto costs = token_costs(r, options);
    REQUIRE(costs);
    CHECK(*costs->prompt.cloud == Approx(6.25e-8));
    CHECK(*costs->prompt.electricity == Approx(5e-9)); // 400 / 8,000 J
    CHECK(*costs->output.cloud == Approx(2.5e-6));
    CHECK(*costs->output.electricity == Approx(2e-7));
    CHECK(*costs->output.carbon_g == Approx(2e-4));
    CHECK_FALSE(costs->output.capital);
    g.time_per_output_token_s = 0; // a prompt without an answer
    CHECK_FALSE(token_costs(r, options)->output.cloud);
}

// 164 kg over 4 years at 100/s and full use: 164,000 g / (4 x 8766 x 3600 x 100).
TEST_CASE("what making a device emitted is spread over its years of use", "[compare][cost]") {
    const Result plain_one = made("a", 1, {});
    CHECK_FALSE(cost_of(plain_one, plain()).embodied_g);
    Result published = plain_one;
    auto device = std::make_shared<Device>(*plain_one.device);
    device->embodied_carbon.value = 164;
    published.device = device;
    CHECK(*cost_of(published, plain()).embodied_g == Approx(1.2992e-5).epsilon(1e-3));
    CostOptions half = plain();
    half.utilization = 0.5;
    CHECK(*cost_of(published, half).embodied_g == Approx(2 * 1.2992e-5).epsilon(1e-3));
}

// 1,000 USD and 500 of its server over 4 years at 100/s: 1,500 / (4 x 8766 x 3600 x 100).
TEST_CASE("a card that is bought pays its part of the server", "[compare][cost]") {
    Result card = made("card", 1, 1000);
    auto device = std::make_shared<Device>(*card.device);
    device->server_price.emplace().amount.value = 500;
    card.device = device;
    CHECK(*cost_of(card, plain()).capital == Approx(1500 / (4 * 8766 * 3600.0 * 100)));
    CHECK(*cost_of(card, plain()).cloud == *cost_of(made("card", 1, 1000), plain()).cloud);
    CostOptions buys = plain();
    buys.tenure = Tenure::buy;
    const std::vector<Result> beside = {card, made("alone", 1, 1000)};
    CHECK_THAT(cost_basis(beside, buys), Catch::Contains("server is in that of card, none in that of alone"));
    CostOptions given = plain();
    given.prices = {parse_price("card=2000")}; // the price of the card alone
    CHECK(*cost_of(card, given).capital == Approx(2500 / (4 * 8766 * 3600.0 * 100)));
}
