#include "hardware/device_files.hpp"

#include "core/text.hpp"
#include "hardware/device_reader.hpp"

#include <fmt/format.h>

namespace archsim {

static Finding extends_finding(FindingKind kind, const DatabaseEntry& entry, std::string message,
                               std::string hint) {
    return {.kind = kind,
            .message = std::move(message),
            .file = entry.file,
            .where = "/extends",
            .hint = std::move(hint)};
}

/// Puts the value that public facts alone give in the place of each one that was tuned.
static void revert_tuned(JsonValue& value) {
    const JsonValue* const before = value.find("before");
    for (auto& [key, member] : value.members()) {
        if (before != nullptr && key == "value")
            member = *before;
        revert_tuned(member);
    }
    for (JsonValue& item : value.items())
        revert_tuned(item);
}

void DeviceFiles::read_aliases() const {
    heads_.clear(); // where an earlier caller ran out of memory
    heads_.reserve(index_.devices.size());
    for (const auto& [key, entries] : index_.devices) {
        const DatabaseEntry& entry = entries.back();
        heads_.emplace_back(&entry, read_device_names(entry.file));
        const DeviceHead& head = heads_.back().second;
        for (const std::string& alias : head.aliases)
            aliases_.emplace(name_key(alias), &entry);
        if (!head.name.empty())
            aliases_.emplace(name_key(head.name), &entry);
    }
}

void DeviceFiles::build_loose_names() const {
    loose_ = {};
    for (std::size_t i = 0; i < heads_.size(); ++i) {
        loose_.add(heads_[i].first->id, i);
        loose_.add(heads_[i].second.name, i);
        for (const std::string& alias : heads_[i].second.aliases)
            loose_.add(alias, i);
    }
}

const DatabaseEntry* DeviceFiles::find_id(std::string_view id) const {
    const auto found = index_.devices.find(name_key(id));
    return found == index_.devices.end() ? nullptr : &found->second.back();
}

const DatabaseEntry* DeviceFiles::find(std::string_view name) const {
    if (const DatabaseEntry* found = find_id(name))
        return found;
    aliases_read_.run([this] { read_aliases(); });
    const auto found = aliases_.find(name_key(name));
    return found == aliases_.end() ? nullptr : found->second;
}

std::vector<std::string> DeviceFiles::other_names() const {
    aliases_read_.run([this] { read_aliases(); });
    std::vector<std::string> names;
    for (const auto& [entry, head] : heads_) {
        names.insert(names.end(), head.aliases.begin(), head.aliases.end());
        if (!head.name.empty())
            names.push_back(head.name);
    }
    return names;
}

DeviceFiles::Loosely DeviceFiles::find_loosely(std::string_view text) const {
    aliases_read_.run([this] { read_aliases(); });
    loose_built_.run([this] { build_loose_names(); });
    const LooseMatch match = loose_.find(text);
    Loosely found;
    for (const std::size_t device : match.devices)
        found.entries.push_back(heads_[device].first);
    found.memory = match.memory;
    return found;
}

std::optional<DatabaseEntry> DeviceFiles::base_of(const std::string& name,
                                                  const DatabaseEntry& derived) const {
    if (name.ends_with(".json")) {
        const auto file = std::filesystem::path(derived.file).parent_path() / name;
        return DatabaseEntry{file.stem().string(), file.string(), std::nullopt, derived.layer};
    }
    // An overlay may refine the device of the same id below it.
    if (name_key(name) == name_key(derived.id)) {
        const auto same = index_.devices.find(name_key(name));
        if (same == index_.devices.end())
            return std::nullopt;
        const auto& entries = same->second;
        const auto below =
            std::find_if(entries.rbegin(), entries.rend(),
                         [&](const DatabaseEntry& candidate) { return candidate.layer < derived.layer; });
        return below == entries.rend() ? derived : *below;
    }
    const DatabaseEntry* found = find(name);
    return found == nullptr ? std::nullopt : std::optional(*found);
}

std::optional<DatabaseEntry> DeviceFiles::runtime_base_of(const std::string& name,
                                                          const DatabaseEntry& derived) const {
    const auto found = index_.runtimes.find(name_key(name));
    if (found == index_.runtimes.end())
        return std::nullopt;
    // An overlay may refine the entry of the same id in a layer below; anything else means the last one.
    for (auto entry = found->second.rbegin(); entry != found->second.rend(); ++entry)
        if (name_key(derived.id) != found->first || entry->layer < derived.layer)
            return *entry;
    return derived;
}

std::optional<JsonDocument> DeviceFiles::document(const Kind& kind, const DatabaseEntry& entry,
                                                  std::vector<std::string>& chain,
                                                  std::vector<Finding>& findings) const {
    std::optional<JsonDocument> own = entry.text ? parse_document_text(*entry.text, entry.file, findings)
                                                 : parse_document(entry.file, findings);
    if (!own)
        return std::nullopt;
    const JsonValue* const extends = own->root.find("extends");
    if (extends == nullptr)
        return own;
    if (!extends->is_text()) {
        findings.push_back(extends_finding(
            FindingKind::malformed_file, entry, fmt::format("this must be the id of a {}", kind.title),
            fmt::format(R"(write "extends": "{}")", kind.entries.begin()->second.back().id)));
        return std::nullopt;
    }
    const std::string name(extends->text());
    const std::optional<DatabaseEntry> base = (this->*kind.base_of)(name, entry);
    if (!base) {
        std::vector<std::string> known;
        for (const auto& [key, entries] : kind.entries)
            known.push_back(entries.back().id);
        const auto nearest = nearest_names(name, known);
        findings.push_back(extends_finding(
            FindingKind::unknown_name, entry, fmt::format("no {} is called \"{}\"", kind.title, name),
            nearest.empty() ? fmt::format("name a {} of the database", kind.title)
                            : fmt::format("is {} meant?", either_of(nearest))));
        return std::nullopt;
    }
    chain.push_back(entry.file);
    if (std::ranges::find(chain, base->file) != chain.end()) {
        std::string circle;
        for (const std::string& file : chain)
            circle += std::filesystem::path(file).stem().string() + " -> ";
        circle += base->id;
        findings.push_back(extends_finding(FindingKind::inconsistent, entry,
                                           fmt::format("\"extends\" goes in a circle: {}", circle),
                                           "let one of them state all of its fields"));
        return std::nullopt;
    }
    std::optional<JsonDocument> below = document(kind, *base, chain, findings);
    if (!below)
        return std::nullopt;
    return extend_device(std::move(*below), std::move(*own), base->id);
}

std::optional<JsonDocument> DeviceFiles::document(const DatabaseEntry& entry,
                                                  std::vector<Finding>& findings) const {
    std::vector<std::string> chain;
    auto merged = document({"device", index_.devices, &DeviceFiles::base_of}, entry, chain, findings);
    if (merged && tuned_ != TunedFacts::as_stated)
        revert_tuned(merged->root);
    return merged;
}

std::optional<JsonDocument> DeviceFiles::runtime_document(const DatabaseEntry& entry,
                                                          std::vector<Finding>& findings) const {
    std::vector<std::string> chain;
    auto merged =
        document({"software stack", index_.runtimes, &DeviceFiles::runtime_base_of}, entry, chain, findings);
    if (merged && tuned_ == TunedFacts::reverted)
        revert_tuned(merged->root);
    return merged;
}

std::shared_ptr<const Device> DeviceFiles::load(const DatabaseEntry& entry, std::vector<Finding>& findings,
                                                SourceCounts& sources) const {
    const std::optional<JsonDocument> merged = document(entry, findings);
    if (!merged)
        return nullptr;
    sources = stated_sources(merged->root);
    return read_device(merged->root, entry.file, findings);
}

} // namespace archsim
