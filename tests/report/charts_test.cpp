// Charts as every renderer draws them: nothing lost, nothing that breaks a page or a terminal.

#include "archsim/run/compare_models.hpp"
#include "archsim/run/session.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/renderers.hpp"
#include "session/graph_run.hpp"
#include "support/lines.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <limits>
#include <map>
#include <set>

using namespace archsim;
using test::lines_of;

namespace {

constexpr ChartKind kKinds[] = {ChartKind::scatter,  ChartKind::line,        ChartKind::step,
                                ChartKind::bar,      ChartKind::stacked_bar, ChartKind::waterfall,
                                ChartKind::heat_map, ChartKind::roofline};

Chart sample(ChartKind kind) {
    Chart chart{kind, "Title", "across", "up", kind == ChartKind::roofline, kind == ChartKind::roofline, {}};
    chart.series.push_back({"first", {{"a", 1, 2}, {"b", 2, 8}, {"c", 4, 3}}});
    chart.series.push_back({"limit", {{"a", 1, 9}, {"c", 4, 9}}, true});
    return chart;
}

/// The data inside a figure.
nlohmann::json data_in(const std::string& html) {
    const std::string open = "<script type=\"application/json\">";
    const auto begin = html.find(open) + open.size();
    return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
}

} // namespace

TEST_CASE("text charts keep to the width and to ASCII when asked", "[report][charts]") {
    for (const ChartKind kind : kKinds)
        for (const int width : {60, 80, 200}) {
            RenderOptions options;
            options.width = width;
            options.unicode = false;
            INFO(static_cast<int>(kind) << " at " << width);
            Chart chart = sample(kind);
            for (int roof = 0; kind == ChartKind::roofline && roof < 6; ++roof)
                chart.series.push_back({"the roof of one more format", {{"a", 1, 9}, {"c", 4, 9}}, true});
            const std::string text = draw_text_chart(chart, options);
            CHECK_THAT(text, Catch::StartsWith("Title"));
            for (const std::string& line : lines_of(text)) {
                CHECK(display_width(line) <= static_cast<std::size_t>(width));
                for (const char c : line)
                    CHECK((static_cast<unsigned char>(c) & 0x80) == 0);
            }
        }
}

TEST_CASE("empty and degenerate charts are drawn, not crashed on", "[report][charts]") {
    for (const ChartKind kind : kKinds) {
        Chart empty{kind, "Empty", "x", "y", false, false, {}};
        CHECK_FALSE(draw_text_chart(empty, {}).empty());
        Chart one = empty;
        one.series.push_back({"one", {{"only", 3, 5}}});
        CHECK_FALSE(draw_text_chart(one, {}).empty());
        Chart strange{kind, "Strange", "x", "y", true, true, {}};
        strange.series.push_back({"s", {{"zero", 0, 0}, {"negative", -1, -1}, {"one", 1, 1}}});
        strange.series.back().points.push_back({"none", 1, std::numeric_limits<double>::quiet_NaN()});
        if (kind == ChartKind::scatter || kind == ChartKind::roofline || kind == ChartKind::heat_map)
            CHECK_FALSE(draw_text_chart(strange, {}).empty());
        CHECK_FALSE(html_chart(strange).empty());
    }
}

TEST_CASE("data of charts have nine digits, the same wherever they were summed", "[report][charts]") {
    Chart chart{ChartKind::bar, "Sums", "", "mJ", false, false, {{"s", {{"a", 0, 136.23377203663776}}}}};
    CHECK_THAT(html_chart(chart), Catch::Contains("\"y\":136.233772,"));
}

TEST_CASE("the highest step of the memory timeline survives a narrow terminal", "[report][charts]") {
    Chart chart{ChartKind::step, "Memory", "step", "MB", false, false, {{"live", {}}}};
    for (int i = 0; i < 1000; ++i)
        chart.series[0].points.push_back({"", static_cast<double>(i), i == 501 ? 100.0 : 1.0});
    const auto lines = lines_of(draw_text_chart(chart, {60, false, false}));
    CHECK_THAT(lines.at(2), Catch::Contains("100") && Catch::Contains("#"));
}

TEST_CASE("a waterfall ends where its changes add up to", "[report][charts]") {
    Chart chart{ChartKind::waterfall, "Why", "", "ms", false, false, {{"", {}}}};
    ChartPoint a{"A", 0, 10}, up{"more", 0, 10}, down{"less", 0, -5}, b{"B", 0, 15};
    a.total = b.total = true;
    chart.series[0].points = {a, up, down, b};
    const auto lines = lines_of(draw_text_chart(chart, {100, false, false}));
    const auto end_of = [](const std::string& line, char fill) { return line.find_last_of(fill); };
    CHECK(end_of(lines.at(1), '#') + 1 == lines.at(2).find('+'));
    CHECK(lines.at(3).find('-') == end_of(lines.at(4), '#') + 1);
    CHECK_THAT(lines.at(3), Catch::EndsWith("-5.00"));
}

