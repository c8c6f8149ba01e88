#include "hardware/json_edit.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace archsim {

using nlohmann::ordered_json;

constexpr std::size_t kLineWidth = 120;
constexpr std::size_t kIndent = 2;

static std::string one_line(const ordered_json& value) {
    std::string text;
    if (value.is_object()) {
        for (const auto& [key, member] : value.items())
            text +=
                fmt::format("{}{}: {}", text.empty() ? "" : ", ", ordered_json(key).dump(), one_line(member));
        return '{' + text + '}';
    }
    if (value.is_array()) {
        for (const auto& item : value)
            text += (text.empty() ? "" : ", ") + one_line(item);
        return '[' + text + ']';
    }
    return value.dump();
}

/// Walks over one value of a valid document: past strings, and to the bracket that closes the first opened.
static std::size_t end_of_value(const std::string& text, std::size_t at) {
    std::size_t depth = 0;
    bool quoted = false;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted) {
            if (c == '\\')
                ++at;
            else if (c == '"')
                quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return at;
            if (--depth == 0)
                return at + 1;
        } else if (c == ',' && depth == 0) {
            return at;
        }
    }
    return at;
}

static std::size_t skip_blanks(const std::string& text, std::size_t at) {
    return std::min(text.find_first_not_of(" \t\r\n", at), text.size());
}

static bool holds_object(const ordered_json& value) {
    return value.is_object() || (value.is_array() && std::ranges::any_of(value, holds_object));
}

std::string laid_out(const ordered_json& value, std::size_t indent, std::size_t used, bool apart) {
    const std::string line = one_line(value);
    const bool split = apart && value.is_structured() && std::ranges::any_of(value, holds_object);
    if (!value.is_structured() || value.empty() || (!split && used + line.size() < kLineWidth))
        return line;
    const std::size_t inner = indent + kIndent;
    std::string text;
    const auto add = [&](const std::string& prefix, const ordered_json& item) {
        text += (text.empty() ? "\n" : ",\n") + std::string(inner, ' ') + prefix +
                laid_out(item, inner, inner + prefix.size(), apart);
    };
    if (value.is_object())
        for (const auto& [key, member] : value.items())
            add(ordered_json(key).dump() + ": ", member);
    else
        for (const auto& item : value)
            add("", item);
    text += '\n' + std::string(indent, ' ');
    return value.is_object() ? '{' + text + '}' : '[' + text + ']';
}

std::string with_member(const std::string& text, std::string_view key, const ordered_json& value) {
    const std::string quoted = ordered_json(key).dump();
    std::size_t at = skip_blanks(text, 0) + 1; // past the opening brace
    std::size_t last_end = at;
    while (true) {
        at = skip_blanks(text, at);
        if (at >= text.size() || text[at] == '}')
            break;
        const std::size_t key_end = text.find('"', at + 1) + 1; // keys of the database hold no escapes
        const bool found = text.compare(at, key_end - at, quoted) == 0;
        const std::size_t begin = skip_blanks(text, text.find(':', key_end) + 1);
        const std::size_t end = end_of_value(text, begin);
        std::size_t trimmed = end;
        while (trimmed > begin && std::isspace(static_cast<unsigned char>(text[trimmed - 1])) != 0)
            --trimmed;
        if (found)
            return text.substr(0, begin) + laid_out(value, kIndent, kLineWidth) + text.substr(trimmed);
        last_end = trimmed;
        at = skip_blanks(text, end);
        if (at < text.size() && text[at] == ',')
            ++at;
    }
    const bool empty = text[last_end - 1] == '{';
    return text.substr(0, last_end) + (empty ? "\n  " : ",\n  ") + quoted + ": " +
           laid_out(value, kIndent, kLineWidth) + (empty ? "\n" : "") + text.substr(last_end);
}

} // namespace archsim
