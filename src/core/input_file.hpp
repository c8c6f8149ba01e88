#pragma once
// The one door through which files that somebody names are read: regular files alone, inside the folders that
// may be read where there are such.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace archsim {

/// From now on a file is read only where it lies in one of these folders, behind all links; any other throws
/// InputError. For programs that answer somebody who may read these alone.
void read_only_inside(const std::vector<std::filesystem::path>& folders);
/// Throws InputError where a file may not be read: it is there and no regular file, or lies outside of the
/// folders. InputFile asks; what opens files in another way must.
void expect_readable(const std::filesystem::path& file);
/// Whether a path without links and dots is the folder or lies in it.
bool leads_into(const std::filesystem::path& folder, const std::filesystem::path& path);

/// Whether anything but a regular file may be opened.
enum class Streams : std::uint8_t { refused, read };

/// A file that was opened to be read. Every function throws InputError that names it.
class InputFile {
  public:
    /// Opening never waits. With `streams` pipes, sockets and terminals pass, whose size is 0.
    explicit InputFile(const std::filesystem::path& file, Streams streams = Streams::refused);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    InputFile(InputFile&& other) noexcept;

    std::uint64_t size() const { return size_; }
    /// Bytes read from `position` on: fewer than `count` at the end of the file alone.
    std::size_t read_at(std::uint64_t position, void* to, std::size_t count) const;
    /// Bytes read from where the last call ended, for what has no positions.
    std::size_t read_on(void* to, std::size_t count) const;
    /// For a file that is read here and there.
    void expect_jumps() const;

  private:
    [[noreturn]] void fail(std::string message, std::string hint) const;
    template <class Read>
    std::size_t fill(void* to, std::size_t count, Read read) const;

    std::string name_;
    int descriptor_;
    std::uint64_t size_ = 0;
};

} // namespace archsim
