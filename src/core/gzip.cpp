#include "core/gzip.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#ifdef __EMSCRIPTEN__
#include <cstdlib>
#include <emscripten.h>
#include <memory>
#else
#define Z_PREFIX // zlib's own way to names of one's own: cmake/Zlib.cmake
#include <zlib.h>
#endif

namespace archsim {

bool is_gzip(std::span<const std::uint8_t> bytes) {
    return bytes.size() >= 2 && bytes[0] == 0x1F && bytes[1] == 0x8B;
}

std::size_t stated_size(std::span<const std::uint8_t> packed) {
    constexpr std::size_t kField = 4; // the last of the file
    if (packed.size() < kField)
        return 0;
    const auto field = packed.last(kField);
    return field[0] | std::size_t{field[1]} << 8 | std::size_t{field[2]} << 16 | std::size_t{field[3]} << 24;
}

#ifdef __EMSCRIPTEN__

// Debian has no zlib for WebAssembly, and need not: a browser unpacks what is dropped on the page, and
// Node.js has one.
namespace {

/// Unpacks into memory of malloc(), at most `most` bytes. Returns their number and puts their address to
/// `*out`; -1 for what is no whole gzip file, or without Node.js.
EM_JS(double, unpack_by_node,
      (const std::uint8_t* packed, std::size_t size, std::size_t most, std::uint8_t** out), {
          if (typeof process != 'object' || typeof require != 'function')
              return -1;
          try {
              const bytes = require('zlib').gunzipSync(HEAPU8.subarray(packed, packed + size),
                                                       {maxOutputLength : Math.max(1, most)});
              const at = _malloc(Math.max(1, bytes.length));
              if (!at)
                  return -1;
              HEAPU8.set(bytes, at);
              HEAPU32[out >> 2] = at;
              return bytes.length;
          } catch (problem) {
              return -1;
          }
      });

} // namespace

std::optional<std::vector<std::uint8_t>> gunzip(std::span<const std::uint8_t> packed) {
    std::uint8_t* at = nullptr;
    const std::size_t size = stated_size(packed);
    const double count = unpack_by_node(packed.data(), packed.size(), size, &at);
    if (count < 0)
        return std::nullopt;
    const std::unique_ptr<std::uint8_t, decltype(&std::free)> owner(at, &std::free);
    if (count != static_cast<double>(size))
        return std::nullopt;
    return std::vector<std::uint8_t>(at, at + size);
}

#else

/// No symbol of deflate stands for more: 258 bytes in two bits.
constexpr std::size_t kMostGrowth = 1032;
constexpr std::size_t kTrailerBytes = 8;
constexpr std::size_t kFirstRoom = std::size_t{1} << 20;

struct Stream : z_stream {
    Stream() : z_stream{} {}
    ~Stream() { inflateEnd(this); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
};

std::optional<std::vector<std::uint8_t>> gunzip(std::span<const std::uint8_t> packed) {
    constexpr int kGzipOfAnyWindow = 16 + MAX_WBITS;
    if (!is_gzip(packed) || packed.size() < kTrailerBytes || packed.size() > std::numeric_limits<uInt>::max())
        return std::nullopt;
    const std::size_t size = stated_size(packed);
    if (size / kMostGrowth > packed.size()) // before memory is taken for it
        return std::nullopt;
    Stream stream;
    stream.next_in = const_cast<Bytef*>(packed.data()); // read only, which zlib's type does not say
    stream.avail_in = static_cast<uInt>(packed.size());
    if (inflateInit2(&stream, kGzipOfAnyWindow) != Z_OK)
        return std::nullopt;
    // The size is what somebody wrote: memory grows with what is there. One byte of room beyond it lets an
    // empty file end.
    std::vector<std::uint8_t> bytes;
    int state = Z_OK;
    for (std::size_t done = 0; state == Z_OK; done = bytes.size() - stream.avail_out) {
        if (done > size)
            return std::nullopt;
        bytes.resize(std::min(std::max(kFirstRoom, 2 * done), size + 1));
        stream.next_out = bytes.data() + done;
        stream.avail_out = static_cast<uInt>(bytes.size() - done);
        state = inflate(&stream, Z_NO_FLUSH);
    }
    // It checks the sum and the size behind the blocks.
    if (state != Z_STREAM_END || stream.avail_in != 0 || bytes.size() - stream.avail_out != size)
        return std::nullopt;
    bytes.resize(size);
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
