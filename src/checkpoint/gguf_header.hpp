#pragma once
// The raw content of a GGUF header.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace archsim::checkpoint {

struct GgufTensor {
    std::vector<std::int64_t> shape; ///< innermost first, as the file has it
    std::uint32_t type = 0;
};

struct GgufHeader {
    std::map<std::string, std::vector<double>> numbers; ///< scalars have one element
    std::map<std::string, std::string> texts;
    std::map<std::string, GgufTensor> tensors;

    double number(const std::string& key, double fallback) const {
        const auto it = numbers.find(key);
        return it == numbers.end() || it->second.empty() ? fallback : it->second.front();
    }
};

/// Throws InputError naming the file and what is wrong with it.
GgufHeader read_gguf_header(const std::filesystem::path& file);

/// The same with the tensors of all parts that llama-gguf-split wrote, whichever of them is given; the others
/// lie beside it. Throws InputError naming the part that is missing.
GgufHeader read_gguf_parts(const std::filesystem::path& file);

} // namespace archsim::checkpoint
