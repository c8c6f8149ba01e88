#include "fit/report/serving_peers_report.hpp"

#include "fit/report/validation_report.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace archsim {

/// Metrics in the order of their columns, with their titles.
constexpr std::array<std::pair<std::string_view, const char*>, 5> kPeerMetrics = {
    {{"e2e_mean_ms", "E2E mean"},
     {"e2e_p99_ms", "E2E P99"},
     {"ttft_mean_ms", "TTFT mean"},
     {"ttft_p99_ms", "TTFT P99"},
     {"itl_mean_ms", "ITL mean"}}};

/// "TTFT mean" of "ttft_mean_ms"; others as they are.
static std::string title_of_metric(const std::string& metric) {
    for (const auto& [key, title] : kPeerMetrics)
        if (key == metric)
            return title;
    return metric;
}

static std::vector<double> errors_of(const ServingPeers& peers, std::size_t simulator,
                                     std::string_view metric) {
    std::vector<double> errors;
    for (const PeerRow& row : peers.rows)
        if (row.metric == metric && row.predicted[simulator])
            errors.push_back(std::abs(*row.predicted[simulator] - row.measured) / row.measured);
    std::sort(errors.begin(), errors.end());
    return errors;
}

static Table errors_by_simulator(const ServingPeers& peers) {
    using Index = std::size_t; // of simulators
    std::vector<ColumnOf<Index>> columns = {
        {{"Simulator", "", "simulator"}, [&](Index who) { return peers.simulators[who]; }},
        {most_best("Runs", "", "runs"), 1,
         [&](Index who) { return errors_of(peers, who, kPeerMetrics[0].first).size(); }}};
    for (const auto& [key, title] : kPeerMetrics)
        columns.emplace_back(
            least_best(title, "%", std::string(key) + "_error"),
            [&peers, key = key](Index who) { return error_cell(errors_of(peers, who, key)); });
    Table table = table_of("Error of what clients wait for, by simulator (median / mean over runs)", columns,
                           indices(peers.simulators.size()));
    table.notes.emplace_back("E2E: from the request to the last token; TTFT: time to first token; ITL: time "
                             "between tokens; P99: 99 of 100 requests are no slower.");
    table.notes.emplace_back(fmt::format(
        "Predictions of others are those that they published for these runs; BLIS was trained on such runs. "
        "Of archsim one number rests on these rows, the time of a request outside the engine: they ask for "
        "{}, and each model for {} more or less than the others do. \"Model left out\" takes the others' for "
        "each.",
        format_time(peers.request_s), format_time(peers.request_error_s)));
    return table;
}

static Table every_row(const ServingPeers& peers) {
    using R = PeerRow;
    constexpr double kMilli = 1e-3;
    std::vector<ColumnOf<R>> columns = {
        {{"Run", "", "run"}, &R::run},
        {{"Model", "", "model"}, &R::model},
        {{"Metric", "", "metric"}, [](const R& r) { return title_of_metric(r.metric); }},
        {least_best("Measured", "ms", "measured_s"), kMilli, [](const R& r) { return r.measured * kMilli; }}};
    for (std::size_t i = 0; i < peers.simulators.size(); ++i)
        columns.emplace_back(
            least_best(peers.simulators[i], "ms", peers.simulators[i] + "_s"), kMilli, [i](const R& r) {
                return r.predicted[i] ? std::optional(*r.predicted[i] * kMilli) : std::nullopt;
            });
    return table_of("Every run", columns, peers.rows);
}

constexpr double kInPercent = 100;
/// A layout is as good as the best where it is within a tenth of it.
constexpr double kAsGood = 0.9;

/// Signed errors of some rows, sorted by size.
struct LayoutErrors {
    std::vector<double> first, token;
    double bias = 0, covered = 0;
    std::size_t rows = 0;
    std::set<std::string> configurations;
};

static std::string configuration_of(const LayoutRow& row) {
    return fmt::format("{}, {}, {}, {}", row.model, row.hardware, row.runtime,
                       row.precision.empty() ? "as stored" : row.precision);
}

