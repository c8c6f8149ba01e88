#pragma once
// What schemas say of families, from the table of families.

#include <nlohmann/json.hpp>

namespace archsim {

/// Replaces the lists of family names (enums of `family` and of the items of `families`, keys that `families`
/// requires), and in the schema of a device, which has a property `family` of its own, the block of every
/// family.
void complete_schema(nlohmann::json& schema);
void complete_schema(nlohmann::ordered_json& schema);

} // namespace archsim
