#pragma once
// Mappers that look up what they need of a machine and a network once, not for every subgraph.

#include "archsim/extend/mapper.hpp"

#include <cstdint>
#include <span>

namespace archsim {

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

} // namespace archsim
