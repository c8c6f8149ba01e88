// Studies in YAML: the same studies and the same mistakes as in JSON, each with its line and column.

#include "answers/study/study.hpp"
#include "core/json_document.hpp"

#include "hardware/temporary_database.hpp"
#include "laws/laws.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

std::vector<Finding> yaml_mistakes(const std::string& text) {
    TemporaryDatabase folder;
    try {
        read_study(laws::session(), folder.write("study.yaml", text));
    } catch (const InputError& problem) {
        return problem.findings();
    }
    return {};
}

void require_yaml_mistake(const std::string& text, const std::string& where, const std::string& says) {
    INFO(text.substr(0, 200));
    const auto findings = yaml_mistakes(text);
    REQUIRE(findings.size() == 1);
    CHECK_THAT(findings[0].file, Catch::EndsWith("study.yaml"));
    CHECK(findings[0].where == where);
    CHECK_THAT(findings[0].message, Catch::Contains(says));
    CHECK_FALSE(findings[0].hint.empty());
}

nlohmann::json value_of(const std::string& text) {
    TemporaryDatabase folder;
    std::vector<Finding> findings;
    const auto document = parse_yaml_file(folder.write("any.yml", "value: " + text + "\n"), findings);
    for (const Finding& finding : findings)
        UNSCOPED_INFO(to_string(finding));
    REQUIRE(document);
    return document->value.at("value");
}

} // namespace

TEST_CASE("the example studies say the same in YAML as in JSON", "[study][yaml]") {
    const std::filesystem::path examples = std::filesystem::path(ARCHSIM_SOURCE_DIR) / "docs/examples";
    for (const char* name : {"quick_test", "full_comparison"}) {
        INFO(name);
        const StudyRequest plain = read_study(laws::session(), examples / (std::string(name) + ".json")),
                           yaml = read_study(laws::session(), examples / (std::string(name) + ".yaml"));
        CHECK(yaml.title == plain.title);
        CHECK(yaml.description == plain.description);
        CHECK(yaml.models == plain.models);
        CHECK(yaml.devices == plain.devices);
        CHECK(yaml.stacks == plain.stacks);
        CHECK(yaml.batch_sizes == plain.batch_sizes);
        CHECK(yaml.precisions == plain.precisions);
    }
}

TEST_CASE("what is JSON is YAML too", "[study][yaml]") {
    const std::filesystem::path examples = std::filesystem::path(ARCHSIM_SOURCE_DIR) / "docs/examples";
    for (const char* name : {"quick_test.json", "full_comparison.json"}) {
        std::vector<Finding> findings;
        const auto as_yaml = parse_yaml_file((examples / name).string(), findings);
        const auto as_json = parse_json_file((examples / name).string(), findings);
        REQUIRE(as_yaml);
        REQUIRE(as_json);
        CHECK(as_yaml->value == *as_json);
    }
}

TEST_CASE("scalars mean what the core schema of YAML 1.2 says", "[study][yaml]") {
    CHECK(value_of("8") == 8);
    CHECK(value_of("-3") == -3);
    CHECK(value_of("+3") == 3);
    CHECK(value_of("1.5") == 1.5);
    CHECK(value_of("2e3") == 2000.0);
    CHECK(value_of("true") == true);
    CHECK(value_of("~") == nullptr);
    CHECK(value_of("") == nullptr);
    // Texts, although YAML 1.1 or a careless reader of numbers would see something else.
    for (const char* text :
         {"yes", "on", "H100", "1e", "e5", "-x", "--1", "1-2", "Jetson-Orin-Nano@15W", "12:30", "0x1F"})
        CHECK(value_of(text) == text);
    CHECK(value_of("'8'") == "8");
    CHECK(value_of("\"8\"") == "8");
    CHECK(value_of("|\n  a\n  b\n") == "a\nb\n");
    CHECK(value_of("&x [1, 2]\nother: *x") == nlohmann::json({1, 2}));
}

TEST_CASE("each mistake of a study in YAML has its line and column", "[study][yaml]") {
    const std::string devices = "devices: [H100]\n";
    require_yaml_mistake("models:\n  - resnet18\n  - resnet51\n" + devices, "line 3, column 5 (/models/1)",
                         "resnet51");
    require_yaml_mistake("models: [resnet18]\n" + devices + "modles: [x]\n", "line 3, column 1 (/modles)",
                         "not a known field");
    require_yaml_mistake("models: [resnet18]\n" + devices + "batch_sizes: [1, 0]\n",
                         "line 3, column 18 (/batch_sizes/1)", "0 cannot be used");
    require_yaml_mistake("models: [resnet18]\n" + devices + "dims:\n  sequence: -1\n",
                         "line 4, column 3 (/dims/sequence)", "-1 cannot be used");
    require_yaml_mistake(devices, "line 1, column 1 (/)", "\"models\" is missing");
    CHECK(yaml_mistakes("modles: [x]\ndevices: [H10]\nbatch_sizes: [0]\nmodels: [resnet18]\n").size() == 3);
}

TEST_CASE("what is no YAML, or too much of it, is refused at its place", "[study][yaml]") {
    const std::string study = "models: [resnet18]\ndevices: [H100]\n";
    CHECK(yaml_mistakes(study).empty());
    require_yaml_mistake("models: [resnet18\ndevices: [H100]\n", "line 2, column 8", "no valid YAML");
    require_yaml_mistake("models: [resnet18]\n\tdevices: [H100]\n", "line 2, column 1", "no valid YAML");
    require_yaml_mistake("", "line 1, column 1", "does not hold a mapping");
    require_yaml_mistake("- resnet18\n", "line 1, column 1", "does not hold a mapping");
    require_yaml_mistake(study + "models: [resnet50]\n", "line 3, column 1", "is listed twice");
    require_yaml_mistake(study + "---\n" + study, "line 4, column 1", "second document");
    require_yaml_mistake(study + "? [a, b]\n: c\n", "line 3, column 3", "a key is no text");
    CHECK(yaml_mistakes(study + "title: \"\xff\xfe\"\n").size() == 1);

    std::string deep = study + "title: ";
    deep += std::string(200, '[') + std::string(200, ']') + "\n";
    REQUIRE(yaml_mistakes(deep).size() == 1);
    CHECK_THAT(yaml_mistakes(deep)[0].message, Catch::Contains("more than 64 levels"));
    // Every line repeats the one before it ten times: 10^9 values from 400 bytes.
    std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        std::string line = "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int j = 0; j < 10; ++j)
            line += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
        laughs += line + "]\n";
    }
    REQUIRE(yaml_mistakes(laughs).size() == 1);
    CHECK_THAT(yaml_mistakes(laughs)[0].message, Catch::Contains("more than 100000 values"));
    // An alias to what contains it.
    REQUIRE(yaml_mistakes(study + "title: &t [*t]\n").size() == 1);
}
