#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"
#include "report/render/renderers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace archsim {

constexpr std::size_t kLabelWidth = 32;
constexpr std::size_t kNumberWidth = 14; ///< columns kept for the number after a bar
/// Fills of stacked layers, apart in grey.
constexpr std::array<std::string_view, 8> kFills = {"█", "▓", "▒", "░", "▚", "▞", "▤", "·"};
constexpr std::array<std::string_view, 8> kAsciiFills = {"#", "=", "+", "-", "o", "x", ":", "."};
constexpr std::array<std::string_view, 5> kShades = {" ", "░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 5> kAsciiShades = {" ", ".", "-", "+", "#"};

static std::string repeated(std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i)
        out += text;
    return out;
}

/// Cut in the middle, so that both ends of a long layer name stay.
static std::string shortened(const std::string& text, const RenderOptions& options) {
    const std::size_t width = display_width(text);
    if (width <= kLabelWidth || width != text.size())
        return text;
    const std::size_t half = (kLabelWidth - 1) / 2;
    return text.substr(0, half) + (options.unicode ? "…" : "~") + text.substr(text.size() - half);
}

static std::size_t label_width(const Chart& chart, const RenderOptions& options) {
    std::size_t width = 0;
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points)
            width = std::max(width, display_width(shortened(point.label, options)));
    return width;
}

static double bar_room(std::size_t label, const RenderOptions& options) {
    return static_cast<double>(std::max(options.width, 60)) - static_cast<double>(label + kNumberWidth);
}

static std::size_t cells(double value) {
    return static_cast<std::size_t>(std::lround(std::max(value, 0.0)));
}

/// One horizontal bar per point, scaled to the largest value.
static std::string draw_bars(const Chart& chart, const RenderOptions& options) {
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
static std::string draw_stacks(const Chart& chart, const RenderOptions& options) {
    const auto labels = distinct(flattened(chart.series, &ChartSeries::points), &ChartPoint::label);
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
        totals.push_back(sum_of(chart.series, [&](const ChartSeries& s) { return value(s, label); }));
        largest = std::max(largest, totals.back());
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
static std::string draw_waterfall(const Chart& chart, const RenderOptions& options) {
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
static std::string draw_heat_map(const Chart& chart, const RenderOptions& options) {
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

constexpr std::size_t kRows = 16;
constexpr std::size_t kLabel = 10; ///< columns for the numbers of the vertical axis
constexpr std::array<std::string_view, 8> kPlotMarks = {"●", "○", "■", "□", "▲", "△", "◆", "◇"};
constexpr std::array<std::string_view, 8> kAsciiMarks = {"o", "x", "+", "*", "#", "@", "%", "&"};

/// One axis: values to positions 0..cells-1.
class Axis {
  public:
    Axis(bool log, std::size_t cells) : log_(log), last_(static_cast<double>(cells - 1)) {}
    void include(double value) {
        if (!std::isfinite(value) || (log_ && value <= 0))
            return;
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
    }
    bool empty() const { return low_ > high_; }
    bool shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }
    double low() const { return low_; }
    double high() const { return high_; }
    double middle() const { return log_ ? std::sqrt(low_ * high_) : (low_ + high_) / 2; }
    double position(double value) const {
        const double from = scaled(low_), to = scaled(high_);
        return to > from ? (scaled(value) - from) / (to - from) * last_ : last_ / 2;
    }

  private:
    double scaled(double value) const { return log_ ? std::log(value) : value; }
    bool log_;
    double last_;
    double low_ = std::numeric_limits<double>::infinity(), high_ = -std::numeric_limits<double>::infinity();
};

/// A rectangle of characters; row 0 is the top.
class Canvas {
  public:
    Canvas(std::size_t rows, std::size_t columns) : cells_(rows, std::vector<std::string>(columns, " ")) {}
    /// `y` counts from the bottom. A weak mark never hides another one.
    void put(double x, double y, std::string_view mark, bool weak) {
        const auto column = static_cast<std::size_t>(std::lround(x));
        const std::size_t row = cells_.size() - 1 - static_cast<std::size_t>(std::lround(y));
        std::string& cell = cells_[row][column];
        if (!weak || cell == " ")
            cell = mark;
    }
    void line(double x0, double y0, double x1, double y1, std::string_view mark) {
        const auto steps = static_cast<int>(std::ceil(std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1.0})));
        for (int i = 0; i <= steps; ++i) {
            const double t = static_cast<double>(i) / steps;
            put(x0 + t * (x1 - x0), y0 + t * (y1 - y0), mark, true);
        }
    }
    std::string row(std::size_t index) const {
        std::string text;
        for (const std::string& cell : cells_[index])
            text += cell;
        return text;
    }
    std::size_t rows() const { return cells_.size(); }
    std::size_t columns() const { return cells_.front().size(); }

  private:
    std::vector<std::vector<std::string>> cells_;
};

static std::size_t columns_of(const RenderOptions& options) {
    return static_cast<std::size_t>(std::max(options.width, 60)) - kLabel - 4;
}

/// "8", "0.525" and "113 T": whole numbers, as batches are, without decimals, large ones with a prefix.
static std::string tick(double value) {
    constexpr double kMostDigits = 1e7;
    return std::abs(value) >= kMostDigits ? format_count(value)
           : value == std::floor(value)   ? fmt::format("{:.0f}", value)
                                          : format_number(value);
}

/// The canvas with its axes: numbers at the top, middle and bottom, and left, middle and right.
static std::string framed(const Canvas& canvas, const Axis& x, const Axis& y, const Chart& chart,
                          const RenderOptions& options) {
    std::string out = chart.y_title.empty() ? "" : "  " + chart.y_title + "\n";
    for (std::size_t r = 0; r < canvas.rows(); ++r) {
        const double number = r == 0 ? y.high() : r + 1 == canvas.rows() ? y.low() : y.middle();
        const bool labelled = r == 0 || r + 1 == canvas.rows() || r == canvas.rows() / 2;
        std::string line =
            pad(labelled ? tick(number) : "", kLabel, true) + (options.unicode ? " │" : " |") + canvas.row(r);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line + "\n";
    }
    out += std::string(kLabel, ' ') + (options.unicode ? " └" : " +");
    for (std::size_t c = 0; c < canvas.columns(); ++c)
        out += options.unicode ? "─" : "-";
    const std::string left = tick(x.low()), middle = tick(x.middle()), right = tick(x.high());
    const std::size_t room = canvas.columns();
    std::string ticks = left;
    ticks += std::string(
        room / 2 > ticks.size() + middle.size() / 2 ? room / 2 - ticks.size() - middle.size() / 2 : 1, ' ');
    ticks += middle;
    ticks += std::string(room > ticks.size() + right.size() ? room - ticks.size() - right.size() : 1, ' ');
    ticks += right;
    out += "\n" + std::string(kLabel + 2, ' ') + ticks + "\n";
    if (!chart.x_title.empty())
        out += std::string(kLabel + 2, ' ') + chart.x_title + (chart.x_log ? ", logarithmic" : "") + "\n";
    return out;
}

/// In as many lines as the width asks for.
static std::string legend(const Chart& chart, const std::vector<std::string_view>& marks,
                          const RenderOptions& options) {
    std::string all, line = " ";
    const auto end_line = [&] {
        all += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line = " ";
    };
    for (std::size_t s = 0; s < chart.series.size(); ++s) {
        if (chart.series[s].points.empty())
            continue;
        const std::string item = fmt::format(" {} {} ", marks[s], chart.series[s].name);
        if (line.size() > 1 && line.size() + item.size() > static_cast<std::size_t>(options.width))
            end_line();
        line += item;
    }
    end_line();
    return all;
}

/// Points on two axes as a grid of characters; joined series (roofs, fronts) as dotted lines:
///
///   operations per second
///    310 T |                    ..............
///          |              ......
///          |         .....          o o o
///    144 G |    .....           o
///          +----------------------------------
///           0.85             30            1048  operations per byte
///   o A100   . A100 roof, fp16
static std::string draw_plot(const Chart& chart, const RenderOptions& options) {
    Axis x(chart.x_log, columns_of(options)), y(chart.y_log, kRows);
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points)
            if (x.shows(point.x) && y.shows(point.y)) {
                x.include(point.x);
                y.include(point.y);
            }
    if (x.empty() || y.empty())
        return "  (nothing to draw)\n";
    Canvas canvas(kRows, columns_of(options));
    const std::string_view dot = options.unicode ? "·" : ".";
    std::vector<std::string_view> marks;
    std::size_t used = 0;
    for (const ChartSeries& series : chart.series) {
        const auto& known = options.unicode ? kPlotMarks : kAsciiMarks;
        const std::string_view mark = series.joined ? dot : known[used++ % known.size()];
        marks.push_back(mark);
        const ChartPoint* before = nullptr;
        for (const ChartPoint& point : series.points) {
            if (!x.shows(point.x) || !y.shows(point.y))
                continue;
            if (before && (series.joined || chart.kind == ChartKind::line))
                canvas.line(x.position(before->x), y.position(before->y), x.position(point.x),
                            y.position(point.y), dot);
            if (!series.joined)
                canvas.put(x.position(point.x), y.position(point.y), mark, false);
            before = &point;
        }
    }
    return framed(canvas, x, y, chart, options) + legend(chart, marks, options);
}

