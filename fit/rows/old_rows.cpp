#include "fit/rows/old_rows.hpp"

#include "fit/rows/measured_workload.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <string_view>

namespace archsim {

namespace {

/// What a note of a stack's rows said of its release or of how it was called.
struct VariantWords {
    std::string_view stack, words, variant;
};
constexpr std::array<VariantWords, 4> kVariants = {{
    {"pytorch-eager", "AMP autocast", "autocast"},
    {"neuron", "Neuron 2.18.0", "2.18.0"},
    {"tensorrt", "synchronised", "synchronised"},
    {"tensorrt", "Paddle Inference", "synchronised"},
}};

std::int64_t number_after(std::string_view note, std::string_view phrase) {
    const auto at = note.find(phrase);
    if (at == std::string_view::npos)
        return 0;
    const std::string_view text = mean_length(note.substr(at + phrase.size()));
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// Servers are measured at the wall, boards at their own supply, accelerators by the sensor on theirs.
PowerBoundary boundary_in(std::string note) {
    std::transform(note.begin(), note.end(), note.begin(), [](unsigned char c) { return std::tolower(c); });
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
    for (const VariantWords& known : kVariants)
        if (known.stack == row.runtime && row.variant.empty() && says(known.words))
            row.variant = known.variant;
    row.context = number_after(row.note, says("context length ") ? "context length " : "cache length ");
    row.transfers = says("data transfer included");
    row.sampled = says("top_p");
    row.decided_by = says("HOST-BOUND") ? "host" : says("SLOW KERNEL") ? "slow_kernel" : "";
    if (boundary)
        row.boundary = boundary_in(row.note);
}

} // namespace archsim
