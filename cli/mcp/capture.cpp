#include "mcp/mcp.hpp"

#include "archsim/core/finding.hpp"
#include "core/new_file.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __EMSCRIPTEN__
#include <cstdlib>
#include <emscripten.h>
#include <memory>
#endif

namespace archsim::cli {

#ifdef __EMSCRIPTEN__

namespace {

/// The host (npm/lib/host.js) keeps what is written to a stream from now on.
EM_JS(void, keep_output, (), { Module["keepOutput"](); });
/// The kept output of a stream, in memory of malloc(), with a zero at its end; from now on it goes where it
/// did.
EM_JS(char*, kept_output, (int stream), {
    const bytes = Module["keptOutput"](stream);
    const at = _malloc(bytes.length + 1);
    if (at) {
        HEAPU8.set(bytes, at);
        HEAPU8[at + bytes.length] = 0;
    }
    return at;
});

std::string taken(int stream) {
    const std::unique_ptr<char, decltype(&std::free)> text(kept_output(stream), &std::free);
    if (text == nullptr)
        throw std::bad_alloc();
    return text.get();
}

} // namespace

Streams::Streams() : in_(STDIN_FILENO), out_(STDOUT_FILENO) {}
Streams::~Streams() = default;

Captured Streams::capture(const std::function<int()>& run) {
    keep_output();
    Captured out{.status = run()};
    std::fflush(stdout);
    std::fflush(stderr);
    out.printed = taken(STDOUT_FILENO);
    out.said = taken(STDERR_FILENO);
    return out;
}

#else

static int memory_file(const char* name) {
    const int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0)
        throw InputError("archsim mcp: the system gives no memory for what tools print");
    return file;
}

/// Everything in a file, which is empty afterwards.
static std::string taken(int file) {
    std::string text;
    std::array<char, 1 << 16> part{};
    for (off_t at = 0;;) {
        const ssize_t got = pread(file, part.data(), part.size(), at);
        if (got <= 0)
            break;
        text.append(part.data(), static_cast<std::size_t>(got));
        at += got;
    }
    static_cast<void>(ftruncate(file, 0));
    static_cast<void>(lseek(file, 0, SEEK_SET));
    return text;
}

Streams::Streams()
    : in_(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)),
      out_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)),
      err_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)), printed_(memory_file("printed")),
      said_(memory_file("said")) {
    if (const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC); nothing >= 0) {
        dup2(nothing, STDIN_FILENO);
        close(nothing);
    } else {
        close(STDIN_FILENO);
    }
    dup2(printed_, STDOUT_FILENO);
}

Streams::~Streams() {
    std::fflush(stdout);
    dup2(in_, STDIN_FILENO);
    dup2(out_, STDOUT_FILENO);
    for (const int one : {in_, out_, err_, printed_, said_})
        if (one >= 0)
            close(one);
}

Captured Streams::capture(const std::function<int()>& run) {
    std::fflush(stderr);
    dup2(said_, STDERR_FILENO);
    Captured out{.status = run()};
    std::fflush(stdout);
    std::fflush(stderr);
    dup2(err_, STDERR_FILENO);
    out.printed = taken(printed_);
    out.said = taken(said_);
    return out;
}

#endif

std::optional<std::string> Streams::read_line(std::size_t most, bool& whole) {
    whole = true;
    std::string line;
    std::array<char, 1 << 16> part{};
    for (;;) {
        const std::size_t end = read_.find('\n', at_);
        const std::size_t stop = end == std::string::npos ? read_.size() : end;
        if (line.size() + (stop - at_) > most)
            whole = false;
        if (whole)
            line.append(read_, at_, stop - at_);
        else
            line.clear();
        if (end != std::string::npos) {
            at_ = end + 1;
            return line;
        }
        read_.clear();
        at_ = 0;
        if (ended_)
            return line.empty() && whole ? std::nullopt : std::optional(line);
        ssize_t got = 0;
        do
            got = ::read(in_, part.data(), part.size());
        while (got < 0 && errno == EINTR);
        ended_ = got <= 0;
        if (got > 0)
            read_.assign(part.data(), static_cast<std::size_t>(got));
    }
}

bool Streams::write_line(const std::string& line) {
    return write_fully(out_, line + "\n");
}

} // namespace archsim::cli
