#pragma once
// The search for what turns a ranking around: estimates again and again with one thing changed.

#include "answers/architectures/explanation.hpp"
#include "archsim/run/session.hpp"

#include <string>

namespace archsim {

/// Two devices and a question.
struct RankedPair {
    const Session& session;
    std::string hardware[2], label[2];
    Workload workload;
    Conditions conditions;
    const Metric* metric = nullptr;
    CostOptions cost;
};

/// Fills the flips of an explanation: every lever of either device up to a factor of 100, batches up to 256,
/// every precision.
void find_flips(const RankedPair& pair, Explanation& out);

} // namespace archsim
