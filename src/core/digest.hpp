#pragma once
// A digest of 128 bits by which equal contents are known again: of what decides a result, and of rows in a
// file. It finds accidents, not forgeries: whoever can change a file can make one with the same digest.

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace archsim {

class Digest {
  public:
    /// Bytes as they are: the same in one piece or in many.
    void bytes(std::string_view data);
    /// A text with its length, so that "ab", "c" differs from "a", "bc".
    void text(std::string_view value) {
        number(value.size());
        bytes(value);
    }
    /// A number of any kind, or an enumerator, by its value.
    template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void number(T value) {
        if constexpr (std::is_floating_point_v<T>) {
            const auto wide = static_cast<double>(value);
            std::uint64_t word = 0;
            static_assert(sizeof wide == sizeof word);
            std::memcpy(&word, &wide, sizeof word);
            word_bytes(word);
        } else {
            word_bytes(static_cast<std::uint64_t>(value));
        }
    }
    /// 32 hexadecimal digits; more may follow.
    std::string hex() const;

  private:
    void word_bytes(std::uint64_t word) {
        std::array<char, sizeof word> data;
        std::memcpy(data.data(), &word, sizeof word);
        bytes({data.data(), data.size()});
    }
    void mix(std::uint64_t word);

    std::uint64_t first_ = 0x9e3779b97f4a7c15u, second_ = 0xc2b2ae3d27d4eb4fu;
    std::uint64_t size_ = 0;
    std::array<char, 8> rest_{}; ///< the last size_ % 8 bytes
};

} // namespace archsim
