#pragma once
// The cost of an inference: rented by the hour, or owned (price over years of use, and electricity), and the
// carbon dioxide of that electricity. From the throughput and energy of an estimate; nothing here estimates
// anew.

#include "archsim/compare/result.hpp"
#include "archsim/core/export.hpp"
#include "archsim/estimate/estimate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// A year of 365.25 days.
inline constexpr double kHoursPerYear = 8766, kHoursPerMonth = kHoursPerYear / 12;

inline constexpr double kJoulesPerKwh = 3.6e6;

/// How devices are had. A comparison of bought with rented devices says so.
enum class Tenure : std::uint8_t { cheaper, rent, buy };

/// A price that the user states instead of the database's.
struct GivenPrice {
    std::string hardware; ///< id of a device
    double amount = 0;    ///< USD, or USD per hour
    bool hourly = false;
};

/// Conditions of use. The defaults are stated with their sources in describe_cost's notes.
struct CostOptions {
    double kwh_price = 0.127; ///< USD per kWh; US commercial sector 2023, EIA Electric Power Annual
    double years = 4; ///< of use until written off; middle of the three to five of server depreciation
    /// Share of time at work, where the question states no rate (Conditions::duty); what is bought or rented
    /// stands idle otherwise.
    double utilization = 0.6;
    double pue = 0;              ///< facility over IT power; 0: as pue_of() says
    double grid_intensity = 480; ///< g CO2e per kWh; world 2023, Ember Global Electricity Review 2024
    /// Where power, energy and efficiency are taken; absent: the wall of a device that is named with its
    /// computer, and of all that are compared with one; else the chip.
    std::optional<PowerBoundary> power_at = {};
    Tenure tenure = Tenure::cheaper;
    std::vector<GivenPrice> prices; ///< the last one of a device and kind counts
};

/// Money and carbon of one result. Absent: the device states no such price, or has no estimate.
struct Cost {
    double inferences_per_s = 0; ///< at work
    double average_per_s = 0;    ///< of all the time: at the utilisation, or as often as the question states
    std::optional<double> cloud; ///< USD per inference, rented
    std::optional<double> capital; ///< USD per inference, purchase only, a card with its part of the server
    std::optional<double> electricity; ///< USD per inference, busy and idle, with the facility's share
    std::optional<double> carbon_g;    ///< g CO2e per inference, of its electricity
    std::optional<double> embodied_g; ///< g CO2e per inference, of making the device, where that is published
    /// USD per inference of a bought device: purchase and electricity.
    std::optional<double> owned() const {
        return capital && electricity ? std::optional(*capital + *electricity) : std::nullopt;
    }
    Tenure tenure = Tenure::cheaper; ///< as asked for
    /// USD per inference in the way asked for; of the cheaper one where that is left open.
    std::optional<double> best() const {
        const auto chosen = way();
        return !chosen ? std::nullopt : *chosen == Tenure::rent ? cloud : owned();
    }
    /// How that is: rent or buy; absent without a price.
    std::optional<Tenure> way() const {
        const auto own = owned();
        const bool rent = cloud && tenure != Tenure::buy, buy = own && tenure != Tenure::rent;
        if (!rent && !buy)
            return std::nullopt;
        return rent && (!buy || *cloud <= *own) ? Tenure::rent : Tenure::buy;
    }
};

/// cloud = price / (3600 r u); capital = (price + that of a card's part of its server) / (years 8766 h 3600 r
/// u); electricity = [E + P_idle (1 - u) / (u r)] PUE price_kWh / 3.6e6, E at the boundary asked for; carbon
/// = the same joules x intensity; embodied = kg / (years 8766 h 3600 r u); with r inferences per second at
/// work and u the utilisation; at a stated rate r u is that rate. Worked: 400 USD over 4 years at r = 100/s,
/// u = 0.6: 400 / (4 x 8766 x 3600 x 60) = 0.053 USD per million.
ARCHSIM_API Cost cost_of(const Result& result, const CostOptions& options);

/// Facility over IT power of the mean data centre; Uptime Institute Global Data Center Survey 2023.
inline constexpr double kDataCentrePue = 1.58;
/// Facility over IT power: `stated`, else that of a data centre for what is sold for servers, and 1 for
/// everything else, since nothing cools a desk.
inline double pue_of(const Device& device, double stated) {
    return stated > 0 ? stated : device.for_servers ? kDataCentrePue : 1;
}

/// The costs of a language model's tokens, those read and those written apart.
struct TokenCosts {
    Cost prompt, output; ///< per token
};
/// A token of the prompt takes its share of the pass over the prompts, a token of the answer its share of a
/// decoding step, each with the energy of its own phase. Absent for results without generated text.
ARCHSIM_API std::optional<TokenCosts> token_costs(const Result& result, const CostOptions& options);

} // namespace archsim
