// Properties that hold for every device, power mode and model, whatever the numbers are.

#include "hardware/energy_table.hpp"
#include "laws/laws.hpp"
#include "map/accelerator.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace archsim;

namespace {

/// Rounding of sums over a few hundred subgraphs.
constexpr double kOfLaws = 1e-9;
constexpr double kSearch = 1e-5; // of a clock under a limit

template <class Check>
void for_every_case(Precision precision, Check check) {
    for (const std::string& hardware : laws::hardware())
        for (const std::string& model : laws::models()) {
            const Result result = laws::run(model, hardware, precision);
            INFO(model << " on " << hardware << " at " << name_of(precision) << ": "
                       << result.estimate.reason);
            if (result.ok())
                check(result, model, hardware);
            else
                CHECK_FALSE(result.estimate.reason.empty());
        }
}

} // namespace

TEST_CASE("every device has an estimate or a reason for every model", "[laws]") {
    std::size_t estimates = 0;
    for (Precision precision : {Precision::fp32, Precision::fp16, Precision::int8})
        for_every_case(precision, [&](const Result& r, const std::string&, const std::string&) {
            ++estimates;
            CHECK(r.estimate.latency_s > 0);
            CHECK(std::isfinite(r.estimate.latency_s));
            if (!r.machine->energy) {
                CHECK(std::isnan(r.estimate.energy_per_inference_j));
                CHECK_FALSE(r.device->tdp.known());
                return;
            }
            CHECK(r.estimate.energy_per_inference_j > 0);
            CHECK(std::isfinite(r.estimate.energy_per_inference_j));
        });
    CHECK(estimates > 3 * laws::hardware().size());
}

TEST_CASE("utilisation never exceeds 100 %", "[laws]") {
    for_every_case(Precision::int8, [](const Result& r, const std::string&, const std::string&) {
        CHECK(r.estimate.utilization <= 1 + kOfLaws);
        for (const SubgraphEstimate& s : r.estimate.subgraphs) {
            INFO(r.partition->subgraphs[s.index].name);
            CHECK(s.utilization <= 1 + kOfLaws);
        }
    });
}

TEST_CASE("time is never below a lane or the compute roofline", "[laws]") {
    for_every_case(Precision::fp16, [](const Result& r, const std::string&, const std::string&) {
        const double peak = r.machine->peak_ops(r.estimate.executed.compute);
        for (const SubgraphEstimate& s : r.estimate.subgraphs) {
            INFO(r.partition->subgraphs[s.index].name);
            for (double lane : s.lane_s)
                CHECK(s.latency_s >= lane * (1 - kOfLaws));
            CHECK(s.dram_bytes >= 0);
        }
        // Winograd does a 3x3 convolution with at most 4x fewer products (F(4x4, 3x3)).
        if (peak > 0)
            CHECK(r.estimate.latency_s >= 2 * r.work->macs / peak / 4);
    });
}

TEST_CASE("average utilisation lies between its extremes", "[laws]") {
    for_every_case(Precision::int8, [](const Result& r, const std::string&, const std::string&) {
        CHECK(r.estimate.utilization_min <= r.estimate.utilization * (1 + kOfLaws));
        CHECK(r.estimate.utilization <= r.estimate.utilization_max * (1 + kOfLaws));
    });
}

TEST_CASE("units in use at one time never exceed those of the device", "[laws]") {
    for (Precision precision : {Precision::int8, Precision::fp16})
        for_every_case(precision, [](const Result& r, const std::string&, const std::string&) {
            double together = 0, units = 0;
            for (const SubgraphEstimate& s : r.estimate.subgraphs) {
                const Allocation& a = s.mapping.allocation;
                INFO(r.partition->subgraphs[s.index].name);
                CHECK(a.units_used <= a.units_total * (1 + kOfLaws));
                together += a.units_used;
                units = std::max(units, a.units_total);
            }
            if (const double sections = r.estimate.network.sections; sections > 0)
                CHECK(together <= sections * units * (1 + kOfLaws));
        });
}

// A regulator averages over milliseconds, a budget that is only estimated bounds energy instead of the clock.
TEST_CASE("peak power never exceeds the limit or budget of the part", "[laws]") {
    for (Precision precision : {Precision::int8, Precision::fp16})
        for_every_case(precision, [](const Result& r, const std::string&, const std::string&) {
            const Machine& m = *r.machine;
            if (!m.energy) {
                CHECK(std::isnan(r.estimate.peak_power_w));
                return;
            }
            const double limit = std::max(m.power_limit_w, m.power_budget_w);
            if (!(limit > 0)) // nobody published one
                return;
            CHECK(r.estimate.peak_power_w <= (limit + laws::host_power(r)) * (1 + 1e-6));
            CHECK(r.estimate.power_w <= r.estimate.peak_power_w * (1 + kOfLaws));
        });
}

