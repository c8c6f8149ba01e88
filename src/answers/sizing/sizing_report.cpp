#include "answers/sizing/sizing_report.hpp"

#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "result/cost_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace archsim {

constexpr double kSizingMilli = 1e-3, kSizingGiga = 1e9;

using SizingColumn = ColumnOf<SizedDevice>;

/// A column of what only a layout has.
template <class Get>
static SizingColumn layout_column(Column column, Get get) {
    return {std::move(column), [=](const SizedDevice& d) { return d.layout ? get(*d.layout) : Cell{}; }};
}
template <class Get>
static SizingColumn layout_number(Column column, Get get) {
    return {std::move(column), 1, [get](const SizedDevice& d) {
                return d.layout ? std::optional<double>(std::invoke(get, *d.layout)) : std::nullopt;
            }};
}
/// One of its run.
template <class Get>
static SizingColumn run_number(Column column, Get get) {
    return layout_number(std::move(column), [get](const SizedLayout& l) { return std::invoke(get, l.run); });
}

static SizingColumn p99_column(const char* heading, const char* key, Percentiles ServingSummary::*waits,
                               PercentileBounds WaitBounds::*bounds) {
    return layout_column(least_best(heading, "ms", key), [=](const SizedLayout& l) {
        const double value = (l.run.summary.*waits).p99;
        Cell cell = cell_in(kSizingMilli, value);
        if (const PercentileBounds& b = l.run.bounds.*bounds; b.low.p99 > 0)
            cell.interval = {b.low.p99, value, b.high.p99};
        return cell;
    });
}

static std::vector<SizingColumn> sizing_columns(std::string_view basis, bool with_reasons) {
    using L = const SizedLayout&;
    std::vector<SizingColumn> columns = {
        {{"Hardware", "", "hardware"}, &SizedDevice::hardware},
        layout_column(least_best("Devices", "", "devices"),
                      [](L l) { return whole_cell(static_cast<std::size_t>(l.devices())); }),
        layout_column({"Layout", "", "parallel"}, [](L l) { return Cell{to_string(l.run.parallelism)}; }),
        {{"Format", "", "precision"}, &SizedDevice::precision},
        {{"Stack", "", "runtime"}, &SizedDevice::runtime},
        {most_best("Holds", "%", "probability"),
         [](const SizedDevice& d) {
             if (!d.layout)
                 return Cell{"no", 0.0, Tone::bad};
             return Cell{fmt::format("{:g}", 100 * d.layout->probability), d.layout->probability,
                         d.holds ? Tone::good : Tone::bad};
         }},
        p99_column("TTFT P99", "time_to_first_token_p99_s", &ServingSummary::time_to_first_s,
                   &WaitBounds::time_to_first_s),
        p99_column("TPOT P99", "time_per_output_token_p99_s", &ServingSummary::time_per_token_s,
                   &WaitBounds::time_per_token_s),
        layout_number(least_best("Cost", fmt::format("USD/h {}", basis), "usd_per_hour"),
                      &SizedLayout::usd_per_hour),
        layout_number(least_best("Cost", "USD/month", "usd_per_month", 2), &SizedLayout::usd_per_month),
        run_number(least_best("Input", "USD/M tok", "usd_per_million_prompt_tokens", 1),
                   &ServingResult::usd_per_million_prompt),
        run_number(least_best("Output", "USD/M tok", "usd_per_million_output_tokens", 1),
                   &ServingResult::usd_per_million_output),
        layout_number(least_best("Input", "J/M tok", "joules_per_million_prompt_tokens", 3),
                      [](L l) { return l.run.summary.joules_per_million_prompt; }),
        layout_number(least_best("Output", "J/M tok", "joules_per_million_output_tokens", 3),
                      [](L l) { return l.run.summary.joules_per_million_output; }),
        layout_number(least_best("Input", "g CO2e/M", "carbon_g_per_million_prompt_tokens", 3),
                      &SizedLayout::carbon_g_per_million_prompt),
        layout_number(least_best("Output", "g CO2e/M", "carbon_g_per_million_output_tokens", 2),
                      &SizedLayout::carbon_g_per_million_output),
        layout_number(least_best("Power", "W", "facility_power_w", 2), &SizedLayout::watts),
        layout_column(least_best("Busy", "%", "utilization", 3),
                      [](L l) { return percent_cell(l.run.summary.utilization); }),
        evidence_column<SizedDevice>(
            [](const SizedDevice& d) { return evidence_of(d.layout.has_value(), d.doubt); })};
    if (with_reasons)
        columns.emplace_back(Column{"Why not", "", "reason"},
                             [](const SizedDevice& d) { return text_cell(d.reason); });
    return columns;
}

