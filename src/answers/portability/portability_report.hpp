#pragma once
// What of a model leaves the accelerators, as report blocks and as a JSON document.

#include "answers/portability/check_model.hpp"
#include "archsim/extend/renderer.hpp"

#include <string>

namespace archsim {

/// CSV: one row per device and type of operator that leaves.
Report describe(const PortabilityAnswer& answer, const PlainView& view, Format format = Format::text);
/// {"schema": "archsim.check_model/1", ...}
std::string to_json(const PortabilityAnswer& answer, const PlainView& view);

} // namespace archsim
