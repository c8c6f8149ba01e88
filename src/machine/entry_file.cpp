// An entry as a file of the database.

#include "machine/this_machine.hpp"

#include "hardware/json_edit.hpp"

namespace archsim {

std::string entry_text(const MachineEntry& entry, const std::string& id) {
    auto document = nlohmann::ordered_json::parse(entry.json);
    if (!id.empty())
        document["id"] = id;
    return laid_out(document, 0, 0) + "\n";
}

} // namespace archsim
