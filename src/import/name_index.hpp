#pragma once
// Finds the entry of a list by its name: open addressing over the numbers of the entries, which keep their
// names themselves. A look-up touches one slot and one name, and adding a name allocates nothing.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim::import {

class NameIndex {
  public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

    /// Makes room for this many names.
    void reserve(std::size_t names) {
        if (const std::size_t slots = std::bit_ceil(std::max(names * kSlotsPerName, kFewestSlots));
            slots > slots_.size())
            rehash(slots);
    }

    /// The entry of this name, or kNone. `name_of` gives the name of an entry.
    template <typename NameOf>
    std::uint32_t find(std::string_view name, const NameOf& name_of) const {
        return slots_.empty() ? kNone : slots_[locate(name, hash_of(name), name_of)].entry;
    }

    /// The entry that has this name already, or kNone after giving the name to `entry`.
    template <typename NameOf>
    std::uint32_t add(std::string_view name, std::uint32_t entry, const NameOf& name_of) {
        reserve(used_ + 1);
        const std::uint32_t hash = hash_of(name);
        Slot& slot = slots_[locate(name, hash, name_of)];
        if (slot.entry != kNone)
            return slot.entry;
        slot = {hash, entry};
        ++used_;
        return kNone;
    }

  private:
    struct Slot {
        std::uint32_t hash = 0;
        std::uint32_t entry = kNone;
    };
    static constexpr std::size_t kSlotsPerName = 2;
    static constexpr std::size_t kFewestSlots = 16;

    static std::uint32_t hash_of(std::string_view name) {
        return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
    }

    /// Slot of the name, or the free one where it belongs.
    template <typename NameOf>
    std::size_t locate(std::string_view name, std::uint32_t hash, const NameOf& name_of) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = hash & mask;
        while (slots_[at].entry != kNone &&
               (slots_[at].hash != hash || std::string_view(name_of(slots_[at].entry)) != name))
            at = (at + 1) & mask;
        return at;
    }

    void rehash(std::size_t slots) {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots));
        for (const Slot& slot : old) {
            if (slot.entry == kNone)
                continue;
            std::size_t at = slot.hash & (slots - 1);
            while (slots_[at].entry != kNone)
                at = (at + 1) & (slots - 1);
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_; ///< a power of two of them, at most half in use
    std::size_t used_ = 0;
};

} // namespace archsim::import
