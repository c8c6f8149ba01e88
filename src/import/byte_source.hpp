#pragma once
// The bytes of a model, in memory or in a file. A small file is read at once. A larger one is read through a
// small window, so that jumping over weights costs neither time nor memory; mapping it would let the kernel
// map whole megabytes around each jump. A gzip file is unpacked into memory.

#include "archsim/core/budget.hpp"
#include "core/input_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace archsim::import {

class ByteSource {
  public:
    explicit ByteSource(std::span<const std::uint8_t> memory) : memory_(memory), size_(memory.size()) {}
    /// FILE, or FILE.gz where only that exists. Throws InputError when it cannot be read, or unpacks to more
    /// than `most_bytes`.
    explicit ByteSource(const std::filesystem::path& file, double most_bytes = Budget{}.bytes);
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    std::uint64_t size() const { return size_; }

    /// Whether every view stays valid as long as the source.
    bool in_memory() const { return !file_; }

    /// The `count` bytes from `position` on, which must exist; valid until the next call.
    std::span<const std::uint8_t> view(std::uint64_t position, std::size_t count) {
        if (!file_)
            return memory_.subspan(static_cast<std::size_t>(position), count);
        if (position < window_begin_ || position + count > window_begin_ + window_size_)
            fill_window(position, count);
        return std::span<const std::uint8_t>(window_).subspan(
            static_cast<std::size_t>(position - window_begin_), count);
    }

  private:
    void unpack_window(double most_bytes);
    [[noreturn]] void refuse_larger(double most_bytes) const;
    void fill_window(std::uint64_t position, std::size_t count);

    std::span<const std::uint8_t> memory_;
    std::uint64_t size_ = 0;
    std::optional<InputFile> file_; ///< of what is larger than a window
    std::string name_;
    std::vector<std::uint8_t> window_;
    std::uint64_t window_begin_ = 0;
    std::size_t window_size_ = 0;
};

} // namespace archsim::import
