// Reads arbitrary bytes as a device file beside the real database: a device, findings or the documented
// refusal; and a device that is read can be made ready to run or says why not.

#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"
#include "archsim/map/machine.hpp"
#include "scratch_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // ARCHSIM_DATA_DIR holds the database that "extends" may name.
    static const archsim::HardwareDatabase database(std::filesystem::path(std::getenv("ARCHSIM_DATA_DIR")) /
                                                    "hardware_db");
    const std::string file = archsim::fuzz::scratch_file({data, size}, ".json");
    try {
        const archsim::DeviceChoice choice = database.device(file);
        archsim::make_machine(choice.device, choice.power_mode, database.runtime_for(*choice.device));
        archsim::check_hardware(file); // reads the whole schema again: only what got this far
    } catch (const archsim::Error&) {
        return 0;
    }
    return 0;
}
