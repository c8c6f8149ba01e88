#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace archsim {

static bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

struct Character {
    std::size_t length = 0; ///< bytes; 0: no valid UTF-8 begins here
    std::uint32_t code = 0;
};

/// Smallest code point of characters of so many bytes; a longer form of it is not valid.
constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};

static Character character_at(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    if (first < 0x80)
        return {1, first};
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length)
        return {};
    std::uint32_t code = first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if (!is_continuation(text[i]))
            return {};
        code = code << 6 | (static_cast<unsigned char>(text[i]) & 0x3fU);
    }
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < kLeast[length] || code > 0x10ffff || surrogate ? Character{} : Character{length, code};
}

/// Whether line ends and tabs are text, or shown like other control characters.
enum class Lines : std::uint8_t { kept, shown };

static bool is_shown(std::uint32_t code, Lines lines) {
    const bool kept = lines == Lines::kept && (code == '\n' || code == '\t');
    const bool control = code < 0x20 ? !kept : code >= 0x7f && code <= 0x9f;
    const bool ends_line = code == 0x2028 || code == 0x2029; // for editors and browsers
    const bool turns_direction = code == 0x061c || code == 0x200e || code == 0x200f ||
                                 (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return control || ends_line || turns_direction;
}

/// Bytes of a colour that begins here: ESC [ digits m.
static std::size_t colour_at(std::string_view text) {
    if (!text.starts_with("\033["))
        return 0;
    const std::size_t end = text.find_first_not_of("0123456789", 2);
    return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

/// `text` with `escaped(code, is_byte)` in place of every character that is not shown; `skip` says how many
/// bytes at a place may pass unseen.
template <class Skip, class Escape>
static std::string escaped(std::string text, Lines lines, Skip skip, Escape escape) {
    const std::string_view given = text;
    std::string shown;
    std::size_t kept = 0; // what lies before is in `shown`
    for (std::size_t at = 0; at < given.size();) {
        const auto byte = static_cast<unsigned char>(given[at]);
        if (byte >= 0x20 && byte < 0x7f) { // nearly all
            ++at;
            continue;
        }
        if (const std::size_t passed = skip(given.substr(at)); passed > 0) {
            at += passed;
            continue;
        }
        const Character c = character_at(given.substr(at));
        if (c.length > 0 && !is_shown(c.code, lines)) {
            at += c.length;
            continue;
        }
        shown += given.substr(kept, at - kept);
        shown += escape(c.length > 0 ? c.code : std::uint32_t{byte});
        at += c.length > 0 ? c.length : 1;
        kept = at;
    }
    if (kept == 0)
        return text;
    return shown += given.substr(kept);
}

static std::string shown(std::string text, Lines lines, Colours colours) {
    return escaped(
        std::move(text), lines,
        [&](std::string_view rest) { return colours == Colours::kept ? colour_at(rest) : std::size_t{0}; },
        [](std::uint32_t code) {
            return code >= 0x100 ? fmt::format("\\u{:04x}", code) : fmt::format("\\x{:02x}", code);
        });
}

std::string printable(std::string text, Colours colours) {
    return shown(std::move(text), Lines::kept, colours);
}

std::string one_line(std::string text, std::size_t most) {
    if (text.size() > most) {
        std::size_t head = 3 * (most / 4), tail = text.size() - most / 4;
        while (head > 0 && is_continuation(text[head]))
            --head;
        while (tail < text.size() && is_continuation(text[tail]))
            ++tail;
        text = fmt::format("{} [... {} bytes ...] {}", std::string_view(text).substr(0, head), tail - head,
                           std::string_view(text).substr(tail));
    }
    return shown(std::move(text), Lines::shown, Colours::none);
}

std::string without_commands(std::string lines) {
    constexpr std::string_view kCommand = "::", kOldCommand = "##[";
    for (std::size_t at = 0; at < lines.size();) {
        const std::size_t first = std::min(lines.find_first_not_of(" \t", at), lines.size());
        if (std::string_view(lines).substr(first).starts_with(kCommand))
            lines.replace(first, 1, "\\x3a");
        at = std::min(lines.find('\n', first), lines.size() - 1) + 1;
    }
    for (std::size_t at = lines.find(kOldCommand); at != std::string::npos; at = lines.find(kOldCommand, at))
        lines.replace(at, 1, "\\x23");
    return lines;
}

std::string printable_json(std::string document) {
    return escaped(
        std::move(document), Lines::kept, [](std::string_view) { return std::size_t{0}; },
        [](std::uint32_t code) { return fmt::format("\\u{:04x}", code); });
}

} // namespace archsim
