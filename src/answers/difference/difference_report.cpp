#include "answers/difference/difference_report.hpp"

#include "answers/difference/attribution.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/answer_document.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace archsim {

namespace {

/// "TPU-v4: projected: no comparable device was measured on this stack." Of devices that differ: two
/// networks, or two formats, on one projection err alike.
std::string doubt_text(const DifferenceAnswer& answer) {
    std::string text;
    if (answer.results[0].hardware == answer.results[1].hardware)
        return text;
    for (const Result& r : answer.results)
        if (const std::string doubt = doubt_of(r.estimate).text(); !doubt.empty())
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

using Both = std::array<std::optional<double>, 2>;

Both two(const std::array<double, 2>& values) {
    return {finite(values[0]), finite(values[1])};
}

const char* const kPeakShare = "useful operations over those of the peak in that time: before, after";

Members<EstimateRecord> side_members() {
    using R = EstimateRecord;
    return {{"model", "", &R::model},
            {"hardware", "", &R::hardware},
            {"runtime", "software stack", &R::stack},
            {"precision", "", [](const R& r) { return precision_name(r.precision); }},
            {"batch_size", "", &R::batch},
            {"dims", "sizes of symbolic dimensions", &R::dims}};
}

Members<DifferencePart> difference_part_members() {
    using P = DifferencePart;
    const auto both = [](std::array<double, 2> P::*values) {
        return [values](const P& p) { return two(p.*values); };
    };
    return {
        {"value", "part of after - before, in the metric's unit", &P::value},
        {"main_factor", "cause with the largest part of it",
         [](const P& p) { return p.main_value != 0 ? std::optional(info_of(p.main).name) : std::nullopt; }},
        {"main_value", "", &P::main_value},
        {"latency_s", "time: before, after", both(&P::latency_s)},
        {"operations", "useful operations: before, after", both(&P::operations)},
        {"memory_bytes", "bytes to and from external memory: before, after", both(&P::bytes)},
        {"kernels", "kernels and layers started: before, after", both(&P::kernels)},
        {"energy_j", "energy: before, after", both(&P::energy_j)},
        {"peak_share", kPeakShare, both(&P::peak_share)}};
}

Members<Contribution> difference_cause_members() {
    using C = Contribution;
    return {{"factor", "", [](const C& c) { return info_of(c.factor).name; }},
            {"title", "", [](const C& c) { return info_of(c.factor).title; }},
            {"value", "its part of the difference", &C::value},
            {"before_input", "", [](const C& c) { return finite(c.b.value); }},
            {"after_input", "", [](const C& c) { return finite(c.a.value); }},
            {"input_unit", "", [](const C& c) { return info_of(c.factor).unit; }}};
}

Members<ClassDifference> class_difference_members() {
    using C = ClassDifference;
    return Members<C>{{"class", "of operators", &C::kind}}
        .with(difference_part_members().of<C>([](const C& c) { return c.part; }))
        .with({{"causes", "parts of the value by factor", [](const C& c) {
                    std::vector<std::pair<std::string, double>> causes;
                    for (const auto& [factor, value] : c.causes)
                        causes.emplace_back(info_of(factor).name, value);
                    return causes;
                }}});
}

Members<BlockDifference> block_difference_members() {
    using B = BlockDifference;
    return Members<B>{{"block", "* stands for numbers of single blocks", &B::name},
                      {"change", "", [](const B& b) { return name_of(b.change); }},
                      {"blocks", "how many it stands for", &B::blocks}}
        .with(difference_part_members().of<B>([](const B& b) { return b.part; }))
        .with(
            {{"main_class", "class of operators with the largest part of it", &B::main_kind},
             {"main_class_value", "", [](const B& b) { return b.main_part.value; }},
             {"main_class_peak_share", kPeakShare, [](const B& b) { return two(b.main_part.peak_share); }}});
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

nlohmann::ordered_json explain_difference_schema() {
    return difference_document().schema();
}

std::string to_json(const DifferenceAnswer& answer, const DifferenceView&) {
    return difference_document().text(answer);
}

Members<Difference> difference_members() {
    using D = Difference;
    std::vector<Member<D>> changes;
    for (const Change change : {Change::kept, Change::added, Change::removed, Change::displaced})
        changes.emplace_back(std::string(name_of(change)), "",
                             [change](const D& d) { return d.by_change[static_cast<std::size_t>(change)]; });
    return {
        {"metric", "", [](const D& d) { return d.attribution.metric->key; }},
        {"unit", "", [](const D& d) { return d.attribution.metric->unit; }},
        {"sides", "", std::identity{},
         Members<D>{{"before", "", [](const D& d) { return d.sides[0]; }, side_members()},
                    {"after", "", [](const D& d) { return d.sides[1]; }, side_members()}}},
        {"before", "", [](const D& d) { return d.attribution.b_value; }},
        {"after", "", [](const D& d) { return d.attribution.a_value; }},
        {"difference", "after - before", [](const D& d) { return d.attribution.difference; }},
        {"intervals_overlap", "of the two 90 % intervals", &D::overlapping},
        {"operators", "with run-time work; aligned: in both", std::identity{},
         Members<D>{{"before", "", [](const D& d) { return d.operators[0]; }},
                    {"after", "", [](const D& d) { return d.operators[1]; }},
                    {"aligned", "", &D::aligned}}},
        {"causes", "they add up to the difference", [](const D& d) { return d.attribution.contributions; },
         difference_cause_members()},
        {"by_change",
         "parts of kernels that both have, that only the second has, that only the first had, and that both "
         "have but others displace from the chip",
         std::identity{}, Members<D>(std::move(changes))},
        {"classes", "classes of operators; they add up to the difference", &D::classes,
         class_difference_members()},
        {"blocks", "blocks of the network; they add up to the difference", &D::blocks,
         block_difference_members()}};
}

} // namespace archsim
