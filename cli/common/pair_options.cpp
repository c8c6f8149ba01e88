#include "common/pair_options.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim::cli {

void PairOptions::add_to(Flags& flags) {
    models.add_to(flags);
    flags.add_option("--hardware", hardware, "one device or two: NAME, NAME@MODE or a device file")
        .value_named("DEVICE")
        .required()
        .expects(1, 2);
    AskedFields fields;
    fields.most = 2;
    for (const QuestionField& field : question_fields())
        if (!field.many() && field.kind != FieldKind::truth)
            fields.several.push_back(field.key);
    question.add_to(flags, fields);
}

bool PairOptions::differs() const {
    const auto two = [&](const QuestionField& field) {
        if (field.kind == FieldKind::truth || field.flag.empty())
            return false;
        const std::vector<std::string>& given = question.given(field.key);
        // Sizes of both sides stand in one text: H=224,320.
        return field.many() ? field.kind == FieldKind::sizes &&
                                  std::any_of(given.begin(), given.end(),
                                              [](const std::string& text) {
                                                  return text.find(',') != std::string::npos;
                                              })
                            : given.size() > 1;
    };
    const auto& fields = question_fields();
    return models.taken("explain_difference").size() > 1 || hardware.size() > 1 ||
           std::any_of(fields.begin(), fields.end(), two);
}

DifferenceSide PairOptions::side(std::size_t index) const {
    const std::vector<std::string> named = models.taken("explain_difference");
    if (named.size() > 2)
        throw UsageError(fmt::format("{} models: name one or two", named.size()));
    Question asked = question.question(index);
    return {named[named.size() > 1 ? index : 0], hardware[hardware.size() > 1 ? index : 0],
            std::move(asked.workload), std::move(asked.conditions)};
}

} // namespace archsim::cli
