// The programs of docs/examples do what they say.

#include "import/model_maker.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

namespace {

struct Said {
    std::string output;
    int status = 0;
};

Said run(const std::string& example) {
    const std::string command =
        "ARCHSIM_DATA_DIR='" ARCHSIM_SOURCE_DIR "' '" ARCHSIM_TOOL_DIR "'/example_" + example + " 2>&1";
    Said said;
    std::FILE* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::array<char, 4096> buffer{};
    while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), pipe) != nullptr)
        said.output += buffer.data();
    const int status = pclose(pipe);
    said.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return said;
}

/// The number behind `label` in the text.
double number_after(const std::string& text, const std::string& label) {
    const auto at = text.find(label);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + label.size()));
}

} // namespace

TEST_CASE("the estimating example prints an estimate per device and a reason otherwise", "[examples]") {
    const Said said = run("estimate resnet18 H100 DPU-ZCU102");
    INFO(said.output);
    CHECK(said.status == 0);
    CHECK(number_after(said.output, "H100: ") > 0);
    CHECK(number_after(said.output, "DPU-ZCU102: ") > number_after(said.output, "H100: "));
    const Said unknown = run("estimate resnet18 H1OO");
    CHECK(unknown.output.find("H100") != std::string::npos); // the nearest name
}

TEST_CASE("the C interface estimates a model of parts, prints JSON and explains failures", "[examples]") {
    const Said said = run("estimate_c");
    INFO(said.output);
    CHECK(said.status == 0);
    CHECK(number_after(said.output, "H100: ") > 0);
    CHECK(said.output.find("\"energy_per_inference_j\"") != std::string::npos);
    CHECK(said.output.find("status 2: ") != std::string::npos);
}

TEST_CASE("the ten lines of the documents take any name, in C++ and in C alike", "[examples]") {
    for (const char* name : {"resnet50", "clip-vit-b32", "llama-3-8b"}) {
        const Said cpp = run(std::string("ten_lines ") + name), c = run(std::string("ten_lines_c ") + name);
        INFO(name << ": " << cpp.output << c.output);
        CHECK(cpp.status == 0);
        CHECK(number_after(cpp.output, "ms, ") > 0);
        CHECK(c.output == cpp.output);
    }
    for (const char* program : {"ten_lines", "ten_lines_c"}) {
        const Said none = run(std::string(program) + " llama-3-70b"); // 140 GB of fp16
        CHECK(none.status != 0);
        CHECK(none.output.find("2 devices hold it") != std::string::npos);
    }
    std::ifstream file(ARCHSIM_SOURCE_DIR "/docs/linking.md");
    const std::string readme((std::istreambuf_iterator<char>(file)), {});
    for (const char* program : {"ten_lines.cpp", "ten_lines.c", "ten_lines.py"}) {
        INFO(program);
        std::ifstream source(std::string(ARCHSIM_SOURCE_DIR "/docs/examples/") + program);
        const std::string text((std::istreambuf_iterator<char>(source)), {});
        CHECK(text.size() > 100);
        CHECK(readme.find(text) != std::string::npos);
    }
}

TEST_CASE("the step of a server is the same in C++ and C, and the documents show the programs",
          "[examples]") {
    for (const char* of : {"llama-3-8b H100", "llama-3.2-1b MI300X"}) {
        const Said cpp = run(std::string("step ") + of), c = run(std::string("step_c ") + of);
        INFO(of << ": " << cpp.output << c.output);
        CHECK(cpp.status == 0);
        CHECK(number_after(cpp.output, "), ") > 0); // joules
        CHECK(c.output == cpp.output);
    }
    std::ifstream file(ARCHSIM_SOURCE_DIR "/docs/serving.md");
    const std::string document((std::istreambuf_iterator<char>(file)), {});
    std::ifstream source(ARCHSIM_SOURCE_DIR "/docs/examples/step.py");
    const std::string text((std::istreambuf_iterator<char>(source)), {});
    CHECK(text.size() > 100);
    CHECK(document.find(text) != std::string::npos);
    for (const char* program :
         {"step.c", "step.cpp", "step_in_sglang.py", "step_in_vllm.py", "step_in_llmd.py"})
        CHECK(document.find(std::string("examples/") + program) != std::string::npos);
}

TEST_CASE("a mapper of one's own replaces the library's", "[examples]") {
    const Said said = run("own_mapper");
    INFO(said.output);
    CHECK(said.status == 0);
    const auto second = said.output.find("weights in place: ");
    REQUIRE(second != std::string::npos);
    // Every multiply-accumulate unit busy and no weight to load: faster than the real array.
    CHECK(number_after(said.output.substr(second), "place: ") < number_after(said.output, "array: "));
}

TEST_CASE("an operator of one's own is bound, counted and fused", "[examples]") {
    using namespace archsim::test;
    onnx::ModelProto model = make_model();
    onnx::OperatorSetIdProto* domain = model.add_opset_import();
    domain->set_domain("com.example");
    domain->set_version(1);
    add_input(*model.mutable_graph(), "x", {"batch", "8"});
    add_node(*model.mutable_graph(), "SquaredRelu", {"x"}, {"h"}, "own").set_domain("com.example");
    add_node(*model.mutable_graph(), "Sqrt", {"h"}, {"y"}, "root");
    add_output(*model.mutable_graph(), "y");
    const auto file = std::filesystem::temp_directory_path() / "archsim_own_operator.onnx";
    std::ofstream(file, std::ios::binary) << model.SerializeAsString();
    const Said said = run("own_operator " + file.string());
    INFO(said.output);
    CHECK(said.status == 0);
    CHECK(said.output == "24 operations in 1 fused subgraph(s)\n"); // 8 x 2 of ours, 8 square roots
    std::filesystem::remove(file);
}

TEST_CASE("a fusion policy of one's own changes the partition and the traffic", "[examples]") {
    const Said said = run("own_fusion_policy");
    INFO(said.output);
    CHECK(said.status == 0);
    CHECK(number_after(said.output, "unfused: ") > number_after(said.output, "fused: "));
    const auto unfused = said.output.find("unfused: ");
    CHECK(number_after(said.output.substr(unfused), " ms, ") > number_after(said.output, " ms, "));
}

TEST_CASE("a renderer of one's own draws a report's tables", "[examples]") {
    const Said said = run("own_renderer");
    INFO(said.output);
    CHECK(said.status == 0);
    CHECK(said.output.find("\\begin{tabular}") != std::string::npos);
    CHECK(said.output.find("KPU-T64@6W & ") != std::string::npos);
}
