#include "core/glob.hpp"

#include <cstddef>
#include <optional>

namespace archsim {

namespace {

/// Whether one character is what the pattern begins with, and how much of the pattern that is.
struct Step {
    bool matches = false;
    std::size_t length = 1;
};

Step step(std::string_view pattern, char c) {
    if (pattern.front() == '?')
        return {true, 1};
    if (pattern.front() == '\\' && pattern.size() > 1)
        return {pattern[1] == c, 2};
    const std::size_t first = pattern.size() > 1 && (pattern[1] == '!' || pattern[1] == '^') ? 2 : 1;
    const std::size_t end = pattern.front() == '[' ? pattern.find(']', first + 1) : std::string_view::npos;
    if (end == std::string_view::npos)
        return {pattern.front() == c, 1};
    bool in_set = false;
    for (std::size_t i = first; i < end; ++i) {
        const bool range = i + 2 < end && pattern[i + 1] == '-';
        in_set = in_set || (range ? pattern[i] <= c && c <= pattern[i + 2] : pattern[i] == c);
        i += range ? 2 : 0;
    }
    return {in_set == (first == 1), end + 1};
}

} // namespace

bool matches_glob(std::string_view pattern, std::string_view name) {
    std::size_t at = 0, in = 0;
    // Only the last star may take more: what stood before it matched, and an earlier star gains nothing.
    std::optional<std::size_t> star;
    std::size_t taken = 0;
    while (in < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = ++at;
            taken = in;
            continue;
        }
        if (at < pattern.size())
            if (const Step one = step(pattern.substr(at), name[in]); one.matches) {
                at += one.length;
                ++in;
                continue;
            }
        if (!star)
            return false;
        at = *star;
        in = ++taken;
    }
    return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

} // namespace archsim
