// The whole tool in the library: choices, failures as rows, searches verified by estimates of their own.

#include "answers/architectures/architectures.hpp"
#include "laws/laws.hpp"
#include "session/graph_run.hpp"
#include "session/varied_part.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace archsim;

namespace {

CompareArchitecturesRequest request_for(const std::string& model, Precision precision) {
    CompareArchitecturesRequest request;
    request.model = model;
    request.conditions.precision = PrecisionConfig::uniform(precision);
    return request;
}

ArchitectureComparison compare(CompareArchitecturesRequest request) {
    return compare_architectures(laws::session(), std::move(request));
}

double estimate_value(const std::string& model, const std::string& hardware, Precision precision,
                      std::int64_t batch, const Metric& metric, Conditions options = {}) {
    options.precision = PrecisionConfig::uniform(precision);
    const auto value =
        value_of(run_graph(laws::session(), laws::bound(model, batch), hardware, options), metric);
    REQUIRE(value);
    return *value;
}

} // namespace

TEST_CASE("what the slower device could gain is said beside what the faster one could lose",
          "[architectures]") {
    auto request = request_for("resnet50", Precision::int8);
    request.architectures = request.explain = {"RK3588-NPU", "RK3568-NPU"};
    request.metric = &metric::latency;
    const auto c = compare(request);
    REQUIRE(c.explanation);
    for (const std::string& device : request.explain)
        CHECK(std::count_if(c.explanation->flips.begin(), c.explanation->flips.end(), [&](const Flip& flip) {
                  return flip.change == "peak" && flip.architecture == device;
              }) == 1);
}

TEST_CASE("without names the four default architectures are compared, with all every family",
          "[architectures]") {
    const auto defaults = compare(request_for("resnet18", Precision::fp32));
    CHECK(defaults.labels == std::vector<std::string>{"CPU", "GPU", "TPU", "KPU"});
    REQUIRE(defaults.baseline);
    for (const Result& r : defaults.results) {
        CHECK(r.ok());
        if (may_lead(r.estimate))
            CHECK(defaults.results[*defaults.baseline].estimate.latency_s <= r.estimate.latency_s);
    }
    auto all = request_for("resnet18", Precision::int8);
    all.architectures = {"all"};
    const auto each = compare(all);
    CHECK(each.results.size() == families().size());
    for (std::size_t i = 0; i < families().size(); ++i) {
        CHECK(each.labels[i] == title_of(each.results[i].device->family));
        CHECK(each.results[i].ok());
    }
}

TEST_CASE("architectures are families, FAMILY=DEVICE or devices, in any case", "[architectures]") {
    auto request = request_for("resnet18", Precision::int8);
    request.architectures = {"gpu", "NPU=hailo-8", "KPU-T64@6W", "GPU=A100"};
    const auto c = compare(request);
    CHECK(c.labels[1] == "NPU");
    CHECK(c.results[1].device->id == "Hailo-8");
    CHECK(c.labels[2] == "KPU-T64@6W");
    CHECK(c.labels[0] != c.labels[3]); // two of one family go by their devices
    const auto fails = [&](std::vector<std::string> names) {
        request.architectures = std::move(names);
        compare(request);
    };
    CHECK_THROWS_AS(fails({"NPU=H100"}), UsageError);
    CHECK_THROWS_AS(fails({"XPU=H100"}), UsageError);
    CHECK_THROWS_AS(fails({"GPU="}), UsageError);
    CHECK_THROWS_AS(fails({"GPU", "GPU"}), UsageError);
    CHECK_THROWS_AS(fails({"no-such-device"}), InputError);
    request.architectures = {"GPU", "TPU"};
    request.explain = {"GPU", "no-such-device"};
    CHECK_THROWS_AS(compare(request), Error);
    request.explain = {};
    request.baseline = "CPU";
    CHECK_THROWS_AS(compare(request), UsageError);
}

