#pragma once
// "Why is GPU different from TPU?": the attribution in words, a table that adds up, subgraphs, bottlenecks,
// flips.

#include "report/answers/architectures.hpp"

#include <string>

namespace archsim {

/// The waterfall of the causes is drawn in HTML alone; elsewhere the bars of the table say it.
void add_explanation(const ArchitectureComparison& c, const Explanation& explanation, Format format,
                     Report& report);

/// "+1.9 ms", "-3 mJ".
std::string signed_value(const Metric& metric, double value);
/// "12.5", without a sign for what rounds to zero.
std::string percent_text(double share);
/// Input of a factor with its unit: "2.71 TB/s", "34.1 %".
std::string input_text(Factor factor, double value);
/// The largest cause that speaks for the sign of the difference; null where none does.
const Contribution* main_cause(const Attribution& attribution);
/// What a factor is on each device: "an inference occupies GPU for 0.8 ms, TPU for 0.3 ms".
std::string cause_text(const Contribution& contribution, const std::string& a, const std::string& b);
/// One sentence on a contribution, with both inputs and what it does to the difference.
std::string contribution_sentence(const Contribution& contribution, const Metric& metric,
                                  const std::string& a, const std::string& b);
/// "with 1.40x the memory bandwidth on GPU" ...
std::string flip_text(const Flip& flip);
/// The largest contributions of regions that together carry `share` of the difference, in its direction.
std::vector<const RegionContribution*> carrying(const Attribution& attribution, double share);

} // namespace archsim
