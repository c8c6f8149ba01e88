#include "core/digest.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

// Odd multipliers whose bits are about half ones: the fraction of the golden ratio and of the square root of
// two, in 64 bits. Multiplying by an odd number and folding the upper half are both reversible: two contents
// that differ in one word differ in the digest.
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15u, kRootOfTwo = 0x6a09e667f3bcc909u;

static std::uint64_t folded(std::uint64_t value) {
    return value ^ value >> 32U;
}

void Digest::mix(std::uint64_t word) {
    first_ = folded((first_ ^ word) * kGolden);
    second_ = folded((second_ + word) * kRootOfTwo);
}

void Digest::bytes(std::string_view data) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    std::size_t filled = size_ % kWord;
    size_ += data.size();
    std::uint64_t word = 0;
    if (filled > 0) {
        const std::size_t taken = std::min(kWord - filled, data.size());
        std::memcpy(rest_.data() + filled, data.data(), taken);
        data.remove_prefix(taken);
        filled += taken;
        if (filled < kWord)
            return;
        std::memcpy(&word, rest_.data(), kWord);
        mix(word);
    }
    for (; data.size() >= kWord; data.remove_prefix(kWord)) {
        std::memcpy(&word, data.data(), kWord);
        mix(word);
    }
    if (!data.empty())
        std::memcpy(rest_.data(), data.data(), data.size());
}

std::string Digest::hex() const {
    Digest last = *this;
    std::uint64_t word = 0;
    std::memcpy(&word, rest_.data(), size_ % sizeof word);
    last.mix(word);
    last.mix(size_);
    last.mix(0);
    return fmt::format("{:016x}{:016x}", last.first_, last.second_);
}

} // namespace archsim
