#pragma once
// Published percentiles of repeated inferences: hardware_db/percentiles.json.

#include "archsim/core/finding.hpp"
#include "archsim/core/provenance.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace archsim {

/// Percentiles of one network's time, one query after the other, as their source publishes them.
struct SpreadRow {
    std::string stack, family; ///< of the device
    bool integrated = false;   ///< the device shares its host's memory, or is the host
    std::string hardware, network;
    /// Milliseconds at P50, P90, P99 and P99.9; 0: not published.
    double p50_ms = 0, p90_ms = 0, p99_ms = 0, p999_ms = 0;
    std::shared_ptr<const Source> source;
    std::string run; ///< which of the source's runs: submitter and system, or file and line
};

/// Every row of the file that is sound; what is wrong with the others goes to `findings`: percentiles that
/// fall, a family or a source that does not exist, unknown keys.
std::vector<SpreadRow> read_spread_rows(const std::filesystem::path& file, std::vector<Finding>& findings);

} // namespace archsim
