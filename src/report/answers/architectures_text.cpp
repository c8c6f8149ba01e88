#include "report/answers/architectures.hpp"

#include "report/blocks/result_text.hpp"

#include <fmt/format.h>

namespace archsim {

namespace {

/// For a POSIX shell: bare where nothing is special, else in single quotes.
std::string quoted(const std::string& text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=@+:,";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos)
        return text;
    std::string out = "'";
    for (char c : text)
        if (c == '\'')
            out += "'\\''";
        else
            out += c;
    return out + "'";
}

} // namespace

std::string full_label(const ArchitectureComparison& c, std::size_t index) {
    const std::string device = hardware_label(c.results[index]);
    return c.labels[index] == device || c.labels[index] == c.results[index].hardware
               ? c.labels[index]
               : fmt::format("{} ({})", c.labels[index], device);
}

std::string tool_command(const ArchitectureComparison& c, const std::string& more) {
    const CompareArchitecturesRequest& q = c.request;
    std::string line = "compare_architectures --model " + quoted(q.model);
    if (!q.architectures.empty()) {
        line += " --architectures";
        for (const std::string& name : q.architectures)
            line += " " + quoted(name);
    }
    const CompareArchitecturesRequest defaults;
    if (q.workload.batch != defaults.workload.batch)
        line += fmt::format(" --batch-size {}", q.workload.batch);
    if (q.conditions.precision != defaults.conditions.precision)
        line += " --precision " + quoted(precision_name(q.conditions.precision));
    if (!q.conditions.stack.empty())
        line += " --runtime " + quoted(q.conditions.stack);
    for (const auto& [name, size] : q.workload.sizes.dims)
        line += " --dim " + quoted(fmt::format("{}={}", name, size));
    if (q.conditions.scenario != defaults.conditions.scenario)
        line += fmt::format(" --scenario {}", name_of(q.conditions.scenario));
    if (q.conditions.scope != defaults.conditions.scope)
        line += fmt::format(" --scope {}", name_of(q.conditions.scope));
    return line + (more.empty() ? "" : " " + more);
}

} // namespace archsim
