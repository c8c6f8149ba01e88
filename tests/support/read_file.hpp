#pragma once
// A file as its bytes, in one go: tests are not optimised, and byte by byte the database takes them long.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace archsim::test {

inline std::string read(const std::filesystem::path& file) {
    std::ostringstream bytes;
    bytes << std::ifstream(file, std::ios::binary).rdbuf();
    return std::move(bytes).str();
}

} // namespace archsim::test
