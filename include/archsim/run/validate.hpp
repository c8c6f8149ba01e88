#pragma once
// Runs published measurements through the estimator: each row on its own model, batch, precision, power mode,
// software stack and scope.

#include "archsim/compare/validation.hpp"
#include "archsim/core/export.hpp"
#include "archsim/run/session.hpp"

#include <memory>

namespace archsim {

/// Estimates one measured row after another; models are imported and bound once. Safe to call from several
/// threads.
///
/// What a row means: `kernel` is device time of one stream; `end_to_end` adds transfers and host work;
/// `offline` is saturated throughput, at the row's batch or, where none is published, at the best of several;
/// where its note says "data transfer included", one batch after another with its copies in and out.
/// The software stack is that of the row's time and way of calling where the database tells them apart
/// (`Runtime::measured_as`). Power and energy are those of the board, or those at the wall, host and supply
/// included, where the row's note says so ("wall power of the whole system").
class ARCHSIM_API RowEstimator {
  public:
    /// `session` must outlive the estimator.
    explicit RowEstimator(const Session& session);
    ~RowEstimator();
    RowEstimator(const RowEstimator&) = delete;
    RowEstimator& operator=(const RowEstimator&) = delete;

    /// Never throws for a row: what cannot be estimated has its reason. `overrides` stand in for parameters
    /// of the database.
    Prediction operator()(const MeasuredRow& row,
                          std::shared_ptr<const ParameterOverrides> overrides = nullptr) const;
    /// The session that estimates.
    const Session& session() const;
    /// The software stack that the row is run with.
    std::string stack_of(const MeasuredRow& row) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace archsim
