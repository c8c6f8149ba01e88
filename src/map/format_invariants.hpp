#pragma once
// The common part of the works of one graph and of one partition whatever the formats, found once and kept by
// who asks for many formats.

#include "archsim/map/work.hpp"

namespace archsim {

/// Which operators and tensors of a graph are the same. `derived` as in make_network_work.
struct GraphKinds;
std::shared_ptr<const GraphKinds> find_kinds(const ShapedGraph& graph,
                                             const DerivedCounts* derived = nullptr);

/// Findings about one partition of graphs that differ in sizes alone: plans of its memory by the sizes of its
/// buffers, classes of its subgraphs by the kinds of a graph. Safe to use from several threads.
class PartitionFindings;
std::shared_ptr<const PartitionFindings> no_findings_yet();

/// Equivalence classes of subgraphs, what lies in memory, and plans of it. Safe to use from several threads.
struct FormatInvariants;

/// `kinds` are those of the graph; `known` of the partition, which graphs of other sizes may have too;
/// `derived` as in make_network_work, and as `kinds` were found with.
std::shared_ptr<const FormatInvariants> find_format_invariants(const ShapedGraph& graph,
                                                               const GraphKinds& kinds,
                                                               const Partition& partition,
                                                               std::shared_ptr<const PartitionFindings> known,
                                                               const DerivedCounts* derived = nullptr);

/// make_network_work with the partition's invariants, which were found with the same `derived`.
NetworkWork make_network_work(const ShapedGraph& graph, const Partition& partition,
                              const PrecisionConfig& precision, std::span<const std::uint8_t> places,
                              std::shared_ptr<const DerivedCounts> derived, const FormatInvariants& common);

} // namespace archsim
