#include "hardware/json_document.hpp"

#include "core/embedded_files.hpp"
#include "core/text_file.hpp"
#include "hardware/json_text.hpp"
#include "hardware/plain_json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace archsim {

using nlohmann::json;

namespace {

constexpr int kMaxDepth = 64;
/// Of what nlohmann parses; its own limit is the memory.
constexpr int kMaxCopiedDepth = 1000;
constexpr std::size_t kMemoryBlock = 16384; ///< the values of most devices fit into one
/// Up to so many members are put in order, and looked through, one after the other.
constexpr std::size_t kFewMembers = 12;

bool key_before(const JsonMember& a, const JsonMember& b) {
    return a.key < b.key;
}

/// Sorts by key; of members of the same key the last one stays, as with nlohmann. Returns how many there are.
std::size_t put_in_order(std::span<JsonMember> members) {
    if (members.size() <= kFewMembers) {
        for (std::size_t i = 1; i < members.size(); ++i)
            for (std::size_t k = i; k > 0 && key_before(members[k], members[k - 1]); --k)
                std::swap(members[k], members[k - 1]);
    } else {
        std::stable_sort(members.begin(), members.end(), key_before);
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < members.size(); ++i)
        if (i + 1 == members.size() || members[i].key != members[i + 1].key)
            members[kept++] = members[i];
    return kept;
}

/// Builds the document of what PlainJson reads. Lists grow at the end of one that holds those around them.
class DocumentBuilder {
  public:
    DocumentBuilder(std::string_view text, std::span<const PassingRows> rows, JsonMemory& memory)
        : text_(text), rows_(rows), memory_(memory) {
        members_.reserve(64);
        items_.reserve(64);
    }

    bool read(JsonValue& out) {
        text_.skip_blanks();
        if (!value(out, 0))
            return false;
        text_.skip_blanks();
        return text_.at_end();
    }

  private:
    bool value(JsonValue& out, int depth) {
        if (text_.at_end() || depth > kMaxDepth)
            return false;
        switch (text_.peek()) {
        case '{':
            return object(out, depth);
        case '[':
            return array(out, depth);
        case '"':
            return string(out);
        case 't':
            out = JsonValue(true);
            return text_.take_word("true");
        case 'f':
            out = JsonValue(false);
            return text_.take_word("false");
        case 'n':
            out = JsonValue();
            return text_.take_word("null");
        default:
            return number(out);
        }
    }

    bool string(JsonValue& out) {
        std::string_view text;
        if (text_.string(text)) {
            out = JsonValue(text);
            return true;
        }
        // Up to a backslash, or to where it is no string.
        unescaped_.assign(text);
        if (!text_.rest_of_string(unescaped_))
            return false;
        out = JsonValue(memory_.copy(unescaped_));
        return true;
    }

    bool object(JsonValue& out, int depth) {
        const std::size_t begin = members_.size();
        const bool read = text_.members([&](std::string_view key) {
            for (const PassingRows& rows : rows_)
                if (depth == 0 && rows.key == key)
                    return pass(rows);
            JsonValue member;
            if (!value(member, depth + 1))
                return false;
            members_.push_back({key, member});
            return true;
        });
        if (!read)
            return false;
        const std::span<JsonMember> own = std::span(members_).subspan(begin);
        const std::size_t count = put_in_order(own);
        out = JsonValue(memory_.copy(std::span<const JsonMember>(own.first(count))));
        members_.resize(begin);
        return true;
    }

    bool array(JsonValue& out, int depth) {
        const std::size_t begin = items_.size();
        const bool read = text_.items([&] {
            JsonValue item;
            if (!value(item, depth + 1))
                return false;
            items_.push_back(item);
            return true;
        });
        if (!read)
            return false;
        out = JsonValue(memory_.copy(std::span<const JsonValue>(items_).subspan(begin)));
        items_.resize(begin);
        return true;
    }

    bool pass(const PassingRows& rows) {
        return text_.items([&] {
            FlatObject row(text_);
            if (row.sound_so_far())
                rows.read(row);
            return row.sound();
        });
    }

    bool number(JsonValue& out) {
        std::string_view digits;
        bool whole = false;
        if (!text_.number(digits, whole))
            return false;
        if (whole &&
            (digits.front() == '-' ? parsed<std::int64_t>(digits, out) : parsed<std::uint64_t>(digits, out)))
            return true;
        return parsed<double>(digits, out) && std::isfinite(out.number());
    }

