#include "report/blocks/device_warnings.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

namespace {

/// What makes an edit change nothing says more than the peak that is off by the same edit.
const Finding& most_telling(const std::vector<Finding>& findings) {
    const auto changes_nothing = [](const Finding& f) {
        return f.message.ends_with("change nothing") || f.message.ends_with("changes nothing");
    };
    const auto found = std::find_if(findings.begin(), findings.end(), changes_nothing);
    return found == findings.end() ? findings.front() : *found;
}

} // namespace

std::vector<std::string> device_warnings(std::span<const Result> results) {
    std::vector<std::string> lines;
    for (const Result& r : results) {
        if (!r.device || r.device->findings.empty())
            continue;
        const Finding& f = most_telling(r.device->findings);
        const std::size_t count = r.device->findings.size();
        std::string line = fmt::format(
            "Warning: {}: {}: {}{} (list_hardware_mappers --check {}).", r.device->file, f.where, f.message,
            count > 1 ? fmt::format("; one of {} findings", count) : std::string(), r.device->file);
        if (std::find(lines.begin(), lines.end(), line) == lines.end())
            lines.push_back(std::move(line));
    }
    return lines;
}

} // namespace archsim
