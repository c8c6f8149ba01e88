#include "core/text_file.hpp"

#include "archsim/core/finding.hpp"
#include "core/embedded_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace archsim {

namespace {

constexpr std::size_t kBlock = 16384; ///< of what does not say how large it is
constexpr std::size_t kLargestBlock = std::size_t{4} << 20;
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

[[noreturn]] void unreadable(const std::filesystem::path& file, FindingKind kind, std::string message,
                             std::string hint) {
    Finding finding;
    finding.kind = kind;
    finding.file = file.string();
    finding.message = std::move(message);
    finding.hint = std::move(hint);
    throw InputError(finding);
}

/// One string that grew would be copied with every doubling, and an endless file three times as large.
std::string joined(std::vector<std::string> blocks, std::size_t size) {
    if (blocks.size() == 1)
        return std::move(blocks.front());
    std::string text;
    text.reserve(size);
    for (const std::string& block : blocks)
        text += block;
    return text;
}

/// A file that ends: one with a size, a pipe or a terminal.
class Descriptor {
  public:
    explicit Descriptor(const std::filesystem::path& file)
        // To open a pipe that nobody writes to would wait for ever.
        : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        if (descriptor_ < 0)
            unreadable(file, FindingKind::unreadable_file,
                       fmt::format("the file cannot be opened ({})", std::strerror(errno)),
                       "check its name and permissions");
        struct stat status {};
        const bool known = ::fstat(descriptor_, &status) == 0;
        const bool ends = known && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode) ||
                                    (S_ISCHR(status.st_mode) && ::isatty(descriptor_) != 0));
        if (ends) {
            size_ = S_ISREG(status.st_mode) ? static_cast<std::size_t>(status.st_size) : 0;
            return;
        }
        ::close(descriptor_);
        unreadable(file, FindingKind::unreadable_file,
                   known && S_ISDIR(status.st_mode) ? "it is a folder" : "it is a device, not a file",
                   "name a file");
    }
    ~Descriptor() { ::close(descriptor_); }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    /// What the file says; 0 where it does not.
    std::size_t size() const { return size_; }

    /// Bytes read, fewer than `count` at the end of the file alone.
    std::size_t fill(char* to, std::size_t count, const std::filesystem::path& file) const {
        std::size_t done = 0;
        while (done < count) {
            const ssize_t got = ::read(descriptor_, to + done, count - done);
            if (got == 0)
                break;
            if (got > 0) {
                done += static_cast<std::size_t>(got);
            } else if (errno == EAGAIN) {
                pollfd wait{.fd = descriptor_, .events = POLLIN, .revents = 0};
                ::poll(&wait, 1, -1);
            } else if (errno != EINTR) {
                unreadable(file, FindingKind::unreadable_file,
                           fmt::format("the file cannot be read ({})", std::strerror(errno)), "name a file");
            }
        }
        return done;
    }

  private:
    int descriptor_;
    std::size_t size_ = 0;
};

} // namespace

std::string read_text_file(const std::filesystem::path& file) {
    if (is_embedded(file)) {
        const auto text = embedded_text(file);
        if (!text)
            unreadable(file, FindingKind::unreadable_file, "the library has no such file built in",
                       "list_hardware_mappers shows what there is");
        return std::string(*text);
    }
    const Descriptor descriptor(file);
    std::vector<std::string> blocks;
    std::size_t size = 0;
    // One byte more than there are shows the end without another block.
    std::size_t next = descriptor.size() > 0 ? std::min(descriptor.size() + 1, kLargestBlock) : kBlock;
    for (;; next = std::min(2 * next, kLargestBlock)) {
        if (size > kMostBytes)
            unreadable(file, FindingKind::too_large, "the file has more than 256 MiB",
                       "is it the right one?");
        std::string& block = blocks.emplace_back(next, '\0');
        const std::size_t read = descriptor.fill(block.data(), next, file);
        block.resize(read);
        size += read;
        if (read < next)
            return joined(std::move(blocks), size);
    }
}

} // namespace archsim
