#pragma once
// A sizing as report blocks and as a JSON document.
//
//   Cheapest: H100, 4 devices (tp=2,dp=2), bf16: 27.5 USD/h rented, the limits hold with 96 %.
//   Greenest: the same, 2.1 kW.
//   Fewest devices: H200, 2 devices (dp=2), bf16.
//   H100 at twice the load: P99 TTFT gives first (12.1 s, 6.1 x the limit).
//   Does not hold: L4 (one request alone: P99 TPOT 0.062 s, 2.1 x the limit).

#include "answers/sizing/size_service.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// The answer first, then one row per device and format, and why the others are not among them.
Report describe(const SizingAnswer& answer, const PlainView& view, Format format);
/// Everything, keys with units.
std::string to_json(const SizingAnswer& answer, const PlainView& view);

} // namespace archsim
