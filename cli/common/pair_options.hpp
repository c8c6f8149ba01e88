#pragma once
// Two questions on one command line: every flag takes one value for both, or one for each.

#include "answers/difference/difference.hpp"
#include "common/tool.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace archsim::cli {

/// The flags of a workload and its conditions, each once or twice.
struct PairOptions {
    ModelsOption models;
    std::vector<std::string> hardware;
    QuestionOptions question;

    void add_to(Flags& flags);
    /// What is asked of the first (0) or second (1). Throws UsageError for values that nobody knows.
    DifferenceSide side(std::size_t index) const;
    /// Whether two of anything were given.
    bool differs() const;
};

} // namespace archsim::cli
