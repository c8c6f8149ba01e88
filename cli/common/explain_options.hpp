#pragma once
// Flags that ask a report for energy, memory, money and carbon; shared by the tools that estimate.

#include "archsim/report/explanations.hpp"

#include "common/flags.hpp"

#include <string>
#include <vector>

namespace archsim::cli {

struct ExplainOptions {
    Explanations explanations;
    std::string power_at = "chip";
    std::string grid_intensity; ///< a number or a country; empty: not asked for
    bool rent = false, buy = false;
    std::vector<std::string> prices;

    void add_to(Flags& flags);
    /// Throws UsageError for conditions outside of their range.
    Explanations chosen(bool verbose) const;
};

} // namespace archsim::cli
