#include "common/serving_options.hpp"

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim::cli {

void ServingOptions::add_to(Flags& flags, ServingSelection selection) {
    selection_ = std::move(selection);
    for (const ServingField& field : serving_fields()) {
        if (!takes(field))
            continue;
        std::string fallback = field.fallback;
        for (const auto* own : {&selection_.usual, &selection_.found})
            if (const auto at = own->find(field.key); at != own->end())
                fallback = at->second;
        const std::string help = field.help + (fallback.empty() ? "" : " (default: " + fallback + ")");
        std::string names = field.flag;
        for (const std::string& alias : field.aliases)
            if (alias.starts_with("--"))
                names += "," + alias;
        Option option = field.kind == FieldKind::truth ? flags.add_flag(names, truths_[field.key], help)
                                                       : flags.add_option(names, texts_[field.key], help);
        if (!field.group.empty())
            option.in_group(field.group);
        if (!field.choices.empty())
            option.one_of(field.choices);
        else if (!field.value.empty())
            option.value_named(field.value);
    }
}

ServingTexts ServingOptions::given(const Flags& flags) const {
    ServingTexts given(Spelling::flag);
    // A recording has lengths of its own.
    const auto trace = texts_.find("trace");
    const bool recorded = trace != texts_.end() && !trace->second.empty();
    for (const ServingField& field : serving_fields()) {
        if (!takes(field))
            continue;
        if (field.kind == FieldKind::truth ? truths_.at(field.key) : flags.has(field.flag))
            given.give(field.flag, field.kind == FieldKind::truth ? "true" : texts_.at(field.key));
        else if (const auto usual = selection_.usual.find(field.key);
                 usual != selection_.usual.end() && !recorded)
            given.give(field.flag, usual->second);
    }
    return given;
}

bool ServingOptions::takes(const ServingField& field) const {
    return std::find(selection_.without.begin(), selection_.without.end(), field.key) ==
           selection_.without.end();
}

double time_given(const std::string& text, std::string_view flag) {
    if (text.empty())
        return 0;
    const auto seconds = parse_seconds(text);
    if (!seconds || *seconds <= 0)
        throw UsageError(
            fmt::format("{}: expected a time with a unit (500ms, 0.5s), got \"{}\"", flag, text));
    return *seconds;
}

} // namespace archsim::cli
