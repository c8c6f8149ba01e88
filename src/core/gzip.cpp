#include "core/gzip.hpp"

#include <cstddef>
#include <limits>
#include <system_error>

#ifndef __EMSCRIPTEN__
#define Z_PREFIX // zlib's own way to names of one's own: cmake/Zlib.cmake
#include <zlib.h>
#endif

namespace archsim {

bool is_gzip(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

#ifdef __EMSCRIPTEN__

// There is no zlib for WebAssembly in Debian, and need not be: a browser unpacks what is dropped on the page.
std::optional<std::vector<std::uint8_t>> gunzip(std::span<const std::uint8_t>) {
    return std::nullopt;
}

#else

namespace {

/// No symbol of deflate stands for more: 258 bytes in two bits.
constexpr std::size_t kMostGrowth = 1032;
constexpr std::size_t kTrailerBytes = 8;

/// The last field of the file: the size of what it holds, modulo 2^32.
std::size_t stated_size(std::span<const std::uint8_t> packed) {
    const auto field = packed.last(4);
    return field[0] | std::size_t{field[1]} << 8 | std::size_t{field[2]} << 16 | std::size_t{field[3]} << 24;
}

struct Stream : z_stream {
    Stream() : z_stream{} {}
    ~Stream() { inflateEnd(this); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
};

} // namespace

std::optional<std::vector<std::uint8_t>> gunzip(std::span<const std::uint8_t> packed) {
    constexpr int kGzipOfAnyWindow = 16 + MAX_WBITS;
    if (!is_gzip(packed) || packed.size() < kTrailerBytes || packed.size() > std::numeric_limits<uInt>::max())
        return std::nullopt;
    const std::size_t size = stated_size(packed);
    if (size / kMostGrowth > packed.size()) // before memory is taken for it
        return std::nullopt;
    std::vector<std::uint8_t> bytes(size);
    Stream stream;
    stream.next_in = const_cast<Bytef*>(packed.data()); // read only, which zlib's type does not say
    stream.avail_in = static_cast<uInt>(packed.size());
    std::uint8_t nothing = 0;
    stream.next_out = bytes.empty() ? &nothing : bytes.data();
    stream.avail_out = static_cast<uInt>(bytes.size());
    // It checks the sum and the size behind the blocks.
    if (inflateInit2(&stream, kGzipOfAnyWindow) != Z_OK || inflate(&stream, Z_FINISH) != Z_STREAM_END ||
        stream.avail_in != 0 || stream.avail_out != 0)
        return std::nullopt;
    return bytes;
}

#endif

std::filesystem::path stored_file(const std::filesystem::path& file) {
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown))
        return file;
    std::filesystem::path packed = file;
    packed += ".gz";
    return std::filesystem::exists(packed, unknown) ? packed : file;
}

} // namespace archsim
