#include "archsim/core/finding.hpp"

#include "core/text.hpp"

namespace archsim {

static std::vector<Finding> one(const Finding& finding) {
    std::vector<Finding> result;
    result.push_back(finding);
    return result;
}

std::string to_string(const Finding& finding) {
    constexpr std::size_t kMost = 2048; // of what a file says, repeated
    std::string text;
    if (!finding.file.empty())
        text += one_line(finding.file, kMost) + ": ";
    if (!finding.where.empty())
        text += one_line(finding.where, kMost) + ": ";
    text += one_line(finding.message, kMost);
    if (!finding.hint.empty())
        text += "; " + one_line(finding.hint, kMost);
    return text;
}

// Names of an input are data: a message that has no causes, each in a line of its own, is one line.
Error::Error(const std::string& message, std::vector<Finding> findings)
    : std::runtime_error(findings.empty() ? one_line(message) : message), findings_(std::move(findings)) {}

InputError::InputError(const Finding& finding) : Error(to_string(finding), one(finding)) {}

} // namespace archsim
