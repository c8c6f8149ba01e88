#include "fit/report/power_report.hpp"

#include "fit/errors/power_validation.hpp"
#include "fit/report/statistic_cells.hpp"
#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim {

namespace {

std::string boundary_text(const PowerGroup& group) {
    return group.boundary ? std::string(name_of(*group.boundary)) : "all";
}

Cell share(double value, bool with_sign = false) {
    return {with_sign ? signed_percent(value) : format_percent(value), value};
}

bool same_rows(const PowerGroup& a, const PowerGroup& b) {
    return a.metric == b.metric && a.boundary == b.boundary && a.family == b.family && a.regime == b.regime;
}

/// Median error and coverage of the same rows, left out of the fits.
void add_left_out_cells(const std::vector<PowerGroup>& groups, const PowerGroup& shipped,
                        std::vector<Cell>& cells) {
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const PowerGroup& group) { return same_rows(group, shipped); });
    if (found == groups.end()) {
        cells.insert(cells.end(), 2, Cell{"-", std::nullopt, Tone::muted});
        return;
    }
    cells.push_back(share(found->errors.median_ape));
    cells.push_back(share(found->errors.coverage));
}

/// Which factor of an energy is wrong.
void add_split_cells(const PowerGroup& group, std::vector<Cell>& cells) {
    if (group.split == 0) {
        cells.insert(cells.end(), 4, Cell{"-", std::nullopt, Tone::muted});
        return;
    }
    cells.push_back(share(group.power_error));
    cells.push_back(share(group.power_bias, true));
    cells.push_back(share(group.time_error));
    cells.push_back(share(group.time_bias, true));
}

} // namespace

void add_power(const Validation& validation, const LeftOutValidation* left_out, Report& report) {
    const std::vector<PowerGroup> groups = power_groups(validation);
    if (groups.empty())
        return;
    std::vector<PowerGroup> without_model, without_device;
    Table table;
    table.title = "Power and energy (weight >= 0.7)";
    table.columns = {{"Metric", "", "metric"},
                     {"Boundary", "", "boundary"},
                     {"Family", "", "family"},
                     {"Regime", "", "regime"},
                     {"Rows", "", "n", Align::right},
                     {"Median", "error", "median_ape", Align::right},
                     {"Bias", "", "bias", Align::right},
                     {"Within", "25 %", "within_25", Align::right, 1},
                     {"In interval", "90 %", "interval_coverage", Align::right}};
    if (left_out != nullptr) {
        without_model = power_groups(left_out->without_model);
        without_device = power_groups(left_out->without_device);
        for (const auto& [name, key] :
             {std::pair{"network out", "model_out"}, std::pair{"device out", "device_out"}}) {
            table.columns.push_back({"Median", name, fmt::format("{}_median_ape", key), Align::right});
            table.columns.push_back(
                {"In interval", name, fmt::format("{}_interval_coverage", key), Align::right});
        }
    }
    for (const auto& [name, key] : {std::pair{"of power", "power"}, std::pair{"of time", "time"}}) {
        table.columns.push_back({"Median", name, fmt::format("{}_median_ape", key), Align::right, 2});
        table.columns.push_back({"Bias", name, fmt::format("{}_bias", key), Align::right, 2});
    }
    table.columns.push_back({"Tau", "devices", "tau_of_devices", Align::right, 1});
    table.columns.push_back({"Worst row", "", "worst", Align::left, 3});
    table.columns.push_back({"Its error", "", "worst_error", Align::right, 3});
    for (const PowerGroup& group : groups) {
        std::vector<Cell> cells = {{std::string(name_of(group.metric))},
                                   {boundary_text(group)},
                                   {group.family},
                                   {group.regime},
                                   {std::to_string(group.errors.n), static_cast<double>(group.errors.n)},
                                   share(group.errors.median_ape),
                                   share(group.errors.bias, true),
                                   share(group.errors.within_25),
                                   share(group.errors.coverage)};
        if (left_out != nullptr) {
            add_left_out_cells(without_model, group, cells);
            add_left_out_cells(without_device, group, cells);
        }
        add_split_cells(group, cells);
        cells.push_back(tau_cell(group.devices));
        cells.push_back({group.worst});
        cells.push_back(share(group.worst_error, true));
        table.rows.push_back(std::move(cells));
    }
    table.notes.emplace_back(
        "Boundary: what lies inside of the measurement. Power at the wall is that of the whole "
        "system, elsewhere that of one device; energy is per item or generated token.",
        "boundary");
    table.notes.emplace_back(
        "Of power, of time: energy is power x time per item; for the rows of energy whose run "
        "states its power too, the error of each factor.",
        "power_median_ape");
    report.blocks.push_back(Heading{2, "Power and energy"});
    report.blocks.push_back(std::move(table));
}

} // namespace archsim
