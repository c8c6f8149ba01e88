#include "fit/report/serving_layouts_report.hpp"

#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"
#include "result/quantile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace archsim {

namespace {

constexpr double kLayoutPercent = 100;
/// A layout is as good as the best where it is within a tenth of it.
constexpr double kAsGood = 0.9;

/// Signed errors of some rows, sorted by size.
struct LayoutErrors {
    std::vector<double> first, token;
    double bias = 0, covered = 0;
    std::size_t rows = 0;
    std::set<std::string> configurations;
};

std::string configuration_of(const LayoutRow& row) {
    return fmt::format("{}, {}, {}, {}", row.model, row.hardware, row.runtime,
                       row.precision.empty() ? "as stored" : row.precision);
}

LayoutErrors errors_of(const std::vector<const LayoutRow*>& rows) {
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

/// "7.4 / 7.9", median and mean in per cent.
Cell layout_error_cell(const std::vector<double>& errors) {
    if (errors.empty())
        return {"-"};
    const double median = quantile(errors, 0.5);
    const double mean =
        std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
    return {fmt::format("{:.1f} / {:.1f}", kLayoutPercent * median, kLayoutPercent * mean), median};
}

Cell layout_percent_cell(double share, bool known) {
    return known ? Cell{fmt::format("{:.1f}", kLayoutPercent * share), share} : Cell{"-"};
}

std::vector<Cell> errors_line(const std::string& name, const std::vector<const LayoutRow*>& rows) {
    const LayoutErrors errors = errors_of(rows);
    return {{name},
            whole_cell(errors.configurations.size()),
            whole_cell(rows.size()),
            whole_cell(errors.rows),
            layout_error_cell(errors.first),
            layout_error_cell(errors.token),
            layout_percent_cell(errors.bias, errors.rows > 0),
            layout_percent_cell(errors.covered, errors.rows > 0)};
}

Table errors_by(const ServingLayouts& layouts, const char* heading, const char* key,
                const std::function<std::string(const LayoutRow&)>& name) {
    std::map<std::string, std::vector<const LayoutRow*>> by;
    std::vector<const LayoutRow*> all;
    for (const LayoutRow& row : layouts.rows) {
        by[name(row)].push_back(&row);
        all.push_back(&row);
    }
    Table table;
    table.columns = {{heading, "", key},
                     {"Configurations", "", "configurations", Align::right},
                     {"Rows", "", "rows", Align::right},
                     {"Estimated", "", "estimated", Align::right},
                     {"TTFT", "%", "ttft_error", Align::right},
                     {"TPOT", "%", "tpot_error", Align::right},
                     {"TPOT bias", "%", "tpot_bias", Align::right},
                     {"TPOT in 90 %", "%", "tpot_covered", Align::right}};
    for (const auto& [group, rows] : by)
        table.rows.push_back(errors_line(group, rows));
    table.rows.push_back(errors_line("All", all));
    return table;
}

Table choices_by_model(const ServingLayouts& layouts) {
    struct Counts {
        std::size_t groups = 0, good = 0, missed = 0;
        std::vector<double> shares;
    };
    std::map<std::string, Counts> by;
    Counts all;
    for (const LayoutGroup& group : layouts.groups) {
        if (!group.best)
            continue;
        for (Counts* counts : {&by[layouts.rows[group.rows.front()].model], &all}) {
            ++counts->groups;
            counts->good += group.share >= kAsGood ? 1 : 0;
            counts->missed += group.share <= 0 ? 1 : 0;
            counts->shares.push_back(group.share);
        }
    }
    Table table;
    table.title = "Whether the layout that the estimate chooses is the best one, by model";
    table.columns = {{"Model", "", "model"},
                     {"Groups", "", "groups", Align::right},
                     {"Within 10 % of the best", "%", "as_good", Align::right},
                     {"Never within the limit", "%", "missed", Align::right},
                     {"Median share of the best", "%", "median_share", Align::right}};
    const auto line = [&](const std::string& name, Counts& counts) {
        std::sort(counts.shares.begin(), counts.shares.end());
        const auto of = [&](std::size_t n) {
            return static_cast<double>(n) / static_cast<double>(std::max<std::size_t>(1, counts.groups));
        };
        table.rows.push_back({{name},
                              whole_cell(counts.groups),
                              layout_percent_cell(of(counts.good), true),
                              layout_percent_cell(of(counts.missed), true),
                              layout_percent_cell(counts.shares.empty() ? 0 : quantile(counts.shares, 0.5),
                                                  !counts.shares.empty())});
    };
    for (auto& [model, counts] : by)
        line(model, counts);
    line("All", all);
    table.notes.emplace_back(
        "A group: one model, device, stack, format and lengths, several layouts, and a limit on the time per "
        "output token (each quartile of those measured). Best: most measured output tokens per second of a "
        "device within the limit. Chosen: most estimated ones; then the layout is given as many requests in "
        "flight as its own measured times allow.");
    return table;
}

Table every_layout(const ServingLayouts& layouts) {
    Table table;
    table.title = "Every row (ms)";
    table.columns = {{"Model", "", "model"},
                     {"Hardware", "", "hardware"},
                     {"Stack", "", "runtime"},
                     {"Format", "", "format"},
                     {"Layout", "", "layout"},
                     {"In", "", "prompt_tokens", Align::right},
                     {"Out", "", "output_tokens", Align::right},
                     {"In flight", "", "in_flight", Align::right},
                     {"TTFT measured", "", "ttft_measured_ms", Align::right},
                     {"TTFT", "", "ttft_ms", Align::right},
                     {"TPOT measured", "", "tpot_measured_ms", Align::right},
                     {"TPOT", "", "tpot_ms", Align::right},
                     {"Why not", "", "problem"}};
    const auto number = [](double value, bool known) {
        return known ? Cell{format_number(value), value} : Cell{"-"};
    };
    for (const LayoutRow& row : layouts.rows) {
        const bool known = row.ours.has_value();
        const MeanWaits ours = row.ours.value_or(MeanWaits{});
        table.rows.push_back({{row.model},
                              {row.hardware},
                              {row.runtime},
                              {row.precision.empty() ? "as stored" : row.precision},
                              {to_string(row.way)},
                              whole_cell(static_cast<std::size_t>(row.prompt_tokens)),
                              whole_cell(static_cast<std::size_t>(row.output_tokens)),
                              whole_cell(static_cast<std::size_t>(row.in_flight)),
                              number(row.measured.first_ms, true),
                              number(ours.first_ms, known),
                              number(row.measured.token_ms, true),
                              number(ours.token_ms, known),
                              {row.problem}});
    }
    return table;
}

} // namespace

Report describe_serving_layouts(const ServingLayouts& layouts, bool every) {
    Report report;
    report.title = "Configurations of servers: measured and estimated";
    report.blocks.emplace_back(Heading{1, report.title});
    Table models = errors_by(layouts, "Model", "model", [](const LayoutRow& row) { return row.model; });
    models.title = "Error of mean waits, by model (median / mean over rows)";
    models.notes.emplace_back(
        "No parameter was fitted to these rows, so that every model is one that was left out. TTFT: time to "
        "first token; TPOT: time per output token; bias: geometric mean of estimated over measured, less 1. "
        "A "
        "configuration: model, device, stack and format.");
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

} // namespace archsim
