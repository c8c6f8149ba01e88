#pragma once
#include "archsim/compare/metric.hpp"

#include <string>

namespace archsim {

/// One result as JSON: the same keys as a row of "results" of `compare_models --format json`; "rank" is null.
std::string to_json(const Result& result, const MetricView& view = {});

} // namespace archsim
