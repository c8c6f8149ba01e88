#include "report/render/markdown_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace archsim {

namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// "@name" after something that is no word notifies somebody, "name@host.tld" is a link to write to.
bool is_mention(std::string_view text, std::size_t at) {
    const auto name = text.substr(at + 1);
    if (name.empty() || !is_word(name.front()))
        return false;
    if (at == 0 || !is_word(text[at - 1]))
        return true;
    const auto end = std::find_if(name.begin(), name.end(), [](char c) { return !is_word(c) && c != '-'; });
    return end != name.end() && *end == '.' && end + 1 != name.end() && is_word(end[1]);
}

/// Whether GitHub makes a link of what begins here: "www.", or "://" behind a scheme.
bool is_bare_link(std::string_view text, std::size_t at) {
    if (text[at] == ':')
        return text.substr(at).starts_with("://") ||
               (at > 0 && is_word(text[at - 1]) && at + 1 < text.size() &&
                text.substr(0, at).ends_with("mailto"));
    if (text[at] != '.' || at < 3)
        return false;
    const auto before = text.substr(at - 3, 3);
    return std::all_of(before.begin(), before.end(), [](char c) { return c == 'w' || c == 'W'; });
}

/// "12. " and "12) " are lists.
std::size_t number_before_list(std::string_view text) {
    const std::size_t digits = text.find_first_not_of("0123456789");
    const bool is_list = digits != std::string_view::npos && digits > 0 &&
                         (text[digits] == '.' || text[digits] == ')') &&
                         (digits + 1 == text.size() || text[digits + 1] == ' ');
    return is_list ? digits : 0;
}

} // namespace

std::string markdown_inline(std::string_view text) {
    constexpr std::string_view kSpecial = "\\`*_[]<>|~&$#";
    constexpr std::string_view kNoMention = "&#8288;"; // a word joiner: no width, no break
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '\n' || c == '\t' || c == '\r') {
            out += ' ';
            continue;
        }
        const bool calls = c == '&'   ? at + 1 < text.size() && text[at + 1] != ' '
                           : c == '>' ? false // closes nothing where no '<' is left open
                                      : kSpecial.find(c) != std::string_view::npos;
        if (calls || ((c == ':' || c == '.') && is_bare_link(text, at)))
            out += '\\';
        out += c;
        if (c == '@' && is_mention(text, at))
            out += kNoMention;
    }
    return out;
}

std::string markdown_line(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size())); // four are code
    std::string out = markdown_inline(text);
    if (out.empty())
        return out;
    const char first = text.front();
    const bool is_marker =
        (first == '-' || first == '+') &&
        (text.size() == 1 || text[1] == ' ' || text[1] == '\t' || text[1] == '\n' || text[1] == first);
    if (is_marker || first == '>' || first == '=')
        out.insert(0, "\\");
    else if (const std::size_t digits = number_before_list(text); digits > 0)
        out.insert(digits, "\\");
    return out;
}

std::string markdown_target(std::string_view file) {
    const auto is_plain = [](char c) { return is_word(c) || c == '.' || c == '/' || c == '-'; };
    if (std::all_of(file.begin(), file.end(), is_plain))
        return std::string(file);
    std::string out = "<";
    for (const char c : file) {
        if (c == '<' || c == '>' || c == '\\')
            out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out + ">";
}

std::string markdown_fence(std::string_view text) {
    std::size_t longest = 0, run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return std::string(std::max<std::size_t>(3, longest + 1), '`');
}

} // namespace archsim
