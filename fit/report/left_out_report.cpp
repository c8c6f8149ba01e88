#include "fit/report/left_out_report.hpp"

#include "fit/report/statistic_cells.hpp"
#include "report/blocks/cells.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim {

namespace {

const std::vector<ValidationGroup>* groups_by(const ValidationSummary& summary, const std::string& property) {
    const auto found = std::find_if(summary.by.begin(), summary.by.end(),
                                    [&](const auto& by) { return by.first == property; });
    return found == summary.by.end() ? nullptr : &found->second;
}

const ValidationGroup* group_named(const ValidationSummary& summary, const std::string& property,
                                   const std::string& name) {
    const auto* groups = groups_by(summary, property);
    if (groups == nullptr)
        return nullptr;
    const auto found = std::find_if(groups->begin(), groups->end(),
                                    [&](const ValidationGroup& group) { return group.name == name; });
    return found == groups->end() ? nullptr : &*found;
}

void add_cells(const ValidationGroup* group, std::vector<Cell>& cells) {
    if (group == nullptr || group->errors.n == 0) {
        cells.insert(cells.end(), 4, Cell{"-", std::nullopt, Tone::muted});
        return;
    }
    cells.push_back(share_cell(group->errors.median_ape));
    cells.push_back(share_cell(group->errors.within_25));
    cells.push_back(share_cell(group->errors.coverage));
    cells.push_back(tau_cell(group->models));
}

Table table_of(const Validation& shipped, const LeftOutValidation& left_out, const std::string& property) {
    Table table;
    table.title = fmt::format("By {} ({})", property, shipped.trusted.selection);
    std::string heading = property;
    heading.front() = static_cast<char>(heading.front() - 'a' + 'A');
    table.columns = {{heading, "", property}, {"Rows", "", "n", Align::right}};
    for (const auto& [name, key] :
         {std::pair{"shipped", "shipped"}, std::pair{"network out", "model_out"},
          std::pair{"device out", "device_out"}, std::pair{"family out", "family_out"}})
        for (const auto& [what, suffix] :
             {std::pair{"Median", "median_ape"}, std::pair{"Within 25 %", "within_25"},
              std::pair{"In interval", "interval_coverage"}, std::pair{"Tau models", "tau_of_models"}})
            table.columns.push_back({what, name, fmt::format("{}_{}", key, suffix), Align::right});
    const auto add = [&](const std::string& name, const ValidationGroup& own, const ValidationGroup* model,
                         const ValidationGroup* device, const ValidationGroup* family) {
        std::vector<Cell> cells = {{name}, {std::to_string(own.errors.n), static_cast<double>(own.errors.n)}};
        add_cells(&own, cells);
        add_cells(model, cells);
        add_cells(device, cells);
        add_cells(family, cells);
        table.rows.push_back(std::move(cells));
    };
    if (const auto* groups = groups_by(shipped.trusted, property))
        for (const ValidationGroup& group : *groups)
            add(group.name, group, group_named(left_out.without_model.trusted, property, group.name),
                group_named(left_out.without_device.trusted, property, group.name),
                group_named(left_out.without_family.trusted, property, group.name));
    add("all", shipped.trusted.all, &left_out.without_model.trusted.all, &left_out.without_device.trusted.all,
        &left_out.without_family.trusted.all);
    add("all, any weight", shipped.every.all, &left_out.without_model.every.all,
        &left_out.without_device.every.all, &left_out.without_family.every.all);
    return table;
}

Cell whole_number(std::size_t count) {
    return {std::to_string(count), static_cast<double>(count)};
}

Cell part_of(double part, std::size_t of) {
    return of > 0 ? share_cell(part / static_cast<double>(of)) : Cell{"-", std::nullopt, Tone::muted};
}

/// Which of two devices is faster: what the odds said, and what was measured.
void add_pairs(const PairOdds& odds, Report& report) {
    if (odds.pairs == 0)
        return;
    const PairOdds::Tenth& called = odds.tenths.back();
    report.blocks.push_back(Heading{3, "Which of two devices is faster"});
    report.blocks.push_back(Paragraph{
        fmt::format("Pairs of devices that run one workload, of times whose network no fit has seen. The "
                    "estimates order {} of {} pairs as the measurements do; {} have odds of nine to one or "
                    "more, and {} of those are ordered right.",
                    share_cell(static_cast<double>(odds.right) / static_cast<double>(odds.pairs)).text,
                    odds.pairs, part_of(static_cast<double>(called.pairs), odds.pairs).text,
                    part_of(static_cast<double>(called.right), called.pairs).text)});
    Table table;
    table.columns = {{"Probability", "", "probability"},
                     {"Pairs", "", "pairs", Align::right},
                     {"Said", "", "said", Align::right},
                     {"Was", "", "was", Align::right}};
    for (std::size_t i = 0; i < odds.tenths.size(); ++i) {
        const PairOdds::Tenth& tenth = odds.tenths[i];
        table.rows.push_back({{fmt::format("{} to {} %", 50 + 10 * i, 60 + 10 * i)},
                              whole_number(tenth.pairs),
                              part_of(tenth.said, tenth.pairs),
                              part_of(static_cast<double>(tenth.right), tenth.pairs)});
    }
    report.blocks.push_back(std::move(table));
}

void add_first_run_checks(const std::vector<FirstRunCheck>& checks, Report& report) {
    if (checks.empty())
        return;
    report.blocks.push_back(Heading{3, "Intervals of rows that nobody had seen"});
    report.blocks.push_back(Paragraph{
        "Recorded first runs: predictions of their day, with the intervals of an error model that has "
        "seen none of the run's rows. Served: waits of clients to whom no parameter was fitted, with the "
        "intervals of a model that has not seen the row's network."});
    Table table;
    table.columns = {{"Run", "", "run"},
                     {"Rows", "", "rows", Align::right},
                     {"Median", "error", "median_ape", Align::right},
                     {"In interval", "90 %", "interval_coverage", Align::right},
                     {"Width", "high / low", "width", Align::right}};
    for (const FirstRunCheck& check : checks)
        table.rows.push_back({{check.name},
                              whole_number(check.rows),
                              share_cell(check.median_error),
                              part_of(static_cast<double>(check.covered), check.rows),
                              {fmt::format("{:.2f}", check.median_width), check.median_width}});
    report.blocks.push_back(std::move(table));
}

} // namespace

