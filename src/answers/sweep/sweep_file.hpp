#pragma once
// Sweeps on disk: written in order beside their final name, continued after an interruption, merged from
// shards.

#include "answers/sweep/sweep_report.hpp"
#include "core/digest.hpp"
#include "store/results_file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
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

// FILE.json beside the rows of a sweep: which request they belong to, and what the file holds.

std::filesystem::path beside(const std::filesystem::path& file, std::string_view ending);

/// All that decides the rows, in one line: the request, what its names stand for, the version of the library.
/// Rows are continued and joined only where these are the same.
std::string sweep_manifest(const Sweep& sweep, RowFormat format);

struct SweepDescription {
    std::string manifest; ///< as sweep_manifest() has it
    std::string request;  ///< the part of it that all shards share
    std::uint64_t shard = 0, shards = 1;
    bool has_header = false;
    std::uintmax_t bytes = 0; ///< of FILE
    std::string digest;       ///< of FILE
};
/// Throws InputError where there is none, or it is something else.
SweepDescription read_description(const std::filesystem::path& file);
std::string description_text(const std::string& manifest, std::uintmax_t bytes, const Digest& digest);
std::string whole_manifest(const SweepDescription& shard);

// The rows of a sweep that is not finished, and a log of how far they are right: FILE.partial and
// FILE.partial.log. One process at a time writes them.

class PartialSweep {
  public:
    /// Locks what will become `file`. Throws InputError where another process writes it, or the file system
    /// has no locks.
    explicit PartialSweep(const std::filesystem::path& file);
    ~PartialSweep();
    PartialSweep(const PartialSweep&) = delete;
    PartialSweep& operator=(const PartialSweep&) = delete;

    struct Found {
        bool another = false;          ///< rows of another manifest
        std::uint64_t points = 0;      ///< rows that are as they were written; 0: begin anew
        std::uintmax_t lost_bytes = 0; ///< behind them: cut off in the middle, or damaged
    };
    /// Goes on behind the last row that is as it was written, if the rows are those of this manifest.
    Found take_up(const std::string& manifest);
    /// Begins anew, with the line above the rows.
    void begin(const std::string& manifest, std::string_view heading);
    void append(std::string_view rows, std::uint64_t points);
    /// Gives the rows the name of the file, and FILE.json its text.
    void finish(const std::string& manifest);
    /// Removes what is left, rows and log.
    void discard();

  private:
    void write_log(std::string_view line);
    std::string check_of(std::string_view line) const;

    std::filesystem::path file_, rows_path_, log_path_;
    int log_ = -1, rows_ = -1;
    std::string manifest_digest_;
    Digest digest_; ///< of all rows
    std::uintmax_t bytes_ = 0;
    std::uint64_t points_ = 0;
};

} // namespace archsim
