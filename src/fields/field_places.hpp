#pragma once
// Rows of fields whose value lies at one place of what is asked: how a text goes in and comes out there.

#include "fields/question.hpp"

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace archsim {

/// A place as a function of what is asked: member_at(&Question::conditions, &Conditions::scope).
template <class... Member>
auto member_at(Member... member) {
    return [=](auto& asked) -> auto& {
        return (asked.*....*member);
    };
}

/// Field::parse that puts there what `read` makes of a text and of the field's name.
template <class At, class Read>
auto into(At at, Read read) {
    return [=](const std::string& text, const std::string& name, auto& asked) {
        auto& place = at(asked);
        place = static_cast<std::remove_reference_t<decltype(place)>>(read(text, name));
    };
}

/// The same for a whole number within bounds.
template <class At>
auto into_whole(At at, std::int64_t low, std::int64_t high) {
    return into(at, [=](const std::string& text, const std::string& name) {
        return whole_of(text, name, low, high);
    });
}

/// A truth, given where the place has another than `usual`.
template <class Asked, class At>
Field<Asked> truth_field(Field<Asked> row, At at, bool usual = false) {
    row.kind = FieldKind::truth;
    row.print = [=](const Asked& asked) { return truth_text(at(asked) != usual); };
    row.parse = into(
        at, [=](const std::string& text, const std::string& name) { return truth_of(text, name) != usual; });
    return row;
}

/// One of the names of an enumeration.
template <class Asked, class At>
Field<Asked> named_field(Field<Asked> row, At at) {
    using Choice = std::remove_cvref_t<decltype(at(std::declval<Asked&>()))>;
    constexpr auto& all = NamesOf<Choice>::all;
    row.choices.assign(all.begin(), all.end());
    row.fallback = row.choices.front();
    row.print = [=](const Asked& asked) { return text_or_none(std::string(name_of(at(asked)))); };
    row.parse = into(at, choice_named<Choice>);
    return row;
}

} // namespace archsim
