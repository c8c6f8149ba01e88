#pragma once
// Where a batch that runs in pieces goes over to running whole, and the schedule of both parts.

#include "estimate/batch_pieces.hpp"

#include <cstddef>
#include <limits>
#include <vector>

namespace archsim {

/// Multiplies every count.
void scale(Mapping& mapping, double factor);

/// Chooses the cut between the pieces of one batch size and the whole of the next larger one.
class Joiner {
    using Cost = ScheduleCost;

  public:
    /// All of them outlive it; what `larger` and `in_pieces` cost is kept with them.
    Joiner(const ClockedMachine& clocked, BatchLevel& larger, BatchInPieces& in_pieces);

    /// Number of subgraphs that run in pieces, and the seconds that that takes, the traffic over the cut
    /// counted. Without `inner` cuts, all or none.
    std::pair<std::size_t, double> cut(bool inner) const;

    /// Pieces up to the cut, where there is at least one subgraph, and the whole batch behind it.
    void join(std::size_t cut, BatchSchedule& out) const;

  private:
    static Cost cost(const LaneTimes& times, double joules);
    Cost cost_of(const Mapping& mapping, std::size_t index) const;
    Cost fixed_cost(const NetworkMapping& network) const;
    const std::vector<Cost>& costs_whole(BatchLevel& larger);
    const std::vector<Cost>& costs_in_pieces(BatchInPieces& in_pieces);
    double seconds(const Cost& c) const;
    double joules(const Cost& c) const { return c.dynamic_j + static_w_ * seconds(c); }
    bool can_cross(std::size_t at) const;
    Mapping every_piece(std::size_t index) const;
    Mapping with_crossing(Mapping mapping, std::size_t at, std::size_t index) const;
    Cost crossing_cost(std::size_t at) const;
    Mapping last_before(std::size_t at) const;
    Mapping first_behind(std::size_t at) const;
    void all_in_pieces(BatchSchedule& out) const;

    const Machine& machine_;
    const double static_w_;
    const double clock_ratio_;
    const EventPrices& prices_;
    const bool prefetch_;
    const std::vector<double>& crossing_; ///< bytes over each cut
    const BatchInPieces& pieces_;
    const BatchSchedule& piece_;
    const BatchSchedule& whole_;
    const std::vector<Cost>&before_, &behind_; ///< of every subgraph, in pieces and whole
    Resource outside_ = Resource::count_;
    double dynamic_w_ =
        std::numeric_limits<double>::infinity(); ///< what the limit leaves beside static power
};

} // namespace archsim
