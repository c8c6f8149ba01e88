#pragma once
// Whether a device file runs anything: a small network under each stack that the device names, and under
// none.

#include "archsim/compare/result.hpp"
#include "archsim/core/finding.hpp"

#include <filesystem>
#include <vector>

namespace archsim {

struct CheckRuns {
    std::vector<Result> results; ///< one for each stack that runs a format of the chip, the ideal stack last
    std::vector<Finding> findings; ///< a stack that runs none of them, with those that it runs
};

/// Nothing for a file that describes no device.
CheckRuns check_runs(const std::filesystem::path& device_file);

} // namespace archsim
