#pragma once
// What the C++ library of emscripten 3.1.6 (libc++ 14 without threads) lacks of C++20 and of Linux. Included
// ahead of every file of that build, so that no other file knows of it.

#include <array>
#include <cerrno>
#include <charconv>
#include <compare>
#include <cstdlib>
#include <functional>
#include <spawn.h>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>

/// A page starts no programs.
extern "C" inline int posix_spawnp(pid_t*, const char*, const posix_spawn_file_actions_t*,
                                   const posix_spawnattr_t*, char* const*, char* const*) {
    return ENOSYS;
}

namespace std { // NOLINT(cert-dcl58-cpp): these names are the standard's, with its meaning

/// The bytes of one type as another.
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
    static_assert(sizeof(To) == sizeof(From));
    return __builtin_bit_cast(To, from);
}

/// Lexicographic order.
template <class T, size_t N>
constexpr auto operator<=>(const array<T, N>& a, const array<T, N>& b) -> decltype(a[0] <=> b[0]) {
    for (size_t i = 0; i < N; ++i)
        if (const auto order = a[i] <=> b[i]; order != 0)
            return order;
    return strong_ordering::equal;
}
inline strong_ordering operator<=>(const string& a, const string& b) {
    return a.compare(b) <=> 0;
}

/// A thread that has ended when its constructor returns: there is one processor. An exception that leaves the
/// function ends the program, as in a thread.
class jthread {
  public:
    jthread() = default;
    template <class Function, class... Arguments>
    explicit jthread(Function&& function, Arguments&&... arguments) noexcept {
        std::invoke(std::forward<Function>(function), std::forward<Arguments>(arguments)...);
    }
};

/// The longest decimal number at the beginning of the text, by strtod(), which rounds to nearest here and
/// knows no other locale. What it would take beyond from_chars (white space, a plus sign, hexadecimal
/// digits) is cut off first.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
    const char* at = first;
    const auto digits = [&] {
        const char* const begin = at;
        while (at != last && *at >= '0' && *at <= '9')
            ++at;
        return at != begin;
    };
    at += at != last && *at == '-';
    bool any = digits();
    if (at != last && *at == '.') {
        ++at;
        any = digits() || any;
    }
    if (!any)
        return {first, errc::invalid_argument};
    if (at != last && (*at == 'e' || *at == 'E')) {
        const char* const exponent = at++;
        at += at != last && (*at == '-' || *at == '+');
        if (!digits())
            at = exponent;
    }
    const string text(first, at);
    const double number = strtod(text.c_str(), nullptr);
    // Both signs of infinity, and a zero made of other digits, are out of range.
    const bool nothing = text.find_first_of("123456789") >= text.find_first_of("eE");
    if (number - number != 0 || (number == 0 && !nothing))
        return {at, errc::result_out_of_range};
    value = number;
    return {at, errc{}};
}

} // namespace std
