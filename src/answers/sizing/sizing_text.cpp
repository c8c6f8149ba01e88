#include "answers/sizing/sizing_report.hpp"

#include "answers/serving/serving_report.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace archsim {

constexpr std::size_t kMostNamed = 3;

static std::string name_text(const SizingAnswer& answer, const SizedDevice& d) {
    for (const SizedDevice& other : answer.devices)
        if (&other != &d && other.hardware == d.hardware)
            return d.hardware + " in " + d.precision;
    return d.hardware;
}

/// "H100, 4 devices (tp=2,dp=2), bf16, vLLM".
static std::string layout_text(const SizedDevice& d) {
    const std::int64_t devices = d.layout->devices();
    const std::string way = to_string(d.layout->run.parallelism);
    const std::string count =
        devices == 1 ? std::string("1 device") : fmt::format("{} devices ({})", devices, way);
    return fmt::format("{}, {}, {}, {}", d.hardware, count, d.precision, d.runtime);
}

/// "6.88 USD/h rented (AWS p5.48xlarge / 8, 2025-06)"
static std::string money_text(const SizingAnswer& answer, const SizedDevice& d) {
    return d.layout->usd_per_hour
               ? fmt::format("{} USD/h {} ({})", format_number(*d.layout->usd_per_hour),
                             basis_text(answer.basis), d.price_basis)
               : std::string(answer.basis == Tenure::buy ? "no price in the database"
                                                         : "no rental price in the database");
}

static std::string probability_text(double probability) {
    return fmt::format("{:g} %", 100 * probability);
}

/// "Prompts on L40S (2), answers on H100 (1): 7.3 USD/h rented, ..."
static std::string pair_text(const SizingAnswer& answer, const SizedPair& p) {
    const auto pool = [](const std::string& hardware, const Parallelism& way, std::int64_t engines) {
        return fmt::format("{} x {}{}", engines * way.engine_devices(), hardware,
                           way.engine_devices() > 1 ? " (" + to_string(way) + " each)" : "");
    };
    return fmt::format(
        "Prompts on {}, answers on {}, {}: {}, {} likely to hold the limits.",
        pool(p.prompt_hardware, p.prompt_way, p.prompt_engines),
        pool(p.answer_hardware, p.answer_way, p.answer_engines), p.precision,
        p.usd_per_hour ? fmt::format("{} USD/h {}", format_number(*p.usd_per_hour), basis_text(answer.basis))
                       : "without a price for both",
        probability_text(p.probability));
}

/// Devices that do not hold, but for the nearest, which has its own line.
static std::vector<const SizedDevice*> misses(const SizingAnswer& answer) {
    std::vector<const SizedDevice*> out;
    for (std::size_t i = 0; i < answer.devices.size(); ++i)
        if (const SizedDevice& d = answer.devices[i]; !(d.holds && d.within_budget) && answer.nearest != i)
            out.push_back(&d);
    return out;
}

/// "Do not hold the limits: L4 (why), A10 (why) and 3 more."
static std::string misses_text(const SizingAnswer& answer) {
    const std::vector<const SizedDevice*> all = misses(answer);
    const std::size_t count = all.size();
    std::string text;
    for (std::size_t i = 0; i < std::min(count, kMostNamed); ++i)
        text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", name_text(answer, *all[i]),
                            all[i]->holds ? "over the budget" : all[i]->reason);
    if (count > kMostNamed)
        text += fmt::format("; and {} more, see below", count - kMostNamed);
    return text.empty()
               ? text
               : (count == 1 ? "Does not hold the limits: " : "Do not hold the limits: ") + text + ".";
}

/// Those that hold the limits and may not be named first, for less money, or with fewer devices, than the
/// cheapest that may; cheapest first.
static std::vector<const SizedDevice*> doubted_of(const SizingAnswer& answer) {
    const SizedLayout* const best = answer.cheapest ? &*answer.devices[*answer.cheapest].layout : nullptr;
    const auto usd = [](const SizedDevice* d) { return d->layout->usd_per_hour.value_or(INFINITY); };
    std::vector<const SizedDevice*> all;
    for (const SizedDevice& d : answer.devices)
        if (d.holds && d.within_budget && !d.doubt.empty() &&
            (best == nullptr || usd(&d) < *best->usd_per_hour || d.layout->devices() < best->devices()))
            all.push_back(&d);
    std::ranges::stable_sort(all, {}, usd);
    return all;
}

