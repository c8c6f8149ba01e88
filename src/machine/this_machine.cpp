#include "machine/this_machine.hpp"

#include "core/text.hpp"
#include "hardware/json_edit.hpp"
#include "hardware/made_entry.hpp"
#include "machine/processor_entry.hpp"

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

std::string entry_text(const MachineEntry& entry, const std::string& id) {
    auto document = nlohmann::ordered_json::parse(entry.json);
    if (!id.empty())
        document["id"] = id;
    return laid_out(document, 0, 0) + "\n";
}

/// Whole numbers without a fraction, and texts in ASCII: names come from hardware and files that may hold
/// anything.
static void tidy(Json& value) {
    if (value.is_structured())
        for (Json& part : value)
            tidy(part);
    else if (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()))
        value = static_cast<std::int64_t>(value.get<double>());
    else if (value.is_string())
        for (char& c : value.get_ref<std::string&>())
            c = c >= ' ' && c <= '~' ? c : '?';
}

std::string EntryWriter::source(Origin origin, const std::string& from) {
    const char* kind = origin == Origin::assumed    ? "assumed"
                       : origin == Origin::database ? "derived"
                                                    : "measured";
    const std::string cite = origin == Origin::detected   ? fmt::format("detected on this machine: {}", from)
                             : origin == Origin::measured ? fmt::format("measured on this machine: {}", from)
                             : origin == Origin::database ? fmt::format("from {}", from)
                                                          : fmt::format("assumed: {}", from);
    std::size_t number = 0;
    while (number < sources_.size() && sources_[number].first != cite)
        ++number;
    if (number == sources_.size())
        sources_.emplace_back(cite, kind);
    return fmt::format("S{}", number + 1);
}

Json EntryWriter::quantity(const Known& known, std::string_view unit, double scale) {
    constexpr double kDigits = 1e6; // of the unit: more would be noise of a division
    return Json::object({{"value", std::round(known.value / scale * kDigits) / kDigits},
                         {"unit", unit},
                         {"source", source(known.origin, known.from)}});
}

void EntryWriter::fact(std::string what, std::string value, const Known& known) {
    entry_.facts.push_back({std::move(what), std::move(value), known.origin, known.from});
}

MachineEntry EntryWriter::finish() {
    Json& table = document["sources"];
    for (std::size_t i = 0; i < sources_.size(); ++i)
        table[fmt::format("S{}", i + 1)] =
            Json::object({{"kind", sources_[i].second}, {"cite", sources_[i].first}});
    tidy(document);
    entry_.json = document.dump();
    return std::move(entry_);
}

} // namespace archsim
