#include "report/render/renderers.hpp"

#include "report/blocks/number_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace archsim {

namespace {

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

std::size_t columns_of(const RenderOptions& options) {
    return static_cast<std::size_t>(std::max(options.width, 60)) - kLabel - 4;
}

/// "8", "0.525" and "113 T": whole numbers, as batches are, without decimals, large ones with a prefix.
std::string tick(double value) {
    constexpr double kMostDigits = 1e7;
    return std::abs(value) >= kMostDigits ? format_count(value)
           : value == std::floor(value)   ? fmt::format("{:.0f}", value)
                                          : format_number(value);
}

/// The canvas with its axes: numbers at the top, middle and bottom, and left, middle and right.
std::string framed(const Canvas& canvas, const Axis& x, const Axis& y, const Chart& chart,
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

std::string legend(const Chart& chart, const std::vector<std::string_view>& marks) {
    std::string line = " ";
    for (std::size_t s = 0; s < chart.series.size(); ++s)
        if (!chart.series[s].points.empty())
            line += fmt::format(" {} {} ", marks[s], chart.series[s].name);
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

} // namespace

std::string draw_plot(const Chart& chart, const RenderOptions& options) {
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
    return framed(canvas, x, y, chart, options) + legend(chart, marks);
}

std::string draw_steps(const Chart& chart, const RenderOptions& options) {
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
    // Of several steps in one column the highest counts: a peak must not vanish.
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
    return framed(canvas, x, y, chart, options) + legend(chart, marks);
}

} // namespace archsim
