#include "core/assignment.hpp"

#include <algorithm>

namespace archsim {

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
