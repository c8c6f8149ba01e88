#include "hardware/loose_names.hpp"

#include "archsim/hardware/database.hpp"
#include "hardware/stated_facts.hpp"
#include "hardware/temporary_database.hpp"
#include "session/other_conditions.hpp"

#include <catch2/catch.hpp>

using namespace archsim;
using namespace archsim::test;

namespace {

LooseNames cards() {
    LooseNames names;
    names.add("GeForce RTX 4070", 0);
    names.add("4070", 0);
    names.add("GeForce RTX 4070 Laptop GPU", 1);
    names.add("GeForce RTX 4070 Ti", 2);
    names.add("Apple M4 10-core GPU", 3);
    names.add("M4", 3);
    names.add("M4 Max", 4);
    names.add("M4 Pro", 5);
    names.add("Coral", 6);
    return names;
}

std::vector<std::size_t> meant(const std::string& text) {
    return cards().find(text).devices;
}

using Devices = std::vector<std::size_t>;

nlohmann::json shared_memory_device(const std::string& id) {
    auto device = small_device(id);
    device["host_link"] = {{"type", "shared memory"}};
    device.erase("power_modes");
    device.erase("default_power_mode");
    device.erase("peak_power_mode");
    return device;
}

std::string refusal(const HardwareDatabase& database, const std::string& name) {
    try {
        database.device(name);
    } catch (const InputError& error) {
        return to_string(error.findings().front());
    }
    return {};
}

} // namespace

TEST_CASE("the longest name whose words follow each other is meant", "[hardware]") {
    CHECK(meant("rtx4070") == Devices{0});
    CHECK(meant("NVIDIA GeForce RTX 4070 Ti (12 GB) PC") == Devices{2});
    CHECK(meant("RTX 4070 notebook") == Devices{1});
    CHECK(meant("MacBook Pro M4 Max (128 GB)") == Devices{4});
    CHECK(meant("Mac mini M4") == Devices{3}); // the pro of a MacBook Pro is no chip, that of an M4 Pro is
    CHECK(meant("MacBook Pro M4") == Devices{3});
    CHECK(meant("Intel(R) Arc(TM) of nobody").empty());
}

TEST_CASE("what a name says beyond a device's is no detail", "[hardware]") {
    for (const char* other : {"RTX 4070 Super", "RTX 4070D", "M4 Ultra", "2x RTX 4070", "2\xC3\x97 RTX 4070",
                              "M4 Max 14-core", "RTX 40", "Coral Dev Board", "gpu", "", "32GB", ","})
        CHECK(meant(other).empty());
}

TEST_CASE("every name means its own device, however it is written", "[hardware]") {
    const std::vector<std::pair<std::string, std::size_t>> all = {
        {"GeForce RTX 4070", 0}, {"GeForce RTX 4070 Laptop GPU", 1}, {"M4 Max", 4}, {"M4 Pro", 5}};
    for (const auto& [name, device] : all) {
        std::string lower = name, joined = name, marked = "NVIDIA " + name + " (R)";
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](unsigned char c) { return std::tolower(c); });
        std::replace(joined.begin(), joined.end(), ' ', '_');
        for (const std::string& way : {lower, joined, marked, name + " with 64 GB RAM", name + ", 64GB"})
            CHECK(meant(way) == Devices{device});
    }
}

TEST_CASE("names that fit two devices name both", "[hardware]") {
    LooseNames names;
    names.add("Acme 100", 0);
    names.add("Acme 100", 1);
    CHECK(names.find("the Acme 100").devices.empty());
    CHECK(names.find("Acme 100 card").devices == Devices{0, 1});
}

TEST_CASE("a size of memory is that of the card, or behind a comma of the computer", "[hardware]") {
    CHECK(cards().find("RTX 4070").memory == std::nullopt);
    const auto card = cards().find("RTX 4070 (12 GB)").memory;
    REQUIRE(card);
    CHECK(card->gigabytes == 12);
    CHECK_FALSE(card->of_computer);
    for (const char* text :
         {"RTX 4070, 32GB", "RTX 4070 + 32 GB", "RTX 4070 with 32 GB", "RTX 4070 32GB RAM"}) {
        const auto computer = cards().find(text).memory;
        REQUIRE(computer);
        CHECK(computer->gigabytes == 32);
        CHECK(computer->of_computer);
    }
    CHECK(gigabytes_of(" 1.5 GB") == 1.5);
    CHECK(gigabytes_of("24g") == 24);
    for (const char* other : {"", "24", "GB", "24 TB", "24GB 24GB", "A100 40GB"})
        CHECK_FALSE(gigabytes_of(other));
}

