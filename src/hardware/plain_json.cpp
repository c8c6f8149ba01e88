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

/// Characters at once, which processors compare in one instruction.
constexpr std::size_t kSixteen = 16;
using Sixteen [[gnu::vector_size(kSixteen)]] = signed char;

/// What a string cannot hold as it is: control characters, what is no ASCII (negative here), quote and
/// backslash.
template <class Characters>
auto ends_plain(Characters c) {
    return (c < ' ') | (c == '"') | (c == '\\');
}

/// Which byte, in the order of memory, is the first that is not 0.
int first_byte(std::uint64_t eight) {
    return (std::endian::native == std::endian::little ? std::countr_zero(eight) : std::countl_zero(eight)) /
           8;
}

} // namespace

void PlainJson::pass_plain() {
    Sixteen sixteen;
    for (; end_ - at_ >= static_cast<std::ptrdiff_t>(kSixteen); at_ += kSixteen) {
        std::memcpy(&sixteen, at_, kSixteen);
        const auto found = std::bit_cast<std::array<std::uint64_t, 2>>(ends_plain(sixteen));
        if ((found[0] | found[1]) != 0) {
            at_ += found[0] != 0 ? first_byte(found[0]) : 8 + first_byte(found[1]);
            return;
        }
    }
    while (at_ != end_ && !ends_plain(static_cast<signed char>(*at_)))
        ++at_;
}

bool PlainJson::pass_string() {
    std::string_view value;
    std::string rest;
    return string(value) || rest_of_string(rest);
}

bool PlainJson::pass_list() {
    for (int open = 0; at_ != end_;) {
        const char c = *at_;
        if (c == '"') {
            if (!pass_string())
                return false;
            continue;
        }
        ++at_;
        if (c == '{' || c == '[')
            ++open;
        else if ((c == '}' || c == ']') && --open == 0)
            return true;
    }
    return false;
}

bool PlainJson::pass() {
    if (at_end())
        return false;
    std::string_view value;
    bool whole = false;
    switch (peek()) {
    case '{':
    case '[':
        return pass_list();
    case '"':
        return pass_string();
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
