#pragma once
// Unpacking of the DEFLATE format (RFC 1951).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace archsim {

/// What was unpacked, and the packed bytes that it took.
struct Inflated {
    std::vector<std::uint8_t> bytes;
    std::size_t packed_bytes = 0;
};

/// Unpacks the blocks at the beginning of `packed`; nothing when they are damaged or truncated, or hold more
/// than `most` bytes.
std::optional<Inflated> inflate(std::span<const std::uint8_t> packed, std::size_t most);

} // namespace archsim
