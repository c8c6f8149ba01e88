#pragma once
// Laws on questions that chance asks: a random network on any device and stack, in any format, at any batch,
// and the same with more of something. A seed decides the question, so that a violation can be asked again.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim::test {

/// What one law found.
struct LawTally {
    std::string_view law;
    std::uint64_t checks = 0; ///< where the law says something
    std::uint64_t violations = 0;
    std::vector<std::string> first_violations; ///< at most ten, each with the seed that asks it again
};

struct LawOptions {
    std::uint64_t seed = 1;
    std::string only;                         ///< of a law's name; empty: all laws
    std::string device;                       ///< on this one alone; empty: on any
    std::function<bool(std::uint64_t)> go_on; ///< asked before each network with how many there were
};

/// Asks until `go_on` says no. Networks follow each other by seed: 1, 2, 3...
std::vector<LawTally> check_random_laws(const LawOptions& options);

} // namespace archsim::test
