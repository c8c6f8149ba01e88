#pragma once
// Flags that ask a report for energy, memory, money and carbon; shared by the tools that estimate.

#include "report/blocks/explanations.hpp"

#include "common/tool.hpp"

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
    /// Throws UsageError for a flag about money where no cost is shown, as tables of every format but text
    /// have them, nor decides anything.
    void expect_costs(const OutputOptions& output, bool decided_by_costs) const;

  private:
    const Flags* flags_ = nullptr;
};

} // namespace archsim::cli
