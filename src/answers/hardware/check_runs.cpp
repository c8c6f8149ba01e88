#include "answers/hardware/check_runs.hpp"

#include "archsim/run/session.hpp"
#include "core/data_dir.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>

namespace archsim {

namespace {

constexpr const char* kNetwork =
    "resnet18"; // every operator class of a convolutional network, in milliseconds
constexpr const char* kIdeal = "ideal";

/// Formats that its engines have, narrowest first, whichever class of engine has them.
std::vector<Precision> formats_of(const Device& device) {
    std::vector<Precision> formats;
    for (const Precision p : kPrecisions)
        if (device.supports(EngineClass::matrix, p) || device.supports(EngineClass::vector, p))
            formats.push_back(p);
    std::stable_sort(formats.begin(), formats.end(),
                     [](Precision a, Precision b) { return bits_of(a) < bits_of(b); });
    return formats;
}

/// The first format that runs as it was asked for.
std::optional<Result> first_run(const Session& session, const Model& model, const std::string& file,
                                const std::string& stack, const std::vector<Precision>& formats) {
    for (const Precision p : formats) {
        Conditions conditions;
        conditions.stack = stack;
        conditions.precision = PrecisionConfig::uniform(p);
        Result result = session.estimate({.model = model}, file, conditions);
        if (result.ok() && result.estimate.executed.compute == p)
            return result;
    }
    return std::nullopt;
}

std::vector<std::string_view> names_of(const std::vector<Precision>& formats) {
    std::vector<std::string_view> names;
    for (const Precision p : formats)
        names.push_back(name_of(p));
    return names;
}

} // namespace

CheckRuns check_runs(const std::filesystem::path& file) {
    CheckRuns runs;
    const Session session;
    std::shared_ptr<const Device> device;
    try {
        device = session.hardware().device(file.string()).device;
    } catch (const InputError&) {
        return runs; // a stack, or what the other findings say
    }
    const std::vector<Precision> formats = formats_of(*device);
    const Model model = session.load(kNetwork);
    std::vector<std::string> stacks = device->runtimes;
    if (std::find(stacks.begin(), stacks.end(), kIdeal) == stacks.end())
        stacks.push_back(kIdeal);
    for (const std::string& stack : stacks) {
        std::string reason;
        try {
            if (auto result = first_run(session, model, file.string(), stack, formats)) {
                runs.results.push_back(std::move(*result));
                continue;
            }
            reason = fmt::format("it runs {}",
                                 fmt::join(names_of(session.hardware().runtime(stack)->precisions), ", "));
        } catch (const InputError& error) {
            reason = error.what();
        }
        Finding finding;
        finding.kind = FindingKind::unsupported;
        finding.severity = Severity::error;
        finding.file = file.string();
        finding.where = "/runtimes";
        finding.message = fmt::format("{} runs {} in none of the formats that the engines have ({}): {}",
                                      stack, kNetwork, fmt::join(names_of(formats), ", "), reason);
        finding.hint = "name a stack that runs one of them, or \"ideal\", which assumes no software";
        runs.findings.push_back(std::move(finding));
    }
    return runs;
}

} // namespace archsim
