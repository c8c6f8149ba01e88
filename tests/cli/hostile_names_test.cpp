// Names in a file may hold anything; whatever tool reads it, nothing but text leaves the tool.

#include "cli/workplace.hpp"
#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

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

} // namespace

TEST_CASE("hostile names leave every tool as text, in every format", "[cli][hostile]") {
    const Workplace workplace;
    const std::string file = "'" + hostile_model(workplace.folder(), false) + "'";
    const std::string unknown = "'" + hostile_model(workplace.folder(), true) + "'";
    std::filesystem::create_directories(workplace.folder() / "hostile_models");
    hostile_model(workplace.folder() / "hostile_models", false);
    hostile_model(workplace.folder() / "hostile_models", true);
    int answers = 0;
    for (const std::string& command :
         {"compare_models " + file + " --hardware H100 KPU-T64 --verbose",
          "compare_models " + unknown + " --hardware H100", "profile_graph " + unknown,
          "compare_architectures --model " + file + " --architecture GPU TPU --explain-difference GPU TPU",
          "analyze_comprehensive " + file + " --hardware H100",
          "analyze_graph_mapping " + file + " --hardware H100",
          "analyze_batch " + file + " --hardware H100 --batch-sizes 1,2", "profile_graph " + file,
          "explain_difference " + file + " resnet18 --hardware H100",
          "explain_difference resnet18 " + file + " --hardware H100 --metric energy",
          "check_budget " + file + " --hardware H100 --fail-on 'latency>1ns' --junit /dev/stdout",
          "check_model " + unknown + " --hardware Hailo-8 --precision int8",
          std::string("discover_models hostile_models"),
          "sweep_design_space " + file + " --hardware H100 --vary clock=0.5x..1x:2"})
        for (const char* format : {"text", "markdown", "json", "csv", "html", "ndjson"}) {
            INFO(command << " --format " << format);
            const Said said = workplace.run(command + " --format " + format + " 2>&1");
            CHECK((said.status >= 0 && said.status <= 4));
            CHECK(only_text(said.output));
            if (std::string_view(format) == "html")
                CHECK(said.output.find("<script>alert(1)") == std::string::npos);
            answers += said.status == 0 ? 1 : 0;
        }
    CHECK(answers >= 20); // the check looks at answers, not only at refusals
    const Said drawn =
        workplace.run("analyze_graph_mapping " + file +
                      " --hardware H100 --dot graph.dot --mermaid graph.mmd --trace trace.json "
                      "--model-explorer nodes.json 2>&1");
    CHECK(drawn.status == 0);
    CHECK(only_text(read(workplace.folder() / "graph.dot")));
    CHECK(only_text(read(workplace.folder() / "graph.mmd")));
    CHECK(only_text(read(workplace.folder() / "trace.json")));
    CHECK(only_text(read(workplace.folder() / "nodes.json")));
}

TEST_CASE("hostile arguments come back as text", "[cli][hostile]") {
    const Workplace workplace;
    for (const char* command :
         {"compare_models $'no\\x1b[2Jmodel\\xff'", "compare_models resnet18 --hardware $'H\\x1b[2J\\xff'",
          "compare_models resnet18 --hardware H100 --dim $'n\\x1b[2J=1'",
          "compare_models resnet18 $'--x\\x1b[2J'"}) {
        INFO(command);
        const Said said = workplace.run(std::string("bash -c \"") + command + "\" 2>&1");
        CHECK((said.status >= 0 && said.status <= 2)); // a size that no dimension takes is no mistake
        CHECK(only_text(said.output));
    }
}
