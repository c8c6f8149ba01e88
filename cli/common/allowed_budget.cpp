#include "common/allowed_budget.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace archsim::cli {

Budget allowed_budget() {
    Budget budget;
    const char* const stated = std::getenv("ARCHSIM_BUDGET");
    std::string_view rest = stated != nullptr ? stated : "";
    while (!rest.empty()) {
        const std::string_view item = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), item.size() + 1));
        const std::string_view key = item.substr(0, item.find('='));
        const std::string_view number = item.substr(std::min(item.size(), key.size() + 1));
        double value = 0;
        const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
        double* const limit = key == "bytes"     ? &budget.bytes
                              : key == "steps"   ? &budget.steps
                              : key == "seconds" ? &budget.seconds
                                                 : nullptr;
        if (limit == nullptr || problem != std::errc() || end != number.data() + number.size() ||
            !std::isfinite(value) || value <= 0)
            throw UsageError(fmt::format(
                "ARCHSIM_BUDGET: \"{}\" is no budget such as bytes=1e9, steps=1e6 or seconds=60", item));
        *limit = value;
    }
    return budget;
}

} // namespace archsim::cli
