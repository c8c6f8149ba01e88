#include "answers/architectures/architectures.hpp"

#include "archsim/core/finding.hpp"
#include "core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

namespace {

constexpr const char* kDefaults = "architectures"; ///< ids of deployments in the database
constexpr const char* kRepresentatives = "families";

Family family_of(const Session& session, const std::string& hardware) {
    return session.hardware().device(hardware).device->family;
}

std::string representative(const Session& session, Family family) {
    for (const std::string& hardware : session.hardware().deployment(kRepresentatives).hardware)
        if (family_of(session, hardware) == family)
            return hardware;
    throw InputError(fmt::format("deployments.json: \"{}\" lists no {}; name a device", kRepresentatives,
                                 title_of(family)));
}

void add(const Session& session, const std::string& name, std::vector<ArchitectureChoice>& out) {
    if (const auto family = parse_family(name)) {
        out.push_back({std::string(title_of(*family)), representative(session, *family)});
        return;
    }
    if (const auto at = name.find('='); at != std::string::npos) {
        const auto family = parse_family(name.substr(0, at));
        const std::string hardware = name.substr(at + 1);
        if (!family)
            throw UsageError(fmt::format("--architectures: \"{}\" is not a family ({})", name.substr(0, at),
                                         fmt::join(family_names(), ", ")));
        if (hardware.empty())
            throw UsageError(fmt::format("--architectures: \"{}\" names no device", name));
        if (family_of(session, hardware) != *family)
            throw UsageError(fmt::format("--architectures: {} is a {}, not a {}", hardware,
                                         title_of(family_of(session, hardware)), title_of(*family)));
        out.push_back({std::string(title_of(*family)), hardware});
        return;
    }
    const DeviceChoice choice = session.hardware().device(name); // unknown names stop here, before any work
    out.push_back({choice.power_mode.empty() ? choice.device->id
                                             : fmt::format("{}@{}", choice.device->id, choice.power_mode),
                   name});
}

} // namespace

std::vector<ArchitectureChoice> choose_architectures(const Session& session,
                                                     const std::vector<std::string>& asked) {
    std::vector<ArchitectureChoice> choices;
    const bool all = asked.size() == 1 && same_ignoring_case(asked.front(), "all");
    if (asked.empty() || all)
        for (const std::string& hardware :
             session.hardware().deployment(all ? kRepresentatives : kDefaults).hardware)
            choices.push_back({std::string(title_of(family_of(session, hardware))), hardware});
    else
        for (const std::string& name : asked)
            add(session, name, choices);
    // Two devices of one family go by their own names.
    std::vector<ArchitectureChoice> named = choices;
    for (std::size_t i = 0; i < choices.size(); ++i)
        for (std::size_t k = 0; k < choices.size(); ++k)
            if (i != k && choices[i].label == choices[k].label) {
                if (same_ignoring_case(choices[i].hardware, choices[k].hardware))
                    throw UsageError(fmt::format("--architectures: {} twice", choices[i].hardware));
                named[i].label = choices[i].hardware;
            }
    return named;
}

void add_architecture(const Session& session, const std::string& name,
                      std::vector<ArchitectureChoice>& choices) {
    const bool known = std::any_of(choices.begin(), choices.end(), [&](const ArchitectureChoice& choice) {
        return same_ignoring_case(choice.label, name) || same_ignoring_case(choice.hardware, name);
    });
    if (!known && parse_family(name))
        add(session, name, choices);
}

std::size_t find_architecture(const std::vector<ArchitectureChoice>& choices, const std::string& name,
                              const std::string& flag) {
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (same_ignoring_case(choices[i].label, name) || same_ignoring_case(choices[i].hardware, name))
            return i;
    std::vector<std::string> labels;
    for (const ArchitectureChoice& choice : choices)
        labels.push_back(choice.label);
    throw UsageError(fmt::format("{}: \"{}\" is not among the architectures compared: {}", flag, name,
                                 fmt::join(labels, ", ")));
}

} // namespace archsim
