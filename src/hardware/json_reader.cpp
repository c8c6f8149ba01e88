#include "hardware/json_reader.hpp"

#include "core/text.hpp"

#include <fmt/format.h>

namespace archsim {

/// Members of a quantity object; anything else in it is reported.
constexpr std::array<std::string_view, 14> kQuantityKeys = {
    "value",     "unit",   "source",  "note",          "n",        "error", "date", "instance",
    "instances", "market", "nominal", "by_generation", "currency", "before"};

constexpr double kMostRows = 1e9; ///< that a fit can be made of

void append_escaped(std::string& pointer, std::string_view key) {
    for (const char c : key) {
        if (c == '~')
            pointer += "~0";
        else if (c == '/')
            pointer += "~1";
        else
            pointer += c;
    }
}

static std::string shortened(const JsonValue& value) {
    std::string text = value.dump();
    if (text.size() > 40)
        text = text.substr(0, 37) + "...";
    return text;
}

std::string JsonPlace::pointer() const {
    std::string text = parent == nullptr ? std::string() : parent->pointer();
    if (parent == nullptr && key.empty() && !is_index)
        return text;
    text += '/';
    if (is_index)
        text += std::to_string(index);
    else
        append_escaped(text, key);
    return text;
}

void ReadContext::report(FindingKind kind, Severity severity, const JsonPlace& place, std::string message,
                         std::string hint) {
    Finding finding{.kind = kind,
                    .severity = severity,
                    .message = std::move(message),
                    .file = file,
                    .where = place.pointer()};
    if (finding.where.empty())
        finding.where = "/";
    finding.hint = std::move(hint);
    findings.push_back(std::move(finding));
}

void ReadContext::require_sound() const {
    const auto first = std::ranges::find_if(findings, &Finding::is_error);
    if (first != findings.end())
        throw InputError(to_string(*first), findings);
}

bool AskedKeys::contains(std::string_view key) const {
    for (std::size_t i = 0; i < count_; ++i)
        if (key == std::string_view(first_[i].text, first_[i].size))
            return true;
    return std::ranges::find(further_, key) != further_.end();
}

std::vector<std::string> AskedKeys::all() const {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < count_; ++i)
        keys.emplace_back(first_[i].text, first_[i].size);
    keys.insert(keys.end(), further_.begin(), further_.end());
    return keys;
}

ObjectReader::ObjectReader(ReadContext& context, const JsonValue& object, const JsonPlace& place,
                           std::shared_ptr<const Source> source)
    : context_(context), object_(object), place_(place), source_(std::move(source)) {
    if (const JsonValue* const own = object_.find("source"); own != nullptr && !own->is_null())
        source_ = find_source(*own, place_of("source"));
}

bool ObjectReader::has(std::string_view key) const {
    return object_.contains(key);
}

const JsonValue* ObjectReader::member(std::string_view key, Need need) {
    asked_.add(key);
    const JsonValue* const found = object_.find(key);
    if (found != nullptr && !found->is_null())
        return found;
    if (need == Need::required)
        missing(key, fmt::format("add \"{}\"", key));
    return nullptr;
}

void ObjectReader::missing(std::string_view key, std::string hint) {
    context_.report(FindingKind::missing_field, Severity::error, place_,
                    fmt::format("the field \"{}\" is missing", key), std::move(hint));
}

void ObjectReader::wrong_type(const JsonPlace& place, std::string_view expected) {
    context_.report(FindingKind::malformed_file, Severity::error, place,
                    fmt::format("this must be {}", expected), "see schema.json for the shape of this field");
}

std::string ObjectReader::text(std::string_view key, Need need) {
    const JsonValue* value = member(key, need);
    if (value == nullptr)
        return {};
    if (!value->is_text()) {
        wrong_type(place_of(key), "a text");
        return {};
    }
    return std::string(value->text());
}

std::vector<std::string> ObjectReader::texts(std::string_view key) {
    std::vector<std::string> result;
    const JsonValue* value = member(key);
    if (value == nullptr)
        return result;
    if (!value->is_array()) {
        wrong_type(place_of(key), "an array of texts");
        return result;
    }
    for (const JsonValue& item : value->items()) {
        if (item.is_text())
            result.emplace_back(item.text());
        else
            wrong_type(place_of(key), "an array of texts");
    }
    return result;
}

