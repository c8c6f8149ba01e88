#pragma once
// The index of a database folder and its overlays, from file names alone; names and aliases are read from the
// head of each file only when an id does not match.

#include "archsim/hardware/device.hpp"

#include <filesystem>
#include <map>

namespace archsim {

/// Identity of a device without reading the rest of its file.
struct DeviceHead {
    std::string id, name, family;
    std::vector<std::string> aliases;
};
/// Reads until id, name, family and aliases are known; empty members where the file lacks them or is
/// malformed.
DeviceHead read_device_head(const std::string& file);
/// The same without the family, which a file that extends another one leaves to that: such a file is read to
/// its aliases, not to its end.
DeviceHead read_device_names(const std::string& file);

struct DatabaseEntry {
    std::string id;
    std::string file;
    std::optional<Family> family;            ///< from the folder's name
    std::size_t layer = 0;                   ///< 0 = database, 1 = first overlay, ...
    std::shared_ptr<const std::string> text; ///< of an entry that is no file; `file` says where it comes from
};

/// Files by normalised id (`name_key`); the last entry of a list has precedence.
using EntryTable = std::map<std::string, std::vector<DatabaseEntry>, std::less<>>;

struct DatabaseIndex {
    EntryTable devices, runtimes;
    std::vector<std::string> deployment_files;
};

/// Lists the files; throws InputError when a layer is not readable.
DatabaseIndex list_database(const std::filesystem::path& root,
                            const std::vector<std::filesystem::path>& overlays);

} // namespace archsim
