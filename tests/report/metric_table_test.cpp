// A metric is one row of a table: what is added there appears in every format, limit, ranking and sweep.

#include "answers/architectures/architectures.hpp"
#include "answers/batch/batch.hpp"
#include "answers/compare/compare_models_report.hpp"
#include "answers/study/study.hpp"
#include "answers/sweep/sweep.hpp"
#include "answers/sweep/sweep_report.hpp"
#include "archsim/run/compare_models.hpp"
#include "laws/laws.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_row.hpp"
#include "result/decisions.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>

using namespace archsim;
using Catch::Contains;

namespace {

/// Memory held per inference: nothing in the library computes it.
const MetricTable& with_footprint() {
    static const MetricTable table = MetricTable::standard().with(
        {.key = "footprint",
         .title = "Footprint",
         .unit = "B s",
         .measure = [](const Result& r, const CostOptions&) -> std::optional<Measure> {
             const double value = r.estimate.memory.peak_bytes / r.estimate.throughput_per_s;
             return Measure{value, {0.5 * value, 2 * value}};
         },
         .field = "footprint_byte_s",
         .low_field = "footprint_low_byte_s",
         .high_field = "footprint_high_byte_s",
         .heading = "Footprint"});
    return table;
}

const Metric& footprint() {
    return with_footprint().at("Footprint", "--sort");
}

double footprint_of(const Result& r) {
    return r.estimate.memory.peak_bytes / r.estimate.throughput_per_s;
}

ModelComparison compared() {
    CompareModelsRequest request;
    request.models = {"resnet18"};
    request.hardware = {"A100", "KPU-T64", "Xeon-8490H"};
    return compare_models(laws::session(), request);
}

} // namespace

TEST_CASE("the library's metrics are complete and say what they are", "[metrics]") {
    const Result r = laws::run("resnet18", "A100", Precision::fp16, 4);
    std::set<std::string> fields;
    for (const MetricField& field : fields_of(MetricTable::standard()))
        CHECK(fields.insert(field.key()).second);
    for (const Metric* m : MetricTable::standard().rows()) {
        CAPTURE(m->key);
        CHECK_FALSE(m->title.empty());
        CHECK_FALSE(m->noun.empty());
        CHECK_FALSE(m->unit.empty());
        CHECK_FALSE(m->limit_help.empty());
        CHECK(MetricTable::standard().find(m->key) == m);
        if (const auto measure = measure_of(r, *m)) {
            CHECK(measure->interval.low <= measure->value);
            CHECK(measure->interval.high >= measure->value);
        }
    }
    // By hand: the estimate's own members, and products of them.
    const Estimate& e = r.estimate;
    CHECK(value_of(r, metric::latency) == e.latency_s);
    CHECK(value_of(r, metric::throughput) == e.throughput_per_s);
    CHECK(value_of(r, metric::efficiency) == e.throughput_per_s / e.power_w);
    CHECK(value_of(r, metric::balance) == e.energy_per_inference_j * e.latency_s);
    CHECK(value_of(r, metric::memory) == e.memory.peak_bytes);
    CHECK_FALSE(value_of(laws::run("llama-3-70b", "T4", Precision::fp16, 1), metric::latency));
}

TEST_CASE("carbon per inference is the cost table's, and grows with the grid's intensity", "[metrics]") {
    const Result r = laws::run("resnet18", "A100", Precision::fp16, 1);
    CHECK(value_of(r, metric::carbon) == cost_of(r, {}).carbon_g);
    CostOptions clean;
    clean.grid_intensity = 48;
    CHECK(*value_of(r, metric::carbon, clean) == Approx(*value_of(r, metric::carbon) / 10));
}

TEST_CASE("a row needs a key, a title and a measure, and must be new", "[metrics]") {
    const auto one = [](const Result&, const CostOptions&) { return std::optional(Measure{1, {1, 1}}); };
    const MetricTable& standard = MetricTable::standard();
    CHECK_THROWS_AS(standard.with({.key = "x", .title = "X"}), UsageError);
    CHECK_THROWS_AS(standard.with({.key = "", .title = "X", .measure = one}), UsageError);
    CHECK_THROWS_AS(standard.with({.key = "latency", .title = "X", .measure = one}), UsageError);
    CHECK_THROWS_AS(standard.with({.key = "x", .title = "X", .measure = one, .field = "power_w"}),
                    UsageError);
    CHECK_THROWS_WITH(standard.at("lateness", "--sort"),
                      Contains("--sort") && Contains("latency, throughput"));
    CHECK(standard.rows().size() + 1 == with_footprint().rows().size());
}

