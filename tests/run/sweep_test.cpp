#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_report.hpp"

#include "answers/sweep/ordered_work.hpp"
#include "hardware/family_facts.hpp"
#include "map/counts_of_structure.hpp"
#include "session/graph_run.hpp"
#include "support/shipped_session.hpp"
#include "support/small_sweep.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace archsim;
using test::all_rows, test::as_text, test::small_request;

TEST_CASE("axes are lists, steps or ratios of factors", "[sweep]") {
    CHECK(parse_sweep_axis("bandwidth=0.5x,1x,2").factors == std::vector<double>{0.5, 1, 2});
    CHECK(parse_sweep_axis("clock=0.8x..1.2x:3").factors == std::vector<double>{0.8, 1.0, 1.2});
    const auto ratios = parse_sweep_axis("peak=0.5x..4x:log4").factors;
    REQUIRE(ratios.size() == 4);
    for (std::size_t i = 0; i < 4; ++i)
        CHECK(ratios[i] == Approx(0.5 * std::pow(2.0, static_cast<double>(i))));
    for (const char* bad : {"bandwidth", "bandwidth=", "=1x", "bandwidth=-1x", "bandwidth=nan",
                            "bandwidth=0.5x..4x", "bandwidth=0.5x..4x:log", "bandwidth=0.5x..4x:1",
                            "bandwidht=2x", "bandwidth=1e999", "bandwidth=5e60..4x:48484",
                            "bandwidth=1e-300..1e300:log3", "bandwidth=0x", "bandwidth=1x..2x:99999999999"})
        CHECK_THROWS_AS(parse_sweep_axis(bad), UsageError);
}

TEST_CASE("values with a unit are factors on the device's own, and units are those that can be built",
          "[sweep]") {
    SweepRequest q;
    q.models = {"resnet18"};
    q.hardware = {"RK3588-NPU"}; // three cores, 34.1 GB/s
    q.precisions = {"int8"};
    q.axes = {parse_sweep_axis("bandwidth=17.05GB/s,68.2 GB/s"),
              parse_sweep_axis("units=0.3x,0.4x,0.6x,1x,1.4x")};
    const Sweep sweep(test::shipped_session(), q);
    const auto& axes = sweep.request().axes;
    REQUIRE(axes[0].factors.size() == 2);
    CHECK(axes[0].factors[0] == Approx(0.5).epsilon(0.01));
    CHECK(axes[0].factors[1] == Approx(2).epsilon(0.01));
    CHECK(axes[1].factors == std::vector<double>{1.0 / 3, 2.0 / 3, 1, 4.0 / 3});
    CHECK(sweep.size() == 8);
    CHECK(sweep.notes().size() == 4);
    q.hardware = {"RK3588-NPU", "RK3568-NPU"}; // one core: whatever is asked
    CHECK_THROWS_AS(Sweep(test::shipped_session(), q), UsageError);
    q.axes.erase(q.axes.begin());
    const Sweep both(test::shipped_session(), q);
    CHECK(both.built(0, 0).front() == 1.0 / 3);
    CHECK(both.built(0, 1).front() == 1);
    for (const SweepRow& row : all_rows(both, 1))
        CHECK(row.factors[0] ==
              built_units(*test::shipped_session().hardware().device(row.hardware).device, row.factors[0]));
    CHECK(parse_sweep_axis("On-Chip Memory=2x").name == "on_chip_memory");
    for (const auto& [word, part] : {std::pair("sram=2x", "on_chip_memory"), std::pair("bw=2x", "bandwidth"),
                                     std::pair("SMs=2x", "units"), std::pair("tdp=2x", "power_limit")})
        CHECK(parse_sweep_axis(word).name == part);
    for (const char* bad :
         {"bandwidth=2GHz", "bandwidth=1x,20GB/s", "array=32x64", "macs=2x", "units=4GB", "memory=2x",
          "luck=2x", "array=4", "units=16,32", "clock=2", "on_chip_memory=1x,2"})
        CHECK_THROWS_AS(parse_sweep_axis(bad), UsageError);
}

TEST_CASE("what was asked is what is echoed, and the stated device is held beside the best", "[sweep]") {
    SweepRequest q;
    q.models = {"resnet18"};
    q.hardware = {"TPU-v4i"};
    q.precisions = {"fp16"}; // multiplies bf16
    q.axes = {parse_sweep_axis("array=512x512,1024x1024")};
    const Sweep sweep(test::shipped_session(), q);
    SweepSummary summary(sweep.request().axes);
    for (const SweepRow& row : all_rows(sweep, 1))
        summary.add(row);
    summary.study(sweep);
    const std::string said = sweep_lines(summary).front();
    CHECK_THAT(said, Catch::Contains("array 512x512"));
    CHECK_THAT(said, Catch::Contains("(fp16 requested)"));
    CHECK_THAT(said, Catch::Contains(" as stated"));
}

