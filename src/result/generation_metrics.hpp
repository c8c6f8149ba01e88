#pragma once
// What language models are measured by: tokens per second, time and energy per token. The metrics of every
// model (MetricTable::standard) are those of a whole answer, which nobody compares.
//
//   key          field                    unit  better  shown as
//   first_token  time_to_first_token_s    s     lower   ms
//   token_time   time_per_output_token_s  s     lower   ms
//   token_rate   tokens_per_s_stream      1/s   higher  tokens/s
//   token_energy energy_per_token_j       J     lower   J/token

#include "archsim/compare/metric.hpp"

#include <span>

namespace archsim {

namespace metric {
/// Metrics of results with a prompt; others have no value. The prompt in one pass; mean of the steps; tokens
/// per second of one sequence, of all sequences (of a saturated server in the throughput scenario); joules of
/// a decode step per sequence and token.
extern const Metric first_token, token_time, token_rate, total_token_rate, token_energy;
} // namespace metric

/// The metrics of language models, then those of every model that mean something for an answer: power,
/// memory.
const MetricTable& generation_metrics();

/// True where the metrics of language models are those to compare by: every estimate answers a prompt.
bool compares_generation(std::span<const Result> results);

} // namespace archsim
