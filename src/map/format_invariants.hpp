#pragma once
// What the works of one partition have in common whatever the formats, found once and kept by who asks for
// many formats.

#include "archsim/map/work.hpp"

namespace archsim {

/// Plans of the memory of one partition, by the sizes of its buffers. Safe to use from several threads.
class MemoryPlans;
std::shared_ptr<const MemoryPlans> no_plans_yet();

/// Equivalence classes of subgraphs, and plans of the memory. Safe to use from several threads.
struct FormatInvariants;

/// `plans` are those of the partition, which graphs of other sizes may have too; `derived` as in
/// make_network_work.
std::shared_ptr<const FormatInvariants> find_format_invariants(const ShapedGraph& graph,
                                                               const Partition& partition,
                                                               std::shared_ptr<const MemoryPlans> plans,
                                                               const DerivedCounts* derived = nullptr);

/// make_network_work with the partition's invariants, which were found with the same `derived`.
NetworkWork make_network_work(const ShapedGraph& graph, const Partition& partition,
                              const PrecisionConfig& precision, std::span<const std::string> unsupported,
                              std::shared_ptr<const DerivedCounts> derived, const FormatInvariants& common);

} // namespace archsim
