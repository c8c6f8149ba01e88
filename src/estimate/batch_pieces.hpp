#pragma once
// Whether a compiler runs a batch whole or in pieces.
//
// Where the activations of a batch leave a memory that software manages, those of a part of it may not:
// running the first layers, whose activations are large, for one part after another and the rest, whose
// weights are large, for the whole batch saves traffic. Schedules are nested cuts: at each batch size the
// subgraphs before the cut run as at a size smaller by a prime, once per part; those behind it run the whole.
// What crosses the cut is written to memory and read back. A batch that fits may still cost more than its
// halves in sequence (weights give way to its activations, rows fill no block), so that every batch is asked.
// Processors with caches run their batch whole, as their libraries do: measured GPUs slow down where the
// batch leaves the L2.

#include "estimate/intervals.hpp"
#include "estimate/price.hpp"
#include "estimate/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

struct Scheduled {
    BatchSchedule schedule;
    EventCounts events;
    ScheduleCosts costs;
};

/// Additive parts of time and energy, so that schedules can be summed subgraph by subgraph.
struct ScheduleCost {
    double body = 0, weights = 0, overhead = 0, dynamic_j = 0;
    ScheduleCost& operator+=(const ScheduleCost& o) {
        body += o.body;
        weights += o.weights;
        overhead += o.overhead;
        dynamic_j += o.dynamic_j;
        return *this;
    }
    friend ScheduleCost operator*(double f, const ScheduleCost& c) {
        return {f * c.body, f * c.weights, f * c.overhead, f * c.dynamic_j};
    }
    friend ScheduleCost operator-(ScheduleCost a, const ScheduleCost& b) { return a += -1 * b; }
};

/// Values that are made, left and made again, as one point of a sweep follows another: the memory of one is
/// that of the next, warm in the processor's caches. One thread's.
template <class T>
class Reused {
  public:
    /// One that was left, in the state it was left in, or a new one.
    std::unique_ptr<T> take() {
        if (left_.empty())
            return std::make_unique<T>();
        std::unique_ptr<T> value = std::move(left_.back());
        left_.pop_back();
        return value;
    }
    void leave(std::unique_ptr<T> value) { left_.push_back(std::move(value)); }

  private:
    std::vector<std::unique_ptr<T>> left_;
};

/// The schedule of a smaller batch as often as the larger batch has it, and what came of that: prices decide
/// where the cut is, and nothing else, so that each cut is made once.
struct BatchInPieces {
    static constexpr auto kIdle = UINT32_MAX;
    Scheduled* piece = nullptr;
    double count = 1; ///< pieces of the larger batch
    std::vector<std::uint32_t>
        which;                       ///< per subgraph of it, into the mappings of the piece; kIdle: not there
    bool alike = true;               ///< subgraph by subgraph as the whole batch
    NetworkMapping network;          ///< of all pieces
    std::vector<ScheduleCost> costs; ///< memory for those of the subgraphs
    std::vector<std::pair<std::size_t, std::unique_ptr<Scheduled>>> by_cut;
    Reused<Scheduled> cuts; ///< memory for more of them

    /// Nothing came of it yet.
    void restart();
};

/// A network at one batch on one machine.
struct BatchLevel {
    std::shared_ptr<const NetworkWork> owner; ///< null: the work of the caller
    const NetworkWork* work = nullptr;
    Scheduled whole;                  ///< undivided, without repetition
    std::vector<BatchLevel*> smaller; ///< what it may be cut into, by each prime; none: it runs whole
    std::vector<std::unique_ptr<BatchInPieces>> in_pieces;
    Scheduled* at_full_clock = nullptr; ///< one of the above; null: not asked for yet
    /// The machine's lack for it: one sentence, empty where nothing; not asked for yet. Which rates there are
    /// is of the machine's structure, as the counts are.
    std::optional<std::string> missing;
    Reused<BatchInPieces> pieces;    ///< memory for more of them
    std::vector<ScheduleCost> costs; ///< memory for those of the subgraphs, undivided

    /// No batch was cut yet.
    void forget_cuts();
    /// For another network.
    void restart();
};

/// Counts and schedules that estimates on one machine share, of works that still exist: a larger batch finds
/// here the smaller ones that it may be cut into. One thread's.
class BatchCounts {
  public:
    /// Maps the network at the batch of `work`, and at the smaller batches that it may be cut into. What was
    /// mapped before is found again.
    BatchLevel& of(const NetworkWork& work, const Machine& machine, const EstimateOptions& options);
    /// Those of the same machine when one batch has it for itself; made on first use.
    BatchCounts& alone();
    /// Those of the same machine with networks in another arrangement (KnowsArrangements); made on first use.
    BatchCounts& arranged(const Mapper& arrangement);
    /// From now on the machine has other rates, prices or limits, on which its counts do not depend: what was
    /// mapped stays, and where batches are cut is decided anew.
    void machine_changed();
    /// The works that were mapped are not asked for again.
    void forget_works();
    /// From now on of another machine.
    void restart();
    KnownWidths& widths() { return widths_; }

  private:
    /// Maps the network at the batches that `level`, so many `parts` of the batch asked for, is a multiple
    /// of.
    void divide(BatchLevel& level, std::size_t parts, const Machine& machine, const EstimateOptions& options);
    BatchLevel* find(const NetworkWork& work) const;
    BatchLevel& add(std::shared_ptr<const NetworkWork> owner, const NetworkWork& work,
                    const Machine& machine);

    std::vector<std::unique_ptr<BatchLevel>> levels_;
    Reused<BatchLevel> left_;
    /// Calls it with every one that was made of these.
    template <class Use>
    void for_each_other(Use use) const {
        if (alone_)
            use(*alone_);
        for (const auto& [arrangement, other] : arranged_)
            use(*other);
    }

    std::unique_ptr<BatchCounts> alone_;
    std::vector<std::pair<const Mapper*, std::unique_ptr<BatchCounts>>> arranged_;
    KnownWidths widths_;
};

/// The fastest schedule at this clock whose energy times time per item is no more than the next smaller
/// batch's, so that neither throughput falls nor that product rises when a batch doubles: a schedule that is
/// faster may move more bytes, but not for nothing. The fixed time of an inference is paid once. Worked: 8
/// images with 1.5 MB of live activations each, 8 MB of buffer: two pieces of 4 images up to the layer that
/// halves them, from there on all 8. Lives as long as the counts.
Scheduled& schedule_at(BatchLevel& level, const Machine& machine, double clock_ratio);

/// estimate() with what earlier estimates on the same machine left in `counted`.
Estimate estimate(const NetworkWork& work, const Machine& machine, const EstimateOptions& options,
                  BatchCounts& counted);

} // namespace archsim
