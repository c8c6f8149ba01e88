#pragma once
// Steps of a serving engine at the prices of a device: a few steps are estimated, those between interpolated.

#include "archsim/serving/serving_result.hpp"
#include "run/generation/step.hpp"

#include <array>
#include <map>

namespace archsim {

/// Time and energy of a step as a sum of three tables, each filled where it is asked:
///
///   D(b, c)    b sequences generate one token each over c positions (bilinear in both)
///   M(b, p)    the same at a middle context, with p prompt tokens that share the reading of weights
///   (mixed_step) P(p, s)    p prompt tokens past s positions
///
///   step(b, c, p, k) = M(b, p) + D(b, c) - D(b, c0) + P(p, k - p / 2) - P(p, 0)
///
/// and no less than the host takes to launch a step with prompts (StepRunner::launch_seconds). Attention
/// runs beside the shared products, so that what longer contexts add to either part adds up. With
/// pipeline stages every stage works on its part of the batch at once: a step takes the time of one part
/// through all stages.
class EnginePrices final : public StepPrices {
  public:
    /// `middle`: context of a typical sequence; `whole_graph`: EngineLimits::whole_graph.
    EnginePrices(StepRunner runner, const Parallelism& parallelism, std::int64_t middle, std::int64_t longest,
                 bool whole_graph);

    StepCost price(const StepLoad& load) override;
    double cache_bytes(double positions) const override;

    /// Bytes that the weights and the largest step's activations take on one chip.
    double fixed_bytes(std::int64_t step_tokens) const;
    /// Of the weights alone.
    double weight_bytes() const;
    const Machine& machine() const { return *machine_; }
    double hidden() const { return hidden_; }
    /// First failure of an estimate; empty when all were made.
    const std::string& problem() const { return problem_; }
    /// A step of that many sequences at the middle context, with its subgraphs.
    Estimate typical_step(std::int64_t sequences) const;
    /// A prompt of that length alone.
    Estimate typical_prompt(std::int64_t tokens) const;

  private:
    struct Point {
        double seconds = 0, joules = 0;
    };
    Point decode(std::int64_t sequences, std::int64_t verified, double context);
    Point decode_at(std::int64_t sequences, std::int64_t verified, std::int64_t context);
    Point mixed(double sequences, double prompt);
    Point mixed_at(std::int64_t sequences, std::int64_t prompt);
    Point prompt(double tokens, double past);
    Point prompt_at(std::int64_t tokens, std::int64_t past);
    Point keep(const Estimate& e);

    StepRunner runner_; ///< prices steps between which others lie, also those that no cache holds
    std::shared_ptr<const Machine> machine_;
    Parallelism parallelism_;
    std::int64_t middle_, longest_;
    bool whole_graph_;
    std::size_t subgraphs_ = 0; ///< that a pass with a prompt launches
    double hidden_ = 0;         ///< width of the residual stream; 0: the model does not say
    std::string problem_;
    std::map<std::array<std::int64_t, 4>, Point> known_; ///< table, and its arguments
    std::vector<std::pair<double, double>> cache_;       ///< positions and bytes over all devices, ascending
};

} // namespace archsim
