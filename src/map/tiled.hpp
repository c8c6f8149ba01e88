#pragma once
// Interfaces beside Mapper: how mappers tile products, and other ways to lay a network out.

#include "archsim/extend/mapper.hpp"
#include "map/tiling.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace archsim {

// Mappers that look up what they need of a machine and a network once, not for every subgraph.

/// A mapper that counts many subgraphs of one network at once.
class NetworkMapper : public Mapper {
  public:
    /// The counts of `which` subgraphs, each into an empty mapping of `out`, as map() makes them.
    virtual void map_each(std::span<const std::uint32_t> which, const NetworkWork& network,
                          const Machine& machine, std::span<Mapping> out) const = 0;
};

/// One that counts by a `View`, made of a machine and a network.
template <class View>
class ViewMapper : public NetworkMapper {
  public:
    void map(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
             Mapping& out) const final {
        count(View(machine, network), work, out);
    }
    void map_each(std::span<const std::uint32_t> which, const NetworkWork& network, const Machine& machine,
                  std::span<Mapping> out) const final {
        const View view(machine, network);
        for (std::size_t i = 0; i < which.size(); ++i)
            count(view, network.subgraphs[which[i]], out[i]);
    }

  protected:
    virtual void count(const View& view, const SubgraphWork& work, Mapping& out) const = 0;
};

/// Implemented besides Mapper by those that tile products: the schedule of a subgraph's largest one.
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

/// Implemented besides Mapper where a compiler may lay the same network out otherwise: in parts in turn
/// although it fits as a whole. A network runs in the fastest way.
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
