#pragma once
// Which parts of a network carry a difference, equal layers together, and where the bottleneck changes.
//
//   Operation                        Count  Part      Share  Mainly
//   /encoder/layer.*/output/MatMul      12  +91.9 us   18.4  fixed cost per kernel, layer and inference

#include "answers/architectures/compare_architectures_report.hpp"

namespace archsim {

/// Adds the table and the list; nothing where a difference has no regions.
void add_regions_of(const ArchitectureComparison& c, const Explanation& explanation, Report& report);

} // namespace archsim
