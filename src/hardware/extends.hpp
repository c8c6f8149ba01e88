#pragma once
// "extends": a device that states only how it differs from another.

#include "core/json_document.hpp"

#include <string>

namespace archsim {

/// `base` with the members of `derived` on top. Objects merge member by member, quantities are replaced
/// whole, arrays of named objects (engines, memory, power modes) merge by name, null removes. Identity is not
/// inherited; nor are stated peaks when the engines or clocks change, since they describe the base. Sources
/// of the base are renamed "<base id>:<key>" so that the derived file's own keys cannot capture them.
JsonDocument extend_device(JsonDocument base, JsonDocument derived, const std::string& base_id);

} // namespace archsim
