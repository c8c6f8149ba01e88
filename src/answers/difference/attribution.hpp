#pragma once
// Why two estimates differ: the whole difference, split over named causes.
//
// The estimate of each device is written as a function of factors (peak rate, share of it that is reached,
// memory bandwidth, bytes moved, fixed costs, ...). Replacing one factor of A by that of B, averaged over all
// orders in which the factors can be replaced (Shapley values), gives each factor's part. The parts add up to
// the difference; A against B is minus B against A; a factor that is equal on both gets nothing.

#include "archsim/compare/metric.hpp"
#include "archsim/core/provenance.hpp"
#include "archsim/extend/renderer.hpp"
#include "result/common_regions.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

enum class Factor : std::uint8_t {
    // time
    peak,            ///< operations per second of the engines at the precision that runs
    achieved,        ///< share of that peak: tile and wave quantisation, array fill, allocation, vector work
    on_chip,         ///< time that on-chip data paths need
    bandwidth,       ///< bytes per second of external memory
    bandwidth_share, ///< share of that which the access patterns reach
    memory_bytes,    ///< bytes to and from external memory: on-chip capacity, fusion, storage width
    overlap,         ///< how much of compute, on-chip and memory time runs at once
    fixed_cost,      ///< per kernel, layer and inference
    host,            ///< operators and transfers on the host
    power_limit,     ///< clock lowered to fit the limit
    concurrency,     ///< time between finished items over latency: streams, cores, pipelining
    work,            ///< useful operations of the network: differ between models, batches and sizes
    kernels,         ///< kernels and layers started: fusion, added and removed blocks
    placement, ///< room on the chip that other, changed blocks leave: what these same kernels cost there
    // energy
    operations,       ///< arithmetic operations executed
    operation_energy, ///< joules per operation
    control,          ///< instructions, scheduling, coherence, tokens, configuration
    near_bytes,       ///< bytes in registers, accumulators and the nearest memory
    near_energy,      ///< joules per such byte
    far_bytes,        ///< bytes in shared on-chip memory
    far_energy,       ///< joules per such byte
    fabric_bytes,     ///< bytes between processing elements, into arrays, through streamers and routing
    fabric_energy,    ///< joules per such byte
    memory_energy,    ///< joules per byte of external memory
    static_power,     ///< watts that flow without work
    time,             ///< seconds that static power flows, or that energy is spread over
    // memory
    weights,
    activations,
    kv_cache,
    workspace,
    // cost
    device_price, ///< money per second of device time
    electricity,  ///< money per inference
    // energy, where it is asked for at the board or at the wall
    surroundings, ///< watts of what lies around the chip
    count_
};
inline constexpr std::size_t kFactorCount = static_cast<std::size_t>(Factor::count_);

struct FactorInfo {
    std::string_view name;  ///< JSON key: "bandwidth"
    std::string_view title; ///< "memory bandwidth"
    std::string_view unit;  ///< SI unit of its input: "B/s"; "1" for shares
};
const FactorInfo& info_of(Factor factor);

/// A fact of the database that an input was computed from.
struct FactorSource {
    std::string name;
    Fact fact;
    std::string_view unit = {}; ///< of the fact: "J", "W", "B", "s", "Hz", "1"; empty: the name says it
};

/// A factor's value on one device, over the whole network.
struct FactorInput {
    double value = 0; ///< in FactorInfo::unit
    std::vector<FactorSource> sources;
};

/// The part of a difference that one factor makes.
struct Contribution {
    Factor factor{};
    double value = 0; ///< part of a - b, in the metric's unit
    FactorInput a, b;
};

/// The part of a difference that one region makes.
struct RegionContribution {
    std::optional<std::size_t> region; ///< into Attribution::regions; absent: costs of the whole network
    double value = 0;                  ///< part of a - b
    Factor main{};                     ///< factor with the largest part in this region
    double main_value = 0;
    Bound a_bound = Bound::compute, b_bound = Bound::compute;
};

/// A difference taken apart: the contributions sum to it.
struct Attribution {
    const Metric* metric = nullptr;
    double a_value = 0, b_value = 0;
    double difference = 0; ///< a - b
    /// Largest first; factors whose part is zero are left out. Their values add up to `difference`.
    std::vector<Contribution> contributions;
    std::vector<CommonRegion> regions;
    /// Largest first; they add up to `difference`. Empty for memory, power and cost, which are of the whole
    /// network.
    std::vector<RegionContribution> region_contributions;
    /// The rest between the factored model and the two estimates: rounding only.
    double residual = 0;
};

/// Both results must be estimates of one model at the same sizes, with their subgraphs. `metric` is one
/// that has_causes. Absent when one of them has no value.
std::optional<Attribution> attribute(const Result& a, const Result& b, const Metric& metric,
                                     const CostOptions& cost = {});

/// "+1.9 ms", "-3 mJ".
std::string signed_value(const Metric& metric, double value);
/// The bar of a part on a scale of the largest: parts that cancel are no shares of what they come to.
Column bar_column();
Cell bar_cell(double value, double largest);
/// One of the two that are told apart: its column of inputs.
struct AttributedSide {
    std::string label;
    const char* key;
    bool minuend; ///< `a` of the attribution
};
/// A row for each cause, and their sum; parts below `folded` of the largest are one row.
Table contribution_table(const Attribution& attribution, std::string title,
                         const std::array<AttributedSide, 2>& sides, double folded);
inline constexpr double kSmallPart = 0.01;
/// From the value of `b` to that of `a`, one step per cause, which `hover` explains.
Chart contribution_chart(const Attribution& attribution, const std::string& a, const std::string& b,
                         const std::function<std::string(const Contribution&)>& hover);
/// The main cause of a difference: a quantity and its price are first netted (bytes and bandwidth, operations
/// and joules of each), so that two parts which cancel are no cause; then the larger of the two. Nothing
/// where there is no difference.
std::optional<Factor> main_factor(const std::array<double, kFactorCount>& parts);
/// The contribution of that; null where none speaks for the sign of the difference.
const Contribution* main_cause(const Attribution& attribution);
/// A factor on each device: "an inference occupies GPU for 0.8 ms, TPU for 0.3 ms".
std::string cause_text(const Contribution& contribution, const std::string& a, const std::string& b);
/// One sentence on a contribution, with both inputs and what it does to the difference.
std::string contribution_sentence(const Contribution& contribution, const Metric& metric,
                                  const std::string& a, const std::string& b);
/// The largest contributions of regions that together carry `share` of the difference, in its direction.
std::vector<const RegionContribution*> carrying(const Attribution& attribution, double share);

} // namespace archsim
