#include "import/byte_source.hpp"

#include "archsim/core/finding.hpp"
#include "core/gzip.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace archsim::import {

namespace {

/// Files up to this size are read at once: graphs without weights.
constexpr std::size_t kSmallFile = 1u << 20;
/// Read at once where the file is read in sequence: some hundred nodes.
constexpr std::size_t kWindow = 16u << 10;
/// Read after a jump over weights: the head of the next tensor.
constexpr std::size_t kJumpWindow = 512;

[[noreturn]] void fail(const std::string& file, const std::string& message, const std::string& hint) {
    throw InputError(
        Finding{.kind = FindingKind::unreadable_file, .message = message, .file = file, .hint = hint});
}

std::string reason() {
    return std::string(" (") + std::strerror(errno) + ")";
}

} // namespace

ByteSource::ByteSource(const std::filesystem::path& path, double most_bytes) {
    const std::filesystem::path file = stored_file(path);
    name_ = file.string();
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0)
        fail(name_, "cannot be opened" + reason(), "check the path");
    // Asked before opening, for opening a pipe would wait.
    if (S_ISDIR(status.st_mode))
        fail(name_, "is a folder", "discover_models FOLDER lists the models in it; give the path of one");
    if (!S_ISREG(status.st_mode))
        fail(name_, "is not a file", "give the path of an .onnx file");
    if (status.st_size == 0)
        fail(name_, "is empty", "export or download the model again");
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        fail(name_, "cannot be opened" + reason(), "check its permissions");
    descriptor_ = descriptor;
    size_ = static_cast<std::uint64_t>(status.st_size);
    if (size_ <= kSmallFile || is_gzip(view(0, 2))) {
        fill_window(0, static_cast<std::size_t>(size_));
        ::close(std::exchange(descriptor_, -1));
        if (is_gzip(window_))
            unpack_window(most_bytes);
        memory_ = window_;
        return;
    }
    // Most of a file with weights is jumped over: reading ahead would fetch what is never looked at.
    ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_RANDOM);
}

ByteSource::~ByteSource() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

void ByteSource::unpack_window(double most_bytes) {
    window_.resize(window_size_); // a window has a least size
    if (static_cast<double>(stated_size(window_)) > most_bytes)
        fail(name_,
             "unpacks to more than " + std::to_string(static_cast<std::int64_t>(most_bytes)) + " bytes",
             "unpack it first, or allow more: bytes=... in ARCHSIM_BUDGET, Budget::bytes of a program");
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
    window_size_ = 0;
    while (window_size_ < wanted) {
        const ssize_t got = ::pread(descriptor_, window_.data() + window_size_, wanted - window_size_,
                                    static_cast<off_t>(position + window_size_));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            fail(name_, got < 0 ? "cannot be read" + reason() : "became shorter while it was read",
                 "try again when nothing writes to it");
        window_size_ += static_cast<std::size_t>(got);
    }
}

} // namespace archsim::import
