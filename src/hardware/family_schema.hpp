#pragma once
// JSON Schema files and the table of families: what a schema says of families is written from the table.

#include <filesystem>
#include <string>

namespace archsim {

/// A JSON Schema file with every list of families, and in a device's schema every family's block, as the
/// table of families has them; the file's own text where that changes nothing. Throws InputError when it
/// cannot be read.
std::string completed_schema(const std::filesystem::path& file);

} // namespace archsim
