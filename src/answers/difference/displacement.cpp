// The same layer on the same device costs another time where the rest of the network takes the room that it
// had on the chip: weights that stayed are loaded for every inference, a pipeline of the whole network
// becomes contexts in turn, activations move to memory. Nothing of the layer itself changed, so that its
// work, bytes and fixed costs are no causes; the blocks that displace it are.

#include "answers/difference/factor_terms.hpp"

#include <array>

namespace archsim {

namespace {

/// Amounts that where a kernel's data lie decides.
constexpr std::array kPlaced = {Factor::achieved,     Factor::on_chip,    Factor::bandwidth_share,
                                Factor::memory_bytes, Factor::overlap,    Factor::fixed_cost,
                                Factor::host,         Factor::operations, Factor::control,
                                Factor::near_bytes,   Factor::far_bytes,  Factor::fabric_bytes};

} // namespace

void attribute_displacement(const Sides& sides, PartSums& sums) {
    for (std::size_t region = 0; region < sides.displaced.size(); ++region)
        if (sides.displaced[region])
            for (const Factor factor : kPlaced)
                sums.move(region, factor, Factor::placement);
}

} // namespace archsim
