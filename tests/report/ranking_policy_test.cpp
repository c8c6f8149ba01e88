// What nobody measured, what measurements refute and what leaves a part out wins no line of any answer,
// however good its estimate is.

#include "answers/architectures/architectures.hpp"
#include "answers/batch/batch.hpp"
#include "answers/budget/budget.hpp"
#include "answers/compare/compare_models_report.hpp"
#include "answers/difference/difference.hpp"
#include "answers/local/local_models.hpp"
#include "answers/serving/serving_report.hpp"
#include "answers/sizing/size_service.hpp"
#include "answers/sizing/sizing_report.hpp"
#include "answers/study/study.hpp"
#include "answers/sweep/sweep_report.hpp"
#include "archsim/archsim.hpp"
#include "hardware/held_rows.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "result/cost_terms.hpp"
#include "result/ranking.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

using namespace archsim;
using nlohmann::json;

namespace {

const std::string kDoubted = "RTX-4090"; ///< whose estimate is made ten times better, and doubtful

struct HowDoubted {
    std::string name;
    std::function<void(Estimate&)> put;
};

const std::vector<HowDoubted>& doubts() {
    static const std::vector<HowDoubted> all = {
        {"projected", [](Estimate& e) { e.projected = true; }},
        {"refuted",
         [](Estimate& e) { e.refuted = "transformers such as bert-base were measured 2 to 5 times slower"; }},
        {"incomplete", [](Estimate& e) { e.uncounted = "one operator is not known"; }}};
    return all;
}

void make_doubtful(Result& r, const HowDoubted& doubt) {
    if (r.hardware.rfind(kDoubted, 0) != 0)
        return;
    Estimate& e = r.estimate;
    constexpr double kTimes = 0.1;
    e.latency_s *= kTimes;
    e.latency_interval = {e.latency_interval.low * kTimes, e.latency_interval.high * kTimes};
    e.throughput_per_s /= kTimes;
    e.throughput_interval = {e.throughput_interval.low / kTimes, e.throughput_interval.high / kTimes};
    e.energy_per_inference_j *= kTimes;
    e.energy_interval = {e.energy_interval.low * kTimes, e.energy_interval.high * kTimes};
    doubt.put(e);
}

std::string text_of(const Report& report) {
    return render(report, Format::text, {});
}

/// No sentence of a winner names it, and where it is named its standing is said.
void check_text(const std::string& text, const std::string& name, const std::string& standing) {
    INFO(text);
    for (const char* claim : {"astest: ", "energy: ", "heapest: ", "Recommended: ", "hroughput: ",
                              "Largest: ", "Most tokens: ", "limits: ", "for a user: ", "from a device: ",
                              "to call: ", "Fewest devices: ", "carbon: ", "Best for Latency: "})
        CHECK(text.find(claim + name) == std::string::npos);
    CHECK(text.find(standing) != std::string::npos);
}

/// Nothing that means a winner holds its name, anywhere in a document.
void check_json(const json& document, const std::string& name) {
    if (document.is_object())
        for (const auto& [key, value] : document.items()) {
            INFO(key << ": " << value.dump().substr(0, 200));
            for (const char* winner : {"recommended", "winner", "best_for", "nearest"})
                CHECK_FALSE((key == winner && value == name));
            if (key == "best" && value.is_array())
                for (const json& best : value) {
                    CHECK(best.value("device", json()) != name);
                    CHECK((!best.contains("hardware") || best.at("hardware") != name ||
                           best.at("measured") == false));
                    if (best.contains("device") && !best.at("device").is_null())
                        CHECK(best.at("probability").is_number());
                }
            check_json(value, name);
        }
    if (document.is_array())
        for (const json& one : document) {
            if (one.is_object() && one.value("hardware", json()) == name) {
                CHECK(one.value("rank", json()).is_null());
                CHECK(one.value("pareto", json(false)) == false);
            }
            check_json(one, name);
        }
}

const Session& session() {
    return test::shipped_session();
}

} // namespace

