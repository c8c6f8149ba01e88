#pragma once
// Text and files -> JSON documents.

#include "archsim/core/finding.hpp"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

class FlatObject;

/// A member of the document that is a long list of flat objects: each goes to `read`.
struct PassingRows {
    std::string_view key;
    std::function<void(FlatObject&)> read;
};

/// The document that nlohmann::json::parse would return, in a third of its time, since devices are parsed by
/// the hundred. Reads what the database uses: ASCII text, strings without \u escapes, at most 64 levels. Null
/// for anything else, right or wrong: then the caller parses with nlohmann, which also words the error.
/// `rows` are read as they pass and are no part of the document; after a null what they were given is void.
std::optional<nlohmann::json> parse_plain_json(std::string_view text, std::span<const PassingRows> rows = {});

/// Parses a text; `file` stands for it in findings. Null with a finding (with line and column) when it is not
/// a JSON object.
std::optional<nlohmann::json> parse_json_text(const std::string& text, const std::string& file,
                                              std::vector<Finding>& findings);

/// Parses a file; null with a finding (with line and column) when it cannot be read or is not a JSON object.
std::optional<nlohmann::json> parse_json_file(const std::string& file, std::vector<Finding>& findings);

} // namespace archsim
