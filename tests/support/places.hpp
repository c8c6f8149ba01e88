#pragma once
// Where the sources and their database lie.

#include <filesystem>

namespace archsim::test {

inline const std::filesystem::path kSource = ARCHSIM_SOURCE_DIR;
inline const std::filesystem::path kDatabase = kSource / "hardware_db";

} // namespace archsim::test