TEST_CASE("what may not lead wins no line of comparisons, studies and architectures", "[report][policy]") {
    CompareModelsRequest request;
    request.models = {"resnet50"};
    request.hardware = {"H100", "A100", kDoubted};
    request.decision.constraints = {{&metric::latency, 1}};
    request.decision.pareto = {&metric::latency, &metric::energy};
    const ModelComparison plain = compare_models(session(), request);
    CompareArchitecturesRequest asked;
    asked.model = "resnet50";
    asked.architectures = request.hardware;
    asked.level = ComparisonLevel::subgraph;
    const ArchitectureComparison architectures = compare_architectures(session(), asked);
    StudyRequest studied;
    studied.models = {"resnet50"};
    studied.devices = request.hardware;
    const Study study = run_study(session(), studied);
    for (const HowDoubted& doubt : doubts()) {
        INFO(doubt.name);
        ModelComparison c = plain;
        for (Result& r : c.results)
            make_doubtful(r, doubt);
        REQUIRE_FALSE(may_lead(c.results[2].estimate));
        check_text(text_of(describe(c)), kDoubted, doubt.name);
        check_json(json::parse(to_json(c, {})), kDoubted);
        const Decision decision = decide(c.results, c.request.decision);
        REQUIRE(decision.recommended);
        CHECK(decision.recommended->best != 2);
        CHECK_FALSE(decision.on_front[2]);
        CHECK(shares_of_best(c.results, metric::latency)[2] == 0);
        // Of the doubtful ones alone none is named.
        const std::vector<Result> alone = {c.results[2], c.results[2]};
        const std::vector<std::string> labels = {"first", "second"};
        const CostOptions conditions;
        const VerdictRecord record = verdict_record({alone, labels, metric::latency, conditions});
        CHECK_FALSE(record.best.front().device);
        CHECK_FALSE(record.best.front().probability);

        ArchitectureComparison a = architectures;
        for (Result& r : a.results)
            make_doubtful(r, doubt);
        check_text(text_of(describe(a)), kDoubted, doubt.name);
        check_json(json::parse(to_json(a)), kDoubted);
        a.request.level = ComparisonLevel::summary;
        const std::string csv = render(describe(a, {}, Format::csv), Format::csv, {});
        CHECK(csv.find("evidence") != std::string::npos);
        CHECK(csv.find(doubt.name) != std::string::npos);

        Study s = study;
        for (StudyGroup& group : s.groups)
            for (Result& r : group.results)
                make_doubtful(r, doubt);
        CHECK(text_of(describe(s)).find("most often: " + kDoubted) == std::string::npos);
    }
}

TEST_CASE("what may not lead wins no line of a difference", "[report][policy]") {
    DifferenceRequest request;
    request.before = {.model = "resnet50", .hardware = "H100"};
    request.after = {.model = "resnet50", .hardware = kDoubted};
    const DifferenceAnswer plain = explain_difference(session(), request);
    for (const HowDoubted& doubt : doubts()) {
        DifferenceAnswer answer = plain;
        doubt.put(answer.results[1].estimate);
        CHECK_THAT(text_of(describe(answer, {}, Format::text)), Catch::Contains("Not ranked") &&
                                                                    Catch::Contains(doubt.name) &&
                                                                    !Catch::Contains("likely"));
        CHECK(json::parse(to_json(answer, DifferenceView{})).at("probability").is_null());
    }
    CHECK(json::parse(to_json(plain, DifferenceView{})).at("probability").is_number());
}

TEST_CASE("what may not lead wins no line of a sweep", "[report][policy]") {
    for (const Standing standing : {Standing::projected, Standing::refuted}) {
        SweepSummary summary;
        summary.front.emplace(metric::latency, metric::energy);
        std::uint64_t point = 0;
        for (const auto& [hardware, value] : {std::pair<std::string, double>{"H100", 2.0}, {kDoubted, 1.0}}) {
            SweepRow row;
            row.point = point++;
            row.model = "resnet50";
            row.hardware = hardware;
            row.executed = "fp16";
            row.standing = hardware == kDoubted ? standing : Standing::measured;
            for (std::size_t m = 0; m < row.metrics->rows().size(); ++m)
                row.measures.emplace_back(Measure{value, {value, value}});
            summary.add(row);
        }
        const std::string text = text_of(describe(summary));
        check_text(text, kDoubted, std::string(name_of(standing)));
        REQUIRE(summary.front->rows().size() == 1);
        CHECK(summary.front->rows().front().hardware == "H100");
        CHECK(summary.best.rows().front().hardware == "H100");
        check_json(json::parse(to_json(summary)), kDoubted);
    }
}

