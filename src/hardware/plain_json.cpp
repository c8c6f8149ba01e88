#include "hardware/plain_json.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace archsim {

namespace {

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Characters that a string can hold as they are: ASCII without control characters, quote and backslash.
constexpr auto kPlain = [] {
    std::array<bool, 256> plain{};
    for (std::size_t c = ' '; c < 0x7f; ++c)
        plain[c] = c != '"' && c != '\\';
    return plain;
}();

constexpr bool is_plain(char c) {
    return kPlain[static_cast<unsigned char>(c)];
}

/// The same of eight at once: the lowest bit that is set lies in the first that is not plain, bits above it
/// say nothing.
constexpr std::uint64_t not_plain(std::uint64_t eight) {
    constexpr std::uint64_t kEach = 0x0101010101010101, kHigh = 0x80 * kEach;
    const auto is = [](std::uint64_t bytes, std::uint64_t c) {
        const std::uint64_t other = bytes ^ (c * kEach);
        return (other - kEach) & ~other;
    };
    return ((eight - ' ' * kEach) | eight | is(eight, 0x7f) | is(eight, '"') | is(eight, '\\')) & kHigh;
}

} // namespace

void PlainJson::pass_plain() {
    if constexpr (std::endian::native == std::endian::little)
        for (std::uint64_t eight = 0; end_ - at_ >= static_cast<std::ptrdiff_t>(sizeof eight);
             at_ += sizeof eight) {
            std::memcpy(&eight, at_, sizeof eight);
            if (const std::uint64_t found = not_plain(eight)) {
                at_ += std::countr_zero(found) / 8;
                return;
            }
        }
    while (at_ != end_ && is_plain(*at_))
        ++at_;
}

bool PlainJson::pass(int depth) {
    if (at_end() || depth < 0)
        return false;
    std::string_view value;
    bool whole = false;
    switch (peek()) {
    case '{':
        return members([&](std::string_view) { return pass(depth - 1); });
    case '[':
        return items([&] { return pass(depth - 1); });
    case '"': {
        if (string(value))
            return true;
        std::string rest;
        return rest_of_string(rest);
    }
    case 't':
        return take_word("true");
    case 'f':
        return take_word("false");
    case 'n':
        return take_word("null");
    default:
        return number(value, whole);
    }
}

bool PlainJson::take_word(std::string_view word) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(word))
        return false;
    at_ += word.size();
    return true;
}

bool PlainJson::rest_of_string(std::string& out) {
    constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    for (;;) {
        const char* begin = at_;
        pass_plain();
        out.append(begin, at_);
        if (take('"'))
            return true;
        if (!take('\\') || at_ == end_)
            return false;
        const auto known = kEscapes.find(*at_);
        if (known == std::string_view::npos)
            return false;
        out += kMeanings[known];
        ++at_;
    }
}

bool PlainJson::string(std::string_view& out) {
    if (!take('"'))
        return false;
    const char* begin = at_;
    pass_plain();
    out = {begin, static_cast<std::size_t>(at_ - begin)};
    return take('"');
}

bool PlainJson::number(std::string_view& out, bool& whole) {
    const auto digits = [&] {
        const char* begin = at_;
        while (at_ != end_ && is_digit(*at_))
            ++at_;
        return at_ != begin;
    };
    const char* begin = at_;
    take('-');
    if (!take('0') && !digits())
        return false;
    whole = true;
    if (take('.')) {
        whole = false;
        if (!digits())
            return false;
    }
    if (take('e') || take('E')) {
        whole = false;
        if (!take('+'))
            take('-');
        if (!digits())
            return false;
    }
    out = {begin, static_cast<std::size_t>(at_ - begin)};
    return true;
}

FlatObject::FlatObject(PlainJson& text) {
    sound_ = text.members([&](std::string_view key) {
        if (count_ == members_.size() || text.at_end())
            return false;
        Member& member = members_[count_++];
        member.key = key;
        member.is_text = text.peek() == '"';
        bool whole = false;
        return member.is_text ? text.string(member.value) : text.number(member.value, whole);
    });
}

const FlatObject::Member* FlatObject::find(std::string_view key, Need need) {
    for (const Member& member : std::span(members_.data(), count_))
        if (member.key == key) {
            ++asked_;
            return &member;
        }
    sound_ = sound_ && need == Need::optional;
    return nullptr;
}

std::string_view FlatObject::text(std::string_view key, Need need) {
    const Member* const member = find(key, need);
    if (member == nullptr)
        return {};
    sound_ = sound_ && member->is_text;
    return member->value;
}

double FlatObject::number(std::string_view key, Bounds bounds, Need need) {
    const Member* const member = find(key, need);
    if (member == nullptr)
        return 0;
    double value = 0;
    const char* const end = member->value.data() + member->value.size();
    const auto [stop, error] = std::from_chars(member->value.data(), end, value);
    sound_ = sound_ && !member->is_text && error == std::errc{} && stop == end && value >= bounds.low &&
             value <= bounds.high;
    return value;
}

} // namespace archsim
