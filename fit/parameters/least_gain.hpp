#pragma once
// When a joint fit has settled.

namespace archsim {

/// Expectations follow what other statements say, and prices what times say, so that each fit moves what the
/// next one starts from. Values stay as they are where all rows together ask for others by less than this
/// share of the cost: a fit from its own result ends.
inline constexpr double kLeastGain = 1e-3;

} // namespace archsim
