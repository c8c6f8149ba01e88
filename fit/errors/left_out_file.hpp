#pragma once
// Left-out predictions as a file, because making them takes longer than a document or a test may.

#include "fit/errors/leave_out.hpp"
#include "fit/errors/left_out.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace archsim {

/// Shipped, network-, device- and family-left-out predictions of every row; see predict_left_out.
std::vector<LeftOutRow> make_left_out(const LeftOutEstimators& estimators,
                                      const std::vector<MeasuredRow>& rows, unsigned threads = 1);
/// CSV: id, shipped, without_model, without_device, without_family.
std::string to_csv(const std::vector<LeftOutRow>& rows);
/// Throws InputError naming the line that cannot be used.
std::vector<LeftOutRow> read_left_out(const std::filesystem::path& file);

// Blind predictions as a file: the only honest blind test of a version is the one run before anything was
// fitted.

/// CSV with the columns id, status, predicted, low and high, as `validate_estimates --format csv` writes
/// them; rows that had no estimate are left out. Throws InputError naming the line that cannot be used.
std::vector<FirstRun> read_first_run(const std::filesystem::path& file);

} // namespace archsim
