#include "answers/serving/serving_report.hpp"

#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace archsim {

constexpr double kServingMilli = 1e-3, kServingPercent = 100, kServingMillion = 1e6, kServingKilo = 1e3;

using ServedRun = const ServingResult*;

/// A P99 and its interval.
static std::vector<ColumnOf<ServedRun>> p99_columns(const char* heading, const std::string& key,
                                                    Percentiles ServingSummary::*of,
                                                    PercentileBounds WaitBounds::*bounds) {
    const auto value = [of](ServedRun r) { return (r->summary.*of).p99; };
    return {{least_best(fmt::format("{} P99", heading), "ms", key + "_p99_s"), kServingMilli, value},
            {interval_column("90 %", "ms", key + "_p99_low_s", key + "_p99_high_s", 2), [=](ServedRun r) {
                 const PercentileBounds& ends = r->bounds.*bounds;
                 return interval_cell(kServingMilli, ends.low.p99, value(r), ends.high.p99);
             }}};
}

/// How long the requests of a run were, in the mean.
static std::string length_note(const ServingResult& r) {
    const auto count = static_cast<double>(r.outcome.requests.size());
    return fmt::format("{:.0f} requests of {:.0f} prompt and {:.0f} output tokens in the mean.", count,
                       static_cast<double>(r.outcome.prompt_tokens) / count,
                       static_cast<double>(r.outcome.output_tokens) / count);
}

static void add_latency_notes(Table& table) {
    table.notes.emplace_back(
        "TTFT: time to first token; TPOT: time per output token; P99: 99 of 100 requests are no slower.",
        "time_to_first_token_p99_s");
    table.notes.emplace_back("E2E: from the request to the last token.", "end_to_end_p99_s");
}

/// `named`: with what says of each row by itself what it is of, and why it has no numbers.
static std::vector<ColumnOf<ServedRun>> serving_columns(bool named) {
    using S = ServingSummary;
    const auto in_summary = [](double S::*number) { return [=](ServedRun r) { return r->summary.*number; }; };
    std::vector<ColumnOf<ServedRun>> run = {
        {most_best("Load", "req/s", "rate_per_s"), 1, [](ServedRun r) { return positive(r->rate_per_s); }},
        {most_best("In flight", "", "in_flight", 3),
         [](ServedRun r) { return count_cell(r->in_flight > 0, static_cast<double>(r->in_flight)); }},
        {most_best("Saturated rate", "req/s", "capacity_per_s", 2), 1,
         [](ServedRun r) { return positive(r->capacity_per_s); }},
        {least_best("TTFT P50", "ms", "time_to_first_token_p50_s", 2), kServingMilli,
         [](ServedRun r) { return r->summary.time_to_first_s.p50; }}};
    append(run, p99_columns("TTFT", "time_to_first_token", &ServingSummary::time_to_first_s,
                            &WaitBounds::time_to_first_s));
    append(run, {{least_best("TPOT P50", "ms", "time_per_output_token_p50_s", 2), kServingMilli,
                  [](ServedRun r) { return r->summary.time_per_token_s.p50; }}});
    append(run, p99_columns("TPOT", "time_per_output_token", &ServingSummary::time_per_token_s,
                            &WaitBounds::time_per_token_s));
    append(run,
           {{least_best("E2E P99", "s", "end_to_end_p99_s", 3), 1,
             [](ServedRun r) { return r->summary.end_to_end_s.p99; }},
            {most_best("Output", "tokens/s", "output_tokens_per_s"), 1, in_summary(&S::output_tokens_per_s)},
            {most_best("Batch", "", "mean_batch", 3), 1, [](ServedRun r) { return r->outcome.batch; }},
            {least_best("Waiting", "", "mean_waiting", 3), 1, in_summary(&S::mean_waiting)},
            {least_best("Busy", "%", "utilization", 3), 1 / kServingPercent, in_summary(&S::utilization)},
            {least_best("Power", "W", "power_w", 2), 1, in_summary(&S::watts)},
            {least_best("Output", "J/token", "joules_per_million_output_tokens", 3), kServingMillion,
             in_summary(&S::joules_per_million_output)},
            {least_best("Prompt", "J/token", "joules_per_million_prompt_tokens", 4), kServingMillion,
             in_summary(&S::joules_per_million_prompt)},
            {least_best("Output", "USD/M tok", "usd_per_million_output_tokens"), 1,
             [](ServedRun r) { return r->usd_per_million_output(); }},
            {least_best("Prompt", "USD/M tok", "usd_per_million_prompt_tokens", 4), 1,
             [](ServedRun r) { return r->usd_per_million_prompt(); }}});
    std::vector<ColumnOf<ServedRun>> columns;
    if (named)
        columns.emplace_back(Column{"Model", "", "model"}, [](ServedRun r) { return r->model; });
    append(columns, {{{"Hardware", "", "hardware"}, [](ServedRun r) { return r->hardware; }},
                     {{"Parallel", "", "parallel"}, [](ServedRun r) { return to_string(r->parallelism); }},
                     {{"Format", "", "precision"}, [](ServedRun r) { return r->precision; }},
                     {{"Stack", "", "runtime", Align::left, 1}, [](ServedRun r) { return r->runtime; }}});
    if (named)
        append(columns, {{{"Status", "", "status"},
                          [](ServedRun r) {
                              return std::string(!r->ok ? "failed" : r->overloaded ? "overloaded" : "ok");
                          }},
                         {{"Why not", "", "reason"},
                          [](ServedRun r) { return text_cell(r->ok ? std::string() : r->reason); }}});
    append(columns, where<ServedRun>([](ServedRun r) { return r->ok; }, std::move(run)));
    columns.push_back(evidence_column<ServedRun>([](ServedRun r) { return evidence_of(r->ok, r->doubt); }));
    return columns;
}

