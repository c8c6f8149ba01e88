#pragma once
// For readers that take a path: the input as a file in memory, one for each process.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <unistd.h>

namespace archsim::fuzz {

inline std::filesystem::path scratch_file(std::span<const std::uint8_t> bytes, const char* extension) {
    std::filesystem::path file = "/dev/shm/archsim_fuzz_" + std::to_string(getpid()) + extension;
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file;
}

} // namespace archsim::fuzz