TEST_CASE("energy is the sum of its events, and power lies between idle and the limit", "[laws]") {
    for_every_case(Precision::int8, [](const Result& r, const std::string&, const std::string&) {
        const Estimate& e = r.estimate;
        if (!r.machine->energy) // static power is unknown, so the sum is
            return;
        double sum = e.energy.static_joules;
        for (double joules : e.energy.joules)
            sum += joules;
        CHECK(sum == Approx(e.energy_per_inference_j * e.batch).epsilon(kOfLaws));
        CHECK(e.power_w >= r.machine->static_power_w * (1 - kOfLaws));
        const double limit = r.machine->power_limit_w;
        if (limit > r.machine->static_power_w)
            CHECK(e.power_w <= (limit + laws::host_power(r)) * (1 + 1e-6));
    });
}

TEST_CASE("more bandwidth or a higher clock is never slower", "[laws]") {
    for_every_case(Precision::fp16, [](const Result& r, const std::string& model, const std::string&) {
        Machine faster = *r.machine;
        faster.energy = nullptr; // the power limit is a law of its own
        Machine same = faster;
        for (Resource resource : {Resource::dram_bytes, Resource::weight_bytes})
            faster.rates[static_cast<std::size_t>(resource)].value *= 2;
        const double base = laws::run_on(model, same, Precision::fp16).latency_s;
        CHECK(laws::run_on(model, faster, Precision::fp16).latency_s <= base * (1 + kOfLaws));
        faster = same;
        for (Resource resource : {Resource::matrix_cycles, Resource::vector_cycles, Resource::special_cycles,
                                  Resource::overhead_cycles, Resource::l1_bytes, Resource::l2_bytes})
            faster.rates[static_cast<std::size_t>(resource)].value *= 2;
        CHECK(laws::run_on(model, faster, Precision::fp16).latency_s <= base * (1 + kOfLaws));
    });
}

TEST_CASE("time falls as the clock rises, and no faster", "[laws]") {
    for (const std::string& device : laws::hardware()) {
        double before = 0, clock_before = 0;
        for (const double clock : {0.25, 0.5, 0.7, 1.0, 1.2, 1.4, 2.0, 4.0}) {
            Conditions conditions;
            conditions.precision = PrecisionConfig::uniform(Precision::int8);
            conditions.structure[Structure::clock] = clock;
            conditions.keep_subgraphs = false;
            const Result r = run_graph(laws::session(), laws::bound("mobilenet_v2", 1), device, conditions);
            if (!r.ok())
                break;
            CAPTURE(device, clock, clock_before);
            const double now = r.estimate.latency_s;
            if (before > 0) {
                CHECK(now <= before * (1 + kSearch));
                CHECK(now * clock >= before * clock_before * (1 - kSearch));
            }
            before = now;
            clock_before = clock;
        }
    }
}

namespace {

// Libraries for processors with caches run a batch whole (measured GPUs do: on RTX-4090 rows, pieces that fit
// the L2 would be 55 % faster than measured). Lines that a larger batch evicts cost the way to the last
// cache, or through it to DRAM, and static power meanwhile; the fastest tile of a larger product may load
// more from the L2. Nothing else may rise.
double allowed_energy_per_inference(const Result& previous, const Result& current) {
    const Machine& m = *current.machine;
    double allowed = previous.estimate.energy_per_inference_j * 1.001;
    if (m.device->family != Family("cpu") && m.device->family != Family("gpu")) {
        // Where software manages the memory, a schedule that is faster may take as much more energy.
        const auto per_item = [](const Result& r) { return r.estimate.latency_s / r.estimate.batch; };
        return allowed * std::max(1.0, per_item(previous) / per_item(current));
    }
    const auto rise = [&](Event event) {
        const auto per_item = [event](const Result& r) {
            return r.estimate.events[event] / r.estimate.batch;
        };
        return std::max(0.0, per_item(current) - per_item(previous));
    };
    const EnergyTable& prices = *m.energy;
    const double evicted = rise(Event::dram_byte);
    const double static_w =
        m.static_power_w / current.estimate.clock_ratio; // while clocks wait for the limit
    if (m.device->family == Family("gpu"))
        allowed += rise(Event::l2_byte) * prices[Event::l2_byte].value_or(0);
    else if (m.rate(Resource::llc_bytes) > 0)
        allowed += rise(Event::llc_byte) *
                   (prices[Event::llc_byte].value_or(0) + static_w / m.rate(Resource::llc_bytes));
    return allowed + evicted * (prices[Event::dram_byte].value + prices[Event::llc_byte].value_or(0) +
                                static_w / m.rate(Resource::dram_bytes));
}

// Where the batch has one item, a transposition of it moves nothing; more items are moved by a region of its
// own, which processors count.
bool starts_more_regions(const Result& previous, const Result& current) {
    return current.machine->device->family == Family("cpu") &&
           current.estimate.events[Event::scheduling] > previous.estimate.events[Event::scheduling];
}

} // namespace

