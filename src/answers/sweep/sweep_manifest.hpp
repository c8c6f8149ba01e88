#pragma once
// FILE.json beside the rows of a sweep: which request they belong to, and what the file holds.

#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_report.hpp"
#include "core/digest.hpp"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace archsim {

/// FILE with another ending.
std::filesystem::path beside(const std::filesystem::path& file, std::string_view ending);

/// All that decides the rows, in one line: the request, what its names stand for, the version of the library.
/// Rows are continued and joined only where these are the same.
std::string sweep_manifest(const Sweep& sweep, RowFormat format);

/// What FILE.json says.
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
/// The text of FILE.json.
std::string description_text(const std::string& manifest, std::uintmax_t bytes, const Digest& digest);
/// The manifest of all shards together.
std::string whole_manifest(const SweepDescription& shard);

} // namespace archsim
