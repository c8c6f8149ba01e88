#pragma once
// What an estimate was computed from, with the source of each number.

#include "archsim/compare/metric.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// "datasheet: NVIDIA A100 datasheet 2020"; "fitted: ... (n = 12, error 8.1 %)"; empty when unknown.
std::string fact_source(const Fact& fact);
/// What follows a source: " (n = 12, error 8.1 %); note", as far as there is any.
std::string fit_text(int n, double error, const std::string& note);
/// Rates of the machine and parameters of its software stack that the estimate used.
Table sources_table(const Result& result);
/// The same in one paragraph, behind a metric of this result; empty for metrics that follow from others.
std::string detail_of(const Result& result, const Metric& metric);

} // namespace archsim
