#include "archsim/compare/measured_row.hpp"

#include <array>
#include <utility>

namespace archsim {

namespace {

constexpr std::array<std::pair<MeasuredMetric, std::string_view>, 4> kMetricNames = {{
    {MeasuredMetric::latency_ms, "latency_ms"},
    {MeasuredMetric::throughput_per_s, "throughput_per_s"},
    {MeasuredMetric::power_w, "power_w"},
    {MeasuredMetric::energy_mj, "energy_mj"},
}};

} // namespace

std::string_view name_of(MeasuredMetric metric) {
    return kMetricNames[static_cast<std::size_t>(metric)].second;
}

std::optional<MeasuredMetric> parse_measured_metric(std::string_view text) {
    for (const auto& [metric, name] : kMetricNames)
        if (name == text)
            return metric;
    return std::nullopt;
}

} // namespace archsim
