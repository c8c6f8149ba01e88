#pragma once
// Measured passes and waits of language models, held against their estimates.

#include "archsim/compare/measured_row.hpp"
#include "archsim/map/machine.hpp"
#include "archsim/run/session.hpp"
#include "hardware/posterior.hpp"

#include <string>

namespace archsim {

/// A row that has a phase. Throws InputError where there is no estimate to hold it against.
GivenRow given_language_row(const Session& session, const MeasuredRow& row, const std::string& hardware,
                            const Conditions& conditions);

/// What a measured row says of an estimate: its machine and its error.
GivenRow given_row(const Machine& machine, SpreadOf metric, const LaneShares& lanes, double log_ratio);
/// Throws InputError that names the row.
[[noreturn]] void no_estimate(const MeasuredRow& row, const std::string& reason);

} // namespace archsim
