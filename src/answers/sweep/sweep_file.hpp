#pragma once
// Sweeps on disk: written in order beside their final name, continued after an interruption, merged from
// shards.

#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_report.hpp"
#include "answers/sweep/sweep_row.hpp"
#include "store/results_file.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace archsim {

struct SweepFileOptions {
    RowFormat format = RowFormat::csv;
    bool resume = false; ///< continue FILE.partial if there is one
    unsigned threads = 1;
    /// Called after every span of rows with the points done and to do; may be empty.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress;
    /// Sees every row written by this run; may be empty.
    std::function<void(const SweepRow&)> row;
    /// Told what of an interrupted run was damaged and is estimated again; may be empty.
    std::function<void(const std::string&)> note;
};

/// Writes the sweep to FILE.partial and renames it to FILE at the end, so that FILE is always complete;
/// FILE.json says which request the rows belong to and what FILE holds. An interrupted run leaves
/// FILE.partial and a log of it: with `resume` the rows that are as they were written stay and the rest is
/// added, nothing lost or doubled. Returns the rows written by this run. Throws InputError when the files
/// cannot be written, belong to another request (or the same names stand for something else now), are written
/// by another process, or FILE is no longer what was written.
std::uint64_t write_sweep(const Sweep& sweep, const std::filesystem::path& file,
                          const SweepFileOptions& options);

/// Joins the finished files of all shards of one request, in any order, to what one run would have written.
/// Throws InputError when they belong to different requests, a shard is missing or given twice, or a file is
/// no longer what was written.
void merge_sweeps(const std::vector<std::filesystem::path>& shards, const std::filesystem::path& file);

/// The question is the point's factors.
SavedResult saved_row(const SweepRow& row, const SweepRequest& request);

} // namespace archsim
