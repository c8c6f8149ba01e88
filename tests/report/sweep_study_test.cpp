// What a sweep tells of its points beyond the rows: what binds them, gains, curves, knees, what helps next.

#include "answers/sweep/sweep_report.hpp"
#include "result/bound_shares.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace archsim;

namespace {

/// A curve of latencies at factors.
std::vector<SweepCurve::Point> curve(const std::vector<std::pair<double, double>>& values) {
    std::vector<SweepCurve::Point> points;
    for (const auto& [factor, value] : values)
        points.push_back({factor, value, {}});
    return points;
}

SweepRequest designs() {
    SweepRequest q;
    q.models = {"resnet18", "mobilenet_v2"};
    q.hardware = {"A100", "TPU-v4"};
    q.precisions = {"int8"};
    q.batches = {16};
    q.axes = {parse_sweep_axis("bandwidth=0.25x,0.5x,2x,4x"), parse_sweep_axis("units=0.5x,2x")};
    return q;
}

SweepSummary studied(const Sweep& sweep) {
    SweepSummary summary(sweep.request().axes, metric::latency, 10, sweep.last() - sweep.first());
    summary.front.emplace(metric::latency, metric::energy);
    sweep.run(sweep.first(), 2, [&](std::span<const SweepRow> rows) {
        for (const SweepRow& row : rows)
            summary.add(row);
        return true;
    });
    summary.study(sweep);
    return summary;
}

} // namespace

TEST_CASE("a knee is where a curve bends, and straight ones have none", "[sweep][study]") {
    CHECK(knee_of(curve({{1, 4}, {2, 2}, {4, 2}}), metric::latency) == 1);
    CHECK(knee_of(curve({{0.5, 8}, {1, 4}, {2, 2}, {4, 1.9}, {8, 1.85}}), metric::latency) == 2);
    CHECK_FALSE(knee_of(curve({{1, 4}, {2, 2}, {4, 1}}), metric::latency));   // proportional
    CHECK_FALSE(knee_of(curve({{1, 4}, {2, 4}, {4, 4}}), metric::latency));   // no effect
    CHECK_FALSE(knee_of(curve({{1, 4}, {2, 3.9}, {4, 1}}), metric::latency)); // pays more and more
    CHECK_FALSE(knee_of(curve({{1, 4}, {2, 2}}), metric::latency));
    CHECK(knee_of(curve({{1, 10}, {2, 20}, {4, 21}}), metric::throughput) == 1);
}

TEST_CASE("a point as a whole estimate is the row of the sweep", "[sweep][study]") {
    const Sweep sweep(test::shipped_session(), designs());
    sweep.run(sweep.first(), 1, [&](std::span<const SweepRow> rows) {
        for (const SweepRow& row : rows) {
            const Result whole = sweep.result(row.point, sweep.factors(row.point));
            REQUIRE(whole.ok());
            CHECK(value_of(whole, metric::latency) == Approx(*row.value(metric::latency)));
            CHECK(value_of(whole, metric::energy) == Approx(*row.value(metric::energy)));
        }
        return true;
    });
    CHECK_THROWS_AS(sweep.result(0, {{"colour", 2.0}}), UsageError);
}

TEST_CASE("gains, bounds, curves and next steps are those of estimates", "[sweep][study]") {
    const Sweep sweep(test::shipped_session(), designs());
    const SweepSummary summary = studied(sweep);
    REQUIRE(summary.facts.size() >= summary.best.rows().size());
    for (const SweepRow& row : summary.best.rows()) {
        const SweepPointFacts& facts = summary.facts.at(row.point);
        const double stated = *value_of(sweep.result(row.point, {}), metric::latency);
        REQUIRE(facts.gain);
        CHECK(*facts.gain == Approx(stated / *row.value(metric::latency)));
        const Result whole = sweep.result(row.point, sweep.factors(row.point));
        CHECK(facts.bound == binding_text(whole));
        CHECK(facts.bound_share > 1.0 / 3 - 1e-9); // the largest of three
        CHECK(facts.bound_share <= 1);
    }
    REQUIRE(summary.curves.size() == 2 * 2 * 2); // models, devices, parts
    for (const SweepCurve& c : summary.curves) {
        CHECK(std::is_sorted(c.points.begin(), c.points.end(),
                             [](const auto& a, const auto& b) { return a.factor < b.factor; }));
        const auto own =
            std::find_if(c.points.begin(), c.points.end(), [](const auto& p) { return p.factor == 1; });
        REQUIRE(own != c.points.end());
        CHECK(*own->facts.gain == 1);
        for (const SweepCurve::Point& p : c.points)
            CHECK(*p.facts.gain == Approx(own->value / p.value));
    }
    std::set<std::string> models;
    for (const NextFactor& step : summary.next) {
        models.insert(step.model);
        const auto best = summary.headline(step.model);
        REQUIRE(best);
        CHECK_FALSE(best->hardware == "TPU-v4"); // nothing measured stands behind it
        auto factors = sweep.factors(best->point);
        factors.try_emplace(step.part, 1).first->second *= step.factor;
        CHECK(value_of(sweep.result(best->point, factors), metric::latency) == Approx(step.value));
        CHECK(step.gain == Approx(*best->value(metric::latency) / step.value));
    }
    CHECK(models.size() == 2);
}

TEST_CASE("a front is of one model, on the page too", "[sweep][study]") {
    const Sweep sweep(test::shipped_session(), designs());
    const Report report = describe(studied(sweep), {}, Format::html);
    std::size_t fronts = 0, lines = 0;
    for (const Block& block : report.blocks)
        if (const auto* chart = std::get_if<Chart>(&block)) {
            lines += chart->kind == ChartKind::line;
            for (const ChartSeries& series : chart->series)
                fronts += series.name.starts_with("Pareto front of ");
        }
    CHECK(fronts == 2);
    CHECK(lines == 2); // a chart per part
    const auto document = nlohmann::json::parse(to_json(studied(sweep)));
    CHECK(document.at("curves").size() == 8);
    CHECK(document.at("studied").size() >= 10);
}

TEST_CASE("a part that an estimate does not use says why, and a shortened curve that it is",
          "[sweep][study]") {
    SweepRequest q;
    q.models = {"resnet18"};
    q.hardware = {"Hailo-8"};
    q.precisions = {"int8"};
    q.axes = {parse_sweep_axis("on_chip=0.25x,4x"), parse_sweep_axis("bandwidth=0.25x,4x"),
              parse_sweep_axis("on_chip_memory=0.0625x..2x:log11")};
    const std::vector<double>& factors = q.axes[2].factors;
    CHECK(std::count(factors.begin(), factors.end(), 1.0) == 1);
    const SweepSummary summary = studied(Sweep(test::shipped_session(), q));
    std::string text = render(describe(summary), Format::text); // in lines of the terminal's width
    std::replace(text.begin(), text.end(), '\n', ' ');
    CHECK_THAT(text, Catch::Contains("no external memory") && Catch::Contains("on-chip memory"));
    REQUIRE(summary.curves.size() == 3);
    std::size_t points = 0;
    for (const SweepCurve& c : summary.curves)
        points += c.points.size();
    CHECK_THAT(text, Catch::Contains(std::to_string(points) + " factors"));
}
