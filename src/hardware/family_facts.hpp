#pragma once
// What the rows of a family say about its facts, applied: reading, completeness, design changes.

#include "archsim/hardware/device.hpp"

#include "hardware/json_reader.hpp"

#include <vector>

namespace archsim {

/// Reads the block of the device's family.
void read_family(ObjectReader& document, Device& device);

/// Names of the facts that a device of this family needs and does not state.
std::vector<std::string_view> missing_facts(const Device& device);

/// Multiplies one part of the structure by `factor` wherever the family's facts describe it. Returns whether
/// they do.
bool scale_facts(Device& device, Structure part, double factor);

/// The largest number of units that the family's facts count; 0: none does.
double most_units(const Device& device);

/// A value that is unknown stays so.
inline void scale(Fact& fact, double factor) {
    fact.value *= factor; // NaN stays NaN
}
/// At least one.
double whole(double count, double factor);

} // namespace archsim
