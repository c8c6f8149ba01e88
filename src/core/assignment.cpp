#include "archsim/core/assignment.hpp"

namespace archsim {

std::optional<std::pair<std::string_view, std::string_view>> split_assignment(std::string_view text) {
    const auto at = text.find('=');
    if (at == std::string_view::npos || at == 0 || at + 1 == text.size())
        return std::nullopt;
    return std::pair(text.substr(0, at), text.substr(at + 1));
}

} // namespace archsim
