
#include "core/json_document.hpp"

#include <fmt/format.h>

namespace archsim {

using nlohmann::json;

std::optional<json> parse_json_file(const std::string& file, std::vector<Finding>& findings) {
    const std::optional<JsonDocument> document = parse_document(file, findings);
    return document ? std::optional(document->root.copy()) : std::nullopt;
}

constexpr double kMostJsonBytes = 320e6; ///< of values in memory: the largest logs of servers take a third
constexpr double kValueBytes = 16;       ///< of nlohmann_json, for every item of an array
constexpr double kMemberBytes = 112;     ///< and member of an object
constexpr double kMostComparisons = 2e7; ///< of keys: a tenth of a second

/// The place behind a comment that begins at `at`; `at` where none does.
static std::size_t behind_comment(std::string_view text, std::size_t at) {
    const std::string_view rest = text.substr(at);
    const std::string_view end = rest.starts_with("//") ? "\n" : rest.starts_with("/*") ? "*/" : "";
    if (end.empty())
        return at;
    const std::size_t found = text.find(end, at + 2);
    return found == std::string_view::npos ? text.size() : found + end.size();
}

/// The place behind a string whose first quote is at `at`.
static std::size_t behind_string(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
        at += text[at] == '\\' ? 1 : 0;
    return at + 1;
}

std::string json_excess(std::string_view text, JsonKeys keys) {
    std::array<double, kMostJsonLevels + 1> members{};
    int level = 0;
    double bytes = 0, comparisons = 0;
    for (std::size_t i = 0; i < text.size();) {
        switch (text[i]) {
        case '"':
            i = behind_string(text, i);
            continue;
        case '/':
            if (const std::size_t behind = behind_comment(text, i); behind != i) {
                i = behind;
                continue;
            }
            break;
        case '{':
        case '[':
            if (++level > kMostJsonLevels)
                return fmt::format("more than {} levels of objects and arrays", kMostJsonLevels);
            members[static_cast<std::size_t>(level)] = 0;
            bytes += kValueBytes;
            break;
        case '}':
        case ']':
            level = std::max(0, level - 1);
            break;
        case ',':
            bytes += kValueBytes;
            break;
        case ':':
            bytes += kMemberBytes;
            comparisons += members[static_cast<std::size_t>(level)]++;
            break;
        default:
            break;
        }
        ++i;
        if (bytes > kMostJsonBytes)
            return fmt::format("more values than fit into {:.0f} MB of memory", kMostJsonBytes / 1e6);
        if (keys == JsonKeys::as_written && comparisons > kMostComparisons)
            return "more keys in one object than any that is known";
    }
    return {};
}

std::string_view bounded_json(std::string_view text, const std::string& file, JsonKeys keys) {
    if (const std::string excess = json_excess(text, keys); !excess.empty())
        throw InputError(Finding{.kind = FindingKind::too_large,
                                 .message = "has " + excess,
                                 .file = file,
                                 .hint = "remove what is not of it"});
    return text;
}

} // namespace archsim
