// The examples of docs/adding_a_device.md must work as printed.

#include "archsim/hardware/database.hpp"

#include "hardware/temporary_database.hpp"
#include "support/places.hpp"

#include <catch2/catch.hpp>
#include <iterator>

using namespace archsim;
using namespace archsim::test;

namespace {

/// The ```json blocks of a Markdown file.
std::vector<std::string> json_blocks(const std::filesystem::path& file) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    const std::string open = "```json\n", close = "```";
    std::vector<std::string> blocks;
    for (auto at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
        at += open.size();
        const auto end = text.find(close, at);
        blocks.push_back(text.substr(at, end - at));
        at = end;
    }
    return blocks;
}

} // namespace

TEST_CASE("the devices of the guide pass the check and can be used", "[hardware][database]") {
    const auto blocks = json_blocks(kSource / "docs" / "adding_a_device.md");
    REQUIRE(blocks.size() == 3);
    const HardwareDatabase database(kSource / "hardware_db");
    for (const std::string& block : blocks) {
        TemporaryDatabase folder;
        const std::string id = nlohmann::json::parse(block)["id"];
        const std::string file = folder.write(id + ".json", block);
        for (const Finding& finding : check_hardware(file))
            UNSCOPED_INFO(to_string(finding));
        CHECK(check_hardware(file).empty());
        const auto device = database.device(file).device;
        CHECK(device->id == id);
        CHECK(device->findings.empty());
        CHECK(database.runtime_for(*device) != nullptr);
    }
    // Peaks follow from units, rates and clocks; what is missing is named alone.
    auto least = nlohmann::json::parse(blocks[2]);
    CHECK_FALSE(least.contains("peaks"));
    TemporaryDatabase described;
    least.erase("engines");
    const auto missing = check_hardware(described.write("Eyeriss.json", least.dump()));
    REQUIRE(missing.size() == 1);
    CHECK(missing.front().message.find("engines") != std::string::npos);
    // The refinement keeps what it does not state.
    const HardwareDatabase with_overlay = [&] {
        TemporaryDatabase folder;
        folder.write("H100-Lab.json", blocks[0]);
        HardwareDatabase opened(kSource / "hardware_db", {folder.root()});
        CHECK(opened.device("h100-lab").device->tdp.value == 500);
        return opened;
    }();
    CHECK(family_number(*with_overlay.device("H100-Lab").device, "sm_count").value ==
          family_number(*database.device("H100").device, "sm_count").value);
}
