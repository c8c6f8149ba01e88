#pragma once
// --check-me and --from: the way from an estimate to a measurement and back.

#include "archsim/check/tool_output.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/run/measurements.hpp"
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

/// Measurements as rows, or as the logs of the tools that made them.
struct MeasurementOptions {
    std::vector<std::string> files, logs;

    void add_to(Flags& flags, const char* files_help);
    /// Rows of the files, then those of the logs; `context` names what logs do not say. Throws UsageError
    /// when neither was given.
    MeasuredTable read(const MeasuredContext& context) const;
};

} // namespace archsim::cli
