#include "answers/study/study.hpp"
#include "fields/question.hpp"

#include "core/json_document.hpp"
#include "hardware/schema_check.hpp"
#include "hardware/temporary_database.hpp"
#include "laws/laws.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

using namespace archsim;
using namespace archsim::test;
using nlohmann::json;

namespace {

const std::filesystem::path kExamples = std::filesystem::path(ARCHSIM_SOURCE_DIR) / "docs" / "examples";

json small_study() {
    return {{"models", {"resnet18"}}, {"devices", {"H100", "Coral-Edge-TPU"}}, {"precisions", {"fp16"}}};
}

std::vector<Finding> findings_of(const json& study) {
    TemporaryDatabase folder;
    try {
        read_study(laws::session(), folder.write("study.json", study.dump()));
    } catch (const InputError& problem) {
        return problem.findings();
    }
    return {};
}

/// The only mistake of a study, with what must be said about it.
void require_one(const json& study, const std::string& where, const std::string& says,
                 const std::string& hint) {
    const auto findings = findings_of(study);
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0].file, Catch::EndsWith("study.json"));
    CHECK(findings[0].where == where);
    CHECK_THAT(findings[0].message, Catch::Contains(says));
    CHECK_THAT(findings[0].hint, Catch::Contains(hint));
}

} // namespace

TEST_CASE("the example studies fit their schema and can be read", "[study]") {
    std::vector<Finding> findings;
    const SchemaCheck schema((kExamples / "study_schema.json").string(), findings);
    for (const char* name : {"quick_test.json", "full_comparison.json"}) {
        const auto file = (kExamples / name).string();
        const auto document = parse_json_file(file, findings);
        REQUIRE(document);
        for (const Finding& finding : schema.validate(*document, file))
            findings.push_back(finding);
        const StudyRequest study = read_study(laws::session(), file);
        CHECK(study.models == (*document)["models"].get<std::vector<std::string>>());
    }
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    CHECK(findings.empty());
}

TEST_CASE("the schema and the reader know the same fields", "[study]") {
    std::vector<Finding> findings;
    const auto schema = parse_json_file((kExamples / "study_schema.json").string(), findings);
    REQUIRE(schema);
    json study = small_study();
    for (const auto& [key, field] : (*schema)["properties"].items()) {
        INFO(key);
        CHECK((key == "$schema" || !field["description"].get<std::string>().empty()));
        if (!study.contains(key))
            study[key] = nullptr; // absent for the reader, but known
    }
    study.erase("dims");
    CHECK(findings_of(study).empty());
    for (const QuestionField& field :
         question_fields()) { // those beside its lists of models, devices and formats
        const std::string key = field.key == "devices" ? "device_count" : field.key;
        INFO(key);
        CHECK(((*schema)["properties"].contains(key) || key == "batch_size" || key == "precision" ||
               key == "runtime"));
    }
    CHECK((*schema)["properties"].size() == 9 + question_fields().size() - 3);
}

TEST_CASE("each mistake of a study is one finding with its pointer and hint", "[study]") {
    json study = small_study();
    SECTION("unknown field") {
        study["modles"] = study["models"];
        require_one(study, "/modles", "not a known field", "\"models\" meant");
    }
    SECTION("no models") {
        study.erase("models");
        require_one(study, "/", "\"models\" is missing", "resnet50");
    }
    SECTION("no devices") {
        study.erase("devices");
        require_one(study, "/", "\"devices\" is missing", "deployments");
    }
    SECTION("unknown model") {
        study["models"] = {"resnet18", "resnet51"};
        require_one(study, "/models/1", "resnet51", "resnet50");
    }
    SECTION("unknown device") {
        study["devices"] = {"H10"};
        require_one(study, "/devices/0", "\"H10\"", "H100");
    }
    SECTION("unknown power mode") {
        study["devices"] = {"Jetson-Orin-Nano@99W"};
        require_one(study, "/devices/0", "no power mode", "15W");
    }
    SECTION("unknown deployment") {
        study["deployments"] = {"edgy"};
        require_one(study, "/deployments/0", "edgy", "edge");
    }
    SECTION("unknown runtime") {
        study["runtimes"] = {"default", "tensorrrt"};
        require_one(study, "/runtimes/1", "tensorrrt", "tensorrt");
    }
    SECTION("unknown precision") {
        study["precisions"] = {"fp17"};
        require_one(study, "/precisions/0", "fp17", "fp16");
    }
    SECTION("batch size of zero, a text, a fraction") {
        study["batch_sizes"] = {1, 0};
        require_one(study, "/batch_sizes/1", "0", "whole number from 1");
        study["batch_sizes"] = {"8"};
        require_one(study, "/batch_sizes/0", "\"8\"", "whole number");
        study["batch_sizes"] = {1.5};
        require_one(study, "/batch_sizes/0", "1.5", "whole number");
    }
    SECTION("list that is none, or empty, or of numbers") {
        study["models"] = "resnet18";
        require_one(study, "/models", "array", "[");
        study["models"] = json::array();
        require_one(study, "/models", "array", "[");
        study["models"] = {18};
        require_one(study, "/models/0", "18 is not a text", "quotes");
    }
    SECTION("the same twice") {
        study["devices"] = {"H100", "H100"};
        require_one(study, "/devices/1", "twice", "remove");
    }
    SECTION("scenario and scope") {
        study["scenario"] = "fast";
        require_one(study, "/scenario", "fast", "latency or throughput");
    }
    SECTION("dimension") {
        study["dims"] = {{"sequence", -1}};
        require_one(study, "/dims/sequence", "-1", "whole number from 0");
    }
    SECTION("several at once") {
        study["modles"] = 1;
        study["devices"] = {"H10"};
        study["batch_sizes"] = {0};
        CHECK(findings_of(study).size() == 3);
    }
    SECTION("no JSON") {
        TemporaryDatabase folder;
        const auto file = folder.write("study.json", "{\"models\": [\n}");
        CHECK_THROWS_WITH(read_study(laws::session(), file), Catch::Contains("line 2"));
        CHECK_THROWS_WITH(read_study(laws::session(), file + "x"), Catch::Contains("cannot be opened"));
    }
}

