#pragma once
// Steps of a serving engine at the prices of a device: a few steps are estimated, those between interpolated.

#include "archsim/serving/serving_result.hpp"
#include "estimate/batch_pieces.hpp"
#include "estimate/wall_power.hpp"
#include "hardware/error_model.hpp"
#include "session/generation/step.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace archsim {

/// Time and energy of a step as a sum of tables, each filled where it is asked:
///
///   D(b, c)    b sequences generate one token each over c positions (bilinear in both)
///   M(b, p)    the same over c0 = 64 positions, with p prompt tokens that share the reading of weights
///   (mixed_step) P(p, s)    p prompt tokens of one prompt past s positions
///   Q(p, n)    p prompt tokens in prompts of n tokens each, from their start
///
///   step(b, c, p, n, s) = M(b, p) + D(b, c) - D(b, c0) + P(p, s) - P(p, 0) + Q(p, n) - Q(p, p)
///
/// and beside it what the host takes for the sequences between two steps, where it takes them in turn
/// (Parameter::sequence_time); no less than it takes to launch a step with prompts
/// (StepRunner::launch_seconds), which was measured of whole steps. Attention
/// runs beside the shared products, so that what longer contexts add to either part adds up, and D is the
/// mean over the contexts that the sequences have, one by one: a window is full for some and not for others.
/// Prompts of several lengths attend as prompts of n tokens do, n the mean over their tokens. With pipeline
/// stages every stage works on its part of the batch at once: a step takes the time of one part through all
/// stages. Nothing depends on the load that was asked for before. Safe to use from several threads, which
/// wait for each other only where a table is filled.
class EnginePrices final : public StepPrices {
  public:
    /// `middle`: context of a typical sequence, for typical_step(); `capture`: as EngineLimits has it.
    EnginePrices(StepRunner runner, const Parallelism& parallelism, std::int64_t middle, std::int64_t longest,
                 const Capture& capture);

    StepCost price(const StepLoad& load) override;
    void price_on(StepLoad load, std::span<StepCost> costs) override;
    /// The same where every step that it lies between can be estimated; throws InputError with the reason
    /// where one cannot.
    StepCost certain_price(const StepLoad& load);
    double cache_bytes(double positions) const override;
    StepCost new_length() const override { return new_length_; }

    /// Bytes that the weights and the largest step's activations take on one chip.
    double fixed_bytes(std::int64_t step_tokens) const;
    double weight_bytes() const;
    const Machine& machine() const { return *machine_; }
    /// The formats that run.
    const PrecisionConfig& formats() const { return runner_.precision(); }
    /// The power of a device, inside the boundary at which it is named.
    double idle_watts_each() const {
        return joules_at(*machine_, machine_->static_power_w * machine_->devices, 1) / machine_->devices;
    }
    const Parallelism& parallelism() const { return parallelism_; }
    double hidden() const { return hidden_; }
    /// From here on the host makes up a step when the one before it has ended, as the stack does where its
    /// prefix cache keeps states (Parameter::state_step_time); false where that takes no time.
    bool schedule_in_turn();
    /// First failure of an estimate; empty when all were made.
    std::string problem() const;
    /// A step of that many sequences at the middle context, with its subgraphs.
    Estimate typical_step(std::int64_t sequences) const;
    /// Time of one layer and the output head as part of a step: what a layer that predicts one more token
    /// takes for it (DeepSeek-V3's, EAGLE's). Worked: 64 layers, a head of 4 % of the step: 5.5 %.
    double draft_cost() const;
    Estimate typical_prompt(std::int64_t tokens) const;

  private:
    struct Point {
        double seconds = 0, joules = 0;
        bool known = true; ///< false: a step could not be estimated
    };
    struct Slot {
        std::atomic<bool> ready = false;
        Point point;
    };
    static constexpr std::size_t kCounts = 24, // sequences, prices.cpp
        kLengths = 1 + ContextCounts::kSpans;
    /// Points by a count of sequences or a length, and a length; each is made once.
    struct Table {
        explicit Table(std::size_t rows) : slots(rows * kLengths) {}
        std::vector<Slot> slots;
    };

    template <class Make>
    const Point& at(Table& table, std::size_t row, std::size_t column, const Make& make);
    void fill(Table& table, std::size_t row, std::size_t column, const NetworkWork& work);
    Table& decode_table(std::int64_t verified);
    const Point& decode_at(Table& table, std::size_t count, std::size_t length, std::int64_t verified);
    class Decoding;
    Point decode(std::int64_t sequences, const ContextCounts& contexts, std::int64_t verified);
    Point mixed_at(std::size_t count, std::size_t length);
    Point mixed(std::int64_t sequences, double prompt);
    Point prompt_at(std::size_t length, std::size_t past);
    Point prompt(double tokens, double past);
    Point several_at(std::size_t tokens, std::size_t length);
    Point several(double tokens, double length);
    Point point_of(const NetworkWork& work);
    Point launched(const Point& step, double rows, bool prompts) const;
    static Point sum(const Point& a, const Point& b);
    static Point between(const Point& low, const Point& high, double part);
    StepCost priced(const StepLoad& load, bool& known);
    std::int64_t share_of(std::int64_t sequences) const;
    Point turn(double sequences) const;
    Point host_turn(Parameter time) const;
    StepCost cost_of(const Point& whole, const Point& alone, std::int64_t rows, double prompt_tokens) const;

    StepRunner runner_; ///< prices steps between which others lie, also those that no cache holds
    std::shared_ptr<const Machine> machine_;
    Parallelism parallelism_;
    std::int64_t middle_;
    Capture capture_;
    double longer_ = 1;   ///< steps, by what the user measured: GivenWaits::later
    double launches_ = 0; ///< kernels of a pass with a prompt
    Point turn_;          ///< of the host between two steps, for each sequence
    Point step_turn_;     ///< and for all
    StepCost new_length_; ///< Parameter::length_compile
    double hidden_ = 0;   ///< width of the residual stream; 0: the model does not say
    Table decode_{kCounts}, mixed_{kCounts}, prompt_{kLengths}, several_{kLengths};
    mutable std::mutex filling_;              ///< a step that is estimated, and the members below
    std::map<std::int64_t, Table> verifying_; ///< decode_ for more than one token of a sequence
    std::string problem_;
    BatchCounts counted_;                          ///< memory for estimates, and the widths of the machine
    std::vector<std::pair<double, double>> cache_; ///< positions and bytes over all devices, ascending
};

} // namespace archsim
