#pragma once
// Layouts of servers that were measured beside each other:
//
//   Configurations of servers, by model
//   Model          Configurations  Rows    TTFT          TPOT          TPOT bias  ...
//                                          (%)           (%)           (%)
//   gpt-oss-120b                5   333    21.0 / 30.1   11.4 / 13.0   -3.1

#include "archsim/extend/renderer.hpp"
#include "fit/errors/serving_layouts.hpp"

namespace archsim {

/// Errors by model and by what runs it, and how often the layout that the estimate would choose is the best
/// one; with `every`, each row below them.
Report describe_serving_layouts(const ServingLayouts& layouts, bool every = false);

} // namespace archsim
