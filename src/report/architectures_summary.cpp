// Recommendations:
//   Best for Energy:      KPU, 8.68 mJ
//   Best for Latency:     GPU, 357 us (tied with KPU)
//
// Architecture  Device  Energy  Latency  Memory  Util  vs GPU                          Best

#include "report/architectures.hpp"

#include "report/number_format.hpp"
#include "report/result_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace archsim {

namespace {

constexpr std::array kRecommended = {Objective::energy, Objective::latency, Objective::throughput,
                                     Objective::memory, Objective::balance};

std::string tied_text(const ArchitectureComparison& c, const Winner& winner) {
    std::string text;
    for (std::size_t i : winner.tied)
        text += (text.empty() ? "" : ", ") + c.labels[i];
    return text;
}

/// The winner is no better than any other.
bool all_equal(const ArchitectureComparison& c, Objective objective) {
    std::optional<double> first;
    int values = 0;
    for (const Result& result : c.results)
        if (const auto value = value_of(result, objective, c.request.cost)) {
            if (first && *value != *first)
                return false;
            first = value;
            ++values;
        }
    return values > 1;
}

/// Nothing measured stands behind a projection: it is named apart.
std::string projection_text(const ArchitectureComparison& c, const Winner& winner, Objective objective) {
    if (winner.projected)
        return fmt::format(
            "; projected: {}, {}", c.labels[*winner.projected],
            format_value(objective, *value_of(c.results[*winner.projected], objective, c.request.cost)));
    return c.results[winner.best].estimate.projected ? "; a projection, not measured" : "";
}

Facts recommendations(const ArchitectureComparison& c) {
    Facts facts;
    for (Objective objective : kRecommended) {
        const auto winner = find_winner(c.results, objective, c.request.cost);
        if (!winner)
            continue;
        const double value = *value_of(c.results[winner->best], objective, c.request.cost);
        const std::string tied = tied_text(c, *winner);
        const std::string name = objective == Objective::balance
                                     ? std::string("Best Balance")
                                     : fmt::format("Best for {}", info_of(objective).title);
        if (all_equal(c, objective)) {
            facts.items.push_back({name, "all equal, " + format_value(objective, value)});
            continue;
        }
        facts.items.push_back(
            {name, fmt::format("{}, {}{}", c.labels[winner->best], format_value(objective, value),
                               tied.empty() ? "" : " (tied with " + tied + ")") +
                       projection_text(c, *winner, objective)});
    }
    return facts;
}

std::string best_at(const ArchitectureComparison& c, std::size_t index) {
    std::string text;
    for (Objective objective : kRecommended)
        if (const auto winner = find_winner(c.results, objective, c.request.cost);
            winner && winner->best == index && !all_equal(c, objective))
            text += (text.empty() ? "" : ", ") + std::string(info_of(objective).name);
    return text;
}

Table comparison_table(const ArchitectureComparison& c) {
    Table table;
    const std::string base = c.baseline ? c.labels[*c.baseline] : "-";
    table.columns = {{"Architecture", "", "architecture"},
                     {"Device", "", "hardware"},
                     {"Energy", "", "energy_per_inference_j", Align::right},
                     {"Latency", "", "latency_s", Align::right},
                     {"Memory", "", "peak_memory_bytes", Align::right, 2},
                     {"Util%", "", "utilization", Align::right, 1},
                     {"vs " + base, "energy", "energy_vs_baseline", Align::right},
                     {"vs " + base, "latency", "latency_vs_baseline", Align::right},
                     {"Best for", "", "best_for"},
                     {"Throughput", "", "throughput_per_s", Align::right, 3},
                     {"Power", "", "power_w", Align::right, 3},
                     {"Precision", "", "executed_precision", Align::left, 2},
                     {"Runtime", "", "runtime", Align::left, 4}};
    const Estimate* baseline = c.baseline ? &c.results[*c.baseline].estimate : nullptr;
    std::set<std::string> notes;
    for (std::size_t i = 0; i < c.results.size(); ++i) {
        const Result& r = c.results[i];
        const Estimate& e = r.estimate;
        std::vector<Cell> row{{c.labels[i]}, {hardware_label(r)}};
        if (!r.ok()) {
            row.push_back({std::string(name_of(e.status)), {}, Tone::bad});
            while (row.size() < table.columns.size())
                row.push_back({"-"});
            notes.insert(fmt::format("{}: {}", c.labels[i], e.reason));
            table.rows.push_back(std::move(row));
            continue;
        }
        const auto ratio = [&](double value, double base_value) {
            if (c.baseline == i)
                return Cell{"baseline", 1.0, Tone::muted};
            return base_value > 0 ? Cell{format_ratio(value / base_value), value / base_value} : Cell{"-"};
        };
        row.push_back({format_energy(e.energy_per_inference_j), e.energy_per_inference_j});
        row.push_back({format_time(e.latency_s), e.latency_s});
        row.push_back({format_bytes(e.memory.peak_bytes), e.memory.peak_bytes});
        row.push_back({format_percent(e.utilization), e.utilization});
        row.push_back(ratio(e.energy_per_inference_j, baseline ? baseline->energy_per_inference_j : 0));
        row.push_back(ratio(e.latency_s, baseline ? baseline->latency_s : 0));
        row.push_back({best_at(c, i), {}, Tone::good});
        row.push_back({format_number(e.throughput_per_s) + " /s", e.throughput_per_s});
        row.push_back({format_power(e.power_w), e.power_w});
        row.push_back({precision_label(r)});
        row.push_back({r.runtime->id});
        if (!e.precision_note.empty())
            notes.insert(fmt::format("* {}: asked {}, {}", c.labels[i], precision_name(r.requested),
                                     e.precision_note));
        table.rows.push_back(std::move(row));
    }
    table.notes.assign(notes.begin(), notes.end());
    return table;
}

/// The two best of an objective that both have a value, best first; fewer when there are none.
std::vector<std::pair<double, std::size_t>> order_by(const ArchitectureComparison& c, Objective objective) {
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < c.results.size(); ++i)
        if (const auto value = value_of(c.results[i], objective, c.request.cost))
            order.emplace_back(info_of(objective).higher_is_better ? -*value : *value, i);
    std::sort(order.begin(), order.end());
    for (auto& [value, index] : order)
        value = std::abs(value);
    return order;
}

