#pragma once
// --check-me: from an estimate to a measurement.

#include "archsim/compare/result.hpp"
#include "common/tool.hpp"

#include <string>
#include <vector>

namespace archsim::cli {

/// Commands that measure what was estimated.
struct CheckOptions {
    bool check_me = false;

    void add_to(Flags& flags);
    /// The report of the commands, to follow the answer; empty when it was not asked for. Throws UsageError
    /// for formats that hold data alone.
    std::string text(const std::vector<const Result*>& results, const OutputOptions& output) const;
};

} // namespace archsim::cli
