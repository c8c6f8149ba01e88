// What is sold for servers, and at whose price.

#include "archsim/compare/cost.hpp"
#include "archsim/hardware/database.hpp"

#include "hardware/temporary_database.hpp"
#include "support/shipped_session.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>

using namespace archsim;
using namespace archsim::test;
using nlohmann::json;

TEST_CASE("accelerators with stacked memory are sold for servers", "[hardware][database]") {
    // Until HBM2 cards for desks had it too: Vega 64 and Radeon VII, Titan V.
    const auto of_servers_alone = [](const std::string& type) {
        return type.starts_with("HBM") && type != "HBM2";
    };
    namespace fs = std::filesystem;
    int of_servers = 0;
    for (const char* family : {"gpu", "tpu", "npu"})
        for (const auto& entry :
             fs::directory_iterator(fs::path(ARCHSIM_SOURCE_DIR) / "hardware_db" / family)) {
            std::ifstream file(entry.path());
            const json device = json::parse(file);
            CAPTURE(entry.path().string());
            const bool sold = device.contains("sold_for");
            of_servers += sold ? 1 : 0;
            const json* dram = device.contains("dram") ? &device["dram"] : nullptr;
            if (dram != nullptr && dram->contains("type") && (*dram)["type"].is_string() &&
                of_servers_alone((*dram)["type"].get<std::string>()))
                CHECK(sold);
        }
    CHECK(of_servers > 60);
}

TEST_CASE("what clouds alone offer is sold for servers, and what they rent out beside shops need not be",
          "[hardware][database]") {
    const HardwareDatabase& database = shipped_session().hardware();
    int rented = 0;
    for (const std::string& id : database.device_ids()) {
        const auto device = database.device(id).device;
        const auto known = [](const std::optional<Price>& price) { return price && price->amount.known(); };
        CAPTURE(id);
        if (known(device->cloud_price) && !known(device->list_price)) {
            CHECK(device->for_servers);
            ++rented;
        }
        CHECK(pue_of(*device, 0) == (device->for_servers ? kDataCentrePue : 1));
    }
    CHECK(rented > 20);
    CHECK(database.device("Graviton3").device->for_servers);
    CHECK(database.device("H100@1g.10gb").device->for_servers); // a slice is where the whole is
    CHECK_FALSE(database.device("RTX-A6000").device->for_servers);
}

TEST_CASE("another product is not sold at the price of the device that it extends", "[hardware][database]") {
    TemporaryDatabase files;
    files.add_runtime(small_runtime("stack"));
    json base = small_device("Acme-1");
    base["sold_for"] = "servers";
    base["price"]["cloud"] =
        json::parse(R"({"value": 1, "unit": "USD/h", "source": "S1", "date": "2026-11"})");
    files.add_device(base);
    files.add_device(json{{"id", "Acme-2"}, {"extends", "Acme-1"}, {"name", "The same in our rack"}});
    json card{{"id", "Acme-3"}, {"extends", "Acme-1"}, {"name", "A card with that chip"}};
    card["engines"] = base["engines"];
    files.add_device(card);
    const HardwareDatabase database(files.root());
    CHECK(database.device("Acme-1").device->cloud_price);
    CHECK(database.device("Acme-2").device->cloud_price);
    CHECK_FALSE(database.device("Acme-3").device->cloud_price);
    CHECK(database.device("Acme-2").device->for_servers);
    CHECK_FALSE(database.device("Acme-3").device->for_servers);
}
