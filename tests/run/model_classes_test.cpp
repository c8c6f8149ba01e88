// Architectures over classes of models: the table is the ratio of estimates that anybody can ask for, and
// every claim holds.

#include "answers/architectures/model_classes.hpp"
#include "report/render/answer_document.hpp"
#include "result/ties.hpp"

#include "hardware/schema_check.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace archsim;

namespace {

const ModelClassComparison& four_architectures() {
    static const ModelClassComparison comparison = [] {
        ModelClassRequest request;
        request.conditions.precision = PrecisionConfig::uniform(Precision::fp16);
        return compare_model_classes(laws::session(), request);
    }();
    return comparison;
}

/// What was measured is not compared with projections; these are compared with everything. Speeds are within
/// a class of power.
bool compared(const Result& self, const Result& other, const Metric& metric) {
    return (!may_lead(self.estimate) || may_lead(other.estimate)) &&
           (metric != metric::latency || comparable_power(self, other));
}

} // namespace

TEST_CASE("thirteen classes on every architecture, each as if alone", "[run][model_classes]") {
    const ModelClassComparison& c = four_architectures();
    CHECK(c.rows.size() == 13);
    REQUIRE(c.labels.size() == 4);
    CHECK(c.labels[c.baseline] == "CPU");
    for (const ModelClassRow& row : c.rows) {
        INFO(row.what.model);
        REQUIRE(row.results.size() == 4);
        Conditions conditions;
        conditions.precision = PrecisionConfig::uniform(Precision::fp16);
        conditions.keep_subgraphs = false;
        const Result alone = laws::session().estimate(
            {.model = laws::session().load(std::string(row.what.model)), .single_pass = true}, "H100",
            conditions);
        CHECK(row.results[1].estimate.latency_s == alone.estimate.latency_s);
    }
}

TEST_CASE("every claim holds and stands apart from errors", "[run][model_classes]") {
    const ModelClassComparison& c = four_architectures();
    std::size_t claims = 0;
    for (std::size_t i = 0; i < c.labels.size(); ++i) {
        for (const auto* list : {&c.profiles[i].strengths, &c.profiles[i].weaknesses})
            for (const ClassClaim& claim : *list) {
                INFO(c.labels[i] << " on " << c.rows[claim.row].what.model << " by " << claim.metric->key);
                ++claims;
                CHECK(claim.ratio > 1);
                const ModelClassRow& row = c.rows[claim.row];
                const auto own = measure_of(row.results[i], *claim.metric);
                REQUIRE(own);
                if (!claim.other) {
                    const double gain = value_of(row.batched[i], *claim.metric).value() / own->value;
                    for (std::size_t j = 0; j < c.labels.size(); ++j) {
                        const auto alone = value_of(row.results[j], *claim.metric),
                                   many = value_of(row.batched[j], *claim.metric);
                        if (j == i || !alone || !many ||
                            !compared(row.results[i], row.results[j], metric::energy))
                            continue;
                        CHECK((claim.small_batches ? *many / *alone >= gain : *many / *alone <= gain));
                    }
                    CHECK((claim.small_batches || claim.ratio == gain));
                    continue;
                }
                const auto other = measure_of(row.results[*claim.other], *claim.metric);
                REQUIRE(other);
                const Result &self = row.results[i], &rival = row.results[*claim.other];
                const double odds = probability_better(*claim.metric, self, *own, rival, *other);
                CHECK((claim.better ? odds : 1 - odds) >= 0.95);
                CHECK((own->value < other->value) == claim.better);
                // Against the best of the others: nobody else is between them.
                for (std::size_t j = 0; j < c.labels.size(); ++j)
                    if (const auto value = value_of(row.results[j], *claim.metric);
                        value && j != i && compared(self, row.results[j], *claim.metric))
                        CHECK(*value >= other->value);
            }
        for (const std::size_t r : c.profiles[i].best_for)
            for (const Result& other : c.rows[r].results)
                if (other.ok() && compared(c.rows[r].results[i], other, metric::latency))
                    CHECK(c.rows[r].results[i].estimate.latency_s <= other.estimate.latency_s);
    }
    CHECK(claims > 4);
}

TEST_CASE("each class has one fastest architecture of those that were measured", "[run][model_classes]") {
    const ModelClassComparison& c = four_architectures();
    for (std::size_t r = 0; r < c.rows.size(); ++r) {
        int measured = 0, projected = 0;
        for (std::size_t i = 0; i < c.profiles.size(); ++i) {
            const std::vector<std::size_t>& best = c.profiles[i].best_for;
            (!may_lead(c.rows[r].results[i].estimate) ? projected : measured) +=
                static_cast<int>(std::count(best.begin(), best.end(), r));
        }
        CHECK(measured == 1);
        CHECK(projected <= 1);
    }
}

TEST_CASE("speeds are compared within a class of power", "[run][model_classes]") {
    ModelClassRequest request;
    request.architectures = {"cpu", "gpu", "dsp", "npu"};
    const ModelClassComparison c = compare_model_classes(laws::session(), request);
    for (std::size_t i = 0; i < c.labels.size(); ++i)
        for (const auto* list : {&c.profiles[i].strengths, &c.profiles[i].weaknesses})
            for (const ClassClaim& claim : *list)
                if (claim.other && *claim.metric == metric::latency)
                    CHECK(comparable_power(c.rows[claim.row].results[i],
                                           c.rows[claim.row].results[*claim.other]));
    const auto document = nlohmann::json::parse(to_json(c));
    CHECK(document["architectures"][2]["compared_with"] == nlohmann::json{c.labels[3]});
    CHECK(document["architectures"][2]["properties"].size() > 1); // sourced facts of its kind
    for (const auto& property : document["architectures"][2]["properties"])
        CHECK_FALSE(property["source"].get<std::string>().empty());
}

TEST_CASE("classes of models are drawn in every format", "[run][model_classes]") {
    const ModelClassComparison& c = four_architectures();
    const std::string text = render(c, Format::text, PlainView{}, {.width = 200});
    CHECK(text.find("Fastest: ") < text.find("Times faster")); // the answer first
    for (const char* words : {"Times faster than CPU, by model class", "Vision transformer",
                              "Strengths:", "Weaknesses:", "Best for latency",
                              "Properties of the architecture:", "Differences, on resnet50", "Instructions"})
        CHECK_THAT(text, Catch::Contains(words));
    const auto document = nlohmann::json::parse(to_json(c));
    CHECK(document["rows"].size() == 13 * 4);
    const nlohmann::json described = schema_of<ModelClassComparison, PlainView>();
    const SchemaCheck schema(described);
    const std::vector<Finding> findings = schema.validate(document, "model classes");
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    CHECK(findings.empty());
    for (const auto& row : document["rows"])
        if (row["architecture"] == "CPU" && row["status"] == "ok")
            CHECK(row["times_faster"] == 1.0);
    const std::string csv = render(c, Format::csv, PlainView{});
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 13 * 4 + 1);
    CHECK_THAT(render(c, Format::html, PlainView{}), Catch::Contains("<html"));
}

TEST_CASE("without a CPU a baseline must be named", "[run][model_classes]") {
    ModelClassRequest request;
    request.architectures = {"GPU", "TPU"};
    CHECK_THROWS_WITH(compare_model_classes(laws::session(), request), Catch::Contains("--baseline"));
    request.baseline = "GPU";
    CHECK(compare_model_classes(laws::session(), request).baseline == 0);
}
