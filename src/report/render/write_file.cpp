#include "archsim/core/finding.hpp"
#include "archsim/extend/renderer.hpp"
#include "core/new_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace archsim {

namespace {

namespace fs = std::filesystem;

/// There is nothing to keep of a device or a pipe, and renaming would put a file in its place.
void write_in_place(const std::string& file, std::string_view content) {
    const int descriptor = open(file.c_str(), O_WRONLY | O_CLOEXEC);
    bool written = descriptor >= 0 && write_fully(descriptor, content);
    const int problem = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (!written)
        throw InputError(fmt::format("{}: cannot be written: {}", file, std::strerror(problem)));
}

} // namespace

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