static LayoutErrors errors_of(const std::vector<const LayoutRow*>& rows) {
    LayoutErrors errors;
    for (const LayoutRow* row : rows) {
        errors.configurations.insert(configuration_of(*row));
        if (!row->ours)
            continue;
        ++errors.rows;
        const auto error = [](double ours, double measured) { return std::abs(ours / measured - 1); };
        errors.first.push_back(error(row->ours->first_ms, row->measured.first_ms));
        errors.token.push_back(error(row->ours->token_ms, row->measured.token_ms));
        errors.bias += std::log(row->ours->token_ms / row->measured.token_ms);
        errors.covered +=
            row->low.token_ms <= row->measured.token_ms && row->measured.token_ms <= row->high.token_ms ? 1
                                                                                                        : 0;
    }
    std::sort(errors.first.begin(), errors.first.end());
    std::sort(errors.token.begin(), errors.token.end());
    const auto count = static_cast<double>(std::max<std::size_t>(1, errors.rows));
    errors.bias = std::exp(errors.bias / count) - 1;
    errors.covered /= count;
    return errors;
}

static Cell short_percent(double share) {
    return {fmt::format("{:.1f}", kInPercent * share), share};
}

static Table errors_by(const ServingLayouts& layouts, const char* heading, const char* key,
                       const std::function<std::string(const LayoutRow&)>& name) {
    struct Group {
        std::string name;
        std::size_t rows;
        LayoutErrors errors;
    };
    std::map<std::string, std::vector<const LayoutRow*>> by;
    std::vector<const LayoutRow*> all;
    for (const LayoutRow& row : layouts.rows) {
        by[name(row)].push_back(&row);
        all.push_back(&row);
    }
    std::vector<Group> groups;
    for (const auto& [group, rows] : by)
        groups.push_back({group, rows.size(), errors_of(rows)});
    groups.push_back({"All", all.size(), errors_of(all)});
    using G = Group;
    const auto share = [](double LayoutErrors::*of) {
        return [of](const G& g) { return g.errors.rows > 0 ? short_percent(g.errors.*of) : Cell{}; };
    };
    return table_of<G>(
        {},
        {{{heading, "", key}, &G::name},
         {most_best("Configurations", "", "configurations"), 1,
          [](const G& g) { return g.errors.configurations.size(); }},
         {most_best("Rows", "", "rows"), 1, &G::rows},
         {most_best("Estimated", "", "estimated"), 1, [](const G& g) { return g.errors.rows; }},
         {least_best("TTFT", "%", "ttft_error"), [](const G& g) { return error_cell(g.errors.first); }},
         {least_best("TPOT", "%", "tpot_error"), [](const G& g) { return error_cell(g.errors.token); }},
         {least_best("TPOT bias", "%", "tpot_bias"), share(&LayoutErrors::bias)},
         {most_best("TPOT in 90 %", "%", "tpot_covered"), share(&LayoutErrors::covered)}},
        groups);
}

static Table choices_by_model(const ServingLayouts& layouts) {
    struct Counts {
        std::string model;
        std::size_t groups = 0, good = 0, missed = 0;
        std::vector<double> shares;
        Cell part(std::size_t n) const {
            return short_percent(static_cast<double>(n) /
                                 static_cast<double>(std::max<std::size_t>(1, groups)));
        }
    };
    std::map<std::string, Counts> by;
    Counts all{.model = "All", .shares = {}};
    for (const LayoutGroup& group : layouts.groups) {
        if (!group.best)
            continue;
        const std::string& model = layouts.rows[group.rows.front()].model;
        by[model].model = model;
        for (Counts* counts : {&by[model], &all}) {
            ++counts->groups;
            counts->good += group.share >= kAsGood ? 1 : 0;
            counts->missed += group.share <= 0 ? 1 : 0;
            counts->shares.push_back(group.share);
        }
    }
    std::vector<Counts> rows;
    for (auto& [model, counts] : by)
        rows.push_back(std::move(counts));
    rows.push_back(std::move(all));
    for (Counts& counts : rows)
        std::sort(counts.shares.begin(), counts.shares.end());
    using C = Counts;
    Table table = table_of<C>(
        "Whether the layout that the estimate chooses is the best one, by model",
        {{{"Model", "", "model"}, &C::model},
         {most_best("Groups", "", "groups"), 1, &C::groups},
         {most_best("Within 10 % of the best", "%", "as_good"), [](const C& c) { return c.part(c.good); }},
         {least_best("Never within the limit", "%", "missed"), [](const C& c) { return c.part(c.missed); }},
         {most_best("Median share of the best", "%", "median_share"),
          [](const C& c) { return c.shares.empty() ? Cell{} : short_percent(quantile(c.shares, 0.5)); }}},
        rows);
    table.notes.emplace_back(
        "A group: one model, device, stack, format and lengths, several layouts, and a limit on the time per "
        "output token (each quartile of those measured). Best: most measured output tokens per second of a "
        "device within the limit. Chosen: most estimated ones; then the layout is given as many requests in "
        "flight as its own measured times allow.");
    return table;
}

