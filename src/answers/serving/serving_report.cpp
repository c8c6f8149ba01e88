#include "answers/serving/serving_report.hpp"

#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace archsim {

namespace {

constexpr double kServingMilli = 1e-3, kServingPercent = 100, kServingMillion = 1e6, kServingKilo = 1e3;

Cell serving_money(std::optional<double> usd) {
    return usd ? Cell{format_number(*usd), *usd} : Cell{"-"};
}

/// "15.2-40.1" ms.
Cell p99_interval(const PercentileBounds& bounds) {
    return {fmt::format("{}-{}", format_number(bounds.low.p99 / kServingMilli),
                        format_number(bounds.high.p99 / kServingMilli))};
}

/// What the abbreviations of the field mean.
void add_latency_notes(Table& table) {
    table.notes.emplace_back(
        "TTFT: time to first token; TPOT: time per output token; P99: 99 of 100 requests "
        "are no slower.",
        "time_to_first_token_p99_s");
    table.notes.emplace_back("E2E: from the request to the last token.", "end_to_end_p99_s");
}

Table serving_table(std::span<const ServingResult> results) {
    Table table;
    table.title = "Serving";
    table.columns = {{"Hardware", "", "hardware"},
                     {"Parallel", "", "parallel"},
                     {"Load", "req/s", "rate_per_s", Align::right},
                     {"In flight", "", "in_flight", Align::right, 2},
                     {"Saturated rate", "req/s", "capacity_per_s", Align::right, 1},
                     {"TTFT P50", "ms", "time_to_first_token_p50_s", Align::right, 1},
                     {"TTFT P99", "ms", "time_to_first_token_p99_s", Align::right},
                     {"90 %", "ms", "time_to_first_token_p99_interval", Align::right, 1},
                     {"TPOT P50", "ms", "time_per_output_token_p50_s", Align::right, 1},
                     {"TPOT P99", "ms", "time_per_output_token_p99_s", Align::right},
                     {"90 %", "ms", "time_per_output_token_p99_interval", Align::right, 1},
                     {"E2E P99", "s", "end_to_end_p99_s", Align::right, 2},
                     {"Output", "tokens/s", "output_tokens_per_s", Align::right},
                     {"Batch", "", "mean_batch", Align::right, 2},
                     {"Waiting", "", "mean_waiting", Align::right, 2},
                     {"Busy", "%", "utilization", Align::right, 1},
                     {"Power", "W", "power_w", Align::right, 1},
                     {"Output", "J/token", "joules_per_million_output_tokens", Align::right, 1},
                     {"Prompt", "J/token", "joules_per_million_prompt_tokens", Align::right, 3},
                     {"Output", "USD/M tok", "usd_per_million_output_tokens", Align::right},
                     {"Prompt", "USD/M tok", "usd_per_million_prompt_tokens", Align::right, 3},
                     {"Stack", "", "runtime", Align::left, 3}};
    add_latency_notes(table);
    for (const ServingResult& r : results) {
        std::vector<Cell> row{{r.hardware}, {to_string(r.parallelism)}};
        if (!r.ok) {
            row.resize(table.columns.size(), Cell{"-"});
            row.back() = {r.runtime};
            table.rows.push_back(std::move(row));
            table.notes.push_back(fmt::format("{}, {}: {}", r.hardware, to_string(r.parallelism), r.reason));
            continue;
        }
        const ServingSummary& s = r.summary;
        row.push_back(r.rate_per_s > 0 ? cell_in(1, r.rate_per_s) : Cell{"-"});
        row.push_back(r.in_flight > 0 ? whole_cell(static_cast<std::size_t>(r.in_flight)) : Cell{"-"});
        row.push_back(r.capacity_per_s > 0 ? cell_in(1, r.capacity_per_s) : Cell{"-"});
        row.push_back(cell_in(kServingMilli, s.time_to_first_s.p50));
        row.push_back(cell_in(kServingMilli, s.time_to_first_s.p99));
        row.push_back(p99_interval(r.bounds.time_to_first_s));
        row.push_back(cell_in(kServingMilli, s.time_per_token_s.p50));
        row.push_back(cell_in(kServingMilli, s.time_per_token_s.p99));
        row.push_back(p99_interval(r.bounds.time_per_token_s));
        row.push_back(cell_in(1, s.end_to_end_s.p99));
        row.push_back(cell_in(1, s.output_tokens_per_s));
        row.push_back(cell_in(1, r.outcome.batch));
        row.push_back(cell_in(1, s.mean_waiting));
        row.push_back(cell_in(1 / kServingPercent, s.utilization));
        row.push_back(cell_in(1, s.watts));
        row.push_back(cell_in(kServingMillion, s.joules_per_million_output));
        row.push_back(cell_in(kServingMillion, s.joules_per_million_prompt));
        row.push_back(serving_money(r.usd_per_million_output()));
        row.push_back(serving_money(r.usd_per_million_prompt()));
        row.push_back({r.runtime});
        table.rows.push_back(std::move(row));
    }
    return table;
}

/// What a reader must know before a number of a run is used.
std::vector<std::string> serving_sentences(const ServingResult& r) {
    std::vector<std::string> out;
    if (r.overloaded)
        out.push_back(
            fmt::format("overloaded: the queue grows without bound above {} requests/s; what waits longest "
                        "here would wait longer in a longer run",
                        format_number(r.capacity_per_s)));
    out.push_back(
        fmt::format("KV cache: {} per token{}; {} sequences of the mean length fit; {} of the allocated "
                    "KV-cache blocks unused on average",
                    format_bytes(r.cache_bytes_per_token),
                    r.fixed_cache_bytes_per_sequence > 0
                        ? fmt::format(" and {} of fixed size per sequence (full windows, states)",
                                      format_bytes(r.fixed_cache_bytes_per_sequence))
                        : "",
                    format_count(r.longest_batch), format_percent(r.outcome.cache_wasted)));
    const ServingSummary& s = r.summary;
    if (s.warm_up > 0)
        out.push_back(fmt::format("the first {} of {} requests warm the engine up and are not counted",
                                  format_count(static_cast<double>(s.warm_up)),
                                  format_count(static_cast<double>(r.outcome.requests.size()))));
    if (s.cached_share > 0)
        out.push_back(fmt::format("prefix cache: {} of the prompts' tokens are found in it",
                                  format_percent(s.cached_share)));
    out.push_back(fmt::format(
        "{} kJ for all {} requests: {} J and {} g CO2e per 1,000 tokens, prompts' and answers' ({} g/kWh, "
        "facility over device power {})",
        format_number(r.outcome.joules / kServingKilo),
        format_count(static_cast<double>(r.outcome.requests.size())),
        format_number(r.joules_per_thousand_tokens()), format_number(r.carbon_g_per_thousand_tokens()),
        format_number(r.grid_intensity), format_number(r.pue)));
    out.insert(out.end(), r.notes.begin(), r.notes.end());
    return out;
}

Chart frontier(std::span<const ServingResult> results) {
    Chart chart;
    chart.kind = ChartKind::scatter;
    chart.title = "Throughput against waiting";
    chart.x_title = "P99 time to first token (ms)";
    chart.y_title = "output tokens/s";
    chart.x_log = chart.y_log = true;
    std::map<std::string, std::size_t> series;
    for (const ServingResult& r : results) {
        if (!r.ok)
            continue;
        const auto [it, fresh] = series.try_emplace(r.hardware, chart.series.size());
        if (fresh)
            chart.series.push_back({r.hardware, {}});
        chart.series[it->second].points.push_back({.label = to_string(r.parallelism),
                                                   .x = r.summary.time_to_first_s.p99 / kServingMilli,
                                                   .y = r.summary.output_tokens_per_s});
    }
    return chart;
}

Table frontier_table(std::span<const ServingResult> results, const std::vector<bool>& on) {
    Table table;
    table.title = "Frontier";
    table.columns = {{"Hardware", "", "hardware"},
                     {"Parallel", "", "parallel"},
                     {"In flight", "", "in_flight", Align::right},
                     {"Tokens/s", "per device", "output_tokens_per_s_per_device", Align::right},
                     {"Tokens/s", "per user", "output_tokens_per_s_per_user", Align::right},
                     {"TTFT P99", "ms", "time_to_first_token_p99_s", Align::right},
                     {"TPOT P99", "ms", "time_per_output_token_p99_s", Align::right},
                     {"Output", "USD/M tok", "usd_per_million_output_tokens", Align::right}};
    add_latency_notes(table);
    std::vector<const ServingResult*> best;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (on[i])
            best.push_back(&results[i]);
    std::sort(best.begin(), best.end(), [](const ServingResult* a, const ServingResult* b) {
        return a->tokens_per_user() > b->tokens_per_user();
    });
    for (const ServingResult* r : best)
        table.rows.push_back({{r->hardware},
                              {to_string(r->parallelism)},
                              whole_cell(static_cast<std::size_t>(r->in_flight)),
                              cell_in(1, r->tokens_per_device()),
                              cell_in(1, r->tokens_per_user()),
                              cell_in(kServingMilli, r->summary.time_to_first_s.p99),
                              cell_in(kServingMilli, r->summary.time_per_token_s.p99),
                              serving_money(r->usd_per_million_output())});
    for (const ServingResult& r : results)
        if (!r.ok)
            table.notes.push_back(fmt::format("{}, {}: {}", r.hardware, to_string(r.parallelism), r.reason));
    return table;
}

Chart sweep_chart(std::span<const ServingResult> results) {
    Chart chart;
    chart.kind = ChartKind::scatter;
    chart.title = "Throughput against the speed that a user sees";
    chart.x_title = "output tokens/s of one user";
    chart.y_title = "output tokens/s of one device";
    chart.x_log = chart.y_log = true;
    for (const ServingResult& r : results) {
        if (!r.ok || r.tokens_per_user() <= 0)
            continue;
        const std::string name = r.hardware + ", " + to_string(r.parallelism);
        if (chart.series.empty() || chart.series.back().name != name)
            chart.series.push_back({.name = name, .points = {}, .joined = false, .group = r.hardware});
        chart.series.back().points.push_back({.label = fmt::format("{} in flight", r.in_flight),
                                              .x = r.tokens_per_user(),
                                              .y = r.tokens_per_device()});
    }
    return chart;
}

} // namespace

