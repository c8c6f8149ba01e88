#pragma once
// One pass of a language model on a machine: the building block of phases and of serving.

#include "archsim/map/machine.hpp"
#include "archsim/serving/serving_result.hpp"
#include "session/bound_model.hpp"
#include "session/generation/language_model.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace archsim {

class BatchCounts;

/// How a stack reads the prompts of a batch. Worked: four prompts of 200 tokens where one prompt is read at a
/// time, by programs for 16, 32, ... 256, ... tokens: batch 1, tokens 256, four times.
struct PromptPasses {
    std::int64_t batch = 1, tokens = 1; ///< of one pass
    double times = 1;                   ///< passes, one after another
};

/// The part of a step that runs from captured graphs: EngineLimits, fields of these names.
struct Capture {
    bool whole_graph = false;
    std::int64_t tokens = 0; ///< EngineLimits::captured_tokens
};

/// A language model on a device, with the formats that run.
class StepRunner {
  public:
    StepRunner(const GenerationModel& model, std::shared_ptr<const Machine> machine,
               PrecisionConfig precision, bool allow_unknown)
        : model_(model), precision_(precision), allow_unknown_(allow_unknown) {
        use(std::move(machine));
        share(machine_->devices, 0);
    }

    const GenerationModel& model() const { return model_; }
    const Machine& machine() const { return *machine_; }
    /// The formats that run.
    const PrecisionConfig& precision() const { return precision_; }
    /// Whether the stack starts on so many devices that share every matrix, and why it does not.
    bool starts_on(double devices) const;
    std::string unstarted(double devices) const;
    std::shared_ptr<const Machine> shared_machine() const { return machine_; }
    /// From here on the model is spread over that many of the devices.
    void use_devices(double devices) { share(devices, 0); }
    /// From here on `tensor` devices share every matrix and `experts` hold the experts, whole ones each (0:
    /// shared like the rest); passes are those of one group (Sharing::groups), energies those of all devices.
    void share(double tensor, double experts);
    const Sharing& sharing() const { return sharing_; }
    /// From here on a pass is priced whether or not the memory holds it: whoever asks knows what fits.
    void ignore_capacity();

    std::shared_ptr<const Partition> partition(const BoundModel& bound) const;
    /// Counts of a bound model, which they keep.
    std::shared_ptr<const NetworkWork> work(std::shared_ptr<const BoundModel> bound) const;
    std::shared_ptr<const NetworkWork> work(std::int64_t batch, std::int64_t sequence,
                                            std::int64_t past) const;
    /// As estimated: add_intervals() lets it follow what the user measured, as the kind of time that it is.
    Estimate price(const NetworkWork& work, bool keep_subgraphs = false) const;
    /// The same with what earlier ones of this machine left; one thread's.
    Estimate price(const NetworkWork& work, BatchCounts& counted) const;
    /// Kernels of one pass: one of each fused subgraph, several of experts (routing, two products, what lies
    /// between, the sum), and those that quantise activations (Parameter::quantising_kernels). Worked:
    /// Qwen3-30B-A3B in bf16: 531 subgraphs, 48 of them experts of five kernels: 723.
    double launches_of(const NetworkWork& work) const;
    /// Whether layers follow a delta rule, block after block of a prompt.
    static bool in_blocks(const NetworkWork& work);
    /// Host time to launch so many kernels for a pass over so many tokens: what runs from a captured graph
    /// takes none. Steps without prompts run from one wherever no largest size is known, and whole models do.
    double launch_seconds(double launches, double tokens, bool prompts, const Capture& capture) const;

    /// The model at the sizes of one pass over the prompt. A stack with static shapes takes it in chunks
    /// (Parameter::microbatch_rows) that attend to the whole `compiled` context, or padded to a length that
    /// it was compiled for (Parameter::shortest_prompt), perhaps one prompt after another
    /// (Parameter::prompts_per_pass).
    std::shared_ptr<const BoundModel> prompt_pass(std::int64_t batch, std::int64_t tokens,
                                                  std::int64_t compiled) const;
    /// One such pass, no shorter than the host takes to launch it.
    Estimate prompt_part(std::int64_t batch, std::int64_t tokens, std::int64_t compiled,
                         bool keep_subgraphs = false) const;
    /// The prompt of each sequence, with the stack's cost of a first token.
    Estimate prefill(std::int64_t batch, std::int64_t tokens, std::int64_t compiled,
                     bool keep_subgraphs = false) const;
    /// One token of each sequence. A stack with static shapes reads the `compiled` context whatever is in it.
    Estimate decode(std::int64_t batch, std::int64_t past, std::int64_t compiled,
                    bool keep_subgraphs = false) const;
    /// The step with the drawing of a token for each sequence (Prompt::sampled): kernels that order the
    /// logits, bound by memory like the step, draw what it draws.
    Estimate with_sampling(Estimate step, double sequences, bool sampled) const;
    /// Context that a decode step reads.
    std::int64_t context_read(std::int64_t past, std::int64_t compiled) const;

  private:
    /// Sizes of one pass over the prompts of a batch, and how many such passes there are.
    PromptPasses prompt_passes(std::int64_t batch, std::int64_t tokens, std::int64_t compiled) const;
    std::shared_ptr<const BoundModel> prompt_pass(const PromptPasses& passes, std::int64_t compiled) const;

    void use(std::shared_ptr<const Machine> machine);

    const GenerationModel& model_;
    std::shared_ptr<const Machine> machine_;
    std::shared_ptr<const Machine> unmeasured_; ///< the same, of which the user has measured nothing
    PrecisionConfig precision_;
    Sharing sharing_;
    bool allow_unknown_ = false;
};

/// The device, its stack and the formats for a language model, under the result's conditions, or why there is
/// none. Fills the result's device, runtime, machine and status. Of a server no stack is preferred because
/// answers to one user were measured under it.
enum class Users : std::uint8_t { one, many };
std::optional<StepRunner> make_runner(const Session& session, const GenerationModel& model, Result& result,
                                      Users users = Users::one);

/// Counts of a step in which a batch decodes while prompts are processed: products with weights read the
/// weights once for both, attention runs for each. `share` is the part of `prefill` that one step holds.
NetworkWork mixed_step(const NetworkWork& decode, const NetworkWork& prefill, double share);

/// A server that always has requests waiting and runs `at_most` of them at once, or as many as its memory
/// holds where that is 0. `status` of `step` tells why nothing fits.
SaturatedServing serve_saturated(const StepRunner& runner, const Prompt& prompt, Estimate& step,
                                 double at_most = 0);

/// Contexts at which decode steps are priced, with weights that add up to one: Simpson's rule over [first,
/// last], exact where time is a cubic of the context. Worked: 513 to 639 -> 513, 576, 639 with 1/6, 4/6, 1/6.
inline std::vector<std::pair<std::int64_t, double>> context_points(std::int64_t first, std::int64_t last) {
    if (last <= first)
        return {{first, 1.0}};
    if (last - first == 1)
        return {{first, 0.5}, {last, 0.5}};
    return {{first, 1.0 / 6}, {(first + last) / 2, 4.0 / 6}, {last, 1.0 / 6}};
}

/// Seconds that the activations of `rows` tokens, `hidden` wide, take from the first stage to the last: over
/// the links of a node, or over the network where every stage fills a node.
double stage_hops(const Machine& machine, const Parallelism& way, double rows, double hidden);

} // namespace archsim