static Table every_layout(const ServingLayouts& layouts) {
    using R = LayoutRow;
    constexpr double kMilli = 1e-3;
    const auto measured = [](double MeanWaits::*of) {
        return [of](const R& r) { return r.measured.*of * kMilli; };
    };
    const auto estimated = [](double MeanWaits::*of) {
        return [of](const R& r) { return r.ours ? std::optional((*r.ours).*of * kMilli) : std::nullopt; };
    };
    return table_of<R>(
        "Every row",
        {{{"Model", "", "model"}, &R::model},
         {{"Hardware", "", "hardware"}, &R::hardware},
         {{"Stack", "", "runtime"}, &R::runtime},
         {{"Format", "", "format"},
          [](const R& r) { return r.precision.empty() ? "as stored" : r.precision; }},
         {{"Layout", "", "layout"}, [](const R& r) { return to_string(r.way); }},
         {most_best("In", "", "prompt_tokens"), 1, [](const R& r) { return r.prompt_tokens; }},
         {most_best("Out", "", "output_tokens"), 1, [](const R& r) { return r.output_tokens; }},
         {most_best("In flight", "", "in_flight"), 1, [](const R& r) { return r.in_flight; }},
         {least_best("TTFT measured", "ms", "ttft_measured_s"), kMilli, measured(&MeanWaits::first_ms)},
         {least_best("TTFT", "ms", "ttft_s"), kMilli, estimated(&MeanWaits::first_ms)},
         {least_best("TPOT measured", "ms", "tpot_measured_s"), kMilli, measured(&MeanWaits::token_ms)},
         {least_best("TPOT", "ms", "tpot_s"), kMilli, estimated(&MeanWaits::token_ms)},
         {{"Why not", "", "problem"}, [](const R& r) { return text_cell(r.problem); }}},
        layouts.rows);
}

constexpr std::array<std::pair<std::string_view, const char*>, 5> kLogged = {
    {{"weights", "Weights"},
     {"cache_per_token", "Cache of a token"},
     {"cache", "Cache of a context"},
     {"compute", "Compute buffer"},
     {"room", "Room for caches"}}};

static std::vector<double> errors_of(const std::vector<MemoryLogRow>& rows, std::string_view quantity) {
    std::vector<double> errors;
    for (const MemoryLogRow& row : rows)
        if (const auto error = row.error(); error && (quantity.empty() || row.quantity == quantity))
            errors.push_back(std::abs(*error));
    std::sort(errors.begin(), errors.end());
    return errors;
}

static Table errors_by_quantity(const std::vector<MemoryLogRow>& rows) {
    struct Row {
        const char* title;
        std::vector<double> errors;
    };
    std::vector<Row> lines;
    for (const auto& [key, title] : kLogged)
        lines.push_back({title, errors_of(rows, key)});
    lines.push_back({"All", errors_of(rows, {})});
    std::erase_if(lines, [](const Row& row) { return row.errors.empty(); });
    Table table =
        table_of<Row>("Memory of engines, by quantity",
                      {{{"Quantity", "", "quantity"}, &Row::title},
                       {most_best("Rows", "", "rows"), 1, [](const Row& row) { return row.errors.size(); }},
                       {least_best("Median error", "%", "median_error"),
                        [](const Row& row) { return short_percent(quantile(row.errors, 0.5)); }},
                       {least_best("Largest", "%", "largest_error"),
                        [](const Row& row) { return short_percent(row.errors.back()); }}},
                      lines);
    const auto ran_out = std::ranges::count_if(rows, [](const auto& r) { return r.fits.has_value(); });
    const auto fit = std::count_if(rows.begin(), rows.end(), [](const auto& r) { return r.fits == true; });
    table.notes.emplace_back(
        fmt::format("Of {} that ran out of memory {} fit by the estimate.", ran_out, fit));
    return table;
}

