#pragma once
// --measurements and --from: measured values, as rows or as the output of the tools that measured them.

#include "common/tool.hpp"
#include "fit/rows/measurements.hpp"
#include "measurements/tool_output.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace archsim::cli {

/// Measurements as rows, or as the logs of the tools that made them.
struct MeasurementOptions {
    std::vector<std::string> files, logs;

    void add_to(Flags& flags, const char* files_help);
    /// Rows of the files, then those of the logs; `context` names what logs do not say. Throws UsageError
    /// when neither was given.
    MeasuredTable read(const MeasuredContext& context) const;
    /// Device files that travel with rows: the folders `machines` beside the files, then `others`, which take
    /// precedence.
    std::vector<std::filesystem::path> overlays(const std::vector<std::string>& others) const;
};

} // namespace archsim::cli
