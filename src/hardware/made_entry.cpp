#include "hardware/made_entry.hpp"

#include "core/text.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace archsim {

// The machine of these entries is the process's own, and so is the table.
struct MadeEntries {
    std::mutex mutex;
    std::map<std::string, MadeEntry, std::less<>> entries; ///< by name_key
};

static MadeEntries& made_entries() {
    static MadeEntries only;
    return only;
}

void set_made_entry(const std::string& id, MakeEntry make) {
    const std::lock_guard lock(made_entries().mutex);
    made_entries().entries[name_key(id)] = {id, std::move(make)};
}

std::optional<MadeEntry> find_made_entry(std::string_view name) {
    const std::lock_guard lock(made_entries().mutex);
    const auto found = made_entries().entries.find(name_key(name));
    return found == made_entries().entries.end() ? std::nullopt : std::optional(found->second);
}

} // namespace archsim
