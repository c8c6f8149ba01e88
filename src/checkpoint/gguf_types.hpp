#pragma once
// The formats that tensors of GGUF files have.

#include <cstdint>

namespace archsim::checkpoint {

/// Weights and bytes of one block.
struct GgmlType {
    std::uint32_t id;
    double weights, bytes;
    const char* name;
};

/// Null when the type is not known.
const GgmlType* ggml_type(std::uint32_t id);

/// Bits per weight of a ggml type, 0 when it is not known.
double ggml_bits(std::uint32_t type);

} // namespace archsim::checkpoint
