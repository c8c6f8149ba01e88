#include "answers/compare/duty_cycle.hpp"

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_text.hpp"
#include "result/generation_metrics.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

constexpr double kCellVolts = 3.7; ///< nominal, of a lithium-ion cell (IEC 61960-3)
constexpr double kMilli = 1e-3, kHoursPerDay = 24;

DutyCycle cycle_of(const Result& r, const DutyRequest& request, PowerBoundary boundary) {
    DutyCycle duty;
    duty.result = &r;
    const Estimate& e = r.estimate;
    const double items = std::max(1.0, e.batch);
    duty.active_share = e.latency_s / items / request.every_s;
    duty.inference_j = joules_at(r, e.energy_per_inference_j * items, e.latency_s, boundary) / items;
    const Fact& idle = r.device->idle.known() ? r.device->idle : r.device->active_idle;
    const double gap_s = request.every_s * (1 - duty.active_share);
    if (!idle.known() || gap_s < 0)
        return duty;
    const double chips_w = idle.value * r.machine->devices;
    duty.idle_w = joules_at(r, chips_w, 1, boundary);
    duty.average_w = (duty.inference_j + *duty.idle_w * gap_s) / request.every_s;
    duty.mah_per_day = *duty.average_w * kHoursPerDay / kCellVolts / kMilli;
    if (request.battery_wh > 0)
        duty.battery_hours = request.battery_wh / *duty.average_w;
    return duty;
}

std::vector<ColumnOf<DutyCycle>> duty_columns(bool battery) {
    using D = DutyCycle;
    std::vector<ColumnOf<D>> columns = {
        {{"Hardware", "", "hardware"}, [](const D& d) { return hardware_label(*d.result); }},
        {least_best("At work", "%", "active_share"), [](const D& d) { return percent_cell(d.active_share); }},
        {least_best("Inference", "mJ", "inference_energy_j"), kMilli, &D::inference_j},
        {least_best("Idle", "W", "idle_power_w"), 1, &D::idle_w},
        {least_best("Average", "W", "average_power_w"), 1, &D::average_w},
        {least_best("Charge", "mAh/day", "charge_mah_per_day"), 1, &D::mah_per_day}};
    if (battery)
        columns.push_back({most_best("Battery", "h", "battery_hours"), 1, &D::battery_hours});
    return columns;
}

} // namespace

std::vector<DutyCycle> duty_cycles(std::span<const Result> results, const DutyRequest& request,
                                   PowerBoundary boundary) {
    std::vector<DutyCycle> cycles;
    for (const Result& r : results)
        if (r.ok() && r.device && r.machine)
            cycles.push_back(cycle_of(r, request, boundary));
    return cycles;
}

std::string in_words(const DutyCycle& d, const DutyRequest& request) {
    std::string text = fmt::format("One inference every {}: ", format_time(request.every_s));
    if (d.active_share > 1)
        return text + "too fast for it.";
    text +=
        d.average_w ? fmt::format("average power {}", format_power(*d.average_w)) : "idle power not known";
    if (d.battery_hours)
        text += fmt::format(", {} h on the battery", format_number(*d.battery_hours));
    return text + ".";
}

Table duty_table(std::span<const Result> results, const DutyRequest& request, PowerBoundary boundary) {
    using D = DutyCycle;
    std::vector<DutyCycle> cycles = duty_cycles(results, request, boundary);
    std::stable_sort(cycles.begin(), cycles.end(), [](const D& a, const D& b) {
        return a.average_w.value_or(INFINITY) < b.average_w.value_or(INFINITY);
    });
    Table table = table_of(fmt::format("One inference every {}, power at the {}",
                                       format_time(request.every_s), name_of(boundary)),
                           duty_columns(request.battery_wh > 0), cycles);
    table.notes.push_back(
        fmt::format("Charge: of a lithium-ion cell of {:g} V, without losses of its converter.", kCellVolts));
    std::vector<std::string> late, awake;
    for (const D& d : cycles) {
        if (d.active_share > 1)
            late.push_back(hardware_label(*d.result));
        else if (d.idle_w && !d.result->device->idle.known())
            awake.push_back(hardware_label(*d.result));
    }
    if (!late.empty())
        table.notes.push_back(fmt::format("{}: cannot keep up.", fmt::join(late, ", ")));
    if (!awake.empty())
        table.notes.push_back(
            fmt::format("{}: idle with clocks up; deeper sleep is not published.", fmt::join(awake, ", ")));
    return table;
}

Members<DutyCycle> duty_members() {
    return members_of(duty_columns(true));
}

double parse_battery(std::string_view text) {
    const double number = take_number<double>(text).value_or(0);
    while (text.starts_with(' '))
        text.remove_prefix(1);
    if (number > 0 && text == "Wh")
        return number;
    if (number > 0 && text == "mAh")
        return number * kMilli * kCellVolts;
    throw UsageError("--battery: expected a capacity with its unit (10Wh, 5000mAh)");
}

} // namespace archsim
