#include "report/render/renderers.hpp"

#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace archsim {

namespace {

constexpr std::size_t kLabelWidth = 32;
constexpr std::size_t kNumberWidth = 14; ///< columns kept for the number after a bar
/// Fills of stacked layers, apart in grey.
constexpr std::array<std::string_view, 8> kFills = {"█", "▓", "▒", "░", "▚", "▞", "▤", "·"};
constexpr std::array<std::string_view, 8> kAsciiFills = {"#", "=", "+", "-", "o", "x", ":", "."};
constexpr std::array<std::string_view, 5> kShades = {" ", "░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 5> kAsciiShades = {" ", ".", "-", "+", "#"};

std::string repeated(std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i)
        out += text;
    return out;
}

/// Cut in the middle, so that both ends of a long layer name stay.
std::string shortened(const std::string& text, const RenderOptions& options) {
    const std::size_t width = display_width(text);
    if (width <= kLabelWidth || width != text.size())
        return text;
    const std::size_t half = (kLabelWidth - 1) / 2;
    return text.substr(0, half) + (options.unicode ? "…" : "~") + text.substr(text.size() - half);
}

std::size_t label_width(const Chart& chart, const RenderOptions& options) {
    std::size_t width = 0;
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points)
            width = std::max(width, display_width(shortened(point.label, options)));
    return width;
}

double bar_room(std::size_t label, const RenderOptions& options) {
    return static_cast<double>(std::max(options.width, 60)) - static_cast<double>(label + kNumberWidth);
}

std::size_t cells(double value) {
    return static_cast<std::size_t>(std::lround(std::max(value, 0.0)));
}

/// One horizontal bar per point, scaled to the largest value.
std::string draw_bars(const Chart& chart, const RenderOptions& options) {
    const std::size_t label = label_width(chart, options);
    double largest = 0;
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points)
            largest = std::max(largest, std::abs(point.y));
    std::string out;
    for (const ChartSeries& series : chart.series) {
        if (chart.series.size() > 1)
            out += "  " + series.name + "\n";
        for (const ChartPoint& point : series.points) {
            const double length = largest > 0 ? std::abs(point.y) / largest * bar_room(label, options) : 0;
            out += "  " + pad(shortened(point.label, options), label, false) + " " +
                   repeated(options.unicode ? "█" : "#", cells(length)) + " " + format_number(point.y) + "\n";
        }
    }
    return out;
}

/// One bar per label, the series as layers of it.
std::string draw_stacks(const Chart& chart, const RenderOptions& options) {
    std::vector<std::string> labels;
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points)
            if (!contains(labels, point.label))
                labels.push_back(point.label);
    const auto value = [](const ChartSeries& series, const std::string& label) {
        double sum = 0;
        for (const ChartPoint& point : series.points)
            if (point.label == label)
                sum += point.y;
        return sum;
    };
    double largest = 0;
    std::vector<double> totals;
    for (const std::string& label : labels) {
        double total = 0;
        for (const ChartSeries& series : chart.series)
            total += value(series, label);
        totals.push_back(total);
        largest = std::max(largest, total);
    }
    const std::size_t width = label_width(chart, options);
    const auto& fills = options.unicode ? kFills : kAsciiFills;
    std::string out;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        std::string bar;
        double end = 0;
        std::size_t drawn = 0;
        for (std::size_t s = 0; s < chart.series.size(); ++s) {
            end += value(chart.series[s], labels[i]);
            const std::size_t to = cells(largest > 0 ? end / largest * bar_room(width, options) : 0);
            bar += repeated(fills[s % fills.size()], to > drawn ? to - drawn : 0);
            drawn = std::max(drawn, to);
        }
        out += "  " + pad(shortened(labels[i], options), width, false) + " " + bar + " " +
               format_number(totals[i]) + "\n";
    }
    out += " ";
    for (std::size_t s = 0; s < chart.series.size(); ++s)
        out += fmt::format(" {} {} ", fills[s % fills.size()], chart.series[s].name);
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
}