std::string unless_tied(const ArchitectureComparison& c, Objective objective, std::size_t a, std::size_t b) {
    return interval_of(c.results[a], objective, c.request.cost)
                   .overlaps(interval_of(c.results[b], objective, c.request.cost))
               ? "; their 90 % intervals overlap"
               : "";
}

Bullets key_insights(const ArchitectureComparison& c) {
    Bullets bullets;
    const auto energy = order_by(c, Objective::energy), latency = order_by(c, Objective::latency);
    if (energy.size() < 2)
        return bullets;
    const auto compare = [&](const auto& order, Objective objective, std::string_view how) {
        const auto& [best, first] = order[0];
        const auto& [next, second] = order[1];
        bullets.items.push_back(fmt::format("{} is {} {} than {} ({} against {}){}.", c.labels[first],
                                            format_ratio(next / best), how, c.labels[second],
                                            format_value(objective, best), format_value(objective, next),
                                            unless_tied(c, objective, first, second)));
    };
    compare(energy, Objective::energy, "more energy efficient");
    compare(latency, Objective::latency, "faster");
    const std::size_t frugal = energy.front().second, fast = latency.front().second;
    const Estimate &f = c.results[frugal].estimate, &q = c.results[fast].estimate;
    if (frugal != fast)
        bullets.items.push_back(
            fmt::format("Trade-off: {} saves {} of the energy of {} and takes {} as long.", c.labels[frugal],
                        format_percent(1 - f.energy_per_inference_j / q.energy_per_inference_j),
                        c.labels[fast], format_ratio(f.latency_s / q.latency_s)));
    else
        bullets.items.push_back(
            fmt::format("No trade-off: {} wins both energy and latency.", c.labels[fast]));
    for (const auto& [value, i] : latency) {
        const Estimate& e = c.results[i].estimate;
        const int total = std::max(1, e.compute_bound + e.memory_bound + e.overhead_bound);
        if (e.overhead_bound * 2 > total)
            bullets.items.push_back(
                fmt::format("{} spends more on starting kernels and layers than on their work in {} of {} "
                            "subgraphs; a larger batch spreads that cost.",
                            c.labels[i], e.overhead_bound, total));
        if (e.power_limited)
            bullets.items.push_back(fmt::format("{} is at its power limit: its clock drops to {}.",
                                                c.labels[i], format_percent(e.clock_ratio)));
    }
    return bullets;
}

void add_next_steps(const ArchitectureComparison& c, Report& report) {
    const auto energy = order_by(c, Objective::energy), latency = order_by(c, Objective::latency);
    if (latency.empty())
        return;
    report.blocks.push_back(Heading{3, "Next steps:"});
    const std::string& fast = c.labels[latency.front().second];
    report.blocks.push_back(Command{tool_command(c, "--level detailed --architecture " + fast)});
    report.blocks.push_back(Command{tool_command(c, "--level subgraph")});
    if (latency.size() < 2)
        return;
    const std::string& frugal = c.labels[energy.front().second];
    const std::string& other = frugal == fast ? c.labels[energy[1].second] : fast;
    report.blocks.push_back(
        Command{tool_command(c, fmt::format("--explain-difference {} {} --metric energy", other, frugal))});
}

} // namespace

void add_summary(const ArchitectureComparison& c, Report& report) {
    report.blocks.push_back(Heading{3, "Recommendations:"});
    report.blocks.push_back(recommendations(c));
    report.blocks.push_back(comparison_table(c));
    if (Bullets insights = key_insights(c); !insights.items.empty()) {
        report.blocks.push_back(Heading{3, "Key Insights:"});
        report.blocks.push_back(std::move(insights));
    }
    add_next_steps(c, report);
}

} // namespace archsim
