#pragma once
// Finds device files by id or alias and reads them, following "extends"; the same for software stacks.

#include "archsim/hardware/database.hpp"
#include "core/read_once.hpp"
#include "hardware/database_index.hpp"
#include "hardware/json_reader.hpp"
#include "hardware/loose_names.hpp"
#include "hardware/stated_facts.hpp"

namespace archsim {

class DeviceFiles {
  public:
    explicit DeviceFiles(DatabaseIndex index, TunedFacts tuned = TunedFacts::as_stated)
        : index_(std::move(index)), tuned_(tuned) {}

    const DatabaseIndex& index() const { return index_; }
    /// Entry of an id, in any case; null when unknown. Reads no file.
    const DatabaseEntry* find_id(std::string_view id) const;
    /// Entry of an id, alias or product name, in any case; null when unknown. Reads the head of every device
    /// file for a name that is no id.
    const DatabaseEntry* find(std::string_view name) const;
    /// Product names and aliases of all devices, as their files write them.
    std::vector<std::string> other_names() const;
    /// Entries that `text` may mean by its words (LooseNames); reads the head of every device file.
    struct Loosely {
        std::vector<const DatabaseEntry*> entries;
        std::optional<StatedMemory> memory;
    };
    Loosely find_loosely(std::string_view text) const;
    /// Null, with findings of severity error, when the device cannot be used. `sources` becomes what its
    /// numbers rest on.
    std::shared_ptr<const Device> load(const DatabaseEntry& entry, std::vector<Finding>& findings,
                                       SourceCounts& sources) const;
    /// The document with every "extends" merged.
    std::optional<JsonDocument> document(const DatabaseEntry& entry, std::vector<Finding>& findings) const;

    /// The document of a software stack, with "extends" merged. A base states all of its fields or extends
    /// another one in turn.
    std::optional<JsonDocument> runtime_document(const DatabaseEntry& entry,
                                                 std::vector<Finding>& findings) const;

  private:
    /// Finds the entry that `name` means for a file that extends it.
    using FindBase = std::optional<DatabaseEntry> (DeviceFiles::*)(const std::string& name,
                                                                   const DatabaseEntry& derived) const;
    struct Kind {
        std::string_view title; ///< for messages
        const EntryTable& entries;
        FindBase base_of;
    };
    std::optional<JsonDocument> document(const Kind& kind, const DatabaseEntry& entry,
                                         std::vector<std::string>& chain,
                                         std::vector<Finding>& findings) const;
    std::optional<DatabaseEntry> base_of(const std::string& name, const DatabaseEntry& derived) const;
    std::optional<DatabaseEntry> runtime_base_of(const std::string& name, const DatabaseEntry& derived) const;
    void read_aliases() const;
    void build_loose_names() const;

    DatabaseIndex index_;
    TunedFacts tuned_;
    mutable ReadOnce aliases_read_;
    mutable std::map<std::string, const DatabaseEntry*, std::less<>> aliases_;
    mutable std::vector<std::pair<const DatabaseEntry*, DeviceHead>> heads_;
    mutable ReadOnce loose_built_; ///< of the heads, for a name that nobody has as it stands
    mutable LooseNames loose_;
};

/// A level of that name and scope, as files write them: "L2" of a "core", "SLC" of the "SoC".
MemoryLevel memory_level(std::string name, std::string scope);

} // namespace archsim
