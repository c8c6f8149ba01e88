#include "compare/grid_intensity.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string>
#include <vector>

namespace archsim {

namespace {

constexpr std::array kGridIntensities = {GridIntensity{"ARE", "United Arab Emirates", 492.7, 2023},
                                         GridIntensity{"ARG", "Argentina", 358.95, 2024},
                                         GridIntensity{"AUS", "Australia", 551.59, 2024},
                                         GridIntensity{"AUT", "Austria", 102.62, 2024},
                                         GridIntensity{"BEL", "Belgium", 117.58, 2024},
                                         GridIntensity{"BGD", "Bangladesh", 694.63, 2024},
                                         GridIntensity{"BGR", "Bulgaria", 264.21, 2024},
                                         GridIntensity{"BHR", "Bahrain", 902.41, 2023},
                                         GridIntensity{"BRA", "Brazil", 103.21, 2024},
                                         GridIntensity{"CAN", "Canada", 174.81, 2024},
                                         GridIntensity{"CHE", "Switzerland", 36.6, 2024},
                                         GridIntensity{"CHL", "Chile", 265.52, 2024},
                                         GridIntensity{"CHN", "China", 559.55, 2024},
                                         GridIntensity{"COL", "Colombia", 285.8, 2024},
                                         GridIntensity{"CRI", "Costa Rica", 63.01, 2024},
                                         GridIntensity{"CYP", "Cyprus", 512.24, 2024},
                                         GridIntensity{"CZE", "Czechia", 413.86, 2024},
                                         GridIntensity{"DEU", "Germany", 344.14, 2024},
                                         GridIntensity{"DNK", "Denmark", 143.3, 2024},
                                         GridIntensity{"EGY", "Egypt", 571.92, 2024},
                                         GridIntensity{"ESP", "Spain", 146.15, 2024},
                                         GridIntensity{"EST", "Estonia", 341.02, 2024},
                                         GridIntensity{"EU", "European Union", 213.31, 2024},
                                         GridIntensity{"Europe", "Europe", 284.17, 2024},
                                         GridIntensity{"FIN", "Finland", 72.25, 2024},
                                         GridIntensity{"FRA", "France", 44.18, 2024},
                                         GridIntensity{"GBR", "United Kingdom", 210.89, 2024},
                                         GridIntensity{"GRC", "Greece", 319.76, 2024},
                                         GridIntensity{"HKG", "Hong Kong", 681.99, 2023},
                                         GridIntensity{"HRV", "Croatia", 174.48, 2024},
                                         GridIntensity{"HUN", "Hungary", 182.82, 2024},
                                         GridIntensity{"IDN", "Indonesia", 682.43, 2023},
                                         GridIntensity{"IND", "India", 708.32, 2024},
                                         GridIntensity{"IRL", "Ireland", 279.7, 2024},
                                         GridIntensity{"ISL", "Iceland", 28.33, 2023},
                                         GridIntensity{"ISR", "Israel", 567.26, 2023},
                                         GridIntensity{"ITA", "Italy", 287.53, 2024},
                                         GridIntensity{"JPN", "Japan", 482.32, 2024},
                                         GridIntensity{"KAZ", "Kazakhstan", 801.95, 2024},
                                         GridIntensity{"KEN", "Kenya", 88.79, 2024},
                                         GridIntensity{"KOR", "South Korea", 414.27, 2024},
                                         GridIntensity{"LTU", "Lithuania", 139.34, 2024},
                                         GridIntensity{"LUX", "Luxembourg", 134.62, 2024},
                                         GridIntensity{"LVA", "Latvia", 136.22, 2024},
                                         GridIntensity{"MAR", "Morocco", 577.65, 2024},
                                         GridIntensity{"MEX", "Mexico", 484.83, 2024},
                                         GridIntensity{"MYS", "Malaysia", 609.85, 2024},
                                         GridIntensity{"NGA", "Nigeria", 507.85, 2024},
                                         GridIntensity{"NLD", "Netherlands", 253.31, 2024},
                                         GridIntensity{"NOR", "Norway", 30.75, 2024},
                                         GridIntensity{"NZL", "New Zealand", 120.11, 2024},
                                         GridIntensity{"PAK", "Pakistan", 398.61, 2024},
                                         GridIntensity{"PER", "Peru", 263.27, 2024},
                                         GridIntensity{"PHL", "Philippines", 613.38, 2024},
                                         GridIntensity{"POL", "Poland", 614.98, 2024},
                                         GridIntensity{"PRT", "Portugal", 112.29, 2024},
                                         GridIntensity{"QAT", "Qatar", 602.83, 2024},
                                         GridIntensity{"ROU", "Romania", 245.55, 2024},
                                         GridIntensity{"RUS", "Russia", 449.2, 2024},
                                         GridIntensity{"SAU", "Saudi Arabia", 696.31, 2023},
                                         GridIntensity{"SGP", "Singapore", 498.74, 2024},
                                         GridIntensity{"SRB", "Serbia", 673.16, 2024},
                                         GridIntensity{"SVK", "Slovakia", 96.49, 2024},
                                         GridIntensity{"SVN", "Slovenia", 227.65, 2024},
                                         GridIntensity{"SWE", "Sweden", 35.82, 2024},
                                         GridIntensity{"THA", "Thailand", 554.5, 2024},
                                         GridIntensity{"TUR", "Turkiye", 469.7, 2024},
                                         GridIntensity{"TWN", "Taiwan", 635.65, 2024},
                                         GridIntensity{"UKR", "Ukraine", 256.21, 2022},
                                         GridIntensity{"URY", "Uruguay", 96.7, 2024},
                                         GridIntensity{"USA", "United States", 383.55, 2024},
                                         GridIntensity{"VNM", "Viet Nam", 471.16, 2024},
                                         GridIntensity{"World", "World", 473.05, 2024},
                                         GridIntensity{"ZAF", "South Africa", 708.88, 2024}};

bool same_letters(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

} // namespace

std::span<const GridIntensity> grid_intensities() {
    return kGridIntensities;
}

double parse_grid_intensity(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size() && std::isfinite(value) && value >= 0)
        return value;
    std::vector<std::string> names;
    for (const GridIntensity& grid : kGridIntensities) {
        if (same_letters(grid.code, text) || same_letters(grid.name, text))
            return grid.g_per_kwh;
        names.emplace_back(grid.code);
        names.emplace_back(grid.name);
    }
    throw UsageError(
        fmt::format("--grid-intensity: \"{}\" is neither g CO2e per kWh from 0 nor a country that is "
                    "known; nearest: {}",
                    text, fmt::join(nearest_names(std::string(text), names, 3), ", ")));
}

} // namespace archsim
