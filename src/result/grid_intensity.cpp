#include "result/cost_terms.hpp"

#include "archsim/core/finding.hpp"
#include "core/data_dir.hpp"
#include "core/json_document.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"

#include <fmt/ranges.h>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// The table, kept as long as the program: its texts lie in the document.
struct GridTable {
    GridTable() {
        std::vector<Finding> findings;
        const std::string file = data_table("grid_intensities.json").string();
        document = parse_document(file, findings);
        const JsonValue* grids = document ? document->root.find("grids") : nullptr;
        if (grids == nullptr)
            throw findings.empty() ? InputError(fmt::format("{}: no list of \"grids\"", file))
                                   : InputError(findings.front());
        for (const JsonValue& row : grids->items()) {
            const JsonValue *grams = row.find("g_per_kwh"), *year = row.find("year");
            if (grams == nullptr || !grams->is_number() || year == nullptr || !year->is_number())
                throw InputError(fmt::format("{}: expected g_per_kwh and year in {}", file, row.dump()));
            rows.push_back({row.text_at("code"), row.text_at("name"), grams->number(),
                            static_cast<int>(year->number())});
        }
    }
    std::optional<JsonDocument> document;
    std::vector<GridIntensity> rows;
};

std::span<const GridIntensity> grid_intensities() {
    static const GridTable table;
    return table.rows;
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
