#include "answers/measuring/check_report.hpp"

#include <fmt/format.h>
#include <set>

namespace archsim {

Report describe(const std::vector<CheckCommand>& commands) {
    Report report;
    report.title = "Verify on hardware";
    report.blocks.push_back(Heading{2, report.title});
    std::set<std::string> shown;
    for (const CheckCommand& check : commands) {
        if (!shown.insert(check.hardware + '\n' + check.command + check.why_not).second)
            continue;
        report.blocks.push_back(Paragraph{
            check.command.empty() ? fmt::format("{} ({}): {}.", check.hardware, check.runtime, check.why_not)
                                  : fmt::format("{} ({}){}", check.hardware, check.runtime,
                                                check.note.empty() ? "" : ": " + check.note)});
        if (!check.command.empty())
            report.blocks.push_back(Command{check.command});
        if (!check.reads.empty())
            report.blocks.push_back(
                Command{fmt::format("validate_estimates --from FILE --hardware {}", check.hardware)});
    }
    return report;
}

} // namespace archsim
