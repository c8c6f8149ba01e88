// Laws over random networks, devices and what-ifs: some of them with the other tests, as many as one has time
// for with scripts/laws.

#include "support/random_laws.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace archsim;

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

void check(const test::LawOptions& options, bool tell) {
    for (const test::LawTally& tally : test::check_random_laws(options)) {
        if (tell)
            std::printf("%8llu checks, %6llu violations: %s\n", static_cast<unsigned long long>(tally.checks),
                        static_cast<unsigned long long>(tally.violations), std::string(tally.law).c_str());
        for (const std::string& violation : tally.first_violations) {
            INFO(tally.law << ": " << violation);
            CHECK(tally.violations == 0);
        }
    }
}

} // namespace

TEST_CASE("random networks keep the laws", "[laws]") {
    constexpr std::uint64_t kNetworks = 60;
    test::LawOptions options;
    options.go_on = [](std::uint64_t asked) { return asked < kNetworks; };
    check(options, false);
}

TEST_CASE("random networks keep the laws for as long as there is time", "[.random_laws]") {
    test::LawOptions options;
    const std::string seconds = variable("ARCHSIM_LAWS_SECONDS"), seed = variable("ARCHSIM_LAWS_SEED");
    options.seed = seed.empty() ? 1 : std::stoull(seed);
    options.only = variable("ARCHSIM_LAWS_ONLY");
    options.device = variable("ARCHSIM_LAWS_DEVICE");
    const std::chrono::duration<double> time(seconds.empty() ? 60 : std::stod(seconds));
    const auto begin = std::chrono::steady_clock::now();
    options.go_on = [&](std::uint64_t) { return std::chrono::steady_clock::now() - begin < time; };
    check(options, true);
}
