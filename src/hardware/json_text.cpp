#include "hardware/json_text.hpp"

#include "archsim/core/finding.hpp"
#include "core/text_file.hpp"

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

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Characters that a string can hold as they are: ASCII without control characters, quote and backslash.
constexpr bool is_plain(char c) {
    return c >= ' ' && c < '\x7f' && c != '"' && c != '\\';
}

/// Every function reads at `at_` and returns false where the text is not plain JSON.
class PlainParser {
  public:
    explicit PlainParser(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    bool document(json& out) {
        skip_blanks();
        if (!value(out, 0))
            return false;
        skip_blanks();
        return at_ == end_;
    }

  private:
    bool take(char expected) {
        if (at_ == end_ || *at_ != expected)
            return false;
        ++at_;
        return true;
    }

    bool take_word(std::string_view word) {
        if (static_cast<std::size_t>(end_ - at_) < word.size() || std::string_view(at_, word.size()) != word)
            return false;
        at_ += word.size();
        return true;
    }

    void skip_blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r'))
            ++at_;
    }

    bool value(json& out, int depth) {
        if (at_ == end_ || depth > kMaxDepth)
            return false;
        switch (*at_) {
        case '{':
            return object(out, depth);
        case '[':
            return array(out, depth);
        case '"':
            out = json::string_t();
            return string(out.get_ref<json::string_t&>());
        case 't':
            out = true;
            return take_word("true");
        case 'f':
            out = false;
            return take_word("false");
        case 'n':
            out = nullptr;
            return take_word("null");
        default:
            return number(out);
        }
    }

    bool object(json& out, int depth) {
        out = json::object();
        auto& members = out.get_ref<json::object_t&>();
        ++at_;
        skip_blanks();
        if (take('}'))
            return true;
        std::string key;
        do {
            skip_blanks();
            key.clear();
            if (!string(key))
                return false;
            skip_blanks();
            if (!take(':'))
                return false;
            skip_blanks();
            // The last of equal keys wins, as with nlohmann.
            if (!value(members[key], depth + 1))
                return false;
            skip_blanks();
        } while (take(','));
        return take('}');
    }

    bool array(json& out, int depth) {
        out = json::array();
        auto& items = out.get_ref<json::array_t&>();
        ++at_;
        skip_blanks();
        if (take(']'))
            return true;
        do {
            skip_blanks();
            items.emplace_back(nullptr);
            if (!value(items.back(), depth + 1))
                return false;
            skip_blanks();
        } while (take(','));
        return take(']');
    }

    bool string(std::string& out) {
        if (!take('"'))
            return false;
        for (;;) {
            const char* begin = at_;
            while (at_ != end_ && is_plain(*at_))
                ++at_;
            out.append(begin, at_);
            if (take('"'))
                return true;
            if (!take('\\') || !escape(out))
                return false;
        }
    }

    bool escape(std::string& out) {
        constexpr std::string_view kNames = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
        const auto known = at_ == end_ ? std::string_view::npos : kNames.find(*at_);
        if (known == std::string_view::npos)
            return false;
        out += kMeanings[known];
        ++at_;
        return true;
    }

    bool digits() {
        const char* begin = at_;
        while (at_ != end_ && is_digit(*at_))
            ++at_;
        return at_ != begin;
    }

    bool number(json& out) {
        const char* begin = at_;
        const bool negative = take('-');
        if (!take('0') && !digits())
            return false;
        bool whole = true;
        if (take('.')) {
            whole = false;
            if (!digits())
                return false;
        }
        if (take('e') || take('E')) {
            whole = false;
            if (!take('+'))
                take('-');
            if (!digits())
                return false;
        }
        if (whole && (negative ? parsed<std::int64_t>(begin, out) : parsed<std::uint64_t>(begin, out)))
            return true;
        return parsed<double>(begin, out) && std::isfinite(out.get<double>());
    }

    template <class Number>
    bool parsed(const char* begin, json& out) const {
        Number number{};
        const auto [end, error] = std::from_chars(begin, at_, number);
        if (error != std::errc{} || end != at_)
            return false;
        out = number;
        return true;
    }

    const char* at_;
    const char* end_;
};

} // namespace

std::optional<json> parse_plain_json(std::string_view text) {
    json document;
    if (!PlainParser(text).document(document))
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
