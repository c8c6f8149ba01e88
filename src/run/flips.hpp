#pragma once
// The search for what turns a ranking around: estimates again and again with one thing changed.

#include "archsim/compare/explanation.hpp"
#include "run/subject.hpp"

#include <string>

namespace archsim {

/// Two devices and a workload; the Session and the subjects outlive it.
struct RankedPair {
    SubjectAtBatches& subjects;
    std::string hardware[2], label[2];
    RunOptions options;
    std::int64_t batch = 1;
    Objective objective{};
    CostOptions cost;
};

/// Fills the flips of an explanation: every lever of either device up to a factor of 100, batches up to 256,
/// every precision.
void find_flips(const RankedPair& pair, Explanation& out);

} // namespace archsim
