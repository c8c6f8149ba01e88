// The parts of a difference: they add up, they change sign with the direction, equal factors have none.

#include "answers/difference/attribution.hpp"
#include "answers/difference/factor_terms.hpp"
#include "laws/laws.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

using namespace archsim;

namespace {

constexpr std::array kExplained = {&metric::energy, &metric::latency, &metric::throughput,
                                   &metric::memory, &metric::power,   &metric::cost};

std::vector<std::string> devices_of_families() {
    return laws::session().hardware().deployment("families").hardware;
}

double part_of(const Attribution& attribution, Factor factor) {
    for (const Contribution& c : attribution.contributions)
        if (c.factor == factor)
            return c.value;
    return 0;
}

void check_sums(const Attribution& x) {
    const double scale = std::max(std::abs(x.a_value), std::abs(x.b_value));
    double sum = 0;
    for (const Contribution& c : x.contributions)
        sum += c.value;
    CHECK(std::abs(sum - x.difference) <= 1e-9 * std::abs(x.difference) + 1e-15 * scale);
    // The factored model is the estimate; nothing but rounding was left to give to the largest part.
    CHECK(std::abs(x.residual) <= 1e-11 * scale);
    if (x.region_contributions.empty())
        return;
    double regions = 0;
    for (const RegionContribution& r : x.region_contributions)
        regions += r.value;
    CHECK(std::abs(regions - x.difference) <= 1e-11 * scale);
}

void check_antisymmetry(const Attribution& x, const Attribution& y) {
    CHECK(x.difference == -y.difference);
    REQUIRE(x.contributions.size() == y.contributions.size());
    const double scale = std::max(std::abs(x.a_value), std::abs(x.b_value));
    for (const Contribution& c : x.contributions)
        CHECK(std::abs(c.value + part_of(y, c.factor)) <= 1e-10 * scale);
}

/// Every pair of families in both directions, every metric.
int check_pairs(const std::string& model, Precision precision, std::int64_t batch) {
    std::vector<Result> results;
    for (const std::string& hardware : devices_of_families())
        results.push_back(laws::run(model, hardware, precision, batch));
    int explained = 0;
    for (const Result& a : results)
        for (const Result& b : results)
            for (const Metric* metric : kExplained) {
                CAPTURE(model, a.hardware, b.hardware, metric->key, batch);
                const auto x = attribute(a, b, *metric), y = attribute(b, a, *metric);
                CHECK(x.has_value() == y.has_value());
                if (!x || !y)
                    continue;
                check_sums(*x);
                check_antisymmetry(*x, *y);
                if (&a == &b)
                    CHECK(x->contributions.empty());
                ++explained;
            }
    return explained;
}

} // namespace

TEST_CASE("Shapley values of a product and of a sum", "[attribution]") {
    const auto product = shapley(2, [](unsigned mask) {
        const double x = mask & 1U ? 3 : 2, y = mask & 2U ? 20 : 10;
        return x * y;
    });
    CHECK(product[0] == Approx(15));
    CHECK(product[1] == Approx(25));
    const auto sum = shapley(
        3, [](unsigned mask) { return (mask & 1U ? 7.0 : 0) + (mask & 2U ? -2.0 : 0) + 0 * (mask & 4U); });
    CHECK(sum[0] == Approx(7));
    CHECK(sum[1] == Approx(-2));
    CHECK(sum[2] == Approx(0).margin(1e-12));
}

TEST_CASE("parts add up, change sign and vanish for equal devices, for every pair of families",
          "[attribution]") {
    CHECK(check_pairs("resnet18", Precision::fp32, 1) >= 5 * 64);
    CHECK(check_pairs("mobilenet_v2", Precision::int8, 8) >= 4 * 64);
    CHECK(check_pairs("bert-base", Precision::fp16, 1) >= 4 * 36);
}

TEST_CASE("parts add up where saturated streams, pipelines and multi-part models set the pace",
          "[attribution]") {
    Conditions options;
    options.precision = PrecisionConfig::uniform(Precision::int8);
    options.scenario = Scenario::throughput;
    std::vector<Result> results;
    for (const std::string& hardware : devices_of_families())
        results.push_back(run_graph(laws::session(), laws::bound("resnet50", 4), hardware, options));
    const Workload parts{.model = laws::session().load("t5-small")};
    options.scenario = Scenario::latency;
    options.precision = PrecisionConfig::uniform(Precision::fp16);
    std::vector<Result> whole;
    for (const std::string& hardware : devices_of_families())
        whole.push_back(laws::session().estimate(parts, hardware, options));
    int explained = 0;
    for (const auto& list : {results, whole})
        for (const Result& a : list)
            for (const Result& b : list)
                for (const Metric* metric : kExplained)
                    if (const auto x = attribute(a, b, *metric)) {
                        CAPTURE(a.model->name, a.hardware, b.hardware, metric->key);
                        check_sums(*x);
                        check_antisymmetry(*x, *attribute(b, a, *metric));
                        ++explained;
                    }
    CHECK(explained > 200);
}

