#include "answers/difference/difference_report.hpp"

#include "answers/difference/difference_blocks.hpp"
#include "answers/difference/explanation_text.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/answer_document.hpp"
#include "report/render/answer_schemas.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

namespace {

/// "TPU-v4: projected: no comparable device was measured on this stack." Of devices that differ: two
/// networks, or two formats, on one projection err alike.
std::string doubt_text(const DifferenceAnswer& answer) {
    std::string text;
    if (answer.results[0].hardware == answer.results[1].hardware)
        return text;
    for (const Result& r : answer.results)
        if (const std::string doubt = doubt_of(r.estimate); !doubt.empty())
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", hardware_label(r), doubt);
    return text.empty() ? text : text + ".";
}

/// Formats that devices run in place of those asked for, a line for each reason.
void add_notes(const DifferenceAnswer& answer, Report& report) {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const Result& r : answer.results) {
        if (r.estimate.precision_note.empty())
            continue;
        const std::string text = fmt::format("{} requested; {}", precision_name(r.conditions.precision),
                                             r.estimate.precision_note);
        auto at = std::find_if(reasons.begin(), reasons.end(),
                               [&](const auto& known) { return known.first == text; });
        if (at == reasons.end())
            at = reasons.insert(at, {text, {}});
        if (std::find(at->second.begin(), at->second.end(), hardware_label(r)) == at->second.end())
            at->second.push_back(hardware_label(r));
    }
    for (const auto& [text, devices] : reasons)
        report.blocks.push_back(Paragraph{fmt::format("{}: {}.", fmt::join(devices, ", "), text)});
}

} // namespace

Report describe(const DifferenceAnswer& answer, const DifferenceView& view, Format format) {
    const Difference& d = answer.difference;
    Report report;
    if (format == Format::csv) {
        report.blocks.push_back(d.blocks.empty() ? cause_table(d, labels_of(d.sides[0], d.sides[1]), 0)
                                                 : block_table(d, view.top));
        return report;
    }
    const SideLabels labels = labels_of(d.sides[0], d.sides[1]);
    report.title = fmt::format("DIFFERENCE: {} against {} ({})", labels.side[1], labels.side[0],
                               d.attribution.metric->noun);
    report.blocks.push_back(Heading{1, report.title});
    report.blocks.push_back(Takeaway{difference_lines(d, labels, answer.odds, doubt_text(answer))});
    add_notes(answer, report);
    if (d.attribution.contributions.empty())
        return report;
    if (Bullets sentences = block_sentences(d); !sentences.items.empty())
        report.blocks.push_back(std::move(sentences));
    report.blocks.push_back(cause_table(d, labels, kSmallPart));
    if (format != Format::text || view.top == 0) // a screen has the same numbers in the table above
        report.blocks.push_back(difference_chart(d, labels));
    if (!d.blocks.empty())
        report.blocks.push_back(block_table(d, view.top));
    if (!d.classes.empty())
        report.blocks.push_back(class_table(d, view.top));
    return report;
}

namespace {

AnswerDocument<DifferenceAnswer> difference_document() {
    using A = DifferenceAnswer;
    return {
        "explain_difference", "what makes two estimates differ",
        Members<A>{{"requests", "what was asked of both sides", &A::results, request_members()},
                   {"verdict", "the answer",
                    [](const A& a) {
                        const Difference& d = a.difference;
                        return difference_lines(d, labels_of(d.sides[0], d.sides[1]), a.odds, doubt_text(a));
                    },
                    lines_members()},
                   {"probability", "that the one which is estimated better is; null: neither is named",
                    [](const A& a) { return doubt_text(a).empty() ? std::optional(a.odds) : std::nullopt; }}}
            .with(difference_members().of<A>(std::mem_fn(&A::difference)))};
}

} // namespace

nlohmann::ordered_json explain_difference_schema() {
    return difference_document().schema();
}

std::string to_json(const DifferenceAnswer& answer, const DifferenceView&) {
    return difference_document().text(answer);
}

} // namespace archsim
