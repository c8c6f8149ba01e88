#pragma once
// Runs published measurements through the estimator: each row on its own model, batch, precision, power mode,
// software stack and scope.

#include "archsim/run/session.hpp"
#include "fit/errors/validation.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/parameter_site.hpp"

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace archsim {

/// What the estimate of a row of power consists of, in watts at the row's boundary: the events and static
/// power of the devices with the share of the supply's loss that they cause, and what is neither (board,
/// host).
struct PowerParts {
    std::array<double, kEventCount> event_w{};
    double static_w = 0, outside_w = 0;
    double awake_w = 0;                                       ///< part of static_w: PriceGroup::awake
    std::array<double, kPriceGroupCount> multiple{1, 1, 1};   ///< that the watts hold (EnergyTable::multiple)
    double item_s = 0;                                        ///< seconds per item, as estimated
    double limit_w = std::numeric_limits<double>::infinity(); ///< what the row would state at the power limit
    std::string family;                                       ///< "gpu"
    /// What the row is estimated at.
    double total() const {
        double sum = static_w + outside_w;
        for (const double watts : event_w)
            sum += watts;
        return sum;
    }
};

/// Estimates one measured row after another; models are imported and bound once. Safe to call from several
/// threads.
///
/// What a row means: `kernel` is device time of one stream; `end_to_end` adds transfers and host work;
/// `offline` is saturated throughput, at the row's batch or, where none is published, at the best of several;
/// where the note of a row that is not `kernel` says "data transfer included", one batch after another with
/// its copies in and out, without other work of the host. The software stack is that of the row's time and
/// way of calling where the database tells them apart
/// (`Runtime::measured_as`). Power and energy are those inside the row's boundary (MeasuredRow::boundary). A
/// row of phase `saturated` is a server that always has requests waiting and runs `batch` of them at once; an
/// `offline` row without a batch one that runs as many as its memory holds.
class RowEstimator {
  public:
    /// `session` must outlive the estimator.
    explicit RowEstimator(const Session& session);
    ~RowEstimator();
    RowEstimator(const RowEstimator&) = delete;
    RowEstimator& operator=(const RowEstimator&) = delete;

    /// Never throws for a row: what cannot be estimated has its reason. `overrides` stand in for parameters
    /// of the database, `changes` are made to its devices.
    Prediction operator()(const MeasuredRow& row,
                          std::shared_ptr<const ParameterOverrides> overrides = nullptr,
                          const MachineChanges& changes = {}) const;
    /// The parts of a row of power; none where it cannot be estimated. `changes` are made to its device.
    std::optional<PowerParts> power_parts(const MeasuredRow& row, const MachineChanges& changes = {}) const;
    /// The session that estimates.
    const Session& session() const;
    /// The software stack that the row is run with.
    std::string stack_of(const MeasuredRow& row) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace archsim
