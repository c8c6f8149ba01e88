#include "archsim/core/finding.hpp"

#include "core/one_line.hpp"

#include <utility>

namespace archsim {

namespace {

std::vector<Finding> one(const Finding& finding) {
    std::vector<Finding> result;
    result.push_back(finding);
    return result;
}

} // namespace

std::string_view name_of(FindingKind kind) {
    switch (kind) {
    case FindingKind::unreadable_file:
        return "unreadable_file";
    case FindingKind::malformed_file:
        return "malformed_file";
    case FindingKind::unknown_operator:
        return "unknown_operator";
    case FindingKind::unresolved_dimension:
        return "unresolved_dimension";
    case FindingKind::data_dependent_shape:
        return "data_dependent_shape";
    case FindingKind::malformed_node:
        return "malformed_node";
    case FindingKind::shape_conflict:
        return "shape_conflict";
    case FindingKind::too_large:
        return "too_large";
    case FindingKind::unknown_key:
        return "unknown_key";
    case FindingKind::wrong_unit:
        return "wrong_unit";
    case FindingKind::out_of_range:
        return "out_of_range";
    case FindingKind::missing_field:
        return "missing_field";
    case FindingKind::inconsistent:
        return "inconsistent";
    case FindingKind::duplicate:
        return "duplicate";
    case FindingKind::missing_source:
        return "missing_source";
    case FindingKind::unknown_name:
        return "unknown_name";
    case FindingKind::unsupported:
        return "unsupported";
    }
    return "unknown";
}

std::string_view name_of(Severity severity) {
    switch (severity) {
    case Severity::note:
        return "note";
    case Severity::warning:
        return "warning";
    case Severity::error:
        return "error";
    }
    return "unknown";
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

Error::~Error() = default;

InputError::InputError(const Finding& finding) : Error(to_string(finding), one(finding)) {}

InputError::~InputError() = default;

UsageError::~UsageError() = default;

IncompleteError::~IncompleteError() = default;

} // namespace archsim