TEST_CASE("an engine that stands for a chip has the operations of the units that are left", "[sweep]") {
    DeviceChanges half;
    half[Structure::units] = 0.5;
    for (const char* const name : {"Hailo-8", "Apple-ANE-M4", "Groq-TSP"}) {
        const auto device = test::shipped_session().hardware().device(name).device;
        for (const EngineClass kind : {EngineClass::matrix, EngineClass::vector})
            CHECK(changed(*device, half)->peak(kind, Precision::int8) ==
                  Approx(device->peak(kind, Precision::int8) / 2));
    }
}

TEST_CASE("work in parallel comes back in order, once, and stops on request", "[sweep]") {
    for (const unsigned threads : {1U, 2U, 7U}) {
        std::vector<std::uint64_t> seen;
        in_order<std::vector<std::uint64_t>>(
            3, 1003, 10, threads,
            [](unsigned, std::uint64_t first, std::uint64_t last) {
                std::vector<std::uint64_t> numbers(last - first);
                std::iota(numbers.begin(), numbers.end(), first);
                return numbers;
            },
            [&seen](const std::vector<std::uint64_t>& numbers) {
                seen.insert(seen.end(), numbers.begin(), numbers.end());
                return seen.size() < 500;
            });
        REQUIRE(seen.size() == 500);
        for (std::size_t i = 0; i < seen.size(); ++i)
            CHECK(seen[i] == i + 3);
    }
    CHECK_THROWS_AS(in_order<int>(
                        0, 100, 1, 3,
                        [](unsigned, std::uint64_t first, std::uint64_t) -> int {
                            if (first == 50)
                                throw InputError("fifty");
                            return 0;
                        },
                        [](int) { return true; }),
                    InputError);
}

TEST_CASE("a sweep gives the same bits for any number of threads", "[sweep]") {
    const Sweep sweep(test::shipped_session(), small_request());
    REQUIRE(sweep.size() == 2 * 3 * 1 * 2 * 3 * 5);
    const std::string one = as_text(all_rows(sweep, 1), sweep, RowFormat::csv);
    CHECK(one == as_text(all_rows(sweep, 4), sweep, RowFormat::csv));
    CHECK(std::count(one.begin(), one.end(), '\n') == 181);
}

TEST_CASE("a point without changes is the estimate itself, and more bandwidth is never slower", "[sweep]") {
    const Sweep sweep(test::shipped_session(), small_request());
    const std::vector<SweepRow> rows = all_rows(sweep, 2);
    const Result own = [] {
        Conditions options;
        options.precision = PrecisionConfig::uniform(Precision::int8);
        return run_graph(test::shipped_session(),
                         test::shipped_session().bind(test::shipped_session().load("resnet18"), 8), "TPU-v4",
                         options);
    }();
    bool found = false;
    for (const SweepRow& row : rows) {
        REQUIRE(row.status == Status::ok);
        if (row.model == "resnet18" && row.hardware == "TPU-v4" && row.batch == 8 && row.factors[0] == 1 &&
            row.factors[1] == 1) {
            found = true;
            CHECK(*row.value(metric::latency) == own.estimate.latency_s);
        }
    }
    CHECK(found);
    for (const SweepRow& slow : rows)
        for (const SweepRow& fast : rows)
            if (slow.model == fast.model && slow.hardware == fast.hardware && slow.batch == fast.batch &&
                slow.factors[1] == fast.factors[1] && slow.factors[0] < fast.factors[0])
                CHECK(*fast.value(metric::latency) <= *slow.value(metric::latency) * (1 + 1e-12));
}

TEST_CASE("what neighbouring points share changes none of them", "[sweep]") {
    SweepRequest q;
    q.models = {"resnet18", "bert-base"};
    q.hardware = {"KPU-T64", "Hailo-8", "TPU-v4", "SN10", "QRB5165", "DPU-ZCU102", "H100", "Xeon-8490H"};
    q.precisions = {"fp32", "fp16", "bf16", "int8"};
    q.batches = {64, 8, 1, 128};
    const Sweep sweep(test::shipped_session(), q);
    std::size_t compared = 0;
    for (const SweepRow& row : all_rows(sweep, 2)) {
        INFO(row.model << " on " << row.hardware << " in " << row.precision << ", batch " << row.batch);
        Conditions options;
        options.precision = *PrecisionConfig::parse(row.precision);
        const Result own =
            run_graph(test::shipped_session(),
                      test::shipped_session().bind(test::shipped_session().load(row.model), row.batch),
                      row.hardware, options);
        REQUIRE(row.status == own.estimate.status);
        CHECK(row.reason == own.estimate.reason);
        if (!own.ok())
            continue;
        ++compared;
        CHECK(row.executed == name_of(own.estimate.executed.compute));
        CHECK(*row.value(metric::latency) == own.estimate.latency_s);
        CHECK(row.value(metric::energy) == value_of(own, metric::energy)); // unknown on some devices
        CHECK(*row.value(metric::utilization) == own.estimate.utilization);
        CHECK(*row.value(metric::memory) == own.estimate.memory.peak_bytes);
    }
    CHECK(compared > 150);
}

