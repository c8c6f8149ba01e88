#include "hardware/json_text.hpp"

#include "archsim/core/finding.hpp"
#include "core/text_file.hpp"
#include "hardware/plain_json.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <system_error>
#include <utility>

namespace archsim {

using nlohmann::json;

namespace {

constexpr int kMaxDepth = 64;

/// Builds the document of what PlainJson reads.
class PlainDocument {
  public:
    PlainDocument(std::string_view text, std::span<const PassingRows> rows) : text_(text), rows_(rows) {}

    bool read(json& out) {
        text_.skip_blanks();
        if (!value(out, 0))
            return false;
        text_.skip_blanks();
        return text_.at_end();
    }

  private:
    bool value(json& out, int depth) {
        if (text_.at_end() || depth > kMaxDepth)
            return false;
        switch (text_.peek()) {
        case '{':
            return object(out, depth);
        case '[':
            return array(out, depth);
        case '"':
            out = json::string_t();
            return text_.string(out.get_ref<json::string_t&>());
        case 't':
            out = true;
            return text_.take_word("true");
        case 'f':
            out = false;
            return text_.take_word("false");
        case 'n':
            out = nullptr;
            return text_.take_word("null");
        default:
            return number(out);
        }
    }

    bool object(json& out, int depth) {
        out = json::object();
        auto& members = out.get_ref<json::object_t&>();
        return text_.members([&](std::string_view key) {
            for (const PassingRows& rows : rows_)
                if (depth == 0 && rows.key == key)
                    return pass(rows);
            // The last of equal keys wins, as with nlohmann.
            return value(members[std::string(key)], depth + 1);
        });
    }

    bool array(json& out, int depth) {
        out = json::array();
        auto& items = out.get_ref<json::array_t&>();
        return text_.items([&] {
            items.emplace_back(nullptr);
            return value(items.back(), depth + 1);
        });
    }

    bool pass(const PassingRows& rows) {
        return text_.items([&] {
            FlatObject row(text_);
            if (row.sound_so_far())
                rows.read(row);
            return row.sound();
        });
    }

    bool number(json& out) {
        std::string_view digits;
        bool whole = false;
        if (!text_.number(digits, whole))
            return false;
        if (whole &&
            (digits.front() == '-' ? parsed<std::int64_t>(digits, out) : parsed<std::uint64_t>(digits, out)))
            return true;
        return parsed<double>(digits, out) && std::isfinite(out.get<double>());
    }

    template <class Number>
    static bool parsed(std::string_view digits, json& out) {
        Number number{};
        const char* const last = digits.data() + digits.size();
        const auto [end, error] = std::from_chars(digits.data(), last, number);
        if (error != std::errc{} || end != last)
            return false;
        out = number;
        return true;
    }

    PlainJson text_;
    std::span<const PassingRows> rows_;
};

} // namespace

std::optional<json> parse_plain_json(std::string_view text, std::span<const PassingRows> rows) {
    json document;
    if (!PlainDocument(text, rows).read(document))
        return std::nullopt;
    return document;
}

std::optional<json> parse_json_text(const std::string& text, const std::string& file,
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
    try {
        std::optional<json> plain = parse_plain_json(text);
        json document = plain ? std::move(*plain) : json::parse(text);
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