TEST_CASE("HTML charts carry every point, whatever the names", "[report][charts]") {
    Chart chart = sample(ChartKind::scatter);
    chart.title = "a <b> & \"c\"";
    chart.series[0].points[0].hover = "</script><script>alert(1)</script>";
    chart.series[0].points[0].y_low = 1.5;
    const std::string html = html_chart(chart);
    CHECK(html.find("<script>alert") == std::string::npos);
    CHECK_THAT(html, Catch::Contains("a &lt;b&gt; &amp; &quot;c&quot;"));
    const auto data = data_in(html);
    REQUIRE(data.at("series").size() == 2);
    CHECK(data["series"][0]["points"][0]["hover"] == "</script><script>alert(1)</script>");
    CHECK(data["series"][0]["points"][0]["y_low"] == 1.5);
    CHECK(data["series"][1]["joined"] == true);
}

TEST_CASE("an HTML report is one file that refers to nothing outside", "[report][charts]") {
    Report report{"Report", {Heading{1, "Title"}, sample(ChartKind::roofline)}};
    report.blocks.push_back(
        Table{"Table", {{"A", "ms", "a"}}, {{{"1", 1.0, Tone::good, "because <x>"}}}, {}});
    const std::string page = render_html(report, {});
    for (const char* outside : {"src=\"", "href=\"", "@import", "url("})
        CHECK(page.find(outside) == std::string::npos);
    CHECK_THAT(page, Catch::Contains("Chart.js v3"));
    CHECK_THAT(page, Catch::Contains("data-detail=\"because &lt;x&gt;\""));
    const std::string without = render_html({"Report", {Heading{1, "Title"}}}, {});
    CHECK(without.size() < 34000); // the library is only where a chart is
}

TEST_CASE("the Pareto front holds what nothing beats, and only that", "[report][charts]") {
    const Session session(SessionOptions{ARCHSIM_SOURCE_DIR, {}});
    const auto model = session.bind(session.load("resnet18"), 1);
    std::vector<Result> results;
    for (const char* hardware : {"H100", "A100", "T4", "KPU-T64@6W", "TPU-v4", "Xeon-8490H", "QRB5165"})
        results.push_back(run_graph(session, model, hardware, Conditions{}));
    const Chart chart = tradeoff_chart(results);
    const ChartSeries& front = chart.series.back();
    REQUIRE(front.joined);
    REQUIRE_FALSE(front.points.empty());
    std::size_t points = 0;
    for (std::size_t s = 0; s + 1 < chart.series.size(); ++s)
        for (const ChartPoint& point : chart.series[s].points) {
            ++points;
            bool beaten = false, member = false;
            for (const ChartPoint& other : front.points) {
                beaten = beaten || (other.x <= point.x && other.y < point.y) ||
                         (other.x < point.x && other.y <= point.y);
                member = member || other.label == point.label;
            }
            const auto of = std::find_if(results.begin(), results.end(),
                                         [&](const Result& r) { return hardware_label(r) == point.label; });
            REQUIRE(of != results.end());
            CHECK((may_lead(of->estimate) ? beaten != member : !member));
        }
    CHECK(points == results.size());

    const Chart heat = region_heat_map(results);
    for (std::size_t r = 0; r < results.size(); ++r) {
        double sum = results[r].estimate.network_s;
        for (const ChartSeries& row : heat.series)
            sum += row.points.at(r).y * 1e-6;
        CHECK(sum == Approx(results[r].estimate.latency_s));
    }
    const Chart energy = energy_chart(results);
    for (const Result& result : results) {
        double sum = 0;
        for (const ChartSeries& layer : energy.series)
            for (const ChartPoint& point : layer.points)
                if (point.hover.starts_with(point.label + ",") && point.label.starts_with(result.device->id))
                    sum += point.y * 1e-3;
        CHECK(sum == Approx(result.estimate.energy_per_inference_j));
    }
}

TEST_CASE("charts tell the rows of one device apart", "[report][charts]") {
    CompareModelsRequest request;
    request.models = {"resnet18"};
    request.hardware = {"RTX-4090", "H100"};
    request.precisions = {"fp16", "int8"};
    request.stacks = {"tensorrt", "onnxruntime-cuda"};
    request.conditions.keep_subgraphs = true;
    const ModelComparison comparison = compare_models(test::shipped_session(), request);
    REQUIRE(comparison.results.size() == 8);
    for (const Block& block : comparison_charts(comparison.results)) {
        const Chart& chart = std::get<Chart>(block);
        INFO(chart.title);
        std::map<std::string, double> totals;
        for (const ChartSeries& series : chart.series) {
            std::set<std::string> labels;
            for (const ChartPoint& point : series.points) {
                if (chart.kind == ChartKind::stacked_bar || chart.kind == ChartKind::heat_map)
                    CHECK(labels.insert(point.label).second);
                totals[point.label] += point.y;
            }
        }
        if (chart.kind == ChartKind::scatter)
            CHECK(totals.size() == comparison.results.size());
        if (chart.kind == ChartKind::roofline) {
            std::set<std::string> names;
            for (const ChartSeries& series : chart.series)
                CHECK(names.insert(series.name).second);
        }
        if (chart.kind != ChartKind::stacked_bar)
            continue;
        REQUIRE(totals.size() == comparison.results.size()); // and each bar is the energy of one row
        std::multiset<std::string> bars, energies;
        for (const auto& [label, sum] : totals)
            bars.insert(fmt::format("{:.4g}", sum));
        for (const Result& r : comparison.results)
            energies.insert(fmt::format("{:.4g}", 1e3 * r.estimate.energy.total() / r.estimate.batch));
        CHECK(bars == energies);
    }
}
