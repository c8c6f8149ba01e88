#pragma once
// Parts of C++20 and of Linux that the C++ library of emscripten 3.1.6 (libc++ 14 without threads) lacks.
// Included ahead of every file of that build, so that no other file knows of it.

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <compare>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <ranges>
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

namespace std::ranges { // NOLINT(cert-dcl58-cpp): algorithms on whole ranges, as far as they are used

template <class Range, class Test, class Member = identity>
constexpr auto find_if(Range&& range, Test test, Member member = {}) {
    return std::find_if(std::begin(range), std::end(range),
                        [&](auto&& x) { return std::invoke(test, std::invoke(member, x)); });
}
template <class Range, class Value, class Member = identity>
constexpr auto find(Range&& range, const Value& value, Member member = {}) {
    return std::find_if(std::begin(range), std::end(range),
                        [&](auto&& x) { return std::invoke(member, x) == value; });
}
template <class Range, class Test, class Member = identity>
constexpr bool any_of(Range&& range, Test test, Member member = {}) {
    return ranges::find_if(range, test, member) != std::end(range);
}
template <class Range, class Test, class Member = identity>
constexpr bool none_of(Range&& range, Test test, Member member = {}) {
    return !ranges::any_of(range, test, member);
}
template <class Range, class Test, class Member = identity>
constexpr bool all_of(Range&& range, Test test, Member member = {}) {
    return !ranges::any_of(
        range, [&](auto&& x) { return !std::invoke(test, x); }, member);
}
template <class Range, class Test, class Member = identity>
constexpr auto count_if(Range&& range, Test test, Member member = {}) {
    return std::count_if(std::begin(range), std::end(range),
                         [&](auto&& x) { return std::invoke(test, std::invoke(member, x)); });
}
template <class Range, class Value, class Member = identity>
constexpr auto count(Range&& range, const Value& value, Member member = {}) {
    return ranges::count_if(
        range, [&](auto&& x) { return x == value; }, member);
}

/// Compares two elements by a member of each.
template <class Order, class Member>
constexpr auto by_member(Order& order, Member& member) {
    return [&](auto&& a, auto&& b) {
        return static_cast<bool>(std::invoke(order, std::invoke(member, a), std::invoke(member, b)));
    };
}
template <class Range, class Order = less, class Member = identity>
constexpr void sort(Range&& range, Order order = {}, Member member = {}) {
    std::sort(std::begin(range), std::end(range), by_member(order, member));
}
template <class Range, class Order = less, class Member = identity>
constexpr void stable_sort(Range&& range, Order order = {}, Member member = {}) {
    std::stable_sort(std::begin(range), std::end(range), by_member(order, member));
}
template <class Range, class Order = less, class Member = identity>
constexpr bool is_sorted(Range&& range, Order order = {}, Member member = {}) {
    return std::is_sorted(std::begin(range), std::end(range), by_member(order, member));
}
template <class Range, class Order = less, class Member = identity>
constexpr auto min_element(Range&& range, Order order = {}, Member member = {}) {
    return std::min_element(std::begin(range), std::end(range), by_member(order, member));
}
template <class Range, class Order = less, class Member = identity>
constexpr auto max_element(Range&& range, Order order = {}, Member member = {}) {
    return std::max_element(std::begin(range), std::end(range), by_member(order, member));
}
template <class Range, class Order = less, class Member = identity>
constexpr auto minmax_element(Range&& range, Order order = {}, Member member = {}) {
    return std::minmax_element(std::begin(range), std::end(range), by_member(order, member));
}
template <class Range, class Value, class Order = less, class Member = identity>
constexpr auto lower_bound(Range&& range, const Value& value, Order order = {}, Member member = {}) {
    return std::lower_bound(std::begin(range), std::end(range), value, [&](auto&& x, const Value& v) {
        return static_cast<bool>(std::invoke(order, std::invoke(member, x), v));
    });
}
template <class Range, class Value, class Order = less, class Member = identity>
constexpr auto upper_bound(Range&& range, const Value& value, Order order = {}, Member member = {}) {
    return std::upper_bound(std::begin(range), std::end(range), value, [&](const Value& v, auto&& x) {
        return static_cast<bool>(std::invoke(order, v, std::invoke(member, x)));
    });
}
template <class Range, class Value, class Order = less, class Member = identity>
constexpr bool binary_search(Range&& range, const Value& value, Order order = {}, Member member = {}) {
    const auto at = ranges::lower_bound(range, value, order, member);
    return at != std::end(range) && !std::invoke(order, value, std::invoke(member, *at));
}
template <class Range, class Out, class Test>
constexpr Out copy_if(Range&& range, Out out, Test test) {
    return std::copy_if(std::begin(range), std::end(range), out, std::ref(test));
}
template <class Range, class Value>
constexpr void replace(Range&& range, const Value& from, const Value& to) {
    std::replace(std::begin(range), std::end(range), from, to);
}
template <class Range, class Each>
constexpr void for_each(Range&& range, Each each) {
    std::for_each(std::begin(range), std::end(range), std::ref(each));
}
template <class Range>
constexpr void reverse(Range&& range) {
    std::reverse(std::begin(range), std::end(range));
}

} // namespace std::ranges
