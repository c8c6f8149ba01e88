#include "answers/architectures/architectures.hpp"

#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_text.hpp"

#include <fmt/format.h>

namespace archsim {

std::string full_label(const ArchitectureComparison& c, std::size_t index) {
    const std::string device = hardware_label(c.results[index]);
    return c.labels[index] == device || c.labels[index] == c.results[index].hardware
               ? c.labels[index]
               : fmt::format("{} ({})", c.labels[index], device);
}

VerdictQuestion architecture_verdict(const ArchitectureComparison& c) {
    return {c.results,
            c.labels,
            shown_metric(c.results, *c.request.metric),
            c.request.decision.cost,
            c.decision ? &*c.decision : nullptr,
            c.modes,
            c.tried};
}

Question asked_question(const ArchitectureComparison& c) {
    for (const Result& result : c.results)
        if (result.workload) // with the format of the model's file
            return {*result.workload, c.request.conditions};
    return {c.request.workload, c.request.conditions};
}

std::string tool_command(const ArchitectureComparison& c, const std::string& more) {
    const CompareArchitecturesRequest& q = c.request;
    std::string line = "compare_architectures --model " + shell_quoted(q.model);
    if (!q.architectures.empty()) {
        line += " --architectures";
        for (const std::string& name : q.architectures)
            line += " " + shell_quoted(name);
    }
    line += command_flags(asked_question(c));
    return line + (more.empty() ? "" : " " + more);
}

} // namespace archsim
