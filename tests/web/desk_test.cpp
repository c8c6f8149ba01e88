// The page's questions and answers, on this machine.

#include "answers/compare/compare_models_report.hpp"
#include "answers/serving/serving_report.hpp"
#include "answers/sizing/size_service.hpp"
#include "answers/sizing/sizing_report.hpp"
#include "archsim/run/serve.hpp"
#include "import/model_maker.hpp"
#include "result/cost_terms.hpp"
#include "result/format_parts.hpp"
#include "web/desk.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using namespace archsim;
using namespace archsim::test;
using Json = nlohmann::json;

namespace {

Json ask(const Json& question) {
    static web::Desk desk(SessionOptions{.data = ARCHSIM_SOURCE_DIR});
    return Json::parse(desk.answer(question.dump()));
}

std::string error_of(const Json& question) {
    const Json answer = ask(question);
    return answer.contains("error") ? answer["error"]["message"].get<std::string>() : std::string();
}

Json rank(const char* model) {
    return {{"ask", "rank"}, {"model", model}, {"deployment", "edge"}};
}

} // namespace

TEST_CASE("a page's question that cannot be read is answered by a sentence that names the fault") {
    web::Desk desk(SessionOptions{.data = ARCHSIM_SOURCE_DIR});
    for (const char* text : {"", "{", "[]", "7", "\"rank\"", "{\"ask\":\"rank\"} x"})
        CHECK(Json::parse(desk.answer(text))["error"]["message"] == "a question is a JSON object");
    CHECK(error_of({{"ask", "rank"}, {"colour", 1}}) == "a question has no \"colour\"");
    CHECK(error_of({{"ask", "dance"}}) == "\"dance\" cannot be asked");
    CHECK(error_of({{"ask", "rank"}, {"batch", true}}) == "\"batch\" of a question is not a whole number");
    CHECK(error_of({{"ask", "rank"}, {"batch", 18446744073709551615ULL}}) ==
          "\"batch\" of a question is not a whole number");
    CHECK(error_of({{"ask", "rank"}, {"hardware", {1}}}) == "\"hardware\" of a question is not a text");
    CHECK_THAT(
        error_of({{"ask", "change"}, {"changes", {{"luck", 2}}}}),
        Catch::StartsWith("\"changes\": nothing called \"luck\" can be varied; known: peak, bandwidth"));
    CHECK(error_of({{"ask", "change"}, {"changes", {{"clock", 0}}}}) ==
          "\"changes\" clock: \"0\" is not a number above 0, such as 0.5 or 2x");
    CHECK(ask(rank("resnet5O"))["error"]["kind"] == "input");
    CHECK(ask({{"ask", "explain"}, {"model", "resnet18"}, {"hardware", {"H100"}}})["error"]["kind"] ==
          "usage");
}

TEST_CASE("a page's names are found as the tools find them") {
    const Json names = ask({{"ask", "names"},
                            {"model", "bge-large"},
                            {"hardware", {"RTX 3070", "h100", "Jetson-Orin-Nano@7W", "8xH100", "H1000"}}});
    CHECK(names["model"] == "bert-large");
    CHECK(names["hardware"] == Json({{"RTX 3070", "RTX-3070"},
                                     {"h100", "H100"},
                                     {"Jetson-Orin-Nano@7W", "Jetson-Orin-Nano@7W"},
                                     {"8xH100", "8xH100"},
                                     {"H1000", nullptr}}));
    CHECK(ask({{"ask", "names"}, {"model", "resnet1800"}})["model"] == nullptr);
}

TEST_CASE("a page's export is what the tools print") {
    const Session session(SessionOptions{.data = ARCHSIM_SOURCE_DIR});
    CompareModelsRequest request;
    request.models = {"resnet18"};
    request.deployment = "edge";
    request.conditions.precision = precision_named("int8");
    request.workload.batch = 4;
    const ModelComparison comparison = compare_models(session, request);
    const Json question = {{"ask", "export"},     {"model", "resnet18"}, {"deployment", "edge"},
                           {"precision", "int8"}, {"batch", 4},          {"format", "json"}};
    CHECK(ask(question)["text"] == to_json(comparison));
    Json table = question;
    table["format"] = "csv";
    CHECK(ask(table)["text"] == render(comparison, Format::csv, CompareModelsView{}));
}

