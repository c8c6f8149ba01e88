#include "core/new_file.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace archsim {

namespace fs = std::filesystem;

enum class Use : int { free, changing, taken };

/// Paths that a signal handler can read at any time: fixed memory, seen as a whole or not at all.
struct Slot {
    std::atomic<Use> use = Use::free;
    std::array<char, PATH_MAX> path{};
};
constexpr std::size_t kSlots = 16;
static std::array<Slot, kSlots>& slots() {
    static std::array<Slot, kSlots> all;
    return all;
}

Unfinished::Unfinished(const fs::path& path) {
    const std::string& name = path.native();
    if (name.size() >= PATH_MAX)
        return;
    for (std::size_t i = 0; i < kSlots; ++i) {
        Slot& slot = slots()[i];
        Use expected = Use::free;
        if (!slot.use.compare_exchange_strong(expected, Use::changing))
            continue;
        std::copy(name.begin(), name.end(), slot.path.begin());
        slot.path[name.size()] = '\0';
        slot.use = Use::taken;
        slot_ = static_cast<int>(i);
        return;
    }
}

Unfinished& Unfinished::operator=(Unfinished&& other) noexcept {
    if (this != &other) {
        release();
        slot_ = std::exchange(other.slot_, kNone);
    }
    return *this;
}

void Unfinished::release() {
    if (slot_ != kNone)
        slots()[static_cast<std::size_t>(std::exchange(slot_, kNone))].use = Use::free;
}

void remove_unfinished_files() {
    // The last first: files of a folder before the folder.
    for (std::size_t i = kSlots; i-- > 0;)
        if (const Slot& slot = slots()[i]; slot.use == Use::taken && unlink(slot.path.data()) != 0)
            rmdir(slot.path.data());
}

static std::string& refusal() {
    static std::string sentence;
    return sentence;
}

void refuse_new_files(std::string sentence) {
    refusal() = std::move(sentence);
}

void expect_new_files() {
    if (!refusal().empty())
        throw InputError(refusal());
}

std::string random_name() {
    std::random_device system;
    std::string name;
    for (int i = 0; i < 4; ++i)
        name += fmt::format("{:08x}", system());
    return name;
}

std::optional<mode_t> mode_of_file(const fs::path& file) {
    struct stat found {};
    if (stat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode))
        return std::nullopt;
    return found.st_mode & 07777U;
}

void take_access_of(const fs::path& like, int descriptor) {
    struct stat theirs {
    }, ours{};
    if (stat(like.c_str(), &theirs) != 0 || !S_ISREG(theirs.st_mode) || fstat(descriptor, &ours) != 0)
        return;
    mode_t mode = theirs.st_mode & 07777U;
    if (theirs.st_uid != ours.st_uid && fchown(descriptor, theirs.st_uid, static_cast<gid_t>(-1)) != 0)
        mode &= ~static_cast<mode_t>(S_ISUID);
    if (theirs.st_gid != ours.st_gid && fchown(descriptor, static_cast<uid_t>(-1), theirs.st_gid) != 0)
        mode &=
            ~static_cast<mode_t>(S_ISGID | S_IRWXG); // our group is another one than those who could read it
    static_cast<void>(fchmod(descriptor, mode));
}

bool write_fully(int descriptor, std::string_view content) {
    while (!content.empty()) {
        const ssize_t written = ::write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

NewFile::NewFile(fs::path target, std::string called)
    : target_(std::move(target)), temporary_(target_.parent_path() / (".archsim-" + random_name())),
      called_(std::move(called)), unfinished_(temporary_) {
    expect_new_files();
    // Nobody else may look into a file that replaces a private one.
    const mode_t mode = mode_of_file(target_) ? 0600 : 0666;
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (descriptor_ < 0)
        fail("cannot be created");
    archsim::take_access_of(target_, descriptor_);
}

NewFile::~NewFile() {
    if (descriptor_ >= 0) {
        close(descriptor_);
        unlink(temporary_.c_str());
    }
}

void NewFile::write(std::string_view content) {
    if (!write_fully(descriptor_, content))
        fail("cannot be written");
}

void NewFile::put_in_place() {
    if (fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOTSUP) // which some file systems cannot
        fail("cannot be written");
    if (close(std::exchange(descriptor_, -1)) != 0) {
        const int problem = errno;
        unlink(temporary_.c_str());
        errno = problem;
        fail("cannot be written");
    }
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) {
        const int problem = errno;
        unlink(temporary_.c_str());
        errno = problem;
        fail("cannot be put in place");
    }
    unfinished_.release();
}

void NewFile::fail(const char* step) {
    throw InputError(
        fmt::format("{}: {}: {}; the old file, if any, is unchanged", called_, step, std::strerror(errno)));
}

/// There is nothing to keep of a device or a pipe, and renaming would put a file in its place.
static void write_in_place(const std::string& file, std::string_view content) {
    const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    bool written = descriptor >= 0 && write_fully(descriptor, content);
    const int problem = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (!written)
        throw InputError(fmt::format("{}: cannot be written: {}", file, std::strerror(problem)));
}

void write_file(const std::string& file, std::string_view content) {
    std::error_code unknown;
    if (fs::exists(file, unknown) && !fs::is_regular_file(file, unknown)) {
        write_in_place(file, content);
        return;
    }
    const fs::path resolved = fs::weakly_canonical(file, unknown);
    NewFile made(unknown ? fs::path(file) : resolved, file);
    made.write(content);
    made.put_in_place();
}

} // namespace archsim
