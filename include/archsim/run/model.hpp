#pragma once
// A model in memory: imported once, bound to any sizes, its fused subgraphs shared by all devices that fuse
// alike.

#include "archsim/compare/result.hpp"
#include "archsim/core/export.hpp"
#include "archsim/ops/registry.hpp"
#include "archsim/run/catalogue.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

/// An imported model. Immutable and safe to share between threads.
struct Model {
    CatalogueEntry info; ///< for a user's own file: name = stem, no figures
    std::shared_ptr<const Graph> graph;
};

/// Symbol of the batch dimension: "batch" when an input has it, else the leading symbol of the first input
/// that has one; empty when the file fixes all of them.
ARCHSIM_API std::string batch_symbol(const Graph& graph);

/// The largest divisor of a batch below itself; 1 for 1.
ARCHSIM_API std::int64_t next_smaller_batch(std::int64_t batch);

/// A model at concrete sizes. Partitions and work are made on first use and kept; safe to use from many
/// threads.
class ARCHSIM_API BoundModel {
  public:
    /// Binds `model` with the rows of `operators`, which must outlive it.
    BoundModel(Model model, const Bindings& bindings,
               const OperatorRegistry& operators = OperatorRegistry::standard());

    /// The imported model.
    const Model& model() const { return model_; }
    /// The bound graph.
    const ShapedGraph& graph() const { return *graph_; }
    /// Hardware-independent facts.
    std::shared_ptr<const ModelFacts> facts() const { return facts_; }
    /// The fused subgraphs under a policy; made once.
    std::shared_ptr<const Partition> partition(const FusionPolicy& policy) const;
    /// With several `chips` the counts are those of the busiest one under tensor parallelism.
    std::shared_ptr<const NetworkWork> work(const FusionPolicy& policy, const PrecisionConfig& precision,
                                            const std::vector<std::string>& unsupported,
                                            double chips = 1) const;
    /// The same model at the largest batch that divides its own; null at batch 1 and where the graph fixes
    /// the batch. Made on first use and kept.
    std::shared_ptr<const BoundModel> smaller() const;

  private:
    /// Those of the operator types that occur: stacks that differ in others share their work.
    std::vector<std::string> occurring(const std::vector<std::string>& types) const;

    /// Made by the first who asks; others who want the same wait for it, and nobody else does.
    template <class T>
    struct Once {
        std::mutex making;
        std::shared_ptr<const T> value;
        template <class Make>
        std::shared_ptr<const T> get(const Make& make) {
            const std::lock_guard lock(making);
            if (!value)
                value = make();
            return value;
        }
    };
    struct PartitionEntry {
        FusionPolicy policy;
        Once<Partition> partition;
        Once<FormatInvariants> common;
    };
    struct WorkEntry {
        FusionPolicy policy;
        PrecisionConfig precision;
        std::vector<std::string> unsupported;
        double chips = 1;
        Once<NetworkWork> work;
    };
    PartitionEntry& partition_entry(const FusionPolicy& policy) const;
    WorkEntry& work_entry(const FusionPolicy& policy, const PrecisionConfig& precision,
                          const std::vector<std::string>& unsupported, double chips) const;

    Model model_;
    Bindings bindings_;
    const OperatorRegistry* operators_; ///< of the Session, which outlives its models
    std::shared_ptr<const ShapedGraph> graph_;
    std::shared_ptr<const ModelFacts> facts_;
    std::string batch_symbol_;
    double batch_ = 1;                 ///< items of one inference
    std::set<std::string_view> types_; ///< of the operators
    mutable std::mutex mutex_;         ///< of both lists
    mutable std::list<PartitionEntry> partitions_;
    mutable std::list<WorkEntry> works_;
    mutable Once<BoundModel> smaller_;
};

} // namespace archsim
