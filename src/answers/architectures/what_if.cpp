#include "answers/architectures/runs.hpp"

#include "archsim/compare/decisions.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "fields/question.hpp"

#include <cmath>
#include <fmt/format.h>
#include <optional>

namespace archsim {

namespace {

struct AskedChange {
    std::optional<std::size_t> architecture;
    std::string key, value, text;
};

AskedChange parse(const std::string& text, const std::vector<ArchitectureChoice>& choices) {
    const auto sides = split_assignment(text);
    if (!sides)
        throw UsageError(fmt::format("--what-if: \"{}\" is not of the form NAME=VALUE, like bandwidth=2x, "
                                     "tdp=15W or batch=8",
                                     text));
    AskedChange change{std::nullopt, std::string(sides->first), std::string(sides->second), text};
    if (const auto colon = change.key.rfind(':'); colon != std::string::npos) {
        change.architecture = find_architecture(choices, change.key.substr(0, colon), "--what-if");
        change.key = change.key.substr(colon + 1);
    }
    return change;
}

double factor_of(const AskedChange& change) {
    const bool with_unit = change.value.ends_with('x') || change.value.ends_with('%');
    const auto factor = parse_factor(change.value);
    if (!with_unit || !factor || *factor <= 0)
        throw UsageError(fmt::format("--what-if: \"{}\": give a factor like 2x, 0.5x or 150%", change.text));
    return *factor;
}

std::string part_names() {
    std::string names;
    for (std::size_t i = 0; i < kLeverCount; ++i)
        names += fmt::format("{}, ", info_of(static_cast<Lever>(i)).name);
    for (std::size_t i = 0; i < kStructureCount; ++i)
        names += fmt::format("{}, ", name_of(static_cast<Structure>(i)));
    return names;
}

/// What changes on one architecture.
struct DeviceChange {
    MachineChanges rates;
    DeviceChanges structure;
};

void apply_to(const AskedChange& change, DeviceChange& device) {
    MachineChanges& changes = device.rates;
    if (const auto structure = parse_structure(change.key)) {
        device.structure[*structure] *= factor_of(change);
        return;
    }
    if (change.key == "tdp" && !change.value.ends_with('x') && !change.value.ends_with('%')) {
        changes.power_limit_w = parse_constraint(metric::power, change.value, "--what-if tdp").limit;
        return;
    }
    const auto lever = change.key == "tdp" ? std::optional(Lever::power_limit) : parse_lever(change.key);
    if (!lever)
        throw UsageError(fmt::format(
            "--what-if: \"{}\" is not one of {}tdp, and no field of the question (batch, precision, ...)",
            change.key, part_names()));
    changes[*lever] *= factor_of(change);
}

/// A limit below what flows without work cannot be met at any clock.
void refuse_impossible_limit(Result& result) {
    if (!result.ok() || result.machine->power_limit_w <= 0 ||
        result.machine->power_limit_w > result.machine->static_power_w)
        return;
    result.estimate.status = Status::unsupported;
    result.estimate.reason = fmt::format("draws {:g} W without work, the limit is {:g} W",
                                         result.machine->static_power_w, result.machine->power_limit_w);
}

} // namespace

WhatIf run_what_if(const Session& session, const CompareArchitecturesRequest& request,
                   const std::vector<ArchitectureChoice>& choices) {
    WhatIf what_if;
    what_if.asked = request.what_if;
    Question question{request.workload, request.conditions};
    std::vector<DeviceChange> changes(choices.size(),
                                      {request.conditions.changes, request.conditions.structure});
    for (const std::string& text : what_if.asked) {
        const AskedChange change = parse(text, choices);
        // A field that tools have no flag for is a change of the device by another name.
        const QuestionField* const field = find_question_field(change.key);
        if (field != nullptr && !field->flag.empty()) {
            if (change.architecture)
                throw UsageError(fmt::format("--what-if: \"{}\": {} belongs to the workload of all "
                                             "architectures",
                                             text, change.key));
            field->put(change.value, "--what-if " + change.key, question);
            continue;
        }
        for (std::size_t i = 0; i < choices.size(); ++i)
            if (!change.architecture || *change.architecture == i)
                apply_to(change, changes[i]);
    }
    for (std::size_t i = 0; i < choices.size(); ++i) {
        question.conditions.changes = changes[i].rates;
        question.conditions.structure = changes[i].structure;
        what_if.results.push_back(
            session.estimate(question.workload, choices[i].hardware, question.conditions));
        refuse_impossible_limit(what_if.results.back());
    }
    return what_if;
}

} // namespace archsim
