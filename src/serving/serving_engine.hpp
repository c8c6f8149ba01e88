#pragma once
// One engine: its queue, the sequences it runs, the blocks they hold. Continuous batching (Yu et al., Orca,
// OSDI 2022) with prompts in chunks beside the generating sequences (Agrawal et al., Sarathi-Serve, OSDI
// 2024) over a cache in blocks (Kwon et al., SOSP 2023). Where requests are begun before their whole answer
// has room (Admission), blocks are given out as sequences grow, and one that gives way is computed again.

#include "archsim/serving/simulation.hpp"
#include "serving/generating.hpp"
#include "serving/prefix_cache.hpp"
#include "serving/random.hpp"

#include <array>
#include <deque>
#include <limits>
#include <unordered_set>

namespace archsim {

/// Percentiles of values in any order, by the nearest rank; zeros without values.
Percentiles percentiles_of(std::vector<double> values);

} // namespace archsim

namespace archsim::serving {

enum class EngineRole : std::uint8_t { both, prompts, answers };

class Engine {
  public:
    Engine(const EngineLimits& limits, EngineRole role, StepPrices& prices, std::uint64_t seed)
        : limits_(limits), role_(role), prices_(&prices), random_(seed), generating_(limits.drafted > 0) {
        members_.assign(static_cast<std::size_t>(limits.groups), 0);
        limits_.sequences *= limits.groups;
        limits_.step_tokens *= limits.groups;
        grows_ = role != EngineRole::prompts &&
                 (limits.admission == Admission::prompt || limits.admission == Admission::expected);
        const auto block = static_cast<double>(limits.block_tokens);
        // A first block may hold states that never grow.
        block_bytes_ = grows_ ? prices.cache_bytes(2 * block) - prices.cache_bytes(block) : 0;
        expected_share_ = limits.expected.first;
    }

    /// Cache of a request's prompt that an engine for answers takes over.
    double handed_over_bytes(const ServedRequest& r) const { return bytes_for(r, 0); }
    bool can_ever_hold(const ServedRequest& r) const;
    void enqueue(std::size_t request, const ServedRequest& r, double now);
    /// Tokens that stand before a new request, and until when that holds where nothing comes or goes.
    struct WorkAhead {
        double tokens = 0, until_s = 0;
    };
    WorkAhead work_ahead(double now) const;
    /// When catch_up() has a step to end; infinite where the present step is the last of its run.
    double next_to_catch_up() const {
        return run_at_ + 1 < run_steps_ ? run_ends_[run_at_] : std::numeric_limits<double>::infinity();
    }
    bool stepping() const { return stepping_; }

    /// Admits what fits and prices the next step; false when there is nothing to do.
    bool begin_step(double now, std::vector<ServedRequest>& requests, StepCost& cost);
    /// When the last step ends of a run: the one that has begun, and where they may be `several` those behind
    /// it that are alike as long as nobody comes.
    double run_till(double step_ends, bool several);
    /// Ends the steps of the run before the one at `now`, and begins the next: use(cost) for each.
    /// Returns the tokens emitted.
    template <class Use>
    std::int64_t catch_up(double now, const Use& use) {
        const std::size_t first = run_at_;
        for (; run_at_ + 1 < run_steps_ && run_ends_[run_at_] < now; ++run_at_) {
            age();
            (void)seen_till(run_ends_[run_at_]);
            began_s_ = run_ends_[run_at_];
            use(coast());
        }
        return run_at_ > first ? go_on(static_cast<std::int64_t>(run_at_ - first)) : 0;
    }
    /// Ends the run with its present step where somebody comes for whom it cannot go on; when that ends.
    std::optional<double> cut_run();
    /// Ends the step. Requests that ended, or whose prompt is done on an engine for prompts, are
    /// appended to `finished`, those with a first token to `begun`. Returns the tokens emitted.
    std::int64_t end_step(std::vector<ServedRequest>& requests, std::vector<std::size_t>& begun,
                          std::vector<std::size_t>& finished);

    std::size_t waiting() const { return queue_.size(); }
    std::size_t running() const { return reading_.size() + generating_.size(); }
    double peak_bytes() const { return peak_bytes_; }
    double last_waste() const { return waste_; }
    std::int64_t last_generating() const { return generated_; }
    /// Sequences of the last step.
    std::span<const StepRequest> last_step();
    /// Takes a request in that has emitted so many tokens of its answer elsewhere; false when it has no room.
    bool resume(std::size_t request, const ServedRequest& r, std::int64_t emitted);
    std::int64_t preempted() const { return preempted_; }
    std::int64_t recomputed() const { return recomputed_; }

