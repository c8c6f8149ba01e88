#include "hardware/units.hpp"

#include "archsim/hardware/parameters.hpp"

#include <catch2/catch.hpp>

using namespace archsim;

TEST_CASE("units convert to SI", "[hardware]") {
    const auto factor = [](std::string_view symbol) { return find_unit(symbol)->factor; };
    CHECK(factor("TB/s") == 1e12);
    CHECK(factor("GiB") == 1073741824.0);
    CHECK(factor("GB") == 1e9);
    CHECK(factor("Gbit/s") == 125e6);
    CHECK(factor("us") == 1e-6);
    CHECK(factor("pJ/bit") == 8e-12);   // per byte
    CHECK(factor("pJ/MAC") == 0.5e-12); // per operation
    CHECK(factor("MAC/clk") == 2);
    CHECK(find_unit("B/clk/SM")->dimension == PhysicalDimension::bytes_per_clock);
    CHECK(find_unit("gb/s") == nullptr); // case tells mega from milli
    CHECK(find_unit("") == nullptr);
    CHECK(symbol_list(PhysicalDimension::power) == "W, mW, kW");
}

TEST_CASE("the parameter table uses units of the unit table", "[hardware]") {
    for (std::size_t i = 0; i < kParameterCount; ++i) {
        INFO(info_of(static_cast<Parameter>(i)).name);
        CHECK(find_unit(info_of(static_cast<Parameter>(i)).unit) != nullptr);
    }
}
