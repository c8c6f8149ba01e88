#include "hardware/stated_facts.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace archsim {

using nlohmann::json;

namespace {

struct NamedSource {
    SourceKind kind = SourceKind::assumed;
    std::string cite;
};

std::string text_at(const json& object, const char* key, std::string otherwise = {}) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::move(otherwise);
}

double number_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

/// The remark, and of a price its date and what is hired for it.
std::string note_of(const json& quantity) {
    std::string note = text_at(quantity, "note");
    for (const char* key : {"date", "instance"})
        if (const std::string part = text_at(quantity, key); !part.empty())
            note += (note.empty() ? "" : "; ") + part;
    return note;
}

class Walk {
  public:
    explicit Walk(const json& document) {
        if (const auto sources = document.find("sources"); sources != document.end() && sources->is_object())
            for (const auto& [key, source] : sources->items())
                if (source.is_object())
                    sources_[key] = {parse_source_kind(text_at(source, "kind")).value_or(SourceKind::assumed),
                                     text_at(source, "cite")};
        visit(document, {}, nullptr);
    }
    std::vector<StatedFact> take() { return std::move(facts_); }

  private:
    const NamedSource* named(const json& object, const NamedSource* inherited) const {
        const auto name = object.find("source");
        if (name == object.end() || !name->is_string())
            return inherited;
        const auto found = sources_.find(name->get_ref<const std::string&>());
        return found == sources_.end() ? nullptr : &found->second;
    }

    void add(const std::string& where, double value, std::string unit, const NamedSource* source,
             const json* quantity) {
        StatedFact fact;
        fact.where = where;
        fact.value = value;
        fact.unit = std::move(unit);
        if (source != nullptr) {
            fact.kind = source->kind;
            fact.cite = source->cite;
        }
        if (quantity != nullptr) {
            fact.note = note_of(*quantity);
            fact.fitted_n = static_cast<int>(number_at(*quantity, "n"));
            fact.fitted_error = number_at(*quantity, "error");
        }
        facts_.push_back(std::move(fact));
    }

    void visit(const json& value, const std::string& where, const NamedSource* inherited) {
        if (value.is_array()) {
            for (std::size_t i = 0; i < value.size(); ++i)
                visit(value[i], where + '/' + std::to_string(i), inherited);
            return;
        }
        if (value.is_number() && inherited != nullptr)
            return add(where, value.get<double>(),
                       where.find("/ops_per_clock/") != std::string::npos ? "ops/clk" : "1", inherited,
                       nullptr);
        if (!value.is_object())
            return;
        const NamedSource* source = named(value, inherited);
        const auto amount = value.find("value");
        if (amount != value.end() && amount->is_number()) {
            add(where, amount->get<double>(), text_at(value, "unit", "1"), source, &value);
            if (const auto table = value.find("by_generation"); table != value.end())
                visit(*table, where + "/by_generation", inherited);
            return;
        }
        for (const auto& [key, member] : value.items())
            if (key != "sources" && key != "year")
                visit(member, where + '/' + key, source);
    }

    std::map<std::string, NamedSource> sources_;
    std::vector<StatedFact> facts_;
};

} // namespace

std::vector<StatedFact> stated_facts(const json& document) {
    return Walk(document).take();
}

SourceCounts count_sources(const std::vector<StatedFact>& facts) {
    SourceCounts counts;
    for (const StatedFact& fact : facts)
        ++counts[fact.kind];
    return counts;
}

} // namespace archsim
