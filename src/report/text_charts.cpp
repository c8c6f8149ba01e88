#include "report/text_charts.hpp"

#include "report/number_format.hpp"
#include "report/text_width.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

namespace {

constexpr std::size_t kLabelWidth = 28;

/// A label that leaves room for its bar.
std::string shortened(const std::string& label, bool unicode) {
    const std::string mark = unicode ? "…" : "...";
    std::string text;
    for (const char c : label) {
        const bool starts = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; // not within a character
        if (starts && display_width(text) + display_width(mark) >= kLabelWidth &&
            display_width(label) > kLabelWidth)
            return text + mark;
        text += c;
    }
    return text;
}

/// One horizontal bar per point, scaled to the largest value.
std::string draw_bars(const Chart& chart, const RenderOptions& options) {
    double largest = 0;
    std::size_t label = 0;
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points) {
            largest = std::max(largest, std::abs(point.y));
            label = std::max(label, std::min(display_width(point.label), kLabelWidth));
        }
    const auto room = static_cast<double>(std::max(options.width, 60)) - static_cast<double>(label) - 14;
    std::string out;
    for (const ChartSeries& series : chart.series) {
        if (chart.series.size() > 1)
            out += "  " + series.name + "\n";
        for (const ChartPoint& point : series.points) {
            const auto length =
                static_cast<std::size_t>(largest > 0 ? std::abs(point.y) / largest * room : 0);
            std::string bar;
            for (std::size_t i = 0; i < length; ++i)
                bar += options.unicode ? "█" : "#";
            out += "  " + pad(shortened(point.label, options.unicode), label, false) + " " + bar + " " +
                   format_number(point.y) + "\n";
        }
    }
    return out;
}

} // namespace

std::string draw_text_chart(const Chart& chart, const RenderOptions& options) {
    std::string out;
    if (!chart.title.empty())
        out += chart.title + (chart.y_title.empty() ? "" : " (" + chart.y_title + ")") + "\n";
    return out + draw_bars(chart, options);
}

} // namespace archsim
