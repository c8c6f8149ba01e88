#pragma once
// The one reader of JSON, on RapidJSON: a document whose values and texts lie in a few blocks of its own
// memory. nlohmann::json allocates and frees every value by itself, which devices, read by the hundred, feel;
// it stays for documents that are changed or written.

#include "archsim/core/finding.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace archsim {

struct JsonMember;

/// A value of a JsonDocument, in whose memory its parts lie. Members are sorted by their keys.
class JsonValue {
  public:
    JsonValue() = default; ///< null
    explicit JsonValue(bool value) : kind_(Kind::boolean), boolean_(value) {}
    explicit JsonValue(std::int64_t value) : kind_(Kind::integer), integer_(value) {}
    explicit JsonValue(std::uint64_t value) : kind_(Kind::natural), natural_(value) {}
    explicit JsonValue(double value) : kind_(Kind::real), real_(value) {}
    explicit JsonValue(std::string_view text) : kind_(Kind::text), size_(text.size()), text_(text.data()) {}
    explicit JsonValue(std::span<JsonValue> items)
        : kind_(Kind::array), size_(items.size()), items_(items.data()) {}
    explicit JsonValue(std::span<JsonMember> members);

    bool is_null() const { return kind_ == Kind::null; }
    bool is_boolean() const { return kind_ == Kind::boolean; }
    bool is_number() const { return kind_ == Kind::integer || kind_ == Kind::natural || kind_ == Kind::real; }
    /// A number without fraction and exponent.
    bool is_whole() const { return kind_ == Kind::integer || kind_ == Kind::natural; }
    bool is_text() const { return kind_ == Kind::text; }
    bool is_array() const { return kind_ == Kind::array; }
    bool is_object() const { return kind_ == Kind::object; }

    // For a value of that kind alone; an array or object of any other is empty.
    bool boolean() const { return boolean_; }
    double number() const;
    std::string_view text() const { return {text_, size_}; }
    std::span<const JsonValue> items() const;
    std::span<const JsonMember> members() const;
    std::span<JsonValue> items();
    std::span<JsonMember> members();

    /// The member of an object; null for any other value, and where there is none.
    const JsonValue* find(std::string_view key) const;
    bool contains(std::string_view key) const { return find(key) != nullptr; }
    /// The text under `key`; empty where there is none.
    std::string_view text_at(std::string_view key) const;
    /// The number under `key`, where there is one.
    std::optional<double> number_at(std::string_view key) const;
    /// The list under `key`; empty where there is none.
    std::span<const JsonValue> items_at(std::string_view key) const;

    /// The same as nlohmann has it.
    nlohmann::json copy() const;
    /// As messages show it.
    std::string dump() const;

  private:
    enum class Kind : std::uint8_t { null, boolean, integer, natural, real, text, array, object };

    Kind kind_ = Kind::null;
    std::size_t size_ = 0;
    union {
        bool boolean_;
        std::int64_t integer_;
        std::uint64_t natural_;
        double real_;
        const char* text_;
        JsonValue* items_ = nullptr;
        JsonMember* members_;
    };
};

struct JsonMember {
    std::string_view key;
    JsonValue value;
};

inline JsonValue::JsonValue(std::span<JsonMember> members)
    : kind_(Kind::object), size_(members.size()), members_(members.data()) {}

inline std::span<const JsonValue> JsonValue::items() const {
    return kind_ == Kind::array ? std::span<const JsonValue>(items_, size_) : std::span<const JsonValue>();
}
inline std::span<JsonValue> JsonValue::items() {
    return kind_ == Kind::array ? std::span<JsonValue>(items_, size_) : std::span<JsonValue>();
}
inline std::span<const JsonMember> JsonValue::members() const {
    return kind_ == Kind::object ? std::span<const JsonMember>(members_, size_)
                                 : std::span<const JsonMember>();
}
inline std::span<JsonMember> JsonValue::members() {
    return kind_ == Kind::object ? std::span<JsonMember>(members_, size_) : std::span<JsonMember>();
}

/// Memory that is handed out piece by piece and freed at once.
class JsonMemory {
  public:
    /// Copies of what can be copied byte by byte.
    template <class Item>
    std::span<Item> copy(std::span<const Item> items) {
        static_assert(std::is_trivially_copyable_v<Item> && alignof(Item) <= alignof(std::max_align_t));
        return {static_cast<Item*>(copy_bytes(items.data(), items.size_bytes(), alignof(Item))),
                items.size()};
    }
    std::string_view copy(std::string_view text) {
        const auto kept = copy(std::span<const char>(text.data(), text.size()));
        return {kept.data(), kept.size()};
    }
    /// Keeps what `other` handed out, too.
    void adopt(JsonMemory other);
    /// Room for so many characters, to be written to.
    std::span<char> characters(std::size_t size) { return {static_cast<char*>(room(size, 1)), size}; }

  private:
    void* copy_bytes(const void* bytes, std::size_t size, std::size_t alignment);
    void* room(std::size_t size, std::size_t alignment);

    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::byte* next_ = nullptr;
    std::size_t left_ = 0;
};

/// A value with the memory that it lies in.
struct JsonDocument {
    JsonValue root;
    JsonMemory memory;
};

/// Why a text is no document, in one sentence that says where, and what to do.
class JsonFault : public std::runtime_error {
  public:
    JsonFault(const std::string& message, std::string advice)
        : std::runtime_error(message), hint(std::move(advice)) {}
    std::string hint;
};

/// The document of a text in UTF-8; of members with the same key the last one counts. Throws JsonFault for
/// what is no JSON, has more than kMostJsonLevels, or holds a number that no double can.
JsonDocument read_json(std::string_view text);

/// Calls `member` for one member of the object after the other, as the text has them, until it returns false;
/// what follows is not read. Throws as read_json() does for what is wrong before that.
void read_members(std::string_view text,
                  const std::function<bool(std::string_view key, const JsonValue& value)>& member);

/// The document of an object; `file` stands for the text in findings. Null with a finding when it is no JSON
/// object.
std::optional<JsonDocument> parse_document_text(std::string_view text, const std::string& file,
                                                std::vector<Finding>& findings);

/// The document of a file that holds an object; null with a finding when it cannot be read or is no such
/// file.
std::optional<JsonDocument> parse_document(const std::string& file, std::vector<Finding>& findings);

/// The document of a table of the data (data_table()). Throws InputError where it cannot be read.
JsonDocument read_table(std::string_view name);

inline constexpr int kMostJsonLevels = 64; ///< of objects and arrays within each other

enum class JsonKeys : std::uint8_t {
    sorted,
    as_written ///< every new key is held against all before it (nlohmann::ordered_json)
};

/// The excess of a text, "more than 64 levels of objects and arrays"; empty: nothing. Comments are passed
/// over. What is no JSON at all is left to the parser.
std::string json_excess(std::string_view text, JsonKeys keys = JsonKeys::sorted);

/// The text itself, for the parser. Throws InputError that names `file` where there is too much of something.
std::string_view bounded_json(std::string_view text, const std::string& file,
                              JsonKeys keys = JsonKeys::sorted);

/// Parses a file; null with a finding (with line and column) when it cannot be read or is not a JSON object.
std::optional<nlohmann::json> parse_json_file(const std::string& file, std::vector<Finding>& findings);

} // namespace archsim
