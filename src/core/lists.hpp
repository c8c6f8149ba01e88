#pragma once
// Small helpers on lists.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace archsim {

/// Whether one of the values, or of what a member makes of them, is equal to this one.
template <class Values, class Value, class Member = std::identity>
bool contains(const Values& values, const Value& value, Member member = {}) {
    return std::ranges::find(values, value, member) != std::ranges::end(values);
}

/// 0 to `count` - 1: the rows of what is looked up by its place.
inline std::vector<std::size_t> indices(std::size_t count) {
    std::vector<std::size_t> all(count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

/// Copies of those that a condition takes.
template <class Values, class Condition>
auto kept(const Values& values, Condition condition) {
    std::vector<std::ranges::range_value_t<const Values&>> all;
    std::ranges::copy_if(values, std::back_inserter(all), condition);
    return all;
}

/// The results of a function, or a member, for each value, in their order.
template <class Values, class Make>
auto mapped(Values&& values, Make make) {
    using Value = std::ranges::range_reference_t<Values>;
    std::vector<std::remove_cvref_t<std::invoke_result_t<Make&, Value>>> made;
    if constexpr (std::ranges::sized_range<Values>)
        made.reserve(std::ranges::size(values));
    for (auto&& value : values)
        made.push_back(std::invoke(make, value));
    return made;
}

/// The same, each once, where it is first.
template <class Values, class Make = std::identity>
auto distinct(Values&& values, Make make = {}) {
    decltype(mapped(values, make)) once;
    for (auto& one : mapped(values, make))
        if (std::find(once.begin(), once.end(), one) == once.end())
            once.push_back(std::move(one));
    return once;
}

/// Adds values behind the last of a list; those of a list that nobody else holds are moved.
template <class Values, class More>
void append(Values& values, More&& more) {
    for (auto&& one : more)
        if constexpr (std::is_lvalue_reference_v<More> || std::ranges::borrowed_range<More>)
            values.emplace_back(one);
        else
            values.emplace_back(std::move(one));
}

/// The sum of what a function, or a member, makes of each value.
template <class Values, class Of>
auto sum_of(const Values& values, Of of) {
    std::remove_cvref_t<std::invoke_result_t<Of&, std::ranges::range_reference_t<const Values&>>> sum{};
    for (auto&& value : values)
        sum += std::invoke(of, value);
    return sum;
}

/// The largest of them, at least `least`.
template <class Least, class Values, class Of>
Least peak_of(Least least, const Values& values, Of of) {
    for (auto&& value : values)
        least = std::max(least, std::invoke(of, value));
    return least;
}

/// The lists that a function, or a member, gives of each value, behind each other.
template <class Values, class List>
auto flattened(const Values& values, List list) {
    using Value = std::ranges::range_reference_t<const Values&>;
    std::remove_cvref_t<std::invoke_result_t<List&, Value>> all;
    for (auto&& value : values)
        append(all, std::invoke(list, value));
    return all;
}

} // namespace archsim
