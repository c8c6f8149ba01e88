#include "core/json_document.hpp"

#include "core/data_dir.hpp"
#include "core/embedded_files.hpp"
#include "core/text_file.hpp"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>

// Blanks and strings are passed sixteen characters at once where processors can.
#if defined(__SSE2__)
#define RAPIDJSON_SSE2
#elif defined(__ARM_NEON)
#define RAPIDJSON_NEON
#endif
#include <rapidjson/reader.h>

namespace archsim {

using nlohmann::json;

constexpr std::size_t kMemoryBlock = 16384; ///< the values of most devices fit into one
/// Up to so many members are put in order, and looked through, one after the other.
constexpr std::size_t kFewMembers = 12;

static bool key_before(const JsonMember& a, const JsonMember& b) {
    return a.key < b.key;
}

/// Memory of the library, which takes a null for memory: without any it throws.
struct OrThrow {
    static void* checked(void* memory) {
        if (memory == nullptr)
            throw std::bad_alloc();
        return memory;
    }
    static void* Malloc(std::size_t size) { return size == 0 ? nullptr : checked(std::malloc(size)); }
    static void* Realloc(void* old, std::size_t, std::size_t size) {
        if (size != 0)
            return checked(std::realloc(old, size));
        std::free(old);
        return nullptr;
    }
    static void Free(void* memory) noexcept { std::free(memory); }
};

/// Sorts by key; of members of the same key the last one stays, as with nlohmann. Returns how many there are.
static std::size_t put_in_order(std::span<JsonMember> members) {
    if (members.size() <= kFewMembers) {
        for (std::size_t i = 1; i < members.size(); ++i)
            for (std::size_t k = i; k > 0 && key_before(members[k], members[k - 1]); --k)
                std::swap(members[k], members[k - 1]);
    } else {
        std::ranges::stable_sort(members, key_before);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < members.size(); ++i)
        if (i + 1 == members.size() || members[i].key != members[i + 1].key)
            members[kept++] = members[i];
    return kept;
}

/// Builds the document of what RapidJSON reads. Members and items of what is open lie behind each other until
/// it closes and they get their place in memory.
class DocumentBuilder {
  public:
    using OnMember = std::function<bool(std::string_view key, const JsonValue& value)>;

    DocumentBuilder(JsonMemory& memory, const OnMember* on_member) : memory_(memory), on_member_(on_member) {
        open_.reserve(16);
        values_.reserve(64);
    }

    const JsonValue& root() const { return values_.front().value; }
    bool too_deep() const { return too_deep_; }
    /// Nobody wants what follows.
    bool stopped() const { return stopped_; }

    // RapidJSON calls these.
    bool Null() { return add(JsonValue()); }
    bool Bool(bool value) { return add(JsonValue(value)); }
    bool Int(int value) { return add(JsonValue(std::int64_t{value})); }
    bool Uint(unsigned value) { return add(JsonValue(std::uint64_t{value})); }
    bool Int64(std::int64_t value) { return add(JsonValue(value)); }
    bool Uint64(std::uint64_t value) { return add(JsonValue(value)); }
    bool Double(double value) { return add(JsonValue(value)); }
    bool RawNumber(const char*, rapidjson::SizeType, bool) { return false; } // nobody asks for them
    bool String(const char* text, rapidjson::SizeType size, bool) {
        return add(JsonValue(std::string_view(text, size)));
    }
    bool Key(const char* text, rapidjson::SizeType size, bool) {
        values_.push_back({std::string_view(text, size), JsonValue()});
        return true;
    }
    bool StartObject() { return open(true); }
    bool StartArray() { return open(false); }
    bool EndObject(rapidjson::SizeType) {
        const std::span<JsonMember> own = std::span(values_).subspan(open_.back().begin);
        const std::size_t count = put_in_order(own);
        return close(JsonValue(memory_.copy(std::span<const JsonMember>(own.first(count)))));
    }
    bool EndArray(rapidjson::SizeType) {
        items_.clear();
        for (const JsonMember& item : std::span(values_).subspan(open_.back().begin))
            items_.push_back(item.value);
        return close(JsonValue(memory_.copy(std::span<const JsonValue>(items_))));
    }

  private:
    struct Open {
        std::size_t begin;
        bool object;
    };

