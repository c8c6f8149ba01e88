#pragma once
// --save: the results of a tool that compares, kept in a file of results.

#include "common/flags.hpp"
#include "store/other_answers.hpp"
#include "store/results_file.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace archsim::cli {

struct SaveOptions {
    std::string file;

    /// The options must outlive `flags`; the command line is kept with the results.
    void add_to(Flags& flags, int argc, char** argv);
    /// Adds a run with these results to the file, where one was asked for.
    void save(std::span<const Result> results, std::int64_t batch_size, const MetricView& view = {}) const;
    /// The same for answers that are no single estimates.
    void save_rows(std::span<const SavedResult> rows) const;
    /// The same for results of several batches.
    void save(std::span<const AskedResult> results, const MetricView& view = {}) const;

  private:
    std::string tool_, command_;
};

} // namespace archsim::cli
