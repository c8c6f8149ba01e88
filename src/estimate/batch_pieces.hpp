#pragma once
// Whether a compiler runs a batch whole or in pieces.
//
// Where the activations of a batch leave a memory that software manages, those of a part of it may not:
// running the first layers, whose activations are large, for one part after another and the rest, whose
// weights are large, for the whole batch saves traffic. Schedules are nested cuts: at each batch size the
// subgraphs before the cut run as at the next smaller size, once per part; those behind it run the whole.
// What crosses the cut is written to memory and read back. Processors with caches run their batch whole, as
// their libraries do: measured GPUs slow down where the batch leaves the L2.

#include "estimate/schedule.hpp"

#include <memory>
#include <vector>

namespace archsim {

class BatchScheduler {
  public:
    /// Maps the network at the batch of `work`, and at smaller batches for as long as one of them moves more
    /// bytes than its weights, inputs and outputs.
    BatchScheduler(const NetworkWork& work, const Machine& machine, const EstimateOptions& options);

    /// Of the undivided batch, without repetition.
    const std::vector<Mapping>& whole() const { return levels_.front().mappings; }
    const NetworkMapping& network() const { return levels_.front().network; }
    bool has_pieces() const { return levels_.size() > 1; }

    /// The fastest schedule at this clock that spends no more energy per item than the next smaller batch
    /// does, so that neither throughput falls nor energy per inference rises when a batch doubles. The fixed
    /// time of an inference is paid once. Worked: 8 images with 1.5 MB of live activations each, 8 MB of
    /// buffer: two pieces of 4 images up to the layer that halves them, from there on all 8.
    BatchSchedule at(double clock_ratio) const;

  private:
    struct Level {
        std::shared_ptr<const NetworkWork> owner; ///< null: the work of the caller
        const NetworkWork* work;
        std::vector<Mapping> mappings;
        std::vector<std::uint32_t> which; ///< per subgraph, into `mappings`
        NetworkMapping network;
    };
    Level map(const NetworkWork& work) const;
    static BatchSchedule whole_of(const Level& level);

    const Machine& machine_;
    std::vector<Level> levels_; ///< largest batch first
};

} // namespace archsim