  private:
    std::int64_t blocks(std::int64_t positions) const;
    /// Prompt tokens that must be processed, of a prompt whose first blocks are held; the last one always, it
    /// gives the first logits.
    std::int64_t computed_prompt(const ServedRequest& r, std::size_t held) const;
    /// Whole blocks of a prompt that a later one can start from, in positions.
    std::int64_t kept_positions(const ServedRequest& r) const;
    /// Blocks of a request's prompt that may be kept for later ones: those of a trace, else the prompt as
    /// one.
    std::size_t kept_blocks(const ServedRequest& r) const;
    /// Where so many of them end, in positions.
    std::int64_t end_of(const ServedRequest& r, std::size_t held) const;
    /// Those of them, from the first, that are held.
    std::size_t held_blocks(const ServedRequest& r) const;
    void release(const ServedRequest& r, std::size_t held);
    /// Bytes of its own that a request needs until its end.
    double bytes_for(const ServedRequest& r, std::size_t held) const;
    bool make_room(double bytes);
    /// Bytes of its own of a sequence that has so many positions.
    double own_bytes(const Sequence& s, std::int64_t positions) const;
    /// Bytes that are given to a request when it begins.
    double bytes_at_start(const ServedRequest& r, const Sequence& s) const;
    /// Bytes that Admission::expected sees in the rest of the answers of those that run, and of one more.
    double expected_rest(const Sequence& s) const;
    /// Steps that all who generate can surely make in the room that is left.
    std::int64_t steps_in_room() const;
    /// Gives all who generate the blocks of their next token; those without room give way.
    void grow(std::vector<ServedRequest>& requests);
    void preempt(std::vector<ServedRequest>& requests);
    void keep_prompt(Sequence& s, const ServedRequest& r);
    struct Waiting {
        std::size_t request = 0;
        double since_s = 0;
        std::size_t group = 0;
        bool again = false; ///< it gave way to others
    };
    std::size_t join();
    /// Whether every group has a prompt that waits, of those that are seen.
    bool all_groups_wait(double seen_s) const;
    double seen_till(double now);
    bool admits_now(const std::vector<ServedRequest>& requests, double seen_s, std::int64_t budget);
    void admit(std::vector<ServedRequest>& requests, double seen_s, std::int64_t& budget);
    void count_load();
    void count_waste();
    StepCost price();
    StepCost coast();
    void price_ahead();
    std::int64_t go_on(std::int64_t steps);
    void age();
    void finish(const Sequence& s, std::vector<ServedRequest>& requests, std::vector<std::size_t>& finished);
    std::int64_t read(std::vector<ServedRequest>& requests, std::vector<std::size_t>& begun,
                      std::vector<std::size_t>& finished);
    std::int64_t accepted_tokens();

    EngineLimits limits_;
    EngineRole role_;
    StepPrices* prices_;
    RandomStream random_;
    std::deque<Waiting> queue_;
    std::vector<std::int64_t> members_; ///< requests of each group, from their arrival to their end
    std::int64_t queued_tokens_ = 0;    ///< of prompts and answers that wait: thousands, when a rate is tried
    std::vector<Sequence> reading_;     ///< whose prompt is not done, first come first
    Generating generating_;             ///< the others: they came before
    std::vector<Sequence> ended_;       ///< in a step
    PrefixCache prefixes_;
    std::unordered_set<std::int64_t> lengths_; ///< prompt tokens that steps had, where StepPrices::new_length
    StepLoad load_;
    std::vector<StepRequest> held_; ///< in the step, for who looks
    std::int64_t generated_ = 0;    ///< sequences of it behind their prompt
    /// Steps can still follow in which every sequence emits a token and nobody comes or goes.
    std::int64_t coasts_ = 0;
    /// Those of them whose prices are at hand; `load_` is that of the last one.
    std::array<StepCost, 16> ahead_costs_;
    std::size_t ahead_at_ = ahead_costs_.size();
    std::array<double, 17> run_ends_; ///< when steps of the present run end: one, and those of ahead_costs_
    std::size_t run_at_ = 0, run_steps_ = 0; ///< the present step of it, and how many it has
    bool blocked_ = false; ///< the head of the queue found no room in the last step that was counted anew
    bool prompts_alone_ = false;        ///< in this step nobody generates
    std::int64_t given_ = 0, used_ = 0; ///< positions that sequences were given, and have in the step
    std::int64_t to_do_ = 0;            ///< tokens of prompts and answers that the running ones still need,
    std::int64_t added_ = 0;            ///< but of those that came since the last step ended
    double used_bytes_ = 0, peak_bytes_ = 0, ahead_ = 0, waste_ = 0;
    bool grows_ = false;        ///< blocks are given out as sequences grow: what is used is that of
    std::int64_t ungrown_ = 0;  ///< so many steps ago, and of those that came since
    double block_bytes_ = 0;    ///< of one more block of a sequence, at most
    double expected_share_ = 0; ///< ExpectedAnswers, as it is now
    std::int64_t rest_ = 0;     ///< tokens of answers that the running ones still need
    std::int64_t preempted_ = 0, recomputed_ = 0;
    double began_s_ = 0;      ///< the last step
    double looked_s_ = 0;     ///< what has arrived until then is seen
    std::int64_t unseen_ = 0; ///< steps without prompts since then
    std::int64_t waited_ = 0; ///< steps that the prompts at the head of the queue have waited for others
    bool stepping_ = false;
};

} // namespace archsim::serving
