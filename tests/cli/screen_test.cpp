// What the tools print when nothing more is asked for: one screen, no wider than the terminal, the answer
// first.

#include "cli/workplace.hpp"
#include "fields/question.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace archsim::test;

/// A question of every tool that takes a model, as short as it can be.
const std::vector<std::string>& short_questions() {
    static const std::vector<std::string> questions = {
        "compare_models resnet50",
        "compare_models resnet50 --deployment edge",
        "compare_models resnet50 --deployment embedded",
        "compare_architectures resnet50",
        "explain_difference resnet50 --hardware H100 A100",
        "analyze_comprehensive resnet50 --hardware A100",
        "analyze_comprehensive resnet50 --hardware KPU-T64 --precision int8",
        "analyze_graph_mapping resnet50 --hardware A100",
        "analyze_batch resnet50 --hardware A100",
        "check_budget resnet50 --hardware A100 --fail-on 'latency>5ms'",
        "check_model resnet50 --hardware QRB5165",
        "profile_graph resnet50",
        "sweep_design_space resnet50 --hardware TPU-v4 --vary bandwidth=0.5x..4x:log8",
        "serve_model llama-3-8b --hardware H100 --precision fp16 --rate 2 --requests 50",
        "local_models --on 'RTX 4070 laptop, 32GB' --top 10",
        "compare_models llama-3-8b --hardware H100 A100 L4 --prompt-tokens 512 --generate-tokens 128",
        "analyze_graph_mapping llama-3-8b --hardware H100 --prompt-tokens 512 --generate-tokens 128",
        "analyze_comprehensive llama-3-8b --hardware H100 --prompt-tokens 512 --generate-tokens 128",
        "analyze_batch llama-3-8b --hardware H100 --prompt-tokens 512 --generate-tokens 128",
        "sweep_design_space llama-3-8b --hardware H100 A100 --prompt-tokens 512 --generate-tokens 128 "
        "--vary bandwidth=0.5x,1x,2x --sensitivity token_rate"};
    return questions;
}

/// True where a number has an exponent below -5 ("2.17e-11 µs"): rounding, not an answer.
bool shows_rounding(const std::string& line) {
    static const std::regex tiny("[0-9]e-(0[6-9]|[1-9][0-9])");
    return std::regex_search(line, tiny);
}

