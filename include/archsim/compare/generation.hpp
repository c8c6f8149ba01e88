#pragma once
// The cost of generating text: the prompt in one pass, then one step per token over a growing context.

#include "archsim/core/export.hpp"
#include "archsim/estimate/estimate.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace archsim {

/// One decode step of the whole batch.
struct GenerationStep {
    double context = 0; ///< tokens per sequence in the cache before the step
    double latency_s = 0, energy_j = 0;
};

/// A server that always has requests waiting: sequences at all stages share each step.
struct SaturatedServing {
    double sequences = 0;    ///< running at once: what the memory left by the weights holds
    double step_s = 0;       ///< one token for every sequence and the prompts of those that start
    double tokens_per_s = 0; ///< generated, all sequences together
    Interval tokens_interval;
    double energy_per_token_j = 0;
};

/// What is too much for the device's memory, kept in host memory. Read over the host link in every pass that
/// needs it: the time when the link works beside everything else, and when all waits for it. Or computed
/// there: the ends of the interval of both machines' time, one after the other.
struct OffloadChoice {
    std::string part;      ///< "layers", "experts" or "cache"
    std::string processor; ///< that computes it; empty: it is read over the link
    double bytes = 0;      ///< per device, in host memory
    double per_token_low_s = 0, per_token_high_s = 0;
    double first_token_low_s = 0, first_token_high_s = 0;
};

/// Phases of one batch. Times and energies are of all devices together; intervals are nominal 90 %.
struct GenerationEstimate {
    double prompt_tokens = 0, generate_tokens = 0; ///< per sequence
    double batch = 1;
    double devices = 1;
    double devices_needed = 0; ///< smallest count whose memory holds the largest context; 0 = none found
    double time_to_first_token_s = 0; ///< the whole prompt in one pass, with whatever must run before it
    double time_per_output_token_s =
        0; ///< mean over the steps of tokens 2 to N, contexts prompt to prompt + N - 2
    double tokens_per_s_stream = 0;   ///< 1 / time per output token
    double tokens_per_s_total = 0;    ///< batch / time per output token
    double kv_cache_bytes = 0;        ///< all sequences, at the last token, over all devices
    double weight_bytes = 0;          ///< over all devices; a tensor that every chip holds counts on each
    double memory_bytes = 0;          ///< largest need of one chip
    double memory_capacity_bytes = 0; ///< of one chip; 0 = unknown
    double energy_first_token_j = 0;  ///< prompts of the whole batch
    double energy_per_token_j = 0;    ///< mean over the decode steps, per sequence and token
    Interval time_to_first_token_interval, time_per_output_token_interval, tokens_per_s_total_interval,
        energy_per_token_interval;
    std::vector<GenerationStep> steps;  ///< the contexts at which a step was priced
    SaturatedServing serving;           ///< in the throughput scenario
    std::vector<OffloadChoice> offload; ///< where the memory does not hold it

    /// Joules of reading one token of a prompt.
    double energy_per_prompt_token_j() const {
        return prompt_tokens > 0 ? energy_first_token_j / (batch * prompt_tokens) : 0;
    }
    /// Joules of one request: its prompt and its answer. Worked: 30 J for the prompts of a batch of 2 and 1 J
    /// per token of each of 101: 15 + 100 = 115 J.
    double energy_per_request_j() const {
        return energy_first_token_j / batch + std::max(0.0, generate_tokens - 1) * energy_per_token_j;
    }
    /// Seconds from a request to the end of its answer.
    double request_s() const {
        return time_to_first_token_s + std::max(0.0, generate_tokens - 1) * time_per_output_token_s;
    }
    /// Mean watts of one device while a batch is answered; of all of them, those that share the model.
    double power_per_device_w() const {
        return request_s() > 0 ? batch * energy_per_request_j() / (request_s() * devices) : 0;
    }
};

} // namespace archsim