/// Changes hang between the levels before and after them.
std::string draw_waterfall(const Chart& chart, const RenderOptions& options) {
    const std::size_t label = label_width(chart, options);
    std::string out;
    for (const ChartSeries& series : chart.series) {
        double level = 0, low = 0, high = 0;
        for (const ChartPoint& point : series.points) {
            level = point.total ? point.y : level + point.y;
            low = std::min(low, level);
            high = std::max(high, level);
        }
        const double scale = high > low ? bar_room(label, options) / (high - low) : 0;
        level = 0;
        for (const ChartPoint& point : series.points) {
            const double from = point.total ? 0 : level;
            level = point.total ? point.y : level + point.y;
            const std::size_t start = cells((std::min(from, level) - low) * scale);
            const std::size_t end = cells((std::max(from, level) - low) * scale);
            const std::string_view fill = point.total    ? (options.unicode ? "█" : "#")
                                          : point.y >= 0 ? (options.unicode ? "▒" : "+")
                                                         : (options.unicode ? "░" : "-");
            out += "  " + pad(shortened(point.label, options), label, false) + " " + std::string(start, ' ') +
                   repeated(fill, std::max<std::size_t>(end - start, 1)) + " " +
                   (!point.total && point.y > 0 ? "+" : "") + format_number(point.y) + "\n";
        }
    }
    return out;
}

/// A shade in front of every number.
std::string draw_heat_map(const Chart& chart, const RenderOptions& options) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    std::size_t label = 0;
    const auto scaled = [&](double value) { return chart.y_log ? std::log(value) : value; };
    const auto shown = [&](double value) { return std::isfinite(value) && (!chart.y_log || value > 0); };
    for (const ChartSeries& row : chart.series) {
        label = std::max(label, display_width(shortened(row.name, options)));
        for (const ChartPoint& point : row.points)
            if (shown(point.y)) {
                low = std::min(low, scaled(point.y));
                high = std::max(high, scaled(point.y));
            }
    }
    const auto& shades = options.unicode ? kShades : kAsciiShades;
    std::string out;
    if (!chart.series.empty()) {
        out += "  " + std::string(label, ' ');
        for (const ChartPoint& point : chart.series.front().points)
            out += "  " + pad(point.label.substr(0, kNumberWidth), kNumberWidth, true);
        out += "\n";
    }
    for (const ChartSeries& row : chart.series) {
        out += "  " + pad(shortened(row.name, options), label, false);
        for (const ChartPoint& point : row.points) {
            const double share = high > low && shown(point.y) ? (scaled(point.y) - low) / (high - low) : 0;
            const auto shade =
                shades[static_cast<std::size_t>(std::lround(share * static_cast<double>(shades.size() - 1)))];
            out += "  " + pad(shown(point.y) ? format_number(point.y) : "-", kNumberWidth - 3, true) + " " +
                   repeated(shade, 2);
        }
        out.erase(out.find_last_not_of(' ') + 1);
        out += "\n";
    }
    return out;
}

} // namespace

std::string draw_text_chart(const Chart& chart, const RenderOptions& options) {
    const bool plot = chart.kind == ChartKind::scatter || chart.kind == ChartKind::line ||
                      chart.kind == ChartKind::roofline || chart.kind == ChartKind::step;
    std::string out;
    if (!chart.title.empty())
        out += chart.title + (plot || chart.y_title.empty() ? "" : " (" + chart.y_title + ")") + "\n";
    switch (chart.kind) {
    case ChartKind::scatter:
    case ChartKind::line:
    case ChartKind::roofline:
        return out + draw_plot(chart, options) + "\n";
    case ChartKind::step:
        return out + draw_steps(chart, options) + "\n";
    case ChartKind::stacked_bar:
        return out + draw_stacks(chart, options) + "\n";
    case ChartKind::waterfall:
        return out + draw_waterfall(chart, options) + "\n";
    case ChartKind::heat_map:
        return out + draw_heat_map(chart, options) + "\n";
    case ChartKind::bar:
        break;
    }
    return out + draw_bars(chart, options) + "\n";
}

} // namespace archsim
