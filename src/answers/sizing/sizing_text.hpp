#pragma once
// The answer of a sizing in a few lines.

#include "answers/sizing/size_service.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// At most five lines: which to take, what gives first, what does not hold.
Takeaway sizing_takeaway(const SizingAnswer& answer);
/// Whether it has room for every device that does not hold, with the reason.
bool takeaway_names_every_miss(const SizingAnswer& answer);
/// "P99 TTFT 12.1 s, 6.05 x the limit; the KV cache is full".
std::string pressure_text(const SizingPressure& pressure);
/// "rented" or "owned".
std::string_view basis_text(Tenure basis);

} // namespace archsim
