#pragma once
// What mappers may implement besides Mapper: how they tile products, and other ways to lay a network out.

#include "archsim/extend/mapper.hpp"
#include "map/tiling.hpp"

#include <memory>
#include <optional>
#include <span>

namespace archsim {

/// What a mapper implements besides Mapper when it tiles products: the schedule of a subgraph's largest one.
class KnowsTiling {
  public:
    struct Tiled {
        tiling::Nest nest;
        tiling::Limits limits;
        tiling::Tiling tiling;
        bool on_chip = false; ///< inputs and results stay on the chip, so that orders change nothing
    };
    virtual std::optional<Tiled> tiling_of(const SubgraphWork& work, const NetworkWork& network,
                                           const Machine& machine) const = 0;

  protected:
    KnowsTiling() = default;
    KnowsTiling(const KnowsTiling&) = default;
    KnowsTiling& operator=(const KnowsTiling&) = default;
    ~KnowsTiling() = default;
};

/// What a mapper implements besides Mapper when a compiler may lay the same network out otherwise: in parts
/// in turn although it fits as a whole. A network runs in the fastest way.
class KnowsArrangements {
  public:
    /// Mappers that count the network in the other ways that are open to it on this machine. They live as
    /// long as the program.
    virtual std::span<const std::shared_ptr<const Mapper>>
    other_arrangements(const NetworkWork& network, const Machine& machine) const = 0;

  protected:
    KnowsArrangements() = default;
    KnowsArrangements(const KnowsArrangements&) = default;
    KnowsArrangements& operator=(const KnowsArrangements&) = default;
    ~KnowsArrangements() = default;
};

} // namespace archsim
