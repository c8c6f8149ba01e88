#include "common/check_options.hpp"

#include "answers/measuring/check_me.hpp"
#include "answers/measuring/check_report.hpp"

namespace archsim::cli {

void CheckOptions::add_to(Flags& flags) {
    flags.add_flag("--check-me", check_me,
                   "also the command that measures the same in the software stack of the estimate");
}

std::string CheckOptions::text(const std::vector<const Result*>& results, const OutputOptions& output) const {
    if (!check_me)
        return {};
    const Format format = output.chosen();
    if (format != Format::text && format != Format::markdown)
        throw UsageError("--check-me: only with --format text or markdown");
    std::vector<CheckCommand> commands;
    const auto add = [&](const Result& result) {
        if (result.ok() && result.model != nullptr)
            commands.push_back(check_command(result));
    };
    for (const Result* result : results) {
        // The stages of a model of several parts are files of their own.
        for (const ResultPart& part : result->parts)
            add(*part.result);
        if (result->parts.empty() || result->generation != nullptr)
            add(*result);
    }
    return "\n" + render(describe(commands), format, output.render_options());
}

} // namespace archsim::cli
