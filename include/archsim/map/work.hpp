#pragma once
// The work that a mapper sees: a fused subgraph with its bytes at the precision that runs.

#include "archsim/core/precision.hpp"
#include "archsim/ops/shaped_graph.hpp"
#include "archsim/partition/partition.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// One operator of a subgraph that has run-time work.
struct OperatorUse {
    const Operator* op = nullptr;
    Precision compute = Precision::fp32; ///< format of its arithmetic
    bool anchor = false;
    bool supported = true; ///< false: the runtime's fallback executes it
    /// For one that is not: the accelerator stops for it, its operands come from there, its results go back.
    bool switches = true, fetches = true, returns = true;
    double read_bytes = 0; ///< activations, unfused boundary
    double written_bytes = 0;
    double weight_bytes = 0;
    double output_elements = 0;
    double input_elements = 0;
};

/// The operations and bytes of one fused subgraph, at the formats that run.
struct SubgraphWork {
    std::string_view name;
    std::uint32_t index = 0;
    OpKind kind = OpKind::free;
    double repeat = 1;
    Precision precision = Precision::fp32;  ///< arithmetic of the anchor
    std::span<const OperatorUse> operators; ///< topological order, work only; in NetworkWork::uses
    const OperatorWork* anchor = nullptr;
    // Boundary traffic of the fused subgraph, in bytes.
    double input_bytes = 0; ///< main activation input
    double extra_bytes = 0; ///< residuals and other activation inputs
    double output_bytes = 0;
    double weight_bytes = 0;    ///< constants at their packed size
    double kv_bytes = 0;        ///< part of input/extra that is attention cache
    double given_bytes = 0;     ///< part of input/extra that is inputs of the network, but for caches
    double unfused_bytes = 0;   ///< what the same operators would move one by one
    double link_bytes = 0;      ///< sent by this chip to the others to sum or gather results
    double relaid_elements = 0; ///< elements that change between blocked and plain layout (Subgraph::relaid)
    double gathered_elements = 0; ///< of scattered operands that are copied together (Subgraph::gathered)
    double gathered_tensors = 0;
    double collectives = 0;       ///< all-reduces and all-gathers behind link_bytes
    double narrowed_elements = 0; ///< of fp32 tensors that automatic mixed precision narrows for products
    double narrowed_tensors = 0;  ///< how many, each by a kernel of its own
    // Work by class over all members.
    double macs = 0, vector_ops = 0, special_ops = 0;
    /// Bytes of activations in and out.
    double activation_bytes() const { return input_bytes + extra_bytes + output_bytes; }
    /// Operations of all classes; 1 MAC = 2.
    double operations() const { return 2 * macs + vector_ops + special_ops; }
};

/// Counts that replace the graph's own: one chip's part of a network spread over several.
struct DerivedCounts {
    std::vector<Operator> operators;   ///< as in the graph, with their own work
    std::vector<double> tensor_share;  ///< part of each tensor that lies on this chip
    std::vector<double> link_elements; ///< per operator: elements that this chip sends
    std::vector<double> collectives;   ///< per operator
};

/// Memory of one inference by liveness over the schedule: activations over the steps of the schedule.
struct MemoryPlan {
    std::vector<double> timeline; ///< live activation bytes at each subgraph
    std::vector<double> crossing; ///< bytes made before each subgraph and read by it or later
    double peak_live_bytes = 0;   ///< lower bound of any arena
    double arena_bytes = 0;       ///< greedy by size, best fit (Pisarchyk & Lee 2020, algorithm 3)
    double kv_cache_bytes = 0;    ///< keys and values carried between steps, outside the arena
    std::uint32_t peak_step = 0;
    std::vector<TensorId> peak_tensors;    ///< alive at the peak, largest first
    std::vector<double> peak_tensor_bytes; ///< of each of them
};

struct SubgraphClasses;

/// The operations and bytes of a network: the same for every device that fuses and computes alike.
struct NetworkWork {
    const ShapedGraph* graph = nullptr;
    const Partition* partition = nullptr;
    PrecisionConfig precision;
    std::vector<SubgraphWork> subgraphs;
    /// The storage of the operators of `subgraphs`, one behind the other.
    std::shared_ptr<const std::vector<OperatorUse>> uses;
    /// For each subgraph the first one of its equivalence class: the same in everything but name and place;
    /// empty where that was not looked for. A class is mapped and priced once.
    std::vector<std::uint32_t> representatives;
    /// Coarser classes, for mappers that look at less; null where they were not looked for.
    std::shared_ptr<const SubgraphClasses> classes;
    NetworkKind kind = NetworkKind::convolution;
    double batch = 1;
    double weight_bytes = 0;                  ///< every weight once
    double table_bytes = 0;                   ///< of these, of tables that rows are looked up in alone
    double largest_activation_bytes = 0;      ///< largest input + output of one subgraph
    double input_bytes = 0, output_bytes = 0; ///< of the whole network
    double macs = 0, operations = 0;
    MemoryPlan memory; ///< the same for every device that fuses alike
    std::shared_ptr<const DerivedCounts>
        derived; ///< what `subgraphs` point into instead of the graph; may be null
};

/// Bytes and formats of every subgraph. `places` are those of the operators (see place_operators; empty: all
/// stay on the accelerator); `derived` replaces the graph's own counts: then all counts are those of one
/// chip, the busiest.
ARCHSIM_API NetworkWork make_network_work(const ShapedGraph& graph, const Partition& partition,
                                          const PrecisionConfig& precision,
                                          std::span<const std::uint8_t> places = {},
                                          std::shared_ptr<const DerivedCounts> derived = nullptr);

} // namespace archsim