TEST_CASE("only the factor that was changed has a part", "[attribution]") {
    const auto changed = [](Lever lever, double factor, const std::string& hardware) {
        Conditions options;
        options.precision = PrecisionConfig::uniform(Precision::fp16);
        options.changes[lever] = factor;
        return run_graph(laws::session(), laws::bound("bert-base", 1), hardware, options);
    };
    // Neither is at its power limit, which would change the clock.
    for (const std::string& hardware : {std::string("TPU-v5e"), std::string("Xeon-8490H")}) {
        CAPTURE(hardware);
        const Result plain = changed(Lever::peak, 1, hardware);
        const auto bandwidth = attribute(changed(Lever::bandwidth, 2, hardware), plain, metric::latency);
        REQUIRE(bandwidth);
        for (const Contribution& c : bandwidth->contributions) {
            CHECK(c.factor == Factor::bandwidth);
            CHECK(c.value < 0);
        }
        const auto fixed = attribute(changed(Lever::fixed_cost, 0.5, hardware), plain, metric::latency);
        REQUIRE(fixed);
        REQUIRE(fixed->contributions.size() == 1);
        CHECK(fixed->contributions.front().factor == Factor::fixed_cost);
        constexpr double kWithinLimit = 1.1; // twice the price would take TPU-v5e to its power limit
        const auto memory =
            attribute(changed(Lever::memory_energy, kWithinLimit, hardware), plain, metric::energy);
        REQUIRE(memory);
        for (const Contribution& c : memory->contributions)
            CHECK(c.factor == Factor::memory_energy);
    }
}

TEST_CASE("the computer around a chip has a part of its own in energy and power", "[attribution]") {
    const Workload network{.model = laws::session().load("mobilenet_v2")};
    Conditions int8;
    int8.precision = PrecisionConfig::uniform(Precision::int8);
    const Result a = laws::session().estimate(network, "Raspberry Pi 5 + Hailo-8", int8),
                 b = laws::session().estimate(network, "Cortex-A76-RPi5", int8);
    const CostOptions wall{.power_at = PowerBoundary::wall}, chip{.power_at = PowerBoundary::chip};
    for (const Metric* metric : {&metric::energy, &metric::power}) {
        const auto x = attribute(a, b, *metric, wall);
        REQUIRE(x);
        check_sums(*x);
        const auto around = [&](const Result& r) {
            return *value_of(r, *metric, wall) - *value_of(r, *metric, chip);
        };
        const auto part =
            std::find_if(x->contributions.begin(), x->contributions.end(),
                         [](const Contribution& c) { return c.factor == Factor::surroundings; });
        REQUIRE(part != x->contributions.end());
        CHECK(part->value == Approx(around(a) - around(b)));
    }
}

TEST_CASE("common regions cover every subgraph of both partitions once", "[attribution]") {
    for (const std::string& model : laws::models()) {
        CAPTURE(model);
        std::vector<Result> results;
        for (const std::string& hardware : devices_of_families())
            results.push_back(laws::run(model, hardware, Precision::int8));
        std::vector<const Result*> estimated;
        for (const Result& r : results)
            if (r.ok())
                estimated.push_back(&r);
        REQUIRE(estimated.size() >= 4);
        const auto regions = common_regions(estimated);
        for (std::size_t i = 0; i < estimated.size(); ++i) {
            std::vector<int> seen(estimated[i]->partition->subgraphs.size());
            double latency = 0;
            for (const CommonRegion& region : regions) {
                CHECK_FALSE(region.name.empty());
                for (std::uint32_t s : region.subgraphs[i])
                    ++seen[s];
                latency += cost_of(region, i, *estimated[i]).latency_s;
            }
            CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 1; }));
            double subgraphs = 0;
            for (const SubgraphEstimate& s : estimated[i]->estimate.subgraphs)
                subgraphs += s.latency_s;
            CHECK(latency == Approx(subgraphs));
        }
    }
}

TEST_CASE("a quantity and its price that cancel are no main cause", "[compare][difference]") {
    const auto main_of = [](std::initializer_list<std::pair<Factor, double>> parts) {
        std::array<double, kFactorCount> all{};
        for (const auto& [factor, value] : parts)
            all[static_cast<std::size_t>(factor)] = value;
        return main_factor(all);
    };
    // A slow memory that hardly anything is fetched from.
    CHECK(main_of({{Factor::bandwidth, 1.34}, {Factor::memory_bytes, -1.29}, {Factor::fixed_cost, 1.21}}) ==
          Factor::fixed_cost);
    CHECK(
        main_of({{Factor::fabric_bytes, -4.21}, {Factor::fabric_energy, 4.07}, {Factor::static_power, -1}}) ==
        Factor::static_power);
    CHECK(main_of({{Factor::bandwidth, 1.34}, {Factor::memory_bytes, 0.1}, {Factor::host, 0.9}}) ==
          Factor::bandwidth);
    CHECK_FALSE(main_of({}));
    // It speaks for the sign of the sum, whatever is larger against it.
    CHECK(main_of({{Factor::peak, -2}, {Factor::host, 1.5}, {Factor::kernels, 1}}) == Factor::host);
}
