#pragma once
// Names of enumerations. Files, flags and documents write the value of an enumeration by its name: that of
// the enumerator, as the compiler knows it, unless the enumeration has other names listed beside it.

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace archsim {

/// The enumerator's name; empty for a number that no enumerator has.
template <auto Value>
constexpr std::string_view enumerator_name() {
    // GCC writes "... [with auto Value = archsim::Bound::memory; ...]", Clang "... [Value =
    // archsim::Bound::memory]", and both "(archsim::Bound)9" where there is no enumerator.
    constexpr std::string_view kBefore = "Value = ";
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find(kBefore) + kBefore.size());
    text = text.substr(0, text.find_first_of(";]"));
    return text.front() == '(' ? std::string_view() : text.substr(text.rfind(':') + 1);
}

/// The names of all values from 0 on, but for one at the end that says how many there are (`count_`).
/// Specialised where `all` holds other names, in the order of the values.
template <class Enum>
struct NamesOf {
  private:
    static constexpr std::size_t kMost = 64;
    static constexpr auto kTried = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array{enumerator_name<static_cast<Enum>(I)>()...};
    }
    (std::make_index_sequence<kMost>());
    static constexpr auto kCount = static_cast<std::size_t>(std::ranges::count_if(
        kTried, [](std::string_view name) { return !name.empty() && name != "count_"; }));
    static_assert(kCount < kMost, "an enumeration of so many values needs names of its own, or more tries");

  public:
    static constexpr std::array<std::string_view, kCount> all = [] {
        std::array<std::string_view, kCount> names;
        std::copy_n(kTried.begin(), kCount, names.begin());
        return names;
    }();
};

template <class Enum>
concept Named = std::is_enum_v<Enum>;

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
