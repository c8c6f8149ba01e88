#include "answers/study/study.hpp"

#include "core/parse_number.hpp"
#include "core/shared_object.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>
#include <utility>
#include <yaml.h>

namespace archsim {

using nlohmann::json;

constexpr int kMaxLevels = 64;
constexpr std::size_t kMaxValues = 100'000; ///< an alias counts as what it repeats

/// The functions of libyaml that a document is read with.
struct LibYaml {
    SharedObject library{"libyaml-0.so.2", "libyaml-0-2", "reading YAML"};
    decltype(yaml_parser_initialize)* initialize =
        library.function<decltype(yaml_parser_initialize)>("yaml_parser_initialize");
    decltype(yaml_parser_delete)* end = library.function<decltype(yaml_parser_delete)>("yaml_parser_delete");
    decltype(yaml_parser_set_input_string)* set_input =
        library.function<decltype(yaml_parser_set_input_string)>("yaml_parser_set_input_string");
    decltype(yaml_parser_load)* load = library.function<decltype(yaml_parser_load)>("yaml_parser_load");
    decltype(yaml_parser_parse)* parse = library.function<decltype(yaml_parser_parse)>("yaml_parser_parse");
    decltype(yaml_event_delete)* end_event =
        library.function<decltype(yaml_event_delete)>("yaml_event_delete");
    decltype(yaml_document_delete)* end_document =
        library.function<decltype(yaml_document_delete)>("yaml_document_delete");
    decltype(yaml_document_get_node)* node =
        library.function<decltype(yaml_document_get_node)>("yaml_document_get_node");
    decltype(yaml_document_get_root_node)* root =
        library.function<decltype(yaml_document_get_root_node)>("yaml_document_get_root_node");