TEST_CASE("formats that a machine does not tell apart give one result", "[sweep][laws]") {
    const Session& session = test::shipped_session();
    SweepRequest q;
    q.models = {"resnet18", "bert-base", "mobilenet_v3_small"};
    q.precisions = {"fp16", "bf16"};
    q.batches = {1, 16};
    std::size_t alike = 0, apart = 0;
    for (const std::string& name : session.hardware().device_ids()) {
        const auto machine = session.machine(name, {});
        (runs_alike(Precision::fp16, Precision::bf16, *machine) ? alike : apart) += 1;
        if (runs_alike(Precision::fp16, Precision::bf16, *machine))
            q.hardware.push_back(name);
    }
    CHECK(alike > 10);
    CHECK(apart > 10); // those that have no bfloat16, or run it at another rate
    const Sweep sweep(session, q);
    for (const SweepRow& row : all_rows(sweep, 2)) {
        INFO(row.model << " on " << row.hardware << " in " << row.precision << ", batch " << row.batch);
        Conditions conditions;
        conditions.precision = *PrecisionConfig::parse(row.precision);
        const Result own = session.estimate({.model = session.load(row.model), .batch = row.batch},
                                            row.hardware, conditions);
        REQUIRE(row.status == own.estimate.status);
        REQUIRE(row.reason == own.estimate.reason);
        if (own.ok())
            REQUIRE(row.executed == name_of(own.estimate.executed.compute));
        for (const Metric* metric : MetricTable::standard().rows())
            REQUIRE(row.value(*metric) == value_of(own, *metric, sweep.request().view.conditions));
    }
}

TEST_CASE("machines that a mapper counts alike are counted once and give every estimate its own numbers",
          "[sweep][laws]") {
    // Every lever and the clock, on a device of each family; the middle factors come back after the others.
    for (const char* const device :
         {"H100", "Xeon-8490H", "TPU-v4", "KPU-T64", "QRB5165", "DPU-ZCU102", "CGRA-Plasticine", "Hailo-8"})
        for (std::size_t l = 0; l < kLeverCount; ++l) {
            const std::string lever(info_of(static_cast<Lever>(l)).name);
            SweepRequest q;
            q.models = {"resnet18"};
            q.hardware = {device};
            q.precisions = {"int8"};
            q.batches = {8};
            q.axes = {parse_sweep_axis("clock=1x,0.8x"), parse_sweep_axis(lever + "=1x,0.3x,3x,1x")};
            for (const Scenario scenario : {Scenario::latency, Scenario::throughput}) {
                q.conditions.scenario = scenario;
                const Sweep sweep(test::shipped_session(), q);
                for (const SweepRow& row : all_rows(sweep, 1)) {
                    CAPTURE(device, lever, row.factors, scenario == Scenario::latency);
                    Conditions conditions = q.conditions;
                    conditions.precision = *PrecisionConfig::parse("int8");
                    conditions.keep_subgraphs = false;
                    conditions.structure[Structure::clock] = row.factors[0];
                    conditions.changes[static_cast<Lever>(l)] = row.factors[1];
                    const Result alone = test::shipped_session().estimate(
                        {.model = test::shipped_session().load("resnet18"), .batch = 8}, device, conditions);
                    REQUIRE(row.status == alone.estimate.status);
                    REQUIRE(row.power_limited == alone.estimate.power_limited);
                    for (const Metric* metric : MetricTable::standard().rows())
                        REQUIRE(row.value(*metric) ==
                                value_of(alone, *metric, sweep.request().view.conditions));
                }
            }
        }
}