static Table memory_table(const SizingAnswer& answer) {
    const auto gigabytes = [](double SizedMemory::*part) {
        return [part](const SizedDevice& d) { return d.layout->memory.*part; };
    };
    Table table = table_of<SizedDevice>(
        "Memory of one device",
        {{{"Hardware", "", "hardware"}, &SizedDevice::hardware},
         {{"Format", "", "precision"}, &SizedDevice::precision},
         {least_best("Weights", "GB", "weights_bytes"), kSizingGiga, gigabytes(&SizedMemory::weights)},
         {least_best("KV cache", "GB", "cache_bytes"), kSizingGiga, gigabytes(&SizedMemory::cache)},
         {least_best("Engine", "GB", "engine_bytes"), kSizingGiga, gigabytes(&SizedMemory::engine)},
         {most_best("Free", "GB", "free_bytes"), kSizingGiga, gigabytes(&SizedMemory::free)},
         {most_best("Capacity", "GB", "capacity_bytes"), kSizingGiga, gigabytes(&SizedMemory::capacity)},
         {{"At twice the load", "", "at_twice"},
          [](const SizedDevice& d) {
              return (d.layout->at_twice.ratio <= 1 ? "holds: " : "") + pressure_text(d.layout->at_twice);
          }}},
        kept(answer.devices, [](const SizedDevice& d) { return d.layout.has_value(); }));
    table.notes.emplace_back("KV cache: in use at most; Engine: activations and what stack and driver keep; "
                             "Free: KV-cache blocks that stay empty.");
    return table;
}

static Table pairs_table(const SizingAnswer& answer) {
    using P = SizedPair;
    const auto p99 = [](Percentiles ServingSummary::*of) {
        return [of](const P& p) { return time_cell((p.summary.*of).p99); };
    };
    Table table = table_of<P>(
        "Prompts on one kind of device, answers on another",
        {{{"Prompts", "", "prompt_hardware"}, &P::prompt_hardware},
         {least_best("Devices", "", "prompt_devices"), 1,
          [](const P& p) { return p.prompt_engines * p.prompt_way.engine_devices(); }},
         {{"Answers", "", "answer_hardware"}, &P::answer_hardware},
         {least_best("Devices", "", "answer_devices"), 1,
          [](const P& p) { return p.answer_engines * p.answer_way.engine_devices(); }},
         {{"Format", "", "precision"}, &P::precision},
         {least_best("P99 TTFT", "", "time_to_first_token_p99_s"), p99(&ServingSummary::time_to_first_s)},
         {least_best("P99 TPOT", "", "time_per_output_token_p99_s"), p99(&ServingSummary::time_per_token_s)},
         {most_best("Holds", "%", "probability"),
          [](const P& p) {
              return Cell{fmt::format("{:g}", 100 * p.probability), p.probability};
          }},
         {least_best("Cost", "USD/h", "usd_per_hour"), 1, &P::usd_per_hour}},
        answer.pairs);
    const auto over_network = [](const SizedPair& p) { return p.transfer_bytes_per_s.has_value(); };
    if (std::ranges::any_of(answer.pairs, over_network))
        table.notes.emplace_back("Caches cross the slower of the networks that are stated.");
    if (!std::ranges::all_of(answer.pairs, over_network))
        table.notes.emplace_back("Where neither device states its network, caches are taken to cross as fast "
                                 "as between two devices of the answers' kind.");
    table.notes.emplace_back("Both kinds err alike.");
    return table;
}

std::string load_text(const SizingAnswer& answer) {
    const SizingRequest& r = answer.request;
    const RequestPlan& load = r.serving.load;
    std::string text =
        r.serving.plan.concurrency > 0
            ? fmt::format("{} requests always in flight", r.serving.plan.concurrency)
            : fmt::format("{:.{}g} requests/s", load.rate_per_s, load.rate_per_s < 1e3 ? 3 : 6);
    if (r.users > 0 && load.rate_per_s > 0)
        text = fmt::format("{} users, each asking every {}: {}", r.users, format_time(*r.think_s), text);
    text += load.trace != nullptr ? fmt::format(" as recorded, {:.0f} tokens in and {:.0f} out in the mean",
                                                load.prompt_tokens, load.output_tokens)
            : load.lengths.empty()
                ? fmt::format(", {:g} tokens in and {:g} out", load.prompt_tokens, load.output_tokens)
                : ", lengths from a file";
    const auto limit = [&](const char* name, double seconds) {
        if (seconds > 0)
            text += fmt::format(", {} <= {}", name, format_time(seconds));
    };
    limit("P99 TTFT", r.level.time_to_first_s);
    limit("P99 TPOT", r.level.time_per_token_s);
    limit("P99 E2E", r.level.end_to_end_s);
    return text;
}