TEST_CASE("what may not lead wins no line of servers, sizes and one machine", "[report][policy]") {
    std::vector<ServingResult> served(2);
    for (ServingResult& r : served) {
        r.model = "m";
        r.ok = true;
        r.hardware = &r == &served[0] ? "H100" : kDoubted;
        r.rate_per_s = 4;
        r.in_flight = 8;
        r.summary.output_tokens_per_s = &r == &served[0] ? 100 : 1000;
        r.summary.time_per_token_s.p50 = &r == &served[0] ? 0.02 : 0.002;
    }
    served[1].doubt = {Standing::projected, "no comparable device was measured on this stack"};
    check_text(text_of(describe_serving(served, {})), kDoubted, "projected");
    check_text(text_of(describe_serving(served, {.time_to_first_s = 1})), kDoubted, "projected");
    check_text(text_of(describe_frontier(served)), kDoubted, "projected");
    CHECK(serving_frontier(served) == std::vector<bool>{true, false});
    ServedQuestion question;
    question.model = "m";
    const json document = json::parse(serving_json(served, question));
    CHECK(document.at("results").at(1).at("evidence") == "projected");

    LocalAnswer local;
    local.device = "Mac";
    for (const char* name : {"small", "large"}) {
        LocalModel& m = local.models.emplace_back();
        m.name = name;
        m.format = "int4";
        m.runs = true;
        m.parameters = m.name == "large" ? 1e10 : 1e9;
        m.output = m.name == "large" ? LocalRate{100, 90, 110} : LocalRate{10, 9, 11};
        if (m.name == "large")
            m.doubt = {Standing::projected, "no transformer was measured"};
    }
    for (const Standing standing : {Standing::projected, Standing::refuted}) {
        local.models.back().doubt.standing = standing;
        CHECK_THAT(text_of(describe(local, {}, Format::text)),
                   Catch::Contains("Largest: small in int4, 10.0 tokens/s (9.00 to 11.0)") &&
                       !Catch::Contains(": large in int4"));
    }
    local.models.back().doubt.standing = Standing::projected;
    CHECK(json::parse(to_json(local, LocalView{})).at("models").at(1).at("evidence") == "projected");

    SizingRequest request;
    request.serving.load.rate_per_s = 0.1;
    request.level = {.time_to_first_s = 20, .time_per_token_s = 1};
    const std::vector<std::string> hardware = {"H100", "Trainium2"};
    const std::vector<Conditions> formats(1);
    request.cost.prices = {parse_price("Trainium2=0.1/h")};
    const SizingAnswer sized =
        size_service(session(), session().load("qwen3-8b"), hardware, formats, request);
    std::string lines;
    for (const std::string& line : sizing_takeaway(sized).lines)
        lines += line + "\n";
    for (const SizedDevice& d : sized.devices)
        if (!d.doubt.empty()) {
            check_text(lines, d.hardware, std::string(name_of(d.doubt.standing)));
            for (const auto& first : {sized.cheapest, sized.greenest, sized.fewest})
                CHECK((!first || sized.devices[*first].hardware != d.hardware));
        }
}

TEST_CASE("what may not lead is said to be so by batches, budgets and checks of models", "[report][policy]") {
    BatchRequest batched;
    batched.models = {"resnet50"};
    batched.hardware = {kDoubted};
    batched.batches = {1, 8, 64};
    const BatchAnalysis batches = analyze_batches(session(), batched);
    BudgetRequest budgeted;
    budgeted.models = {"resnet50"};
    budgeted.hardware = {kDoubted};
    budgeted.rules = {parse_budget_rule("latency>1s", "--fail-on")};
    const BudgetAnswer budget = check_budget(session(), budgeted);
    for (const HowDoubted& doubt : doubts()) {
        INFO(doubt.name);
        BatchAnalysis b = batches;
        make_doubtful(b.series[0].results[2], doubt); // the most throughput by far, and doubtful
        CHECK(*best_batches(b.series[0]).throughput != 2);
        for (Result& r : b.series[0].results)
            doubt.put(r.estimate);
        CHECK_THAT(text_of(describe(b)),
                   Catch::Contains(kDoubted + " in ") && Catch::Contains(" (" + doubt.name + "): batch "));
        CHECK_THAT(render(describe(b, {}, Format::csv), Format::csv, {}),
                   Catch::Contains("evidence") && Catch::Contains(doubt.name));
        CHECK(json::parse(to_json(b)).at("series").at(0).at("points").at(0).at("evidence") == doubt.name);

        BudgetAnswer kept = budget;
        doubt.put(kept.estimates.front().result.estimate);
        CHECK_THAT(text_of(describe(kept, {})), Catch::Contains(doubt.name + ": "));
        CHECK(json::parse(to_json(kept, BudgetView{})).at("estimates").at(0).at("evidence") == doubt.name);
    }
}

TEST_CASE("every row of a sweep says what it rests on", "[report][policy]") {
    const MetricTable& metrics = MetricTable::standard();
    SweepRow row;
    row.measures.assign(metrics.rows().size(), Measure{1, {1, 1}});
    SweepRow without;
    without.status = Status::unsupported;
    for (const Standing standing :
         {Standing::measured, Standing::related, Standing::projected, Standing::refuted}) {
        row.standing = standing;
        std::string text, csv;
        append_rows(std::vector{row, without}, {}, RowFormat::ndjson, text, metrics);
        CHECK(json::parse(text.substr(0, text.find('\n'))).at("evidence") == name_of(standing));
        CHECK(json::parse(text.substr(text.find('\n') + 1)).at("evidence").is_null());
        append_rows(std::vector{row}, {}, RowFormat::csv, csv, metrics);
        CHECK_THAT(csv, Catch::Contains(",ok," + std::string(name_of(standing)) + ","));
    }
}

