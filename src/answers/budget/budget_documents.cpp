// Answers about budgets for programs: JSON, JUnit XML and SARIF.

#include "answers/budget/budget.hpp"
#include "answers/difference/difference_report.hpp"
#include "archsim/core/version.hpp"
#include "core/text.hpp"
#include "hardware/operator_rules.hpp"
#include "report/blocks/result_row.hpp"
#include "report/render/answer_document.hpp"
#include "report/render/html.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace archsim {

namespace {

Members<BudgetOutcome> budget_outcome_members() {
    using O = BudgetOutcome;
    return {{"rule", "", [](const O& o) { return o.rule.text; }},
            {"metric", "", [](const O& o) { return o.rule.metric->key; }},
            {"status", "", &O::status, UpTo{BudgetStatus::no_value}},
            {"failed", "", &O::failed},
            {"before", "in the metric's unit", &O::before},
            {"after", "in the metric's unit", &O::after},
            {"limit", "in the metric's unit", &O::limit},
            {"chance", "probability that a limit of a value is kept, from the interval of the estimate",
             &O::chance}};
}

Members<BudgetedEstimate> budgeted_members() {
    using E = BudgetedEstimate;
    return {{"model", "", [](const E& e) { return e.result.model->name; }},
            {"hardware", "", [](const E& e) { return e.result.hardware; }},
            {"status", "", [](const E& e) { return status_text(e.result.estimate); }, result_status()},
            {"reason", "why it does not run",
             [](const E& e) { return e.after ? std::nullopt : std::optional(e.result.estimate.reason); }},
            {"in_baseline", "", [](const E& e) { return e.before.has_value(); }},
            {"outcomes", "of each rule", &E::outcomes, budget_outcome_members()},
            {"moved", "differences as explain_difference writes them", &E::moved, difference_members()},
            {"request", "what was asked", [](const E& e) { return e.result; }, request_members()}};
}

AnswerDocument<BudgetAnswer> budget_document() {
    using A = BudgetAnswer;
    return {
        "check_budget",
        "limits and changes, checked",
        {{"baseline", "file; null: none", [](const A& a) { return nonempty(a.request.baseline.string()); }},
         {"verdict", "the answer", budget_lines, lines_members()},
         {"failures", "outcomes that fail", &A::failures},
         {"estimates", "model by model", &A::estimates, budgeted_members()}}};
}

/// Text as XML 1.0 may hold it: without control characters, and without the two code points of Unicode's
/// first plane that are no characters.
std::string xml(const std::string& text) {
    std::string shown = one_line(text);
    for (const auto& [character, name] : {std::pair("\uFFFE", "\\ufffe"), std::pair("\uFFFF", "\\uffff")})
        for (std::size_t at = shown.find(character); at != std::string::npos; at = shown.find(character, at))
            shown.replace(at, std::string_view(character).size(), name);
    return html_escaped(shown);
}

/// A path or name as a URI reference.
std::string uri_of(const std::string& name) {
    std::string uri;
    for (const char c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("/._-~").find(c) != std::string_view::npos;
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri;
}

} // namespace

nlohmann::ordered_json check_budget_schema() {
    return budget_document().schema();
}

std::string to_json(const BudgetAnswer& answer, const BudgetView&) {
    return budget_document().text(answer);
}

std::string to_junit(const BudgetAnswer& answer) {
    std::string cases;
    std::size_t tests = 0, failures = 0, skipped = 0;
    for (const BudgetedEstimate& e : answer.estimates) {
        std::string own;
        std::size_t own_failures = 0, own_skipped = 0;
        for (const BudgetOutcome& o : e.outcomes) {
            own += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", xml(e.title()),
                               xml(o.rule.text));
            if (o.status == BudgetStatus::no_baseline) {
                ++own_skipped;
                own += fmt::format("><skipped message=\"{}\"/></testcase>\n", xml(outcome_text(o)));
            } else if (o.failed()) {
                ++own_failures;
                std::string why;
                for (const Difference& d : e.moved)
                    if (d.attribution.metric == o.rule.metric) {
                        why.clear();
                        for (const std::string& line : difference_lines(d, labels_of(d.sides[0], d.sides[1])))
                            why += line + "\n";
                        for (const std::string& sentence : block_sentences(d).items)
                            why += sentence + "\n";
                    }
                if (!e.after)
                    why = e.result.estimate.reason + "\n";
                own += fmt::format(
                    ">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n",
                    xml(std::string(name_of(o.status))), xml(outcome_text(o)), xml(why));
            } else {
                own += "/>\n";
            }
        }
        cases +=
            fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" "
                        "time=\"0\">\n{}  </testsuite>\n",
                        xml(e.title()), e.outcomes.size(), own_failures, own_skipped, own);
        tests += e.outcomes.size();
        failures += own_failures;
        skipped += own_skipped;
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"check_budget\" tests=\"{}\" "
        "failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\">\n{}</testsuites>\n",
        tests, failures, skipped, cases);
}

std::string to_sarif(const BudgetAnswer& answer) {
    using Ordered = nlohmann::ordered_json;
    Ordered rules = Ordered::array(), results = Ordered::array();
    for (const BudgetRule& rule : answer.request.rules)
        rules.push_back({{"id", rule.text},
                         {"shortDescription", {{"text", fmt::format("Fails on {}", rule.text)}}},
                         {"defaultConfiguration", {{"level", "error"}}}});
    for (const BudgetedEstimate& e : answer.estimates)
        for (std::size_t i = 0; i < e.outcomes.size(); ++i)
            if (const BudgetOutcome& o = e.outcomes[i]; o.failed())
                results.push_back(
                    {{"ruleId", o.rule.text},
                     {"ruleIndex", i},
                     {"level", "error"},
                     {"message", {{"text", fmt::format("{}: {}.", e.title(), outcome_text(o))}}},
                     {"locations", Ordered::array({{{"physicalLocation",
                                                     {{"artifactLocation", {{"uri", uri_of(e.asked)}}},
                                                      {"region", {{"startLine", 1}}}}}}})}});
    return document_text(
        {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
         {"version", "2.1.0"},
         {"runs", Ordered::array(
                      {{{"tool",
                         {{"driver",
                           {{"name", "check_budget"}, {"version", version()}, {"rules", std::move(rules)}}}}},
                        {"results", std::move(results)}}})}});
}

} // namespace archsim
