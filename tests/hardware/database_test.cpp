#include "archsim/hardware/database.hpp"

#include "core/text.hpp"
#include "hardware/temporary_database.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>
#include <thread>

using namespace archsim;
using namespace archsim::test;

namespace {

std::string message_of(const HardwareDatabase& database, const std::string& name) {
    try {
        database.device(name);
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("a device is read with SI values and sources", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    const HardwareDatabase database(files.root());
    const DeviceChoice choice = database.device("acme-1");
    const Device& device = *choice.device;
    CHECK(device.id == "Acme-1");
    CHECK(device.family == Family("gpu"));
    CHECK(device.generation == "acme-1");
    CHECK(device.clock_boost.value == 1e9);
    REQUIRE(device.engines.size() == 2);
    CHECK(device.engines[0].clock.value == 1e9);
    CHECK(device.engines[0].rate(Precision::int8).value == 2000);
    CHECK(device.engines[0].rate(Precision::int8).source->kind == SourceKind::derived);
    CHECK_FALSE(device.engines[0].supports(Precision::fp8));
    CHECK(device.supports(EngineClass::vector, Precision::fp32));
    CHECK(device.level("l2")->capacity.value == 4.0 * 1024 * 1024);
    CHECK(device.dram->bandwidth.value == 200e9);
    CHECK(device.dram->achievable_fraction.fitted_n == 4);
    CHECK(device.dram->achievable_fraction.fitted_error == 0.05);
    CHECK(device.idle.value == 5.0);
    CHECK(family_number(device, "sm_count").value == 10);
    CHECK(device.peaks.size() == 2);
    CHECK(device.tdp.source->cite == "Acme data sheet");
    CHECK_FALSE(device.power_mode("25w")->limit.known());
    CHECK(device.power_mode("25W")->uncapped);
    CHECK(device.findings.empty());
    CHECK(choice.power_mode == "50W");
}

TEST_CASE("names: case, aliases, power modes, paths, nearest", "[hardware]") {
    TemporaryDatabase files;
    auto renamed = small_device("Acme-1");
    renamed["aliases"] = {"Rocket 100"};
    const std::string path = files.add_device(renamed);
    files.add_device(small_device("Acme-2"));
    const HardwareDatabase database(files.root());
    CHECK(database.device("ROCKET-100").device->id == "Acme-1");
    CHECK(database.device("acme_1").device->id == "Acme-1");
    CHECK(database.device("Acme-1@25w").power_mode == "25W");
    CHECK(database.device(path).device->id == "Acme-1");
    CHECK(database.device(path + "@25W").power_mode == "25W");
    CHECK_THAT(message_of(database, "Acme-1@30W"), Catch::Contains("50W or 25W"));
    CHECK(database.device("Acme1").device->id == "Acme-1"); // punctuation decides only between two names
    CHECK_THAT(message_of(database, "Acme-3"), Catch::Contains("Acme-1"));
    CHECK_THAT(message_of(database, "missing.json"), Catch::Contains("no such device file"));
    CHECK(database.device_ids() == std::vector<std::string>{"Acme-1", "Acme-2"});
    // The same object every time.
    CHECK(database.device("acme-1").device == database.device("Rocket 100").device);
}

TEST_CASE("a name of many devices is answered with some of them and their number", "[hardware]") {
    CHECK_THAT(message_of(shipped_session().hardware(), "MacBook"),
               Catch::Contains("MacBook Air M") && Catch::Contains("or another of"));
    // Every one of them is a device.
    const HardwareDatabase& database = shipped_session().hardware();
    CHECK(database.device("MacBook Pro M4 Max").device->id == "Apple-M4-Max-GPU");
    CHECK(database.device("MacBook Pro M4 Max, 64GB").device->id == "Apple-M4-Max-GPU");
    CHECK(database.device("Mac Studio M3 Ultra").device->id == "Apple-M3-Ultra-GPU");
}

TEST_CASE("boards are known by the names they are sold under, and a part that is missing can be described",
          "[hardware]") {
    const HardwareDatabase& database = shipped_session().hardware();
    CHECK(database.device("XIAO ESP32S3").device->id == "ESP32-S3");
    CHECK(database.device("Nicla Vision").device->id == "STM32H747");
    CHECK(database.device("Radxa Zero 3W").device->id == "RK3566-NPU");
    for (const char* missing : {"K210", "Sipeed MaixCAM", "BL616"})
        CHECK_THAT(message_of(database, missing), Catch::Contains("PART.json"));
}

TEST_CASE("edit distance counts swaps once and finds parts of names", "[hardware]") {
    const std::vector<std::string> known = {"RTX-4090", "RTX-5090", "H100", "A100", "Jetson-AGX-Orin"};
    CHECK(nearest_names("RTX-4009", known, 1) == std::vector<std::string>{"RTX-4090"});
    CHECK(nearest_names("4090", known, 1) == std::vector<std::string>{"RTX-4090"});
    CHECK(nearest_names("orin", known, 1) == std::vector<std::string>{"Jetson-AGX-Orin"});
    CHECK(nearest_names("zzzzzzzz", known).empty());
    CHECK(nearest_names("", known).empty());
    CHECK(nearest_names(std::string(std::size_t{1} << 24, 'z'), known).empty()); // at once: its length tells
}

TEST_CASE("a bad device leaves the others usable", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(small_device("Good"));
    auto bad = small_device("Bad");
    bad["dram"]["bandwidth"]["unit"] = "GHz";
    files.add_device(bad);
    files.write("gpu/Broken.json", "{\"id\": \"Broken\",\n  oops}");
    const HardwareDatabase database(files.root());
    CHECK(database.device("Good").device->id == "Good");
    CHECK_THAT(message_of(database, "Bad"),
               Catch::Contains("/dram/bandwidth/unit") && Catch::Contains("GB/s"));
    CHECK_THAT(message_of(database, "Broken"), Catch::Contains("line 2"));
    std::vector<Finding> findings;
    const auto devices = database.all_devices(findings);
    REQUIRE(devices.size() == 1);
    CHECK(findings.size() == 2);
}

TEST_CASE("extends overrides fields by name and keeps sources apart", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-1"));
    TemporaryDatabase overlay;
    const std::string mine = overlay.write("mychip.json", R"({
      "id": "MyChip", "extends": "Acme-1", "name": "My chip",
      "engines": [{"name": "matrix core", "count": 20}],
      "dram": {"bandwidth": {"value": 400, "unit": "GB/s", "source": "S1"}},
      "power_modes": null, "default_power_mode": null, "peak_power_mode": null,
      "sources": {"S1": {"kind": "assumed", "cite": "my plan"}}
    })");
    const HardwareDatabase database(files.root());
    const auto device = database.device(mine).device;
    CHECK(device->id == "MyChip");
    REQUIRE(device->engines.size() == 2);
    CHECK(device->engines[0].count == 20);
    CHECK(device->engines[0].clock.value == 1e9);
    CHECK(device->engines[0].clock.source->cite == "Acme data sheet");
    CHECK(device->dram->bandwidth.value == 400e9);
    CHECK(device->dram->bandwidth.source->cite == "my plan");
    CHECK(device->dram->capacity.source->cite == "Acme data sheet");
    CHECK(device->peaks.empty()); // they described the base
    CHECK(device->power_modes.empty());
    CHECK(device->findings.empty());

    SECTION("as an overlay folder, an overlay file, and on top of the same id") {
        const HardwareDatabase with_folder(files.root(), {overlay.root()});
        CHECK(with_folder.device("mychip").device->engines[0].count == 20);
        CHECK(with_folder.device_ids().size() == 2);
        const HardwareDatabase with_file(files.root(), {std::filesystem::path(mine)});
        CHECK(with_file.device("MYCHIP").device->engines[0].count == 20);
        TemporaryDatabase refinement;
        refinement.write("Acme-1.json", R"({"id": "Acme-1", "extends": "Acme-1",
          "power": {"tdp": {"value": 40, "unit": "W", "source": "S"}},
          "sources": {"S": {"kind": "measured", "cite": "my board"}}})");
        const HardwareDatabase refined(files.root(), {refinement.root()});
        CHECK(refined.device("Acme-1").device->tdp.value == 40);
        CHECK(refined.device("Acme-1").device->idle.value == 5);
        CHECK(refined.device_ids() == std::vector<std::string>{"Acme-1"});
    }
}

TEST_CASE("a circle of extends and an unknown base are findings", "[hardware]") {
    TemporaryDatabase files;
    files.write("gpu/A.json", R"({"id": "A", "extends": "B"})");
    files.write("gpu/B.json", R"({"id": "B", "extends": "A"})");
    files.write("gpu/C.json", R"({"id": "C", "extends": "C"})");
    files.write("gpu/D.json", R"({"id": "D", "extends": "Good-Oen"})");
    files.add_device(small_device("Good-One"));
    const HardwareDatabase database(files.root());
    CHECK_THAT(message_of(database, "A"), Catch::Contains("/extends") && Catch::Contains("A -> B -> A"));
    CHECK_THAT(message_of(database, "C"), Catch::Contains("C -> C"));
    CHECK_THAT(message_of(database, "D"), Catch::Contains("Good-One"));
    CHECK(database.device("Good-One").device != nullptr);
}

TEST_CASE("several threads may ask at once", "[hardware]") {
    TemporaryDatabase files;
    for (int i = 0; i < 8; ++i)
        files.add_device(small_device("Acme-" + std::to_string(i)));
    const HardwareDatabase database(files.root());
    std::vector<std::jthread> threads;
    std::atomic<int> found = 0;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 8; ++i)
                found += database.device("acme " + std::to_string(i)).device->engines.size() == 2 ? 1 : 0;
        });
    threads.clear();
    CHECK(found == 32);
}

TEST_CASE("a missing database folder is an input error", "[hardware]") {
    CHECK_THROWS_AS(HardwareDatabase("/nonexistent-folder"), InputError);
}