std::size_t columns_of(std::string_view line) {
    return static_cast<std::size_t>(std::count_if(
        line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::string> printed(const Workplace& workplace, const std::string& command) {
    const Said said = workplace.run(command + " --quiet");
    CHECK(said.status == 0);
    std::vector<std::string> lines;
    std::istringstream stream(said.output);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

} // namespace

TEST_CASE("default answers fit 66 lines of 100 columns", "[cli][screen]") {
    constexpr std::size_t kLines = 66, kColumns = 100;
    const Workplace workplace;
    for (const std::string& question : short_questions()) {
        INFO(question);
        const auto lines = printed(workplace, question);
        CHECK(lines.size() > 8);
        CHECK(lines.size() <= kLines);
        for (const std::string& line : lines) {
            INFO(line);
            CHECK(columns_of(line) <= kColumns);
            CHECK_FALSE(shows_rounding(line));
        }
    }
    CHECK(shows_rounding("outside subgraphs  2.17e-11  0.0"));
    CHECK_FALSE(shows_rounding("some 1e-5 J, resnet-50e-2x and e-mail"));
}

TEST_CASE("causes that cancel to nothing are no causes", "[cli][screen]") {
    const Workplace workplace; // the power limit of neither device matters here
    for (const std::string& line : printed(workplace, "explain_difference resnet50 --hardware H100 TPU-v4")) {
        INFO(line);
        CHECK_FALSE(shows_rounding(line));
    }
}

TEST_CASE("causes that cancel are bars, no shares", "[cli][screen]") {
    const Workplace workplace;
    static const std::regex percent("([+-]?[0-9]+(\\.[0-9]+)?) %");
    for (const std::string question :
         {"compare_architectures resnet50 --explain-difference GPU TPU --metric latency",
          "compare_architectures resnet50 --explain-difference GPU TPU --metric energy",
          "explain_difference resnet50 --hardware H100 TPU-v4 --top 0",
          "explain_difference resnet50 --hardware H100 TPU-v4 --metric energy",
          "sweep_design_space resnet50 --hardware TPU-v4 --vary bandwidth=0.01x..4x:4 --sensitivity latency"})
        for (const char* format : {"text", "markdown", "html", "json", "csv"}) {
            INFO(question << " --format " << format);
            const Said said = workplace.run(question + " --quiet --format " + format);
            CHECK(said.status == 0);
            const std::string page = said.output.substr(0, said.output.find("<script>"));
            for (auto at = std::sregex_iterator(page.begin(), page.end(), percent);
                 at != std::sregex_iterator(); ++at) {
                INFO(at->str());
                CHECK(std::stod((*at)[1]) >= 0);
                CHECK(std::stod((*at)[1]) <= 100);
            }
            if (question.find("energy") == std::string::npos && !question.starts_with("sweep")) {
                if (std::string_view(format) == "text") {
                    CHECK(page.find("-|") != std::string::npos);
                    CHECK(page.find("|+") != std::string::npos);
                } else if (std::string_view(format) == "html") { // drawn, not written
                    CHECK(page.find("class=\"drawing\"") != std::string::npos);
                    CHECK(page.find("|+") == std::string::npos);
                }
            }
        }
}

TEST_CASE("language models are told in tokens, each number once", "[cli][screen]") {
    const Workplace workplace;
    const std::string prompt = " --prompt-tokens 512 --generate-tokens 128 --quiet";
    const auto count = [](const std::string& text, std::string_view what) {
        std::size_t found = 0;
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
            ++found;
        return found;
    };
    for (const char* tool :
         {"compare_models llama-3-8b --hardware H100 L4", "analyze_graph_mapping llama-3-8b --hardware H100",
          "analyze_comprehensive llama-3-8b --hardware H100"}) {
        INFO(tool);
        const std::string text = workplace.run(tool + prompt).output;
        CHECK(count(text, "First token: the prompt of 512") <= 1);
        CHECK(count(text, " FPS") == 0);
        CHECK(count(text, "per inference") == 0);
        CHECK(text.find("tokens per second of a sequence 1") == std::string::npos);
    }
    // A single pass takes joules: these, and not inferences per second and watt.
    const std::string pass = workplace.run("compare_models llama-3-8b --hardware H100 L4 --quiet").output;
    CHECK(pass.find("FPS/W") == std::string::npos);
    CHECK(pass.find("--prompt-tokens 512 --generate-tokens 128") != std::string::npos);
    CHECK(workplace.run("compare_models llama-3-8b --hardware H100 --sort efficiency --quiet")
              .output.find("FPS/W") != std::string::npos);
}

TEST_CASE("no answer is wider than its terminal, whatever the width", "[cli][screen]") {
    const Workplace workplace;
    for (const std::size_t width : {std::size_t{80}, std::size_t{160}})
        for (const std::string& question : short_questions()) {
            INFO(question << " at " << width);
            for (const std::string& line :
                 printed(workplace, question + " --width " + std::to_string(width))) {
                INFO(line);
                CHECK(columns_of(line) <= width);
            }
        }
    for (const char* other :
         {"compare_architectures llama-3-8b --precision bf16 --prompt-tokens 512 --generate-tokens 128 "
          "--width 80",
          "analyze_graph_mapping llama-3-8b --hardware H100 --prompt-tokens 512 --generate-tokens 128 "
          "--width 80",
          "compare_models llama-3-8b --hardware H100 L4 --prompt-tokens 512 --generate-tokens 128 --width 80",
          "list_hardware_mappers --width 80", "list_hardware_mappers --show H100 --width 80",
          "discover_models --family resnet --width 80",
          "validate_estimates --measurements my_board.csv --width 80"}) {
        INFO(other);
        for (const std::string& line : printed(workplace, other)) {
            INFO(line);
            CHECK(columns_of(line) <= 80);
        }
    }
}

TEST_CASE("what the screen leaves out, --verbose unfolds", "[cli][screen]") {
    const Workplace workplace;
    for (const char* tool :
         {"compare_models resnet50 --deployment edge", "analyze_graph_mapping resnet50 --hardware A100",
          "analyze_comprehensive resnet50 --hardware A100"}) {
        INFO(tool);
        const std::string brief = workplace.run(tool).output,
                          whole = workplace.run(std::string(tool) + " --verbose").output;
        CHECK(whole.size() > 2 * brief.size());
        for (const char* detail : {"Peak power", "(/layer1/layer1.0/conv2/Conv, Conv2D)", "alive at most"}) {
            INFO(detail);
            CHECK(brief.find(detail) == std::string::npos);
            CHECK(whole.find(detail) != std::string::npos);
        }
    }
}

TEST_CASE("what lists and checks begins with a verdict, in every format", "[cli][screen]") {
    const Workplace workplace;
    for (const char* batch : {"1", "8"})
        CHECK(workplace
                  .run(std::string("compare_models resnet18 --hardware H100 --save results.sqlite "
                                   "--quiet --batch-size ") +
                       batch)
                  .status == 0);
    for (const auto& [tool, words] :
         {std::pair{"list_hardware_mappers", "devices: "},
          {"list_hardware_mappers --show H100", "TOPS int8"},
          {"list_hardware_mappers --show-runtime tensorrt", "tensorrt serves"},
          {"list_hardware_mappers --check docs/examples/../../hardware_db/gpu/A100.json", "Sound: "},
          {"discover_models --family resnet", "Most work: "},
          {"validate_estimates --measurements my_board.csv", "Farthest off: "},
          {"sweep_design_space resnet18 --hardware A100 --vary clock=0.5x,1x", "Fastest: A100"},
          {"check_model resnet18 --hardware Hailo-8 H100 --precision int8", "Runs entirely on "},
          {"check_model vit_b_16 --hardware Coral-Edge-TPU --precision int8", "Coral-Edge-TPU@fast: "},
          {"explain_difference resnet18 resnet34 --hardware H100", "Mainly because "},
          {"check_budget resnet18 --hardware H100 --fail-on 'latency>1s'", "Passed: 1 of 1"},
          {"compare_models --study docs/examples/quick_test.json", "combinations run."},
          {"history results.sqlite", "2 runs, the last on "},
          {"history results.sqlite --trend", "latency "},
          {"history results.sqlite --compare 1 2", "no question in common"}})
        for (const char* format : {"text", "markdown", "html", "json"}) {
            INFO(tool << " --format " << format);
            const Said said = workplace.run(std::string(tool) + " --quiet --format " + format);
            CHECK(said.status == 0);
            const std::size_t at = said.output.find(words);
            REQUIRE(at != std::string::npos);
            if (std::string_view(format) == "json")
                CHECK(said.output.rfind("\"lines\"", at) != std::string::npos);
            else if (std::string_view(format) == "html")
                CHECK(at < said.output.find("<td"));
            else
                CHECK(at < 900); // the title, and the verdict
        }
}

TEST_CASE("a document says what was asked, every field of it", "[cli][screen]") {
    const Workplace workplace;
    const auto questions = [](const nlohmann::json& document) {
        std::vector<nlohmann::json> all;
        if (document.contains("request"))
            all.push_back(document["request"]);
        if (document.contains("requests"))
            for (const auto& one : document["requests"])
                all.push_back(one);
        if (document.contains("estimates"))
            for (const auto& one : document["estimates"])
                all.push_back(one.at("request"));
        return all;
    };
    for (const char* tool :
         {"compare_models resnet18 --hardware H100", "compare_architectures resnet18",
          "analyze_graph_mapping resnet18 --hardware H100", "analyze_comprehensive resnet18 --hardware H100",
          "analyze_batch resnet18 --hardware H100 A100", "check_model resnet18 --hardware Hailo-8 H100",
          "explain_difference resnet18 --hardware H100 A100",
          "check_budget resnet18 --hardware H100 --fail-on 'latency>1s'"}) {
        INFO(tool);
        const Said said = workplace.run(std::string(tool) + " --scope end_to_end --quiet --format json");
        const auto asked = questions(nlohmann::json::parse(said.output));
        REQUIRE_FALSE(asked.empty());
        for (const nlohmann::json& question : asked) {
            for (const archsim::QuestionField& field : archsim::question_fields()) {
                INFO(field.key);
                // But for what the tool does not take.
                const bool several = field.key == "batch_size" && question.contains("batch_sizes");
                const bool answers =
                    field.of == archsim::FieldOf::answer && std::string_view(tool).starts_with("check_model");
                CHECK((several || answers || question.contains(field.key)));
            }
            CHECK(question["scope"] == "end_to_end");
        }
    }
}

TEST_CASE("the first five lines answer the question of each kind of user", "[cli][screen]") {
    const Workplace workplace;
    struct Asked {
        const char* question;
        std::vector<const char*> words; ///< what the answer must hold
    };
    for (const auto& [question, words] : std::vector<Asked>{
             {"analyze_graph_mapping yolov8n --hardware Jetson-Orin-Nano@15W --precision fp16",
              {"latency", "bound by"}},
             {"sweep_design_space resnet50 --hardware KPU-T256 --precision int8 --vary "
              "bandwidth=0.25x..4x:log9 --vary units=0.5x,1x,2x",
              {"by latency", "as stated", "bound by"}},
             {"compare_models resnet50 --precision int8 --deployment edge --max-latency 30ms --max-power 10W",
              {"Within the limits", "bound by", "met by"}},
             {"compare_architectures resnet18 --explain-difference CPU GPU --metric energy",
              {"less energy", "Mainly because"}},
             {"size_service llama-3-8b --hardware H100 L40S --rate 4 --prompt-tokens 512 --output-tokens 128 "
              "--ttft-p99 500ms --requests 200",
              {"Cheapest", "USD/h", "Fewest devices", "%"}},
             {"analyze_graph_mapping resnet50 --hardware H100 --precision fp16", {"latency", "bound by"}}}) {
        INFO(question);
        std::istringstream lines(workplace.run(std::string(question) + " --quiet").output);
        std::string first;
        int rules = 0, taken = 0;
        for (std::string line; std::getline(lines, line) && taken < 5;) {
            const bool rule = line.starts_with("===") || line.starts_with("---");
            rules += rule;
            // Behind the title; of an explanation behind its own, and what was asked.
            if (!rule && rules >= (std::string(question).find("explain") == std::string::npos ? 2 : 4) &&
                !line.empty()) {
                first += line + " ";
                ++taken;
            }
        }
        for (const char* word : words)
            CHECK_THAT(first, Catch::Contains(word));
    }
}
