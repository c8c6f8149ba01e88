#pragma once
// Why two estimates differ, as report blocks and as a JSON document.
//
//   resnet34 is 1.71x slower than resnet18 (H100, fp16, batch 1): 259 us against 151 us, +108 us.
//   ...
//   Blocks          Change  Number  Part     Share  Mainly              Of which
//   layer*.*        added        8  +107 us   99.1  kernels started     3x3 convolution +107 us at 8.2 % of
//   peak

#include "answers/difference/difference.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

struct DifferenceView {
    int top = 8; ///< rows of the tables of blocks and classes; 0: all
};

/// CSV: the table of blocks.
Report describe(const DifferenceAnswer& answer, const DifferenceView& view, Format format = Format::text);
/// {"schema": "archsim.explain_difference/1", ...}
std::string to_json(const DifferenceAnswer& answer, const DifferenceView& view);

/// What tells two estimates apart ("resnet18", "batch 8") and what they share ("H100, fp16, batch 1").
struct SideLabels {
    std::array<std::string, 2> side; ///< before, after
    std::string common;
};
SideLabels labels_of(const EstimateRecord& before, const EstimateRecord& after);

/// "resnet34 is 1.71x slower than resnet18: ..., +108 us.", the cause that carries most of it, what both
/// share, and whether the intervals overlap.
/// `odds`: that the better one by the estimates is, where it is known. `doubt`: why neither is named better,
/// a sentence; empty: one is.
std::vector<std::string> difference_lines(const Difference& difference, const SideLabels& labels,
                                          std::optional<double> odds = std::nullopt,
                                          const std::string& doubt = {});
/// One sentence per group of blocks that matters: "8 blocks layer*.* added: +107 us, of which ..."
Bullets block_sentences(const Difference& difference);
/// Parts below `folded` of the largest are one row.
Table cause_table(const Difference& difference, const SideLabels& labels, double folded);
Table block_table(const Difference& difference, int top);
Table class_table(const Difference& difference, int top);
/// From before to after, one step per cause.
Chart difference_chart(const Difference& difference, const SideLabels& labels);

/// "metric", "sides", "before", "after", "difference", "causes", "by_change", "classes", "blocks".
Members<Difference> difference_members();

} // namespace archsim
