#pragma once
// Which metrics an answer is shown and ranked by: tokens where language models answer prompts.

#include "archsim/compare/metric.hpp"

#include <span>

namespace archsim {

/// `asked`, or those of language models where `asked` are the usual ones and every estimate answers a prompt.
MetricView shown_metrics(std::span<const Result> results, const MetricView& asked = {});
/// `asked`, or what it is per token where every estimate answers a prompt: energy per token, tokens per
/// second.
const Metric& shown_metric(std::span<const Result> results, const Metric& asked);
/// What ranks unless something else is asked for: latency or throughput, tokens per second of answers.
const Metric& usual_order(std::span<const Result> results, Scenario scenario);

} // namespace archsim
