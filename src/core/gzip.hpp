#pragma once
// Reading gzip files (RFC 1952 around RFC 1951), so that an installed catalogue takes a tenth of its size and
// a program that uses the library needs no other.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace archsim {

/// Whether `bytes` begin as a gzip file does.
bool is_gzip(std::span<const std::uint8_t> bytes);

/// The content of a gzip file of one member; nothing when it is damaged or truncated, its checksum among the
/// signs.
std::optional<std::vector<std::uint8_t>> gunzip(std::span<const std::uint8_t> packed);

/// Bytes that a gzip file says it holds, modulo 2^32; 0 for what is too short to say so.
std::size_t stated_size(std::span<const std::uint8_t> packed);

/// `file`, or FILE.gz where only that exists: the graphs of an installed catalogue.
std::filesystem::path stored_file(const std::filesystem::path& file);

} // namespace archsim
