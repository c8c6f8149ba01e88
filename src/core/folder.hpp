#pragma once
// What lies in a folder, by name alone: a path for each of hundreds of files takes longer than reading some.

#include <optional>
#include <string>
#include <vector>

namespace archsim {

struct FolderEntry {
    std::string name;
    bool is_folder = false;
};

/// What lies in a folder, in the order of the file system; nothing where it cannot be read.
std::optional<std::vector<FolderEntry>> entries_of_folder(const std::string& folder);

} // namespace archsim
