#include "fit/rows/noted_rows.hpp"

#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "fit/rows/measured_workload.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace archsim {

namespace {

std::int64_t number_after(std::string_view note, std::string_view phrase) {
    const auto at = note.find(phrase);
    if (at == std::string_view::npos)
        return 0;
    std::string_view text = mean_length(note.substr(at + phrase.size()));
    return take_number<std::int64_t>(text).value_or(0);
}

/// Servers are measured at the wall, boards at their own supply, accelerators by the sensor on theirs.
PowerBoundary boundary_in(std::string note) {
    note = lower_case(std::move(note));
    const auto says = [&](std::string_view words) { return note.find(words) != std::string::npos; };
    if (says("wall power") || says("wall energy"))
        return PowerBoundary::wall;
    if (says("board power") || says("board input power"))
        return PowerBoundary::board;
    return says("nvml") ? PowerBoundary::rail : PowerBoundary::chip;
}

} // namespace

void fill_from_note(MeasuredRow& row, bool boundary) {
    const auto says = [&](std::string_view words) { return row.note.find(words) != std::string::npos; };
    row.context = number_after(row.note, says("context length ") ? "context length " : "cache length ");
    row.transfers = says("data transfer included");
    row.sampled = says("top_p");
    row.decided_by = says("HOST-BOUND") ? "host" : says("SLOW KERNEL") ? "slow_kernel" : "";
    if (boundary)
        row.boundary = boundary_in(row.note);
}

} // namespace archsim
