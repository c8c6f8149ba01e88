#pragma once
// A family that the library does not know, with a device and a stack of its own: what adding an architecture
// takes.

#include "archsim/hardware/family.hpp"

#include <filesystem>

namespace archsim::test {

/// The row of the family "lut".
const FamilyRow& lookup_array();

/// A folder with its device "LUT-256" and its stack "lut-compiler", made once per process.
const std::filesystem::path& lookup_array_files();

} // namespace archsim::test