bool ObjectReader::flag(std::string_view key, bool otherwise) {
    const JsonValue* value = member(key);
    if (value == nullptr)
        return otherwise;
    if (!value->is_boolean()) {
        wrong_type(place_of(key), "true or false");
        return otherwise;
    }
    return value->boolean();
}

bool ObjectReader::within(double value, std::string_view unit, double factor, Bounds bounds,
                          const JsonPlace& place) {
    if (value >= bounds.low && value <= bounds.high)
        return true;
    const std::string_view symbol = unit == "1" ? std::string_view() : unit;
    const std::string_view space = symbol.empty() ? "" : " ";
    const std::string shown = fmt::format("{:g}{}{}", value / factor, space, symbol);
    if (value < 0 && bounds.low >= 0)
        context_.report(FindingKind::out_of_range, Severity::error, place,
                        fmt::format("{} is negative", shown), "give a value of at least 0");
    else
        context_.report(FindingKind::out_of_range, Severity::error, place,
                        fmt::format("{} lies outside of {:g} to {:g}{}{}", shown, bounds.low / factor,
                                    bounds.high / factor, space, symbol),
                        "check the value and its unit");
    return false;
}

double ObjectReader::number(std::string_view key, Bounds bounds, Need need) {
    const JsonValue* value = member(key, need);
    if (value == nullptr)
        return std::numeric_limits<double>::quiet_NaN();
    if (value->is_object())
        return read_quantity(*value, PhysicalDimension::one, bounds, place_of(key)).value;
    if (!value->is_number()) {
        wrong_type(place_of(key), "a number");
        return std::numeric_limits<double>::quiet_NaN();
    }
    const double result = value->number();
    return within(result, "1", 1, bounds, place_of(key)) ? result : std::numeric_limits<double>::quiet_NaN();
}

std::shared_ptr<const Source> ObjectReader::find_source(const JsonValue& name, const JsonPlace& place) {
    if (name.is_text()) {
        if (const auto found = context_.sources.find(name.text()); found != context_.sources.end())
            return found->second;
    }
    std::vector<std::string> known;
    for (const auto& [key, source] : context_.sources)
        known.push_back(key);
    const std::string text = name.is_text() ? std::string(name.text()) : name.dump();
    const auto nearest = nearest_names(text, known, 1);
    context_.report(FindingKind::missing_source, Severity::warning, place,
                    fmt::format("the source \"{}\" is not listed in /sources", text),
                    nearest.empty()
                        ? std::string("add it to \"sources\"")
                        : fmt::format("add it to \"sources\", or is \"{}\" meant?", nearest.front()));
    return context_.unsourced;
}

Fact ObjectReader::read_quantity(const JsonValue& object, PhysicalDimension dimension, Bounds bounds,
                                 const JsonPlace& place) {
    Fact fact;
    const JsonValue* const value = object.find("value");
    if (value == nullptr) {
        context_.report(FindingKind::missing_field, Severity::error, place, "the field \"value\" is missing",
                        R"(write {"value": ..., "unit": ..., "source": ...})");
        return fact;
    }
    if (value->is_null())
        return fact;
    if (!value->is_number()) {
        wrong_type(JsonPlace{&place, "value", 0, false}, "a number");
        return fact;
    }
    const std::string_view symbol = object.text_at("unit");
    const Unit* known =
        symbol.empty() && dimension == PhysicalDimension::one ? find_unit("1") : find_unit(symbol);
    const JsonPlace unit_place{&place, "unit", 0, false};
    if (known == nullptr || known->dimension != dimension) {
        context_.report(symbol.empty() ? FindingKind::missing_field : FindingKind::wrong_unit,
                        Severity::error, unit_place,
                        symbol.empty() ? fmt::format("{} has no unit", shortened(*value))
                                       : fmt::format("{} {}: \"{}\" is not a unit of {}", shortened(*value),
                                                     symbol, symbol, name_of(dimension)),
                        fmt::format("use one of {}", symbol_list(dimension)));
        return fact;
    }
    const double si = value->number() * known->factor;
    const JsonPlace value_place{&place, "value", 0, false};
    if (!within(si, symbol, known->factor, bounds, value_place))
        return fact;
    fact.value = si;
    if (const JsonValue* const source = object.find("source"); source != nullptr && !source->is_null())
        fact.source = find_source(*source, JsonPlace{&place, "source", 0, false});
    else if (source_ != nullptr)
        fact.source = source_;
    else {
        context_.report(FindingKind::missing_source, Severity::warning, place,
                        fmt::format("{} {} names no source", shortened(*value), symbol),
                        R"(add "source" with a key of /sources)");
        fact.source = context_.unsourced;
    }
    fact.note = object.text_at("note");
    if (const auto n = object.number_at("n"))
        fact.fitted_n = static_cast<int>(std::clamp(*n, 0.0, kMostRows));
    if (const auto error = object.number_at("error"))
        fact.fitted_error = *error;
    if (fact.source->kind == SourceKind::fitted && (fact.fitted_n <= 0 || !object.contains("error")))
        context_.report(FindingKind::missing_field, Severity::warning, place,
                        "a fitted value must say on how many measurements and how well",
                        R"(add "n" and "error")");
    for (const auto& [key, unused] : object.members()) {
        if (std::ranges::find(kQuantityKeys, key) == kQuantityKeys.end())
            context_.report(FindingKind::unknown_key, Severity::warning, place,
                            fmt::format("\"{}\" is not a field of a quantity", key),
                            "known are value, unit, source, note, n and error");
    }
    return fact;
}

