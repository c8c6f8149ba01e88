#include "import/byte_source.hpp"

#include "archsim/core/finding.hpp"
#include "core/gzip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace archsim::import {

/// Files up to this size are read at once: graphs without weights.
constexpr std::size_t kSmallFile = 1u << 20;
/// Read at once where the file is read in sequence: some hundred nodes.
constexpr std::size_t kWindow = 16u << 10;
/// Read after a jump over weights: the head of the next tensor.
constexpr std::size_t kJumpWindow = 512;

[[noreturn]] static void fail(const std::string& file, const std::string& message, const std::string& hint) {
    throw InputError(
        Finding{.kind = FindingKind::unreadable_file, .message = message, .file = file, .hint = hint});
}

ByteSource::ByteSource(const std::filesystem::path& path, double most_bytes) {
    const std::filesystem::path file = stored_file(path);
    name_ = file.string();
    std::error_code unknown;
    if (std::filesystem::is_directory(file, unknown))
        fail(name_, "is a folder", "discover_models FOLDER lists the models in it; give the path of one");
    file_.emplace(file);
    size_ = file_->size();
    if (size_ == 0)
        fail(name_, "is empty", "export or download the model again");
    if (size_ <= kSmallFile || is_gzip(view(0, 2))) {
        if (static_cast<double>(size_) > most_bytes && size_ > kSmallFile)
            refuse_larger(most_bytes);
        fill_window(0, static_cast<std::size_t>(size_));
        file_.reset();
        if (is_gzip(window_))
            unpack_window(most_bytes);
        memory_ = window_;
        return;
    }
    // Most of a file with weights is jumped over: reading ahead would fetch what is never looked at.
    file_->expect_jumps();
}

void ByteSource::refuse_larger(double most_bytes) const {
    fail(name_, fmt::format("unpacks to more than {:.0f} bytes", most_bytes),
         "unpack it first, or allow more: bytes=... in ARCHSIM_BUDGET, Budget::bytes of a program");
}

void ByteSource::unpack_window(double most_bytes) {
    window_.resize(window_size_); // a window has a least size
    if (static_cast<double>(stated_size(window_)) > most_bytes)
        refuse_larger(most_bytes);
    auto unpacked = gunzip(window_);
    if (!unpacked)
        fail(name_, "is a damaged or truncated gzip file", "copy or download it again");
    window_ = std::move(*unpacked);
    size_ = window_.size();
}

void ByteSource::fill_window(std::uint64_t position, std::size_t count) {
    const std::uint64_t window_end = window_begin_ + window_size_;
    const bool in_sequence = position >= window_begin_ && position <= window_end;
    const std::size_t worth_reading = std::max(in_sequence ? kWindow : kJumpWindow, count);
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(worth_reading, size_ - position));
    if (window_.size() < wanted)
        window_.resize(std::max(wanted, kWindow));
    window_begin_ = position;
    window_size_ = file_->read_at(position, window_.data(), wanted);
    if (window_size_ < wanted)
        fail(name_, "became shorter while it was read", "try again when nothing writes to it");
}

} // namespace archsim::import
