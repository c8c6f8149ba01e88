#pragma once
// Limits as people write them, who is best within them, and from when on a purchase pays.

#include "archsim/compare/decisions.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace archsim {

/// "max_latency", "min_throughput": what a limit on a metric is called.
std::string limit_key(const Metric& metric);

/// Parses "50ms", "15W", "100 mJ", "512MB", "2GiB", "30%"; throughput per second as "10000" or "10k"; cost as
/// USD per million inferences, carbon as grams per thousand, "0.25". Throws UsageError naming `flag` and the
/// form expected.
Constraint parse_constraint(const Metric& metric, std::string_view text, std::string_view flag);

/// The same as a text that reads back: "0.001s".
std::string constraint_text(const Constraint& constraint);

/// The best by `metric` of the results that meet every limit of the decision that was made over them; of all
/// where it has no limits. Absent where none meets them.
std::optional<Winner> winner_within(std::span<const Result> results, const Metric& metric,
                                    const Decision& decision);

/// How two devices' costs cross: `first` is bought and `second` rented or bought.
struct BreakEven {
    double inferences = 0; ///< volume from which the larger purchase pays
    double years = 0;      ///< time the larger purchase needs for that volume at the given utilisation
    bool within_life = false;
};
/// Volume at which buying `bought` costs as much as `other` (rented by the hour when it has a cloud price,
/// else bought). Absent when a price is missing or the running cost of `bought` is not below that of `other`.
std::optional<BreakEven> break_even(const Result& bought, const Result& other, const CostOptions& options);

} // namespace archsim