TEST_CASE("a device that cannot run the model is a row with its reason", "[architectures]") {
    auto request = request_for("llama-2-7b", Precision::fp16);
    request.architectures = {"GPU", "CGRA", "NPU=Ethos-U55-256"};
    const auto c = compare(request);
    REQUIRE(c.results.size() == 3);
    CHECK(c.results[0].ok());
    CHECK(std::any_of(c.results.begin(), c.results.end(), [](const Result& r) { return !r.ok(); }));
    for (const Result& r : c.results)
        CHECK((r.ok() || !r.estimate.reason.empty()));
    const auto json = nlohmann::json::parse(to_json(c));
    for (const auto& row : json["results"])
        CHECK(row["latency_s"].is_null() == (row["status"] != "ok"));
    CHECK_FALSE(describe(c).blocks.empty());
}

TEST_CASE("the JSON document holds what the explanation says, and adds up", "[architectures]") {
    auto request = request_for("mobilenet_v2", Precision::fp16);
    request.explain = {"CPU", "GPU"};
    for (const char* metric : {"energy", "latency", "throughput", "memory", "power", "cost"}) {
        CAPTURE(metric);
        request.metric = MetricTable::standard().find(metric);
        const auto json = nlohmann::json::parse(to_json(compare(request)));
        CHECK(json["schema"] == "archsim.compare_architectures/1");
        CHECK(json["results"].size() == 4);
        CHECK(json["recommendations"]["energy"]["architecture"].is_string());
        const auto& e = json["explanation"];
        CHECK(e["a"] == "CPU");
        CHECK(e["metric"] == metric);
        double sum = 0;
        for (const auto& part : e["contributions"]) {
            sum += part["value"].get<double>();
            CHECK(part["sentence"].get<std::string>().find("CPU") != std::string::npos);
        }
        const double difference = e["difference"];
        CHECK(std::abs(sum - difference) <= 1e-9 * std::abs(difference));
        CHECK(difference == Approx(e["a_value"].get<double>() - e["b_value"].get<double>()));
    }
}

TEST_CASE("equal devices have no difference", "[architectures]") {
    auto request = request_for("resnet18", Precision::fp16);
    request.architectures = {"GPU", "TPU"};
    request.explain = {"GPU", "GPU"};
    const auto c = compare(request);
    REQUIRE(c.explanation);
    CHECK(c.explanation->attribution.difference == 0);
    CHECK(c.explanation->attribution.contributions.empty());
    CHECK(c.explanation->flips.empty());
    CHECK(render(describe(c), Format::text).find("No difference") != std::string::npos);
}

TEST_CASE("every flip turns the ranking, and a little less does not", "[architectures]") {
    constexpr double kResolution = 1.005; // factors are found to half a percent
    int levers = 0, batches = 0, precisions = 0;
    for (const Metric* metric : {&metric::latency, &metric::energy}) {
        for (const auto& names : {std::vector<std::string>{"GPU", "TPU"},
                                  {"CPU", "GPU"},
                                  {"KPU", "GPU"},
                                  {"KPU", "TPU"},
                                  {"CPU", "KPU"},
                                  {"CPU", "TPU"}}) {
            auto request = request_for("resnet18", Precision::fp16);
            request.metric = metric;
            request.explain = names;
            const auto c = compare(request);
            REQUIRE(c.explanation);
            const Explanation& e = *c.explanation;
            const bool a_wins = e.attribution.a_value < e.attribution.b_value;
            const std::string hardware[2] = {c.results[e.a].hardware, c.results[e.b].hardware};
            for (const Flip& flip : e.flips) {
                CAPTURE(names, flip.change, flip.factor, flip.batch, metric->key);
                CHECK((flip.a_value < flip.b_value) != a_wins);
                if (flip.batch == 0 && flip.precisions.empty()) {
                    const VariedPart part = varied_part(flip.change);
                    // One of each device: that the better one could get worse hides no gain of the other.
                    CHECK(std::count_if(e.flips.begin(), e.flips.end(), [&](const Flip& other) {
                              return other.change == flip.change && other.architecture == flip.architecture;
                          }) == 1);
                    const std::size_t side = flip.architecture == names[0] ? 0 : 1;
                    Conditions changes;
                    part.of(changes) = flip.factor;
                    const double value =
                        estimate_value("resnet18", hardware[side], Precision::fp16, 1, *metric, changes);
                    CHECK(value == (side == 0 ? flip.a_value : flip.b_value));
                    part.of(changes) = flip.factor > 1 ? std::max(1.0, flip.factor / kResolution)
                                                       : std::min(1.0, flip.factor * kResolution);
                    const double less =
                        estimate_value("resnet18", hardware[side], Precision::fp16, 1, *metric, changes);
                    const bool still = side == 0 ? (less < e.attribution.b_value) == a_wins
                                                 : (e.attribution.a_value < less) == a_wins;
                    CHECK(still);
                    ++levers;
                } else if (flip.change == "batch") {
                    const double before =
                        estimate_value("resnet18", hardware[0], Precision::fp16, flip.batch - 1, *metric) -
                        estimate_value("resnet18", hardware[1], Precision::fp16, flip.batch - 1, *metric);
                    CHECK((before < 0) == a_wins);
                    CHECK(estimate_value("resnet18", hardware[0], Precision::fp16, flip.batch, *metric) ==
                          flip.a_value);
                    ++batches;
                } else {
                    const auto precision = parse_precision(flip.precisions.front());
                    REQUIRE(precision);
                    CHECK(estimate_value("resnet18", hardware[0], *precision, 1, *metric) == flip.a_value);
                    ++precisions;
                }
            }
        }
    }
    CHECK(levers >= 8);
    CHECK(batches + precisions >= 1);
}

