#pragma once
// Mappers count; shared formulas price. A mapper turns a subgraph and a machine into demands on resources,
// energy events and an allocation. It multiplies by no clock, no bandwidth and no picojoule.

#include "archsim/core/export.hpp"
#include "archsim/hardware/events.hpp"
#include "archsim/map/machine.hpp"
#include "archsim/map/work.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace archsim {

/// Demands in one lane add up (they are serial); lanes overlap as the stack's combine exponent says; overhead
/// is always added.
enum class Lane : std::uint8_t { compute, on_chip, memory, overhead };
inline constexpr std::size_t kLaneCount = 4;

/// An amount of one resource that a subgraph needs.
struct Demand {
    double amount = 0;                    ///< cycles, bytes or seconds
    double efficiency = 1;                ///< share of the rate that is reached, in (0, 1.6]
    Parameter reason = Parameter::count_; ///< parameter the efficiency or amount comes from; count_ = none
    Resource resource = Resource::seconds;
    Lane lane = Lane::overhead;
};

/// How a subgraph sits on the machine, for people: "54 of 108 SMs, 0.5 waves, tile 128x64".
struct Allocation {
    double units_used = 0, units_total = 0; ///< SMs, cores, tiles, arrays
    double waves = 0;
    std::uint16_t tile_m = 0, tile_n = 0, tile_k = 0;
    double useful_fraction = 1; ///< useful / padded work
    const char* scheme = ""; ///< "implicit GEMM", "Winograd F(4x4)", "weight-stationary", "host fallback"...
};

/// Counts of one subgraph. At most kMaxDemands demands; fixed storage keeps the hot path free of allocation.
struct Mapping {
    static constexpr std::size_t kMaxDemands = 20;
    std::array<Demand, kMaxDemands> demands{};
    std::size_t demand_count = 0;
    EventCounts events;
    Allocation allocation;
    double ideal_cycles = 0;    ///< matrix or vector cycles with every unit busy, for utilisation
    double workspace_bytes = 0; ///< scratch memory of the algorithm beside inputs, weights and outputs

    /// Adds a demand; nothing for amounts that are not positive. Throws std::length_error beyond kMaxDemands.
    void add(Resource r, Lane lane, double amount, double efficiency = 1,
             Parameter reason = Parameter::count_) {
        if (amount <= 0)
            return;
        if (demand_count == kMaxDemands)
            throw std::length_error("a mapper states more demands of one subgraph than Mapping holds");
        demands[demand_count++] = {amount, efficiency, reason, r, lane};
    }
    /// The demands that were added.
    std::span<const Demand> all() const { return {demands.data(), demand_count}; }
};

/// Counts that belong to the whole network: fixed cost per inference, input and output transfer, parallel
/// streams.
struct NetworkMapping {
    Mapping fixed;        ///< demands once per inference (per batch)
    double instances = 1; ///< independent copies running at once in throughput scenario
    /// How sharply instances meet the bound of the DRAM that they share: p of (T^p + T_dram^p)^(1/p).
    double shared_exponent = std::numeric_limits<double>::infinity();
    bool pipelined = false; ///< throughput = 1 / slowest stage, not 1 / sum
    /// The network lies side by side on the units, in so many sections in turn; 0: one subgraph after
    /// another.
    double sections = 0;
    const char* scheme = "";
};

/// Interface of an architecture. Implementations are stateless and thread-safe.
class ARCHSIM_API Mapper {
  public:
    virtual ~Mapper() = default;
    /// Name of the counting model: "weight-stationary".
    virtual std::string_view name() const = 0;
    /// Counts for one subgraph. `out` arrives empty. The library's mappers count the
    /// members of an equivalence class (NetworkWork::representatives) alike, and are asked once for each
    /// class; others are asked for every subgraph.
    virtual void map(const SubgraphWork& work, const NetworkWork& network, const Machine& machine,
                     Mapping& out) const = 0;
    /// Counts once per inference. The default adds Parameter::inference_overhead, and in end-to-end scope
    /// Parameter::host_time and the transfer of inputs and outputs over the host link.
    virtual NetworkMapping map_network(const NetworkWork& network, const Machine& machine) const;
};

/// The one mapper of that class: `.mapper = only_mapper<CgraMapper>` in a family's row.
template <class OwnMapper>
const Mapper& only_mapper() {
    static const OwnMapper mapper;
    return mapper;
}

/// The mapper of a family. Throws InputError for no family.
ARCHSIM_API const Mapper& mapper_for(Family family);

} // namespace archsim