    template <class Number>
    static bool parsed(std::string_view digits, JsonValue& out) {
        Number number{};
        const char* const last = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data(), last, number);
        if (error != std::errc{} || end != last)
            return false;
        out = JsonValue(number);
        return true;
    }

    PlainJson text_;
    std::span<const PassingRows> rows_;
    JsonMemory& memory_;
    std::vector<JsonMember> members_;
    std::vector<JsonValue> items_;
    std::string unescaped_;
};

/// False where it is too deep.
bool copy_of(const json& value, JsonMemory& memory, JsonValue& out, int depth) {
    if (depth > kMaxCopiedDepth)
        return false;
    switch (value.type()) {
    case json::value_t::boolean:
        out = JsonValue(value.get<bool>());
        return true;
    case json::value_t::number_integer:
        out = JsonValue(value.get<std::int64_t>());
        return true;
    case json::value_t::number_unsigned:
        out = JsonValue(value.get<std::uint64_t>());
        return true;
    case json::value_t::number_float:
        out = JsonValue(value.get<double>());
        return true;
    case json::value_t::string:
        out = JsonValue(memory.copy(std::string_view(value.get_ref<const std::string&>())));
        return true;
    case json::value_t::array: {
        std::vector<JsonValue> items(value.size());
        for (std::size_t i = 0; i < items.size(); ++i)
            if (!copy_of(value[i], memory, items[i], depth + 1))
                return false;
        out = JsonValue(memory.copy(std::span<const JsonValue>(items)));
        return true;
    }
    case json::value_t::object: {
        std::vector<JsonMember> members;
        for (const auto& [key, member] : value.items()) {
            JsonMember& made = members.emplace_back();
            made.key = memory.copy(std::string_view(key));
            if (!copy_of(member, memory, made.value, depth + 1))
                return false;
        }
        out = JsonValue(memory.copy(std::span<const JsonMember>(members)));
        return true;
    }
    default:
        out = JsonValue();
        return true;
    }
}

} // namespace

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
    const auto found = std::lower_bound(all.begin(), all.end(), key,
                                        [](const JsonMember& m, std::string_view k) { return m.key < k; });
    return found != all.end() && found->key == key ? &found->value : nullptr;
}

std::string_view JsonValue::text_at(std::string_view key) const {
    const JsonValue* const found = find(key);
    return found != nullptr && found->is_text() ? found->text() : std::string_view();
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
    void* const copied = next_;
    if (size > 0)
        std::memcpy(copied, bytes, size);
    next_ += size;
    left_ -= size;
    return copied;
}

std::optional<JsonDocument> parse_plain_json(std::string_view text, std::span<const PassingRows> rows) {
    JsonDocument document;
    if (!DocumentBuilder(text, rows, document.memory).read(document.root))
        return std::nullopt;
    return document;
}

std::optional<JsonDocument> document_of(const json& value) {
    JsonDocument document;
    if (!copy_of(value, document.memory, document.root, 0))
        return std::nullopt;
    return document;
}

std::optional<JsonDocument> parse_document_text(std::string_view text, const std::string& file,
                                                std::vector<Finding>& findings) {
    std::optional<JsonDocument> document = parse_plain_json(text);
    if (document && document->root.is_object())
        return document;
    const std::optional<json> standard = parse_json_text(text, file, findings);
    if (!standard)
        return std::nullopt;
    document = document_of(*standard);
    if (!document) {
        Finding finding;
        finding.kind = FindingKind::malformed_file;
        finding.file = file;
        finding.message = "the file has objects and arrays inside each other without end";
        finding.hint = "remove what is not of the database";
        findings.push_back(std::move(finding));
    }
    return document;
}

std::optional<JsonDocument> parse_document(const std::string& file, std::vector<Finding>& findings) {
    if (const auto built_in = embedded_text(file))
        return parse_document_text(*built_in, file, findings);
    try {
        JsonMemory memory;
        const std::string_view text = memory.copy(std::string_view(read_text_file(file)));
        std::optional<JsonDocument> document = parse_document_text(text, file, findings);
        if (document)
            document->memory.adopt(std::move(memory));
        return document;
    } catch (const InputError& problem) {
        findings.insert(findings.end(), problem.findings().begin(), problem.findings().end());
        return std::nullopt;
    }
}

} // namespace archsim
