#include "archsim/core/finding.hpp"
#include "archsim/serving/serving_result.hpp"
#include "core/parse_number.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

constexpr std::int64_t kMostChips = 4096;

static std::int64_t* part_of(Parallelism& p, std::string_view key) {
    return key == "tp"   ? &p.tensor
           : key == "pp" ? &p.pipeline
           : key == "dp" ? &p.data
           : key == "ep" ? &p.experts
                         : nullptr;
}

Parallelism parse_parallelism(std::string_view text) {
    Parallelism p;
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        const std::string_view item = text.substr(0, comma);
        const std::size_t equals = item.find('=');
        std::int64_t* part = equals == std::string_view::npos ? nullptr : part_of(p, item.substr(0, equals));
        const std::int64_t value = part ? plain_number<std::int64_t>(item.substr(equals + 1)).value_or(0) : 0;
        if (value < 1 || value > kMostChips)
            throw UsageError(
                fmt::format("--parallel: \"{}\" is none of tp=N, pp=N, dp=N, ep=N with N from 1 to {}", item,
                            kMostChips));
        *part = value;
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    if (p.experts > 1 && p.experts % p.tensor != 0)
        throw UsageError(fmt::format("--parallel: ep={} is no multiple of tp={}: every group of devices that "
                                     "share a layer holds whole experts",
                                     p.experts, p.tensor));
    return p;
}

std::string to_string(const Parallelism& p) {
    std::string text;
    for (const auto& [key, value] : {std::pair("tp", p.tensor), std::pair("pp", p.pipeline),
                                     std::pair("dp", p.data), std::pair("ep", p.experts)})
        if (value > 1)
            text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
    return text.empty() ? "1 device" : text;
}

} // namespace archsim
