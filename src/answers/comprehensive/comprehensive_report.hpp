#pragma once
// Everything about one model on one device in one report: verdicts against budgets, time, roofline, energy,
// memory, batch, money, and the inputs with their sources.

#include "answers/comprehensive/comprehensive.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// What of it is shown.
struct ComprehensiveView {
    int top = 1;            ///< slowest groups of equal subgraphs described one by one; 0: all
    bool described = false; ///< these groups are described although the rest is brief
    bool verbose = false;   ///< every subgraph, event, tensor and source in a row of its own
};

/// CSV: the table of subgraphs.
Report describe(const ComprehensiveAnalysis& analysis, const ComprehensiveView& view = {},
                Format format = Format::text);
/// {"schema": "archsim.analyze_comprehensive/1", ...}; unknown values are null.
std::string to_json(const ComprehensiveAnalysis& analysis, const ComprehensiveView& view = {});

} // namespace archsim
