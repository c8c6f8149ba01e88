// The devices that other tools list, by the names that they give them: device_lists/names.csv. A name without
// a device is one that the database does not describe.

#include "archsim/hardware/database.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>

using namespace archsim;

namespace {

struct ListedName {
    std::string list, name, device;
};

std::vector<ListedName> listed_names() {
    std::ifstream file(std::string(ARCHSIM_SOURCE_DIR) + "/tests/hardware/device_lists/names.csv");
    std::vector<ListedName> names;
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        const auto first = line.find(','), second = line.find(',', first + 1),
                   third = line.find(',', second + 1);
        REQUIRE(third != std::string::npos);
        names.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                         line.substr(second + 1, third - second - 1)});
    }
    return names;
}

} // namespace

TEST_CASE("85 of 100 names of other tools' device lists are answered", "[hardware]") {
    const HardwareDatabase database(std::filesystem::path(ARCHSIM_SOURCE_DIR) / "hardware_db");
    std::map<std::string, std::pair<double, double>> answered; // of how many
    const auto names = listed_names();
    REQUIRE(names.size() > 100);
    for (const ListedName& listed : names) {
        CAPTURE(listed.list, listed.name);
        std::string id;
        try {
            id = database.device(listed.name).device->id;
        } catch (const InputError&) { // not described
        }
        CHECK(id == listed.device);
        answered[listed.list].first += id.empty() ? 0 : 1;
        answered[listed.list].second += 1;
    }
    for (const auto& [list, count] : answered) {
        CAPTURE(list, count.first, count.second);
        CHECK(count.first >= 0.85 * count.second);
    }
}
