#pragma once
// A graph at concrete sizes: its fused subgraphs and their work, shared by all devices that fuse alike.

#include "archsim/compare/result.hpp"
#include "archsim/extend/operator.hpp"
#include "archsim/run/model.hpp"
#include "hardware/operator_rules.hpp"
#include "map/sharing.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace archsim {

/// The graph. Throws InputError naming the parts of a model that has no graph of its own.
const Graph& graph_of(const ImportedGraph& model);

/// Symbol of the batch dimension: "batch" when an input has it, else the leading symbol of the first input
/// that has one; empty when the file fixes all of them.
std::string batch_symbol(const Graph& graph);

/// Items of a run where the file fixes their number: the leading dimension that all inputs and outputs share;
/// else 1.
std::int64_t fixed_items(const Graph& graph);

/// The smallest divisor of a batch above 1; 1 for 1.
std::int64_t smallest_factor(std::int64_t batch);

/// Whose operators are placed: a stack's rows, on devices of a generation.
struct OperatorTaker {
    std::shared_ptr<const OperatorRules> rules; ///< null: everything stays
    std::string generation;
};

/// A graph at concrete sizes. Partitions and work are made on first use and kept; safe to use from many
/// threads.
class BoundModel {
  public:
    /// Binds `model` with the rows of `operators`, which must outlive it. Partitions, and plans of their
    /// memory, are shared with the first of `earlier`, bindings of the same model at other sizes, that fuses
    /// alike; one of them may be this one divided().
    BoundModel(ImportedGraph model, const Bindings& bindings,
               const OperatorRegistry& operators = OperatorRegistry::standard(),
               std::span<const std::shared_ptr<const BoundModel>> earlier = {});
    ~BoundModel();
    BoundModel(const BoundModel&) = delete;
    BoundModel& operator=(const BoundModel&) = delete;

    const ImportedGraph& model() const;
    /// The bound graph.
    const ShapedGraph& graph() const;
    /// Hardware-independent facts.
    std::shared_ptr<const ModelFacts> facts() const;
    /// The fused subgraphs under a policy; made once.
    std::shared_ptr<const Partition> partition(const FusionPolicy& policy) const;
    /// Whether both have their partitions from one of them.
    bool shares_partitions(const BoundModel& other) const;
    /// Where devices share the model the counts are those of the busiest one; the model is then bound at the
    /// tokens of one group (Sharing::groups).
    std::shared_ptr<const NetworkWork> work(const FusionPolicy& policy, const PrecisionConfig& precision,
                                            const OperatorTaker& takes, const Sharing& sharing = {}) const;
    /// The same model at its batch over `parts`; null where they do not divide it and where the graph fixes
    /// the batch. Made on first use and kept.
    std::shared_ptr<const BoundModel> divided(std::int64_t parts) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace archsim
