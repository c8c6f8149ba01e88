#include "report/blocks/precision_text.hpp"

#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

namespace archsim {

std::string precision_text(const std::vector<FormatShare>& mix) {
    double total = 0;
    for (const FormatShare& share : mix)
        total += share.operations;
    std::string text;
    for (const FormatShare& share : mix) {
        constexpr double kShown = 0.0005; // what would not print as 0.0 %
        if (share.operations <= kShown * total)
            continue;
        text += (text.empty() ? "" : ", ") + share.format + " " + format_percent(share.operations / total) +
                (text.empty() ? " of operations" : "");
    }
    return text.empty() ? "no arithmetic" : text;
}

std::string weight_text(const std::vector<WeightShare>& mix) {
    double total = 0;
    for (const WeightShare& share : mix)
        total += share.parameters;
    std::string text;
    for (const WeightShare& share : mix)
        if (share.parameters > 0)
            text += fmt::format("{}{:g}-bit {}", text.empty() ? "" : ", ", share.bits,
                                format_percent(share.parameters / total));
    return text;
}

} // namespace archsim