static Table every_row(const std::vector<MemoryLogRow>& rows) {
    using R = MemoryLogRow;
    return table_of<R>(
        "Every row",
        {{{"Engine", "", "engine"}, &R::engine},
         {{"Model", "", "model"}, &R::model},
         {{"Format", "", "format"}, &R::precision},
         {most_best("TP", "", "tensor_parallel"), 1, [](const R& r) { return r.tensor; }},
         {{"Quantity", "", "quantity"},
          [](const R& r) {
              return r.context > 0 ? fmt::format("{}, {} positions", r.quantity, r.context) : r.quantity;
          }},
         {least_best("Logged", "", "logged_bytes"),
          [](const R& r) {
              return r.logged > 0 ? Cell{format_bytes(r.logged), r.logged} : Cell{"ran out"};
          }},
         {least_best("Estimated", "", "estimated_bytes"),
          [](const R& r) {
              return r.fits   ? Cell{*r.fits ? "fits" : "does not fit"}
                     : r.ours ? Cell{format_bytes(*r.ours), *r.ours}
                              : Cell{r.problem};
          }},
         {least_best("Error", "%", "error"),
          [](const R& r) {
              const auto error = r.error();
              return error ? Cell{fmt::format("{:+.1f}", kInPercent * *error), *error} : Cell{};
          }},
         {{"Source", "", "source"}, &R::source}},
        rows);
}

Report describe_serving_peers(const ServingPeers& peers) {
    Report report{.title = "Served language models: measured and simulated"};
    report.blocks.emplace_back(Heading{1, report.title});
    report.blocks.emplace_back(errors_by_simulator(peers));
    if (!peers.problems.empty())
        report.blocks.emplace_back(Bullets{peers.problems});
    report.blocks.emplace_back(every_row(peers));
    return report;
}

Report describe_serving_layouts(const ServingLayouts& layouts, bool every) {
    Report report{.title = "Configurations of servers: measured and estimated"};
    report.blocks.emplace_back(Heading{1, report.title});
    Table models = errors_by(layouts, "Model", "model", [](const LayoutRow& row) { return row.model; });
    models.title = "Error of mean waits, by model (median / mean over rows)";
    models.notes.emplace_back(
        "No parameter was fitted to these rows, so that every model is one that was left out. TTFT: time to "
        "first token; TPOT: time per output token; bias: geometric mean of estimated over measured, less 1. "
        "A configuration: model, device, stack and format.");
    report.blocks.emplace_back(std::move(models));
    Table stacks = errors_by(layouts, "Device and stack", "device_and_stack", [](const LayoutRow& row) {
        return fmt::format("{}, {}", row.hardware, row.runtime);
    });
    stacks.title = "Error of mean waits, by device and stack (median / mean over rows)";
    report.blocks.emplace_back(std::move(stacks));
    Table layout = errors_by(layouts, "Layout", "kind_of_layout", [](const LayoutRow& row) -> std::string {
        return row.way.devices() == 1 ? "one device"
               : row.way.groups() > 1 ? "attention data-parallel, whole experts"
               : row.way.experts > 1  ? "tensor-parallel, whole experts"
                                      : "tensor-parallel";
    });
    layout.title = "Error of mean waits, by kind of layout (median / mean over rows)";
    report.blocks.emplace_back(std::move(layout));
    report.blocks.emplace_back(choices_by_model(layouts));
    std::map<std::string, std::size_t> problems;
    for (const LayoutRow& row : layouts.rows)
        if (!row.ours)
            ++problems[row.problem];
    std::vector<std::string> reasons;
    for (const auto& [reason, count] : problems)
        reasons.push_back(fmt::format("{} {}: {}", count, count == 1 ? "row" : "rows", reason));
    if (!reasons.empty())
        report.blocks.emplace_back(Bullets{reasons});
    if (every)
        report.blocks.emplace_back(every_layout(layouts));
    return report;
}

Report describe_memory_logs(const std::vector<MemoryLogRow>& rows) {
    Report report{.title = "Memory of engines: logged and estimated"};
    report.blocks.emplace_back(Heading{1, report.title});
    report.blocks.emplace_back(errors_by_quantity(rows));
    report.blocks.emplace_back(every_row(rows));
    return report;
}

} // namespace archsim
