// InlineVector against std::vector, Boxed against std::optional.

#include "archsim/core/boxed.hpp"
#include "archsim/core/inline_vector.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

using namespace archsim;

namespace {

using List = InlineVector<int, 3>;

bool same(const List& list, const std::vector<int>& expected) {
    return list.size() == expected.size() && list.empty() == expected.empty() &&
           std::equal(list.begin(), list.end(), expected.begin(), expected.end()) &&
           std::equal(list.rbegin(), list.rend(), expected.rbegin(), expected.rend());
}

} // namespace

TEST_CASE("an inline vector does what std::vector does", "[core]") {
    std::mt19937 random(7);
    const auto below = [&](std::size_t n) {
        return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
    };
    for (int round = 0; round < 200; ++round) {
        List list;
        std::vector<int> expected;
        for (int step = 0; step < 40; ++step) {
            const int value = static_cast<int>(below(10));
            const auto place = static_cast<std::ptrdiff_t>(below(expected.size() + 1));
            const std::vector<int> more(below(4), value);
            switch (below(12)) {
            case 0:
            case 1:
                list.push_back(value);
                expected.push_back(value);
                break;
            case 2:
                list.insert(list.begin() + place, value);
                expected.insert(expected.begin() + place, value);
                break;
            case 3:
                list.insert(list.begin() + place, more.begin(), more.end());
                expected.insert(expected.begin() + place, more.begin(), more.end());
                break;
            case 4:
                list.insert(list.begin() + place, more.size(), value);
                expected.insert(expected.begin() + place, more.size(), value);
                break;
            case 5:
                list.erase(list.begin() + place, list.end());
                expected.erase(expected.begin() + place, expected.end());
                break;
            case 6:
                if (!expected.empty()) {
                    list.erase(list.begin() + place % static_cast<std::ptrdiff_t>(expected.size()));
                    expected.erase(expected.begin() + place % static_cast<std::ptrdiff_t>(expected.size()));
                }
                break;
            case 7:
                list.resize(below(8), value);
                expected.resize(list.size(), value);
                break;
            case 8:
                list.assign(more.begin(), more.end());
                expected = more;
                break;
            case 9: { // by way of a copy
                const List copy = list;
                list = List{value};
                list = copy;
                break;
            }
            case 10: { // by way of a move
                List moved = std::move(list);
                list = {value, value, value, value};
                list = std::move(moved);
                break;
            }
            default:
                if (!expected.empty()) { // an element of its own, which growing would move
                    list.push_back(list.front());
                    expected.push_back(expected.front());
                    list.pop_back();
                    expected.pop_back();
                }
            }
            REQUIRE(same(list, expected));
            REQUIRE((list == List(expected)));
        }
    }
}

TEST_CASE("inline vectors compare as lists and check what at() is given", "[core]") {
    CHECK(List{1, 2} < List{1, 3});
    CHECK(List{1, 2} < List{1, 2, 0});
    CHECK(List{1, 2, 3, 4} != List{1, 2, 3});
    CHECK(List{4, 5}.at(1) == 5);
    CHECK_THROWS_AS((List{4, 5}.at(2)), std::out_of_range);
    CHECK(same(List(5, 9), {9, 9, 9, 9, 9}));
}

TEST_CASE("a boxed value is copied with its box", "[core]") {
    Boxed<std::vector<int>> box;
    CHECK_FALSE(box);
    CHECK((box == Boxed<std::vector<int>>(std::nullopt)));
    box = std::vector<int>{1, 2};
    const Boxed<std::vector<int>> copy = box;
    box->push_back(3);
    CHECK(copy->size() == 2);
    CHECK_FALSE(copy == box);
    CHECK((*box == std::vector<int>{1, 2, 3}));
    box = copy;
    CHECK((box == copy));
    const Boxed<std::vector<int>> moved = std::move(box);
    CHECK((moved == copy));
    box = std::nullopt;
    CHECK_FALSE(box.has_value());
    CHECK_FALSE(box == copy);
}