TEST_CASE("a name may say how many of a device are meant", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(small_device("Acme-100"));
    const HardwareDatabase database(files.root());
    for (const char* name : {"8xAcme-100", "8x acme 100", "8 x Acme-100", "8XACME100"}) {
        CAPTURE(name);
        const DeviceChoice choice = database.device(name);
        CHECK(choice.device->id == "Acme-100");
        CHECK(choice.devices == 8);
        CHECK(database.device(choice.one).device == choice.device);
    }
    CHECK(database.device("Acme-100").devices == 1);
    CHECK(database.device("Acme-100").one.empty());
    for (const char* name : {"0xAcme-100", "8x", "x Acme-100"})
        CHECK_THROWS_AS(database.device(name), InputError);
}

TEST_CASE("a chip that shares its computer's memory has as much as its name says", "[hardware]") {
    TemporaryDatabase files;
    files.add_device(shared_memory_device("Fruit-9-Pro"));
    files.add_device(small_device("Acme-100"));
    const HardwareDatabase database(files.root());
    const double whole = database.device("Fruit-9-Pro").device->dram->capacity.value;
    const std::string half = fmt::format("{:g}GB", whole / 2e9);
    for (const std::string& name : {"Mac mini Fruit 9 Pro (" + half + ")", "fruit-9-pro@" + half}) {
        const DeviceChoice choice = database.device(name);
        CHECK(choice.device->id == "Fruit-9-Pro");
        CHECK(choice.device->dram->capacity.value ==
              whole / 2 / 1e9 * 1024 * 1024 * 1024); // modules hold powers of two
        CHECK(choice.power_mode == half);
    }
    CHECK(database.device(fmt::format("Fruit 9 Pro {:g}GB", whole / 1e9)).power_mode.empty());
    CHECK_THAT(refusal(database, fmt::format("Fruit 9 Pro {:g}GB", 2 * whole / 1e9)),
               Catch::Contains("of memory, not"));
    // A card has the memory it has; its computer may have any.
    const double card = database.device("Acme-100").device->dram->capacity.value / 1e9;
    CHECK(database.device(fmt::format("Acme 100, {:g} GB", 3 * card)).device->dram->capacity.value ==
          card * 1e9);
    CHECK_THAT(refusal(database, fmt::format("Acme 100 {:g} GB", 3 * card)),
               Catch::Contains("behind a comma"));
    CHECK(database.device_sources(*database.device("Acme-100").device).total() ==
          count_sources(database.device_facts("Acme-100")).total());
    CHECK(with_every_mode(database, {"Acme 100", " 32GB", "Fruit-9-Pro"}) ==
          std::vector<std::string>{"Acme 100, 32GB", "Fruit-9-Pro"});
}

TEST_CASE("sources are counted as they are listed, on every device", "[hardware]") {
    const HardwareDatabase database(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db");
    std::vector<Finding> findings;
    for (const auto& device : database.all_devices(findings)) {
        CAPTURE(device->id);
        CHECK(database.device_sources(*device).counts ==
              count_sources(database.device_facts(device->file)).counts);
    }
}

TEST_CASE("a name that ends with a unit means a device that is one", "[hardware]") {
    const HardwareDatabase database(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db");
    CHECK(database.device("Snapdragon 8 Elite").device->family.row().name == "dsp");
    CHECK(database.device("Snapdragon 8 Elite NPU").device->id == "Snapdragon-8-Elite");
    CHECK_THAT(refusal(database, "Snapdragon 8 Elite GPU"),
               Catch::Contains("what has that name is Snapdragon-8-Elite (DSP)"));
    CHECK(database.device("Snapdragon 8 Gen 3 GPU").device->id == "Adreno-750");
    CHECK_THAT(refusal(database, "RTX 4090 CPU"), Catch::Contains("RTX-4090 (GPU)"));
    CHECK(database.device("GeForce RTX 4090 GPU").device->id == "RTX-4090");
    CHECK(database.device("Core i5-13400 CPU").device->family.row().is_host);
}
