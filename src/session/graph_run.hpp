#pragma once
// One bound graph on one machine: the pass that every kind of workload is made of.

#include "archsim/run/session.hpp"
#include "estimate/batch_pieces.hpp"
#include "session/bound_model.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace archsim {

/// Sizes a graph; `batch` sets the dimension named "batch" (or the leading symbol of the first input).
/// `earlier` as in BoundModel.
std::shared_ptr<const BoundModel> bind_graph(const ImportedGraph& model, std::int64_t batch,
                                             const Bindings& bindings, const OperatorRegistry& operators,
                                             std::span<const std::shared_ptr<const BoundModel>> earlier = {});

/// The question and its model, without an estimate yet.
Result asked(std::shared_ptr<const ModelFacts> model, std::string_view device, const Conditions& conditions);

/// Never throws for a device: what fails becomes the result's status and reason.
Result run_graph(const Session& session, const std::shared_ptr<const BoundModel>& model,
                 std::string_view device, const Conditions& conditions = {});

/// A graph on a machine, up to the estimate.
struct PreparedRun {
    Result result; ///< with its status where it cannot run
    EstimateOptions how;
    bool runs = false;
};
/// `machine` may have other rates, prices and limits when it is estimated.
PreparedRun prepare_run(const std::shared_ptr<const BoundModel>& model, std::string_view device,
                        std::shared_ptr<const Machine> machine, const Conditions& conditions);
/// Puts the estimate on `machine` into a run that was prepared for it. Never throws for a device.
void estimate_run(PreparedRun& run, const Machine& machine, BatchCounts& counted);

/// The same on a machine made before, and changed since.
Result run_graph_on(const std::shared_ptr<const BoundModel>& model, std::string_view device,
                    std::shared_ptr<const Machine> machine, const Conditions& conditions);

// Where a power budget is an estimate, the prices of events give way to it on the chip as it is described
// (bounded_by_budget). What is changed about that chip keeps those prices, and is held to the budget by its
// clock.

/// The factor on the prices of events that makes the chip as it is described meet its estimated budget; 1
/// where its limit is known, where it meets the budget anyway or cannot run.
double scale_to_budget(const std::shared_ptr<const BoundModel>& model, std::string_view device,
                       std::shared_ptr<const Machine> described, const Conditions& conditions);
/// Nothing where the limit is known.
void hold_to_budget(double scale, Machine& changed);

/// A graph on one device whose rates, prices and limits are changed again and again, as in a search: the
/// work, counts, widths of intervals and what a budget says of the chip as it is described are made once.
class RateTrials {
  public:
    /// The session outlives it.
    RateTrials(const Session& session, std::shared_ptr<const BoundModel> model, std::string_view device,
               Conditions conditions)
        : session_(session), model_(std::move(model)), device_(device), conditions_(std::move(conditions)) {}
    /// As run_graph() with these changes instead of those of the conditions.
    Result with(const MachineChanges& changes);

  private:
    const Session& session_;
    const std::shared_ptr<const BoundModel> model_;
    const std::string device_;
    const Conditions conditions_;
    std::optional<PreparedRun> run_;
    std::optional<double> budget_scale_;
    BatchCounts counted_;
};

// A design with more units than its device states may leave units idle, where more are slower: half of them,
// as often as more than the stated ones are left.

/// The next smaller factor on the stated units.
inline double fewer_units(double factor) {
    return factor / 2 > 1 ? factor / 2 : 1;
}
/// These conditions with units left idle; nothing where the design has no more than are stated.
std::optional<Conditions> with_idle_units(const Conditions& conditions);
/// The faster of a run on all units and one that leaves some idle, which wait beside the others.
Result faster_with_idle_units(Result all, Result fewer);

} // namespace archsim