TEST_CASE("measured is said of this chip or its generation, this stack and this kind of network",
          "[report][policy]") {
    HeldRows held;
    held.kind_variance = 0.04;
    const auto add = [&](const char* device, const char* vendor, const char* generation, NetworkKind kind,
                         TimeKind time, int rows, int inside) {
        held.sets.push_back(
            {"gpu", vendor, generation, device, "stack", kind, time, rows, inside, 2, 3, 5, "net"});
    };
    add("A", "X", "one", NetworkKind::convolution, TimeKind::inference, 10, 9);
    add("C", "X", "two", NetworkKind::attention, TimeKind::inference, 10, 9);
    add("A", "X", "one", NetworkKind::dense_prediction, TimeKind::inference, 10, 2);
    Device a, b, c, other;
    for (Device* d : {&a, &b, &c, &other})
        d->family = Family("gpu");
    a.id = "A", b.id = "B", c.id = "C", other.id = "D";
    a.vendor = b.vendor = c.vendor = "X", other.vendor = "Y";
    a.generation = b.generation = other.generation = "one", c.generation = "two";
    Runtime stack;
    stack.id = "stack";
    const auto of = [&](const Device& d, NetworkKind kind, TimeKind time = TimeKind::inference) {
        return held.of(d, stack, time, kind);
    };
    CHECK_FALSE(of(a, NetworkKind::convolution).projected);
    CHECK_FALSE(of(a, NetworkKind::convolution).related);
    CHECK_FALSE(of(b, NetworkKind::convolution).projected); // of its generation
    CHECK(of(b, NetworkKind::convolution).related);
    CHECK_FALSE(of(other, NetworkKind::convolution).related);         // a projection
    CHECK(of(other, NetworkKind::convolution).projected);             // no kinship across vendors
    CHECK(of(a, NetworkKind::recurrent).projected);                   // the stack never ran one
    CHECK(of(a, NetworkKind::attention, TimeKind::decode).projected); // nor a language model
    const HeldEvidence unlike = of(a, NetworkKind::attention);
    CHECK_FALSE(unlike.projected);
    CHECK(unlike.related);
    CHECK(unlike.unlike == "no transformer was measured");
    CHECK(unlike.variance == 0.04);
    CHECK_THAT(of(a, NetworkKind::dense_prediction).refuted, Catch::Contains("2 to 5 times as long"));
    CHECK(of(b, NetworkKind::dense_prediction).refuted.empty()); // another chip
    Runtime another;
    another.id = "another";
    CHECK(held.of(a, another, TimeKind::inference, NetworkKind::convolution).projected);
}

TEST_CASE("steps that refute an estimate are told of the server that takes them", "[report][policy]") {
    ServingRequest request;
    request.load.count = 50;
    request.load.rate_per_s = 1;
    for (const char* model : {"mixtral-8x7b", "llama-3-8b"}) {
        const Workload asked{.model = session().load(model), .prompt = Prompt{}};
        const Conditions conditions{.stack = "trt-llm"};
        const Result alone = session().estimate(asked, "H100", conditions);
        const ServingResult served = run_serving(session(), asked.model, "H100", conditions, request);
        REQUIRE((alone.ok() && served.ok));
        const bool told = std::ranges::any_of(served.notes, [&](const std::string& note) {
            return note.find("times as long as estimated here") != std::string::npos;
        });
        CHECK((!served.doubt.empty() || told == !alone.estimate.refuted.empty()));
    }
}

TEST_CASE("the held rows decide what is said of shipped devices", "[report][policy]") {
    const auto asked = [](const char* model, const char* device, auto... stack) {
        Conditions conditions;
        if constexpr (sizeof...(stack) > 0)
            conditions.stack = (std::string(stack), ...);
        Workload workload{.model = session().load(model)};
        return session().estimate(workload, device, conditions);
    };
    Workload prompt{.model = session().load("tinyllama-1.1b"), .prompt = Prompt{}};
    for (const char* device : {"DPU-ZCU102", "Hailo-8", "TDA4VM"}) // integers alone, attention with the host
        CHECK_FALSE(session().estimate(prompt, device, {}).ok());
    CHECK_FALSE(may_lead(asked("resnet50", "Apple-M3-GPU", "cuda").estimate));
    CHECK(may_lead(asked("resnet50", "A100").estimate));
}
