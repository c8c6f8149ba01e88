#pragma once
// Reads members of a JSON object and reports every problem as a finding with its JSON pointer. What a reader
// asks for is what it knows: `finish()` reports all other keys, with the nearest known one.

#include "archsim/core/finding.hpp"
#include "archsim/core/provenance.hpp"
#include "archsim/hardware/family.hpp"

#include "core/json_document.hpp"
#include "core/text.hpp"
#include "hardware/units.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace archsim {

/// Appends a key to a JSON pointer.
void append_escaped(std::string& pointer, std::string_view key);

/// A place in a document, as a chain on the stack: the pointer is spelled out only when a finding needs it.
struct JsonPlace {
    const JsonPlace* parent = nullptr;
    std::string_view key;
    std::size_t index = 0;
    bool is_index = false;

    std::string pointer() const;
};

using SourceTable = std::map<std::string, std::shared_ptr<const Source>, std::less<>>;

struct ReadContext {
    std::string file;
    SourceTable sources;
    std::shared_ptr<const Source> unsourced; ///< stands in where a number names no source
    std::vector<Finding> findings;

    void report(FindingKind kind, Severity severity, const JsonPlace& place, std::string message,
                std::string hint);
    /// Throws InputError with every finding where one of them is an error.
    void require_sound() const;
};

enum class Need { optional, required };

/// Bounds outside of which a value cannot be meant, in the library's unit.
struct Bounds {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
};
// Those that files of devices and tables of energy share, in Hz and W.
inline constexpr Bounds kClock{1e5, 2e10};
inline constexpr Bounds kPower{0, 1e5};

/// The keys that a reader was asked for, most of them without memory of their own.
class AskedKeys {
  public:
    AskedKeys() {} // NOLINT(modernize-use-equals-default): the first are not set before they are needed
    void add(std::string_view key) {
        if (count_ < first_.size())
            first_[count_++] = {key.data(), key.size()};
        else
            further_.push_back(key);
    }
    bool contains(std::string_view key) const;
    std::vector<std::string> all() const;

  private:
    struct Key {
        const char* text;
        std::size_t size;
    };
    std::array<Key, 16> first_;
    std::size_t count_ = 0;
    std::vector<std::string_view> further_;
};

class ObjectReader {
  public:
    /// `source` is the source of plain numbers of this object (its "source" member, when it has one, wins).
    ObjectReader(ReadContext& context, const JsonValue& object, const JsonPlace& place,
                 std::shared_ptr<const Source> source = nullptr);
    ObjectReader(const ObjectReader&) = delete;
    ObjectReader& operator=(const ObjectReader&) = delete;

    /// The member, or null when absent or JSON null.
    const JsonValue* member(std::string_view key, Need need = Need::optional);
    bool has(std::string_view key) const;
    std::string text(std::string_view key, Need need = Need::optional);
    std::vector<std::string> texts(std::string_view key);
    bool flag(std::string_view key, bool otherwise);
    /// The value that the text under `key` names; the first one when absent.
    template <class Enum>
    Enum choice(std::string_view key, Need need = Need::optional) {
        const std::string word = text(key, need);
        const auto value = value_named<Enum>(word);
        if (!value && !word.empty())
            refuse(key, FindingKind::malformed_file, fmt::format("\"{}\" is not known here", word),
                   fmt::format("use {}", either_of(NamesOf<Enum>::all)));
        return value.value_or(Enum{});
    }
    /// A quantity {"value", "unit", "source"}; a plain number where the object itself names a source and the
    /// dimension is plain. Unknown when absent or unusable.
    Fact quantity(std::string_view key, PhysicalDimension dimension, Bounds bounds = {},
                  Need need = Need::optional);
    /// A number without unit or source (a year, a count that its object's source covers).
    double number(std::string_view key, Bounds bounds, Need need = Need::optional);

    /// Calls `read(ObjectReader&)` for the object under `key`, then reports its unknown keys.
    template <class Read>
    void object(std::string_view key, Read read) {
        const JsonValue* value = member(key);
        if (value == nullptr)
            return;
        const JsonPlace place = place_of(key);
        if (!value->is_object())
            return wrong_type(place, "an object");
        ObjectReader reader(context_, *value, place, source_);
        read(reader);
        reader.finish();
    }
    /// Calls `read(ObjectReader&)` for every object of the array under `key`.
    template <class Read>
    void each(std::string_view key, Read read) {
        const JsonValue* value = member(key);
        if (value == nullptr)
            return;
        const JsonPlace place = place_of(key);
        if (!value->is_array())
            return wrong_type(place, "an array of objects");
        const auto items = value->items();
        for (std::size_t i = 0; i < items.size(); ++i) {
            const JsonPlace item{&place, {}, i, true};
            if (!items[i].is_object()) {
                wrong_type(item, "an object");
                continue;
            }
            ObjectReader reader(context_, items[i], item, source_);
            read(reader);
            reader.finish();
        }
    }
    /// Calls `read(key, place)` for every member; all keys count as known.
    template <class Read>
    void members(Read read) {
        open_ = true;
        for (const auto& [key, value] : object_.members())
            if (key != "source" && !value.is_null())
                read(key, place_of(key));
    }

    /// Reports members that no call asked for.
    void finish();

    JsonPlace place_of(std::string_view key) const { return {&place_, key, 0, false}; }
    const JsonPlace& place() const { return place_; }
    ReadContext& context() { return context_; }
    const std::shared_ptr<const Source>& source() const { return source_; }
    /// Its source, or the one that stands in where none is named.
    const std::shared_ptr<const Source>& source_or_none() const {
        return source_ ? source_ : context_.unsourced;
    }
    void missing(std::string_view key, std::string hint);
    /// An error of the member of that name.
    void refuse(std::string_view key, FindingKind kind, std::string message, std::string hint) {
        context_.report(kind, Severity::error, place_of(key), std::move(message), std::move(hint));
    }

  private:
    void wrong_type(const JsonPlace& place, std::string_view expected);
    Fact read_quantity(const JsonValue& object, PhysicalDimension dimension, Bounds bounds,
                       const JsonPlace& place);
    bool within(double value, std::string_view unit, double factor, Bounds bounds, const JsonPlace& place);
    std::shared_ptr<const Source> find_source(const JsonValue& name, const JsonPlace& place);

    ReadContext& context_;
    const JsonValue& object_;
    JsonPlace place_;
    std::shared_ptr<const Source> source_;
    AskedKeys asked_;
    bool open_ = false;
};

/// Reads the "sources" member of a document into the context.
void read_sources(ObjectReader& document);

/// Calls `read(ObjectReader&)` for a document, after its sources, and reports the keys that nobody knows.
template <class Read>
ReadContext read_document(const JsonValue& document, const std::string& file, Read read) {
    ReadContext context;
    context.file = file;
    ObjectReader reader(context, document, JsonPlace{});
    reader.text("$schema");
    read_sources(reader);
    read(reader);
    reader.finish();
    return context;
}

/// The same for a table of the database, which may describe itself.
template <class Read>
ReadContext read_table(const std::filesystem::path& file, Read read) {
    std::vector<Finding> unparsed;
    const auto document = parse_document(file.string(), unparsed);
    if (!document)
        return {.file = file.string(), .findings = std::move(unparsed)};
    return read_document(document->root, file.string(), [&](ObjectReader& reader) {
        reader.texts("description");
        read(reader);
    });
}

/// The family of that name, which `key` states; an error where there is none.
std::optional<Family> stated_family(ObjectReader& reader, std::string_view key, std::string_view name,
                                    FindingKind kind = FindingKind::malformed_file);

} // namespace archsim