/// "Not ranked: RTX 3090, 1 device, 0.0698 USD/h (projected); and 2 more."
static std::string doubted_text(const SizingAnswer& answer, const std::vector<const SizedDevice*>& all) {
    const std::size_t named = std::min(all.size(), kMostNamed);
    std::string text;
    for (std::size_t i = 0; i < named; ++i) {
        const SizedLayout& l = *all[i]->layout;
        text += fmt::format(
            "{}{}, {}{} ({})", text.empty() ? "Not ranked: " : "; ", name_text(answer, *all[i]),
            plural(static_cast<std::size_t>(l.devices()), "device"),
            l.usd_per_hour ? fmt::format(", {} USD/h", format_number(*l.usd_per_hour)) : std::string(),
            name_of(all[i]->doubt.standing));
    }
    if (all.size() > named)
        text += fmt::format("; and {} more", all.size() - named);
    return text.empty() ? text : text + ".";
}

/// Why they are not, each reason once.
static std::string reasons_text(const SizingAnswer& answer, const std::vector<const SizedDevice*>& all) {
    std::map<std::string, std::vector<std::string>> by_reason;
    for (std::size_t i = 0; i < std::min(all.size(), kMostNamed); ++i)
        by_reason[all[i]->doubt.text()].push_back(name_text(answer, *all[i]));
    std::string text;
    for (const auto& [why, names] : by_reason)
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", names_text(names), why);
    return text.empty() ? text : text + ".";
}

bool takeaway_names_every_miss(const SizingAnswer& answer) {
    return misses(answer).size() <= kMostNamed;
}

std::string_view basis_text(Tenure basis) {
    return basis == Tenure::buy ? "owned" : "rented";
}

std::string pressure_text(const SizingPressure& p) {
    std::string text;
    if (std::isinf(p.ratio))
        text = "requests are longer than the KV cache";
    else if (p.limit == SizingLimit::queue)
        text = fmt::format("requests arrive at {} % of the rate at which they are completed",
                           format_number(100 * p.ratio));
    else
        text = fmt::format("{} {}, {} x the limit", name_of(p.limit), format_time(p.value),
                           format_number(p.ratio));
    if (p.cache_full)
        text += "; the KV cache is full";
    if (p.batch_full)
        text += "; the batch limit is reached";
    return text;
}

/// "the limits", said where nobody gave them.
static std::string limits_words(const SizingAnswer& answer) {
    const ServiceLevel& level = answer.request.level;
    return !answer.usual_level ? std::string("the limits")
                               : fmt::format("P99 TTFT {}, TPOT {}", format_time(level.time_to_first_s),
                                             format_time(level.time_per_token_s));
}

/// Where none holds: the nearest, and what would make it hold.
static Takeaway none_takeaway(const SizingAnswer& answer, const std::string& doubted) {
    Takeaway out;
    std::string line = fmt::format("None {}is {:g} % likely to hold {}",
                                   doubted.empty() ? "" : "that measurements stand behind ",
                                   100 * answer.request.confidence, limits_words(answer));
    if (answer.request.budget_usd_per_hour > 0)
        line += fmt::format(" for {} USD/h", format_number(answer.request.budget_usd_per_hour));
    out.lines.push_back(line + ".");
    if (!doubted.empty())
        out.lines.push_back(doubted);
    if (answer.nearest) {
        const SizedDevice& d = answer.devices[*answer.nearest];
        out.lines.push_back(
            fmt::format("Nearest: {}: {}.", d.layout ? layout_text(d) : name_text(answer, d),
                        (d.holds ? "" : d.reason + (d.within_budget ? "" : "; ")) +
                            (d.within_budget ? "" : money_text(answer, d) + ", over the budget")));
        out.lines.push_back(answer.remedy.empty()
                                ? "Neither a narrower format nor a limit of twice as long makes it hold."
                                : fmt::format("What makes it hold: {}.", answer.remedy));
    }
    if (std::string misses = misses_text(answer); !misses.empty())
        out.lines.push_back(std::move(misses));
    return out;
}

