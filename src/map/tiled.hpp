#pragma once
// Mappers that tile products can say how: the schedule of a subgraph's largest product, for people.

#include "archsim/extend/mapper.hpp"
#include "map/tiling.hpp"

#include <optional>

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

} // namespace archsim
