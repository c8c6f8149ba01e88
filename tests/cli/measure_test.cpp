// The way from an estimate to a measurement and back, as users walk it.

#include "cli/workplace.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <string>

namespace {

using namespace archsim::test;

/// The rest of the first line that holds `label`, up to its first bracket.
std::string line_after(const std::string& text, const std::string& label) {
    const auto at = text.find(label);
    if (at == std::string::npos)
        return {};
    const auto begin = at + label.size();
    return text.substr(begin, text.find_first_of("(\n", begin) - begin);
}

} // namespace

TEST_CASE("scripts/measure makes graphs with weights that are the catalogue's networks", "[cli][check]") {
    const Workplace workplace;
    const std::string measure = "node '" ARCHSIM_SOURCE_DIR "/scripts/measure_onnxruntime/main.mjs' ";
    for (const std::string network : {"squeezenet1_0", "mobilenet_v3_small"}) {
        const std::string macs =
            line_after(workplace.run("profile_graph " + network).output, "Multiply-accumulates:");
        REQUIRE_FALSE(macs.empty());
        for (const std::string format : {"fp32", "int8"}) {
            INFO(network << " " << format);
            const Said made = workplace.run(measure + network + " --precision " + format +
                                            " --only-graphs --cache graphs 2>&1");
            INFO(made.output);
            REQUIRE(made.status == 0);
            const Said read = workplace.run("profile_graph graphs/" + network + "-" + format +
                                            ".onnx --dim height=224 width=224 2>&1");
            INFO(read.output.substr(0, 2000));
            CHECK(read.status == 0);
            CHECK(line_after(read.output, "Multiply-accumulates:") == macs);
            // In the quantised graph the products are of 8-bit numbers.
            CHECK((line_after(read.output, "Precision:").find("int8 9") != std::string::npos) ==
                  (format == "int8"));
        }
    }
    CHECK(workplace.run(measure + "no_such_network --only-graphs --cache graphs 2>/dev/null").status == 2);
    CHECK(workplace.run(measure + "resnet18 --precision int3 2>/dev/null").status == 1);
    CHECK(workplace.run(measure + "resnet18 --only-graphs 2>/dev/null").status == 1);
}

TEST_CASE("a device is calibrated on the logs of the tool that measured it", "[cli][check]") {
    const Workplace workplace;
    const std::string log = read(ARCHSIM_SOURCE_DIR "/tests/check/outputs/trtexec.log");
    std::string logs;
    for (const auto& [network, median] :
         {std::pair{"resnet50", "1.191"}, std::pair{"resnet101", "2.1"}, std::pair{"vgg16", "2.9"},
          std::pair{"mobilenet_v2", "0.55"}, std::pair{"densenet121", "1.9"},
          std::pair{"efficientnet_b0", "0.8"}}) {
        std::string text = log;
        for (auto at = text.find("resnet50"); at != std::string::npos; at = text.find("resnet50", at + 1))
            text.replace(at, std::string("resnet50").size(), network);
        const std::string before = "median = 1.19139";
        REQUIRE(text.find(before) != std::string::npos);
        text.replace(text.find(before), before.size(), std::string("median = ") + median);
        std::ofstream(workplace.folder() / (std::string(network) + ".log")) << text;
        logs += std::string(" ") + network + ".log";
    }
    const Said fit = workplace.run("calibrate_device A100 --from" + logs + " 2>&1");
    INFO(fit.output);
    CHECK(fit.status == 0);
    CHECK(fit.output.find("Parameters of A100") != std::string::npos);
    CHECK(fit.output.find("vgg16-trtexec-1") != std::string::npos);
    CHECK(workplace.run("calibrate_device A100 2>/dev/null").status == 1);
}

TEST_CASE("rows bring the devices that they were measured on", "[cli][check]") {
    const Workplace workplace;
    const Said said =
        workplace.run("validate_estimates --measurements tests/measured/onnxruntime_cpu.csv --worst 1");
    CHECK(said.status == 0);
    CHECK(said.output.find("VM-Zen5-2") != std::string::npos);
    const std::string counted = said.output.substr(0, said.output.find(" measurements were estimated"));
    const std::string pair = counted.substr(counted.rfind('\n') + 1); // "132 of 132"
    CHECK(pair.substr(0, pair.find(' ')) == pair.substr(pair.rfind(' ') + 1));
}

TEST_CASE("this-machine answers without tools for GPUs, and its file passes the checker", "[cli][machine]") {
    const Workplace workplace;
    const Said said = workplace.run("PATH='" ARCHSIM_TOOL_DIR
                                    "' list_hardware_mappers --this-machine --output my_machine.json "
                                    "2>&1");
    INFO(said.output);
    REQUIRE(said.status == 0);
    const Said check = workplace.run("list_hardware_mappers --check my_machine.json 2>&1");
    INFO(check.output);
    CHECK(check.status == 0);
    CHECK(workplace.run("compare_models resnet18 --hardware my_machine.json this-machine --check-me 2>&1")
              .status == 0);
    CHECK(workplace.run("list_hardware_mappers --this-machine --probe 2>&1").output.find("measured") !=
          std::string::npos);
    CHECK(workplace.run("list_hardware_mappers --this-machine --snapshot no_such.txt 2>/dev/null").status ==
          2);
}