TEST_CASE("what no single change reverses, no what-if question at four times or a quarter does",
          "[architectures][laws]") {
    std::vector<std::string> devices;
    for (const std::string& name : laws::hardware())
        if (name.find('@') == std::string::npos)
            devices.push_back(name);
    constexpr std::size_t kStride = 23; // pairs of neighbours in the list, of one family and of two
    std::size_t refuted = 0, tried = 0;
    for (std::size_t i = 0; i + 1 < devices.size(); i += kStride) {
        auto request = request_for("mobilenet_v2", Precision::int8);
        request.metric = i % 2 == 0 ? &metric::latency : &metric::energy;
        request.architectures = request.explain = {devices[i], devices[i + 1]};
        const ArchitectureComparison shown = [&] {
            try {
                return compare(request);
            } catch (const InputError&) { // one of them does not run it
                return ArchitectureComparison{};
            }
        }();
        if (!shown.explanation || shown.explanation->attribution.difference == 0)
            continue;
        const Explanation& e = *shown.explanation;
        const std::size_t loser =
            better(*request.metric, e.attribution.a_value, e.attribution.b_value) ? e.b : e.a;
        request.explain = {};
        for (const VariedPart& part : varied_parts())
            for (const char* const factor : {"4x", "25%"}) {
                CAPTURE(request.architectures, shown.labels[loser], part.name(), factor);
                request.what_if = {fmt::format("{}:{}={}", shown.labels[loser], part.name(), factor)};
                const auto asked = compare(request);
                const auto value = [&](std::size_t r) {
                    return value_of(asked.what_if->results[r], *request.metric, shown.request.decision.cost);
                };
                const std::size_t winner = e.a + e.b - loser;
                ++tried;
                if (!value(loser) || !better(*request.metric, *value(loser), *value(winner)))
                    continue;
                ++refuted;
                CHECK(std::count_if(e.flips.begin(), e.flips.end(), [&](const Flip& flip) {
                          return flip.change == part.name() && flip.architecture == shown.labels[loser] &&
                                 flip.factor <= kPlausibleFactor * 1.001 &&
                                 flip.factor >= 1 / (kPlausibleFactor * 1.001);
                      }) == 1);
            }
    }
    CHECK(tried > 100);
    CHECK(refuted > 0);
}

TEST_CASE("a question takes values with a unit and other words for a part, but for those of another amount",
          "[architectures]") {
    auto request = request_for("resnet18", Precision::fp16);
    request.architectures = {"GPU", "TPU"};
    const auto latency = [&](const char* change) {
        request.what_if = {change};
        return compare(request).what_if->results[1].estimate.latency_s;
    };
    CHECK(latency("TPU:bandwidth=600GB/s") == Approx(latency("TPU:bandwidth=0.5x")));
    CHECK(latency("TPU:array=64x64") == latency("TPU:array=0.5x"));
    CHECK(latency("TPU:clock=525 MHz") == Approx(latency("TPU:clock=0.5x")));
    CHECK(latency("TPU:frequency=0.5x") == latency("TPU:clock=0.5x"));
    CHECK(latency("TPU:sram=2x") == latency("TPU:on_chip_memory=2x"));
    CHECK(latency("TPU:cores=2x") == latency("TPU:units=2x"));
    request.what_if = {"macs=2x"};
    CHECK_THROWS_WITH(compare(request), Catch::Contains("array"));
    request.what_if = {"bandwidth=2GHz"};
    CHECK_THROWS_WITH(compare(request), Catch::Contains("GB/s"));
}

