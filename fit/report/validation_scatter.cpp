// The scatter of predicted against measured times, as a chart block and as a stand-alone SVG picture:
//
//   1000 ms |                    . /
//           |                 . /.        one dot per measurement, one colour per family;
//      1 ms |          . ../.             solid: equal; dashed: 25 % off either way
//           +------------------
//            1 ms          1000 ms measured

#include "fit/report/validation_report.hpp"
#include "report/render/renderers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <utility>

namespace archsim {

constexpr double kWidth = 720, kHeight = 640;
constexpr double kLeft = 70, kRight = 130, kTop = 30, kBottom = 55;
constexpr double kBand = 1.25; ///< dashed lines

/// Colours that people with colour blindness tell apart (Okabe and Ito, 2008).
constexpr std::array<std::string_view, 8> kColors = {"#0072B2", "#E69F00", "#009E73", "#D55E00",
                                                     "#CC79A7", "#56B4E9", "#F0E442", "#000000"};

class Scatter {
  public:
    explicit Scatter(const Chart& chart) : chart_(chart) {
        for (const ChartSeries& series : chart.series)
            for (const ChartPoint& point : series.points)
                for (const double value : {point.x, point.y}) {
                    low_ = std::min(low_, std::log10(value));
                    high_ = std::max(high_, std::log10(value));
                }
        if (low_ > high_) // no points
            low_ = high_ = 0;
        low_ = std::floor(low_);
        high_ = std::max(std::ceil(high_), low_ + 1);
    }

    std::string run() {
        out_ = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
                           "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
                           "<title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
                           kWidth, kHeight, html_escaped(chart_.title));
        axes();
        diagonal(1, "");
        diagonal(kBand, " stroke-dasharray=\"5 4\"");
        diagonal(1 / kBand, " stroke-dasharray=\"5 4\"");
        for (std::size_t i = 0; i < chart_.series.size(); ++i)
            series(i);
        out_ += "</svg>\n";
        return std::move(out_);
    }

  private:
    double x_at(double decade) const {
        return kLeft + (decade - low_) / (high_ - low_) * (kWidth - kLeft - kRight);
    }
    double y_at(double decade) const {
        return kHeight - kBottom - (decade - low_) / (high_ - low_) * (kHeight - kTop - kBottom);
    }

    void line(double x1, double y1, double x2, double y2, std::string_view color, std::string_view more) {
        out_ +=
            fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"{}/>\n",
                        x1, y1, x2, y2, color, more);
    }

    void text(double x, double y, std::string_view anchor, std::string_view content,
              std::string_view more = "") {
        out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor,
                            more, html_escaped(content));
    }

    void axes() {
        for (double decade = low_; decade <= high_; ++decade) {
            line(x_at(decade), y_at(low_), x_at(decade), y_at(high_), "#dddddd", "");
            line(x_at(low_), y_at(decade), x_at(high_), y_at(decade), "#dddddd", "");
            const std::string label = fmt::format("{:g}", std::pow(10, decade));
            text(x_at(decade), y_at(low_) + 18, "middle", label);
            text(x_at(low_) - 8, y_at(decade) + 4, "end", label);
        }
        text((x_at(low_) + x_at(high_)) / 2, kHeight - 12, "middle", chart_.x_title);
        const double middle = (y_at(low_) + y_at(high_)) / 2;
        text(18, middle, "middle", chart_.y_title,
             fmt::format(" transform=\"rotate(-90 18 {:.1f})\"", middle));
    }

    /// predicted = factor x measured, clipped to the square.
    void diagonal(double factor, std::string_view more) {
        const double shift = std::log10(factor);
        const double from = std::max(low_, low_ - shift), to = std::min(high_, high_ - shift);
        line(x_at(from), y_at(from + shift), x_at(to), y_at(to + shift), "#888888", more);
    }

    void series(std::size_t index) {
        const ChartSeries& data = chart_.series[index];
        const std::string_view color = kColors[index % kColors.size()];
        out_ += fmt::format("<g fill=\"{}\" fill-opacity=\"0.6\">\n", color);
        for (const ChartPoint& point : data.points)
            out_ +=
                fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>{}</title></circle>\n",
                            x_at(std::log10(point.x)), y_at(std::log10(point.y)), html_escaped(point.hover));
        out_ += "</g>\n";
        const double y = kTop + 10 + 20 * static_cast<double>(index);
        out_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n",
                            kWidth - kRight + 20, y, color);
        text(kWidth - kRight + 32, y + 4, "start", fmt::format("{} ({})", data.name, data.points.size()));
    }

    const Chart& chart_;
    double low_ = 1e300, high_ = -1e300; ///< decades
    std::string out_;
};

Chart scatter_of(const Validation& validation) {
    constexpr double kMillisecondsPerSecond = 1e3;
    Chart chart;
    chart.kind = ChartKind::scatter;
    chart.title = "Predicted against measured time";
    chart.x_title = "measured (ms per batch, or per item at saturated throughput)";
    chart.y_title = "predicted (ms)";
    chart.x_log = chart.y_log = true;
    std::map<std::string, ChartSeries> families;
    for (const ValidatedRow& row : validation.rows) {
        const MeasuredMetric metric = row.measured.metric;
        const bool rate = metric == MeasuredMetric::throughput_per_s;
        if (!row.prediction.ok() || (!rate && metric != MeasuredMetric::latency_ms) ||
            row.prediction.predicted <= 0)
            continue;
        const auto time = [&](double value) { return rate ? kMillisecondsPerSecond / value : value; };
        ChartPoint point;
        point.label = row.measured.id;
        point.x = time(row.measured.value);
        point.y = time(row.prediction.predicted);
        point.hover = fmt::format("{}: {:.3g} measured, {:.3g} predicted ({:+.0f} %)", row.measured.id,
                                  row.measured.value, row.prediction.predicted, 100 * row.error());
        ChartSeries& series = families[row.prediction.family];
        series.name = row.prediction.family;
        series.points.push_back(std::move(point));
    }
    for (auto& [name, series] : families)
        chart.series.push_back(std::move(series));
    return chart;
}

std::string scatter_svg(const Validation& validation) {
    const Chart chart = scatter_of(validation);
    return Scatter(chart).run();
}

} // namespace archsim