/// Why the runs that failed did.
static void add_failures(std::span<const ServingResult> results, Table& table) {
    for (const ServingResult& r : results)
        if (!r.ok)
            table.notes.push_back(fmt::format("{}, {}: {}", r.hardware, to_string(r.parallelism), r.reason));
}

static Table serving_table(std::span<const ServingResult> results, const std::vector<ServedRun>& order,
                           bool named = false) {
    Table table = table_of("Serving", serving_columns(named), order);
    const auto run = std::ranges::find_if(
        results, [](const ServingResult& r) { return r.ok && !r.outcome.requests.empty(); });
    if (run != results.end())
        table.notes.emplace_back(length_note(*run));
    add_latency_notes(table);
    add_failures(results, table);
    return table;
}

static std::vector<ServedRun> as_asked(std::span<const ServingResult> results) {
    return mapped(results, [](const ServingResult& r) { return &r; });
}

/// By which the first line names the best: the most load within limits; else the most tokens.
static double worth(const ServingResult& r, const ServiceLevel& level) {
    return !r.ok ? -1 : level.any() ? r.rate_per_s : r.summary.output_tokens_per_s;
}

static std::vector<std::string> serving_sentences(const ServingResult& r) {
    std::vector<std::string> out;
    if (r.overloaded)
        out.push_back(fmt::format("overloaded: the queue grows without bound above {} requests/s; what waits "
                                  "longest here would wait longer in a longer run",
                                  format_number(r.capacity_per_s)));
    out.push_back(fmt::format("KV cache: {} per token{}; {} sequences of the mean length fit; {} of the "
                              "allocated KV-cache blocks unused on average",
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
    append(out, r.notes);
    return out;
}

static Chart frontier(std::span<const ServingResult> results) {
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

static Table frontier_table(std::span<const ServingResult> results, const std::vector<bool>& on) {
    std::vector<ServedRun> best;
    for (std::size_t i = 0; i < results.size(); ++i)
        if (on[i])
            best.push_back(&results[i]);
    std::ranges::sort(best,
                      [](ServedRun a, ServedRun b) { return a->tokens_per_user() > b->tokens_per_user(); });
    Table table = table_of<ServedRun>(
        "Frontier",
        {{{"Hardware", "", "hardware"}, [](ServedRun r) { return r->hardware; }},
         {{"Parallel", "", "parallel"}, [](ServedRun r) { return to_string(r->parallelism); }},
         {most_best("In flight", "", "in_flight"), 1, [](ServedRun r) { return r->in_flight; }},
         {most_best("Tokens/s", "per device", "output_tokens_per_s_per_device"), 1,
          [](ServedRun r) { return r->tokens_per_device(); }},
         {most_best("Tokens/s", "per user", "output_tokens_per_s_per_user"), 1,
          [](ServedRun r) { return r->tokens_per_user(); }},
         {least_best("TTFT P99", "ms", "time_to_first_token_p99_s"), kServingMilli,
          [](ServedRun r) { return r->summary.time_to_first_s.p99; }},
         {least_best("TPOT P99", "ms", "time_per_output_token_p99_s"), kServingMilli,
          [](ServedRun r) { return r->summary.time_per_token_s.p99; }},
         {least_best("Output", "USD/M tok", "usd_per_million_output_tokens"), 1,
          [](ServedRun r) { return r->usd_per_million_output(); }}},
        best);
    add_latency_notes(table);
    add_failures(results, table);
    return table;
}

static Chart sweep_chart(std::span<const ServingResult> results) {
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

/// "H100, tp=2, fp8, vLLM".
static std::string deployment_text(const ServingResult& r) {
    return fmt::format("{}, {}, {}, {}", r.hardware, to_string(r.parallelism), r.precision, r.runtime);
}

/// "H100, 1 device, bf16, vLLM: 4 requests/s, first token within 42 ms and a token every 7.2 ms (P99), 310
/// tokens/s at 412 W."
static std::string served_text(const ServingResult& r) {
    const ServingSummary& s = r.summary;
    const std::string saturated =
        r.overloaded ? fmt::format(" ({} are completed)", format_number(r.capacity_per_s)) : "";
    // Users who wait in flight explain a time to the first token that nobody asked for.
    const std::string waiting = r.in_flight > 0 && r.longest_batch < static_cast<double>(r.in_flight)
                                    ? fmt::format(" The KV cache holds {} of the {} requests in flight; the "
                                                  "others wait.",
                                                  format_count(std::floor(r.longest_batch)), r.in_flight)
                                    : "";
    return fmt::format("{}: {}{} requests/s{}, P99 TTFT {}, P99 TPOT {}, {} output tokens/s at {}.{}",
                       deployment_text(r), r.overloaded ? "overloaded at " : "",
                       format_number(r.rate_per_s > 0 ? r.rate_per_s : s.requests_per_s), saturated,
                       format_time(s.time_to_first_s.p99), format_time(s.time_per_token_s.p99),
                       format_number(s.output_tokens_per_s), format_power(s.watts), waiting);
}

/// Everybody who serves the same arrivals gives out their tokens: then the load costs least where it takes
/// the fewest devices at the least power.
static std::string first_served_text(std::span<const ServingResult> results, const ServingResult& best,
                                     const ServiceLevel& level) {
    if (results.size() == 1)
        return served_text(best);
    if (level.any())
        return "Most requests within the limits: " + served_text(best);
    const ServingResult* frugal = nullptr;
    std::size_t bear = 0;
    constexpr double kNoLess = 0.97; // the last requests of a run end at different times
    for (const ServingResult& r : results)
        if (r.ok && r.doubt.empty() && !r.overloaded && r.rate_per_s > 0 &&
            worth(r, level) > kNoLess * worth(best, level)) {
            ++bear;
            if (!frugal || r.summary.joules_per_million_output < frugal->summary.joules_per_million_output)
                frugal = &r;
        }
    if (bear > 1)
        return fmt::format("{} of {} bear the load; least energy: {}", bear, results.size(),
                           served_text(*frugal));
    const bool none =
        std::ranges::none_of(results, [](const ServingResult& r) { return r.ok && !r.overloaded; });
    return (none ? "None bears the load; most tokens: " : "Most tokens: ") + served_text(best);
}

/// Why nothing is served, where all fail alike.
static std::string none_served_text(std::span<const ServingResult> results) {
    const bool alike = std::ranges::all_of(
        results, [&](const ServingResult& r) { return r.reason == results.front().reason; });
    return alike ? fmt::format("None of these devices serves it: {}.", results.front().reason)
                 : std::string("None of these devices serves it; why stands below the table.");
}

/// The most load within the limits, where there are any; else the run that gives out most tokens.
static Takeaway serving_takeaway(std::span<const ServingResult> results, const ServiceLevel& level) {
    const ServingResult *best = nullptr, *doubted = nullptr;
    std::size_t failed = 0;
    for (const ServingResult& r : results) {
        failed += r.ok ? 0U : 1U;
        const ServingResult*& first = r.doubt.empty() ? best : doubted;
        if (r.ok && (!first || worth(r, level) > worth(*first, level)))
            first = &r;
    }
    if (best == nullptr && doubted == nullptr)
        return {{level.any() ? std::string("Nothing meets the limits.") : none_served_text(results)}};
    Takeaway takeaway;
    if (best != nullptr)
        takeaway.lines.push_back(first_served_text(results, *best, level));
    if (best != nullptr && !best->steps_refuted.empty())
        takeaway.lines.push_back(less_sure_text(*best));
    if (doubted != nullptr && (best == nullptr || worth(*doubted, level) >= worth(*best, level)))
        takeaway.lines.push_back(
            fmt::format("Not ranked, {}: {}", doubted->doubt.text(), served_text(*doubted)));
    const auto others = kept(results, [&](const ServingResult& r) { return r.overloaded && &r != best; });
    if (const auto over = distinct(others, &ServingResult::hardware); !over.empty())
        takeaway.lines.push_back(fmt::format("Overloaded: {}.", fmt::join(over, ", ")));
    if (failed > 0)
        takeaway.lines.push_back(fmt::format("No answer for {} of {}.", failed, results.size()));
    return takeaway;
}

/// Both ends of the frontier: the most for a user, the most from a device.
static Takeaway frontier_takeaway(std::span<const ServingResult> results) {
    const ServingResult *user = nullptr, *device = nullptr;
    for (const ServingResult& r : results) {
        if (!r.ok || !r.doubt.empty())
            continue;
        if (!user || r.tokens_per_user() > user->tokens_per_user())
            user = &r;
        if (!device || r.tokens_per_device() > device->tokens_per_device())
            device = &r;
    }
    if (!user) {
        const auto any = std::ranges::find_if(results, &ServingResult::ok);
        return {{any == results.end() ? none_served_text(results)
                                      : fmt::format("Not ranked: {}.", any->doubt.text())}};
    }
    const auto line = [](const char* what, const ServingResult& r) {
        return fmt::format("{}: {}, {} in flight: {} tokens/s per user, {} tokens/s per device, P99 TTFT {}.",
                           what, deployment_text(r), r.in_flight, format_number(r.tokens_per_user()),
                           format_number(r.tokens_per_device()), format_time(r.summary.time_to_first_s.p99));
    };
    Takeaway takeaway{{line("Quickest for a user", *user), line("Most from a device", *device)}};
    for (const ServingResult& r : results)
        if (r.ok && !r.doubt.empty())
            takeaway.lines.push_back(fmt::format("Not ranked: {}: {}.", r.hardware, r.doubt.text()));
    return takeaway;
}

std::vector<std::string> serving_lines(std::span<const ServingResult> results, const ServedQuestion& asked) {
    return (asked.frontier ? frontier_takeaway(results) : serving_takeaway(results, asked.level)).lines;
}

Report describe_frontier(std::span<const ServingResult> results) {
    Report report{results.empty() ? "Serving" : "Serving " + results.front().model, {}};
    add_blocks(report, Heading{1, report.title}, frontier_takeaway(results),
               frontier_table(results, serving_frontier(results)), sweep_chart(results),
               serving_table(results, as_asked(results)));
    return report;
}

Report tabulate_serving(std::span<const ServingResult> results) {
    return {"Serving", {serving_table(results, as_asked(results), true)}};
}

Report describe_serving(std::span<const ServingResult> results, const ServiceLevel& level) {
    Report report{results.empty() ? "Serving" : "Serving " + results.front().model, {}};
    add_blocks(report, Heading{1, report.title}, serving_takeaway(results, level));
    std::vector<ServedRun> best_first = as_asked(results);
    std::ranges::stable_sort(best_first,
                             [&](ServedRun a, ServedRun b) { return worth(*a, level) > worth(*b, level); });
    report.blocks.emplace_back(serving_table(results, best_first));
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
