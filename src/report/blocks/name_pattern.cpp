#include "report/blocks/name_pattern.hpp"

#include <cstddef>
#include <string_view>

namespace archsim {

namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Runs of digits and runs of anything else, in turn.
std::vector<std::string_view> runs_of(std::string_view name) {
    std::vector<std::string_view> runs;
    for (std::size_t at = 0; at < name.size();) {
        std::size_t end = at + 1;
        while (end < name.size() && is_digit(name[end]) == is_digit(name[at]))
            ++end;
        runs.push_back(name.substr(at, end - at));
        at = end;
    }
    return runs;
}

} // namespace

std::string common_name(const std::vector<std::string>& names) {
    if (names.empty())
        return "";
    std::vector<std::string_view> common = runs_of(names.front());
    for (const std::string& name : names) {
        const auto runs = runs_of(name);
        if (runs.size() != common.size())
            return names.front();
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (runs[i] == common[i])
                continue;
            if (!is_digit(runs[i].front()) || (common[i] != "*" && !is_digit(common[i].front())))
                return names.front();
            common[i] = "*";
        }
    }
    std::string text;
    for (const std::string_view run : common)
        text += run;
    return text;
}

std::string name_shape(const std::string& name) {
    std::string text;
    for (const std::string_view run : runs_of(name))
        text += is_digit(run.front()) ? std::string_view("*") : run;
    return text;
}

std::string shortened_name(const std::string& name, std::size_t most) {
    constexpr std::string_view kDots = "...";
    if (name.size() <= most || most <= kDots.size())
        return name;
    std::size_t from = name.size() - (most - kDots.size());
    while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xC0U) == 0x80U)
        ++from; // never inside a character
    return std::string(kDots) + name.substr(from);
}

} // namespace archsim
