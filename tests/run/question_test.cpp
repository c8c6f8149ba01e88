// One question: what is asked is what runs and what is printed, for every kind of model; a whole is the sum
// of its parts, for models of several parts, answers to prompts and groups of devices.

#include "answers/compare/compare_models_report.hpp"
#include "archsim/compare/cost.hpp"
#include "archsim/run/compare_models.hpp"
#include "laws/laws.hpp"
#include "report/blocks/result_row.hpp"
#include "result/ranking.hpp"
#include "session/generation/language_model.hpp"
#include "session/graph_run.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace archsim;
using nlohmann::json;

namespace {

Conditions fp16(double devices = 1) {
    Conditions conditions;
    conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    conditions.devices = devices;
    return conditions;
}

Result ask(const std::string& model, const std::string& device, const Conditions& conditions = fp16(),
           std::optional<Prompt> prompt = {}) {
    return laws::session().estimate(
        {.model = laws::session().load(model), .prompt = prompt, .single_pass = !prompt}, device, conditions);
}

/// What holds for every estimate, whatever it was added up from.
void check_identities(const Result& r) {
    const Estimate& e = r.estimate;
    const MemoryEstimate& m = e.memory;
    CHECK(e.energy_per_inference_j == Approx(e.energy.total() / e.batch));
    CHECK(e.power_w == Approx(e.energy_per_inference_j * e.throughput_per_s));
    CHECK(m.peak_bytes == Approx(m.weight_bytes + m.activation_bytes + m.kv_cache_bytes + m.workspace_bytes));
    CHECK(m.live_bytes > 0);
    CHECK(m.live_bytes <= m.activation_bytes * (1 + 1e-9));
    CHECK((m.capacity_bytes == 0 || m.peak_bytes <= m.capacity_bytes));
    CHECK(e.utilization_min <= e.utilization * (1 + 1e-9));
    CHECK(e.utilization <= e.utilization_max * (1 + 1e-9));
}

/// Models of the catalogue that answer a prompt.
std::vector<std::string> language_models() {
    std::vector<std::string> names;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries())
        if (entry.kind == "decoder-lm" && entry.language_model && !entry.file.empty())
            names.push_back(entry.name);
    return names;
}

} // namespace

TEST_CASE("every catalogue entry is loaded and estimated in the same words", "[question]") {
    int graphs = 0, parts = 0;
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        CAPTURE(entry.name);
        Conditions conditions = fp16();
        conditions.keep_subgraphs = false;
        const Result r = ask(entry.name, "H200", conditions);
        INFO(r.estimate.reason);
        REQUIRE((r.ok() || r.estimate.status == Status::does_not_fit));
        CHECK(r.model->name == entry.name);
        CHECK(r.parts.size() == laws::session().load(entry.name).parts.size());
        (laws::one_graph(entry) ? graphs : parts) += r.ok();
    }
    CHECK(graphs >= 60);
    CHECK(parts >= 8);
}

TEST_CASE("names that do not exist throw with the nearest ones; a device that cannot is a result",
          "[question]") {
    const Session& session = laws::session();
    CHECK_THROWS_WITH(session.load("resnet5O"), Catch::Contains("resnet50"));
    const Workload workload{.model = session.load("resnet18")};
    CHECK_THROWS_WITH(session.estimate(workload, "H10O"), Catch::Contains("H100"));
    CHECK_THROWS_AS(session.estimate(workload, "H100@9000W"), InputError);
    Conditions conditions;
    conditions.stack = "tensorrrt";
    CHECK_THROWS_WITH(session.estimate(workload, "H100", conditions), Catch::Contains("tensorrt"));
    conditions.stack = "tensorrt";
    const Result elsewhere = session.estimate(workload, "TPU-v4", conditions);
    CHECK(elsewhere.estimate.status == Status::unsupported);
    CHECK_THAT(elsewhere.estimate.reason, Catch::Contains("does not run on"));
    CHECK(elsewhere.device != nullptr);
    CHECK(ask("llama-3-70b", "T4").estimate.status == Status::does_not_fit);
    CHECK_THROWS_AS(ask("clip-vit-b32", "H100", fp16(), Prompt{}), UsageError);
    CHECK_THROWS_AS(session.estimate({.model = session.load("resnet18"), .batch = 0}, "H100"), UsageError);
    CHECK_THROWS_AS(ask("resnet18", "H100", fp16(0)), UsageError);
    CHECK_THROWS_AS(ask("resnet18", "H100", fp16(1.5)), UsageError);
    CHECK_THROWS_AS(session.estimate({.model = {}}, "H100"), UsageError);
}

