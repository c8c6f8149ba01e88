#include "core/gzip.hpp"

#include "core/inflate.hpp"

#include <array>
#include <cstddef>
#include <system_error>
#include <utility>

namespace archsim {

namespace {

constexpr std::size_t kHeaderBytes = 10, kTrailerBytes = 8;

std::uint32_t crc32(std::span<const std::uint8_t> bytes) {
    static constexpr auto kTable = [] {
        std::array<std::uint32_t, 256> table{};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit)
                value = (value >> 1) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
            table[i] = value;
        }
        return table;
    }();
    std::uint32_t crc = ~std::uint32_t{0};
    for (const std::uint8_t byte : bytes)
        crc = kTable[(crc ^ byte) & 0xFFU] ^ (crc >> 8);
    return ~crc;
}

std::uint32_t number_at(std::span<const std::uint8_t> bytes, std::size_t at) {
    return bytes[at] | std::uint32_t{bytes[at + 1]} << 8 | std::uint32_t{bytes[at + 2]} << 16 |
           std::uint32_t{bytes[at + 3]} << 24;
}

/// Bytes of the header with the fields that its flags announce.
std::optional<std::size_t> header_size(std::span<const std::uint8_t> file) {
    constexpr unsigned kHeaderCheck = 2, kExtra = 4, kName = 8, kComment = 16, kReserved = 0xE0;
    const unsigned flags = file[3];
    if (file[2] != 8 || (flags & kReserved) != 0)
        return std::nullopt;
    std::size_t at = kHeaderBytes;
    if ((flags & kExtra) != 0)
        at += 2 + (file.size() >= at + 2 ? file[at] + file[at + 1] * std::size_t{256} : 0);
    for (const unsigned text : {kName, kComment})
        if ((flags & text) != 0) {
            while (at < file.size() && file[at] != 0)
                ++at;
            ++at;
        }
    if ((flags & kHeaderCheck) != 0)
        at += 2;
    if (at > file.size())
        return std::nullopt;
    return at;
}

} // namespace

bool is_gzip(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

std::optional<std::vector<std::uint8_t>> gunzip(std::span<const std::uint8_t> packed) {
    if (!is_gzip(packed) || packed.size() < kHeaderBytes + kTrailerBytes)
        return std::nullopt;
    const auto header = header_size(packed);
    if (!header || packed.size() - *header < kTrailerBytes)
        return std::nullopt;
    const auto blocks = packed.subspan(*header, packed.size() - *header - kTrailerBytes);
    const std::size_t trailer = packed.size() - kTrailerBytes;
    const std::uint32_t size = number_at(packed, trailer + 4);
    auto inflated = inflate(blocks, size);
    if (!inflated || inflated->packed_bytes != blocks.size() || inflated->bytes.size() != size ||
        crc32(inflated->bytes) != number_at(packed, trailer))
        return std::nullopt;
    return std::move(inflated->bytes);
}

std::filesystem::path stored_file(const std::filesystem::path& file) {
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown))
        return file;
    std::filesystem::path packed = file;
    packed += ".gz";
    return std::filesystem::exists(packed, unknown) ? packed : file;
}

} // namespace archsim