    bool open(bool object) {
        too_deep_ = open_.size() == kMostJsonLevels;
        open_.push_back({values_.size(), object});
        return !too_deep_;
    }
    bool close(JsonValue made) {
        values_.resize(open_.back().begin);
        open_.pop_back();
        return add(made);
    }
    bool add(JsonValue value) {
        if (open_.empty() || !open_.back().object) {
            values_.push_back({{}, value});
            return true;
        }
        values_.back().value = value; // behind its key
        stopped_ = open_.size() == 1 && on_member_ != nullptr && !(*on_member_)(values_.back().key, value);
        return !stopped_;
    }

    JsonMemory& memory_;
    const OnMember* on_member_;
    std::vector<Open> open_;
    std::vector<JsonMember> values_; ///< of what is open; items have no key
    std::vector<JsonValue> items_;
    bool too_deep_ = false, stopped_ = false;
};

/// "line 3, column 5" of a place in a text.
static std::string place_in(std::string_view text, std::size_t at) {
    const std::string_view before = text.substr(0, at);
    const auto line = std::ranges::count(before, '\n') + 1;
    const std::size_t begin = before.rfind('\n');
    return fmt::format("line {}, column {}", line,
                       before.size() - (begin == std::string_view::npos ? 0 : begin + 1) + 1);
}

[[noreturn]] static void refuse(std::string_view text, std::size_t at, rapidjson::ParseErrorCode error) {
    if (error == rapidjson::kParseErrorNumberTooBig)
        throw JsonFault(fmt::format("no valid JSON: the number at {} is too large", place_in(text, at)),
                        "check the numbers of the file");
    throw JsonFault(fmt::format("no valid JSON at {}", place_in(text, at)),
                    "check commas, quotes and brackets there");
}

constexpr std::size_t kAtOnce = 16; ///< characters, of which the last may lie behind the text

/// Most files hold nothing but ASCII, whose encoding nobody need look at.
static bool is_ascii(std::string_view text) {
    std::uint64_t seen = 0, next = 0;
    for (; text.size() >= sizeof next; text.remove_prefix(sizeof next)) {
        std::memcpy(&next, text.data(), sizeof next);
        seen |= next;
    }
    for (const char c : text)
        seen |= static_cast<unsigned char>(c);
    constexpr std::uint64_t kHighBits = 0x8080808080808080;
    return (seen & kHighBits) == 0;
}

static void read(std::string_view text, JsonDocument& document, const DocumentBuilder::OnMember* on_member) {
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    const std::size_t begin = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
    if (const std::size_t zero = text.find('\0');
        zero != std::string_view::npos) // it ends what RapidJSON reads
        refuse(text, zero, rapidjson::kParseErrorValueInvalid);
    const std::span<char> own = document.memory.characters(text.size() - begin + 1 + kAtOnce);
    *std::copy(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), own.begin()) = '\0';
    rapidjson::InsituStringStream stream(own.data());
    rapidjson::GenericReader<rapidjson::UTF8<>, rapidjson::UTF8<>, OrThrow> reader;
    DocumentBuilder builder(document.memory, on_member);
    constexpr unsigned kFlags = rapidjson::kParseInsituFlag | rapidjson::kParseFullPrecisionFlag;
    const rapidjson::ParseResult result =
        is_ascii(text) ? reader.Parse<kFlags>(stream, builder)
                       : reader.Parse<kFlags | rapidjson::kParseValidateEncodingFlag>(stream, builder);
    if (builder.stopped())
        return;
    if (builder.too_deep())
        throw JsonFault(fmt::format("more than {} objects and arrays inside each other at {}",
                                    kMostJsonLevels, place_in(text, begin + result.Offset())),
                        "remove what is not of the file");
    if (result.IsError())
        refuse(text, begin + result.Offset(), result.Code());
    document.root = builder.root();
}

double JsonValue::number() const {
    switch (kind_) {
    case Kind::integer:
        return static_cast<double>(integer_);
    case Kind::natural:
        return static_cast<double>(natural_);
    default:
        return real_;
    }
}

