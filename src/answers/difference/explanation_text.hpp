#pragma once
// An attribution goes in; its table that adds up, and its causes in words, come out.

#include "answers/difference/attribution.hpp"
#include "archsim/extend/renderer.hpp"

#include <array>
#include <string>
#include <vector>

namespace archsim {

/// "+1.9 ms", "-3 mJ".
std::string signed_value(const Metric& metric, double value);
/// The bar of a part on a scale of the largest: parts that cancel are no shares of what they come to.
Column bar_column();
Cell bar_cell(double value, double largest);
/// One of the two that are told apart: its column of inputs.
struct AttributedSide {
    std::string label;
    const char* key;
    bool minuend; ///< `a` of the attribution
};
/// A row for each cause, and their sum; parts below `folded` of the largest are one row.
Table contribution_table(const Attribution& attribution, std::string title,
                         const std::array<AttributedSide, 2>& sides, double folded);
inline constexpr double kSmallPart = 0.01;
/// Input of a factor with its unit: "2.71 TB/s", "34.1 %".
std::string input_text(Factor factor, double value);
/// The largest cause that speaks for the sign of the difference; null where none does.
const Contribution* main_cause(const Attribution& attribution);
/// What a factor is on each device: "an inference occupies GPU for 0.8 ms, TPU for 0.3 ms".
std::string cause_text(const Contribution& contribution, const std::string& a, const std::string& b);
/// One sentence on a contribution, with both inputs and what it does to the difference.
std::string contribution_sentence(const Contribution& contribution, const Metric& metric,
                                  const std::string& a, const std::string& b);
/// The largest contributions of regions that together carry `share` of the difference, in its direction.
std::vector<const RegionContribution*> carrying(const Attribution& attribution, double share);

} // namespace archsim
