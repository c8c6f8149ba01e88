#pragma once
// All fits of the database at once, on all measurements.

#include "fit/errors/left_out.hpp"
#include "fit/parameters/calibrate.hpp"
#include "fit/parameters/write_fitted.hpp"

#include <vector>

namespace archsim {

/// What a joint fit changes.
struct Refit {
    std::vector<CalibratedFile> files;
    std::vector<FittedMultiple> multiples; ///< of energy prices, for the energy file of the database
    std::size_t rows = 0, parameters = 0;  ///< that took part
};

/// Fits every statement marked `fitted` or `tuned` that decides some of the rows, jointly wherever rows share
/// them, from what the database states now; deterministic. Each value carries the rows behind it and the
/// median error of these rows with their network left out.
/// What the stacks `held` say of all chips stays: rows that nobody had seen were not estimated better by the
/// fit.
Refit refit_all(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows, unsigned threads = 1,
                const std::vector<std::string>& held = {});

/// The text of the session's energy file (EnergyDatabase::file) with the multiples; `date` as YYYY-MM-DD.
std::string multiples_text(const Session& session, const std::vector<FittedMultiple>& multiples,
                           const std::string& date);

/// Devices and stacks with numbers that measurements decided: a device's own, and a stack's parameters
/// (values that statements share are one), with the rows that they decide; most rows first.
std::vector<FitSupport> fit_support(const RowEstimator& estimator, const std::vector<MeasuredRow>& rows,
                                    unsigned threads = 1);

} // namespace archsim
