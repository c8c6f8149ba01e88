#pragma once
// Flags that ask a report for energy, memory, money and carbon; shared by the tools that estimate.

#include "archsim/report/explanations.hpp"

#include <CLI/CLI.hpp>

namespace archsim::cli {

struct ExplainOptions {
    Explanations explanations;

    void add_to(CLI::App& app);
    /// Throws UsageError for conditions outside of their range.
    Explanations chosen(bool verbose) const;
};

} // namespace archsim::cli
