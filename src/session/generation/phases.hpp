#pragma once
// One phase alone, in the forms in which measurements of language models are published.

#include "archsim/estimate/estimate.hpp"
#include "archsim/run/session.hpp"
#include "session/generation/language_model.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace archsim {

enum class GenerationPhase : std::uint8_t {
    prefill,  ///< one pass over the prompts of the batch
    decode,   ///< one step at the mean context, prompt + generated / 2
    generate, ///< prompts and all steps of a batch that starts and ends together
    saturated ///< a server that always has requests waiting
};

/// One pass of prefill or decode.
struct PhaseEstimate {
    Status status = Status::ok;
    std::string reason;   ///< one sentence when not ok
    double latency_s = 0; ///< prefill: to the first token; decode, saturated: one step; generate: the batch
    double tokens_per_s = 0;                ///< prefill: prompt tokens; otherwise generated tokens
    Estimate step;                          ///< the pass that decides (decode step for `generate`)
    double energy_per_token_j = 0;          ///< saturated: of all devices, prompts included
    std::shared_ptr<const Machine> machine; ///< null where the model does not run on it
};

/// `prompt.tokens` or `prompt.generate` may be 0 where a measurement has none. `batch` 0 lets a saturated
/// server run as many sequences as its memory holds. `experts` devices hold whole experts
/// (StepRunner::share). Never throws for a device.
PhaseEstimate estimate_phase(const Session& session, const GenerationModel& model, std::string_view device,
                             const Conditions& conditions, GenerationPhase phase, std::int64_t batch,
                             const Prompt& prompt, double experts = 0);

/// The kind that takes most of the time: "compute", "memory" or "overhead". The estimate keeps its subgraphs.
std::string regime_of(const Estimate& estimate);

/// The estimate of a workload with a prompt; where it has one, its parts are the pass over the prompt and
/// steps at the contexts at which they are priced. Throws UsageError for a model that is shared in stages,
/// copies or groups, or is served (Scenario::throughput), or has parts before the prompt: what these add is
/// of no pass.
Result answer_in_passes(const Session& session, const Workload& workload, std::string_view device,
                        const Conditions& conditions);

} // namespace archsim
