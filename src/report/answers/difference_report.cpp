#include "report/answers/difference_report.hpp"

#include "archsim/core/version.hpp"
#include "report/answers/difference_blocks.hpp"
#include "report/answers/difference_json.hpp"
#include "report/answers/explanation_text.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/json_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace archsim {

namespace {

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
    report.blocks.push_back(Takeaway{difference_lines(d, labels)});
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

nlohmann::ordered_json requests_json(const DifferenceAnswer& answer) {
    auto list = nlohmann::ordered_json::array();
    for (const Result& result : answer.results)
        list.push_back(request_json(result));
    return list;
}

} // namespace

std::string to_json(const DifferenceAnswer& answer, const DifferenceView&) {
    const Difference& d = answer.difference;
    nlohmann::ordered_json document = {
        {"schema", "archsim.explain_difference/1"},
        {"version", version()},
        {"requests", requests_json(answer)},
        {"verdict", {{"lines", difference_lines(d, labels_of(d.sides[0], d.sides[1]))}}}};
    document.update(difference_json(d));
    return document_text(document);
}

} // namespace archsim
