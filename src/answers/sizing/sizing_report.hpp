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
#include "report/render/answer_document.hpp"

#include <string>

namespace archsim {

/// The answer first, then one row per device and format, and why the others are not among them.
Report describe(const SizingAnswer& answer, const PlainView& view, Format format);
/// Everything, keys with units.
AnswerDocument document_of(const SizingAnswer& answer, const PlainView& view);

// The answer of a sizing in a few lines.

/// At most five lines: which to take, what gives first, what does not hold.
Takeaway sizing_takeaway(const SizingAnswer& answer);
/// "500 users, each asking every 30 s: 16.7 requests/s, 2000 tokens in and 300 out, P99 TTFT <= 3 s".
std::string load_text(const SizingAnswer& answer);
/// Whether it has room for every device that does not hold, with the reason.
bool takeaway_names_every_miss(const SizingAnswer& answer);
/// "P99 TTFT 12.1 s, 6.05 x the limit; the KV cache is full".
std::string pressure_text(const SizingPressure& pressure);
/// "rented" or "owned".
std::string_view basis_text(Tenure basis);

} // namespace archsim