// ONNX Runtime, Quantize ONNX Models: dynamic quantisation for transformers, static for convolutions, and a
// gain where the processor has 8-bit dot products; none may lose more than a fifth of its speed.
TEST_CASE("8-bit integers take no longer than floats under ONNX Runtime on any processor", "[laws]") {
    for (const std::string& hardware : laws::hardware()) {
        const auto device = laws::session().hardware().device(hardware).device;
        if (device->family != Family("cpu") ||
            !laws::session().hardware().runtime("onnxruntime-cpu")->serves(*device))
            continue;
        for (const std::string& model : laws::models()) {
            const auto seconds = [&](Precision precision) {
                Conditions conditions;
                conditions.precision = PrecisionConfig::uniform(precision);
                conditions.stack = "onnxruntime-cpu";
                const Result r =
                    laws::session().estimate({.model = laws::session().load(model)}, hardware, conditions);
                return r.ok() ? r.estimate.latency_s : 0;
            };
            INFO(model << " on " << hardware);
            CHECK(seconds(Precision::int8) <= 1.2 * seconds(Precision::fp32));
        }
    }
}

TEST_CASE("doubling the batch never lowers latency, never raises energy per inference by more than it saves "
          "in time, and never lowers throughput where software manages the memory",
          "[laws]") {
    for (const std::string& hardware : laws::hardware())
        for (const std::string& model : laws::models())
            for (const Precision precision : {Precision::int8, Precision::fp16}) {
                std::optional<Result> previous;
                for (std::int64_t batch : {1, 2, 4, 8, 16, 32}) {
                    Result r = laws::totals(model, hardware, precision, batch);
                    if (!r.ok())
                        break;
                    INFO(model << " on " << hardware << " in " << name_of(precision) << " at batch "
                               << batch);
                    if (previous) {
                        const Estimate &before = previous->estimate, &now = r.estimate;
                        // A core without an image of its own leaves its memory unused.
                        const double unused = r.machine->device->family == Family("tpu") ? 0.05 : kOfLaws;
                        CHECK(now.latency_s >= before.latency_s * (1 - unused));
                        if (r.machine->energy && !starts_more_regions(*previous, r))
                            CHECK(now.energy_per_inference_j <= allowed_energy_per_inference(*previous, r));
                        if (managed_memory_bytes(*r.machine) > 0)
                            CHECK(now.throughput_per_s >= before.throughput_per_s * (1 - kSearch));
                    }
                    previous = std::move(r);
                }
            }
}

// On vector engines a narrower format may lack the kernels: measured INT8 is slower than FP16 on Arm cores
// under ncnn and on V100, which has no INT8 tensor path; a matrix engine that the stack has no kernels for
// counts as none. Nor does the law hold where a chip has less peak in
// the narrower format: the B300's tensor units traded INT8 for FP4, RDNA 3 multiplies both at one rate.
TEST_CASE("INT8 is never slower than FP16, nor FP16 than FP32, on matrix engines", "[laws]") {
    for (const std::string& hardware : laws::hardware())
        for (const std::string& model : laws::models()) {
            double narrower = 0, narrower_peak = 0;
            for (Precision precision : {Precision::int8, Precision::fp16, Precision::fp32}) {
                const Result r = laws::run(model, hardware, precision);
                if (!r.ok() || r.estimate.executed.compute != precision ||
                    !r.estimate.precision_note.empty() || r.machine->matrix_ops(precision) <= 0)
                    continue;
                INFO(model << " on " << hardware << " at " << name_of(precision));
                const double peak = r.device->peak(EngineClass::matrix, precision);
                if (peak < narrower_peak || narrower_peak == 0)
                    CHECK(r.estimate.latency_s >= narrower * (1 - kOfLaws));
                narrower = r.estimate.latency_s;
                narrower_peak = peak;
            }
        }
}