TEST_CASE("what the memory does not hold runs in fewer bits where nobody named a format, whoever asks",
          "[question][laws]") {
    std::size_t fewer = 0;
    for (const char* model : {"llama-3-8b", "llama-3-70b", "stable-diffusion-3.5-medium", "resnet50"})
        for (const char* device : {"Mac mini M4 16GB", "RTX-3060", "RTX-4090", "T4"}) {
            CAPTURE(model, device);
            const Result alone = laws::session().estimate({.model = laws::session().load(model)}, device);
            CompareModelsRequest request;
            request.models = {model};
            request.hardware = {device};
            const ModelComparison compared = compare_models(laws::session(), request);
            const Result& beside = compared.results.front();
            CHECK(alone.estimate.status == beside.estimate.status);
            CHECK(alone.estimate.reason == beside.estimate.reason);
            CHECK(alone.estimate.latency_s == beside.estimate.latency_s);
            CHECK(alone.estimate.executed == beside.estimate.executed);
            for (const Result& usual : compared.too_large.front())
                CHECK(usual.estimate.status == Status::does_not_fit);
            fewer += !compared.too_large.front().empty();
        }
    CHECK(fewer >= 3);
    Conditions named;
    named.precision = PrecisionConfig::uniform(Precision::bf16);
    CHECK(ask("llama-3-8b", "RTX-3060", named, Prompt{}).estimate.status == Status::does_not_fit);
}

TEST_CASE("what is printed is what ran, for every field of the question", "[question]") {
    CompareModelsRequest request;
    request.models = {"gpt2"};
    request.hardware = {"H100"};
    request.stacks = {"vllm"};
    request.workload.batch = 3;
    request.workload.sizes.dims = {{"past_sequence", 0}};
    request.workload.prompt = Prompt{.tokens = 48, .generate = 7};
    request.conditions = fp16(2);
    request.conditions.scenario = Scenario::throughput;
    request.conditions.scope = Scope::end_to_end;
    const ModelComparison c = compare_models(laws::session(), request);
    const Result& ran = c.results.front();
    INFO(ran.estimate.reason);
    REQUIRE(ran.ok());
    const json asked = json::parse(to_json(c))["request"], row = json::parse(to_json(c))["results"][0];
    CHECK(asked["models"] == json{ran.model->name});
    CHECK(asked["hardware"] == json{ran.hardware});
    CHECK(asked["runtime"] == ran.runtime->id);
    CHECK(asked["batch_size"] == ran.estimate.batch);
    CHECK(asked["precision"] == "fp16");
    CHECK(row["precision"] == "fp16");
    CHECK(ran.estimate.executed.compute == Precision::fp16);
    CHECK(asked["prompt_tokens"] == ran.generation->prompt_tokens);
    CHECK(asked["generate_tokens"] == ran.generation->generate_tokens);
    CHECK(asked["devices"] == ran.devices());
    CHECK(asked["devices"] == ran.generation->devices);
    CHECK(asked["scenario"] == name_of(ran.conditions.scenario));
    CHECK(ran.generation->serving.sequences > 0); // the scenario ran, not its name alone
    CHECK(asked["scope"] == name_of(ran.machine->scope));

    // Without a prompt, sizes and formats: another value of the request is another run.
    CompareModelsRequest vision;
    vision.models = {"bert-base"};
    vision.hardware = {"H100"};
    vision.conditions.precision = PrecisionConfig::uniform(Precision::fp32);
    const auto answer = [](const CompareModelsRequest& q) {
        const ModelComparison compared = compare_models(laws::session(), q);
        return std::pair(compared.results.front().estimate.latency_s,
                         json::parse(to_json(compared))["request"]);
    };
    const auto plain = answer(vision);
    CHECK(plain.second["precision"] == "fp32");
    CompareModelsRequest longer = vision, narrow = vision, larger = vision;
    longer.workload.sizes.dims = {{"sequence", 384}};
    narrow.conditions.precision = PrecisionConfig::uniform(Precision::fp16);
    larger.workload.batch = 32;
    CHECK(answer(longer).first > plain.first);
    CHECK(answer(longer).second["dims"]["sequence"] == 384);
    CHECK(answer(narrow).first < plain.first);
    CHECK(answer(narrow).second["precision"] == "fp16");
    CHECK(answer(larger).first > plain.first);
    CHECK(answer(larger).second["batch_size"] == 32);
}

