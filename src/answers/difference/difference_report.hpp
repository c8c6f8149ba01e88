#pragma once
// Why two estimates differ, as report blocks and as a JSON document.
//
//   resnet34 is 1.71x slower than resnet18 (H100, fp16, batch 1): 259 us against 151 us, +108 us.
//   ...
//   Blocks          Change  Number  Part     Share  Mainly              Of which
//   layer*.*        added        8  +107 us   99.1  kernels started     3x3 convolution +107 us at 8.2 % of
//   peak

#include "answers/difference/explain_difference.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// What of it is shown.
struct DifferenceView {
    int top = 8; ///< rows of the tables of blocks and classes; 0: all
};

/// CSV: the table of blocks.
Report describe(const DifferenceAnswer& answer, const DifferenceView& view, Format format = Format::text);
/// {"schema": "archsim.explain_difference/1", ...}
std::string to_json(const DifferenceAnswer& answer, const DifferenceView& view);

} // namespace archsim
