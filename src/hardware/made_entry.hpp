#pragma once
// Devices whose entry is made while the program runs: the machine at hand. They answer to their name in every
// database of the process, and stand in no list.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace archsim {

class HardwareDatabase;

/// Makes the text of a device's file. Gets the database that was asked for the device.
using MakeEntry = std::function<std::string(const HardwareDatabase&)>;

/// Lets `id` name a device whose text is made when a database is first asked for it. Files and aliases of the
/// same name come before it. What `make` throws, HardwareDatabase::device throws. A second call for the same
/// id replaces the first.
void set_made_entry(const std::string& id, MakeEntry make);

struct MadeEntry {
    std::string id;
    MakeEntry make;
};
/// The entry of that name in any case; nothing when there is none.
std::optional<MadeEntry> find_made_entry(std::string_view name);

} // namespace archsim
