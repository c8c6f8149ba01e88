// Matrix units that stacks need kernels of their own for, over the whole database: who uses them, and that it
// pays.

#include "archsim/hardware/database.hpp"
#include "archsim/run/session.hpp"

#include "hardware/parameter_site.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace archsim;

namespace {

Result in_format(const char* model, const std::string& device, const std::string& stack, Precision p) {
    Conditions conditions;
    conditions.stack = stack;
    conditions.precision = PrecisionConfig::uniform(p);
    return laws::session().estimate({.model = laws::session().load(model)}, device, conditions);
}

} // namespace

TEST_CASE("a machine has the engines that its stack has kernels for, and no others", "[cpu][laws]") {
    std::vector<Finding> findings;
    std::set<std::string> reached;
    for (const auto& device : laws::session().hardware().all_devices(findings))
        for (const std::string& name : device->runtimes) {
            Conditions conditions;
            conditions.stack = name;
            const Machine machine = *laws::session().machine(device->id, conditions);
            for (const Precision p : kPrecisions) {
                bool used = false;
                for (const Engine& engine : device->engines)
                    used = used || (engine.kind == EngineClass::matrix && engine.supports(p) &&
                                    uses(*machine.runtime, engine));
                CAPTURE(device->id, name, name_of(p));
                CHECK((machine.matrix_ops(p) > 0) == used);
            }
            for (const Engine& engine : device->engines)
                if (!engine.isa.empty() && uses(*machine.runtime, engine))
                    reached.insert(engine.isa);
        }
    CHECK(reached == std::set<std::string>{"amx", "apple-amx", "sme", "xmx-simd8"});
}

TEST_CASE("a stack with kernels for the unit beside the cores multiplies faster than one without", "[cpu]") {
    for (const char* device : {"Apple-M1-CPU", "Apple-M2-CPU", "Apple-M3-CPU", "Apple-M4-CPU"})
        for (const char* stack : {"accelerate", "coreml-cpu"}) {
            CAPTURE(device, stack);
            const Result with = in_format("vit_b_16", device, stack, Precision::fp32);
            const Result without = in_format("vit_b_16", device, "onnxruntime-cpu", Precision::fp32);
            REQUIRE(with.ok());
            REQUIRE(without.ok());
            CHECK(with.estimate.latency_s < without.estimate.latency_s);
            CHECK(with.estimate.utilization <= 1);
        }
}

TEST_CASE("a product on the unit takes what its peak allows, as published", "[cpu]") {
    // 512 x 512 x 512 in fp32 on M1: 2.7e8 operations at 84.5 % of 512 x 2.888 GHz are 215 us, and a call.
    const Result one = in_format("matmul_512", "Apple-M1-CPU", "accelerate", Precision::fp32);
    REQUIRE(one.ok());
    const double bare = 2.0 * 512 * 512 * 512 / (0.845 * 512 * 2.888e9);
    CHECK(one.estimate.latency_s > bare);
    CHECK(one.estimate.latency_s < 1.2 * bare + 10e-6);
    // M4 multiplies 16-bit floats no faster than fp32, M1 twice as fast.
    const auto ratio = [](const char* device) {
        const double half = in_format("vit_b_16", device, "accelerate", Precision::fp16).estimate.latency_s;
        return in_format("vit_b_16", device, "accelerate", Precision::fp32).estimate.latency_s / half;
    };
    CHECK(ratio("Apple-M1-CPU") > 1.4);
    CHECK(ratio("Apple-M4-CPU") < 1.4);
}

TEST_CASE("loops without tile instructions run eight bits on vectors", "[cpu]") {
    const Result loops = in_format("resnet50", "Xeon-8480+", "openmp", Precision::int8);
    REQUIRE(loops.ok());
    CHECK(loops.machine->matrix_ops(Precision::int8) == 0);
    CHECK(loops.machine->vector_ops(Precision::int8) > 0);
}
