// Tables of hardware_db/ that are no devices.

#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"
#include "core/data_dir.hpp"
#include "core/json_document.hpp"
#include "hardware/reference_machine.hpp"
#include "machine/microarchitecture.hpp"
#include "result/cost_terms.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace archsim;
namespace fs = std::filesystem;

namespace {

/// Takes the data from a folder as long as it lives.
class DataFolder {
  public:
    explicit DataFolder(const fs::path& folder) {
        if (const char* before = std::getenv("ARCHSIM_DATA_DIR"))
            before_ = before;
        setenv("ARCHSIM_DATA_DIR", folder.c_str(), 1);
    }
    ~DataFolder() {
        if (before_.empty())
            unsetenv("ARCHSIM_DATA_DIR");
        else
            setenv("ARCHSIM_DATA_DIR", before_.c_str(), 1);
    }
    DataFolder(const DataFolder&) = delete;
    DataFolder& operator=(const DataFolder&) = delete;

  private:
    std::string before_;
};

} // namespace

TEST_CASE("a folder of one's own takes the tables that it lacks from the library", "[core]") {
    const fs::path folder = fs::temp_directory_path() / "archsim_data_table_test";
    fs::remove_all(folder);
    fs::create_directories(folder / "hardware_db");
    std::ofstream(folder / "hardware_db/pci_ids.json") << R"({"cards": []})";
    {
        const DataFolder use(folder);
        CHECK(data_table("pci_ids.json") == folder / "hardware_db/pci_ids.json");
        const fs::path built_in = data_table("model_types.json");
        CHECK(built_in != folder / "hardware_db/model_types.json");
        std::vector<Finding> findings;
        CHECK(parse_document(built_in.string(), findings));
        CHECK(findings.empty());
    }
    fs::remove_all(folder);
}

TEST_CASE("tables say what the code said", "[core]") {
    CHECK(grid_intensities().size() >= 74);
    CHECK(reference_decode_rate("cpu") == 17.4e9);
    CHECK(reference_decode_rate("dsp") == 10e9);
    CHECK_THROWS_AS(reference_decode_rate("gpu"), InputError);
    REQUIRE(find_microarchitecture("GenuineIntel", 6, 0x55, 7)); // by stepping
    CHECK(find_microarchitecture("GenuineIntel", 6, 0x55, 7)->generation == "cascade-lake");
    CHECK(find_microarchitecture("GenuineIntel", 6, 0x55, 4)->generation == "skylake-sp");
    CHECK(find_microarchitecture("AuthenticAMD", 0x19, 0x61, 0)->generation ==
          "zen4"); // before zen3's wider range
    CHECK(find_arm_microarchitecture(0x41, 0xD4F)->multiply_pipes == 4);
    CHECK_FALSE(find_arm_microarchitecture(0x41, 0xFFF));
}

TEST_CASE("tables in a folder laid over the database are no devices", "[core][hardware]") {
    const fs::path folder = fs::temp_directory_path() / "archsim_overlay_tables_test";
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const char* name : {"servers.json", "grid_intensities.json", "energy.json"})
        std::ofstream(folder / name) << "{}";
    const HardwareDatabase hardware(fs::path(ARCHSIM_SOURCE_DIR) / "hardware_db", {folder});
    for (const std::string& id : hardware.device_ids())
        CHECK((id != "servers" && id != "grid_intensities" && id != "energy"));
    fs::remove_all(folder);
}
