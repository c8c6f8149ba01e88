#include "hardware/database_index.hpp"

#include "archsim/core/finding.hpp"

#include "core/embedded_files.hpp"
#include "hardware/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace archsim {

namespace fs = std::filesystem;

namespace {

/// Collects texts of the top level and stops as soon as everything wanted was seen.
class HeadReader : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit HeadReader(DeviceHead& head) : head_(head) {}

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
        return aliases_read_ && !head_.id.empty() && !head_.name.empty() && !head_.family.empty();
    }

    DeviceHead& head_;
    std::string key_;
    int depth_ = 0;
    bool aliases_read_ = false;
};

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
    std::stable_sort(entries.begin(), entries.end(),
                     [](const DatabaseEntry& a, const DatabaseEntry& b) { return a.layer < b.layer; });
}

/// Files beside the devices. In the database itself devices lie in the folder of their family; in an overlay
/// they may lie flat.
bool is_reserved(const std::string& stem) {
    return stem == "schema" || stem.ends_with("_schema") || stem == "energy" || stem == "uncertainty" ||
           stem == "percentiles";
}

void add_file(const fs::path& file, const std::string& folder, std::size_t layer, DatabaseIndex& index) {
    const std::string stem = file.stem().string();
    if (folder == "runtimes") {
        add(index.runtimes, {stem, file.string(), std::nullopt, layer});
        return;
    }
    const std::optional<Family> family = parse_family(folder);
    if (folder.empty() && stem == "deployments")
        index.deployment_files.push_back(file.string());
    else if (family || (layer > 0 && !is_reserved(stem)))
        add(index.devices, {stem, file.string(), family, layer});
}

void list_layer(const fs::path& layer_path, std::size_t layer, DatabaseIndex& index) {
    std::error_code error;
    if (is_text_file(layer_path)) {
        const DeviceHead head = read_device_head(layer_path.string());
        const std::string id = head.id.empty() ? layer_path.stem().string() : head.id;
        add(index.devices, {id, layer_path.string(), parse_family(head.family), layer});
        return;
    }
    if (is_embedded(layer_path)) {
        const std::vector<fs::path> embedded = embedded_files_below(layer_path);
        if (embedded.empty())
            unreadable(layer_path);
        for (const fs::path& file : embedded)
            add_file(file, file.parent_path() == layer_path ? "" : file.parent_path().filename().string(),
                     layer, index);
        return;
    }
    std::vector<std::pair<fs::path, std::string>> files;
    const fs::directory_iterator end;
    fs::directory_iterator top(layer_path, error);
    if (error)
        unreadable(layer_path);
    for (; top != end; top.increment(error)) {
        if (error)
            unreadable(layer_path);
        if (top->is_directory(error)) {
            for (const auto& inner : fs::directory_iterator(top->path(), error))
                if (inner.path().extension() == ".json")
                    files.emplace_back(inner.path(), top->path().filename().string());
        } else if (top->path().extension() == ".json") {
            files.emplace_back(top->path(), std::string());
        }
    }
    std::sort(files.begin(), files.end());
    for (const auto& [file, folder] : files)
        add_file(file, folder, layer, index);
}

} // namespace

DeviceHead read_device_head(const std::string& file) {
    DeviceHead head;
    HeadReader reader(head);
    if (const auto text = embedded_text(file)) {
        nlohmann::json::sax_parse(*text, &reader);
    } else if (std::ifstream stream(file, std::ios::binary); stream) {
        nlohmann::json::sax_parse(stream, &reader);
    }
    return head;
}

DatabaseIndex list_database(const fs::path& root, const std::vector<fs::path>& overlays) {
    DatabaseIndex index;
    list_layer(root, 0, index);
    for (std::size_t i = 0; i < overlays.size(); ++i)
        list_layer(overlays[i], i + 1, index);
    return index;
}

} // namespace archsim
