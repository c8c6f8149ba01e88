#include "core/json_text.hpp"

#include "core/json_document.hpp"

namespace archsim {

using nlohmann::json;

std::optional<json> parse_json_text(std::string_view text, const std::string& file,
                                    std::vector<Finding>& findings) {
    const std::optional<JsonDocument> document = parse_document_text(text, file, findings);
    return document ? std::optional(document->root.copy()) : std::nullopt;
}

std::optional<json> parse_json_file(const std::string& file, std::vector<Finding>& findings) {
    const std::optional<JsonDocument> document = parse_document(file, findings);
    return document ? std::optional(document->root.copy()) : std::nullopt;
}

} // namespace archsim