    static const LibYaml& get() {
        static const LibYaml functions;
        return functions;
    }
};

/// A mistake that stops the reading, at a place.
struct YamlMistake {
    yaml_mark_t at;
    std::string message, hint;
};

static std::string place_text(std::size_t line, std::size_t column) {
    return fmt::format("line {}, column {}", line, column);
}

static std::string pointer_key(std::string_view key) {
    std::string escaped;
    for (const char c : key)
        escaped += c == '~' ? std::string("~0") : c == '/' ? std::string("~1") : std::string(1, c);
    return escaped;
}

/// A number of the core schema; YAML has no other numbers without a tag.
static std::optional<json> scalar_number(std::string_view text) {
    std::string_view digits = text;
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+'))
        digits.remove_prefix(1);
    if (digits.empty() || digits.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
        return std::nullopt;
    const bool begins =
        digits.front() != 'e' && digits.front() != 'E' && digits.front() != '+' && digits.front() != '-';
    if (!begins)
        return std::nullopt;
    const std::string signed_digits = (negative ? "-" : "") + std::string(digits);
    if (const auto whole = plain_number<std::int64_t>(signed_digits))
        return json(*whole);
    if (const auto real = plain_number<double>(signed_digits))
        return json(*real);
    return std::nullopt;
}

static json plain_scalar(std::string_view text) {
    for (const std::string_view word : {"", "~", "null", "Null", "NULL"})
        if (text == word)
            return nullptr;
    for (const std::string_view word : {"true", "True", "TRUE"})
        if (text == word)
            return true;
    for (const std::string_view word : {"false", "False", "FALSE"})
        if (text == word)
            return false;
    if (auto number = scalar_number(text))
        return std::move(*number);
    return std::string(text);
}

class YamlConverter {
  public:
    YamlConverter(const LibYaml& yaml, yaml_document_t& document) : yaml_(yaml), document_(document) {}

    json convert(const yaml_node_t& node, const std::string& pointer, const yaml_mark_t& place, int level) {
        if (level > kMaxLevels)
            throw YamlMistake{node.start_mark, fmt::format("more than {} levels", kMaxLevels), "nest less"};
        if (++values_ > kMaxValues)
            throw YamlMistake{node.start_mark, fmt::format("more than {} values", kMaxValues),
                              "repeat less with aliases"};
        places.insert_or_assign(pointer, TextPlace{place.line + 1, place.column + 1});
        switch (node.type) {
        case YAML_SCALAR_NODE:
            return scalar(node);
        case YAML_SEQUENCE_NODE:
            return sequence(node, pointer, level);
        case YAML_MAPPING_NODE:
            return mapping(node, pointer, level);
        default:
            return nullptr;
        }
    }

    std::map<std::string, TextPlace, std::less<>> places;

  private:
    static std::string_view text_of(const yaml_node_t& scalar) {
        return {reinterpret_cast<const char*>(scalar.data.scalar.value), scalar.data.scalar.length};
    }

    static json scalar(const yaml_node_t& node) {
        if (node.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
            return plain_scalar(text_of(node));
        return std::string(text_of(node));
    }

    json sequence(const yaml_node_t& node, const std::string& pointer, int level) {
        json items = json::array();
        const auto& list = node.data.sequence.items;
        for (const yaml_node_item_t* item = list.start; item != list.top; ++item) {
            const yaml_node_t& value = *yaml_.node(&document_, *item);
            items.push_back(
                convert(value, fmt::format("{}/{}", pointer, items.size()), value.start_mark, level + 1));
        }
        return items;
    }

    json mapping(const yaml_node_t& node, const std::string& pointer, int level) {
        json members = json::object();
        const auto& pairs = node.data.mapping.pairs;
        for (const yaml_node_pair_t* pair = pairs.start; pair != pairs.top; ++pair) {
            const yaml_node_t& key = *yaml_.node(&document_, pair->key);
            if (key.type != YAML_SCALAR_NODE)
                throw YamlMistake{key.start_mark, "a key is no text", "write name: value"};
            const std::string name(text_of(key));
            if (members.contains(name))
                throw YamlMistake{key.start_mark, fmt::format("the key \"{}\" is listed twice", name),
                                  "remove one of them"};
            members[name] = convert(*yaml_.node(&document_, pair->value), pointer + '/' + pointer_key(name),
                                    key.start_mark, level + 1);
        }
        return members;
    }

    const LibYaml& yaml_;
    yaml_document_t& document_;
    std::size_t values_ = 0;
};

/// The parser of one text, and the document that it has loaded.
class YamlReader {
  public:
    YamlReader(const LibYaml& yaml, const std::string& text) : yaml_(yaml) {
        if (yaml_.initialize(&parser_) == 0)
            throw std::bad_alloc();
        yaml_.set_input(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    }
    ~YamlReader() {
        drop();
        yaml_.end(&parser_);
    }
    YamlReader(const YamlReader&) = delete;
    YamlReader& operator=(const YamlReader&) = delete;

    /// Loads the next document; its root, or null after the last one.
    const yaml_node_t* next() {
        drop();
        if (yaml_.load(&parser_, &document_) == 0)
            throw mistake();
        loaded_ = true;
        return yaml_.root(&document_);
    }
    yaml_document_t& document() { return document_; }

    /// Walks the text before a document is made of it: libyaml looks at every open bracket and every anchor
    /// for each that follows, so that many of either would take minutes.
    void check_nesting() {
        constexpr std::size_t kMaxAnchors = 1000;
        int level = 0;
        std::size_t anchors = 0;
        for (bool more = true; more;) {
            yaml_event_t event;
            if (yaml_.parse(&parser_, &event) == 0)
                throw mistake();
            const yaml_event_type_t type = event.type;
            const yaml_mark_t at = event.start_mark;
            anchors += (type == YAML_SCALAR_EVENT && event.data.scalar.anchor != nullptr) ||
                       (type == YAML_SEQUENCE_START_EVENT && event.data.sequence_start.anchor != nullptr) ||
                       (type == YAML_MAPPING_START_EVENT && event.data.mapping_start.anchor != nullptr);
            yaml_.end_event(&event);
            level += (type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT) -
                     (type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT);
            more = type != YAML_STREAM_END_EVENT;
            if (level > kMaxLevels)
                throw YamlMistake{at, fmt::format("more than {} levels", kMaxLevels), "nest less"};
            if (anchors > kMaxAnchors)
                throw YamlMistake{at, fmt::format("more than {} anchors", kMaxAnchors), "name fewer values"};
        }
    }

  private:
    void drop() {
        if (std::exchange(loaded_, false))
            yaml_.end_document(&document_);
    }

    YamlMistake mistake() const {
        const std::string problem = parser_.problem != nullptr ? parser_.problem : "it cannot be read";
        // Bytes that are no UTF-8 are found before lines are counted.
        if (parser_.error == YAML_READER_ERROR)
            return {parser_.mark, fmt::format("no valid YAML: {} (byte {})", problem, parser_.problem_offset),
                    "save the file as UTF-8"};
        return {parser_.problem_mark, fmt::format("no valid YAML: {}", problem),
                "check indentation, colons, quotes and brackets there"};
    }

    const LibYaml& yaml_;
    yaml_parser_t parser_{};
    yaml_document_t document_{};
    bool loaded_ = false;
};

static YamlDocument read_document(const std::string& text) {
    const LibYaml& yaml = LibYaml::get();
    YamlReader(yaml, text).check_nesting();
    YamlReader reader(yaml, text);
    const yaml_node_t* const root = reader.next();
    if (root == nullptr || root->type != YAML_MAPPING_NODE)
        throw YamlMistake{root == nullptr ? yaml_mark_t{} : root->start_mark,
                          "the file does not hold a mapping", "start with models: [resnet50]"};
    YamlConverter converter(yaml, reader.document());
    YamlDocument result;
    result.value = converter.convert(*root, "", root->start_mark, 0);
    result.places = std::move(converter.places);
    if (const yaml_node_t* const more = reader.next())
        throw YamlMistake{more->start_mark, "a second document begins", "keep one study per file"};
    return result;
}

std::string YamlDocument::place_of(std::string pointer) const {
    for (;;) {
        if (const auto found = places.find(pointer); found != places.end())
            return place_text(found->second.line, found->second.column);
        const auto slash = pointer.rfind('/');
        if (slash == std::string::npos)
            return place_text(1, 1);
        pointer.erase(slash);
    }
}

std::optional<YamlDocument> parse_yaml_file(const std::string& file, std::vector<Finding>& findings) {
    try {
        return read_document(read_text_file(file));
    } catch (const YamlMistake& mistake) {
        findings.push_back({.kind = FindingKind::malformed_file,
                            .message = mistake.message,
                            .file = file,
                            .where = place_text(mistake.at.line + 1, mistake.at.column + 1),
                            .hint = mistake.hint});
    } catch (const InputError& problem) {
        if (problem.findings().empty())
            findings.push_back(
                {.kind = FindingKind::unreadable_file, .message = problem.what(), .file = file});
        findings.insert(findings.end(), problem.findings().begin(), problem.findings().end());
    }
    return std::nullopt;
}

bool is_yaml_file(const std::string& file) {
    return file.ends_with(".yaml") || file.ends_with(".yml");
}

} // namespace archsim
