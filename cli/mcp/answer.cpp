#include "mcp/mcp.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace archsim::cli {

using Json = nlohmann::ordered_json;

constexpr const char* kMostRows = "max_rows";
constexpr std::int64_t kLargest = 1'000'000;
/// Bytes of a text and of a whole answer, which assistants pay for by the word.
constexpr std::size_t kMostText = 3'000, kMostAnswer = 8'500;
/// Rows of a list, and of lists inside of its rows.
struct Rows {
    std::size_t most, inside;
};
/// Those that are tried until the answer is small enough: the devices of a ranking say more than what each
/// holds.
constexpr Rows kRows[] = {{20, 20}, {20, 5}, {20, 1}, {20, 0}, {10, 0}, {5, 0}, {3, 0}, {1, 0}};

/// A list that was cut: where it stands, how much of it is left and how long it was.
struct Cut {
    std::string at;
    std::size_t kept, rows;
};

/// What is asked again as it is, and the answer itself.
constexpr std::array<std::string_view, 3> kWhole = {"request", "verdict", "verdicts"};

/// An interval, or a pair of a name and a value: half of it says nothing.
static bool is_pair(const Json& list) {
    return list.size() <= 2 &&
           std::ranges::none_of(list, [](const Json& one) { return one.is_structured(); });
}

static void cut_lists(Json& value, Rows rows, const std::string& at, std::vector<Cut>& cuts) {
    if (value.is_array() && value.size() > rows.most && !is_pair(value)) {
        cuts.push_back({at, rows.most, value.size()});
        value.erase(value.begin() + static_cast<std::ptrdiff_t>(rows.most), value.end());
    }
    if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i)
            cut_lists(value[i], {rows.inside, rows.inside}, fmt::format("{}/{}", at, i), cuts);
    if (value.is_object())
        for (auto& [key, member] : value.items())
            if (!at.empty() || !contains(kWhole, key))
                cut_lists(member, rows, fmt::format("{}/{}", at, key), cuts);
}

struct CutDocument {
    Json document;
    std::vector<Cut> cuts;
};

static CutDocument cut_at(const Json& whole, Rows rows) {
    CutDocument cut{whole, {}};
    cut_lists(cut.document, rows, "", cut.cuts);
    return cut;
}

/// The document with as many rows of every list as fit beside a text of that size. Members that alone are too
/// much are left out, the largest first, the answer and the request last.
static CutDocument fitting(const Json& whole, std::size_t text) {
    const auto size = [](const Json& json) {
        return json.dump(-1, ' ', false, Json::error_handler_t::replace).size();
    };
    CutDocument cut{whole, {}};
    for (const Rows rows : kRows) {
        cut = cut_at(whole, rows);
        if (size(cut.document) + text <= kMostAnswer)
            return cut;
    }
    const auto weight = [&](const std::string& key, const Json& member) -> std::size_t {
        return key == "schema" ? 0 : contains(kWhole, key) ? 1 : 1 + size(member);
    };
    while (size(cut.document) + text > kMostAnswer && cut.document.size() > 1) {
        auto largest = cut.document.begin();
        for (auto member = cut.document.begin(); member != cut.document.end(); ++member)
            if (weight(member.key(), *member) > weight(largest.key(), *largest))
                largest = member;
        cut.cuts.insert(cut.cuts.begin(), {"/" + largest.key(), 0, largest->size()});
        cut.document.erase(largest);
    }
    return cut;
}

/// The sentences of a document's verdict or verdicts, one a line.
static std::string verdict_of(const Json& document) {
    std::string text;
    const auto add = [&](const Json& verdict) {
        if (verdict.is_object() && verdict.contains("lines") && verdict["lines"].is_array())
            for (const Json& line : verdict["lines"])
                if (line.is_string())
                    text += line.get<std::string>() + "\n";
    };
    if (document.contains("verdict"))
        add(document["verdict"]);
    if (document.contains("verdicts") && document["verdicts"].is_array())
        for (const Json& verdict : document["verdicts"])
            add(verdict);
    return text;
}

