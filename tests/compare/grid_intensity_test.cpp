#include "result/cost_terms.hpp"

#include "archsim/core/finding.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace archsim;

TEST_CASE("grid intensities are numbers or countries", "[cost]") {
    CHECK(parse_grid_intensity("350") == 350);
    CHECK(parse_grid_intensity("0") == 0);
    CHECK(parse_grid_intensity("FRA") == Approx(44.18));
    CHECK(parse_grid_intensity("france") == Approx(44.18));
    CHECK(parse_grid_intensity("world") == Approx(473.05));
    for (const char* wrong : {"-1", "nan", "Frence", "", "350g"})
        CHECK_THROWS_AS(parse_grid_intensity(wrong), UsageError);
    try {
        parse_grid_intensity("Frence");
    } catch (const UsageError& problem) {
        CHECK(std::string(problem.what()).find("France") != std::string::npos);
    }
}

TEST_CASE("every country has one plausible value and its year", "[cost]") {
    for (const GridIntensity& grid : grid_intensities()) {
        INFO(grid.name);
        CHECK(grid.g_per_kwh > 20);
        CHECK(grid.g_per_kwh < 1000);
        CHECK(grid.year >= 2022);
        CHECK(grid.year <= 2025);
        CHECK(parse_grid_intensity(grid.code) == grid.g_per_kwh);
        CHECK(parse_grid_intensity(grid.name) == grid.g_per_kwh);
    }
}
