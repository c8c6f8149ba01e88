#include "hardware/device_reader.hpp"

namespace archsim {

struct NamedSource {
    std::string_view name;
    SourceKind kind = SourceKind::assumed;
    std::string_view cite;
};

/// The way from the document to a value, as a list from the value upwards.
struct Step {
    const Step* above = nullptr;
    std::string_view key;
    std::size_t index = 0; ///< in an array, where `key` is empty
};

/// As a JSON pointer: "/engines/0/clock".
static std::string pointer_to(const Step* step) {
    std::string where;
    if (step == nullptr)
        return where;
    where = pointer_to(step->above) + '/';
    where += step->key.empty() ? std::to_string(step->index) : std::string(step->key);
    return where;
}

static bool inside(const Step* step, std::string_view key) {
    for (step = step == nullptr ? nullptr : step->above; step != nullptr; step = step->above)
        if (step->key == key)
            return true;
    return false;
}

static std::string_view text_at(const JsonValue& object, std::string_view key, std::string_view otherwise) {
    const JsonValue* const found = object.find(key);
    return found != nullptr && found->is_text() ? found->text() : otherwise;
}

/// The remark, and of a price its market, its date and what is hired for it.
static std::string note_of(const JsonValue& quantity) {
    std::string note(text_at(quantity, "note", {}));
    for (const std::string_view key : {"market", "date", "instance"})
        if (const std::string_view part = text_at(quantity, key, {}); !part.empty())
            note.append(note.empty() ? "" : "; ").append(part);
    return note;
}

/// Calls `take(step, number, source, quantity)` of every fact; a plain number has no quantity.
template <class Take>
class Walk {
  public:
    Walk(const JsonValue& document, Take take) : take_(std::move(take)) {
        if (const JsonValue* const sources = document.find("sources"))
            for (const auto& [key, source] : sources->members())
                if (source.is_object())
                    sources_.push_back(
                        {key,
                         value_named<SourceKind>(text_at(source, "kind", {})).value_or(SourceKind::assumed),
                         text_at(source, "cite", {})});
        visit(document, nullptr, nullptr);
    }

  private:
    const NamedSource* named(const JsonValue& object, const NamedSource* inherited) const {
        const JsonValue* const name = object.find("source");
        if (name == nullptr || !name->is_text())
            return inherited;
        const auto found = std::ranges::find_if(
            sources_, [&](const NamedSource& source) { return source.name == name->text(); });
        return found == sources_.end() ? nullptr : &*found;
    }

    void visit(const JsonValue& value, const Step* step, const NamedSource* inherited) {
        if (value.is_array()) {
            for (std::size_t i = 0; i < value.items().size(); ++i) {
                const Step next{step, {}, i};
                visit(value.items()[i], &next, inherited);
            }
            return;
        }
        if (value.is_number() && inherited != nullptr)
            return take_(step, value.number(), inherited, nullptr);
        if (!value.is_object())
            return;
        const NamedSource* const source = named(value, inherited);
        if (const JsonValue* const amount = value.find("value"); amount != nullptr && amount->is_number()) {
            take_(step, amount->number(), source, &value);
            if (const JsonValue* const table = value.find("by_generation")) {
                const Step next{step, "by_generation", 0};
                visit(*table, &next, inherited);
            }
            return;
        }
        for (const auto& [key, member] : value.members())
            if (key != "sources" && key != "year") {
                const Step next{step, key, 0};
                visit(member, &next, source);
            }
    }

    Take take_;
    std::vector<NamedSource> sources_;
};

std::vector<StatedFact> stated_facts(const JsonValue& document) {
    std::vector<StatedFact> facts;
    Walk(document, [&](const Step* step, double value, const NamedSource* source, const JsonValue* quantity) {
        StatedFact fact{.where = pointer_to(step), .value = value};
        if (quantity != nullptr) {
            fact.unit = text_at(*quantity, "unit", "1");
            fact.note = note_of(*quantity);
            fact.fitted_n = static_cast<int>(quantity->number_at("n").value_or(0));
            fact.fitted_error = quantity->number_at("error").value_or(0);
        } else {
            fact.unit = inside(step, "ops_per_clock") ? "ops/clk" : "1";
        }
        if (source != nullptr) {
            fact.kind = source->kind;
            fact.cite = source->cite;
        }
        facts.push_back(std::move(fact));
    });
    return facts;
}

SourceCounts stated_sources(const JsonValue& document) {
    SourceCounts counts;
    Walk(document, [&](const Step*, double, const NamedSource* source, const JsonValue*) {
        ++counts[source == nullptr ? StatedFact{}.kind : source->kind];
    });
    return counts;
}

SourceCounts count_sources(const std::vector<StatedFact>& facts) {
    SourceCounts counts;
    for (const StatedFact& fact : facts)
        ++counts[fact.kind];
    return counts;
}

} // namespace archsim
