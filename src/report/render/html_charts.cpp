#include "core/parse_number.hpp"
#include "report/render/renderers.hpp"

#include "report/blocks/number_format.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace archsim {

using Json = nlohmann::ordered_json;

/// Shares of the scale from which text in black or white has the better contrast, at least 4.5 (WCAG 2.1):
/// where the shade has the luminance 0.179, on light pages and on dark ones.
constexpr double kFar = 0.65, kMiddle = 0.49;

/// In the order of ChartKind, as report.js knows them.
constexpr std::array<std::string_view, 8> kKinds = {"scatter",     "line",      "step",     "bar",
                                                    "stacked_bar", "waterfall", "heat_map", "roofline"};
static std::string_view name_of(ChartKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

/// To nine digits: the last of all seventeen differ between libraries of mathematics.
static double short_value(double value) {
    return plain_number<double>(fmt::format("{:.9g}", value)).value_or(value);
}

static Json point_json(const ChartPoint& point) {
    Json json = {{"label", point.label},
                 {"x", short_value(point.x)},
                 {"y", short_value(point.y)},
                 {"hover", point.hover}};
    const auto add = [&](const char* key, const std::optional<double>& value) {
        if (value)
            json[key] = short_value(*value);
    };
    add("x_low", point.x_low);
    add("x_high", point.x_high);
    add("y_low", point.y_low);
    add("y_high", point.y_high);
    if (point.total)
        json["total"] = true;
    return json;
}

static std::string data_of(const Chart& chart) {
    Json json = {{"kind", name_of(chart.kind)}, {"x_title", chart.x_title}, {"y_title", chart.y_title},
                 {"x_log", chart.x_log},        {"y_log", chart.y_log},     {"series", Json::array()}};
    for (const ChartSeries& series : chart.series) {
        Json points = Json::array();
        for (const ChartPoint& point : series.points)
            points.push_back(point_json(point));
        json["series"].push_back({{"name", series.name},
                                  {"group", series.group},
                                  {"joined", series.joined},
                                  {"points", std::move(points)}});
    }
    // Inside <script> only "<" could end the data early.
    std::string out;
    for (const char c : json.dump(-1, ' ', false, Json::error_handler_t::replace))
        if (c == '<')
            out += "\\u003c";
        else
            out += c;
    return out;
}

static std::string heat_map(const Chart& chart) {
    const auto scaled = [&](double value) { return chart.y_log ? std::log(value) : value; };
    const auto shown = [&](double value) { return std::isfinite(value) && (!chart.y_log || value > 0); };
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const ChartSeries& row : chart.series)
        for (const ChartPoint& point : row.points)
            if (shown(point.y)) {
                low = std::min(low, scaled(point.y));
                high = std::max(high, scaled(point.y));
            }
    constexpr std::size_t kFold = 40; ///< rows; more are a page of their own, which who wants it opens
    const bool folds = chart.series.size() > kFold;
    std::string out = folds ? fmt::format("<details class=\"fold\"><summary>{}: {} rows</summary>\n",
                                          html_escaped(chart.title), chart.series.size())
                            : std::string();
    out += fmt::format(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{0}\"><table class=\"heat\">\n"
        "<caption>{0} ({1}{2})</caption>\n<thead><tr><td></td>",
        html_escaped(chart.title), html_escaped(chart.y_title), chart.y_log ? ", logarithmic shades" : "");
    if (!chart.series.empty())
        for (const ChartPoint& point : chart.series.front().points)
            out += fmt::format("<th scope=\"col\">{}</th>", html_escaped(point.label));
    out += "</tr></thead>\n<tbody>\n";
    for (const ChartSeries& row : chart.series) {
        out += fmt::format("<tr><th scope=\"row\" title=\"{0}\">{0}</th>", html_escaped(row.name));
        for (const ChartPoint& point : row.points) {
            const double share = shown(point.y) && high > low ? (scaled(point.y) - low) / (high - low) : 0;
            out +=
                fmt::format("<td class=\"{}\" style=\"--share:{:.3f}\" title=\"{}\">{}</td>",
                            share > kFar      ? "mid far"
                            : share > kMiddle ? "mid"
                                              : "",
                            share, html_escaped(point.hover), shown(point.y) ? format_number(point.y) : "-");
        }
        out += "</tr>\n";
    }
    return out + "</tbody>\n</table></div>\n" + (folds ? "</details>\n" : "");
}

std::string html_chart(const Chart& chart) {
    if (chart.kind == ChartKind::heat_map)
        return heat_map(chart);
    return fmt::format("<figure class=\"chart\" data-kind=\"{0}\">\n<figcaption>{1}</figcaption>\n"
                       "<div class=\"canvas\"><canvas tabindex=\"0\" role=\"img\" aria-label=\"{1}. {2} over "
                       "{3}. Arrow keys walk "
                       "over the points.\"></canvas></div>\n<div class=\"said\" aria-live=\"polite\"></div>\n"
                       "<details><summary>Data</summary></details>\n<script "
                       "type=\"application/json\">{4}</script>\n</figure>\n",
                       name_of(chart.kind), html_escaped(chart.title), html_escaped(chart.y_title),
                       html_escaped(chart.x_title), data_of(chart));
}

} // namespace archsim
