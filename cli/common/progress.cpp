#include "common/progress.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <unistd.h>

namespace archsim::cli {

constexpr auto kPatience = std::chrono::seconds(1); ///< shorter work needs no bar
constexpr auto kRefresh = std::chrono::milliseconds(100);
constexpr std::size_t kBar = 30;

void print_note(const std::string& tool, const std::string& text) {
    say("{}: {}\n", tool, one_line(text));
}

Progress::Progress(std::string what, bool quiet)
    : what_(std::move(what)), visible_(!quiet && isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
    if (drawn_)
        std::fputs("\r\033[K", stderr);
}

void Progress::show(std::size_t done, std::size_t total) {
    if (!visible_)
        return;
    const std::lock_guard lock(mutex_);
    draw(done, total);
}

void Progress::step(std::size_t total) {
    if (!visible_)
        return;
    const std::lock_guard lock(mutex_);
    draw(done_ + 1, total);
}

void Progress::draw(std::size_t done, std::size_t total) {
    done_ = std::max(done_, done);
    const auto now = Clock::now();
    if (total == 0 || now - start_ < kPatience || (drawn_ && now - last_ < kRefresh && done_ < total))
        return;
    last_ = now;
    drawn_ = true;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = static_cast<double>(done_) / seconds;
    const std::size_t filled = kBar * done_ / total;
    std::fputs(fmt::format("\r\033[K{} [{}{}] {}/{}  {:.3g}/s  {:.0f} s left", what_,
                           std::string(filled, '#'), std::string(kBar - filled, ' '), done_, total, rate,
                           rate > 0 ? static_cast<double>(total - done_) / rate : 0)
                   .c_str(),
               stderr);
    std::fflush(stderr);
}

void say_text(std::string text) noexcept {
    constexpr std::size_t kMost = std::size_t{1} << 16;
    try {
        const bool cut = text.size() > kMost;
        if (cut)
            text.resize(text.rfind('\n', kMost) == std::string::npos ? kMost : text.rfind('\n', kMost));
        text = without_commands(printable(std::move(text)));
        if (cut)
            text += "\n(more of the same is left out)\n";
    } catch (const std::bad_alloc&) { // it is said as it is
    }
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

} // namespace archsim::cli