/// Devices by the reason for which they do not hold, where the takeaway has no room for it, or cannot be
/// compared.
static Bullets reasons(const SizingAnswer& answer) {
    Bullets out;
    const bool told = takeaway_names_every_miss(answer);
    std::map<std::string, std::pair<std::size_t, std::string>> grouped; // reason to order and names
    const auto add = [&](const std::string& why, const std::string& name) {
        auto& [order, names] = grouped.try_emplace(why, grouped.size(), "").first->second;
        names += (names.empty() ? "" : ", ") + name;
    };
    for (const SizedDevice& d : answer.devices) {
        if (!d.reason.empty()) {
            if (!told)
                add(d.reason, d.hardware);
        } else if (d.layout && !d.layout->usd_per_hour) {
            add(answer.basis == Tenure::buy
                    ? "no list price in the database, not compared by cost (--rent, or --price DEVICE=USD)"
                    : "no rental price in the database, not compared by cost (--buy, or --price "
                      "DEVICE=USD/h)",
                d.hardware);
        }
        if (!d.within_budget && d.layout)
            add("over the budget, or without a price to hold against it", d.hardware);
    }
    std::vector<std::string> lines(grouped.size());
    for (const auto& [why, group] : grouped)
        lines[group.first] = fmt::format("{}: {}", group.second, why);
    out.items = std::move(lines);
    return out;
}

Report describe(const SizingAnswer& answer, const PlainView&, Format format) {
    Report report{fmt::format("Sizing {}: {}", answer.title, load_text(answer)), {}};
    if (format == Format::csv) {
        report.blocks.emplace_back(
            table_of("Sizes", sizing_columns(basis_text(answer.basis), true), answer.devices));
        return report;
    }
    std::vector<std::string> lines = sizing_takeaway(answer).lines;
    const std::vector<std::string> more = beyond_first_rows(lines);
    add_blocks(report, Heading{1, report.title}, Takeaway{std::move(lines)});
    std::vector<SizedDevice> shown = kept(answer.devices, [&](const SizedDevice& d) {
        return d.layout || answer.devices.size() <= 12; // of many those with an answer; the others are below
    });
    const auto price = [](const SizedDevice& d) { // as the first line names them
        return std::pair(!d.holds, d.layout ? d.layout->usd_per_hour.value_or(INFINITY) : INFINITY);
    };
    std::ranges::stable_sort(shown,
                             [&](const SizedDevice& a, const SizedDevice& b) { return price(a) < price(b); });
    Table table = table_of("Fewest devices that hold the limits",
                           sizing_columns(basis_text(answer.basis), false), shown); // reasons are below
    table.notes.emplace_back(
        "Holds: the probability that all limits hold, by the error of the estimates; tp: devices that share "
        "every matrix, pp: stages, ep: devices that share the experts, dp: engines beside each other.");
    if (answer.basis == Tenure::buy)
        table.notes.emplace_back(fmt::format("Owned: price and its part of a server over {:g} years around "
                                             "the clock, and electricity at {:g} USD/kWh.",
                                             answer.request.cost.years, answer.request.cost.kwh_price));
    else
        table.notes.emplace_back("Rented: on-demand by the hour, around the clock; electricity is in it.");
    table.notes.emplace_back(fmt::format("Carbon: {:g} g CO2e/kWh, {}.", answer.request.cost.grid_intensity,
                                         pue_text(answer.request.cost.pue)));
    for (const SizedDevice& d : answer.devices)
        if (d.given.rows > 0) {
            const GivenWaits& given = d.given;
            table.notes.emplace_back(fmt::format(
                "{} in {} follows your {} measurement{}: {:.3g} x the estimated time per token, {:.3g} x the "
                "time to first token.",
                d.hardware, d.precision, given.rows, given.rows == 1 ? "" : "s", given.later,
                given.later * given.first));
        }
    report.blocks.emplace_back(std::move(table));
    append(report.blocks, mapped(more, [](const std::string& line) { return Paragraph{line}; }));
    if (Table memory = memory_table(answer); !memory.rows.empty())
        report.blocks.emplace_back(std::move(memory));
    if (!answer.pairs.empty())
        report.blocks.emplace_back(pairs_table(answer));
    if (Bullets why = reasons(answer); !why.items.empty())
        report.blocks.emplace_back(std::move(why));
    return report;
}

} // namespace archsim
