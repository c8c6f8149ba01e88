#pragma once
// What a tool prints, in memory: for the time of its run the standard streams of the process lead there, and
// the protocol's own stay out of its reach.

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

namespace archsim::cli {

/// What a run left.
struct Captured {
    int status = 0;
    std::string printed, said; ///< on standard output and standard error
};

/// The streams of the protocol, taken from the process for as long as this lives: standard input is empty and
/// standard output in memory.
class Streams {
  public:
    /// Throws InputError where the system has no memory for files.
    Streams();
    ~Streams();
    Streams(const Streams&) = delete;
    Streams& operator=(const Streams&) = delete;

    /// The next line without its end, at most `most` bytes: of longer ones nothing is kept, and `whole` is
    /// false. Nothing at the end of the input.
    std::optional<std::string> read_line(std::size_t most, bool& whole);
    /// Writes a line to who asks. False where nobody reads any more.
    bool write_line(const std::string& line);
    /// Runs a function and catches what it prints.
    Captured capture(const std::function<int()>& run);

  private:
    int in_ = -1, out_ = -1;
#ifndef __EMSCRIPTEN__ // whose host keeps what is printed
    int err_ = -1, printed_ = -1, said_ = -1;
#endif
    std::string read_; ///< beyond the last line
    std::size_t at_ = 0;
    bool ended_ = false;
};

} // namespace archsim::cli
