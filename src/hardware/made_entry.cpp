#include "hardware/made_entry.hpp"

#include "hardware/text.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace archsim {

namespace {

// What these entries describe belongs to the process, and so does the table.
struct Table {
    std::mutex mutex;
    std::map<std::string, MadeEntry, std::less<>> entries; ///< by name_key
};

Table& table() {
    static Table only;
    return only;
}

} // namespace

void set_made_entry(const std::string& id, MakeEntry make) {
    const std::lock_guard lock(table().mutex);
    table().entries[name_key(id)] = {id, std::move(make)};
}

std::optional<MadeEntry> find_made_entry(std::string_view name) {
    const std::lock_guard lock(table().mutex);
    const auto found = table().entries.find(name_key(name));
    return found == table().entries.end() ? std::nullopt : std::optional(found->second);
}

} // namespace archsim
