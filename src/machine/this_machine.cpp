#include "machine/this_machine.hpp"

#include "hardware/made_entry.hpp"

#include "machine/gpu_entry.hpp"
#include "machine/processor_entry.hpp"

#include <fmt/format.h>

namespace archsim {

ThisMachine describe_machine(const Snapshot& snapshot, const HardwareDatabase& database,
                             const ProbeResult& probe) {
    std::vector<Finding> unreadable; // told by list_hardware_mappers --check
    const Devices devices = database.all_devices(unreadable);
    const ProcessorSeen seen = read_processor(snapshot);
    ThisMachine machine;
    machine.entries.push_back(processor_entry(
        seen, match_processor(seen, snapshot.text("/proc/device-tree/model"), devices), probe));
    for (MachineEntry& gpu : gpu_entries(snapshot, devices))
        machine.entries.push_back(std::move(gpu));
    return machine;
}

void name_this_machine() {
    for (const std::string_view id : {kThisMachine, kThisGpu})
        set_made_entry(std::string(id), [id](const HardwareDatabase& asked) {
            const ProbeResult probe = id == kThisMachine ? probe_of_boot() : ProbeResult{};
            for (const MachineEntry& entry : describe_machine(capture_machine(), asked, probe).entries)
                if (entry.id == id && !entry.json.empty())
                    return entry.json;
            throw InputError(fmt::format("{}: this machine shows no GPU that the database knows; "
                                         "list_hardware_mappers --this-machine says what it shows",
                                         id));
        });
}

} // namespace archsim
