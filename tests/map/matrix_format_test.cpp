#include "accelerator_support.hpp"
#include "map/accelerator.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;
using accelerator::matrix_format;

namespace {

PrecisionConfig fp32() {
    return PrecisionConfig::uniform(Precision::fp32);
}

} // namespace

TEST_CASE("a float product is made of float passes, however fast the integers are", "[map]") {
    Rig rig(Family("tpu"), 4, 32768, Precision::bf16);
    rig.device->engines[0].ops_per_clock[static_cast<std::size_t>(Precision::int8)] = fact(65536);
    rig.set(Parameter::wide_passes, 6);
    const auto format = matrix_format(rig.machine(), fp32(), Precision::fp32);
    CHECK(format.multiplies == Precision::bf16);
    CHECK(format.passes == 6);
    CHECK(format.ops_per_cycle == 4 * 32768);
    const auto native =
        matrix_format(rig.machine(), PrecisionConfig::uniform(Precision::int8), Precision::int8);
    CHECK(native.multiplies == Precision::int8);
    CHECK(native.passes == 1);
}

TEST_CASE("an integer product without an engine of its own takes a wider format", "[map]") {
    const Rig rig(Family("tpu"), 1, 1024, Precision::bf16);
    const auto format =
        matrix_format(rig.machine(), PrecisionConfig::uniform(Precision::int8), Precision::int8);
    CHECK(format.multiplies == Precision::bf16);
    CHECK(format.passes == 1);
}

TEST_CASE("the formats of a network are those of each product", "[map]") {
    Rig rig(Family("tpu"), 4, 32768, Precision::bf16);
    rig.set(Parameter::wide_passes, 6);
    const Machine machine = rig.machine();
    const PrecisionConfig network = fp32();
    const accelerator::MatrixFormats formats(machine, network);
    for (int times = 0; times < 2; ++times)
        for (const Precision p : {Precision::fp32, Precision::bf16, Precision::int8}) {
            const auto one = matrix_format(machine, network, p);
            CHECK(formats.of(p).multiplies == one.multiplies);
            CHECK(formats.of(p).passes == one.passes);
            CHECK(formats.of(p).ops_per_cycle == one.ops_per_cycle);
        }
}
