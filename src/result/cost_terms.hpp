#pragma once
// The terms that costs are compared on: what a user states, what is in range, which way of paying holds for
// all.

#include "archsim/compare/cost.hpp"
#include "archsim/hardware/database.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// pue_of() in words: "PUE 1.2", or by which rule.
std::string pue_text(double stated);

/// The price that the user states of a device, to rent or to buy; null: none.
const GivenPrice* given_price(const Device& device, bool hourly, const CostOptions& options);

/// Whether a part of a machine may be paid for: others work on the rest.
enum class Share : std::uint8_t { allowed, none };
/// The devices that are rented: so many of a size that the provider lets, whose devices `instance` counts;
/// null: devices at the price of one.
struct Rental {
    double usd_per_hour = 0;
    const RentalSize* instance = nullptr;
    double count = 0;
};
/// The cheapest for so many engines of `each` devices, all of one size: of the sizes that hold an engine,
/// else of the largest as many as hold one. Worked: five engines of two devices, sizes of 1, 4 and 8 for 2,
/// 10 and 30 USD/h: three of 4, 30 USD/h. Absent without a price.
std::optional<Rental> rental(const Device& device, double each, double engines, Share share,
                             const CostOptions& options);
/// "3 x AWS g6e.12xlarge, all 12 devices, 2024", of the database's price of so many devices.
std::string rental_text(const Device& device, const Rental& rental, double devices);

/// Parses "H100=2.5/h" (rent) or "H100=25000" (purchase), in US dollars. Throws UsageError.
GivenPrice parse_price(std::string_view text);

/// The options with each price under the id of the device that it names, one of `devices` or of the database.
/// Throws UsageError, with the nearest names, for a price of nothing.
CostOptions with_known_prices(CostOptions options, std::span<const std::shared_ptr<const Device>> devices,
                              const HardwareDatabase& database);

/// A sentence for each price that no cost of these devices follows from: of another device, or, where the
/// options say how they are paid for, for paying otherwise.
std::vector<std::string> unused_prices(std::span<const std::shared_ptr<const Device>> devices,
                                       const CostOptions& options);

/// A number that a user states of costs: a flag of the tools and a field of the page.
struct CostNumber {
    std::string_view key, help;
    std::string_view value;  ///< what stands for it in help
    std::string_view wanted; ///< what a text of it is
    double CostOptions::*at;
    std::optional<double> (*read)(std::string_view text);

    /// Puts the number of a text there. Throws UsageError that names the field as `name`.
    void put(std::string_view text, std::string_view name, CostOptions& options) const;
};
std::span<const CostNumber> cost_numbers();

/// Throws UsageError for options outside of their range.
void check_cost_options(const CostOptions& options);

/// The options with one way of paying and one boundary of power for all results, so that a ranking compares
/// like with like: those asked for; else that of the given prices, where they are all of one kind; else rent,
/// where at least as many devices have a price for it as for buying, else buying, and the widest of the
/// boundaries at which the devices are named. Who has no such price has no cost (Cost::best()).
CostOptions on_one_basis(std::span<const Result> results, CostOptions options);
/// The same before anything is estimated.
CostOptions on_one_basis(std::span<const std::shared_ptr<const Device>> devices, CostOptions options);

/// The basis of a ranking by cost, and who is left out: "Cost is that of renting, at 60 % utilisation; no
/// rental price: Jetson-Orin-Nano (--buy compares purchases)." Empty where no result has a cost.
std::string cost_basis(std::span<const Result> results, const CostOptions& options);

// Carbon intensity of electricity by country, for --grid-intensity.

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
