#include "core/text.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tuple>

namespace archsim {

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower_case(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), lower);
    return result;
}

std::string first_lower(std::string text) {
    if (text.size() > 1 && text[1] >= 'a' && text[1] <= 'z')
        text[0] = lower(text[0]);
    return text;
}

std::string names_text(const std::vector<std::string>& names, std::size_t most) {
    if (names.size() <= most + 1) // one more is as short as its count
        return fmt::format("{}", fmt::join(names, ", "));
    return fmt::format("{} and {} more",
                       fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most), ", "),
                       names.size() - most);
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string name_key(std::string_view name) {
    std::string result(name);
    for (char& c : result)
        c = c == ' ' || c == '_' ? '-' : lower(c);
    return result;
}

std::string bare_name(std::string_view name) {
    std::string result = lower_case(name);
    std::erase_if(result, [](unsigned char c) { return c >= 0x20 && c < 0x7f && std::isalnum(c) == 0; });
    return result;
}

bool same_place(std::string_view a, std::string_view b) {
    const std::string_view shorter = a.size() < b.size() ? a : b, longer = a.size() < b.size() ? b : a;
    return longer == shorter || (longer.starts_with(shorter) && longer[shorter.size()] == '/');
}

std::optional<std::pair<std::string_view, std::string_view>> split_assignment(std::string_view text) {
    const auto at = text.find('=');
    if (at == std::string_view::npos || at == 0 || at + 1 == text.size())
        return std::nullopt;
    return std::pair(text.substr(0, at), text.substr(at + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> pieces;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(separator, begin), text.size());
        pieces.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return pieces;
}

/// The letter that looks like a digit: H1OO is meant as H100.
static char as_it_looks(char c) {
    return c == 'o' ? '0' : c;
}

/// Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions and swaps of
/// neighbours each cost 1, but for what looks alike.
static std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t change = as_it_looks(a[i - 1]) == as_it_looks(b[j - 1]) ? 0 : 1;
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       std::size_t limit) {
    const std::string key = name_key(name);
    struct Candidate {
        std::size_t distance;
        std::size_t unlike_length; ///< resnet5 is nearer to resnet50 than to deeplabv3_resnet50
        const std::string* name;
    };
    std::vector<Candidate> candidates;
    for (const std::string& candidate : known) {
        const std::string other = name_key(candidate);
        // "4090" is meant as RTX-4090 although half of the letters are missing.
        const bool part = key.size() >= 3 && (other.find(key) != std::string::npos);
        const std::size_t longer = std::max(key.size(), other.size()),
                          unlike_length = longer - std::min(key.size(), other.size());
        // Further away than two fifths of the letters, or one, is no help, and no name is nearer than its
        // length.
        const std::size_t most = std::max<std::size_t>(1, 2 * longer / 5);
        if (!part && unlike_length > most)
            continue;
        const std::size_t distance = !part ? edit_distance(key, other) : other.starts_with(key) ? 0 : 1;
        if (part || distance <= most)
            candidates.push_back({distance, unlike_length, &candidate});
    }
    std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
        return std::tie(a.distance, a.unlike_length, *a.name) <
               std::tie(b.distance, b.unlike_length, *b.name);
    });
    std::vector<std::string> result;
    for (const Candidate& candidate : candidates) {
        if (result.size() == limit)
            break;
        if (std::ranges::find(result, *candidate.name) == result.end())
            result.push_back(*candidate.name);
    }
    return result;
}

/// Whether one character is what the pattern begins with, and how much of the pattern that is.
struct MatchStep {
    bool matches = false;
    std::size_t length = 1;
};

static MatchStep step(std::string_view pattern, char c) {
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
            if (const MatchStep one = step(pattern.substr(at), name[in]); one.matches) {
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
