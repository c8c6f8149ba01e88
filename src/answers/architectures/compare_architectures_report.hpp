#pragma once
// The answer of compare_architectures goes in; report blocks and its stable JSON document come out.

#include "answers/architectures/compare_architectures.hpp"
#include "archsim/extend/renderer.hpp"
#include "report/blocks/explanations.hpp"

#include <string>

namespace archsim {

/// `explanations`: energy, memory and cost of every architecture, below the rest. HTML: with charts.
Report describe(const ArchitectureComparison& comparison, const Explanations& explanations = {},
                Format format = Format::text);
/// {"schema": "archsim.compare_architectures/1", ...}; unknown values are null.
std::string to_json(const ArchitectureComparison& comparison, const Explanations& explanations = {});

} // namespace archsim
