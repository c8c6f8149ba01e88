#include "hardware/device_reader.hpp"

namespace archsim {

constexpr std::array<std::string_view, 7> kIdentity = {"id",      "name",        "aliases", "notes",
                                                       "extends", "measured_as", "$schema"};
// Facts of one product: another with the same chip, and other engines or clocks, has its own.
constexpr std::array<std::string_view, 4> kOfProduct = {"peaks", "price", "sold_for", "slices"};

static bool has_names(const JsonValue& value) {
    const auto items = value.items();
    return !items.empty() && std::ranges::all_of(items, [](const JsonValue& item) {
        const JsonValue* const name = item.find("name");
        return name != nullptr && name->is_text();
    });
}

/// Makes new lists of members and items in the memory of a document, of parts of others.
class Merge {
  public:
    explicit Merge(JsonMemory& memory) : memory_(memory) {}

    /// Renames the sources that a part of the base names.
    void qualify_sources(JsonValue& value, const std::string& prefix) {
        for (JsonValue& item : value.items())
            qualify_sources(item, prefix);
        for (auto& [key, member] : value.members())
            if (key == "source" && member.is_text())
                member = JsonValue(qualified(prefix, member.text()));
            else
                qualify_sources(member, prefix);
    }

    /// The part of the base that its heir has: all but its identity, its own sources renamed.
    JsonValue heritage(const JsonValue& base, const std::string& prefix, bool same_product) {
        std::vector<JsonMember> kept;
        for (const JsonMember& member : base.members()) {
            const bool own = std::ranges::find(kIdentity, member.key) != kIdentity.end();
            const bool of_product = std::ranges::find(kOfProduct, member.key) != kOfProduct.end();
            if (own || member.key == "sources" || (of_product && !same_product))
                continue;
            kept.push_back(member);
            qualify_sources(kept.back().value, prefix);
        }
        std::vector<JsonMember> sources;
        if (const JsonValue* const named = base.find("sources"))
            for (const auto& [key, source] : named->members())
                sources.push_back({qualified(prefix, key), source});
        const JsonMember all{"sources", object(sources)};
        kept.insert(std::ranges::upper_bound(kept, all, before), all);
        return object(kept);
    }

    /// An object with the members of `patch` on top.
    JsonValue merged(const JsonValue& target, const JsonValue& patch) {
        std::vector<JsonMember> members;
        auto old = target.members();
        for (const auto& [key, value] : patch.members()) {
            while (!old.empty() && old.front().key < key) {
                members.push_back(old.front());
                old = old.subspan(1);
            }
            const JsonValue* existing = nullptr;
            if (!old.empty() && old.front().key == key) {
                existing = &old.front().value;
                old = old.subspan(1);
            }
            if (value.is_null())
                continue;
            const bool both = existing != nullptr;
            if (both && value.is_object() && existing->is_object() && !value.contains("value"))
                members.push_back({key, merged(*existing, value)});
            else if (both && has_names(value) && has_names(*existing))
                members.push_back({key, merged_by_name(*existing, value)});
            else
                members.push_back({key, value});
        }
        members.insert(members.end(), old.begin(), old.end());
        return object(members);
    }

  private:
    static bool before(const JsonMember& a, const JsonMember& b) { return a.key < b.key; }

    JsonValue object(const std::vector<JsonMember>& members) {
        return JsonValue(memory_.copy(std::span<const JsonMember>(members)));
    }
    std::string_view qualified(const std::string& prefix, std::string_view source) {
        return memory_.copy(std::string_view(prefix + std::string(source)));
    }
    JsonValue merged_by_name(const JsonValue& target, const JsonValue& patch) {
        std::vector<JsonValue> items(target.items().begin(), target.items().end());
        for (const JsonValue& item : patch.items()) {
            const auto same = std::ranges::find_if(items, [&](const JsonValue& candidate) {
                return candidate.text_at("name") == item.text_at("name");
            });
            if (same == items.end())
                items.push_back(item);
            else
                *same = merged(*same, item);
        }
        return JsonValue(memory_.copy(std::span<const JsonValue>(items)));
    }

    JsonMemory& memory_;
};

JsonDocument extend_device(JsonDocument base, JsonDocument derived, const std::string& base_id) {
    Merge merge(base.memory);
    const bool same_product = !derived.root.contains("engines") && !derived.root.contains("clocks");
    base.root = merge.merged(merge.heritage(base.root, base_id + ":", same_product), derived.root);
    base.memory.adopt(std::move(derived.memory));
    return base;
}

} // namespace archsim