namespace {

/// "H100, 1 device: 4 requests/s, first token within 42 ms and a token every 7.2 ms (P99), 310 tokens/s at
/// 412 W."
std::string served_text(const ServingResult& r) {
    const ServingSummary& s = r.summary;
    const std::string saturated =
        r.overloaded ? fmt::format(" ({} are completed)", format_number(r.capacity_per_s)) : "";
    // Users who wait in flight explain a time to the first token that nobody asked for.
    const std::string waiting = r.in_flight > 0 && r.longest_batch < static_cast<double>(r.in_flight)
                                    ? fmt::format(" The KV cache holds {} of the {} requests in flight; the "
                                                  "others wait.",
                                                  format_count(std::floor(r.longest_batch)), r.in_flight)
                                    : "";
    return fmt::format("{}, {}: {}{} requests/s{}, P99 TTFT {}, P99 TPOT {}, {} output tokens/s at {}.{}",
                       r.hardware, to_string(r.parallelism), r.overloaded ? "overloaded at " : "",
                       format_number(r.rate_per_s > 0 ? r.rate_per_s : s.requests_per_s), saturated,
                       format_time(s.time_to_first_s.p99), format_time(s.time_per_token_s.p99),
                       format_number(s.output_tokens_per_s), format_power(s.watts), waiting);
}

/// The most load within the limits, where there are any; else the run that gives out most tokens.
Takeaway serving_takeaway(std::span<const ServingResult> results, const ServiceLevel& level) {
    const ServingResult* best = nullptr;
    std::size_t failed = 0;
    for (const ServingResult& r : results) {
        failed += r.ok ? 0U : 1U;
        const auto worth = [&](const ServingResult& one) {
            return level.any() ? one.rate_per_s : one.summary.output_tokens_per_s;
        };
        if (r.ok && (!best || worth(r) > worth(*best)))
            best = &r;
    }
    if (best == nullptr)
        return {{level.any() ? "Nothing meets the limits."
                             : "None of these devices serves it: the table says why."}};
    Takeaway takeaway{{(level.any()          ? "Most requests within the limits: "
                        : results.size() > 1 ? "Most tokens: "
                                             : "") +
                       served_text(*best)}};
    if (failed > 0)
        takeaway.lines.push_back(fmt::format("No answer for {} of {}.", failed, results.size()));
    return takeaway;
}

/// Both ends of the frontier: the most for a user, the most from a device.
Takeaway frontier_takeaway(std::span<const ServingResult> results) {
    const ServingResult *user = nullptr, *device = nullptr;
    for (const ServingResult& r : results) {
        if (!r.ok)
            continue;
        if (!user || r.tokens_per_user() > user->tokens_per_user())
            user = &r;
        if (!device || r.tokens_per_device() > device->tokens_per_device())
            device = &r;
    }
    if (!user)
        return {{"None of these devices serves it: the table says why."}};
    const auto line = [](const char* what, const ServingResult& r) {
        return fmt::format("{}: {}, {}, {} in flight: {} tokens/s per user, {} tokens/s per device, P99 TTFT "
                           "{}.",
                           what, r.hardware, to_string(r.parallelism), r.in_flight,
                           format_number(r.tokens_per_user()), format_number(r.tokens_per_device()),
                           format_time(r.summary.time_to_first_s.p99));
    };
    return {{line("Quickest for a user", *user), line("Most from a device", *device)}};
}

} // namespace

