#include "hardware/database_index.hpp"

#include "core/embedded_files.hpp"
#include "core/input_file.hpp"
#include "core/json_document.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>
#include <tuple>

namespace archsim {

namespace fs = std::filesystem;

/// Takes members of the top level until everything wanted was seen. False where the text ends or is wrong
/// before.
static bool take_head(std::string_view text, bool family, DeviceHead& head) {
    bool aliases = false, complete = false;
    try {
        read_members(text, [&](std::string_view key, const JsonValue& value) {
            if (key == "aliases") {
                aliases = true;
                for (const JsonValue& alias : value.items())
                    if (alias.is_text())
                        head.aliases.emplace_back(alias.text());
            } else if (value.is_text() && (key == "id" || key == "name" || key == "family")) {
                (key == "id" ? head.id : key == "name" ? head.name : head.family) = value.text();
            }
            complete = aliases && !head.id.empty() && !head.name.empty() && (!family || !head.family.empty());
            return !complete;
        });
        return true;
    } catch (const JsonFault&) {
        return false;
    }
}

/// As many bytes as hold the names of every device of the database.
constexpr std::size_t kHeadBytes = 2048;

static DeviceHead read_head(const std::string& file, bool family) {
    DeviceHead head;
    if (const auto built_in = embedded_text(file)) {
        if (!take_head(built_in->substr(0, kHeadBytes), family, head)) {
            head = {};
            take_head(*built_in, family, head);
        }
        return head;
    }
    std::string own(kHeadBytes, '\0');
    own.resize(InputFile(file).read_at(0, own.data(), own.size()));
    if (take_head(own, family, head))
        return head;
    if (own.size() == kHeadBytes) // there is more
        own = read_text_file(file);
    head = {};
    take_head(own, family, head);
    return head;
}

[[noreturn]] static void unreadable(const fs::path& path,
                                    const char* why = "the hardware database cannot be read") {
    throw InputError(Finding{.kind = FindingKind::unreadable_file,
                             .message = why,
                             .file = path.string(),
                             .hint = "name a folder with device files, or one device file"});
}

static void add(EntryTable& table, DatabaseEntry entry) {
    auto& entries = table[name_key(entry.id)];
    entries.push_back(std::move(entry));
    if (entries.size() > 1) // of one layer in the order of their paths, whatever order folders list them in
        std::ranges::stable_sort(entries, [](const DatabaseEntry& a, const DatabaseEntry& b) {
            return std::tie(a.layer, a.file) < std::tie(b.layer, b.file);
        });
}

/// Files beside the devices. In the database itself devices lie in the folder of their family; in an overlay
/// they may lie flat.
static bool is_reserved(std::string_view stem) {
    return stem == "schema" || stem.ends_with("_schema") ||
           embedded_text(fs::path(kEmbeddedRoot) / "hardware_db" / fmt::format("{}.json", stem)).has_value();
}

constexpr std::string_view kFileEnding = ".json";

static bool is_entry_file(std::string_view name) {
    return name.ends_with(kFileEnding) && name.size() > kFileEnding.size();
}

/// A folder of a layer, or the layer itself (an empty name).
struct ListedFolder {
    ListedFolder(std::string folder_name, std::string folder_path)
        : name(std::move(folder_name)), path(std::move(folder_path)), family(parse_family(name)) {}
    std::string name, path;
    std::optional<Family> family;
};

static void add_file(std::string_view file, const ListedFolder& folder, std::size_t layer,
                     DatabaseIndex& index) {
    std::string path;
    path.reserve(folder.path.size() + 1 + file.size());
    path.append(folder.path).append(1, '/').append(file);
    std::string stem(file.substr(0, file.size() - kFileEnding.size()));
    if (folder.name == "runtimes")
        add(index.runtimes, {std::move(stem), std::move(path), std::nullopt, layer, nullptr});
    else if (folder.name.empty() && stem == "deployments")
        index.deployment_files.push_back(std::move(path));
    else if (folder.family || (layer > 0 && !is_reserved(stem)))
        add(index.devices, {std::move(stem), std::move(path), folder.family, layer, nullptr});
}

/// Names are put behind it with a slash.
static std::string without_slash(const fs::path& folder) {
    std::string path = folder.string();
    while (path.ends_with('/'))
        path.pop_back();
    return path;
}

static void list_embedded(const fs::path& layer_path, std::size_t layer, DatabaseIndex& index) {
    const std::vector<std::string_view> embedded = embedded_names_below(layer_path);
    if (embedded.empty())
        unreadable(layer_path);
    const std::string root = without_slash(layer_path);
    std::optional<ListedFolder> folder;
    for (const std::string_view file : embedded) {
        const std::size_t slash = file.rfind('/');
        const std::string_view name = slash == std::string_view::npos ? "" : file.substr(0, slash);
        if (!folder || folder->name != name)
            folder.emplace(std::string(name), name.empty() ? root : root + '/' + std::string(name));
        if (is_entry_file(file))
            add_file(file.substr(slash + 1), *folder, layer, index); // npos + 1 is 0
    }
}

/// A file that somebody named is a device, of a family or like another, or it is refused: nobody would look
/// into it before a device of its name is asked for.
static DeviceHead read_named_file(const std::string& file) {
    Finding finding{.kind = FindingKind::malformed_file,
                    .message = "is no device file: it states neither family nor extends",
                    .file = file,
                    .hint = "name a device file; stacks are read from the folder runtimes of a folder"};
    try {
        const JsonDocument document = read_json(read_text_file(file));
        const JsonValue& root = document.root;
        if (root.is_object() && (root.find("family") != nullptr || root.find("extends") != nullptr))
            return read_device_head(file);
    } catch (const JsonFault& fault) {
        finding.message = fault.what();
        finding.hint = fault.hint;
    }
    throw InputError(finding);
}

static void list_layer(const fs::path& layer_path, std::size_t layer, DatabaseIndex& index) {
    if (is_text_file(layer_path)) {
        const DeviceHead head = read_named_file(layer_path.string());
        const std::string id = head.id.empty() ? layer_path.stem().string() : head.id;
        add(index.devices, {id, layer_path.string(), parse_family(head.family), layer, nullptr});
        return;
    }
    if (is_embedded(layer_path))
        return list_embedded(layer_path, layer, index);
    const ListedFolder root("", without_slash(layer_path));
    const auto top = entries_of_folder(root.path + '/');
    if (!top)
        unreadable(layer_path);
    for (const FolderEntry& entry : *top) {
        if (!entry.is_folder) {
            if (is_entry_file(entry.name))
                add_file(entry.name, root, layer, index);
            continue;
        }
        const ListedFolder folder(entry.name, root.path + '/' + entry.name);
        for (const FolderEntry& inner : entries_of_folder(folder.path).value_or(std::vector<FolderEntry>()))
            if (!inner.is_folder && is_entry_file(inner.name))
                add_file(inner.name, folder, layer, index);
    }
}

DeviceHead read_device_head(const std::string& file) {
    return read_head(file, true);
}

DeviceHead read_device_names(const std::string& file) {
    return read_head(file, false);
}

/// Whether a folder has tables such as "energy.json", which stand in place of the database's.
static bool has_tables(const fs::path& folder) {
    std::error_code problem;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem))
        if (is_text_file(fs::path(kEmbeddedRoot) / "hardware_db" / entry.path().filename()))
            return true;
    return false;
}

DatabaseIndex list_database(const fs::path& root, const std::vector<fs::path>& overlays) {
    DatabaseIndex index;
    list_layer(root, 0, index);
    for (std::size_t i = 0; i < overlays.size(); ++i) {
        const std::size_t before = index.deployment_files.size();
        list_layer(overlays[i], i + 1, index);
        const auto adds = [&](const EntryTable& table) {
            return std::ranges::any_of(table,
                                       [&](const auto& known) { return known.second.back().layer == i + 1; });
        };
        if (!adds(index.devices) && !adds(index.runtimes) && index.deployment_files.size() == before &&
            !has_tables(overlays[i]))
            unreadable(overlays[i], "the folder has no files of devices or stacks");
    }
    return index;
}

} // namespace archsim
