// Laws of energy over devices and models, and the account that reports show.

#include "archsim/compare/cost.hpp"
#include "estimate/price.hpp"
#include "hardware/energy_table.hpp"
#include "laws/laws.hpp"
#include "report/blocks/energy_report.hpp"
#include "report/blocks/explanations.hpp"
#include "result/cost_terms.hpp"
#include "result/decisions.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using namespace archsim;

namespace {

const std::vector<std::string> kHardware = {
    "A100",   "T4",      "Jetson-Orin-Nano@15W", "Xeon-8480+", "TPU-v4",         "KPU-T64@6W",
    "TDA4VM", "QCS8550", "DPU-ZCU102",           "Hailo-8",    "CGRA-Plasticine"};

template <class Check>
void for_each_estimate(Check check) {
    std::size_t estimates = 0;
    for (const std::string& hardware : kHardware)
        for (const std::string& model : laws::models()) {
            const Result r = laws::run(model, hardware, Precision::int8);
            INFO(model << " on " << hardware << ": " << r.estimate.reason);
            if (!r.ok())
                continue;
            ++estimates;
            check(r);
        }
    CHECK(estimates > 2 * laws::models().size());
}

} // namespace

TEST_CASE("the account's lines add up to the energy of the estimate", "[energy][laws]") {
    for_each_estimate([](const Result& r) {
        double sum = 0;
        for (const EnergyItem& item : energy_items(r)) {
            CHECK(item.joules == Approx(item.count * item.each_j).epsilon(1e-9));
            CHECK(item.source.find(": ") != std::string::npos);
            sum += item.joules;
        }
        CHECK(sum == Approx(r.estimate.energy.total()).epsilon(1e-9));
        CHECK(r.estimate.power_w ==
              Approx(sum / r.estimate.batch * r.estimate.throughput_per_s).epsilon(1e-9));
    });
}

TEST_CASE("subgraphs and what lies outside them add up to the dynamic energy", "[energy][laws]") {
    for_each_estimate([](const Result& r) {
        EnergyBreakdown sum;
        for (const SubgraphEstimate& s : r.estimate.subgraphs)
            for (std::size_t e = 0; e < kEventCount; ++e)
                sum.joules[e] += s.energy.joules[e];
        for (std::size_t e = 0; e < kEventCount; ++e) {
            INFO(name_of(static_cast<Event>(e)));
            CHECK(sum.joules[e] <= r.estimate.energy.joules[e] * (1 + 1e-9));
        }
        CHECK(r.estimate.peak_power_w >= r.estimate.power_w * (1 - 1e-9));
    });
}

TEST_CASE("fusion never raises the energy of DRAM traffic", "[energy][laws]") {
    std::size_t saved = 0;
    for_each_estimate([&](const Result& r) {
        const FusionPolicy nothing{false, false, false, false, false, false, false, false, false};
        const auto plain =
            laws::bound(r.model->name, 1)
                ->work(nothing, r.estimate.executed, {r.machine->runtime->rules, r.device->generation});
        const Estimate unfused = estimate(*plain, *r.machine, {});
        REQUIRE(unfused.status == Status::ok);
        CHECK(r.estimate.events[Event::dram_byte] <= unfused.events[Event::dram_byte] * (1 + 2e-3));
        saved += r.estimate.events[Event::dram_byte] < unfused.events[Event::dram_byte];
    });
    CHECK(saved > 0);
}

TEST_CASE("an event costs the same at a clock, whoever chose it", "[energy][laws]") {
    // A mode, a limit that throttles and a design with that clock have one voltage.
    const Session& session = laws::session();
    std::vector<Finding> findings;
    for (const auto& device : session.hardware().all_devices(findings)) {
        CAPTURE(device->id);
        Conditions half;
        half.structure[Structure::clock] = 0.5;
        const auto own = session.machine(device->id, {}), slow = session.machine(device->id, half);
        if (!own->energy || own->power_budget_w > 0)
            continue;
        EventCounts one;
        one[Event::l1_byte] = one[Event::instruction] = 1;
        one.macs[static_cast<std::size_t>(Precision::int8)] = 1;
        CHECK(price_energy(one, *slow, 1, 1).total() == Approx(price_energy(one, *own, 0.5, 1).total()));
        CHECK(price_energy(one, *slow, 1, 1).total() <= price_energy(one, *own, 1, 1).total() * (1 + 1e-9));
    }
}

TEST_CASE("MaxQ is the clock of least energy, and every device has it", "[energy][laws]") {
    for (const std::string hardware : {"A100", "T4", "TPU-v4", "Jetson-AGX-Orin", "QCS8550", "DPU-ZCU102"}) {
        const Result best = laws::run("resnet50", hardware + "@maxq", Precision::int8, 16);
        INFO(hardware << ": " << best.estimate.reason);
        REQUIRE(best.ok());
        CHECK(best.power_mode == kEfficientMode);
        CHECK(best.machine->efficient_clock);
        Machine other = *best.machine;
        other.efficient_clock = false;
        const double host_w = other.energy->host_share.value_or(0) * other.device->tdp.value_or(0);
        const auto system_joules = [&](const Estimate& e) {
            return e.energy.total() + host_w * e.batch / e.throughput_per_s;
        };
        const Estimate fastest = laws::run_on("resnet50", other, Precision::int8, 16);
        CHECK(system_joules(best.estimate) <= system_joules(fastest) * (1 + 1e-6));
        CHECK(best.estimate.latency_s >= fastest.latency_s * (1 - 1e-9));
        CHECK(best.estimate.clock_ratio <= fastest.clock_ratio);
    }
    // One voltage: a lower clock saves nothing.
    CHECK(laws::run("resnet50", "DPU-ZCU102@MaxQ", Precision::int8).estimate.clock_ratio == Approx(1));
    CHECK(laws::run("resnet50", "A100@MaxQ", Precision::int8, 256).estimate.clock_ratio < 0.95);
}

