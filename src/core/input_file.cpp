#include "core/input_file.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace archsim {

namespace fs = std::filesystem;

static std::vector<fs::path>& readable_folders() {
    static std::vector<fs::path> folders; // none: every file
    return folders;
}

[[noreturn]] static void unreadable(const std::string& file, std::string message, std::string hint) {
    throw InputError(Finding{.kind = FindingKind::unreadable_file,
                             .message = std::move(message),
                             .file = file,
                             .hint = std::move(hint)});
}

/// `real` is the file behind all links.
static void expect_inside(const std::string& named, const fs::path& real) {
    const auto& folders = readable_folders();
    if (std::ranges::none_of(folders, [&](const fs::path& folder) { return leads_into(folder, real); }))
        unreadable(named, fmt::format("lies outside of {}", folders.front().string()),
                   "copy it there, without a link");
}

/// A pipe or a terminal may give something later; a file of the kernel that has nothing yet may never have
/// it.
static bool may_come(int descriptor) {
    struct stat status {};
    return ::fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode);
}

/// A word for a thing that is no regular file.
static const char* kind_of(mode_t mode) {
    return S_ISDIR(mode)    ? "is a folder, not a file"
           : S_ISFIFO(mode) ? "is a pipe, not a file"
           : S_ISSOCK(mode) ? "is a socket, not a file"
                            : "is a device, not a file";
}

void read_only_inside(const std::vector<fs::path>& folders) {
    readable_folders().clear();
    for (const fs::path& folder : folders) {
        std::error_code unknown;
        if (const fs::path real = fs::canonical(folder, unknown); !unknown)
            readable_folders().push_back(real);
    }
}

bool leads_into(const fs::path& folder, const fs::path& path) {
    const auto [last, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    static_cast<void>(rest);
    return last == folder.end() || last->empty();
}

void expect_readable(const fs::path& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        unreadable(file.string(), kind_of(status.st_mode), "name a file");
    std::error_code unknown;
    if (!readable_folders().empty())
        expect_inside(file.string(), fs::weakly_canonical(fs::absolute(file, unknown), unknown));
}

InputFile::InputFile(const fs::path& file, Streams streams)
    : name_(file.string()),
      // To open a pipe that nobody writes to would wait for ever; no terminal becomes ours.
      descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    if (descriptor_ < 0)
        unreadable(name_, fmt::format("the file cannot be opened ({})", std::strerror(errno)),
                   "check its name and permissions");
    try {
        struct stat status {};
        if (::fstat(descriptor_, &status) != 0)
            fail(fmt::format("the file cannot be read ({})", std::strerror(errno)), "name a file");
        const bool stream = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
                            (S_ISCHR(status.st_mode) && ::isatty(descriptor_) != 0);
        if (S_ISREG(status.st_mode))
            size_ = static_cast<std::uint64_t>(status.st_size);
        else if (streams == Streams::refused || !stream)
            fail(kind_of(status.st_mode), "name a file");
        if (!readable_folders().empty()) {
            // The status of the open file: a name may lead elsewhere a moment later.
            std::error_code unknown;
            fs::path real = fs::read_symlink(fmt::format("/proc/self/fd/{}", descriptor_), unknown);
            if (unknown)
                real = fs::canonical(file, unknown);
            expect_inside(name_, real);
        }
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

InputFile::InputFile(InputFile&& other) noexcept
    : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

InputFile::~InputFile() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

void InputFile::fail(std::string message, std::string hint) const {
    unreadable(name_, std::move(message), std::move(hint));
}

template <class Read>
std::size_t InputFile::fill(void* to, std::size_t count, Read read) const {
    std::size_t done = 0;
    while (done < count) {
        const ssize_t got = read(static_cast<char*>(to) + done, count - done, done);
        if (got == 0)
            break;
        if (got > 0) {
            done += static_cast<std::size_t>(got);
        } else if (errno == EAGAIN && may_come(descriptor_)) {
            pollfd wait{.fd = descriptor_, .events = POLLIN, .revents = 0};
            ::poll(&wait, 1, -1);
        } else if (errno != EINTR) {
            fail(fmt::format("the file cannot be read ({})", std::strerror(errno)), "name a file");
        }
    }
    return done;
}

std::size_t InputFile::read_at(std::uint64_t position, void* to, std::size_t count) const {
    return fill(to, count, [&](char* at, std::size_t most, std::size_t done) {
        return ::pread(descriptor_, at, most, static_cast<off_t>(position + done));
    });
}

std::size_t InputFile::read_on(void* to, std::size_t count) const {
    return fill(to, count,
                [&](char* at, std::size_t most, std::size_t) { return ::read(descriptor_, at, most); });
}

void InputFile::expect_jumps() const {
    ::posix_fadvise(descriptor_, 0, 0, POSIX_FADV_RANDOM);
}

} // namespace archsim
