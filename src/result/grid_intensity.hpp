#pragma once
// Carbon intensity of electricity by country, for --grid-intensity.

#include <span>
#include <string_view>

namespace archsim {

/// One country or region.
struct GridIntensity {
    std::string_view code; ///< ISO 3166-1 alpha-3, or the name of a group of countries
    std::string_view name;
    double g_per_kwh = 0; ///< g CO2e per kWh generated, yearly mean, upstream emissions included
    int year = 0;         ///< that it is of
};
/// By code: hardware_db/grid_intensities.json. Throws InputError for a file that is not as it should be.
std::span<const GridIntensity> grid_intensities();

/// g CO2e per kWh of "350", or of a country by code or name in any case of letters. Throws UsageError that
/// names the nearest.
double parse_grid_intensity(std::string_view text);

} // namespace archsim
