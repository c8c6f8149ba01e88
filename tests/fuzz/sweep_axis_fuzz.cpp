// Parses arbitrary text as an axis of a sweep: factors that are finite and positive, or the documented
// refusal.

#include "answers/sweep/sweep.hpp"
#include "archsim/core/finding.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        for (const double factor :
             archsim::parse_sweep_axis({reinterpret_cast<const char*>(data), size}).factors)
            if (!std::isfinite(factor) || factor <= 0)
                std::abort();
    } catch (const archsim::UsageError&) {
        return 0;
    }
    return 0;
}
