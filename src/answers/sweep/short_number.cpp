#include "answers/sweep/short_number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace archsim {

namespace {

constexpr int kDigits = 9;
constexpr std::uint32_t kLeast = 100'000'000, kMost = 1'000'000'000; ///< of whole numbers with 9 digits
/// Powers of ten up to here are exact in 64 bits of mantissa.
constexpr int kExactPower = 27;
/// A product with one rounding of 64 bits is this near to the truth; nearer to a half nobody knows.
constexpr double kDoubt = 1e-9;

constexpr auto kPowers = [] {
    std::array<long double, kExactPower + 1> powers{};
    long double power = 1;
    for (long double& entry : powers) {
        entry = power;
        power *= 10;
    }
    return powers;
}();

/// Nine digits and the decimal exponent of the first.
struct Decimal {
    std::uint32_t digits = 0;
    int exponent = 0;
};

/// Value x 10^(8 - exponent).
long double shifted(double value, int exponent) {
    const int up = kDigits - 1 - exponent;
    return up >= 0 ? value * kPowers[static_cast<std::size_t>(up)]
                   : value / kPowers[static_cast<std::size_t>(-up)];
}

/// False where nine digits cannot be told from here. `value` is positive and of common size.
bool find_digits(double value, Decimal& decimal) {
    // From the binary exponent: log10(2) is 1233 / 4096, which is one too low at most.
    const int binary = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 52) - 1023;
    int exponent = (binary * 1233) >> 12;
    long double scaled = shifted(value, exponent);
    if (scaled >= kMost)
        scaled = shifted(value, ++exponent);
    const auto whole = static_cast<std::uint32_t>(scaled);
    const auto rest = static_cast<double>(scaled - whole);
    if (std::abs(rest - 0.5) < kDoubt)
        return false;
    decimal = {whole + (rest > 0.5 ? 1U : 0U), exponent};
    if (decimal.digits == kMost)
        decimal = {kLeast, exponent + 1};
    return true;
}

/// Writes the digits to `at`; returns the end.
char* write(const Decimal& decimal, char* at) {
    std::array<char, kDigits> digits{};
    std::uint32_t rest = decimal.digits;
    for (std::size_t i = kDigits; i-- > 0; rest /= 10)
        digits[i] = static_cast<char>('0' + rest % 10);
    int count = kDigits;
    while (count > 1 && digits[static_cast<std::size_t>(count) - 1] == '0')
        --count;
    const auto put = [&](int from, int to) { at = std::copy(digits.data() + from, digits.data() + to, at); };
    const int exponent = decimal.exponent;
    if (exponent < -4 || exponent >= kDigits) {
        put(0, 1);
        if (count > 1)
            *at++ = '.';
        put(1, count);
        const int size = std::abs(exponent);
        *at++ = 'e';
        *at++ = exponent < 0 ? '-' : '+';
        *at++ = static_cast<char>('0' + size / 10);
        *at++ = static_cast<char>('0' + size % 10);
    } else if (exponent < 0) {
        *at++ = '0';
        *at++ = '.';
        at = std::fill_n(at, -exponent - 1, '0');
        put(0, count);
    } else {
        put(0, exponent + 1); // zeros up to the point are digits
        if (count > exponent + 1) {
            *at++ = '.';
            put(exponent + 1, count);
        }
    }
    return at;
}

} // namespace

void append_short_number(double value, std::string& text) {
    // What a power of ten that is exact brings to nine digits; the rest, and zero, are rare.
    constexpr double kSmallest = 1e-18, kLargest = 1e27;
    const double size = std::abs(value);
    std::array<char, 32> digits; // sign, point, exponent and 9 digits fit
    char* at = digits.data();
    Decimal decimal;
    if (std::numeric_limits<long double>::digits >= 64 && size > kSmallest && size < kLargest &&
        find_digits(size, decimal)) {
        if (value < 0)
            *at++ = '-';
        at = write(decimal, at);
    } else {
        at = std::to_chars(at, digits.data() + digits.size(), value, std::chars_format::general, kDigits).ptr;
    }
    text.append(digits.data(), at);
}

} // namespace archsim
