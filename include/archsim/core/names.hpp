#pragma once
// Names of enumerations. Files, flags and documents write the value of an enumeration by its name, so each
// has one list of names beside it, in the order of its values.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace archsim {

/// Specialised beside an enumeration: `all` holds its names.
template <class Enum>
struct NamesOf;

template <class Enum>
concept Named = requires {
    NamesOf<Enum>::all.size();
};

/// Empty for a number that is no value of it.
template <Named Enum>
constexpr std::string_view name_of(Enum value) {
    const auto at = static_cast<std::size_t>(value);
    return at < NamesOf<Enum>::all.size() ? NamesOf<Enum>::all[at] : std::string_view();
}

/// The value of that name; absent where none has it.
template <Named Enum>
constexpr std::optional<Enum> value_named(std::string_view name) {
    for (std::size_t i = 0; i < NamesOf<Enum>::all.size(); ++i)
        if (NamesOf<Enum>::all[i] == name)
            return static_cast<Enum>(i);
    return std::nullopt;
}

} // namespace archsim
