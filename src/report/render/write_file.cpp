#include "archsim/core/finding.hpp"
#include "archsim/report/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace archsim {

namespace {

namespace fs = std::filesystem;

bool write_all(std::FILE* stream, std::string_view content, bool to_disk) {
    const bool written = std::fwrite(content.data(), 1, content.size(), stream) == content.size() &&
                         std::fflush(stream) == 0 && (!to_disk || fsync(fileno(stream)) == 0);
    const int problem = errno;
    const bool closed = std::fclose(stream) == 0;
    if (!written)
        errno = problem;
    return written && closed;
}

/// There is nothing to keep of a device or a pipe, and renaming would put a file in its place.
void write_in_place(const std::string& file, std::string_view content) {
    std::FILE* stream = std::fopen(file.c_str(), "wb");
    if (!stream || !write_all(stream, content, false))
        throw InputError(fmt::format("{}: cannot be written: {}", file, std::strerror(errno)));
}

} // namespace

void write_file(const std::string& file, std::string_view content) {
    std::error_code unknown;
    if (fs::exists(file, unknown) && !fs::is_regular_file(file, unknown)) {
        write_in_place(file, content);
        return;
    }
    const fs::path resolved = fs::weakly_canonical(file, unknown);
    const std::string target = unknown ? file : resolved.string();
    const std::string temporary = fmt::format("{}.tmp-{}", target, getpid());
    const auto fail = [&](const char* step) {
        const std::string why = std::strerror(errno);
        std::remove(temporary.c_str());
        throw InputError(fmt::format("{}: {}: {}; the old file, if any, is unchanged", file, step, why));
    };
    std::FILE* stream = std::fopen(temporary.c_str(), "wb");
    if (!stream)
        fail("cannot be created");
    if (!write_all(stream, content, true))
        fail("cannot be written");
    if (std::rename(temporary.c_str(), target.c_str()) != 0)
        fail("cannot be put in place");
}

} // namespace archsim