TEST_CASE("a page that names no format asks for the one of the tools", "[laws][ask]") {
    const Session session(SessionOptions{.data = ARCHSIM_SOURCE_DIR});
    CompareModelsRequest request;
    request.models = {"qwen3-0.6b"};
    request.hardware = {"H100"};
    request.workload.prompt = Prompt{.tokens = 64, .generate = 16, .context = 4096};
    const ModelComparison comparison = compare_models(session, request);
    CHECK(comparison.results.front().conditions.precision.compute == Precision::bf16);
    const Json question = {{"ask", "export"},     {"model", "qwen3-0.6b"}, {"hardware", {"H100"}},
                           {"prompt_tokens", 64}, {"generate_tokens", 16}, {"context", "4Ki"},
                           {"format", "json"}};
    CHECK(ask(question)["text"] == to_json(comparison));
}

TEST_CASE("a page's answers on serving and sizing are those of the tools", "[laws][ask]") {
    const Session session(SessionOptions{.data = ARCHSIM_SOURCE_DIR});
    const Model model = session.load("qwen3-0.6b");
    Json question = {{"model", "qwen3-0.6b"}, {"hardware", {"H100", "L4"}}, {"precision", "bf16"}};
    question["load"] = {{"rate", 4}, {"prompt_tokens", "1k"}, {"output_tokens", 32}, {"requests", 40}};
    Conditions conditions;
    conditions.precision = precision_named("bf16");
    ServingRequest request;
    request.load.rate_per_s = 4;
    request.load.prompt_tokens = 1000;
    request.load.output_tokens = 32;
    request.load.count = 40;

    Json serve = question;
    serve["ask"] = "serve";
    std::vector<ServingResult> results;
    for (const char* device : {"H100", "L4"})
        results.push_back(run_serving(session, model, device, conditions, request));
    ServedQuestion asked{"qwen3-0.6b", {"H100", "L4"}, conditions, request};
    CHECK(ask(serve)["json"] == serving_json(results, asked));
    CHECK_FALSE(ask(serve)["sections"].empty());
    // Limits alone: the highest rate.
    serve["load"].erase("rate");
    serve["level"] = {{"ttft_p99", "1s"}};
    request.load.rate_per_s = 0;
    results = {highest_rate(session, model, "H100", conditions, request, {.time_to_first_s = 1})};
    serve["hardware"] = {"H100"};
    asked = {"qwen3-0.6b", {"H100"}, conditions, request, {.time_to_first_s = 1}};
    CHECK(ask(serve)["json"] == serving_json(results, asked));

    Json size = question;
    size["ask"] = "size";
    size["level"] = {{"ttft_p99", "1s"}, {"confidence", 0.8}};
    size["costs"] = {{"years", 3}, {"prices", "H100=2.5/h L4=0.5/h"}};
    SizingRequest sizing;
    sizing.serving = request;
    sizing.serving.load.rate_per_s = 4;
    sizing.level.time_to_first_s = 1;
    sizing.confidence = 0.8;
    sizing.cost.years = 3;
    sizing.cost.prices = {parse_price("H100=2.5/h"), parse_price("L4=0.5/h")};
    const std::vector<std::string> hardware = {"H100", "L4"};
    const std::vector<Conditions> formats = {conditions};
    CHECK(ask(size)["json"] == to_json(size_service(session, model, hardware, formats, sizing), PlainView{}));
    // Without a format each device has the one of the tool, and users and budgets count as there.
    size.erase("precision");
    size["load"].erase("rate");
    size["level"] = {
        {"ttft_p99", "1s"}, {"users", "200"}, {"think_time", "50s"}, {"budget", "4000USD/month"}};
    size["costs"] = {{"prices", "H100=2.5/h, L4=0.5/h"}, {"utilization", "30%"}};
    sizing.serving.load.rate_per_s = 0;
    sizing.users = 200;
    sizing.think_s = 50;
    sizing.budget_usd_per_hour = 4000 / 730.5;
    sizing.confidence = 0.9;
    sizing.cost.years = CostOptions{}.years;
    sizing.cost.utilization = 0.3;
    const std::vector<Conditions> open(1);
    const Json answer = ask(size);
    CHECK(answer["json"] == to_json(size_service(session, model, hardware, open, sizing), PlainView{}));
    CHECK(answer["json"].get<std::string>().find("\"bf16\"") != std::string::npos);
    size["costs"]["prices"] = "H100X=3";
    CHECK(error_of(size).find("H100X") != std::string::npos);
    serve["level"]["users"] = "200";
    CHECK(error_of(serve) == "users: not of \"serve\", but of a sizing");
}

