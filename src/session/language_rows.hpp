#pragma once
// Measured passes and waits of language models, held against their estimates by whoever has the simulation of
// servers: the comparison of models is linked without it.

#include "archsim/compare/measured_row.hpp"
#include "archsim/map/machine.hpp"
#include "archsim/run/session.hpp"
#include "hardware/posterior.hpp"

#include <atomic>
#include <string>

namespace archsim {

using LanguageRowReader = GivenRow (*)(const Session&, const MeasuredRow&, const std::string& hardware,
                                       const Conditions&);
/// Null until accept_language_rows() was called.
std::atomic<LanguageRowReader>& language_row_reader();

/// What a measured row says of an estimate: its machine and its error.
GivenRow given_row(const Machine& machine, SpreadOf metric, const LaneShares& lanes, double log_ratio);
/// Throws InputError that names the row.
[[noreturn]] void no_estimate(const MeasuredRow& row, const std::string& reason);

} // namespace archsim