const JsonValue* JsonValue::find(std::string_view key) const {
    const auto all = members();
    if (all.size() <= kFewMembers) {
        for (const JsonMember& member : all)
            if (member.key == key)
                return &member.value;
        return nullptr;
    }
    const auto found = std::ranges::lower_bound(all, key, {}, &JsonMember::key);
    return found != all.end() && found->key == key ? &found->value : nullptr;
}

std::string_view JsonValue::text_at(std::string_view key) const {
    const JsonValue* const found = find(key);
    return found != nullptr && found->is_text() ? found->text() : std::string_view();
}

std::optional<double> JsonValue::number_at(std::string_view key) const {
    const JsonValue* const found = find(key);
    return found != nullptr && found->is_number() ? std::optional(found->number()) : std::nullopt;
}

std::span<const JsonValue> JsonValue::items_at(std::string_view key) const {
    const JsonValue* const found = find(key);
    return found != nullptr ? found->items() : std::span<const JsonValue>();
}

json JsonValue::copy() const {
    switch (kind_) {
    case Kind::null:
        return nullptr;
    case Kind::boolean:
        return boolean_;
    case Kind::integer:
        return integer_;
    case Kind::natural:
        return natural_;
    case Kind::real:
        return real_;
    case Kind::text:
        return std::string(text());
    case Kind::array: {
        json all = json::array();
        for (const JsonValue& item : items())
            all.push_back(item.copy());
        return all;
    }
    case Kind::object: {
        json all = json::object();
        auto& own = all.get_ref<json::object_t&>();
        for (const JsonMember& member : members()) // sorted: each goes to the end
            own.emplace_hint(own.end(), member.key, member.value.copy());
        return all;
    }
    }
    return nullptr;
}

std::string JsonValue::dump() const {
    return copy().dump();
}

void JsonMemory::adopt(JsonMemory other) {
    blocks_.insert(blocks_.end(), std::make_move_iterator(other.blocks_.begin()),
                   std::make_move_iterator(other.blocks_.end()));
}

void* JsonMemory::copy_bytes(const void* bytes, std::size_t size, std::size_t alignment) {
    void* const copied = room(size, alignment);
    if (size > 0)
        std::memcpy(copied, bytes, size);
    return copied;
}

void* JsonMemory::room(std::size_t size, std::size_t alignment) {
    const std::size_t gap = (alignment - reinterpret_cast<std::uintptr_t>(next_) % alignment) % alignment;
    if (next_ == nullptr || gap + size > left_) {
        const std::size_t block = std::max(kMemoryBlock, size);
        blocks_.emplace_back(new std::byte[block]); // nobody needs zeros
        next_ = blocks_.back().get();
        left_ = block;
    } else {
        next_ += gap;
        left_ -= gap;
    }
    void* const made = next_;
    next_ += size;
    left_ -= size;
    return made;
}

JsonDocument read_json(std::string_view text) {
    JsonDocument document;
    read(text, document, nullptr);
    return document;
}

void read_members(std::string_view text,
                  const std::function<bool(std::string_view key, const JsonValue& value)>& member) {
    JsonDocument document;
    read(text, document, &member);
}

std::optional<JsonDocument> parse_document_text(std::string_view text, const std::string& file,
                                                std::vector<Finding>& findings) {
    Finding finding;
    finding.kind = FindingKind::malformed_file;
    finding.file = file;
    try {
        JsonDocument document = read_json(text);
        if (document.root.is_object())
            return document;
        finding.message = "the file does not hold a JSON object";
        finding.hint = "start it with {";
    } catch (const JsonFault& fault) {
        finding.message = fault.what();
        finding.hint = fault.hint;
    }
    findings.push_back(std::move(finding));
    return std::nullopt;
}

std::optional<JsonDocument> parse_document(const std::string& file, std::vector<Finding>& findings) {
    if (const auto built_in = embedded_text(file))
        return parse_document_text(*built_in, file, findings);
    try {
        return parse_document_text(read_text_file(file), file, findings);
    } catch (const InputError& problem) {
        findings.insert(findings.end(), problem.findings().begin(), problem.findings().end());
        return std::nullopt;
    }
}

JsonDocument read_table(std::string_view name) {
    std::vector<Finding> findings;
    auto document = parse_document(data_table(name).string(), findings);
    if (!document)
        throw InputError(std::move(findings.front()));
    return std::move(*document);
}

} // namespace archsim