TEST_CASE("a page's decision shows a few devices, those that qualify first, and has the others apart") {
    const Json question = {{"ask", "rank"}, {"model", "resnet50"}, {"limits", {{"latency", "5ms"}}}};
    const Json answer = ask(question);
    const auto rows = [](const std::string& html) {
        std::size_t count = 0;
        for (std::size_t at = html.find("<tr><td"); at != std::string::npos;
             at = html.find("<tr><td", at + 1))
            ++count;
        return count;
    };
    const std::string few = answer["verdict"], all = answer["decisions"];
    CHECK(rows(few) == 5);
    CHECK(rows(all) == answer["rows"].size());
    const std::size_t no = all.find(">no<"), last = all.rfind(">yes<");
    CHECK((no == std::string::npos || last == std::string::npos || last < no));
}

TEST_CASE("a page says of answers to prompts what they are per token, and of costs who is paid") {
    Json question = {
        {"ask", "rank"}, {"model", "qwen3-0.6b"}, {"hardware", {"H100", "L4"}}, {"sort", "cost"}};
    const std::string ranking = ask(question)["ranking"];
    CHECK(ranking.find("tokens/s") != std::string::npos);
    CHECK(ranking.find("(USD/million rented)") != std::string::npos);
    question = {
        {"ask", "change"}, {"model", "qwen3-0.6b"}, {"hardware", {"H100"}}, {"changes", {{"bandwidth", 2}}}};
    const std::string change = ask(question)["table"];
    CHECK(change.find("Cost (rented)") != std::string::npos);
    CHECK(change.find("tokens/s") != std::string::npos);
}

TEST_CASE("every field of a page's forms is taken, and what cannot be is refused by its name") {
    const Json catalogue = ask({{"ask", "catalogue"}});
    Json question = {{"ask", "serve"}, {"model", "qwen3-0.6b"}, {"hardware", {"H100"}}};
    for (const auto& [form, wrong] : {std::pair{"load", "no such text"}, {"level", "-1"}, {"costs", "-1"}})
        for (const Json& field : catalogue[form]) {
            Json asked = question;
            asked[form] = {{field["key"].get<std::string>(), wrong}};
            INFO(asked);
            CHECK_FALSE(error_of(asked).empty());
            CHECK(error_of(asked).find("has no") == std::string::npos); // it is known
        }
    for (const char* form : {"load", "level", "costs"}) {
        Json asked = question;
        asked[form] = {{"colour", "1"}};
        CHECK(error_of(asked).find("has no \"colour\"") != std::string::npos);
    }
    CHECK(error_of(question) == "give a load (rate or concurrency), or limits on waiting (ttft_p99)");
    question["hardware"] = Json::array();
    CHECK(error_of(question) == "\"serve\" is asked of devices: name them in \"hardware\"");
    // What a picture costs by years of use: more years, fewer dollars.
    Json cost = {
        {"ask", "cost"}, {"model", "resnet18"}, {"hardware", {"H100", "T4"}}, {"costs", {{"tenure", "buy"}}}};
    const std::string four = ask(cost)["html"];
    cost["costs"]["years"] = 8;
    CHECK(four.find("8 years of use") == std::string::npos);
    CHECK(ask(cost)["html"].get<std::string>().find("8 years of use") != std::string::npos);
}

TEST_CASE("a page's rows stand in the order of its ranking") {
    const Json answer = ask(rank("resnet50"));
    const std::string html = answer["ranking"];
    std::size_t at = 0;
    int place = 1;
    REQUIRE(answer["rows"].size() > 3);
    for (const Json& row : answer["rows"]) {
        const std::size_t next = html.find("<tr><td>" + row["label"].get<std::string>(), at);
        REQUIRE(next != std::string::npos);
        at = next + 1;
        if (row["status"] == "ok" && row["place"] > 0) {
            CHECK(row["place"] >= place);
            place = row["place"];
        }
    }
    // The bars of the intervals span their column.
    CHECK(html.find("class=\"right interval\" style=\"--low:0.0%;--at:") != std::string::npos);
    CHECK(html.find(";--high:100.0%\"") != std::string::npos);
    // The verdict names the fastest measured device, and what is projected to be faster.
    const auto measured = std::find_if(answer["rows"].begin(), answer["rows"].end(),
                                       [](const Json& row) { return row["place"] > 0; });
    REQUIRE(measured != answer["rows"].end());
    const std::string verdict = answer["verdict"], label = (*measured)["label"];
    CHECK((verdict.find("Fastest: " + label) != std::string::npos ||
           verdict.find("Too close to call: " + label) != std::string::npos));
    if (measured != answer["rows"].begin())
        CHECK(verdict.find("Not ranked: ") != std::string::npos);
}

