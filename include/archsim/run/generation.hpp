#pragma once
// Language models in their two phases: the prompt in one pass (prefill), then one step per token (decode).
// One graph with inputs for the cached keys and values serves both.

#include "archsim/core/export.hpp"
#include "archsim/run/session.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// A prompt and an answer.
struct GenerationRequest {
    std::int64_t prompt_tokens = 512, generate_tokens = 128; ///< per sequence
    std::int64_t batch = 1;                                  ///< sequences in step with each other
    std::int64_t context =
        0;            ///< positions that a stack with static shapes compiles in; 0: prompt + generated
    double beams = 1; ///< sequences that share a prompt (beam search); saturated serving only
    std::optional<Precision> kv_cache; ///< given by the user; otherwise the scheme of the stack decides
};

/// A language model, alone or as the last part of a multi-part one, bound at any batch and length on demand.
/// Safe to use from many threads.
class ARCHSIM_API GenerationModel {
  public:
    /// Throws UsageError for a model without a cache of keys and values.
    GenerationModel(const Session& session, std::string_view name_or_path, const Bindings& bindings = {});

    /// Name of the model.
    const std::string& name() const { return language_.info.name; }
    /// The language model at these sizes; kept for later calls.
    std::shared_ptr<const BoundModel> bound(std::int64_t batch, std::int64_t sequence,
                                            std::int64_t past) const;
    /// What runs once per prompt before the language model (vision tower, projector).
    const std::vector<ModelPart>& before() const { return before_; }
    /// A part that runs before the language model, bound at a batch.
    std::shared_ptr<const BoundModel> bound_before(std::size_t part, std::int64_t batch) const;
    /// Tokens that the other parts add to the text of a prompt (image tokens).
    std::int64_t inserted_tokens() const { return inserted_; }

  private:
    struct Entry {
        std::int64_t batch, sequence, past;
        std::shared_ptr<const BoundModel> model;
    };

    const Session& session_;
    Model language_;
    Bindings bindings_;
    std::string sequence_symbol_, past_symbol_;
    std::vector<ModelPart> before_;
    std::int64_t inserted_ = 0;
    mutable std::mutex mutex_;
    mutable std::vector<Entry> entries_;
    mutable std::vector<std::pair<std::int64_t, std::vector<std::shared_ptr<const BoundModel>>>>
        before_bound_;
    std::string total_symbol_; ///< of a mask over cached and new tokens; empty: it has none of its own
    std::string branch_input_; ///< tells a merged decoder to read the cache; empty: there is none
};

/// The software stack for language models: the device's default where it is made for them or none of the
/// device's stacks is, else the first that is (Runtime::language_models), in the order of the device's file.
ARCHSIM_API std::string language_runtime(const HardwareDatabase& hardware, const Device& device);

/// A request as language-model stacks execute it: integer formats that the stack offers for weights alone
/// quantise the weights and multiply in 16 bits; narrow floats keep 16-bit activations; bits per weight, of
/// the output projection and of the cache as the stack states them. `supported` is false when it has no such
/// kernels.
ARCHSIM_API ExecutedPrecision language_precision(const Machine& machine, const PrecisionConfig& requested,
                                                 std::optional<Precision> kv_cache);

/// Estimates an answer of `request.generate_tokens` tokens to a prompt. The result's estimate is that of the
/// whole answer (its subgraphs those of a decode step in the middle), `generation` tells the phases apart.
/// `options.chips` = 0 takes the smallest power of two of devices that holds the model. Never throws for a
/// device.
/// @code
/// const Session session;
/// const GenerationModel model(session, "llama-3-8b");
/// RunOptions options;
/// options.precision = PrecisionConfig::uniform(Precision::fp16);
/// GenerationRequest request;
/// request.prompt_tokens = 512;
/// request.generate_tokens = 128;
/// const Result answer = run_generation(session, model, "H100", options, request);
/// assert(answer.ok() && answer.generation);
/// @endcode
ARCHSIM_API Result run_generation(const Session& session, const GenerationModel& model,
                                  std::string_view hardware, const RunOptions& options,
                                  const GenerationRequest& request);

/// The forms in which measurements of language models are published.
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
    double tokens_per_s = 0; ///< prefill: prompt tokens; otherwise generated tokens
    Estimate step;           ///< the pass that decides (decode step for `generate`)
};

/// One phase alone, for comparison with measurements. `request.prompt_tokens` or `generate_tokens` may be 0
/// where a measurement has none.
ARCHSIM_API PhaseEstimate estimate_generation(const Session& session, const GenerationModel& model,
                                              std::string_view hardware, const RunOptions& options,
                                              GenerationPhase phase, const GenerationRequest& request);

} // namespace archsim