Fact ObjectReader::quantity(std::string_view key, PhysicalDimension dimension, Bounds bounds, Need need) {
    const JsonValue* value = member(key, need);
    if (value == nullptr)
        return {};
    const JsonPlace place = place_of(key);
    if (value->is_object())
        return read_quantity(*value, dimension, bounds, place);
    const bool plain =
        dimension == PhysicalDimension::one || dimension == PhysicalDimension::operations_per_clock;
    if (!value->is_number() || !plain) {
        context_.report(FindingKind::malformed_file, Severity::error, place,
                        fmt::format("{} is not a quantity", shortened(*value)),
                        R"(write {"value": ..., "unit": ..., "source": ...})");
        return {};
    }
    Fact fact;
    const double number = value->number();
    if (!within(number, "1", 1, bounds, place))
        return fact;
    fact.value = number;
    fact.source = source_;
    if (fact.source == nullptr) {
        context_.report(FindingKind::missing_source, Severity::warning, place,
                        fmt::format("{:g} names no source", number),
                        R"(write {"value": ..., "unit": ..., "source": ...}, or add "source" to the object)");
        fact.source = context_.unsourced;
    }
    return fact;
}

void ObjectReader::finish() {
    if (open_)
        return;
    for (const auto& [key, unused] : object_.members()) {
        if (asked_.contains(key) || key == "source" || key == "note" || key == "notes" || key == "comment")
            continue;
        const auto nearest = nearest_names(key, asked_.all(), 1);
        context_.report(FindingKind::unknown_key, Severity::warning, place_of(key),
                        fmt::format("\"{}\" is not a known field", key),
                        nearest.empty() ? std::string("remove it, or see schema.json for the known fields")
                                        : fmt::format("is \"{}\" meant?", nearest.front()));
    }
}

void read_sources(ObjectReader& document) {
    ReadContext& context = document.context();
    Source unsourced{.cite = "no source given in " + context.file};
    context.unsourced = std::make_shared<const Source>(std::move(unsourced));
    document.object("sources", [&](ObjectReader& sources) {
        sources.members([&](std::string_view key, const JsonPlace&) {
            sources.object(key, [&](ObjectReader& entry) {
                Source source;
                source.kind = entry.choice<SourceKind>("kind", Need::required);
                source.cite = entry.text("cite", Need::required);
                entry.text("url");
                entry.text("date");
                context.sources.emplace(key, std::make_shared<const Source>(std::move(source)));
            });
        });
    });
}

std::optional<Family> stated_family(ObjectReader& reader, std::string_view key, std::string_view name,
                                    FindingKind kind) {
    const auto family = parse_family(name);
    if (!family)
        reader.refuse(key, kind, fmt::format("\"{}\" is not a family", name),
                      "use " + either_of(family_names()));
    return family;
}

} // namespace archsim