TEST_CASE("what-if changes exactly what it names", "[architectures]") {
    auto request = request_for("resnet18", Precision::fp16);
    request.architectures = {"CPU", "GPU"};
    request.what_if = {"bandwidth=1x"};
    const auto same = compare(request);
    REQUIRE(same.what_if);
    for (std::size_t i = 0; i < 2; ++i)
        CHECK(same.what_if->results[i].estimate.latency_s == same.results[i].estimate.latency_s);
    request.what_if = {"GPU:peak=200%", "GPU:fixed_cost=0.5x"};
    const auto faster = compare(request);
    CHECK(faster.what_if->results[0].estimate.latency_s == faster.results[0].estimate.latency_s);
    CHECK(faster.what_if->results[1].estimate.latency_s < faster.results[1].estimate.latency_s);
    const std::string text = render(describe(faster, {}, Format::text), Format::text);
    CHECK(text.find("With GPU:peak=200%") < text.find("Batch Size")); // what was asked comes first
    CHECK_THAT(text, !Catch::Contains("CPU: energy per inference"));
    request.what_if = {"batch=8", "precision=int8"};
    const auto other = compare(request);
    CHECK(other.what_if->results[1].estimate.latency_s ==
          estimate_value("resnet18", "H100", Precision::int8, 8, metric::latency));
    request.what_if = {"tdp=150W"};
    const auto limited = compare(request);
    CHECK(limited.what_if->results[1].estimate.power_w <= 150 * (1 + 1e-6));
    for (const char* wrong :
         {"bandwidth", "bandwidth=", "bandwidth=2", "bandwidth=-1x", "bandwidth=nanx", "speed=2x", "batch=0",
          "batch=two", "precision=fp99", "TPU:peak=2x", "GPU:batch=2", "tdp=15"}) {
        CAPTURE(wrong);
        request.what_if = {wrong};
        CHECK_THROWS_AS(compare(request), UsageError);
    }
}

TEST_CASE("crossovers of a batch sweep are where the order turns", "[architectures]") {
    auto request = request_for("resnet50", Precision::int8);
    request.architectures = {"CPU", "GPU", "TPU", "NPU"};
    request.batch_sweep = {1, 4, 16, 64};
    const auto c = compare(request);
    REQUIRE(c.batch_sweep);
    const BatchSweep& s = *c.batch_sweep;
    REQUIRE(s.analysis.series.size() == 4);
    REQUIRE_FALSE(s.crossovers.empty());
    for (const Crossover& x : s.crossovers) {
        const auto value = [&](std::size_t i, std::int64_t batch) {
            return estimate_value("resnet50", c.results[i].hardware, Precision::int8, batch, *x.metric);
        };
        CAPTURE(c.labels[x.winner], c.labels[x.loser], x.batch, x.metric->key);
        CHECK(better(*x.metric, value(x.winner, x.batch), value(x.loser, x.batch)));
        CHECK_FALSE(better(*x.metric, value(x.winner, x.batch - 1), value(x.loser, x.batch - 1)));
    }
    for (const BatchSeries& series : s.analysis.series) {
        const double best = series.results[*best_batches(series).throughput].estimate.throughput_per_s;
        for (const Result& result : series.results)
            CHECK(result.estimate.throughput_per_s <= best);
    }
    request.decision.constraints = {{&metric::latency, c.results[0].estimate.latency_s * 1.01}};
    const auto bounded = compare(request);
    for (const BatchSeries& series : bounded.batch_sweep->analysis.series)
        if (const auto at = best_batches(series).throughput)
            CHECK(series.results[*at].estimate.latency_s <= request.decision.constraints.front().limit);
    request.decision.constraints = {{&metric::power, 1e-3}}; // every limit counts, not the latency's alone
    const auto powerless = compare(request);
    for (const BatchSeries& series : powerless.batch_sweep->analysis.series)
        CHECK_FALSE(best_batches(series).throughput);
}

