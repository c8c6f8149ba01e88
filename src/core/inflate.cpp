#include "core/inflate.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

namespace archsim {

namespace {

constexpr int kLongestCode = 15;
/// One symbol of a bit at least stands for 258 bytes.
constexpr std::size_t kMostGrowth = 258 * 8;

/// Bits from the lowest of each byte on. Behind the end there are zeros, which overrun() tells.
class Bits {
  public:
    explicit Bits(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    /// The next `count` <= 32 bits without taking them.
    std::uint32_t peek(int count) {
        if (held_ < count)
            refill();
        return static_cast<std::uint32_t>(buffer_ & ((std::uint64_t{1} << count) - 1));
    }
    void skip(int count) {
        buffer_ >>= count;
        held_ -= count;
    }
    std::uint32_t take(int count) {
        const std::uint32_t bits = peek(count);
        skip(count);
        return bits;
    }
    bool overrun() const { return static_cast<std::size_t>(padding_) > static_cast<std::size_t>(held_) / 8; }

    /// Drops what is left of a byte; returns the position of the next.
    std::size_t to_byte() {
        skip(held_ % 8);
        const std::size_t position = at_ + padding_ - static_cast<std::size_t>(held_) / 8;
        buffer_ = 0;
        held_ = 0;
        padding_ = 0;
        at_ = std::min(position, bytes_.size());
        return position;
    }
    void advance(std::size_t count) { at_ += count; }

  private:
    void refill() {
        for (; held_ <= 56; held_ += 8) {
            if (at_ < bytes_.size())
                buffer_ |= std::uint64_t{bytes_[at_++]} << held_;
            else
                ++padding_;
        }
    }

    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0, padding_ = 0;
    std::uint64_t buffer_ = 0;
    int held_ = 0;
};

/// A canonical prefix code as a table over the next bits.
class PrefixCode {
  public:
    /// From the code length of every symbol, 0 for one that does not occur. False when there are more codes
    /// than their lengths leave room for.
    bool assign(std::span<const std::uint8_t> lengths) {
        std::array<std::uint32_t, kLongestCode + 1> count{}, next{};
        for (const std::uint8_t length : lengths)
            ++count[length];
        count[0] = 0;
        bits_ = 1;
        std::uint32_t code = 0;
        for (int length = 1; length <= kLongestCode; ++length) {
            const auto at = static_cast<std::size_t>(length);
            code = (code + count[at - 1]) << 1;
            next[at] = code;
            if (code + count[at] > (1U << length))
                return false;
            if (count[at] > 0)
                bits_ = length;
        }
        entries_.assign(std::size_t{1} << bits_, Entry{});
        for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
            if (const std::uint8_t length = lengths[symbol]; length > 0)
                fill(next[length]++, length, symbol);
        return true;
    }

    /// The next symbol, or -1 where the bits are no code.
    int symbol(Bits& bits) const {
        const Entry entry = entries_[bits.peek(bits_)];
        if (entry.length == 0)
            return -1;
        bits.skip(entry.length);
        return entry.symbol;
    }

  private:
    struct Entry {
        std::uint16_t symbol = 0;
        std::uint8_t length = 0;
    };

    /// Codes are read from their highest bit on, everything else from its lowest.
    void fill(std::uint32_t code, std::uint8_t length, std::size_t symbol) {
        std::uint32_t reversed = 0;
        for (int i = 0; i < length; ++i)
            reversed |= (code >> i & 1U) << (length - 1 - i);
        for (std::size_t at = reversed; at < entries_.size(); at += std::size_t{1} << length)
            entries_[at] = {static_cast<std::uint16_t>(symbol), length};
    }

