#include "archsim/compare/cost.hpp"

#include "archsim/compare/metric.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kHoursPerYear = 8766; // 365.25 days

/// Joules per inference at the facility's meter: the inference, and its share of the time in between.
double facility_joules(const Result& result, double rate, const CostOptions& o) {
    const Device& device = *result.device;
    const double idle_w = device.idle.value_or(device.active_idle.value_or(0)) * result.machine->devices;
    const double idle_s = (1 - o.utilization) / (o.utilization * rate);
    return (*value_of(result, metric::energy) + idle_w * idle_s) * o.pue;
}

double purchase_price(const Result& result) {
    return result.device->list_price->amount.value * result.machine->devices;
}

double running_cost(const Cost& cost, bool rented) {
    return rented ? *cost.cloud : *cost.electricity;
}

} // namespace

void check_cost_options(const CostOptions& o) {
    const auto check = [](bool good, std::string_view flag, double value, std::string_view range) {
        if (!good)
            throw UsageError(fmt::format("{} {:g}: give a number {}", flag, value, range));
    };
    check(std::isfinite(o.kwh_price) && o.kwh_price >= 0, "--kwh-price", o.kwh_price,
          "of USD per kWh from 0");
    check(std::isfinite(o.years) && o.years > 0, "--years", o.years, "of years above 0");
    check(o.utilization > 0 && o.utilization <= 1, "--utilization", o.utilization, "above 0 and up to 1");
    check(std::isfinite(o.pue) && o.pue >= 1, "--pue", o.pue, "from 1");
    check(std::isfinite(o.grid_intensity) && o.grid_intensity >= 0, "--grid-intensity", o.grid_intensity,
          "of g CO2e per kWh from 0");
}

std::optional<double> Cost::best() const {
    const auto own = owned();
    if (cloud && own)
        return std::min(*cloud, *own);
    return cloud ? cloud : own;
}

Cost cost_of(const Result& result, const CostOptions& o) {
    Cost cost;
    if (!result.ok() || !result.device || !(result.estimate.throughput_per_s > 0))
        return cost;
    const double rate = result.estimate.throughput_per_s;
    cost.inferences_per_s = rate;
    const Device& device = *result.device;
    const double kwh = facility_joules(result, rate, o) / kJoulesPerKwh;
    cost.electricity = kwh * o.kwh_price;
    cost.carbon_g = kwh * o.grid_intensity;
    if (device.cloud_price)
        cost.cloud = device.cloud_price->amount.value * result.machine->devices /
                     (kSecondsPerHour * rate * o.utilization);
    if (device.list_price)
        cost.capital =
            purchase_price(result) / (o.years * kHoursPerYear * kSecondsPerHour * rate * o.utilization);
    return cost;
}

std::optional<BreakEven> break_even(const Result& bought, const Result& other, const CostOptions& o) {
    const Cost mine = cost_of(bought, o), theirs = cost_of(other, o);
    if (!mine.capital || !mine.electricity)
        return std::nullopt;
    const bool rented = theirs.cloud.has_value();
    if (!rented && !theirs.owned())
        return std::nullopt;
    const double price = purchase_price(bought) - (rented ? 0 : purchase_price(other));
    const double saved = running_cost(theirs, rented) - running_cost(mine, false);
    if (price <= 0 || saved <= 0)
        return std::nullopt;
    BreakEven point;
    point.inferences = price / saved;
    point.years =
        point.inferences / (mine.inferences_per_s * o.utilization) / (kSecondsPerHour * kHoursPerYear);
    point.within_life = point.years <= o.years;
    return point;
}

} // namespace archsim
