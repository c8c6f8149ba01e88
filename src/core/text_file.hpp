#pragma once
// Reading whole files that people and tools write by hand: JSON, CSV.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// All bytes of a file, a pipe or standard input. Throws InputError where it cannot be opened or read, is a
/// folder or a device (/dev/zero never ends), and where it holds more than any such file does (256 MiB).
std::string read_text_file(const std::filesystem::path& file);

struct FolderEntry {
    std::string name;
    bool is_folder = false;
};

/// The entries of a folder, in the order of the file system; nothing where it cannot be read.
std::optional<std::vector<FolderEntry>> entries_of_folder(const std::string& folder);

} // namespace archsim
