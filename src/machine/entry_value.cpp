#include "machine/entry_value.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

std::string json_text_of(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c >= ' ' && c <= '~' ? c : '?';
    }
    return out + '"';
}

} // namespace

EntryValue::EntryValue(double number)
    : kind_(Kind::scalar), number_(number), scalar_(fmt::format("{}", number)) {}

EntryValue::EntryValue(std::string_view text) : kind_(Kind::scalar), scalar_(json_text_of(text)) {}

EntryValue EntryValue::object(std::initializer_list<std::pair<std::string_view, EntryValue>> members) {
    EntryValue value;
    for (const auto& [key, member] : members)
        value.members_.emplace_back(key, member);
    return value;
}

EntryValue EntryValue::list() {
    EntryValue value;
    value.kind_ = Kind::list;
    return value;
}

EntryValue EntryValue::flag(bool value) {
    EntryValue result;
    result.kind_ = Kind::scalar;
    result.scalar_ = value ? "true" : "false";
    return result;
}

EntryValue& EntryValue::operator[](std::string_view key) {
    for (auto& [name, member] : members_)
        if (name == key)
            return member;
    return members_.emplace_back(std::string(key), EntryValue()).second;
}

void EntryValue::push_back(EntryValue item) {
    items_.push_back(std::move(item));
}

std::string EntryValue::json() const {
    std::string text;
    switch (kind_) {
    case Kind::scalar:
        return scalar_;
    case Kind::list:
        for (const EntryValue& item : items_)
            text += (text.empty() ? "" : ", ") + item.json();
        return '[' + text + ']';
    case Kind::members:
        break;
    }
    for (const auto& [name, member] : members_)
        text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", json_text_of(name), member.json());
    return '{' + text + '}';
}

} // namespace archsim
