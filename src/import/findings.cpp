#include "import/findings.hpp"

#include "import/field_reader.hpp"
#include "import/messages.hpp"

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

void* Arena::allocate_block(std::size_t bytes) {
    const std::size_t doubled = blocks_.empty() ? kFirstBlock : std::min(2 * capacity_, kLargestBlock);
    const std::size_t size = std::max(bytes, doubled);
    if (bytes > kMostBytes || total_ + size > kMostBytes)
        throw WireError("the model without its weights takes more than 1 GiB");
    // Not make_unique, which would fill it with zeros.
    std::unique_ptr<std::byte[]> block(new std::byte[size]);
    std::byte* const begin = block.get();
    blocks_.push_back(std::move(block));
    total_ += size;
    // A large piece has a block of its own; the one in use keeps what is left of it.
    if (block_ != nullptr && size > kLargestBlock)
        return begin;
    block_ = begin;
    capacity_ = size;
    used_ = bytes;
    return begin;
}

} // namespace archsim::import
