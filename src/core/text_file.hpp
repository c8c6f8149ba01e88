#pragma once
// Reading whole files that people and tools write by hand: JSON, CSV.

#include <filesystem>
#include <string>

namespace archsim {

/// All bytes of a file, a pipe or standard input. Throws InputError where it cannot be opened or read, is a
/// folder or a device (/dev/zero never ends), and where it holds more than any such file does (256 MiB).
std::string read_text_file(const std::filesystem::path& file);

} // namespace archsim
