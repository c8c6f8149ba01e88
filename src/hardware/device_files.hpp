#pragma once
// Finds device files by id or alias and reads them, following "extends".

#include "hardware/database_index.hpp"
#include "hardware/json_reader.hpp"

#include <mutex>

namespace archsim {

class DeviceFiles {
  public:
    explicit DeviceFiles(DatabaseIndex index) : index_(std::move(index)) {}

    const DatabaseIndex& index() const { return index_; }
    /// Entry of an id, alias or product name, in any case; null when unknown.
    const DatabaseEntry* find(std::string_view name) const;
    /// Null, with findings of severity error, when the device cannot be used.
    std::shared_ptr<const Device> load(const DatabaseEntry& entry, std::vector<Finding>& findings) const;
    /// The document with every "extends" merged.
    std::optional<nlohmann::json> document(const DatabaseEntry& entry, std::vector<Finding>& findings) const;

  private:
    std::optional<nlohmann::json> document(const DatabaseEntry& entry, std::vector<std::string>& chain,
                                           std::vector<Finding>& findings) const;
    std::optional<DatabaseEntry> base_of(const std::string& name, const DatabaseEntry& derived) const;
    void read_aliases() const;

    DatabaseIndex index_;
    mutable std::once_flag aliases_read_;
    mutable std::map<std::string, const DatabaseEntry*, std::less<>> aliases_;
};

} // namespace archsim
