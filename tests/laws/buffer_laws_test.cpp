// What buffers are worth: laws over every accelerator of the database.

#include "laws/laws.hpp"
#include "session/graph_run.hpp"

#include "archsim/hardware/family.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <vector>

using namespace archsim;

namespace {

/// Every device whose compiler, not a cache, decides what stays on the chip.
std::vector<std::string> accelerators() {
    std::vector<std::string> names;
    std::vector<Finding> findings;
    for (const auto& device : laws::session().hardware().all_devices(findings))
        if (!device->family.row().is_host && !device->family.row().caches &&
            !(device->family == Family("gpu")))
            names.push_back(device->id);
    return names;
}

double moved(const Estimate& e) {
    return e.events.counts[static_cast<std::size_t>(Event::dram_byte)] +
           e.events.counts[static_cast<std::size_t>(Event::host_link_byte)];
}

Result with(const std::string& model, const std::string& device, Conditions conditions, Structure part,
            double factor) {
    conditions.structure[part] = factor;
    conditions.changes[Lever::power_limit] = 1e6; // a larger die leaves less of a limit, a law of its own
    return run_graph(laws::session(), laws::bound(model, 1), device, conditions);
}

} // namespace

TEST_CASE("a stack that keeps whatever fits is no slower and moves no more", "[laws]") {
    int gains = 0;
    for (const std::string& device : accelerators())
        for (const char* model : {"resnet50", "mobilenet_v2"}) {
            Conditions conditions;
            conditions.precision = PrecisionConfig::uniform(Precision::int8);
            conditions.keep_subgraphs = false;
            const Result stated = run_graph(laws::session(), laws::bound(model, 1), device, conditions);
            conditions.ideal_mapping = true;
            const Result ideal = run_graph(laws::session(), laws::bound(model, 1), device, conditions);
            if (!stated.ok() || !ideal.ok())
                continue;
            INFO(model << " on " << device);
            constexpr double kRounding = 1e-6;
            CHECK(ideal.estimate.latency_s <= stated.estimate.latency_s * (1 + kRounding));
            CHECK(moved(ideal.estimate) <= moved(stated.estimate) * (1 + kRounding));
            gains += moved(ideal.estimate) < moved(stated.estimate) ? 1 : 0;
        }
    CHECK(gains > 0);
}

TEST_CASE("larger buffers cost neither time nor traffic on any accelerator", "[laws]") {
    constexpr std::array kFactors = {0.01, 0.03, 0.1, 0.3, 0.7, 1.0, 1.5, 4.0, 16.0, 100.0};
    constexpr double kRounding = 1e-6;
    int asked = 0;
    for (const std::string& device : accelerators())
        for (const char* model : {"resnet50", "mobilenet_v2", "bert-base"})
            for (const std::string stack : {"", "ideal"}) {
                Conditions conditions;
                conditions.precision = PrecisionConfig::uniform(Precision::int8);
                conditions.stack = stack;
                conditions.keep_subgraphs = false;
                double seconds = 0, bytes = 0;
                for (const double factor : kFactors) {
                    const Result r = with(model, device, conditions, Structure::on_chip_memory, factor);
                    if (!r.ok())
                        continue; // a chip without memory of its own is too small
                    INFO(model << " on " << device << " " << stack << ", buffer x " << factor);
                    // Contexts of a pipeline are searched at six prices of a byte, so that the best cut is
                    // met to a few hundredths.
                    constexpr double kBufferSearch = 0.04;
                    const double room = r.estimate.network.sections > 1 ? kBufferSearch : kRounding;
                    if (seconds > 0) {
                        CHECK(r.estimate.latency_s <= seconds * (1 + room));
                        CHECK(moved(r.estimate) <= bytes * (1 + room));
                    }
                    seconds = r.estimate.latency_s;
                    bytes = moved(r.estimate);
                    ++asked;
                }
            }
    CHECK(asked > 3000);
}

TEST_CASE("the ideal stack runs on every accelerator and is nowhere slower than software", "[laws]") {
    int asked = 0;
    for (const std::string& device : accelerators()) {
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(Precision::int8);
        conditions.keep_subgraphs = false;
        const Result own = run_graph(laws::session(), laws::bound("resnet50", 1), device, conditions);
        conditions.stack = "ideal";
        const Result ideal = run_graph(laws::session(), laws::bound("resnet50", 1), device, conditions);
        INFO(device << ": " << ideal.estimate.reason);
        if (!own.ok() || own.estimate.executed.compute != Precision::int8)
            continue; // no such format, or no room
        if (own.machine->param(Parameter::weight_residency, 0) > 0)
            continue; // its inferences find their weights on the chip, which the ideal stack's do not
        if (own.machine->param(Parameter::spill_share, 1) < 1)
            continue; // it tiles chains of layers, where the ideal stack runs one after the other
        if (!laws::session().hardware().runtime("ideal")->serves(*own.device))
            continue; // of a family that a program added
        CHECK(ideal.ok());
        if (ideal.ok() && own.estimate.executed.compute == ideal.estimate.executed.compute) {
            CHECK(ideal.estimate.latency_s <= own.estimate.latency_s * 1.05);
            ++asked;
        }
    }
    CHECK(asked >= static_cast<int>(accelerators().size()) / 4);
}
