#pragma once
// The metrics of language models: tokens per second, time and energy per token. The metrics of every model
// (MetricTable::standard) are those of a whole answer, which nobody compares.
//
//   key          field                    unit  better  shown as
//   first_token  time_to_first_token_s    s     lower   ms
//   token_time   time_per_output_token_s  s     lower   ms
//   token_rate   tokens_per_s_stream      1/s   higher  tokens/s
//   token_energy energy_per_token_j       J     lower   J/token

#include "archsim/compare/metric.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/estimate/estimate.hpp"

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

/// The metrics of every model, then those that language models alone have: what a limit may be about.
const MetricTable& every_metric();

/// True where the metrics of language models are those to compare by: every estimate answers a prompt.
bool compares_generation(std::span<const Result> results);

/// The metric, or where it is money and every estimate answers a prompt the one that counts requests.
const Metric& in_its_words(const Metric& asked, std::span<const Result> results);

/// One pass of the network, all of it.
struct ShownPass {
    double latency_s = 0;
    double energy_j = 0;
    bool part_of_answer = false; ///< false: the whole estimate
    double context = 0;          ///< of a step: positions in the cache before it; 0: the prompt's pass
    double steps = 0;            ///< that the answer takes
};

/// The pass of an estimate; zeros without one.
ShownPass shown_pass(const Result& result);

/// A factor on the power of the result: what lies inside the boundary (joules_at()) draws that many times
/// what the devices draw.
double times_inside(const Result& result, std::optional<PowerBoundary> boundary);

/// The prompt and answer of a result that has them, every energy of it at the boundary: power x time =
/// energy.
GenerationEstimate generation_at(const Result& result, std::optional<PowerBoundary> boundary);

} // namespace archsim
