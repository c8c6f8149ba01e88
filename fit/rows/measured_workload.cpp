#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"
#include "estimate/wall_power.hpp"
#include "fit/rows/measurements.hpp"
#include "fit/rows/validate.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

NamedTable::NamedTable(const std::string& file) : file_(file), records_(parse_csv(read_text_file(file))) {
    if (records_.empty())
        throw InputError(fmt::format("{}: no row in it", file));
}

std::string NamedTable::where(std::size_t row) const {
    return fmt::format("{}: line {}", file_, records_[row + 1].line);
}

bool NamedTable::has(std::string_view column) const {
    return std::find(head().begin(), head().end(), column) != head().end();
}

const std::string& NamedTable::text(std::size_t row, std::string_view column) const {
    const auto found = std::find(head().begin(), head().end(), column);
    if (found == head().end())
        throw InputError(fmt::format("{}: line 1: no column {}", file_, column));
    return cell(row, static_cast<std::size_t>(found - head().begin()));
}

const std::string& NamedTable::cell(std::size_t row, std::size_t column) const {
    static const std::string none;
    const auto& fields = records_[row + 1].fields;
    return column < fields.size() ? fields[column] : none;
}

double NamedTable::number(std::size_t row, std::string_view column) const {
    const auto value = parse_real(text(row, column));
    if (!value || !(*value > 0))
        throw InputError(
            fmt::format("{}: {}: \"{}\" is no number above 0", where(row), column, text(row, column)));
    return *value;
}

static std::int64_t number_after(std::string_view note, std::string_view phrase) {
    const auto at = note.find(phrase);
    if (at == std::string_view::npos)
        return 0;
    std::string_view text = mean_length(note.substr(at + phrase.size()));
    return take_number<std::int64_t>(text).value_or(0);
}

/// Servers are measured at the wall, boards at their own supply, accelerators by the sensor on theirs.
static PowerBoundary boundary_in(std::string note) {
    note = lower_case(std::move(note));
    const auto says = [&](std::string_view words) { return note.find(words) != std::string::npos; };
    if (says("wall power") || says("wall energy"))
        return PowerBoundary::wall;
    if (says("board power") || says("board input power"))
        return PowerBoundary::board;
    return says("nvml") ? PowerBoundary::rail : PowerBoundary::chip;
}

/// The power of all of the row's devices, alone.
static double device_power(const PoweredRow& p) {
    return p.estimate.power_w * p.copies;
}

/// From watts of everything to watts as stated.
static double stated_share(const PoweredRow& p) {
    return p.row.boundary == PowerBoundary::wall ? 1 : 1 / (p.devices * p.copies);
}

constexpr std::size_t kYearDigits = 4;
constexpr int kFirstYear = 1990, kLastYear = 2100;

/// The numbers of a release: 0, 5 and 10 of 0.5.10.post1; none of a name.
std::vector<int> release(std::string_view text) {
    std::vector<int> numbers;
    for (const std::string& part : split(text, '.')) {
        const auto number = plain_number<int>(part);
        if (!number)
            break;
        numbers.push_back(*number);
    }
    return numbers;
}

static bool claims(const MeasuredAs& rule, const MeasuredRow& row) {
    if (rule.stack != row.runtime || (!rule.except.empty() && rule.except == row.client))
        return false;
    const int year = last_year(row.source_date);
    const bool noted =
        row.variant.empty() && !rule.noted.empty() && row.note.find(rule.noted) != std::string::npos;
    const std::vector<int> of_row = release(row.variant);
    const bool ranged = !rule.since.empty() || !rule.before.empty();
    const bool released = ranged && !of_row.empty() && of_row >= release(rule.since) &&
                          (rule.before.empty() || of_row < release(rule.before));
    return (rule.until == 0 || (year > 0 && year <= rule.until)) &&
           ((rule.variant.empty() && !ranged) || (!rule.variant.empty() && row.variant == rule.variant) ||
            released || noted);
}

/// A claim on the variant says more than one on a range of releases, and that more than one on the year; an
/// earlier one says more than a later one.
static bool closer(const MeasuredAs& a, const MeasuredAs& b) {
    const auto rank = [](const MeasuredAs& rule) {
        const bool ranged = !rule.since.empty() || !rule.before.empty();
        return !rule.variant.empty() ? 0 : ranged ? 1 : 2;
    };
    const auto last = [](const MeasuredAs& rule) {
        constexpr int kNone = std::numeric_limits<int>::max();
        return std::pair(rule.before.empty() ? std::vector{kNone} : release(rule.before),
                         rule.until > 0 ? rule.until : kNone);
    };
    return rank(a) != rank(b) ? rank(a) < rank(b) : last(a) < last(b);
}

constexpr std::string_view kVariable = "variable:";

static std::optional<std::int64_t> count_in(std::string_view stated) {
    const auto value = plain_number<std::int64_t>(mean_length(stated));
    return value && *value >= 1 ? value : std::nullopt;
}

static const CatalogueEntry* part_for(const Catalogue& catalogue, const CatalogueEntry& whole,
                                      const MeasuredRow& row, std::optional<std::int64_t> tokens) {
    for (const ModelPart& part : whole.parts) {
        const CatalogueEntry* entry = catalogue.find(part.model);
        if (entry == nullptr)
            continue;
        const bool takes_tokens = entry->dims.contains("sequence");
        if (row.image_size && !takes_tokens)
            return entry;
        if (tokens && *tokens == 1 && entry->kind == "decoder")
            return entry;
        if (tokens && *tokens > 1 && entry->kind == "encoder" &&
            (takes_tokens || entry->task.starts_with("speech")))
            return entry;
    }
    return nullptr;
}