TEST_CASE("the energy interval holds the estimate and is not narrower than that of latency", "[energy]") {
    for_each_estimate([](const Result& r) {
        const Estimate& e = r.estimate;
        CHECK(e.energy_interval.low <= e.energy_per_inference_j);
        CHECK(e.energy_interval.high >= e.energy_per_inference_j);
        CHECK(e.energy_interval.high / e.energy_interval.low >=
              e.latency_interval.high / e.latency_interval.low * 0.999);
    });
}

TEST_CASE("cost follows its formulas", "[cost]") {
    const CostOptions o;
    const Result r = laws::run("resnet50", "A100", Precision::int8, 8);
    REQUIRE(r.ok());
    REQUIRE(r.device->cloud_price);
    const Cost cost = cost_of(r, o);
    CHECK(*cost.cloud ==
          Approx(r.device->cloud_price->amount.value / (3600 * r.estimate.throughput_per_s * o.utilization)));
    const double least = r.estimate.energy_per_inference_j * pue_of(*r.device, o.pue) / 3.6e6;
    CHECK(*cost.electricity > least * o.kwh_price);
    CHECK(*cost.carbon_g / *cost.electricity == Approx(o.grid_intensity / o.kwh_price));
    CostOptions busy = o;
    busy.utilization = 1;
    CHECK(*cost_of(r, busy).electricity == Approx(least * o.kwh_price));
    CHECK(*cost_of(r, busy).cloud < *cost.cloud);
    CHECK(cost.capital.has_value() == (r.device->list_price && r.device->list_price->amount.known()));
}

TEST_CASE("break-even is where both ways have cost the same", "[cost]") {
    CostOptions o;
    o.years = 10;
    const Result card = laws::run("resnet50", "DPU-ZCU102", Precision::int8);
    const Result rented = laws::run("resnet50", "A100", Precision::int8);
    REQUIRE(card.ok());
    REQUIRE(rented.ok());
    REQUIRE(card.device->list_price);
    if (const auto point = break_even(card, rented, o)) {
        const double bought =
            card.device->list_price->amount.value + point->inferences * *cost_of(card, o).electricity;
        CHECK(bought == Approx(point->inferences * *cost_of(rented, o).cloud));
        CHECK(point->within_life == (point->years <= o.years));
    }
    CHECK_FALSE(break_even(rented, rented, o).has_value());
}

TEST_CASE("cost options outside of their range are refused by name", "[cost]") {
    for (const auto& change :
         {+[](CostOptions& o) { o.utilization = 0; }, +[](CostOptions& o) { o.utilization = 1.5; },
          +[](CostOptions& o) { o.pue = 0.9; }, +[](CostOptions& o) { o.years = 0; },
          +[](CostOptions& o) { o.kwh_price = -1; }, +[](CostOptions& o) { o.grid_intensity = NAN; }}) {
        CostOptions options;
        change(options);
        CHECK_THROWS_AS(check_cost_options(options), UsageError);
    }
    CHECK_NOTHROW(check_cost_options({}));
}

TEST_CASE("the cost block shows dates, missing prices and assumptions", "[cost]") {
    std::vector<Result> results = {laws::run("resnet50", "A100", Precision::int8),
                                   laws::run("resnet50", "TPU-v1", Precision::int8)};
    Report report;
    report.blocks = cost_blocks(results, {});
    const std::string text = render(report, Format::text, {160});
    CHECK(text.find("USD/h (") != std::string::npos);
    CHECK(text.find("no published price") != std::string::npos);
    CHECK(text.find("PUE 1.58") != std::string::npos);
    const auto json = cost_members().value({results, {}});
    CHECK(json["results"][0]["cloud_price"]["date"].is_string());
    CHECK(json["results"][1]["cloud_usd_per_million"].is_null());
}

TEST_CASE("the energy report renders, and its JSON adds up", "[energy]") {
    // Weights of 138 MB, more than any cache of the device keeps from one inference to the next.
    std::vector<Result> results = {laws::run("vgg16", "A100", Precision::int8)};
    const std::string text = render(describe_energy(results, {true}), Format::text, {200});
    for (const char* word :
         {"multiply-accumulate int8", "static power", "DRAM-to-core wires", "At the wall", "sum"})
        CHECK(text.find(word) != std::string::npos);
    const auto json = energy_members().value({results, {.subgraphs = true}});
    double sum = 0;
    for (const auto& event : json["results"][0]["events"])
        sum += event["energy_j"].get<double>();
    CHECK(sum == Approx(json["results"][0]["energy_per_inference_j"].get<double>()));
    CHECK(json["results"][0]["subgraphs"].size() == results[0].estimate.subgraphs.size());
}
