#include "answers/difference/difference.hpp"

#include "core/lists.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_row.hpp"
#include "report/blocks/result_text.hpp"
#include "result/ties.hpp"

#include <algorithm>
#include <fmt/ranges.h>

namespace archsim {

constexpr double kWorthASentence = 0.05; ///< of the largest part
constexpr double kNothing = 1e-9;        ///< of the largest part: rounding
constexpr std::size_t kMostSentences = 6;

/// "from 4 % to 12 % of peak"
static std::string peak_text(const DifferencePart& part) {
    const auto [before, after] = part.peak_share;
    if (before > 0 && after > 0 && format_percent(before) != format_percent(after))
        return fmt::format("at {} of peak, before {}", format_percent(after), format_percent(before));
    const double one = after > 0 ? after : before;
    return one > 0 ? fmt::format("at {} of peak", format_percent(one)) : std::string();
}

static std::string with_peak(const std::string& text, const DifferencePart& part) {
    const std::string peak = peak_text(part);
    return peak.empty() ? text : text + " " + peak;
}

/// The largest, and of these none without a part.
template <class Row>
static std::size_t rows_shown(const std::vector<Row>& rows, int top) {
    if (top <= 0)
        return rows.size();
    std::size_t count = 0;
    while (count < rows.size() && count < static_cast<std::size_t>(top) &&
           std::abs(rows[count].part.value) > kNothing * std::abs(rows.front().part.value))
        ++count;
    return count;
}

template <class Row>
static void add_part_columns(const Attribution& x, const std::vector<Row>& rows,
                             std::vector<ColumnOf<Row>>& columns) {
    const double largest = rows.empty() ? 0 : std::abs(rows.front().part.value);
    columns.push_back({{"Part", "", "value", Align::right}, [&x](const Row& row) {
                           return Cell{signed_value(*x.metric, row.part.value), row.part.value};
                       }});
    columns.push_back(
        {bar_column(), [largest](const Row& row) { return bar_cell(row.part.value, largest); }});
}

/// The largest rows, and what the others come to.
template <class Row>
static Table table_of_largest(std::string title, const std::vector<ColumnOf<Row>>& columns,
                              const std::vector<Row>& rows, int top, const Attribution& x) {
    const std::size_t shown = rows_shown(rows, top);
    Table table = table_of(std::move(title), columns, std::span(rows.data(), shown));
    double rest = 0;
    for (std::size_t i = shown; i < rows.size(); ++i)
        rest += rows[i].part.value;
    if (const std::size_t hidden = rows.size() - shown; hidden > 0)
        table.notes.push_back(std::abs(rest) <= kNothing * std::abs(rows.front().part.value)
                                  ? fmt::format("{} more without a part; all of them with --top 0.", hidden)
                                  : fmt::format("{} more: {}; all of them with --top 0.", hidden,
                                                signed_value(*x.metric, rest)));
    return table;
}

/// "before -> after" of one of the part's pairs.
static ColumnOf<ClassDifference> both_sides(Column column, std::array<double, 2> DifferencePart::*values,
                                            std::string (*format)(double)) {
    return {std::move(column), [values, format](const ClassDifference& c) {
                const std::array<double, 2>& v = c.part.*values;
                return Cell{format(v[0]) + " -> " + format(v[1]), v[1] - v[0]};
            }};
}

/// "kernels started -12 us; time +3 us"
static std::string largest_causes(const ClassDifference& c, const Metric& metric) {
    std::vector<std::string> causes;
    constexpr double kSmall = 0.01; // of the largest: folded
    for (std::size_t k = 0; k < std::min<std::size_t>(2, c.causes.size()); ++k)
        if (std::abs(c.causes[k].second) > kSmall * std::abs(c.causes.front().second))
            causes.push_back(fmt::format("{} {}", info_of(c.causes[k].first).title,
                                         signed_value(metric, c.causes[k].second)));
    return fmt::format("{}", fmt::join(causes, "; "));
}

/// "; per item 42.5 us against 339 us": batches of different sizes take different times, whichever is better.
static std::string per_item_text(const Difference& d) {
    const Attribution& x = d.attribution;
    const double after = d.sides[1].batch, before = d.sides[0].batch;
    if (*x.metric != metric::latency || after == before || !(after > 0) || !(before > 0))
        return "";
    return fmt::format("; per item {} against {}", format_value(*x.metric, x.a_value / after),
                       format_value(*x.metric, x.b_value / before));
}

static Table class_table(const Difference& d, int top) {
    const Attribution& x = d.attribution;
    using Part = DifferencePart;
    std::vector<ColumnOf<ClassDifference>> columns = {
        {{"Class", "", "class"}, [](const ClassDifference& c) { return Cell{c.kind}; }}};
    add_part_columns(x, d.classes, columns);
    columns.insert(columns.end(),
                   {{{"Largest causes", "", "causes"},
                     [&](const ClassDifference& c) { return Cell{largest_causes(c, *x.metric)}; }},
                    both_sides({"Kernels", "", "kernels_change", Align::right, 1}, &Part::kernels,
                               [](double v) { return fmt::format("{:.10g}", v); }),
                    both_sides({"Time", "", "latency_change_s", Align::right, 1}, &Part::latency_s,
                               [](double v) { return format_time(v); }),
                    both_sides({"Operations", "", "operations_change", Align::right, 2}, &Part::operations,
                               format_count),
                    both_sides({"Memory", "", "bytes_change", Align::right, 2}, &Part::bytes, format_bytes),
                    both_sides({"Of peak", "", "peak_share_change", Align::right, 2}, &Part::peak_share,
                               format_percent)});
    return table_of_largest("Classes of operators", columns, d.classes, top, x);
}

/// "TPU-v4: projected: no comparable device was measured on this stack." Of devices that differ: two
/// networks, or two formats, on one projection err alike.
static std::string doubt_text(const DifferenceAnswer& answer) {
    if (answer.results[0].hardware == answer.results[1].hardware)
        return "";
    return fmt::format("{}", fmt::join(doubt_lines(answer.results), " "));
}

/// Formats that devices run in place of those asked for, a line for each reason.
static void add_notes(const DifferenceAnswer& answer, Report& report) {
    NamesByText reasons;
    for (const Result& r : answer.results) {
        if (r.estimate.precision_note.empty())
            continue;
        std::vector<std::string>& devices =
            names_under(fmt::format("{} requested; {}", precision_name(r.conditions.precision),
                                    r.estimate.precision_note),
                        reasons);
        if (!contains(devices, hardware_label(r)))
            devices.push_back(hardware_label(r));
    }
    for (const auto& [text, devices] : reasons)
        report.blocks.push_back(Paragraph{fmt::format("{}: {}.", fmt::join(devices, ", "), text)});
}

using Both = std::array<std::optional<double>, 2>;

static Both two(const std::array<double, 2>& values) {
    return {finite(values[0]), finite(values[1])};
}

const char* const kPeakShare = "useful operations over those of the peak in that time: before, after";

static Members<EstimateRecord> side_members() {
    using R = EstimateRecord;
    return {{"model", "", &R::model},
            {"hardware", "", &R::hardware},
            {"runtime", "software stack", &R::stack},
            {"precision", "", [](const R& r) { return precision_name(r.precision); }},
            {"batch_size", "", &R::batch},
            {"dims", "sizes of symbolic dimensions", &R::dims}};
}

static Members<DifferencePart> difference_part_members() {
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

static Members<Contribution> difference_cause_members() {
    using C = Contribution;
    return {{"factor", "", [](const C& c) { return info_of(c.factor).name; }},
            {"title", "", [](const C& c) { return info_of(c.factor).title; }},
            {"value", "its part of the difference", &C::value},
            {"before_input", "", [](const C& c) { return finite(c.b.value); }},
            {"after_input", "", [](const C& c) { return finite(c.a.value); }},
            {"input_unit", "", [](const C& c) { return info_of(c.factor).unit; }}};
}

static Members<ClassDifference> class_difference_members() {
    using C = ClassDifference;
    return Members<C>{{"class", "of operators", &C::kind}}
        .with(difference_part_members().of<C>([](const C& c) { return c.part; }))
        .with({{"causes", "parts of the value by factor", [](const C& c) {
                    return mapped(c.causes, [](const auto& cause) {
                        return std::pair<std::string, double>(info_of(cause.first).name, cause.second);
                    });
                }}});
}

static Members<BlockDifference> block_difference_members() {
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

SideLabels labels_of(const EstimateRecord& before, const EstimateRecord& after) {
    constexpr std::size_t kSizesFrom = 5; // which follow from the others where those differ
    const auto words = [&](const EstimateRecord& r) {
        std::vector<std::string> all = {r.model, r.hardware, before.hardware == after.hardware ? r.stack : "",
                                        precision_name(r.precision), fmt::format("batch {:g}", r.batch)};
        for (const auto& [name, size] : r.dims)
            if (name != "batch" && name.find(' ') == std::string::npos) // no sums of other sizes
                all.push_back(fmt::format("{} {}", name, size));
        return all;
    };
    auto old = words(before), now = words(after);
    old.resize(std::max(old.size(), now.size()));
    now.resize(old.size());
    SideLabels labels;
    std::array<std::vector<std::string>, 2> own;
    std::vector<std::string> common;
    bool only_sizes = false; // differ
    for (std::size_t i = 0; i < old.size(); ++i) {
        if (old[i] == now[i]) {
            if (!old[i].empty())
                common.push_back(old[i]);
            continue;
        }
        if (i >= kSizesFrom && !(own[0].empty() && own[1].empty()) && !only_sizes)
            continue;
        only_sizes = only_sizes || i >= kSizesFrom;
        if (!old[i].empty())
            own[0].push_back(old[i]);
        if (!now[i].empty())
            own[1].push_back(now[i]);
    }
    for (std::size_t side = 0; side < 2; ++side)
        labels.side[side] = own[side].empty() ? (side == 0 ? "before" : "after")
                                              : fmt::format("{}", fmt::join(own[side], ", "));
    labels.common = fmt::format("{}", fmt::join(common, ", "));
    return labels;
}

std::vector<std::string> difference_lines(const Difference& d, const SideLabels& labels,
                                          std::optional<double> odds, const std::string& doubt) {
    const Attribution& x = d.attribution;
    const Metric& metric = *x.metric;
    if (x.difference == 0)
        return {fmt::format("No difference: {} and {} both have {} of {} ({}).", labels.side[0],
                            labels.side[1], metric.noun, format_value(metric, x.a_value), labels.common)};
    std::vector<std::string> lines = {fmt::format(
        "{}{} {} {}: {} against {}, {}{}{}.",
        !doubt.empty()            ? "Not ranked; by the estimates "
        : odds && *odds < kCalled ? "Too close to call: "
                                  : "",
        labels.side[1], ratio_text(metric, x.a_value / x.b_value), labels.side[0],
        format_value(metric, x.a_value), format_value(metric, x.b_value), signed_value(metric, x.difference),
        per_item_text(d), doubt.empty() ? likely_text(odds.value_or(1)) : std::string())};
    if (!doubt.empty())
        lines.push_back(doubt);
    if (const Contribution* cause = main_cause(x))
        lines.push_back(
            fmt::format("Mainly because {}.", cause_text(*cause, labels.side[1], labels.side[0])));
    std::string shared = labels.common.empty() ? std::string() : fmt::format("Both: {}.", labels.common);
    if (d.operators[0] > 0 && d.operators[1] > 0)
        shared += fmt::format("{}{} operators match ({} in A, {} in B).", shared.empty() ? "" : " ",
                              d.aligned, d.operators[0], d.operators[1]);
    if (!shared.empty())
        lines.push_back(std::move(shared));
    return lines;
}

Bullets block_sentences(const Difference& d) {
    Bullets bullets;
    const Metric& metric = *d.attribution.metric;
    for (const BlockDifference& block : d.blocks) {
        if (bullets.items.size() == kMostSentences ||
            std::abs(block.part.value) < kWorthASentence * std::abs(d.blocks.front().part.value))
            break;
        std::string text = fmt::format(
            "{}{}: {}",
            block.blocks == 1 ? block.name : fmt::format("the {} blocks {}", block.blocks, block.name),
            block.change == Change::kept ? "" : fmt::format(" {}", name_of(block.change)),
            signed_value(metric, block.part.value));
        if (block.main_kind != block.name && block.main_part.value != 0)
            text += ", of which " + signed_value(metric, block.main_part.value) + " " +
                    with_peak(block.main_kind, block.main_part);
        else
            text = with_peak(text, block.part);
        if (block.part.main_value != 0)
            text += fmt::format("; mainly {}", info_of(block.part.main).title);
        bullets.items.push_back(text + ".");
    }
    return bullets;
}

Table cause_table(const Difference& d, const SideLabels& labels, double folded) {
    return contribution_table(
        d.attribution, "Causes",
        {{{labels.side[0], "before_input", false}, {labels.side[1], "after_input", true}}}, folded);
}

Table block_table(const Difference& d, int top) {
    using B = BlockDifference;
    const Attribution& x = d.attribution;
    std::vector<ColumnOf<B>> columns = {
        {{"Block", "", "block"}, [](const B& b) { return Cell{b.name}; }},
        {{"Change", "", "change"}, [](const B& b) { return Cell{std::string(name_of(b.change))}; }},
        {{"Number", "", "blocks", Align::right}, [](const B& b) { return whole_cell(b.blocks); }}};
    add_part_columns(x, d.blocks, columns);
    columns.insert(
        columns.end(),
        {{{"Mainly", "", "main_factor"},
          [](const B& b) {
              return b.part.main_value != 0 ? info_of(b.part.main).title : std::string_view();
          }},
         {{"Class", "", "main_class", Align::left, 1}, [](const B& b) { return Cell{b.main_kind}; }},
         {{"Its part", "", "main_class_value", Align::right, 1},
          [&](const B& b) {
              return Cell{signed_value(*x.metric, b.main_part.value), b.main_part.value};
          }},
         {{"Of peak", "%", "peak_share", Align::right, 2}, [](const B& b) {
              const auto& [before, after] = b.main_part.peak_share;
              const double peak = after > 0 ? after : before;
              return peak > 0 ? percent_cell(peak) : Cell{};
          }}});
    return table_of_largest("Blocks of the network", columns, d.blocks, top, x);
}

Report describe(const DifferenceAnswer& answer, const DifferenceView& view, Format format) {
    const Difference& d = answer.difference;
    Report report;
    if (format == Format::csv)
        return {report.title,
                {d.blocks.empty() ? cause_table(d, labels_of(d.sides[0], d.sides[1]), 0)
                                  : block_table(d, view.top)}};
    const SideLabels labels = labels_of(d.sides[0], d.sides[1]);
    report.title = fmt::format("DIFFERENCE: {} against {} ({})", labels.side[1], labels.side[0],
                               d.attribution.metric->noun);
    add_blocks(report, Heading{1, report.title},
               Takeaway{difference_lines(d, labels, answer.odds, doubt_text(answer))});
    add_notes(answer, report);
    if (d.attribution.contributions.empty())
        return report;
    if (Bullets sentences = block_sentences(d); !sentences.items.empty())
        report.blocks.push_back(std::move(sentences));
    report.blocks.push_back(cause_table(d, labels, kSmallPart));
    if (format != Format::text || view.top == 0) // a screen has the same numbers in the table above
        report.blocks.push_back(
            contribution_chart(d.attribution, labels.side[1], labels.side[0], [&](const Contribution& part) {
                return fmt::format("{}: {}", info_of(part.factor).title,
                                   signed_value(*d.attribution.metric, part.value));
            }));
    if (!d.blocks.empty())
        report.blocks.push_back(block_table(d, view.top));
    if (!d.classes.empty())
        report.blocks.push_back(class_table(d, view.top));
    return report;
}

AnswerDocument document_of(const DifferenceAnswer& answer, const DifferenceView&) {
    using A = DifferenceAnswer;
    return {
        answer, "explain_difference", "what makes two estimates differ",
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

Members<Difference> difference_members() {
    using D = Difference;
    std::vector<Member<D>> changes;
    for (const Change change : {Change::kept, Change::added, Change::removed, Change::displaced})
        changes.emplace_back(std::string(name_of(change)), "",
                             [change](const D& d) { return d.by_change[static_cast<std::size_t>(change)]; });
    return {{"metric", "", [](const D& d) { return d.attribution.metric->key; }},
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
            {"causes", "they add up to the difference",
             [](const D& d) { return d.attribution.contributions; }, difference_cause_members()},
            {"by_change",
             "parts of kernels that both have, that only the second has, that only the first had, and that "
             "both have but others displace from the chip",
             std::identity{}, Members<D>(std::move(changes))},
            {"classes", "classes of operators; they add up to the difference", &D::classes,
             class_difference_members()},
            {"blocks", "blocks of the network; they add up to the difference", &D::blocks,
             block_difference_members()}};
}

} // namespace archsim