TEST_CASE("law: a model of parts is the sum of its parts", "[question][laws]") {
    for (const CatalogueEntry& entry : laws::session().catalogue().entries()) {
        if (entry.parts.empty())
            continue;
        for (const char* device : {"H100", "Xeon-8490H", "TPU-v4", "Jetson-AGX-Orin"}) {
            CAPTURE(entry.name, device);
            const Result whole = ask(entry.name, device);
            if (!whole.ok())
                continue;
            check_identities(whole);
            double latency = 0, energy = 0, turn = 0, weights = 0, workspace = 0, arena = 0, live = 0;
            EventCounts events;
            for (const ResultPart& part : whole.parts) {
                const Estimate& e = part.result->estimate;
                latency += part.repeat * e.latency_s;
                energy += part.repeat * e.energy.total();
                turn += part.repeat * e.batch / e.throughput_per_s;
                EventCounts counted = e.events;
                events += counted.scale(part.repeat);
                weights += e.memory.weight_bytes;
                workspace = std::max(workspace, e.memory.workspace_bytes);
                arena = std::max(arena, e.memory.activation_bytes);
                live = std::max(live, e.memory.live_bytes);
                CHECK(whole.estimate.memory.peak_bytes >= e.memory.peak_bytes * (1 - 1e-9));
            }
            const Estimate& e = whole.estimate;
            CHECK(e.latency_s == Approx(latency));
            CHECK(e.energy.total() == Approx(energy));
            CHECK(e.batch / e.throughput_per_s == Approx(turn));
            CHECK(e.events[Event::dram_byte] == Approx(events[Event::dram_byte]));
            CHECK(e.memory.weight_bytes <= weights * (1 + 1e-9));
            CHECK(e.memory.workspace_bytes == workspace);
            CHECK(e.memory.activation_bytes == arena);
            CHECK(e.memory.live_bytes == live);
            const Cost cost = cost_of(whole, {});
            CHECK(*cost.electricity > 0);
        }
    }
}

TEST_CASE("law: an answer is its prompt and its steps, in both scenarios", "[question][laws]") {
    const auto names = language_models();
    CHECK(names.size() >= 8);
    for (const std::string& name : names)
        for (const Scenario scenario : {Scenario::latency, Scenario::throughput})
            for (const double devices : {1.0, 2.0}) {
                CAPTURE(name, name_of(scenario), devices);
                Conditions conditions = fp16(devices);
                conditions.scenario = scenario;
                conditions.keep_subgraphs = false;
                const Prompt prompt{.tokens = 128, .generate = 32};
                const Result r = ask(name, "H200", conditions, prompt);
                if (r.estimate.status == Status::does_not_fit)
                    continue;
                INFO(r.estimate.reason);
                REQUIRE(r.ok());
                check_identities(r);
                const GenerationEstimate& g = *r.generation;
                CHECK(r.devices() == devices);
                CHECK(r.estimate.latency_s ==
                      Approx(g.time_to_first_token_s + 31 * g.time_per_output_token_s));
                if (scenario == Scenario::latency) {
                    CHECK(r.estimate.energy.total() ==
                          Approx(g.energy_first_token_j + 31 * g.energy_per_token_j * g.batch));
                } else { // of the server alone: energy, power and throughput belong together
                    CHECK(r.estimate.energy_per_inference_j == Approx(32 * g.serving.energy_per_token_j));
                    CHECK(r.estimate.throughput_per_s == Approx(g.serving.tokens_per_s / 32));
                }
                CHECK(g.memory_bytes == r.estimate.memory.peak_bytes);
            }
}

