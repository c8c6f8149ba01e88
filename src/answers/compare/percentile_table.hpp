#pragma once
#include "answers/compare/percentiles.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/extend/renderer.hpp"
#include "fields/json_members.hpp"

#include <span>
#include <vector>

namespace archsim {

/// P50 to P99.9 of every result, quickest first, with what they rest on. Under a rate: with the queue.
Table percentile_table(std::span<const Result> results, const PercentileRequest& request);

/// Those of one result, under a load.
struct ShownPercentiles {
    const Result* result = nullptr;
    ResultPercentiles found;
    double rate_per_s = 0;
};
/// Of every result that has an estimate, in order.
std::vector<ShownPercentiles> shown_percentiles(std::span<const Result> results,
                                                const PercentileRequest& request);
Members<ShownPercentiles> percentile_members();

} // namespace archsim
