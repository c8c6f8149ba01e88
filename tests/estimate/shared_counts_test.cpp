// An equivalence class of subgraphs is mapped and priced once: the result must be that of mapping each of
// them.

#include "laws/laws.hpp"
#include "map/counts_of_structure.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace archsim;

namespace {

bool same(const Demand& a, const Demand& b) {
    return a.resource == b.resource && a.lane == b.lane && a.amount == b.amount &&
           a.efficiency == b.efficiency && a.reason == b.reason;
}

/// Equal bits in every count.
bool same(const Mapping& a, const Mapping& b) {
    return a.demand_count == b.demand_count &&
           std::equal(a.all().begin(), a.all().end(), b.all().begin(),
                      [](const Demand& x, const Demand& y) { return same(x, y); }) &&
           a.events.counts == b.events.counts && a.events.macs == b.events.macs &&
           a.ideal_cycles == b.ideal_cycles && a.allocation.units_used == b.allocation.units_used &&
           a.allocation.waves == b.allocation.waves && a.allocation.tile_m == b.allocation.tile_m &&
           std::string_view(a.allocation.scheme) == b.allocation.scheme;
}

/// `rounding`: share by which sums of events in another order may differ; times have one order.
void check_same(const Estimate& a, const Estimate& b, double rounding = 0) {
    const auto near = [rounding](double x, double y) {
        return (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= rounding * std::abs(y);
    };
    CHECK(a.status == b.status);
    CHECK(a.latency_s == b.latency_s);
    CHECK(a.throughput_per_s == b.throughput_per_s);
    CHECK(near(a.energy_per_inference_j, b.energy_per_inference_j));
    CHECK(std::equal(a.energy.joules.begin(), a.energy.joules.end(), b.energy.joules.begin(), near));
    CHECK(near(a.power_w, b.power_w));
    CHECK(near(a.peak_power_w, b.peak_power_w));
    CHECK(a.clock_ratio == b.clock_ratio);
    CHECK(a.utilization == b.utilization);
    CHECK(a.utilization_min == b.utilization_min);
    CHECK(a.latency_interval.high == b.latency_interval.high);
    CHECK(std::equal(a.events.counts.begin(), a.events.counts.end(), b.events.counts.begin(), near));
    CHECK(std::equal(a.events.macs.begin(), a.events.macs.end(), b.events.macs.begin(), near));
    CHECK(a.compute_bound == b.compute_bound);
    CHECK(a.overhead_bound == b.overhead_bound);
}

} // namespace

TEST_CASE("every mapper counts the members of an equivalence class alike", "[laws][estimate]") {
    std::size_t shared = 0, all = 0;
    for (const char* model : {"resnet50", "bert-base", "googlenet", "mobilenet_v2", "swin_t", "gpt2"})
        for (const std::string& hardware : laws::hardware())
            for (const std::int64_t batch : {1, 8}) {
                const Result result = laws::run(model, hardware, Precision::int8, batch);
                if (!result.ok())
                    continue;
                const Machine& machine = *result.machine;
                const Mapper& mapper = mapper_for(machine.device->family);
                const NetworkWork& work = *result.work;
                REQUIRE(work.representatives.size() == work.subgraphs.size());
                const std::vector<std::uint32_t>& classes = classes_for(mapper, work);
                REQUIRE(classes.size() == work.subgraphs.size());
                std::vector<Mapping> own(work.subgraphs.size());
                for (std::size_t i = 0; i < own.size(); ++i) {
                    mapper.map(work.subgraphs[i], work, machine, own[i]);
                    REQUIRE(work.representatives[i] <= i);
                    ++all;
                    shared += work.representatives[i] < i;
                    INFO(model << " on " << hardware << ": " << work.subgraphs[i].name << " and "
                               << work.subgraphs[work.representatives[i]].name);
                    if (!same(own[i], own[work.representatives[i]]) || !same(own[i], own[classes[i]]))
                        FAIL("counted differently");
                    // Classes of less join whole classes of more.
                    REQUIRE(classes[work.representatives[i]] == classes[i]);
                }
            }
    CHECK(shared > all * 2 / 5); // else nothing is saved
}

TEST_CASE("sharing counts changes an estimate by no more than rounding", "[laws][estimate]") {
    for (const char* model : {"resnet50", "bert-base"})
        for (const std::string& hardware : laws::hardware()) {
            const Result result = laws::run(model, hardware, Precision::fp16);
            if (!result.ok() || result.estimate.pieces > 1)
                continue;
            INFO(model << " on " << hardware);
            NetworkWork each = *result.work;
            each.representatives.clear();
            check_same(result.estimate, estimate(each, *result.machine, {}), 1e-12);
        }
}

TEST_CASE("totals alone are those of the estimate with its subgraphs", "[laws][estimate]") {
    for (const std::string& hardware : laws::hardware())
        for (const std::int64_t batch : {1, 32}) {
            INFO(hardware << ", batch " << batch);
            const auto model = laws::bound("mobilenet_v2", batch);
            Conditions options;
            options.precision = PrecisionConfig::uniform(Precision::int8);
            const Result full = run_graph(laws::session(), model, hardware, options);
            options.keep_subgraphs = false;
            const Result totals = run_graph(laws::session(), model, hardware, options);
            check_same(full.estimate, totals.estimate);
            CHECK(totals.estimate.subgraphs.empty());
            if (!full.ok())
                continue;
            double sum = full.estimate.network_s;
            for (const SubgraphEstimate& s : full.estimate.subgraphs)
                sum += s.latency_s;
            CHECK(sum == Approx(totals.estimate.latency_s).epsilon(1e-12));
        }
}

TEST_CASE("a trial of other rates is the same question asked anew", "[estimate]") {
    const auto model = laws::bound("resnet18", 4);
    for (const char* device : {"H100", "RTX-3060", "Xeon-8490H", "TPU-v4", "KPU-T64@6W", "Hailo-8", "QRB5165",
                               "DPU-ZCU102", "CGRA-Plasticine", "Jetson-Orin-Nano@7W"}) {
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(Precision::int8);
        conditions.keep_subgraphs = false;
        RateTrials trials(laws::session(), model, device, conditions);
        for (std::size_t i = 0; i < kLeverCount; ++i)
            for (const double factor : {4.0, 0.25, 1.0}) {
                conditions.changes = {};
                conditions.changes[static_cast<Lever>(i)] = factor;
                const Result trial = trials.with(conditions.changes),
                             anew = run_graph(laws::session(), model, device, conditions);
                const Estimate &a = trial.estimate, &b = anew.estimate;
                CAPTURE(device, info_of(static_cast<Lever>(i)).name, factor, a.reason, b.reason);
                CHECK(a.status == b.status);
                CHECK(a.latency_s == b.latency_s);
                CHECK(a.throughput_per_s == b.throughput_per_s);
                CHECK((a.energy_per_inference_j == b.energy_per_inference_j ||
                       std::isnan(a.energy_per_inference_j)));
                CHECK(a.latency_interval.high == b.latency_interval.high);
                CHECK(trial.machine->power_limit_w == anew.machine->power_limit_w);
            }
    }
}
