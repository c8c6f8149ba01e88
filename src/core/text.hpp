#pragma once
// Small helpers on names; names with stars, as shells write them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

std::string lower_case(std::string_view text);
/// "fastest" of "Fastest", but not of "GPU": abbreviations stay.
std::string first_lower(std::string text);
bool same_ignoring_case(std::string_view a, std::string_view b);
/// Lower case, with blanks and underscores as hyphens: the form in which ids and aliases are compared.
std::string name_key(std::string_view name);
/// Letters and digits alone, in lower case: what people remember of a name. "ResNet-50" -> "resnet50".
std::string bare_name(std::string_view name);
/// True when one of two JSON pointers is, or lies inside, the other.
bool same_place(std::string_view a, std::string_view b);
/// The name of an enumerator, which stands at its number; empty where none does.
template <class Enum, std::size_t Count>
constexpr std::string_view name_in(const std::string_view (&names)[Count], Enum value) {
    const auto at = static_cast<std::size_t>(value);
    return at < Count ? names[at] : std::string_view();
}
/// Up to `limit` known names closest to `name` by edit distance.
std::vector<std::string> nearest_names(std::string_view name, const std::vector<std::string>& known,
                                       std::size_t limit = 3);
/// "A, B, C and 3 more".
std::string names_text(const std::vector<std::string>& names, std::size_t most = 3);
/// "a, b or c"
template <class Names>
std::string either_of(const Names& names) {
    std::string text;
    std::size_t left = names.size();
    for (const auto& name : names) {
        text += name;
        --left;
        if (left > 0)
            text += left == 1 ? " or " : ", ";
    }
    return text;
}

/// A text as a part of one line, printable() with line ends and tabs shown as well ("\x0a"); of more than
/// `most` bytes the middle is left out, which the line says.
std::string one_line(std::string text, std::size_t most = 8192);

/// The same lines, none of which a log of GitHub takes for a command: what begins one ("::error::", behind
/// blanks too, and "##[error]" anywhere) has its first sign shown as "\x3a" or "\x23".
std::string without_commands(std::string lines);

/// Whether colours of a terminal (ESC [ digits m) may stay.
enum class Colours : std::uint8_t { none, kept };

/// The same text in valid UTF-8 and without control characters but newline and tab: every other one, every
/// byte that is no UTF-8, and marks that reverse the reading direction are shown as "\x1b" or "\u202e".
std::string printable(std::string text, Colours colours = Colours::none);

/// A JSON document in valid UTF-8 whose strings hold none of those characters either: JSON's own escapes
/// ("\u009b") stand for them, so that its meaning stays.
std::string printable_json(std::string document);

/// The two sides of "NAME=VALUE", split at the first equals sign; nothing when a side is empty or the sign is
/// missing. split_assignment("batch=8") is {"batch", "8"}.
std::optional<std::pair<std::string_view, std::string_view>> split_assignment(std::string_view text);

/// The pieces between separators: split("4x,,2x", ',') is {"4x", "", "2x"}; an empty text is one empty piece.
std::vector<std::string> split(std::string_view text, char separator);

/// Whether `name` is what a pattern stands for: `*` any characters, `?` one, `[a-c]` and `[!a-c]` one of a
/// set, a backslash the next character as it is. At worst the product of both lengths in steps.
bool matches_glob(std::string_view pattern, std::string_view name);

} // namespace archsim
