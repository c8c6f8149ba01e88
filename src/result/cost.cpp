#include "result/cost_terms.hpp"

#include "archsim/compare/metric.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "estimate/wall_power.hpp"
#include "result/decisions.hpp"
#include "result/duty_cycle.hpp"
#include "result/generation_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <map>
#include <string>
#include <vector>

namespace archsim {

constexpr double kSecondsPerHour = 3600;
constexpr double kGramsPerKg = 1000;

/// The thing that money buys: an inference or a token, `rate` of them in a second of work and `average_rate`
/// in one of all the time, each of `joules` inside the boundary asked for and with `idle_s` of the device to
/// itself.
struct Item {
    double rate = 0, joules = 0, average_rate = 0, idle_s = 0;
};

/// An item of a device that is at work for the usual share of its time.
static Item in_use(double rate, double joules, const CostOptions& o) {
    return {rate, joules, rate * o.utilization, (1 - o.utilization) / (o.utilization * rate)};
}

/// Joules per item at the facility's meter: the item, and its share of the time in between.
static double facility_joules(const Result& result, const Item& item, const CostOptions& o) {
    const Device& device = *result.device;
    const double chips_w = device.idle.value_or(device.active_idle.value_or(0)) * result.machine->devices;
    const double idle_w = joules_at(*result.machine, chips_w, 1, o.power_at);
    return (item.joules + idle_w * item.idle_s) * pue_of(device, o.pue);
}

/// The price of one device: the user's, else the database's.
static std::optional<double> price_of(const Device& device, bool hourly, const CostOptions& o) {
    if (const GivenPrice* const given = given_price(device, hourly, o))
        return given->amount;
    const std::optional<Price>& stated = hourly ? device.cloud_price : device.list_price;
    return stated && stated->amount.known() ? std::optional(stated->amount.value) : std::nullopt;
}

/// A rental of one size: whole ones hold whole engines; of several for one engine each works for it alone.
static Rental rental_of(const RentalSize& size, double each, double engines, Share share) {
    const double held = std::floor(size.devices / each);
    const double count = held >= 1 ? engines / held : engines * std::ceil(each / size.devices);
    const double let = share == Share::allowed ? count : std::ceil(count);
    return {let * size.usd_per_hour, &size, let};
}

/// A card works in a server, and each of its cards carries a part of that.
static double purchase_price(const Result& result, const CostOptions& o) {
    const Device& device = *result.device;
    const double server = device.server_price ? device.server_price->amount.value : 0;
    return (*price_of(device, false, o) + server) * result.machine->devices;
}

const GivenPrice* given_price(const Device& device, bool hourly, const CostOptions& options) {
    const auto found =
        std::find_if(options.prices.rbegin(), options.prices.rend(), [&](const GivenPrice& price) {
            return price.hardware == device.id && price.hourly == hourly;
        });
    return found == options.prices.rend() ? nullptr : &*found;
}

std::optional<Rental> rental(const Device& device, double each, double engines, Share share,
                             const CostOptions& options) {
    const auto price = price_of(device, true, options);
    if (!price)
        return std::nullopt;
    Rental best{*price * each * engines, nullptr, 0};
    if (given_price(device, true, options) || device.cloud_price->instances.empty())
        return best;
    const std::vector<RentalSize>& sizes = device.cloud_price->instances;
    best.usd_per_hour = INFINITY;
    for (const RentalSize& size : sizes)
        if (size.devices >= each || (&size == &sizes.back() && best.instance == nullptr))
            if (const Rental found = rental_of(size, each, engines, share);
                found.usd_per_hour < best.usd_per_hour)
                best = found;
    return best;
}

std::string rental_text(const Device& device, const Rental& rental, double devices) {
    const Price& price = *device.cloud_price;
    std::string text = price.instance;
    if (rental.instance != nullptr) {
        const double all = rental.count * rental.instance->devices;
        text = (rental.count > 1 ? fmt::format("{:g} x ", rental.count) : "") + rental.instance->name +
               (rental.count < 1 ? fmt::format(" / {:g}", 1 / rental.count)
                : all > devices  ? fmt::format(", all {:g} devices", all)
                                 : "");
    } else if (devices > 1)
        text += fmt::format("{}{:g} times the price of one: which sizes are let is not known",
                            text.empty() ? "" : ", ", devices);
    return text + (text.empty() ? "" : ", ") + price.date;
}

std::string pue_text(double stated) {
    return stated > 0 ? fmt::format("PUE {:g}", stated)
                      : fmt::format("PUE {:g} in data centres (Uptime Institute Global Data Center Survey "
                                    "2023), 1 elsewhere",
                                    kDataCentrePue);
}

void check_cost_options(const CostOptions& o) {
    const auto check = [](bool good, std::string_view flag, double value, std::string_view range) {
        if (!good)
            throw UsageError(fmt::format("{} {:g}: give a number {}", flag, value, range));
    };
    check(std::isfinite(o.kwh_price) && o.kwh_price >= 0, "--kwh-price", o.kwh_price,
          "of USD per kWh from 0");
    check(std::isfinite(o.years) && o.years > 0, "--years", o.years, "of years above 0");
    check(o.utilization > 0 && o.utilization <= 1, "--utilization", o.utilization, "above 0 and up to 1");
    check(std::isfinite(o.pue) && (o.pue == 0 || o.pue >= 1), "--pue", o.pue, "from 1");
    check(std::isfinite(o.grid_intensity) && o.grid_intensity >= 0, "--grid-intensity", o.grid_intensity,
          "of g CO2e per kWh from 0");
}

GivenPrice parse_price(std::string_view text) {
    const std::size_t at = std::min(text.find('='), text.size());
    const std::string_view amount = text.substr(std::min(at + 1, text.size()));
    const auto hourly = parse_usd_per_hour(amount), once = parse_usd(amount);
    const GivenPrice price{std::string(text.substr(0, at)), hourly ? *hourly : once.value_or(-1),
                           hourly.has_value()};
    if (price.hardware.empty() || price.amount < 0)
        throw UsageError(fmt::format("--price {}: give DEVICE=USD to buy or DEVICE=USD/h to rent, like "
                                     "H100=25k or H100=2.5/h, in US dollars: no other currency is converted",
                                     text));
    return price;
}

static bool is_priced(std::span<const std::shared_ptr<const Device>> devices, const GivenPrice& price) {
    return std::ranges::any_of(devices, [&](const auto& device) { return device->id == price.hardware; });
}

static std::optional<double> parse_pue(std::string_view text) {
    const auto ratio = parse_factor(text);
    return ratio && *ratio >= 1 ? ratio : std::nullopt;
}

constexpr std::string_view kShare = "a share, such as 0.3 or 30%";
constexpr CostNumber kCostNumbers[] = {
    {"kwh_price", "USD per kWh", "USD", "US dollars, such as 0.32 (no other currency is converted)",
     &CostOptions::kwh_price, parse_usd},
    {"years", "of use until written off", "YEARS", "a number of years", &CostOptions::years, parse_real},
    {"utilization", "share of time at work", "SHARE", kShare, &CostOptions::utilization, parse_factor},
    {"pue", "facility over device power (default: 1.58 in data centres, else 1)", "RATIO",
     "a ratio from 1, such as 1.2", &CostOptions::pue, parse_pue}};

std::span<const CostNumber> cost_numbers() {
    return kCostNumbers;
}

void CostNumber::put(std::string_view text, std::string_view name, CostOptions& options) const {
    const auto number = read(text);
    if (!number)
        throw UsageError(fmt::format("{}: expected {}, got \"{}\"", name, wanted, text));
    options.*at = *number;
}

CostOptions with_known_prices(CostOptions options, std::span<const std::shared_ptr<const Device>> devices,
                              const HardwareDatabase& database) {
    for (GivenPrice& price : options.prices)
        try {
            if (!is_priced(devices, price))
                price.hardware = database.device(price.hardware).device->id;
        } catch (const Error& problem) {
            throw UsageError(fmt::format("--price {}: {}", price.hardware, problem.what()));
        }
    return options;
}

std::vector<std::string> unused_prices(std::span<const std::shared_ptr<const Device>> devices,
                                       const CostOptions& options) {
    std::vector<std::string> sentences;
    for (const GivenPrice& price : options.prices)
        if (!is_priced(devices, price))
            sentences.push_back(
                fmt::format("--price {} is not used: it is none of these devices.", price.hardware));
        else if (options.tenure == (price.hourly ? Tenure::buy : Tenure::rent))
            sentences.push_back(fmt::format("--price {} is not used: it is a price to {}.", price.hardware,
                                            price.hourly ? "rent, and these are bought (--rent)"
                                                         : "buy, and these are rented (--buy)"));
    return sentences;
}

CostOptions on_one_basis(std::span<const std::shared_ptr<const Device>> devices, CostOptions options) {
    std::ptrdiff_t rented = 0, bought = 0;
    PowerBoundary widest = PowerBoundary::chip;
    for (const auto& device : devices) {
        widest = std::max(widest, boundary_of(device.get(), {}));
        rented += price_of(*device, true, options).has_value();
        bought += price_of(*device, false, options).has_value();
    }
    options.power_at = options.power_at.value_or(widest);
    const auto states = [&](bool hourly) {
        return std::ranges::any_of(options.prices, [&](const GivenPrice& price) {
            return price.hourly == hourly && is_priced(devices, price);
        });
    };
    if (options.tenure == Tenure::cheaper && rented + bought > 0) {
        const bool rent = states(true), buy = states(false);
        options.tenure = (rent == buy ? rented >= bought : rent) ? Tenure::rent : Tenure::buy;
    }
    return options;
}

CostOptions on_one_basis(std::span<const Result> results, CostOptions options) {
    auto devices = mapped(results, [](const Result& r) { return r.ok() ? r.device : nullptr; });
    std::erase(devices, nullptr);
    return on_one_basis(devices, std::move(options));
}

std::string cost_basis(std::span<const Result> results, const CostOptions& given) {
    const CostOptions options = on_one_basis(results, given);
    const bool rent = options.tenure == Tenure::rent;
    std::vector<std::string> without, served, alone;
    const auto add = [](std::vector<std::string>& names, const std::string& name) {
        if (!contains(names, name))
            names.push_back(name);
    };
    bool any = false;
    std::map<std::string, std::vector<std::string>> markets; // the cheapest first
    const std::vector<double> costs = mapped(results, [&](const Result& result) {
        return result.ok() && result.device ? cost_of(result, options).best().value_or(INFINITY) : INFINITY;
    });
    std::vector<std::size_t> order = indices(results.size());
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return costs[i]; });
    for (const std::size_t i : order) {
        const Result& result = results[i];
        if (!result.ok() || !result.device)
            continue;
        if (costs[i] < INFINITY) {
            any = true;
            const double devices = result.machine->devices;
            const auto rented = rental(*result.device, devices, 1, Share::allowed, options);
            if (rent && rented && given_price(*result.device, true, options) == nullptr)
                add(markets[result.device->cloud_price->market],
                    fmt::format("{} ({})", result.device->id, rental_text(*result.device, *rented, devices)));
            add(result.device->server_price ? served : alone, result.device->id);
        } else if (!price_of(*result.device, rent, options)) {
            add(without, result.device->id); // else it misses what was asked: a rate that it does not carry
        }
    }
    if (!any)
        return "";
    const bool stated =
        std::ranges::any_of(results, [](const Result& r) { return r.conditions.duty.stated(); });
    // Of a server that many use at once size_service tells the price.
    const bool alone_at_it = std::ranges::any_of(
        results, [](const Result& r) { return r.ok() && r.generation && r.generation->batch <= 1; });
    constexpr std::size_t kMostListed = 3;
    std::string text = fmt::format(
        "Cost: {}, {}",
        rent             ? std::string("rented by the hour")
        : served.empty() ? std::string("bought and electricity")
        : alone.empty()
            ? std::string("bought with a share of a server, and electricity")
            : fmt::format("bought and electricity; a share of a server is in that of {}{}",
                          names_text(served),
                          alone.size() > kMostListed ? " alone" : ", none in that of " + names_text(alone)),
        stated        ? std::string("for inferences as often as stated")
        : alone_at_it ? fmt::format("one answer at a time, {:g} % utilisation", 100 * options.utilization)
                      : fmt::format("{:g} % utilisation", 100 * options.utilization));
    if (markets.size() > 1) { // the smaller market's are named, to be left out
        const auto fewest = std::ranges::min_element(
            markets, [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
        text += fmt::format("; prices of {} do not compare with the others: {}",
                            fewest->first.empty() ? "an unstated market" : "a " + fewest->first,
                            names_text(fewest->second));
    } else if (!markets.empty()) {
        const std::vector<std::string>& all = markets.begin()->second;
        text += fmt::format("; {}", names_text(all, all.size() > kMostListed ? 1 : kMostListed));
    }
    const char* const price = rent ? "rental price" : "list price";
    if (without.size() > kMostListed)
        text += fmt::format("; no {}: {}", price, names_text(without, 1));
    else if (!without.empty())
        text += fmt::format("; not ranked by it, for want of a {}: {}", price, names_text(without));
    return text + (rent ? ". --buy compares purchases." : ". --rent compares rentals.");
}

static Cost cost_of_item(const Result& result, const Item& item, const CostOptions& o) {
    Cost cost;
    cost.tenure = o.tenure;
    cost.inferences_per_s = item.rate;
    cost.average_per_s = item.average_rate;
    const Device& device = *result.device;
    const double kwh = facility_joules(result, item, o) / kJoulesPerKwh;
    if (std::isfinite(kwh)) { // energy may be unknown
        cost.electricity = kwh * o.kwh_price;
        cost.carbon_g = kwh * o.grid_intensity;
    }
    const double in_hour = kSecondsPerHour * item.average_rate;
    const double in_life = o.years * kHoursPerYear * in_hour;
    if (const auto rented = rental(device, result.machine->devices, 1, Share::allowed, o))
        cost.cloud = rented->usd_per_hour / in_hour;
    if (price_of(device, false, o))
        cost.capital = purchase_price(result, o) / in_life;
    if (device.embodied_carbon.known())
        cost.embodied_g = device.embodied_carbon.value * kGramsPerKg * result.machine->devices / in_life;
    return cost;
}

/// A token of a pass that takes `seconds` and `joules` and makes so many.
static Cost cost_of_token(const Result& result, double tokens, double seconds, double joules,
                          const CostOptions& o) {
    if (!(tokens > 0) || !(seconds > 0))
        return {.tenure = o.tenure};
    return cost_of_item(result, in_use(tokens / seconds, joules / tokens, o), o);
}

Cost cost_of(const Result& result, const CostOptions& o) {
    if (!result.ok() || !result.device || !(result.estimate.throughput_per_s > 0))
        return {.tenure = o.tenure};
    const double rate = result.estimate.throughput_per_s;
    if (const auto duty = stated_duty(result, o.power_at)) {
        const double every_s = duty->networks.front().every_s;
        if (!duty->holds()) // nothing is to be had for any price
            return {.tenure = o.tenure};
        return cost_of_item(result,
                            {rate, duty->inference_j, 1 / every_s, (1 - duty->active_share) * every_s}, o);
    }
    return cost_of_item(result, in_use(rate, value_or_nan(result, metric::energy, o), o), o);
}

std::optional<TokenCosts> token_costs(const Result& result, const CostOptions& o) {
    if (!result.ok() || !result.device || !result.generation)
        return std::nullopt;
    const GenerationEstimate g = generation_at(result, o.power_at);
    return TokenCosts{
        cost_of_token(result, g.batch * g.prompt_tokens, g.time_to_first_token_s, g.energy_first_token_j, o),
        cost_of_token(result, g.batch, g.time_per_output_token_s, g.batch * g.energy_per_token_j, o)};
}

std::optional<BreakEven> break_even(const Result& bought, const Result& other, const CostOptions& o) {
    const Cost mine = cost_of(bought, o), theirs = cost_of(other, o);
    if (!mine.capital || !mine.electricity)
        return std::nullopt;
    const bool rented = theirs.cloud.has_value();
    if (!rented && !theirs.owned())
        return std::nullopt;
    const double price = purchase_price(bought, o) - (rented ? 0 : purchase_price(other, o));
    const double saved = (rented ? *theirs.cloud : *theirs.electricity) - *mine.electricity;
    if (price <= 0 || saved <= 0)
        return std::nullopt;
    BreakEven point;
    point.inferences = price / saved;
    point.years = point.inferences / mine.average_per_s / (kSecondsPerHour * kHoursPerYear);
    point.within_life = point.years <= o.years;
    return point;
}

} // namespace archsim
