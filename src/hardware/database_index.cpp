#include "hardware/database_index.hpp"

#include "archsim/core/finding.hpp"

#include "core/embedded_files.hpp"
#include "core/folder.hpp"
#include "core/input_file.hpp"
#include "core/text_file.hpp"
#include "hardware/plain_json.hpp"
#include "hardware/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace archsim {

namespace fs = std::filesystem;

namespace {

/// Collects texts of the top level and stops as soon as everything wanted was seen.
class HeadReader : public nlohmann::json_sax<nlohmann::json> {
  public:
    HeadReader(DeviceHead& head, bool family) : head_(head), family_(family) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool string(string_t& value) override {
        if (depth_ == 1 && key_ == "id")
            head_.id = value;
        else if (depth_ == 1 && key_ == "name")
            head_.name = value;
        else if (depth_ == 1 && key_ == "family")
            head_.family = value;
        else if (depth_ == 2 && key_ == "aliases")
            head_.aliases.push_back(value);
        return !complete();
    }
    bool start_object(std::size_t) override {
        ++depth_;
        return true;
    }
    bool end_object() override {
        --depth_;
        return true;
    }
    bool start_array(std::size_t) override {
        ++depth_;
        return true;
    }
    bool end_array() override {
        --depth_;
        aliases_read_ = aliases_read_ || (depth_ == 1 && key_ == "aliases");
        return !complete();
    }
    bool key(string_t& value) override {
        if (depth_ == 1)
            key_ = value;
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;
    }

  private:
    bool complete() const {
        return aliases_read_ && !head_.id.empty() && !head_.name.empty() &&
               (!family_ || !head_.family.empty());
    }

    DeviceHead& head_;
    bool family_; ///< is wanted too
    std::string key_;
    int depth_ = 0;
    bool aliases_read_ = false;
};

/// What HeadReader reads, of plain JSON in a tenth of the instructions; false for any other text.
bool read_plain_head(std::string_view text, bool family, DeviceHead& head) {
    PlainJson json(text);
    bool aliases = false, complete = false;
    json.skip_blanks();
    const bool plain = json.members([&](std::string_view key) {
        std::string_view value;
        if (key == "aliases" && json.peek() == '[') {
            if (!json.items([&] { return json.string(value) && (head.aliases.emplace_back(value), true); }))
                return false;
            aliases = true;
        } else if (key == "id" || key == "name" || key == "family") {
            if (!json.string(value))
                return false;
            (key == "id" ? head.id : key == "name" ? head.name : head.family) = value;
        } else if (!json.pass()) {
            return false;
        }
        complete = aliases && !head.id.empty() && !head.name.empty() && (!family || !head.family.empty());
        return !complete;
    });
    return plain || complete;
}

/// As many bytes as hold the names of every device of the database.
constexpr std::size_t kHeadBytes = 2048;

DeviceHead read_head(const std::string& file, bool family) {
    DeviceHead head;
    const auto built_in = embedded_text(file);
    std::string own;
    if (!built_in) {
        own.resize(kHeadBytes);
        own.resize(InputFile(file).read_at(0, own.data(), own.size()));
    }
    if (read_plain_head(built_in ? *built_in : std::string_view(own), family, head))
        return head;
    if (own.size() == kHeadBytes) // there is more
        own = read_text_file(file);
    const std::string_view text = built_in ? *built_in : std::string_view(own);
    head = {};
    if (text.empty() || read_plain_head(text, family, head))
        return head;
    head = {};
    HeadReader reader(head, family);
    nlohmann::json::sax_parse(text, &reader);
    return head;
}

[[noreturn]] void unreadable(const fs::path& path) {
    Finding finding;
    finding.kind = FindingKind::unreadable_file;
    finding.file = path.string();
    finding.message = "the hardware database cannot be read";
    finding.hint = "name a folder with device files, or one device file";
    throw InputError(finding);
}

void add(EntryTable& table, DatabaseEntry entry) {
    auto& entries = table[name_key(entry.id)];
    entries.push_back(std::move(entry));
    if (entries.size() > 1) // of one layer in the order of their paths, whatever order folders list them in
        std::stable_sort(entries.begin(), entries.end(), [](const DatabaseEntry& a, const DatabaseEntry& b) {
            return std::tie(a.layer, a.file) < std::tie(b.layer, b.file);
        });
}

/// Files beside the devices. In the database itself devices lie in the folder of their family; in an overlay
/// they may lie flat.
bool is_reserved(std::string_view stem) {
    return stem == "schema" || stem.ends_with("_schema") ||
           embedded_text(fs::path(kEmbeddedRoot) / "hardware_db" / fmt::format("{}.json", stem)).has_value();
}

constexpr std::string_view kFileEnding = ".json";

bool is_entry_file(std::string_view name) {
    return name.ends_with(kFileEnding) && name.size() > kFileEnding.size();
}

/// A folder of a layer, or the layer itself (an empty name).
struct ListedFolder {
    ListedFolder(std::string folder_name, std::string folder_path)
        : name(std::move(folder_name)), path(std::move(folder_path)), family(parse_family(name)) {}
    std::string name, path;
    std::optional<Family> family;
};

void add_file(std::string_view file, const ListedFolder& folder, std::size_t layer, DatabaseIndex& index) {
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
std::string without_slash(const fs::path& folder) {
    std::string path = folder.string();
    while (path.ends_with('/'))
        path.pop_back();
    return path;
}

void list_embedded(const fs::path& layer_path, std::size_t layer, DatabaseIndex& index) {
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

void list_layer(const fs::path& layer_path, std::size_t layer, DatabaseIndex& index) {
    if (is_text_file(layer_path)) {
        const DeviceHead head = read_device_head(layer_path.string());
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

} // namespace

DeviceHead read_device_head(const std::string& file) {
    return read_head(file, true);
}

DeviceHead read_device_names(const std::string& file) {
    return read_head(file, false);
}

DatabaseIndex list_database(const fs::path& root, const std::vector<fs::path>& overlays) {
    DatabaseIndex index;
    list_layer(root, 0, index);
    for (std::size_t i = 0; i < overlays.size(); ++i)
        list_layer(overlays[i], i + 1, index);
    return index;
}

} // namespace archsim