Report describe_frontier(std::span<const ServingResult> results) {
    Report report;
    report.title = results.empty() ? "Serving" : "Serving " + results.front().model;
    report.blocks.emplace_back(Heading{1, report.title});
    report.blocks.emplace_back(frontier_takeaway(results));
    report.blocks.emplace_back(frontier_table(results, serving_frontier(results)));
    report.blocks.emplace_back(sweep_chart(results));
    report.blocks.emplace_back(serving_table(results));
    return report;
}

Report tabulate_serving(std::span<const ServingResult> results) {
    Report report;
    report.title = "Serving";
    report.blocks.emplace_back(serving_table(results));
    return report;
}

Report describe_serving(std::span<const ServingResult> results, const ServiceLevel& level) {
    Report report;
    report.title = results.empty() ? "Serving" : "Serving " + results.front().model;
    report.blocks.emplace_back(Heading{1, report.title});
    report.blocks.emplace_back(serving_takeaway(results, level));
    report.blocks.emplace_back(serving_table(results));
    for (const ServingResult& r : results) {
        if (!r.ok)
            continue;
        if (results.size() > 1)
            report.blocks.emplace_back(Heading{3, r.hardware + ", " + to_string(r.parallelism)});
        report.blocks.emplace_back(Bullets{serving_sentences(r)});
    }
    if (results.size() > 1)
        report.blocks.emplace_back(frontier(results));
    return report;
}

} // namespace archsim