static Takeaway single_takeaway(const SizingAnswer& answer) {
    Takeaway out;
    const auto at = [&](std::optional<std::size_t> i) -> const SizedDevice& { return answer.devices[*i]; };
    const std::vector<const SizedDevice*> unranked = doubted_of(answer);
    const std::string doubted = doubted_text(answer, unranked);
    const std::string reasons = reasons_text(answer, unranked);
    if (!answer.fewest) {
        out = none_takeaway(answer, doubted);
        if (!reasons.empty())
            out.lines.push_back(reasons);
        return out;
    }
    const std::optional<std::size_t> first = answer.cheapest ? answer.cheapest : answer.fewest;
    const auto told = [&](const char* what, std::optional<std::size_t> which, const std::string& more) {
        const SizedDevice& d = at(which);
        out.lines.push_back(fmt::format("{}: {}: {}, {} likely to hold {}.", what, layout_text(d), more,
                                        probability_text(d.layout->probability), limits_words(answer)));
    };
    // What may not be named first, and why the first is less sure, stand in the first rows: less is said
    // beside the cheapest then. Nobody else needs fewer devices: neither those that are ranked, nor others.
    const ServingResult& run = at(first).layout->run;
    const bool alone = doubted.empty() && run.steps_refuted.empty();
    const bool none_fewer = alone && answer.fewest == answer.cheapest;
    if (answer.cheapest)
        told("Cheapest", answer.cheapest,
             money_text(answer, at(answer.cheapest)) + (none_fewer ? ", no other needs fewer devices" : ""));
    const auto tell_doubts = [&] {
        if (!run.steps_refuted.empty())
            out.lines.push_back(less_sure_text(run));
        if (!doubted.empty())
            out.lines.push_back(doubted);
    };
    if (answer.cheapest)
        tell_doubts();
    if (answer.greenest == answer.fewest && answer.fewest != answer.cheapest) {
        told("Fewest devices and lowest carbon", answer.fewest, money_text(answer, at(answer.fewest)));
    } else if (answer.greenest == answer.cheapest) {
        const std::string carbon = fmt::format("Lowest carbon, too: {} g CO2e/h.",
                                               format_number(at(answer.greenest).layout->carbon_g_per_hour));
        if (alone)
            out.lines.front() += " " + carbon;
        else
            out.lines.push_back(carbon);
    } else {
        const SizedLayout& l = *at(answer.greenest).layout;
        told("Lowest carbon", answer.greenest,
             fmt::format("{} at the facility's meter, {} g CO2e/h", format_power(l.watts),
                         format_number(l.carbon_g_per_hour)));
    }
    if (answer.fewest != answer.cheapest && answer.fewest != answer.greenest)
        told("Fewest devices", answer.fewest, money_text(answer, at(answer.fewest)));
    if (!answer.cheapest) {
        tell_doubts();
        out.lines.push_back(
            fmt::format("None that holds has a {} in the database: {}, --price {}=USD{} gives one.",
                        answer.basis == Tenure::buy ? "list price" : "rental price",
                        answer.basis == Tenure::buy ? "--rent compares rentals" : "--buy compares purchases",
                        at(first).hardware, answer.basis == Tenure::buy ? "" : "/h"));
    }
    if (answer.elsewhere)
        out.lines.push_back(fmt::format(
            "Cheaper at a {}, whose prices do not compare with a {}'s: {}: {}.", at(answer.elsewhere).market,
            at(first).market, layout_text(at(answer.elsewhere)), money_text(answer, at(answer.elsewhere))));
    if (std::string misses = misses_text(answer); !misses.empty())
        out.lines.push_back(std::move(misses));
    if (!reasons.empty())
        out.lines.push_back(reasons);
    return out;
}

Takeaway sizing_takeaway(const SizingAnswer& answer) {
    Takeaway out = single_takeaway(answer);
    append(out.lines, answer.unused_prices);
    if (answer.request.pairs)
        out.lines.push_back(answer.pairs.empty() ? "No pair of two kinds holds the limits."
                                                 : pair_text(answer, answer.pairs.front()));
    if (!answer.unpaired.empty())
        out.lines.push_back(fmt::format("Not estimated as pairs: {}.", fmt::join(answer.unpaired, "; ")));
    return out;
}

} // namespace archsim