void add_left_out(const Validation& shipped, const LeftOutValidation& left_out, Report& report) {
    report.blocks.push_back(Heading{2, "On rows the parameters have not seen"});
    report.blocks.push_back(Paragraph{
        "Shipped: with the parameters of the database, most of which were fitted on these very rows. Network "
        "out: everything marked as fitted or tuned is fitted again without the row's network. Device out: "
        "without the row's device, whose own parameters are then those of its family; facts that were tuned "
        "have the value that public facts give. Family out: every such parameter has the value that "
        "public facts give where the database states it, else that of the other families. These are what to "
        "expect of a network, a device or an architecture that was not "
        "measured. The intervals of left-out rows are nested: the table that they come from has not seen the "
        "row's network, device or family."});
    if (left_out.outdated > 0)
        report.blocks.push_back(Paragraph{fmt::format("{} rows are new or have changed by more than 1 % "
                                                      "since the left-out predictions were made: write them "
                                                      "again with scripts/validate.",
                                                      left_out.outdated),
                                          Tone::bad});
    for (const char* property : {"family", "metric", "runtime", "hardware", "regime"})
        report.blocks.push_back(table_of(shipped, left_out, property));
    add_pairs(left_out.pairs, report);
    add_first_run_checks(left_out.first_runs, report);
}

void add_support(const std::vector<FitSupport>& support, Report& report) {
    if (support.empty())
        return;
    report.blocks.push_back(Heading{2, "What was chosen with measurements in view"});
    report.blocks.push_back(Paragraph{"Parameters of the latency model that a recorded fit (fitted) or a "
                                      "look at measured rows (tuned) decided, "
                                      "beside the measured times that they decide. \"Thin\": more of them "
                                      "than a third of the rows, so that "
                                      "they may follow the measurements instead of the chip."});
    Table table;
    table.columns = {{"Of", "", "kind"},
                     {"Name", "", "name"},
                     {"Rows", "", "rows", Align::right},
                     {"Networks", "", "networks", Align::right},
                     {"Fitted", "", "fitted", Align::right},
                     {"Tuned", "", "tuned", Align::right},
                     {"Thin", "", "thin"}};
    for (const FitSupport& entry : support)
        table.rows.push_back({{entry.kind},
                              {entry.name},
                              {std::to_string(entry.rows), static_cast<double>(entry.rows)},
                              {std::to_string(entry.networks), static_cast<double>(entry.networks)},
                              {std::to_string(entry.fitted), static_cast<double>(entry.fitted)},
                              {std::to_string(entry.tuned), static_cast<double>(entry.tuned)},
                              {entry.thin() ? "thin" : "-"}});
    report.blocks.push_back(std::move(table));
}

} // namespace archsim
