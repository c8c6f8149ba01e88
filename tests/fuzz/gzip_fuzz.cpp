// Feeds arbitrary bytes to the reader of gzip files: it returns bytes or nothing.

#include "core/gzip.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span<const std::uint8_t> file(data, size);
    const auto bytes = archsim::gunzip(file);
    // Two bits stand for 258 bytes at most.
    if (bytes && bytes->size() > size * 4 * 258)
        std::abort();
    return 0;
}
