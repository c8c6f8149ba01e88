#include "result/cost_terms.hpp"

#include "archsim/core/finding.hpp"
#include "core/json_document.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"

#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

std::span<const GridIntensity> grid_intensities() {
    static const JsonDocument table = read_table("grid_intensities.json"); // the texts of the rows lie in it
    static const auto rows = [] {
        std::vector<GridIntensity> read;
        for (const JsonValue& row : table.root.items_at("grids")) {
            const auto grams = row.number_at("g_per_kwh"), year = row.number_at("year");
            if (!grams || !year)
                throw InputError(
                    fmt::format("grid_intensities.json: expected g_per_kwh and year in {}", row.dump()));
            read.push_back({row.text_at("code"), row.text_at("name"), *grams, static_cast<int>(*year)});
        }
        if (read.empty())
            throw InputError("grid_intensities.json: no list of \"grids\"");
        return read;
    }();
    return rows;
}

double parse_grid_intensity(std::string_view text) {
    if (const auto value = plain_number<double>(text); value && *value >= 0)
        return *value;
    std::vector<std::string> names;
    for (const GridIntensity& grid : grid_intensities()) {
        if (same_ignoring_case(grid.code, text) || same_ignoring_case(grid.name, text))
            return grid.g_per_kwh;
        names.emplace_back(grid.code);
        names.emplace_back(grid.name);
    }
    const std::vector<std::string> nearest = nearest_names(std::string(text), names, 3);
    throw UsageError(fmt::format("--grid-intensity: \"{}\" is neither g CO2e per kWh from 0 nor a country "
                                 "that is known, by its name or three letters{}{}",
                                 text, nearest.empty() ? "" : "; nearest: ", fmt::join(nearest, ", ")));
}

} // namespace archsim
