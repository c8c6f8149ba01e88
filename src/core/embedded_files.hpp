#pragma once
// The device database inside the library: cmake/EmbeddedFiles.cmake lays the files of hardware_db/ into a
// read-only section, so that a linked program needs no folder. A path below kEmbeddedRoot names one of them
// wherever the path of a file or folder of the database is expected; nothing is read or copied before it is
// asked for.

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace archsim {

/// The folder of embedded files in messages: "<built in>/hardware_db/gpu/A100.json".
inline constexpr std::string_view kEmbeddedRoot = "<built in>";

/// True for kEmbeddedRoot and every path below it, whether there is such a file or not.
bool is_embedded(const std::filesystem::path& path);

/// The bytes of an embedded file, which live as long as the program; nothing when there is no such file.
std::optional<std::string_view> embedded_text(const std::filesystem::path& file);

/// The names of the embedded files below `folder` from there, "gpu/A100.json", sorted; empty for any other
/// folder.
std::vector<std::string_view> embedded_names_below(const std::filesystem::path& folder);

/// The embedded files below `folder`, sorted, as paths that embedded_text() takes; empty for any other
/// folder.
std::vector<std::filesystem::path> embedded_files_below(const std::filesystem::path& folder);

/// Whether there is a regular or an embedded file of that name.
bool is_text_file(const std::filesystem::path& file);

} // namespace archsim
