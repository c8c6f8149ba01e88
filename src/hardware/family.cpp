#include "archsim/hardware/family.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"

#include "core/lists.hpp"
#include "core/text.hpp"
#include "hardware/family_table.hpp"

#include <fmt/format.h>

namespace archsim {

/// Rows in the order of families().
static std::vector<const FamilyRow*>& table() {
    static std::vector<const FamilyRow*> rows = [] {
        const auto own = library_families();
        return std::vector<const FamilyRow*>(own.begin(), own.end());
    }();
    return rows;
}

Family::Family(std::string_view name) {
    const auto found = parse_family(name);
    if (!found) {
        const auto nearest = nearest_names(name, family_names());
        throw InputError(fmt::format("no family is called \"{}\"; {}", name,
                                     nearest.empty() ? "use " + either_of(family_names())
                                                     : "is " + either_of(nearest) + " meant?"));
    }
    *this = *found;
}

std::size_t Family::index() const {
    const auto& rows = table();
    return static_cast<std::size_t>(std::ranges::find(rows, row_) - rows.begin());
}

std::optional<Family> parse_family(std::string_view text) {
    for (const FamilyRow* row : table())
        if (same_ignoring_case(row->name, text))
            return Family(*row);
    return std::nullopt;
}

std::vector<Family> families() {
    return mapped(table(), [&](const FamilyRow* row) { return Family(*row); });
}

AddedFamily::AddedFamily(const FamilyRow& row) : row_(row) {
    if (row.name.empty() || row.title.empty() || row.mapper == nullptr)
        throw InputError(fmt::format("the family \"{}\" needs a name, a title and a mapper", row.name));
    if (row.block.empty() != (row.make_facts == nullptr) || (!row.facts.empty() && row.make_facts == nullptr))
        throw InputError(
            fmt::format("the family \"{}\" needs a block and make_facts for its facts", row.name));
    for (const FamilyRow* other : table())
        if (same_ignoring_case(other->name, row.name) || (!row.block.empty() && other->block == row.block))
            throw InputError(fmt::format("the family \"{}\" is in the table already", row.name));
    table().push_back(&row);
}

AddedFamily::~AddedFamily() {
    std::erase(table(), &row_);
}

static const FactRow* find_row(const FamilyRow& family, std::string_view name) {
    const auto row = std::ranges::find(family.facts, name, &FactRow::name);
    return row == family.facts.end() ? nullptr : &*row;
}

template <class Type>
Type& family_fact(Device& device, std::string_view name) {
    const FamilyRow& family = device.family.row();
    const FactRow* row = find_row(family, name);
    const auto* member = row ? std::get_if<Type FamilyFacts::*>(&row->member) : nullptr;
    if (member == nullptr)
        throw InputError(fmt::format("a {} has no fact \"{}\" of this type", family.title, name));
    if (device.facts.get() == nullptr)
        device.facts = FamilyBlock(family.make_facts());
    return device.facts.get()->**member;
}

template Fact& family_fact<Fact>(Device&, std::string_view);
template std::array<Fact, 2>& family_fact<std::array<Fact, 2>>(Device&, std::string_view);
template bool& family_fact<bool>(Device&, std::string_view);
template std::string& family_fact<std::string>(Device&, std::string_view);
template std::vector<std::string>& family_fact<std::vector<std::string>>(Device&, std::string_view);
template std::vector<TileKind>& family_fact<std::vector<TileKind>>(Device&, std::string_view);

const Fact& family_number(const Device& device, std::string_view name) {
    static const Fact kUnknown;
    const FactRow* row = find_row(device.family.row(), name);
    const auto* member = row ? std::get_if<Fact FamilyFacts::*>(&row->member) : nullptr;
    return member != nullptr && device.facts.get() != nullptr ? device.facts.get()->**member : kUnknown;
}

} // namespace archsim