TEST_CASE("law: the electricity of an inference is never above its energy and idle time",
          "[question][laws]") {
    Conditions conditions = fp16(2);
    conditions.scenario = Scenario::throughput;
    const Result r = ask("llama-3-70b", "H100", conditions, Prompt{});
    REQUIRE(r.ok());
    CHECK(r.estimate.power_w <= 2 * r.machine->power_limit_w * (1 + 1e-9));
    CHECK(r.estimate.power_w / r.estimate.throughput_per_s == Approx(r.estimate.energy_per_inference_j));
    const Cost cost = cost_of(r, {.utilization = 1});
    CHECK(*cost.electricity == Approx(r.estimate.energy_per_inference_j * 1.58 / 3.6e6 * 0.127));
    const std::string text =
        render(describe(ModelComparison{.models = {r.model}, .results = {r}}, {.verbose = true}),
               Format::text, {140});
    CHECK_THAT(text, Catch::Contains("2, which share every layer"));
    CHECK_THAT(text, Catch::Contains("2 x 700 W"));
}

TEST_CASE("devices that share a network are bought, rented and powered together", "[question][devices]") {
    const Result one = ask("llama-3-8b", "H100"), eight = ask("llama-3-8b", "H100", fp16(8));
    REQUIRE(one.ok());
    REQUIRE(eight.ok());
    CHECK(eight.machine->devices == 8);
    CHECK(eight.estimate.memory.capacity_bytes == one.estimate.memory.capacity_bytes); // of one chip
    CHECK(eight.estimate.memory.peak_bytes < one.estimate.memory.peak_bytes);
    const Cost alone = cost_of(one, {}), group = cost_of(eight, {});
    REQUIRE(alone.cloud);
    CHECK(*group.cloud * group.inferences_per_s == Approx(8 * *alone.cloud * alone.inferences_per_s));
    CHECK(json::parse(to_json(eight))["power_w"].get<double>() > 2 * one.machine->static_power_w);
}

TEST_CASE("law: a batch alone takes as long in the saturated scenario", "[question]") {
    int faster = 0;
    for (const char* model : {"resnet50", "bert-base"})
        for (const std::string& hardware : laws::hardware())
            for (const std::int64_t batch : {1, 8}) {
                CAPTURE(model, hardware, batch);
                Conditions conditions = fp16(1);
                const Result alone =
                    run_graph(laws::session(), laws::bound(model, batch), hardware, conditions);
                conditions.scenario = Scenario::throughput;
                const Result busy =
                    run_graph(laws::session(), laws::bound(model, batch), hardware, conditions);
                REQUIRE(busy.estimate.status == alone.estimate.status);
                if (!busy.ok())
                    continue;
                const Estimate& e = busy.estimate;
                CHECK(e.latency_s == alone.estimate.latency_s);
                CHECK(e.latency_interval.high == alone.estimate.latency_interval.high);
                CHECK(e.memory.peak_bytes == alone.estimate.memory.peak_bytes);
                faster += e.throughput_per_s > alone.estimate.throughput_per_s * 1.01;
                // What is shown in detail adds up to both.
                double seconds = e.network_s, joules = 0;
                for (const SubgraphEstimate& s : e.subgraphs) {
                    seconds += s.latency_s;
                    joules += s.energy.total();
                }
                CHECK(seconds == Approx(e.latency_s));
                if (!value_of(busy, metric::energy))
                    continue; // nobody published what it draws
                CHECK(joules <= e.energy.total() * (1 + 1e-9));
                CHECK(e.power_w == Approx(e.energy_per_inference_j * e.throughput_per_s));
            }
    CHECK(faster > 20); // the scenario is not the other one under a new name
}

TEST_CASE("the saturated scenario shows the device that it ranks first", "[question]") {
    CompareModelsRequest request;
    request.models = {"resnet50"};
    request.hardware = {"Xeon-8490H", "Jetson-Orin-Nano@15W", "Xeon-8380"};
    request.conditions.scenario = Scenario::throughput;
    // A batch on all cores is fast, many streams on one core each do more: the two orders differ.
    const ModelComparison c = compare_models(laws::session(), request);
    const auto ranks = rank_results(c.results, metric::throughput);
    const Report report = describe(c, {.verbose = true});
    const auto first = std::find_if(report.blocks.begin(), report.blocks.end(), [](const Block& block) {
        const auto* heading = std::get_if<Heading>(&block);
        return heading != nullptr && heading->level == 2;
    });
    REQUIRE(first != report.blocks.end());
    CHECK_THAT(std::get<Heading>(*first).text,
               Catch::StartsWith(c.results[ranks.front().result].device->name));
}
