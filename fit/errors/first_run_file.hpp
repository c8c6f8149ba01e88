#pragma once
// Blind predictions as a file: the only honest blind test of a version is the one run before anything was
// fitted.

#include "fit/errors/first_run.hpp"

#include <filesystem>
#include <vector>

namespace archsim {

/// CSV with the columns id, status, predicted, low and high, as `validate_estimates --format csv` writes
/// them; rows that had no estimate are left out. Throws InputError naming the line that cannot be used.
std::vector<FirstRun> read_first_run(const std::filesystem::path& file);

} // namespace archsim
