#include "fit/rows/measured_workload.hpp"
#include "core/parse_number.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace archsim {

namespace {

constexpr std::string_view kVariable = "variable:";

std::optional<std::int64_t> count_in(std::string_view stated) {
    const auto value = plain_number<std::int64_t>(mean_length(stated));
    return value && *value >= 1 ? value : std::nullopt;
}

const CatalogueEntry* part_for(const Catalogue& catalogue, const CatalogueEntry& whole,
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

} // namespace

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
