#include "hardware/family_facts.hpp"

#include "core/text.hpp"
#include "hardware/device_reader.hpp"

#include <fmt/format.h>

namespace archsim {

static PhysicalDimension dimension_of(const FactRow& row) {
    const Unit* unit = find_unit(row.unit);
    return unit != nullptr ? unit->dimension : PhysicalDimension::one;
}

/// Reads the facts of a block, one row after the other.
class Reading {
  public:
    Reading(ObjectReader& block, FamilyFacts& facts) : block_(block), facts_(facts) {}

    void row(const FactRow& row) {
        std::visit([&](auto member) { read(row, facts_.*member); }, row.member);
    }

  private:
    void read(const FactRow& row, Fact& number) {
        number = block_.quantity(row.name, dimension_of(row), {row.low, row.high});
    }

    /// [rows, columns], with the source of the block.
    void read(const FactRow& row, std::array<Fact, 2>& sides) {
        const JsonValue* given = block_.member(row.name);
        if (given == nullptr)
            return;
        const auto items = given->items();
        const bool pair = items.size() == sides.size() && items[0].is_number() && items[1].is_number();
        if (!pair) {
            block_.refuse(row.name, FindingKind::malformed_file, "this must be an array of two numbers",
                          "write [rows, columns]");
            return;
        }
        for (std::size_t i = 0; i < sides.size(); ++i) {
            sides[i].value = items[i].number();
            sides[i].source = block_.source_or_none();
        }
    }

    void read(const FactRow& row, bool& flag) { flag = block_.flag(row.name, false); }

    void read(const FactRow& row, std::string& word) {
        word = block_.text(row.name);
        if (!word.empty() && !row.words.empty() && std::ranges::find(row.words, word) == row.words.end())
            block_.refuse(row.name, FindingKind::malformed_file,
                          fmt::format("\"{}\" is none of its words", word), "use " + either_of(row.words));
    }

    void read(const FactRow& row, std::vector<std::string>& words) { words = block_.texts(row.name); }

    void read(const FactRow& row, std::vector<TileKind>& tiles) {
        block_.each(row.name, [&](ObjectReader& entry) {
            constexpr Bounds kSide{1, 65536};
            TileKind tile{.kind = entry.text("kind", Need::required),
                          .count = entry.number("count", {1, 1e6}, Need::required),
                          .rows = entry.quantity("rows", PhysicalDimension::one, kSide),
                          .cols = entry.quantity("cols", PhysicalDimension::one, kSide)};
            read_rates(entry, "ops_per_clock", tile.ops_per_clock);
            tiles.push_back(std::move(tile));
        });
    }

    ObjectReader& block_;
    FamilyFacts& facts_;
};

struct IsStated {
    bool operator()(const Fact& number) const { return number.known(); }
    bool operator()(const std::array<Fact, 2>& sides) const { return sides[0].known(); }
    bool operator()(bool flag) const { return flag; }
    template <class List>
    bool operator()(const List& words) const {
        return !words.empty();
    }
};

static bool is_stated(const FamilyRow& family, const FamilyFacts* facts, std::string_view name) {
    for (const FactRow& row : family.facts)
        if (row.name == name)
            return facts != nullptr &&
                   std::visit([&](auto member) { return IsStated{}(facts->*member); }, row.member);
    return false;
}

static void scale_as(Structure part, Fact& number, double factor) {
    if (part == Structure::units)
        number.value = number.known() ? whole(number.value, factor) : number.value;
    else
        scale(number, factor);
}

static void scale_tile(TileKind& tile, Structure part, double factor) {
    if (part == Structure::units)
        tile.count = whole(tile.count, factor);
    if (part != Structure::array)
        return;
    scale(tile.rows, factor);
    scale(tile.cols, factor);
    for (Fact& rate : tile.ops_per_clock)
        scale(rate, factor * factor);
}

double whole(double count, double factor) {
    return count > 0 ? std::max(1.0, std::round(count * factor)) : count;
}

static FamilyBlock read_block(ObjectReader& document, const FamilyRow& family) {
    if (family.make_facts == nullptr)
        return {};
    FamilyBlock facts(family.make_facts());
    document.object(family.block, [&](ObjectReader& block) {
        Reading reading(block, *facts.get());
        for (const FactRow& row : family.facts)
            reading.row(row);
    });
    return facts;
}

void read_family(ObjectReader& document, Device& device) {
    const FamilyRow& family = device.family.row();
    if (device.family == Family{}) // a part of a device: only what is wrong with its blocks is of use
        for (const Family known : families())
            read_block(document, known.row());
    device.facts = read_block(document, family);
}

std::vector<std::string_view> missing_facts(const Device& device) {
    const FamilyRow& family = device.family.row();
    const FamilyFacts* facts = device.facts.get();
    std::vector<std::string_view> missing;
    for (const FactRow& row : family.facts)
        if (row.required && !is_stated(family, facts, row.name) && !is_stated(family, facts, row.unless))
            missing.push_back(row.name);
    return missing;
}

bool scale_facts(Device& device, Structure part, double factor) {
    FamilyFacts* facts = device.facts.get();
    bool stated = false;
    if (facts == nullptr)
        return stated;
    for (const FactRow& row : device.family.row().facts)
        std::visit(
            [&](auto member) {
                auto& value = facts->*member;
                using Value = std::decay_t<decltype(value)>;
                if constexpr (std::is_same_v<Value, std::vector<TileKind>>)
                    for (TileKind& tile : value)
                        scale_tile(tile, part, factor);
                else if constexpr (std::is_same_v<Value, Fact>) {
                    if (row.scales_with == part) {
                        scale_as(part, value, factor);
                        stated = stated || value.known();
                    }
                } else if constexpr (std::is_same_v<Value, std::array<Fact, 2>>) {
                    if (row.scales_with == part)
                        scale_as(part, value[0], factor);
                }
            },
            row.member);
    return stated;
}

double most_units(const Device& device) {
    double most = 0;
    for (const FactRow& row : device.family.row().facts)
        if (const auto* number = std::get_if<Fact FamilyFacts::*>(&row.member);
            number != nullptr && row.scales_with == Structure::units && device.facts.get() != nullptr)
            most = std::max(most, (device.facts.get()->**number).value_or(0));
    return most;
}

bool is_whole_chip(const Engine& engine) {
    return engine.count == 1 && engine.unit == "chip";
}

double unit_count(const Device& device) {
    if (std::ranges::all_of(device.engines, is_whole_chip))
        return most_units(device);
    double units = 0;
    for (const Engine& engine : device.engines)
        units = std::max(units, engine.count);
    return units;
}

double built_units(const Device& device, double factor) {
    const double units = unit_count(device);
    return units > 0 ? whole(units, factor) / units : factor;
}

} // namespace archsim