TEST_CASE("sensitivity varies assumed inputs only, and reports those with an effect", "[architectures]") {
    auto request = request_for("resnet18", Precision::fp16);
    request.sensitivity = true;
    const auto c = compare(request);
    REQUIRE(c.sensitivity);
    CHECK(c.sensitivity->varied > 0);
    for (const SensitivityRow& row : c.sensitivity->rows) {
        CAPTURE(c.labels[row.architecture], row.input);
        CHECK((row.effect_down != 0 || row.effect_up != 0));
        CHECK(std::abs(row.effect_down) <= 0.26); // a factor of 0.8 or 1.2 on one of the terms
        CHECK(std::abs(row.effect_up) <= 0.26);
    }
}

TEST_CASE("the best split is the best of all assignments that use both devices", "[architectures]") {
    for (const Metric* metric : {&metric::latency, &metric::energy})
        for (const auto& names :
             {std::pair("H100", "TPU-v4"), std::pair("Xeon-8490H", "KPU-T256"), std::pair("H100", "H100")}) {
            const Result a = laws::run("alexnet", names.first, Precision::fp16),
                         b = laws::run("alexnet", names.second, Precision::fp16);
            const auto split = best_split(a, b, *metric);
            REQUIRE(split);
            const std::size_t n = split->regions.size();
            CAPTURE(names, metric->key, n);
            REQUIRE(n >= 8);
            REQUIRE(n <= 14);
            double best = std::numeric_limits<double>::infinity();
            for (std::uint32_t mask = 1; mask + 1 < (1U << n); ++mask) {
                std::vector<std::uint8_t> on_b(n);
                for (std::size_t r = 0; r < n; ++r)
                    on_b[r] = mask >> r & 1U;
                best = std::min(best, *split_value(a, b, *metric, on_b));
            }
            CHECK(split->value == Approx(best).epsilon(1e-12));
            CHECK(split->value == Approx(*split_value(a, b, *metric, split->on_b)).epsilon(1e-12));
            CHECK(!split->transfers.empty());
            if (std::string(names.first) == names.second)
                CHECK_FALSE(split->wins()); // transfers cost, nothing is gained
        }
}

TEST_CASE("every level and scenario renders in every format", "[architectures]") {
    auto request = request_for("resnet18", Precision::int8);
    request.architectures = {"all"};
    request.what_if = {"bandwidth=2x"};
    request.sensitivity = true;
    request.batch_sweep = {1, 2};
    request.explain = {"DSP", "NPU"};
    request.decision.pareto = {&metric::energy, &metric::latency};
    request.decision.constraints = {{&metric::power, 30}};
    for (const auto level :
         {ComparisonLevel::summary, ComparisonLevel::detailed, ComparisonLevel::subgraph}) {
        request.level = level;
        const auto c = compare(request);
        for (const Format format : {Format::text, Format::markdown, Format::csv, Format::html})
            CHECK(render(describe(c), format).size() > 500);
        CHECK(nlohmann::json::parse(to_json(c))["decision"]["verdicts"].size() == 8);
        request.explain.clear();
        request.what_if.clear();
        request.sensitivity = false;
        request.batch_sweep.clear();
    }
}

TEST_CASE("details are set against the GPU unless another baseline is named",
          "[run][compare_architectures]") {
    CompareArchitecturesRequest request;
    request.model = "resnet18";
    request.architectures = {"CPU", "GPU", "TPU"};
    request.level = ComparisonLevel::detailed;
    const ArchitectureComparison detailed = compare_architectures(laws::session(), request);
    REQUIRE(detailed.baseline);
    CHECK(detailed.labels[*detailed.baseline] == "GPU");
    const std::string text = render(detailed, Format::text, Explanations{}, {.width = 200});
    CHECK_THAT(text, Catch::Contains("vs GPU"));
    CHECK_THAT(text, !Catch::Contains("vs CPU"));
    request.baseline = "CPU";
    CHECK(compare_architectures(laws::session(), request).baseline == 0u);
    request.baseline.clear();
    request.architectures = {"CPU", "TPU"};
    const ArchitectureComparison without = compare_architectures(laws::session(), request);
    CHECK(without.baseline == find_winner(without.results, metric::latency)->best);
}
