#pragma once
// Runs published measurements through the estimator: each row on its own model, batch, precision, power mode,
// software stack and scope.

#include "archsim/estimate/estimate.hpp"
#include "archsim/hardware/database.hpp"
#include "archsim/map/machine.hpp"
#include "archsim/run/catalogue.hpp"
#include "archsim/run/session.hpp"
#include "fit/errors/validation.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/parameter_site.hpp"

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// The parts of the estimate of a row of power, in watts at the row's boundary: the events and static power
/// of the devices with the share of the supply's loss that they cause, and what is neither (board, host).
struct PowerParts {
    std::array<double, kEventCount> event_w{};
    double static_w = 0, outside_w = 0;
    double awake_w = 0;                                       ///< part of static_w: PriceGroup::awake
    std::array<double, kPriceGroupCount> multiple{1, 1, 1};   ///< that the watts hold (EnergyTable::multiple)
    double item_s = 0;                                        ///< seconds per item, as estimated
    double limit_w = std::numeric_limits<double>::infinity(); ///< what the row would state at the power limit
    std::string family;                                       ///< "gpu"
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

/// An estimate of `devices` devices that work on one thing, and the copies of them that a row was measured
/// on.
struct PoweredRow {
    const MeasuredRow& row;
    const Machine& machine;
    const Estimate& estimate; ///< of all `devices` together
    double devices = 1, copies = 1;
};

/// Watts of everything inside the row's boundary, all devices of the row.
double drawn_power(const PoweredRow& powered);

/// The same as the row states it: of one device, or of the whole system at the wall.
double stated_power(const PoweredRow& powered);

/// Its parts; `item_s` is the time per item that the row's energy is about.
PowerParts parts_of_power(const PoweredRow& powered, double item_s);

/// Stacks that claim published rows of another stack's name (`Runtime::measured_as`).
class MeasuredStacks {
  public:
    explicit MeasuredStacks(const HardwareDatabase& database);

    /// Id of the stack to run `row` with: of the claims that fit, one on the variant goes before one on the
    /// year alone, and an earlier year before a later one; else the row's own stack.
    std::string of(const MeasuredRow& row) const;

  private:
    std::vector<std::shared_ptr<const Runtime>> claimants_;
};

/// Last year named in a date or a period: 2022 for "2021-2022", 2019 for "2019-11-06"; 0 when there is none.
int last_year(std::string_view date);

struct MeasuredWorkload {
    const CatalogueEntry* entry = nullptr;
    std::map<std::string, std::int64_t> dims; ///< besides the batch
    bool whole = false;  ///< of several parts that run for every item: an image generator
    std::string problem; ///< why there is no such workload; empty when there is
};

/// Where a model is made of parts, rows name the whole: an image size means the part that takes images, one
/// token the decoder, more tokens the encoder.
MeasuredWorkload find_workload(const Catalogue& catalogue, const MeasuredRow& row);

/// The length that stands for inputs of a data set, "177" of "variable:177"; any other text as it is.
std::string_view mean_length(std::string_view text);

} // namespace archsim
