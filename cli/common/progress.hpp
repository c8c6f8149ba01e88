#pragma once
// A progress bar on standard error, for work that takes longer than a second, on a terminal only:
//   importing [##########          ] 57/113  24/s  2 s left

#include <chrono>
#include <cstddef>
#include <fmt/format.h>
#include <mutex>
#include <string>
#include <utility>

namespace archsim::cli {

/// One line on standard error, beside an answer.
void print_note(const std::string& tool, const std::string& text);

class Progress {
  public:
    /// Shows nothing when `quiet`.
    Progress(std::string what, bool quiet);
    ~Progress(); ///< wipes the line
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Safe to call from several threads.
    void show(std::size_t done, std::size_t total);
    /// One step further out of `total`.
    void step(std::size_t total);

  private:
    using Clock = std::chrono::steady_clock;
    void draw(std::size_t done, std::size_t total);

    const std::string what_;
    const bool visible_;
    const Clock::time_point start_ = Clock::now();
    Clock::time_point last_ = start_;
    std::size_t done_ = 0;
    bool drawn_ = false;
    std::mutex mutex_;
};

// Words to whoever runs a tool. Standard error may be closed, full or a broken pipe: then nobody is told, and
// the status is what it would have been.

/// Writes lines to standard error, without control characters, commands of CI and more than some pages.
void say_text(std::string text) noexcept;

template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    say_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

} // namespace archsim::cli