static std::string text_cut(std::string text) {
    return text.size() <= kMostText
               ? text
               : text.substr(0, text.rfind('\n', kMostText)) + "\n(cut; structuredContent has the rest)\n";
}

/// Flags in a sentence as the arguments that they are here, and no help that only a shell prints. Worked:
/// "--batch-size: 0 is too small (see check_model --help)" is "batch_size: 0 is too small".
static std::string in_keys(std::string_view sentence) {
    std::string keys;
    for (std::size_t at = 0; at < sentence.size();) {
        const std::string_view rest = sentence.substr(at);
        if (const std::size_t end = rest.find(" --help)");
            rest.starts_with(" (see ") && end < rest.find(')')) {
            at += end + std::string_view(" --help)").size();
        } else if (rest.size() > 2 && rest.starts_with("--") && rest[2] >= 'a' && rest[2] <= 'z' &&
                   (keys.empty() || keys.back() != '-')) {
            for (at += 2; at < sentence.size() && (sentence[at] == '-' || std::isalnum(sentence[at]) != 0);
                 ++at)
                keys += sentence[at] == '-' ? '_' : sentence[at];
        } else {
            keys += rest.front();
            ++at;
        }
    }
    return keys;
}

static Json text_content(std::string text) {
    while (text.ends_with('\n'))
        text.pop_back();
    return Json::array({{{"type", "text"}, {"text", printable(std::move(text))}}});
}

void add_answer_options(Json& schema) {
    schema["properties"][kMostRows] = {
        {"type", "integer"},
        {"minimum", 0},
        {"maximum", kLargest},
        {"description",
         "rows of every list in structuredContent; 0: all; without it an answer has 10 kB at most"}};
}

AnswerOptions take_answer_options(Json& arguments) {
    AnswerOptions options;
    if (!arguments.is_object() || !arguments.contains(kMostRows))
        return options;
    const Json given = arguments[kMostRows];
    if (!given.is_number_integer() || given < 0 || given > kLargest)
        throw UsageError(fmt::format("{}: expected a whole number from 0 to {}", kMostRows, kLargest));
    options.most_rows = given.get<std::int64_t>();
    arguments.erase(kMostRows);
    return options;
}

Json failed(const std::string& sentence) {
    return {{"content", text_content(in_keys(sentence))}, {"isError", true}};
}

Json answer_of(const Captured& run, const std::function<Captured()>& as_text, const AnswerOptions& options) {
    Json document = Json::parse(run.printed, nullptr, false);
    if (!document.is_object()) {
        const std::string all = run.printed + run.said;
        if (run.status == 0 && !all.empty())
            return {{"content", text_content(text_cut(all))}, {"isError", false}};
        return failed(all.empty() ? fmt::format("the tool ended with status {} and said nothing", run.status)
                                  : all);
    }
    std::string text = in_keys(verdict_of(document));
    if (text.empty() && as_text)
        text = as_text().printed;
    text += run.said;
    if (options.most_rows != 0) {
        const auto most = static_cast<std::size_t>(options.most_rows.value_or(0));
        const CutDocument cut = options.most_rows ? cut_at(document, {most, most})
                                                  : fitting(document, std::min(text.size(), kMostText));
        constexpr std::size_t kNamed = 3;
        std::string said;
        for (std::size_t i = 0; i < cut.cuts.size() && i < kNamed; ++i)
            said += fmt::format("structuredContent{}: the first {} of {}; {}: 0 for all\n", cut.cuts[i].at,
                                cut.cuts[i].kept, cut.cuts[i].rows, kMostRows);
        if (cut.cuts.size() > kNamed)
            said += fmt::format("{} more lists are cut alike\n", cut.cuts.size() - kNamed);
        document = cut.document;
        text = text_cut(std::move(text)) + said;
    }
    return {{"content", text_content(std::move(text))},
            {"structuredContent", std::move(document)},
            {"isError", false}};
}

} // namespace archsim::cli
