#pragma once
#include "archsim/extend/renderer.hpp"
#include "result/ranking.hpp"

#include <span>

namespace archsim {

/// One row per result, best first by `by`, for people: results of one model at one batch size. Columns are
/// the metrics of the view as far as any result has them. `top` rows; 0: all.
Table ranking_table(std::span<const Result> results, const Metric& by, const MetricView& view, int top = 0);

} // namespace archsim
