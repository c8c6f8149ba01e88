#pragma once
// Files that take the place of others as a whole: written under a name that nobody can guess, in the same
// folder, and renamed at the end. What is not put in place is removed, by a signal too where the program asks
// for that.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace archsim {

/// The mode bits of a regular file; nothing where there is none.
std::optional<mode_t> mode_of_file(const std::filesystem::path& file);

/// From now on no file is made: what would throws InputError with this sentence. For programs that answer
/// somebody who may read alone.
void refuse_new_files(std::string sentence);
/// Throws where files are refused. NewFile asks; what makes files in another way must.
void expect_new_files();

/// 128 bits in hexadecimal digits, from the system.
std::string random_name();

/// Removes a file or an empty folder when remove_unfinished_files() is called before it goes out of scope.
class Unfinished {
  public:
    Unfinished() = default;
    explicit Unfinished(const std::filesystem::path& path);
    ~Unfinished() { release(); }
    Unfinished(Unfinished&& other) noexcept : slot_(other.slot_) { other.slot_ = kNone; }
    Unfinished& operator=(Unfinished&& other) noexcept;

    void release();

  private:
    static constexpr int kNone = -1;
    int slot_ = kNone; ///< kNone also where more than a few are unfinished
};

/// May be called from a signal handler. The library itself handles no signals: the program does.
void remove_unfinished_files();

/// Gives an open file the owner and the mode of `like`, as far as the process may. Nothing where there is no
/// such file.
void take_access_of(const std::filesystem::path& like, int descriptor);

/// Writes all of it; false with errno where that fails.
bool write_fully(int descriptor, std::string_view content);

/// A file that is being written.
class NewFile {
  public:
    /// Creates the file that will be `target`, readable and writable for those who can read and write the
    /// one there is, or as the process creates files. Throws InputError; messages call it `called`.
    NewFile(std::filesystem::path target, std::string called);
    ~NewFile();
    NewFile(const NewFile&) = delete;
    NewFile& operator=(const NewFile&) = delete;

    /// Owner and mode of another file, for one that goes with it.
    void take_access_of(const std::filesystem::path& like) { archsim::take_access_of(like, descriptor_); }
    /// Throws InputError, as put_in_place() does: "; the old file, if any, is unchanged".
    void write(std::string_view content);
    /// Writes all to the disk and gives the file its name.
    void put_in_place();

  private:
    [[noreturn]] void fail(const char* step);

    std::filesystem::path target_, temporary_;
    std::string called_;
    Unfinished unfinished_;
    int descriptor_ = -1;
};

/// Writes a file by writing a temporary neighbour and renaming it, so that a failure leaves the old file. A
/// link keeps pointing to the file that is written; a device or a pipe (/dev/stdout) is written to. Throws
/// InputError that says what went wrong.
void write_file(const std::string& file, std::string_view content);

} // namespace archsim
