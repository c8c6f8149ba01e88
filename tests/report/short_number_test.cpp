// Numbers with 9 significant digits: the bytes of printf, whatever the number.

#include "answers/sweep/sweep_report.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace {

std::string printed(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

std::string appended(double value) {
    std::string text = "x";
    archsim::append_short_number(value, text);
    return text.substr(1);
}

} // namespace

TEST_CASE("short numbers are those that printf prints", "[number]") {
    CHECK(appended(0.00012) == "0.00012");
    CHECK(appended(1.5e9) == "1.5e+09");
    CHECK(appended(1.0 / 3) == "0.333333333");
    CHECK(appended(120) == "120");
    const auto same = [](double value) {
        for (const double v : {value, -value})
            if (const std::string ours = appended(v); ours != printed(v))
                FAIL(ours << " instead of " << printed(v));
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double v : {0.0, kInfinity, std::numeric_limits<double>::denorm_min(),
                           std::numeric_limits<double>::max(), std::numeric_limits<double>::min(), 1e-18,
                           1e27, 999999999.5, 9999999995.0, 0.0001, 0.00009999999995})
        same(v);
    // Powers of ten, halves between two numbers of nine digits, and their neighbours.
    for (int power = -30; power < 30; ++power)
        for (const double head :
             {1.0, 1.000000005, 9.999999995, 9.99999999949999, 1.25, 5.0, 123456789.5, 100000000.5}) {
            const double v = head * std::pow(10.0, power);
            same(v);
            same(std::nextafter(v, 0));
            same(std::nextafter(v, kInfinity));
        }
    std::mt19937_64 random(7);
    for (int i = 0; i < 400000; ++i) {
        // Of every size, of common size, and with few digits.
        std::uint64_t bits = random();
        double any = 0;
        std::memcpy(&any, &bits, sizeof any);
        if (std::isfinite(any))
            same(any);
        same(std::exp(std::uniform_real_distribution(-30.0, 30.0)(random)));
        same(std::round(std::uniform_real_distribution(0.0, 1e6)(random)) / 1024);
    }
}
