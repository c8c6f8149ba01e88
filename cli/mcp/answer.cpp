#include "mcp/mcp.hpp"

#include "archsim/core/finding.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace archsim::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kMostRows = "max_rows";
constexpr std::int64_t kLargest = 1'000'000;
constexpr std::size_t kMostText = 20'000; ///< bytes of a text, which assistants pay for by the word

/// A list that was cut: where it stands and how long it was.
struct Cut {
    std::string at;
    std::size_t rows;
};

void cut_lists(Json& value, std::size_t most, const std::string& at, std::vector<Cut>& cuts) {
    if (value.is_array() && value.size() > most) {
        cuts.push_back({at, value.size()});
        value.erase(value.begin() + static_cast<std::ptrdiff_t>(most), value.end());
    }
    if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i)
            cut_lists(value[i], most, fmt::format("{}/{}", at, i), cuts);
    if (value.is_object())
        for (auto& [key, member] : value.items())
            cut_lists(member, most, fmt::format("{}/{}", at, key), cuts);
}

/// The sentences of a document's verdict or verdicts, one a line.
std::string verdict_of(const Json& document) {
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

Json text_content(std::string text) {
    if (text.size() > kMostText)
        text = text.substr(0, text.rfind('\n', kMostText)) + "\n(cut; structuredContent has the rest)\n";
    while (text.ends_with('\n'))
        text.pop_back();
    return Json::array({{{"type", "text"}, {"text", printable(std::move(text))}}});
}

} // namespace

void add_answer_options(Json& schema) {
    const AnswerOptions usual;
    schema["properties"][kMostRows] = {{"type", "integer"},
                                       {"minimum", 0},
                                       {"maximum", kLargest},
                                       {"default", usual.most_rows},
                                       {"description", "rows of every list in structuredContent; 0: all"}};
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
    return {{"content", text_content(sentence)}, {"isError", true}};
}

Json answer_of(const Captured& run, const std::function<Captured()>& as_text, const AnswerOptions& options) {
    Json document = Json::parse(run.printed, nullptr, false);
    if (!document.is_object()) {
        const std::string all = run.printed + run.said;
        if (run.status == 0 && !all.empty())
            return {{"content", text_content(all)}, {"isError", false}};
        return failed(all.empty() ? fmt::format("the tool ended with status {} and said nothing", run.status)
                                  : all);
    }
    std::string text = verdict_of(document);
    if (text.empty() && as_text)
        text = as_text().printed;
    std::vector<Cut> cuts;
    if (options.most_rows > 0)
        cut_lists(document, static_cast<std::size_t>(options.most_rows), "", cuts);
    text += run.said;
    constexpr std::size_t kNamed = 3;
    for (std::size_t i = 0; i < cuts.size() && i < kNamed; ++i)
        text += fmt::format("structuredContent{}: the first {} of {}; {}: 0 for all\n", cuts[i].at,
                            options.most_rows, cuts[i].rows, kMostRows);
    if (cuts.size() > kNamed)
        text += fmt::format("{} more lists are cut alike\n", cuts.size() - kNamed);
    return {{"content", text_content(std::move(text))},
            {"structuredContent", std::move(document)},
            {"isError", false}};
}

} // namespace archsim::cli
