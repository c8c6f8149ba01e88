#include "core/folder.hpp"

#include <dirent.h>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

namespace archsim {

namespace {

/// Links are followed; file systems need not say what an entry is.
bool is_a_folder(const std::string& folder, const dirent& entry) {
    if (entry.d_type == DT_DIR || entry.d_type == DT_REG)
        return entry.d_type == DT_DIR;
    std::error_code unknown;
    return std::filesystem::is_directory(folder + '/' + entry.d_name, unknown);
}

} // namespace

std::optional<std::vector<FolderEntry>> entries_of_folder(const std::string& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> open(opendir(folder.c_str()), closedir);
    if (!open)
        return std::nullopt;
    std::vector<FolderEntry> entries;
    while (const dirent* const entry =
               readdir(open.get())) { // NOLINT(concurrency-mt-unsafe): a stream of ours
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..")
            entries.push_back({std::string(name), is_a_folder(folder, *entry)});
    }
    return entries;
}

} // namespace archsim
