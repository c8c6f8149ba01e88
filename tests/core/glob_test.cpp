// Stars match as the C library's do, in bounded time.

#include "core/text.hpp"
#include "support/random_source.hpp"

#include <catch2/catch.hpp>

#include <fnmatch.h>
#include <string>

using archsim::matches_glob;

TEST_CASE("names with stars match as fnmatch says", "[core]") {
    archsim::test::RandomSource random(7);
    int matched = 0;
    for (int i = 0; i < 200'000; ++i) {
        const auto text = [&](std::string_view letters, std::size_t most) {
            std::string made;
            for (std::size_t k = random.below(most); k > 0; --k)
                made += letters[random.below(letters.size())];
            return made;
        };
        std::string pattern = text("ab*?*.", 8);
        if (random.percent(20))
            pattern += random.percent(50) ? "[a-b]" : "[!b.]";
        const std::string name = text("ab.", 8);
        INFO(pattern << " and " << name);
        const bool expected = fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
        matched += expected ? 1 : 0;
        REQUIRE(matches_glob(pattern, name) == expected);
    }
    CHECK(matched > 10'000);
}

TEST_CASE("many stars take no longer than the product of the lengths", "[core][hostile]") {
    std::string pattern;
    for (int i = 0; i < 1000; ++i)
        pattern += "*a";
    CHECK_FALSE(matches_glob(pattern + "b", std::string(5000, 'a')));
    CHECK(matches_glob(pattern, std::string(5000, 'a')));
}
