#include "common/allowed_budget.hpp"

#include "archsim/core/finding.hpp"
#include "core/parse_number.hpp"

#include <fmt/format.h>

#include <algorithm>
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
        const double value = plain_number<double>(number).value_or(0);
        double* const limit = key == "bytes"     ? &budget.bytes
                              : key == "steps"   ? &budget.steps
                              : key == "seconds" ? &budget.seconds
                                                 : nullptr;
        if (limit == nullptr || value <= 0)
            throw UsageError(fmt::format(
                "ARCHSIM_BUDGET: \"{}\" is no budget such as bytes=1e9, steps=1e6 or seconds=60", item));
        *limit = value;
    }
    return budget;
}

} // namespace archsim::cli
