#pragma once
// The workload that is estimated: the half of a question that is not the conditions.

#include "archsim/ops/shaped_graph.hpp"
#include "archsim/run/model.hpp"
#include "archsim/serving/serving_result.hpp"

#include <cstdint>
#include <optional>

namespace archsim {

/// A prompt and its answer, for language models. Tokens are per sequence.
struct Prompt {
    std::int64_t tokens = 512;   ///< read in one pass
    std::int64_t generate = 128; ///< of the answer, one step each
    std::int64_t context = 0; ///< positions that a stack with static shapes compiles in; 0: tokens + generate
    double beams = 1;         ///< sequences that share a prompt (beam search); saturated serving only
    /// Tokens are drawn from the likeliest (top-p, top-k), for which a stack may order the whole vocabulary
    /// (Parameter::sampling_time); false: the likeliest token is taken.
    bool sampled = false;
    /// How devices share the model, in place of Conditions::devices. A batch alone passes the stages of a
    /// pipeline one after another; groups and copies have their parts of the batch.
    std::optional<Parallelism> parallel = {};

    /// The same in everything.
    bool operator==(const Prompt&) const = default;
};

/// A model at a batch and sizes. With a prompt a language model answers it, prompt and steps apart; where
/// neither prompt nor sizes are given it answers the prompt of a default Prompt (usual_question()). Other
/// models, and language models that are asked for it, run a single pass.
struct Workload {
    Model model;                       ///< from Session::load
    std::int64_t batch = 1;            ///< items, or sequences in step with each other
    Bindings sizes = {};               ///< of symbolic dimensions and inputs, besides the batch
    std::optional<Prompt> prompt = {}; ///< UsageError for a model without a cache of keys and values
    bool single_pass = false;          ///< one pass of a language model too, whatever sizes are given
};

} // namespace archsim
