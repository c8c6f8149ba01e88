// Names in a file may hold anything; whatever tool reads it, nothing but text leaves the tool.

#include "cli/workplace.hpp"
#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace archsim::test;

/// A clear screen, a bell, a character that begins an escape sequence, bytes that are no UTF-8, markup.
const std::string kHostile = "\033[2J\a\302\233 \377\300\257 <script>alert(1)</script>|`\"";

/// Layers whose names are all hostile, the file's too; with an operator that nobody knows, or without.
std::string hostile_model(const std::filesystem::path& folder, bool unknown) {
    onnx::ModelProto model = make_model();
    model.set_producer_name(kHostile);
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.set_name(kHostile);
    add_input(graph, kHostile + "in", {"1", "64"});
    add_weights(graph, kHostile + "w", {64, 64});
    add_node(graph, "MatMul", {kHostile + "in", kHostile + "w"}, {kHostile + "m"}, kHostile + "first");
    add_node(graph, "Relu", {kHostile + "m"}, {kHostile + "r"}, kHostile + "second");
    add_node(graph, unknown ? kHostile : "Relu", {kHostile + "r"}, {kHostile + "out"}, kHostile + "third");
    add_output(graph, kHostile + "out");
    const std::string file = std::string(unknown ? "unknown" : "known") + "\033[2J\377.onnx";
    std::ofstream(folder / file, std::ios::binary) << model.SerializeAsString();
    return file;
}

bool only_text(std::string_view said) {
    for (std::size_t i = 0; i < said.size();) {
        const auto byte = static_cast<unsigned char>(said[i]);
        const std::size_t length = byte < 0x80    ? 1
                                   : byte >= 0xf0 ? 4
                                   : byte >= 0xe0 ? 3
                                   : byte >= 0xc2 ? 2
                                                  : 0;
        if (length == 0 || byte > 0xf4 || i + length > said.size() || byte == 0x7f ||
            (byte < 0x20 && byte != '\n' && byte != '\t'))
            return false;
        for (std::size_t k = 1; k < length; ++k)
            if ((static_cast<unsigned char>(said[i + k]) & 0xc0U) != 0x80U)
                return false;
        if (length == 2 && byte == 0xc2 && static_cast<unsigned char>(said[i + 1]) < 0xa0)
            return false; // a control character in two bytes
        i += length;
    }
    return true;
}

/// A question to every tool about files whose names, and whose names inside, are hostile.
std::vector<std::string> hostile_questions(const Workplace& workplace) {
    const std::filesystem::path& folder = workplace.folder();
    const std::string file = "'" + hostile_model(folder, false) + "'";
    const std::string unknown = "'" + hostile_model(folder, true) + "'";
    std::filesystem::create_directories(folder / "hostile_models");
    hostile_model(folder / "hostile_models", false);
    hostile_model(folder / "hostile_models", true);
    std::filesystem::create_directories(folder / ("served" + kHostile.substr(0, 8)));
    std::filesystem::copy_file(folder / "config.json",
                               folder / ("served" + kHostile.substr(0, 8)) / "config.json");
    const std::string served = "'served" + kHostile.substr(0, 8) + "'";
    // A device and measurements: JSON holds control characters as escapes, and no other bytes than UTF-8.
    std::string device = read(folder / "mychip.json"), rows = read(folder / "my_board.csv");
    const auto replace = [](std::string& text, const std::string& what, const std::string& by) {
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
            text.replace(at, what.size(), by);
    };
    replace(device, "A100 SXM 80GB", "A \\u001b[2J\\u0007\\u009b\\u202e <script>alert(1)</script>|`");
    replace(device, "\"id\": \"A100\"", "\"id\": \"hostile\"");
    replace(device, "\"$schema\": \"../schema.json\",", "");
    std::ofstream(folder / "hostile.json") << device;
    replace(rows, "a100-bert", kHostile);
    replace(rows, "NVIDIA", "\033[2J\a\377<script>alert(1)</script>");
    std::ofstream(folder / "hostile.csv", std::ios::binary) << rows;
    CHECK(workplace.run("compare_models " + file + " --hardware H100 hostile.json --save hostile.db --quiet")
              .status == 0);
    return {"compare_models " + file + " --hardware H100 KPU-T64 --verbose",
            "compare_models " + unknown + " --hardware H100",
            "compare_models resnet18 --hardware hostile.json",
            "profile_graph " + unknown,
            "compare_architectures --model " + file + " --architecture GPU TPU --explain-difference GPU TPU",
            "analyze_comprehensive " + file + " --hardware H100",
            "analyze_graph_mapping " + file + " --hardware H100",
            "analyze_batch " + file + " --hardware H100 --batch-sizes 1,2",
            "profile_graph " + file,
            "explain_difference " + file + " resnet18 --hardware H100",
            "explain_difference resnet18 " + file + " --hardware H100 --metric energy",
            "check_budget " + file + " --hardware H100 --fail-on 'latency>1ns' --junit /dev/stdout",
            "check_model " + unknown + " --hardware Hailo-8 --precision int8",
            "discover_models hostile_models",
            "sweep_design_space " + file + " --hardware H100 --vary clock=0.5x..1x:2",
            "serve_model " + served + " --hardware H100 --rate 1 --requests 5",
            "size_service " + served + " --hardware H100 --rate 1 --e2e-p99 10min --requests 50",
            "local_models --on hostile.json",
            "list_hardware_mappers --show hostile.json",
            "list_hardware_mappers --check hostile.json",
            "validate_estimates --measurements hostile.csv",
            "calibrate_device A100 --measurements hostile.csv",
            "history hostile.db --rows"};
}

} // namespace

