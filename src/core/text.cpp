#include "core/text.hpp"

#include <algorithm>
#include <cctype>

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
    std::erase_if(result, [](unsigned char c) { return c < 0x80 && std::isalnum(c) == 0; });
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

} // namespace archsim
