#include "hardware/json_text.hpp"

#include "archsim/core/finding.hpp"
#include "core/json_limits.hpp"
#include "core/text_file.hpp"
#include "hardware/json_document.hpp"

#include <fmt/format.h>
#include <utility>

namespace archsim {

using nlohmann::json;

std::optional<json> parse_json_text(std::string_view text, const std::string& file,
                                    std::vector<Finding>& findings) {
    const auto fail = [&](std::string message, std::string hint) {
        Finding finding;
        finding.kind = FindingKind::malformed_file;
        finding.file = file;
        finding.message = std::move(message);
        finding.hint = std::move(hint);
        findings.push_back(std::move(finding));
        return std::nullopt;
    };
    if (const std::string excess = json_excess(text); !excess.empty())
        return fail("the file has " + excess, "remove what is not of it");
    try {
        const std::optional<JsonDocument> plain = parse_plain_json(text);
        json document = plain ? plain->root.copy() : json::parse(text);
        if (document.is_object())
            return document;
        return fail("the file does not hold a JSON object", "start it with {");
    } catch (const json::parse_error& error) {
        std::size_t line = 1, column = 1;
        for (std::size_t i = 0; i + 1 < error.byte && i < text.size(); ++i) {
            ++column;
            if (text[i] == '\n') {
                ++line;
                column = 1;
            }
        }
        return fail(fmt::format("no valid JSON at line {}, column {}", line, column),
                    "check commas, quotes and brackets there");
    } catch (const json::exception& error) {
        return fail(fmt::format("no valid JSON ({})", error.what()), "check the numbers of the file");
    }
}

std::optional<json> parse_json_file(const std::string& file, std::vector<Finding>& findings) {
    try {
        return parse_json_text(read_text_file(file), file, findings);
    } catch (const InputError& problem) {
        findings.insert(findings.end(), problem.findings().begin(), problem.findings().end());
        return std::nullopt;
    }
}

} // namespace archsim