TEST_CASE("a metric added by one row appears in every format of a comparison", "[metrics]") {
    const ModelComparison comparison = compared();
    CompareModelsView view;
    view.metrics = &with_footprint();
    view.sort_by = &footprint();
    const std::string text = render(describe(comparison, view), Format::text, {.width = 300});
    CHECK_THAT(text, Contains("Sorted by Footprint") && Contains("Footprint"));
    CHECK_THAT(render(describe(comparison, view), Format::html), Contains("Footprint"));
    CHECK_THAT(render(describe(comparison, view), Format::markdown), Contains("Footprint"));
    const std::string csv = render(comparison, Format::csv, view);
    CHECK_THAT(csv, Contains("footprint_byte_s,footprint_low_byte_s,footprint_high_byte_s"));
    const auto document = nlohmann::json::parse(to_json(comparison, view));
    double before = 0;
    for (const auto& row : document.at("results")) {
        CHECK(row.at("footprint_byte_s").get<double>() >= before); // ranked by it
        before = row.at("footprint_byte_s");
        CHECK_THAT(csv, Contains(fmt::format("{}", before)));
    }
    const Result& first = comparison.results.front();
    CHECK(nlohmann::json::parse(to_json(first, {&with_footprint(), {}})).at("footprint_byte_s") ==
          footprint_of(first));
    CHECK_FALSE(nlohmann::json::parse(to_json(first)).contains("footprint_byte_s"));
}

TEST_CASE("a metric added by one row limits, decides and draws fronts", "[metrics]") {
    const std::vector<Result> results = compared().results;
    DecisionRequest request;
    const double least = footprint_of(results[find_winner(results, footprint())->best]);
    request.constraints = {parse_constraint(footprint(), fmt::format("{}", 1.5 * least), "--max-footprint")};
    request.preference = &footprint();
    request.pareto = {&footprint(), &metric::latency};
    const Decision decision = decide(results, request);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const double own = footprint_of(results[i]);
        CHECK(decision.qualifies[i] == (own <= 1.5 * least));
        CHECK(decision.verdicts[i][0].certain == (0.5 * own > 1.5 * least)); // a factor of two either way
    }
    CHECK(footprint_of(results[decision.recommended->best]) == least);
    CHECK(decision.on_front[decision.recommended->best]);
}

TEST_CASE("a metric added by one row is swept", "[metrics][sweep]") {
    SweepRequest request;
    request.models = {"resnet18"};
    request.hardware = {"A100"};
    request.axes = {parse_sweep_axis("bandwidth=0.5x,1x,2x")};
    request.view.metrics = &with_footprint();
    const Sweep sweep(laws::session(), request);
    std::string csv = sweep_header(request.axes, RowFormat::csv, with_footprint()), ndjson;
    ParetoFront front(footprint(), metric::energy);
    sweep.run(sweep.first(), 1, [&](std::span<const SweepRow> rows) {
        append_rows(rows, request.axes, RowFormat::csv, csv, with_footprint());
        append_rows(rows, request.axes, RowFormat::ndjson, ndjson, with_footprint());
        for (const SweepRow& row : rows) {
            CHECK(*row.value(footprint()) == *row.value(metric::memory) / *row.value(metric::throughput));
            front.add(row);
        }
        return true;
    });
    CHECK_THAT(csv, Contains(",footprint_byte_s,footprint_low_byte_s,footprint_high_byte_s,"));
    CHECK_THAT(ndjson, Contains("\"footprint_byte_s\":"));
    CHECK_FALSE(front.rows().empty());
    CHECK(sweep.sensitivities(footprint()).front().axis == "bandwidth");
    const auto line = nlohmann::json::parse(ndjson.substr(0, ndjson.find('\n')));
    std::size_t columns = 1;
    for (const char c : csv.substr(0, csv.find('\n')))
        columns += c == ',';
    CHECK(line.size() == columns);
}

TEST_CASE("a metric added by one row decides between architectures, over batches and in studies",
          "[metrics]") {
    CompareArchitecturesRequest request;
    request.model = "resnet18";
    request.architectures = {"GPU", "KPU"};
    request.metrics = &with_footprint();
    request.metric = &footprint();
    const ArchitectureComparison c = compare_architectures(laws::session(), request);
    const std::string text = render(describe(c), Format::text, {.width = 300});
    CHECK_THAT(text, Contains("Best for Footprint"));
    CHECK(nlohmann::json::parse(to_json(c)).at("recommendations").at("footprint").at("unit") == "B s");

    StudyRequest asked;
    asked.models = {"resnet18"};
    asked.devices = {"A100"};
    asked.metrics = &with_footprint();
    const Study study = run_study(laws::session(), asked);
    CHECK_THAT(render(study, Format::csv, PlainView{}), Contains("footprint_byte_s"));
    CHECK_THAT(render(describe(study), Format::text, {.width = 300}), Contains("Footprint"));
}

TEST_CASE("one quoter for CSV", "[csv]") {
    CHECK(csv_field("plain text") == "plain text");
    CHECK(csv_field("a,b") == "\"a,b\"");
    CHECK(csv_field("say \"yes\"") == "\"say \"\"yes\"\"\"");
    CHECK(csv_field("two\nlines") == R"(two\x0alines)"); // a row is a line
    CHECK(csv_field("a\rb") == R"(a\x0db)");             // no control character leaves a report
    Report report;
    Table table;
    table.columns = {{"Name", "", "name"}};
    table.rows = {{{"a\rb"}}};
    report.blocks = {table};
    CHECK(render(report, Format::csv) == "name\na\\x0db\n");
    SweepRow row;
    row.model = row.reason = "a\rb";
    row.status = Status::unsupported;
    std::string text;
    append_rows(std::span(&row, 1), {}, RowFormat::csv, text);
    CHECK_THAT(text, Contains(R"(,a\x0db,)") && Catch::EndsWith(",a\\x0db\n"));
}