TEST_CASE("a page's device answer holds the whole graph, whose times are shares of the latency") {
    const Json answer = ask({{"ask", "device"}, {"model", "resnet18"}, {"hardware", {"A100"}}});
    CHECK(answer["status"] == "ok");
    CHECK(answer["sections"].size() > 4);
    double share = 0;
    for (const Json& node : answer["graph"]) {
        share += node["share"].get<double>();
        for (const Json& from : node["predecessors"])
            CHECK(from < node["index"]);
    }
    CHECK(share > 0.2);
    CHECK(share < 1 + 1e-9);
}

TEST_CASE("sliders at one change nothing, and more of a thing never takes longer") {
    Json question = {{"ask", "change"}, {"model", "resnet18"}, {"hardware", {"Jetson-Orin-Nano"}}};
    for (const Json& name : ask({{"ask", "catalogue"}})["changes"]) {
        INFO(name);
        question["changes"] = {{name.get<std::string>(), 1}};
        const Json same = ask(question);
        CHECK(same["changed_s"] == same["stated_s"]);
        question["changes"] = {{name.get<std::string>(), 2}};
        const Json more = ask(question);
        CHECK(more["stated_s"] == same["stated_s"]);
        CHECK(more["changed_s"] <= more["stated_s"].get<double>() * (1 + 1e-9));
    }
}

TEST_CASE("names in a dropped model stay text") {
    const std::string hostile = "<script>alert(1)</script>\"'&\xff\n";
    auto model = make_model();
    auto& graph = *model.mutable_graph();
    add_input(graph, "x", {"<img src=x onerror=alert(1)>", "16"});
    add_weights(graph, hostile, {16, 16}).set_raw_data(std::string(1024, '\1'));
    add_node(graph, "MatMul", {"x", hostile}, {"y"}, hostile);
    add_node(graph, "<b>Odd</b>", {"y"}, {"z"}, "odd");
    add_output(graph, "z");
    const auto file = std::filesystem::temp_directory_path() / "archsim <i>hostile<\\i>.onnx";
    std::ofstream(file, std::ios::binary) << model.SerializeAsString();
    const Json question = {{"model", file.string()}, {"hardware", {"H100"}}};
    for (const char* what : {"model", "rank", "device"}) {
        Json asked = question;
        asked["ask"] = what;
        if (std::string_view(what) == "model")
            asked.erase("hardware");
        const Json answer = ask(asked);
        CHECK_FALSE(answer.contains("error"));
        const auto check = [](const std::string& html) {
            CHECK(html.find("<script>alert") == std::string::npos);
            CHECK(html.find("<img") == std::string::npos);
            CHECK(html.find("<b>") == std::string::npos);
            CHECK(html.find("<i>") == std::string::npos);
        };
        for (const char* part : {"verdict", "facts", "ranking"})
            check(answer.value(part, ""));
        for (const Json& section : answer.value("sections", Json::array()))
            check(section["html"]);
    }
    std::filesystem::remove(file);
}

TEST_CASE("a page gets the schedule as trace events, and advice with its gain") {
    const Json answer = ask({{"ask", "trace"}, {"model", "resnet18"}, {"hardware", {"H100"}}});
    const Json trace = Json::parse(answer["text"].get<std::string>());
    double end = 0;
    for (const Json& event : trace["traceEvents"])
        if (event["ph"] == "X")
            end = std::max(end, event["ts"].get<double>() + event["dur"].get<double>());
    CHECK(end == Approx(trace["otherData"]["latency_s"].get<double>() * 1e6).epsilon(1e-3));
    CHECK(error_of({{"ask", "trace"}, {"model", "llama-3-70b"}, {"hardware", {"Coral-Edge-TPU"}}}) != "");

    std::size_t advised = 0;
    for (const char* model : {"resnet50", "bert-base", "vit_b_16"}) {
        const Json ranking =
            ask({{"ask", "rank"}, {"model", model}, {"precision", "fp32"}, {"deployment", "edge"}});
        for (const Json& advice : ranking["advice"]) {
            ++advised;
            REQUIRE(advice["fields"].size() > 0);
            Json again = {
                {"ask", "rank"}, {"model", model}, {"hardware", {advice["hardware"]}}, {"precision", "fp32"}};
            for (const auto& [key, text] : advice["fields"].items())
                again[key] = key == "hardware" ? Json::array({text}) : Json(text);
            CHECK_FALSE(ask(again).contains("error")); // fields, as a question takes them
            CHECK(advice["gain"] >= 1.05);
        }
    }
    CHECK(advised > 0);
}