/// The first series as filled columns over its index, the others' level as a dotted line.
static std::string draw_steps(const Chart& chart, const RenderOptions& options) {
    if (chart.series.empty() || chart.series.front().points.empty())
        return "  (nothing to draw)\n";
    const auto& points = chart.series.front().points;
    const std::size_t columns = std::min(columns_of(options), std::max<std::size_t>(points.size(), 2));
    Axis x(false, columns), y(false, kRows / 2);
    y.include(0);
    for (const ChartSeries& series : chart.series)
        for (const ChartPoint& point : series.points) {
            x.include(point.x);
            y.include(point.y);
        }
    Canvas canvas(kRows / 2, columns);
    // The highest of several steps in one column counts: a peak must not vanish.
    std::vector<double> tops(columns, -1);
    for (const ChartPoint& point : points) {
        double& top = tops[static_cast<std::size_t>(std::lround(x.position(point.x)))];
        top = std::max(top, y.position(point.y));
    }
    for (std::size_t c = 0; c < columns; ++c)
        for (double level = 0; level <= tops[c]; level += 1)
            canvas.put(static_cast<double>(c), level, options.unicode ? "█" : "#", false);
    std::vector<std::string_view> marks = {options.unicode ? "█" : "#"};
    for (std::size_t s = 1; s < chart.series.size(); ++s) {
        marks.push_back(options.unicode ? "·" : ".");
        if (!chart.series[s].points.empty())
            canvas.line(0, y.position(chart.series[s].points.front().y), static_cast<double>(columns - 1),
                        y.position(chart.series[s].points.back().y), marks.back());
    }
    return framed(canvas, x, y, chart, options) + legend(chart, marks, options);
}

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