void fill_from_note(MeasuredRow& row, bool boundary) {
    const auto says = [&](std::string_view words) { return row.note.find(words) != std::string::npos; };
    row.context = number_after(row.note, says("context length ") ? "context length " : "cache length ");
    row.transfers = says("data transfer included");
    row.sampled = says("top_p");
    row.decided_by = says("HOST-BOUND") ? "host" : says("SLOW KERNEL") ? "slow_kernel" : "";
    if (boundary)
        row.boundary = boundary_in(row.note);
}

double drawn_power(const PoweredRow& p) {
    const double devices = p.devices * p.copies;
    return wall_power(p.machine, device_power(p) / devices, devices).at(p.row.boundary);
}

double stated_power(const PoweredRow& p) {
    return drawn_power(p) * stated_share(p);
}

PowerParts parts_of_power(const PoweredRow& p, double item_s) {
    PowerParts parts{.item_s = item_s, .family = std::string(name_of(p.machine.device->family))};
    const double drawn = drawn_power(p), devices = p.devices * p.copies;
    // The supply loses a share of what it passes on.
    const double nothing = wall_power(p.machine, 0, devices).at(p.row.boundary);
    const double scale = (drawn - nothing) / p.estimate.energy.total() * stated_share(p);
    for (std::size_t e = 0; e < kEventCount; ++e)
        parts.event_w[e] = p.estimate.energy.joules[e] * scale;
    parts.static_w = p.estimate.energy.static_joules * scale;
    if (const EnergyTable* table = p.machine.energy.get()) {
        parts.awake_w = parts.static_w * table->clocked_power.value_or(0) / table->static_power.value_or(1);
        for (std::size_t g = 0; g < kPriceGroupCount; ++g)
            parts.multiple[g] = table->multiple[g].value_or(1);
    }
    parts.outside_w = nothing * stated_share(p);
    if (p.machine.power_limit_w > 0)
        parts.limit_w =
            wall_power(p.machine, p.machine.power_limit_w, devices).at(p.row.boundary) * stated_share(p);
    return parts;
}

int last_year(std::string_view date) {
    int last = 0;
    for (std::size_t at = 0; at + kYearDigits <= date.size(); ++at) {
        const int value = plain_number<int>(date.substr(at, kYearDigits)).value_or(0);
        if (value >= kFirstYear && value <= kLastYear)
            last = value;
    }
    return last;
}

MeasuredStacks::MeasuredStacks(const HardwareDatabase& database) {
    for (const std::string& id : database.runtime_ids()) {
        try {
            if (auto runtime = database.runtime(id); !runtime->measured_as.empty())
                claimants_.push_back(std::move(runtime));
        } catch (const InputError&) { // a file that cannot be used is told where a row asks for it
            continue;
        }
    }
}

std::string MeasuredStacks::of(const MeasuredRow& row) const {
    const MeasuredAs* best = nullptr;
    std::string stack = row.runtime;
    for (const auto& claimant : claimants_)
        for (const MeasuredAs& rule : claimant->measured_as)
            if (claims(rule, row) && (best == nullptr || closer(rule, *best))) {
                best = &rule;
                stack = claimant->id;
            }
    return stack;
}

std::string_view mean_length(std::string_view text) {
    return text.starts_with(kVariable) ? text.substr(kVariable.size()) : text;
}

MeasuredWorkload find_workload(const Catalogue& catalogue, const MeasuredRow& row) {
    MeasuredWorkload workload;
    const CatalogueEntry* entry = nullptr;
    if (row.image_size) // models whose file is fixed to a size have one file for each
        entry = catalogue.find(fmt::format("{}_{}", row.model, *row.image_size));
    if (entry == nullptr)
        entry = catalogue.find(row.model);
    if (entry == nullptr) {
        const auto nearest = catalogue.nearest(row.model);
        workload.problem = fmt::format(
            "no model \"{}\"{}", row.model,
            nearest.empty() ? std::string() : fmt::format("; nearest: {}", fmt::join(nearest, ", ")));
        return workload;
    }
    const std::optional<std::int64_t> tokens = count_in(row.sequence);
    if (!row.sequence.empty() && !tokens) {
        workload.problem = "inputs of variable length, whose distribution is not published";
        return workload;
    }
    if (entry->file.empty()) {
        const CatalogueEntry* part = part_for(catalogue, *entry, row, tokens);
        if (part == nullptr) {
            workload.problem = fmt::format("no part of {} fits the row's input", row.model);
            return workload;
        }
        entry = part;
    }
    if (row.image_size)
        for (const char* side : {"height", "width"})
            if (entry->dims.contains(side))
                workload.dims[side] = *row.image_size;
    if (tokens && entry->dims.contains("sequence"))
        workload.dims["sequence"] = *tokens;
    workload.whole = entry->dims.contains("steps");
    if (row.steps && !workload.whole) {
        workload.problem = fmt::format("{} takes no steps", row.model);
        return workload;
    }
    if (row.steps)
        workload.dims["steps"] = *row.steps;
    workload.entry = entry;
    return workload;
}

} // namespace archsim
