#include "answers/budget/budget.hpp"
#include "result/cost_terms.hpp"
#include "result/generation_metrics.hpp"

#include "answers/difference/attribution.hpp"
#include "archsim/core/version.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "fields/question_json.hpp"
#include "hardware/operator_rules.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/renderers.hpp"
#include "result/format_parts.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>

namespace archsim {

static Cell change_cell(const std::optional<double>& before, const std::optional<double>& after) {
    if (!before || !after)
        return {};
    return {*before != 0 ? signed_percent(*after / *before - 1) : "-", *after - *before};
}

static Table rule_table(const BudgetAnswer& answer) {
    struct Row {
        const BudgetedEstimate& estimate;
        const BudgetOutcome& outcome;
    };
    std::vector<Row> rows;
    for (const BudgetedEstimate& e : answer.estimates)
        for (const BudgetOutcome& o : e.outcomes)
            rows.push_back({e, o});
    const auto value = [](std::optional<double> BudgetOutcome::*of) {
        return [of](const Row& r) { return value_cell(*r.outcome.rule.metric, r.outcome.*of); };
    };
    return table_of<Row>("Budgets",
                         {{{"Estimate", "", "estimate"}, [](const Row& r) { return r.estimate.title(); }},
                          {{"Fails on", "", "rule"}, [](const Row& r) { return r.outcome.rule.text; }},
                          {least_best("Before", "", "before"), value(&BudgetOutcome::before)},
                          {least_best("After", "", "after"), value(&BudgetOutcome::after)},
                          {least_best("Change", "", "change"),
                           [](const Row& r) { return change_cell(r.outcome.before, r.outcome.after); }},
                          {least_best("Limit", "", "limit", 1), value(&BudgetOutcome::limit)},
                          {most_best("Kept", "", "chance", 1),
                           [](const Row& r) {
                               const auto& chance = r.outcome.chance;
                               return chance ? Cell{fmt::format("{:.0f} %", *chance * 100), *chance} : Cell{};
                           }},
                          evidence_column<Row>([](const Row& r) { return evidence_of(r.estimate.result); }),
                          {{"Status", "", "status"},
                           [](const Row& r) {
                               return toned_cell(name_of(r.outcome.status),
                                                 r.outcome.failed() ? Tone::bad : Tone::good);
                           }}},
                         rows);
}

/// Every metric that both have.
static Table metric_changes(const BudgetedEstimate& e) {
    struct Row {
        const Metric* metric;
        std::optional<double> before;
        double after;
    };
    std::vector<Row> rows;
    for (const Metric* metric : every_metric().rows()) {
        const auto after = e.after->values.find(metric->key);
        if (after == e.after->values.end())
            continue;
        std::optional<double> before;
        if (const auto found = e.before->values.find(metric->key); found != e.before->values.end())
            before = found->second.value;
        if (before != after->second.value)
            rows.push_back({metric, before, after->second.value});
    }
    return table_of<Row>(
        {},
        {{{"Metric", "", "metric"}, [](const Row& r) { return r.metric->title; }},
         {least_best("Before", "", "before"), [](const Row& r) { return value_cell(*r.metric, r.before); }},
         {least_best("After", "", "after"), [](const Row& r) { return value_cell(*r.metric, r.after); }},
         {least_best("Change", "", "change"), [](const Row& r) { return change_cell(r.before, r.after); }}},
        rows);
}

static void add_estimate(const BudgetedEstimate& e, const BudgetView& view, Report& report) {
    report.blocks.push_back(Heading{2, e.title()});
    if (!e.after) {
        report.blocks.push_back(
            Paragraph{fmt::format("Does not run: {}.", e.result.estimate.reason), Tone::bad});
        return;
    }
    if (!e.before) {
        report.blocks.push_back(
            Paragraph{fmt::format("Latency {}, memory {}; no baseline to compare with.",
                                  format_value(metric::latency, e.after->values.at("latency").value),
                                  format_value(metric::memory, e.after->values.at("memory").value))});
        return;
    }
    Table changes = metric_changes(e);
    if (changes.rows.empty()) {
        report.blocks.push_back(Paragraph{"Nothing moved."});
        return;
    }
    report.blocks.push_back(std::move(changes));
    const SideLabels labels = labels_of(*e.before, *e.after);
    for (const Difference& d : e.moved) {
        add_blocks(report, Heading{3, fmt::format("Why {} moved", d.attribution.metric->noun)},
                   Paragraph{fmt::format("{}", fmt::join(difference_lines(d, labels), " "))});
        if (Bullets sentences = block_sentences(d); !sentences.items.empty())
            report.blocks.push_back(std::move(sentences));
        report.blocks.push_back(cause_table(d, labels, kSmallPart));
        if (!d.blocks.empty())
            report.blocks.push_back(block_table(d, view.top));
    }
}

/// How a cost was reckoned, where a budget is one of cost; which estimates measurements refute or none stands
/// behind.
static std::vector<std::string> budget_bases(const BudgetAnswer& answer) {
    std::vector<Result> results = mapped(answer.estimates, &BudgetedEstimate::result);
    std::vector<std::string> lines = doubt_lines(results);
    const auto& rules = answer.request.rules;
    if (std::ranges::any_of(rules, [](const BudgetRule& rule) { return *rule.metric == metric::cost; }))
        lines.push_back(cost_basis(results, answer.request.cost));
    return lines;
}

std::string budget_headline(const BudgetAnswer& answer) {
    const std::size_t rules = answer.request.rules.size() * answer.estimates.size();
    const auto saved = answer.request.saved.empty()
                           ? std::string()
                           : fmt::format(" {} is a baseline of {}.", one_line(answer.request.saved.string()),
                                         plural(answer.estimates.size(), "estimate"));
    if (rules == 0)
        return "No budget was asked for." + saved;
    if (answer.failures() == 0)
        return fmt::format("Passed: {} of {} budgets kept.{}", rules, rules, saved);
    std::vector<std::string> failed = {
        fmt::format("{} of {} budgets exceeded", answer.count(BudgetStatus::exceeded), rules)};
    if (const std::size_t missing = answer.count(BudgetStatus::no_baseline); missing > 0)
        failed.push_back(fmt::format("{} not compared", missing));
    if (const std::size_t missing = answer.count(BudgetStatus::no_value); missing > 0)
        failed.push_back(fmt::format("{} without a value", missing));
    return fmt::format("FAILED: {}.{}", fmt::join(failed, ", "), saved);
}

std::vector<std::string> budget_lines(const BudgetAnswer& answer) {
    constexpr std::size_t kNamed = 3;
    std::vector<std::string> lines = {budget_headline(answer)};
    for (const BudgetedEstimate& e : answer.estimates)
        for (const BudgetOutcome& o : e.outcomes)
            if (o.failed() && lines.size() <= kNamed)
                lines.push_back(fmt::format("{}: {}.", e.title(), outcome_text(o, e.result)));
    for (std::string& basis : budget_bases(answer))
        if (!basis.empty())
            lines.push_back(std::move(basis));
    std::vector<std::string> ran;
    for (const BudgetedEstimate& e : answer.estimates)
        if (e.result.ok() && !answer.request.conditions.precision.named())
            ran.push_back(fmt::format("{} under {}", multiplied_format(e.result), e.result.runtime->name));
    if (!ran.empty())
        lines.push_back(fmt::format("Estimated in {}.", names_text(distinct(std::move(ran)), kNamed)));
    return lines;
}

std::string outcome_text(const BudgetOutcome& o, const Result& result) {
    const Metric& metric = in_its_words(*o.rule.metric, {&result, 1});
    switch (o.status) {
    case BudgetStatus::no_value:
        return fmt::format("{}: no {}{}", o.rule.text, metric.noun, o.reason.empty() ? "" : ": " + o.reason);
    case BudgetStatus::no_baseline:
        return fmt::format("{}: not compared: {}", o.rule.text,
                           o.reason.empty() ? "the baseline has no such value" : o.reason);
    default:
        break;
    }
    const std::string before = o.before ? fmt::format(", before {} ({})", format_value(metric, *o.before),
                                                      change_cell(o.before, o.after).text)
                                        : "";
    const std::string chance =
        o.chance ? fmt::format(", kept with {:.0f} % probability", *o.chance * 100) : "";
    return fmt::format("{}: {} {}, limit {}{}{}", o.rule.text, metric.noun, format_value(metric, *o.after),
                       format_value(metric, *o.limit), before, chance);
}

Report describe(const BudgetAnswer& answer, const BudgetView& view, Format format) {
    Report report;
    if (format == Format::csv)
        return {report.title, {rule_table(answer)}};
    report.title = "BUDGETS";
    add_blocks(report, Heading{1, report.title}, Takeaway{budget_lines(answer)});
    if (!answer.request.rules.empty())
        report.blocks.push_back(rule_table(answer));
    for (const BudgetedEstimate& estimate : answer.estimates)
        add_estimate(estimate, view, report);
    return report;
}

// Answers about budgets for programs: JSON, JUnit XML and SARIF.

static Members<BudgetOutcome> budget_outcome_members() {
    using O = BudgetOutcome;
    return {{"rule", "", [](const O& o) { return o.rule.text; }},
            {"metric", "", [](const O& o) { return o.rule.metric->key; }},
            {"status", "", &O::status, UpTo{BudgetStatus::no_value}},
            {"failed", "", &O::failed},
            {"reason", "why there is no value, or nothing to compare with; null: there is",
             [](const O& o) { return nonempty(o.reason); }},
            {"before", "in the metric's unit", &O::before},
            {"after", "in the metric's unit", &O::after},
            {"limit", "in the metric's unit", &O::limit},
            {"chance", "probability that a limit of a value is kept, from the interval of the estimate",
             &O::chance}};
}

static Members<BudgetedEstimate> budgeted_members() {
    using E = BudgetedEstimate;
    return {{"model", "", [](const E& e) { return e.result.model->name; }},
            {"hardware", "", [](const E& e) { return e.result.hardware; }},
            {"status", "", [](const E& e) { return status_text(e.result.estimate); }, result_status()},
            evidence_member<E>([](const E& e) { return evidence_of(e.result); }),
            {"reason", "why it does not run",
             [](const E& e) { return e.after ? std::nullopt : std::optional(e.result.estimate.reason); }},
            {"in_baseline", "", [](const E& e) { return e.before.has_value(); }},
            {"outcomes", "of each rule", &E::outcomes, budget_outcome_members()},
            {"moved", "differences as explain_difference writes them", &E::moved, difference_members()},
            {"request", "what was asked", [](const E& e) { return e.result; }, request_members()}};
}

static Members<BudgetRequest> budget_request_members() {
    using R = BudgetRequest;
    constexpr double kPercent = 100;
    return Members<R>{{"models", "", &R::models}, {"hardware", "", &R::hardware}}
        .with(question_members().of<R>([](const R& r) {
            return Question{r.workload, r.conditions};
        }))
        .with({{"precision", question_field("precision").help,
                [](const R& r) {
                    const QuestionField& field = question_field("precision");
                    return r.conditions.precision.named()
                               ? nonempty(field.print({r.workload, r.conditions}).front())
                               : std::nullopt;
                }},
               {"fail_on", "rules, limits too",
                [](const R& r) {
                    const auto asked = [](const BudgetRule& rule) { return rule.text != kRateRule; };
                    return mapped(kept(r.rules, asked), &BudgetRule::text); // the rate asks for its own
                }},
               {"certainty",
                "percent of probability with which limits must be kept; null: the estimate decides",
                [=](const R& r) {
                    return r.certainty > 0 ? std::optional(std::lround(r.certainty * kPercent))
                                           : std::nullopt;
                }},
               {"baseline", "file; null: none", [](const R& r) { return nonempty(r.baseline.string()); }}});
}

/// Text as XML 1.0 may hold it: without control characters, and without the two code points of Unicode's
/// first plane that are no characters.
static std::string xml(const std::string& text) {
    std::string shown = one_line(text);
    for (const auto& [character, name] : {std::pair("\uFFFE", "\\ufffe"), std::pair("\uFFFF", "\\uffff")})
        for (std::size_t at = shown.find(character); at != std::string::npos; at = shown.find(character, at))
            shown.replace(at, std::string_view(character).size(), name);
    return html_escaped(shown);
}

/// A path or name as a URI reference.
static std::string uri_of(const std::string& name) {
    std::string uri;
    for (const char c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                           std::string_view("/._-~").find(c) != std::string_view::npos;
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri;
}

AnswerDocument document_of(const BudgetAnswer& answer, const BudgetView&) {
    using A = BudgetAnswer;
    return {
        answer,
        "check_budget",
        "limits and changes, checked",
        {{"request", "what was asked", &A::request, budget_request_members()},
         {"baseline", "file; null: none", [](const A& a) { return nonempty(a.request.baseline.string()); }},
         {"verdict", "the answer", budget_lines, lines_members()},
         {"failures", "outcomes that fail", &A::failures},
         {"estimates", "model by model", &A::estimates, budgeted_members()}}};
}

std::string to_junit(const BudgetAnswer& answer) {
    std::string cases;
    std::size_t tests = 0, failures = 0;
    for (const BudgetedEstimate& e : answer.estimates) {
        std::string own;
        std::size_t own_failures = 0;
        for (const BudgetOutcome& o : e.outcomes) {
            own += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", xml(e.title()),
                               xml(o.rule.text));
            if (o.failed()) {
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
                    xml(std::string(name_of(o.status))), xml(outcome_text(o, e.result)), xml(why));
            } else {
                own += "/>\n";
            }
        }
        cases += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
                             "skipped=\"0\" time=\"0\">\n{}  </testsuite>\n",
                             xml(e.title()), e.outcomes.size(), own_failures, own);
        tests += e.outcomes.size();
        failures += own_failures;
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"check_budget\" tests=\"{}\" "
        "failures=\"{}\" errors=\"0\" skipped=\"0\" time=\"0\">\n{}</testsuites>\n",
        tests, failures, cases);
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
                     {"message", {{"text", fmt::format("{}: {}.", e.title(), outcome_text(o, e.result))}}},
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
