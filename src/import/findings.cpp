#include "import/findings.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim::import {

void Findings::add(Finding finding) {
    if (listed_.size() >= kMaxListed) {
        ++unlisted_;
        worst_unlisted_ = std::max(worst_unlisted_, finding.severity);
        return;
    }
    finding.file = file_;
    listed_.push_back(std::move(finding));
}

void Findings::add(FindingKind kind, Severity severity, std::string where, std::string message,
                   std::string hint) {
    add(Finding{.kind = kind,
                .severity = severity,
                .message = std::move(message),
                .where = std::move(where),
                .hint = std::move(hint)});
}

std::vector<Finding> Findings::take() {
    if (unlisted_ > 0)
        listed_.push_back(Finding{.kind = FindingKind::malformed_file,
                                  .severity = worst_unlisted_,
                                  .message = fmt::format("{} more findings are not listed", unlisted_),
                                  .file = file_,
                                  .hint = "fix the listed ones first"});
    unlisted_ = 0;
    return std::move(listed_);
}

} // namespace archsim::import
