#include "common/pair_options.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

namespace archsim::cli {

void PairOptions::add_to(Flags& flags) {
    models.add_to(flags);
    flags.add_option("--hardware", hardware, "one device or two: NAME, NAME@MODE or a device file")
        .value_named("DEVICE")
        .required()
        .expects(1, 2);
    AskedFields fields;
    fields.most = 2;
    for (const QuestionField* field : question_fields())
        if (!field->many() && field->kind != FieldKind::truth)
            fields.several.push_back(field->key);
    question.add_to(flags, fields);
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
