#include "answers/architectures/explanation_chart.hpp"

#include "answers/architectures/architectures.hpp"
#include "answers/difference/explanation_text.hpp"

#include <fmt/format.h>

namespace archsim {

Chart explanation_chart(const ArchitectureComparison& c, const Explanation& e) {
    const Attribution& x = e.attribution;
    const std::string &a = c.labels[e.a], &b = c.labels[e.b];
    Chart chart{ChartKind::waterfall,
                fmt::format("From {} to {}, cause by cause", b, a),
                "cause",
                fmt::format("{} ({})", x.metric->noun, axis_unit_of(*x.metric)),
                false,
                false,
                {{"", {}}}};
    auto& points = chart.series.front().points;
    const auto total = [&](const std::string& label, double value) {
        ChartPoint point{label, 0, value * x.metric->scale};
        point.hover = fmt::format("{}: {}", label, format_value(*x.metric, value));
        point.total = true;
        points.push_back(std::move(point));
    };
    total(b, x.b_value);
    for (const Contribution& part : x.contributions) {
        ChartPoint point{std::string(info_of(part.factor).title), 0, part.value * x.metric->scale};
        point.hover = contribution_sentence(part, *x.metric, a, b);
        points.push_back(std::move(point));
    }
    total(a, x.a_value);
    return chart;
}

} // namespace archsim