TEST_CASE("a mapper that does not say what it counts by is asked at every point", "[sweep][mapper]") {
    // Counts by the bandwidth, as no mapper of the library does here.
    struct ByBandwidth final : Mapper {
        std::string_view name() const override { return "by bandwidth"; }
        void map(const SubgraphWork&, const NetworkWork&, const Machine& machine,
                 Mapping& out) const override {
            out.add(Resource::overhead_cycles, Lane::overhead, machine.rate(Resource::dram_bytes));
        }
    };
    Machine machine = *test::shipped_session().machine("TPU-v4", {});
    CHECK_FALSE(counts_depend_on(Lever::bandwidth, machine));
    CHECK(counts_depend_on(Lever::fixed_cost, machine));
    machine.mapper = std::make_shared<ByBandwidth>();
    for (std::size_t l = 0; l < kLeverCount; ++l)
        CHECK(counts_depend_on(static_cast<Lever>(l), machine));
}

TEST_CASE("shards cover the space once", "[sweep]") {
    SweepRequest q = small_request();
    std::uint64_t next = 0;
    for (q.shard = 0, q.shards = 7; q.shard < q.shards; ++q.shard) {
        const Sweep part(test::shipped_session(), q);
        CHECK(part.first() == next);
        next = part.last();
    }
    CHECK(next == 180);
    q.shard = 7;
    CHECK_THROWS_AS(Sweep(test::shipped_session(), q), UsageError);
}

TEST_CASE("a summary that only counts has the same counts", "[sweep]") {
    SweepRequest q = small_request();
    q.hardware.push_back("Coral-Edge-TPU");
    q.precisions = {"int8", "fp32"}; // which not every device has
    SweepSummary whole, counted;
    for (const SweepRow& row : all_rows(Sweep(test::shipped_session(), q), 2)) {
        whole.add(row);
        counted.count(row);
    }
    CHECK(counted.points == whole.points);
    CHECK(counted.estimated == whole.estimated);
    CHECK(counted.incomplete == whole.incomplete);
    CHECK_FALSE(whole.best.rows().empty());
    CHECK(counted.best.rows().empty());
}

TEST_CASE("the front holds the rows that no other beats", "[sweep]") {
    const Sweep sweep(test::shipped_session(), small_request());
    const std::vector<SweepRow> rows = all_rows(sweep, 2);
    ParetoFront front(metric::latency, metric::energy), backwards(metric::latency, metric::energy);
    for (const SweepRow& row : rows)
        front.add(row);
    for (auto row = rows.rbegin(); row != rows.rend(); ++row)
        backwards.add(*row);
    const std::vector<SweepRow> found = front.rows();
    REQUIRE_FALSE(found.empty());
    for (const SweepRow& member : found) {
        CHECK(leads(member.standing));
        for (const SweepRow& row : rows)
            if (row.model == member.model && leads(row.standing))
                CHECK_FALSE((*row.value(metric::latency) <= *member.value(metric::latency) &&
                             *row.value(metric::energy) <= *member.value(metric::energy) &&
                             (*row.value(metric::latency) < *member.value(metric::latency) ||
                              *row.value(metric::energy) < *member.value(metric::energy))));
    }
    REQUIRE(backwards.rows().size() == found.size());
    for (std::size_t i = 0; i < found.size(); ++i)
        CHECK(backwards.rows()[i].point == found[i].point);
}

TEST_CASE("sensitivities are sorted by swing and name their values", "[sweep]") {
    SweepRequest q = small_request();
    q.hardware = {"T4"};
    q.axes = {parse_sweep_axis("memory_energy=0.5x,2x"), parse_sweep_axis("bandwidth=0.5x,2x"),
              parse_sweep_axis("peak=0.5x,2x")};
    const auto found = Sweep(test::shipped_session(), q).sensitivities(metric::latency);
    REQUIRE(found.size() == 3);
    CHECK(found[0].swing() >= found[1].swing());
    CHECK(found[1].swing() > 0);
    for (const AxisSensitivity& s : found)
        if (s.axis != "memory_energy") {
            CHECK(s.low_value > s.own_value);
            CHECK(s.high_value < s.own_value);
        }
}

TEST_CASE("a changed structure changes the peaks as stated", "[sweep]") {
    const auto device = test::shipped_session().hardware().device("TPU-v4").device;
    const double peak = device->peak(EngineClass::matrix, Precision::bf16);
    const auto peak_with = [&](Structure part, double factor) {
        DeviceChanges changes;
        changes[part] = factor;
        return changed(*device, changes)->peak(EngineClass::matrix, Precision::bf16);
    };
    CHECK(peak_with(Structure::array, 2) == Approx(4 * peak));
    CHECK(peak_with(Structure::units, 2) == Approx(2 * peak));
    CHECK(peak_with(Structure::units, 1e-9) > 0); // at least one unit
    CHECK(peak_with(Structure::clock, 0.5) == Approx(0.5 * peak));
    CHECK(peak_with(Structure::on_chip_memory, 2) == peak);
    CHECK(device->peak(EngineClass::matrix, Precision::bf16) == peak); // the device itself is untouched
}
