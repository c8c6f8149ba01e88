#pragma once
// The rows of a family's facts, applied: reading, completeness, design changes.

#include "archsim/hardware/device.hpp"

#include "hardware/json_reader.hpp"

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
/// Whether an engine stands for all units of a chip, which its family counts.
bool is_whole_chip(const Engine& engine);
/// Compute units of a device: those of the engine with the most; where each stands for the whole chip, what
/// the family counts. 0: nobody does.
double unit_count(const Device& device);
/// The factor on the units that whole ones leave: 0.4 of 4 cores are 2, so 0.5.
double built_units(const Device& device, double factor);

/// A value that is unknown stays so.
inline void scale(Fact& fact, double factor) {
    fact.value *= factor; // NaN stays NaN
}
/// At least one.
double whole(double count, double factor);

} // namespace archsim