TEST_CASE("hostile names leave every tool as text, in every format", "[cli][hostile]") {
    const Workplace workplace;
    const std::vector<std::string> questions = hostile_questions(workplace);
    std::set<std::string> asked;
    for (const std::string through : {"", "'" ARCHSIM_MULTICALL "' "}) { // a tool of its own, or archsim's
        int answers = 0;
        for (const std::string& question : questions)
            for (const char* format : {"text", "markdown", "json", "csv", "html", "ndjson"}) {
                const std::string command = through + question;
                INFO(command << " --format " << format);
                const Said said = workplace.run(command + " --format " + format + " 2>&1");
                CHECK((said.status >= 0 && said.status <= 4));
                CHECK(only_text(said.output));
                if (std::string_view(format) == "html")
                    CHECK(said.output.find("<script>alert(1)") == std::string::npos);
                answers += said.status == 0 ? 1 : 0;
                asked.insert(question.substr(0, question.find(' ')));
            }
        CHECK(answers >= 60); // the check looks at answers, not only at refusals
    }
    std::size_t tools = 0;
    for (const auto& entry : std::filesystem::directory_iterator(ARCHSIM_SOURCE_DIR "/cli"))
        tools += entry.path().extension() == ".cpp" ? 1U : 0U;
    CHECK(asked.size() == tools);
}

TEST_CASE("hostile names leave what draws a mapping as text", "[cli][hostile]") {
    const Workplace workplace;
    const Said drawn =
        workplace.run("analyze_graph_mapping '" + hostile_model(workplace.folder(), false) +
                      "' --hardware H100 --dot graph.dot --mermaid graph.mmd --trace trace.json "
                      "--model-explorer nodes.json 2>&1");
    CHECK(drawn.status == 0);
    for (const char* file : {"graph.dot", "graph.mmd", "trace.json", "nodes.json"})
        CHECK(only_text(read(workplace.folder() / file)));
}

TEST_CASE("hostile arguments come back as text", "[cli][hostile]") {
    const Workplace workplace;
    for (const char* command :
         {"compare_models $'no\\x1b[2Jmodel\\xff'", "compare_models resnet18 --hardware $'H\\x1b[2J\\xff'",
          "compare_models resnet18 --hardware H100 --dim $'n\\x1b[2J=1'",
          "compare_models resnet18 $'--x\\x1b[2J'", "'" ARCHSIM_MULTICALL "' $'compare\\x1b[2J\\xff'"}) {
        INFO(command);
        const Said said = workplace.run(std::string("bash -c \"") + command + "\" 2>&1");
        CHECK((said.status >= 0 && said.status <= 2)); // a size that no dimension takes is no mistake
        CHECK(only_text(said.output));
    }
}