    std::vector<Entry> entries_;
    int bits_ = 1;
};

/// A length or distance: the smallest of its symbol, and further bits that are added.
struct Reach {
    std::uint16_t base;
    std::uint8_t more;
};
constexpr std::array<Reach, 29> kLengths = {
    {{3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
     {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
     {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}}};
constexpr std::array<Reach, 30> kDistances = {
    {{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},     {9, 2},     {13, 2},
     {17, 3},    {25, 3},    {33, 4},    {49, 4},     {65, 5},     {97, 5},    {129, 6},   {193, 6},
     {257, 7},   {385, 7},   {513, 8},   {769, 8},    {1025, 9},   {1537, 9},  {2049, 10}, {3073, 10},
     {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}}};

class Inflater {
  public:
    Inflater(std::span<const std::uint8_t> packed, std::size_t size)
        : packed_(packed), bits_(packed), size_(size) {
        // What the file claims, as far as its length makes it possible.
        out_.reserve(std::min(size, packed.size() * kMostGrowth));
    }

    /// Position behind the last block, or nothing when a block is damaged or there is more than `size` bytes.
    std::optional<std::size_t> run() {
        for (bool last = false; !last;) {
            last = bits_.take(1) != 0;
            const std::uint32_t kind = bits_.take(2);
            const bool fine = kind == 0   ? stored()
                              : kind == 1 ? fixed_codes() && block()
                              : kind == 2 ? own_codes() && block()
                                          : false;
            if (!fine || bits_.overrun())
                return std::nullopt;
        }
        return bits_.to_byte();
    }

    std::vector<std::uint8_t> take() { return std::move(out_); }

  private:
    bool stored() {
        const std::size_t at = bits_.to_byte();
        if (at > packed_.size() || packed_.size() - at < 4)
            return false;
        const std::size_t count = packed_[at] + packed_[at + 1] * std::size_t{256};
        const std::size_t check = packed_[at + 2] + packed_[at + 3] * std::size_t{256};
        if ((count ^ check) != 0xFFFF || packed_.size() - at - 4 < count || size_ - out_.size() < count)
            return false;
        const auto from = packed_.subspan(at + 4, count);
        out_.insert(out_.end(), from.begin(), from.end());
        bits_.advance(4 + count);
        return true;
    }

    bool fixed_codes() {
        std::array<std::uint8_t, 288> lengths{};
        std::fill(lengths.begin(), lengths.end(), std::uint8_t{8});
        std::fill(lengths.begin() + 144, lengths.begin() + 256, std::uint8_t{9});
        std::fill(lengths.begin() + 256, lengths.begin() + 280, std::uint8_t{7});
        std::array<std::uint8_t, 30> distances{};
        std::fill(distances.begin(), distances.end(), std::uint8_t{5});
        return literals_.assign(lengths) && distances_.assign(distances);
    }

    /// Reads the codes of a block: their lengths, run-length encoded, in a code of their own.
    bool own_codes() {
        const std::size_t literals = bits_.take(5) + 257, distances = bits_.take(5) + 1,
                          in_code = bits_.take(4) + 4;
        constexpr std::array<std::uint8_t, 19> kOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                         11, 4,  12, 3, 13, 2, 14, 1, 15};
        std::array<std::uint8_t, 19> of_code{};
        for (std::size_t i = 0; i < in_code; ++i)
            of_code[kOrder[i]] = static_cast<std::uint8_t>(bits_.take(3));
        if (!code_of_lengths_.assign(of_code))
            return false;
        std::array<std::uint8_t, 32 + 288> lengths{};
        for (std::size_t i = 0; i < literals + distances;) {
            const int symbol = code_of_lengths_.symbol(bits_);
            if (symbol < 0 || bits_.overrun() || (symbol == 16 && i == 0))
                return false;
            std::size_t count = 1;
            std::uint8_t length = 0;
            if (symbol < 16) {
                length = static_cast<std::uint8_t>(symbol);
            } else if (symbol == 16) {
                length = lengths[i - 1];
                count = 3 + bits_.take(2);
            } else {
                count = symbol == 17 ? 3 + bits_.take(3) : 11 + bits_.take(7);
            }
            if (count > literals + distances - i)
                return false;
            std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(i), count, length);
            i += count;
        }
        const std::span<const std::uint8_t> all(lengths);
        return literals_.assign(all.first(literals)) && distances_.assign(all.subspan(literals, distances));
    }

    bool block() {
        constexpr int kEnd = 256;
        while (!bits_.overrun()) {
            const int symbol = literals_.symbol(bits_);
            if (symbol == kEnd)
                return true;
            if (symbol < 0 || out_.size() == size_)
                return false;
            if (symbol < kEnd) {
                out_.push_back(static_cast<std::uint8_t>(symbol));
                continue;
            }
            const auto long_by = static_cast<std::size_t>(symbol - kEnd - 1);
            if (long_by >= kLengths.size())
                return false;
            const std::size_t length = kLengths[long_by].base + bits_.take(kLengths[long_by].more);
            const int back = distances_.symbol(bits_);
            if (back < 0 || static_cast<std::size_t>(back) >= kDistances.size())
                return false;
            const Reach reach = kDistances[static_cast<std::size_t>(back)];
            if (!copy(reach.base + bits_.take(reach.more), length))
                return false;
        }
        return false;
    }

    /// Repeats `length` bytes from `distance` back; they may be among those that it adds.
    bool copy(std::size_t distance, std::size_t length) {
        const std::size_t had = out_.size();
        if (distance > had || size_ - had < length)
            return false;
        out_.resize(had + length);
        std::uint8_t* const to = out_.data() + had;
        if (distance >= length)
            std::memcpy(to, to - distance, length);
        else
            for (std::size_t i = 0; i < length; ++i)
                to[i] = to[static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(distance)];
        return true;
    }

    std::span<const std::uint8_t> packed_;
    Bits bits_;
    std::size_t size_;
    std::vector<std::uint8_t> out_;
    PrefixCode literals_, distances_, code_of_lengths_;
};

} // namespace

std::optional<Inflated> inflate(std::span<const std::uint8_t> packed, std::size_t most) {
    Inflater inflater(packed, most);
    const auto end = inflater.run();
    if (!end || *end > packed.size())
        return std::nullopt;
    return Inflated{inflater.take(), *end};
}

} // namespace archsim
