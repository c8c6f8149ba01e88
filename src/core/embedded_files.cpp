#include "core/embedded_files.hpp"
#include "core/lists.hpp"

#include <cstdint>
#include <cstring>
#include <system_error>

// Written by cmake/EmbeddedFiles.cmake: the number of files, one Entry for each, sorted by name, then what
// they hold.
extern "C" __attribute__((visibility("hidden"))) const unsigned char archsim_embedded_files[];

namespace archsim {

namespace fs = std::filesystem;

/// Offsets are from the beginning of the table, so that loading the library relocates nothing.
struct Entry {
    std::uint64_t name, name_size, text, text_size;
};

template <typename Stored>
static Stored stored_at(std::size_t offset) {
    Stored stored;
    std::memcpy(&stored, archsim_embedded_files + offset, sizeof(Stored));
    return stored;
}

static std::size_t file_count() {
    return static_cast<std::size_t>(stored_at<std::uint64_t>(0));
}

static Entry entry_at(std::size_t index) {
    return stored_at<Entry>(sizeof(std::uint64_t) + index * sizeof(Entry));
}

static std::string_view bytes(std::uint64_t offset, std::uint64_t size) {
    return {reinterpret_cast<const char*>(archsim_embedded_files) + offset, static_cast<std::size_t>(size)};
}

static std::string_view name_of(const Entry& entry) {
    return bytes(entry.name, entry.name_size);
}

/// The path below kEmbeddedRoot.
static std::optional<std::string_view> inner(std::string_view path) {
    if (!path.starts_with(kEmbeddedRoot))
        return std::nullopt;
    path.remove_prefix(kEmbeddedRoot.size());
    if (path.empty())
        return path;
    if (path.front() != '/')
        return std::nullopt;
    return path.substr(1);
}

/// Index of the first file whose name is not before `name`.
static std::size_t at_or_after(std::string_view name) {
    std::size_t first = 0;
    for (std::size_t count = file_count(); count > 0;) {
        const std::size_t half = count / 2;
        const bool before = name_of(entry_at(first + half)) < name;
        first = before ? first + half + 1 : first;
        count = before ? count - half - 1 : half;
    }
    return first;
}

bool is_embedded(const fs::path& path) {
    return inner(path.native()).has_value();
}

std::optional<std::string_view> embedded_text(const fs::path& file) {
    const auto name = inner(file.native());
    if (!name)
        return std::nullopt;
    const std::size_t index = at_or_after(*name);
    if (index == file_count() || name_of(entry_at(index)) != *name)
        return std::nullopt;
    const Entry entry = entry_at(index);
    return bytes(entry.text, entry.text_size);
}

std::vector<std::string_view> embedded_names_below(const fs::path& folder) {
    std::vector<std::string_view> names;
    const auto name = inner(folder.native());
    if (!name)
        return names;
    const std::string start = name->empty() ? std::string() : std::string(*name) + '/';
    for (std::size_t i = at_or_after(start); i < file_count() && name_of(entry_at(i)).starts_with(start); ++i)
        names.push_back(name_of(entry_at(i)).substr(start.size()));
    return names;
}

std::vector<fs::path> embedded_files_below(const fs::path& folder) {
    return mapped(embedded_names_below(folder), [&](const std::string_view name) { return folder / name; });
}

bool is_text_file(const fs::path& file) {
    std::error_code unknown;
    return embedded_text(file) || fs::is_regular_file(file, unknown);
}

} // namespace archsim