TEST_CASE("fused traffic never exceeds unfused traffic", "[laws]") {
    for (const std::string& model : laws::models()) {
        const auto network = laws::bound(model, 1)->work({}, PrecisionConfig::uniform(Precision::fp16), {});
        for (const SubgraphWork& s : network->subgraphs) {
            INFO(model << ": " << s.name);
            CHECK(s.activation_bytes() + s.weight_bytes <= s.unfused_bytes * (1 + kOfLaws));
        }
    }
}

TEST_CASE("peak memory holds the weights and the largest operator", "[laws]") {
    for (const std::string& model : laws::models()) {
        const auto network = laws::bound(model, 1)->work({}, PrecisionConfig::uniform(Precision::fp16), {});
        CHECK(network->memory.arena_bytes >= network->memory.peak_live_bytes * (1 - kOfLaws));
        CHECK(network->memory.arena_bytes >= network->largest_activation_bytes * (1 - kOfLaws));
    }
}

TEST_CASE("peak memory is the sum of its parts", "[laws]") {
    for (const std::string& hardware : laws::hardware())
        for (const std::string& model : laws::models()) {
            const Result r = laws::run(model, hardware, Precision::fp32);
            if (!r.ok())
                continue;
            INFO(model << " on " << hardware);
            const MemoryEstimate& m = r.estimate.memory;
            CHECK(m.workspace_bytes >= 0);
            CHECK(m.peak_bytes ==
                  Approx(m.weight_bytes + m.activation_bytes + m.kv_cache_bytes + m.workspace_bytes)
                      .epsilon(kOfLaws));
            CHECK((m.capacity_bytes <= 0 || m.peak_bytes <= m.capacity_bytes));
        }
}

TEST_CASE("the workspace is the largest of any kernel", "[laws]") {
    const Result r = laws::run("resnet50", "Cortex-A76-RPi5", Precision::fp32); // Winograd under ncnn
    double most = 0;
    for (const SubgraphEstimate& s : r.estimate.subgraphs)
        most = std::max(most, s.mapping.workspace_bytes);
    CHECK(most > 1e6);
    CHECK(r.estimate.memory.workspace_bytes == most);
}

TEST_CASE("the same input gives the same bits", "[laws]") {
    for (const char* hardware : {"H100", "Xeon-8490H", "KPU-T64@6W"}) {
        const Result a = laws::run("resnet50", hardware, Precision::int8);
        const Result b = laws::run("resnet50", hardware, Precision::int8);
        CHECK(a.estimate.latency_s == b.estimate.latency_s);
        CHECK(a.estimate.energy_per_inference_j == b.estimate.energy_per_inference_j);
    }
}

namespace {

/// What the database states of a device as one number, a hundredth larger.
void enlarge(Fact& fact) {
    if (fact.known())
        fact.value *= 1.01;
}

using Step = std::pair<std::string, std::function<void(Device&)>>;

/// A hundredth more of every number that the device's family states, and of its memories and clocks.
std::vector<Step> steps_of(const Device& device) {
    std::vector<Step> steps = {
        {"memory levels",
         [](Device& d) {
             for (MemoryLevel& level : d.memory)
                 enlarge(level.capacity);
         }},
        {"DRAM bandwidth",
         [](Device& d) {
             if (d.dram)
                 enlarge(d.dram->bandwidth);
         }},
        {"host link", [](Device& d) { enlarge(d.host_link_bandwidth); }},
    };
    for (const FactRow& row : device.family.row().facts)
        if (family_number(device, row.name).known())
            steps.emplace_back(row.name,
                               [name = row.name](Device& d) { enlarge(family_fact<Fact>(d, name)); });
    return steps;
}

} // namespace

TEST_CASE("one more column changes little", "[laws]") {
    for (Precision precision : {Precision::int8, Precision::fp16})
        for_every_case(precision, [&](const Result& r, const std::string& model, const std::string&) {
            for (const auto& [what, step] : steps_of(*r.device)) {
                auto larger = std::make_shared<Device>(*r.device);
                step(*larger);
                MachineOptions options;
                options.scenario = r.machine->scenario;
                options.energy = r.machine->energy;
                const Machine machine =
                    make_machine(std::move(larger), r.power_mode, r.machine->runtime, options);
                INFO("1 % more of: " << what);
                const Estimate e = laws::run_on(model, machine, precision);
                CHECK(e.latency_s < r.estimate.latency_s * 1.1);
                CHECK(e.latency_s > r.estimate.latency_s / 1.1);
            }
        });
}