TEST_CASE("a study runs every combination, each as if alone", "[study]") {
    TemporaryDatabase folder;
    json document = small_study();
    document["models"] = {"resnet18", "mobilenet_v2"};
    document["runtimes"] = {"default", "cuda-eager"};
    document["batch_sizes"] = {1, 4};
    document["precisions"] = {"fp16", "int8"};
    const Study study =
        run_study(laws::session(), read_study(laws::session(), folder.write("study.json", document.dump())));
    CHECK(study.cells() == 2 * 2 * 2 * 2 * 2);
    CHECK(study.groups.size() == 8);
    CHECK(study.cells(Status::unsupported) == 8); // PyTorch eager does not run on the Edge TPU
    CHECK(study.cells(Status::ok) + 8 == study.cells());
    CHECK(study.cells(Status::incomplete) == 0);

    const Result alone = laws::run("resnet18", "H100", Precision::fp16, 4);
    const StudyGroup& group = study.groups[2];
    CHECK(group.batch_size == 4);
    CHECK(group.precision == "fp16");
    CHECK(group.results[0].estimate.latency_s == alone.estimate.latency_s);

    const json answer = json::parse(to_json(study));
    CHECK(answer["schema"] == "archsim.study/1");
    CHECK(answer["counts"]["cells"] == 32);
    REQUIRE(answer["results"].size() == 32);
    std::set<std::string> identities;
    for (const json& row : answer["results"]) {
        identities.insert(row["model"].dump() + row["hardware"].dump() + row["runtime"].dump() +
                          row["precision"].dump() + row["batch_size"].dump());
        CHECK(row["latency_s"].is_null() == (row["status"] != "ok"));
    }
    CHECK(identities.size() == 32);
    const std::string csv = render(study, Format::csv, PlainView{});
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 33);
    CHECK_THAT(csv, Catch::StartsWith("model,batch_size,hardware,family,power_mode,runtime,precision,"));
    CHECK_THAT(render(describe(study), Format::text), Catch::Contains("Best of Each Combination"));
}

TEST_CASE("a study asks what a tool asks with the same fields", "[laws][ask][study]") {
    TemporaryDatabase folder;
    json document = {{"models", {"qwen3-0.6b"}}, {"devices", {"H100"}},  {"prompt_tokens", 64},
                     {"generate_tokens", 16},    {"context", "4Ki"},     {"sampling", "top-p"},
                     {"weights", "int4"},        {"scope", "end_to_end"}};
    const Study study =
        run_study(laws::session(), read_study(laws::session(), folder.write("study.json", document.dump())));
    QuestionTexts texts(Spelling::key);
    for (const char* key : {"prompt_tokens", "generate_tokens", "context", "sampling", "weights", "scope"})
        texts.give(key, document[key].is_string() ? document[key].get<std::string>() : document[key].dump());
    const Question asked = texts.question(laws::session().load("qwen3-0.6b"));
    const Result alone = laws::session().estimate(asked.workload, "H100", asked.conditions);
    CHECK(study.groups.at(0).precision == "fp16"); // what TensorRT-LLM multiplies 4-bit weights in
    CHECK(study.groups[0].results.at(0).estimate.latency_s == alone.estimate.latency_s);
    CHECK(json::parse(to_json(study))["request"]["context"] == 4096);
}

TEST_CASE("a failing cell takes no other with it", "[study]") {
    TemporaryDatabase folder;
    folder.write("broken.onnx", "this is no model");
    json broken = small_device("Broken");
    broken["dram"].erase("bandwidth");
    folder.write("broken.json", broken.dump());
    json document = small_study();
    document["models"] = {"./broken.onnx", "resnet18"};
    document["devices"] = {"H100", "./broken.json"};
    const StudyRequest request = read_study(
        laws::session(), folder.write("study.json", document.dump())); // paths lie beside the study
    const Study study = run_study(laws::session(), request);
    REQUIRE(study.groups.size() == 2);
    for (const Result& cell : study.groups[0].results) {
        CHECK(cell.estimate.status == Status::incomplete);
        CHECK_THAT(cell.estimate.reason, Catch::Contains("broken.onnx"));
    }
    CHECK(study.groups[1].results[0].ok());
    CHECK_FALSE(study.groups[1].results[1].ok());
    CHECK_THAT(study.groups[1].results[1].estimate.reason, Catch::Contains("/dram"));
    CHECK(study.cells(Status::incomplete) >= 2);
    CHECK(json::parse(to_json(study))["results"].size() == 4);
}
