#include "report/explanation_chart.hpp"

#include "report/explanation.hpp"
#include "report/objective_axis.hpp"

#include <fmt/format.h>

namespace archsim {

Chart explanation_chart(const ArchitectureComparison& c, const Explanation& e) {
    const Attribution& x = e.attribution;
    const ObjectiveAxis axis = axis_of(x.objective);
    const std::string &a = c.labels[e.a], &b = c.labels[e.b];
    Chart chart{ChartKind::waterfall,
                fmt::format("From {} to {}, cause by cause", b, a),
                "cause",
                fmt::format("{} ({})", info_of(x.objective).noun, axis.unit),
                false,
                false,
                {{"", {}}}};
    auto& points = chart.series.front().points;
    const auto total = [&](const std::string& label, double value) {
        ChartPoint point{label, 0, value * axis.scale};
        point.hover = fmt::format("{}: {}", label, format_value(x.objective, value));
        point.total = true;
        points.push_back(std::move(point));
    };
    total(b, x.b_value);
    for (const Contribution& part : x.contributions) {
        ChartPoint point{std::string(info_of(part.factor).title), 0, part.value * axis.scale};
        point.hover = contribution_sentence(part, x.objective, a, b);
        points.push_back(std::move(point));
    }
    total(a, x.a_value);
    return chart;
}

} // namespace archsim
