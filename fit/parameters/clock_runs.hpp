#pragma once
// Published clocks at power limits as measured runs: at its clock a kernel draws what the limit allows.

#include "archsim/run/session.hpp"
#include "fit/parameters/priced_runs.hpp"

#include <map>
#include <string>
#include <vector>

namespace archsim {

/// A row of power for every clock that the session's energy table states (EnergyDatabase::clocks_at_limit).
std::vector<MeasuredRow> clocks_as_rows(const Session& session);

/// What each of these rows consists of by the prices of its device, by family; `rows` are those of
/// clocks_as_rows and must outlive them. Worked, A40: 84 x 256 operations a clock at 1.635 GHz are 35.2 T
/// operations a second, at 6.91 pJ x 1635 / 1740 228 W beside 69 W of static power, of 300 W.
std::map<std::string, std::vector<PricedRun>> clock_runs(const Session& session,
                                                         const std::vector<MeasuredRow>& rows);

} // namespace archsim
