#pragma once
// Limits as people write them, and who is best within them.

#include "archsim/compare/decisions.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace archsim {

/// Parses "50ms", "15W", "100 mJ", "512MB", "2GiB", "30%"; throughput per second as "10000" or "10k"; cost as
/// USD per million inferences, carbon as grams per thousand, "0.25". Throws UsageError naming `flag` and the
/// form expected.
Constraint parse_constraint(const Metric& metric, std::string_view text, std::string_view flag);

/// The best by `metric` of the results that meet every limit of the decision that was made over them; of all
/// where it has no limits. Absent where none meets them.
std::optional<Winner> winner_within(std::span<const Result> results, const Metric& metric,
                                    const Decision& decision);

} // namespace archsim
