#include "answers/difference/difference.hpp"

#include "report/blocks/metric_text.hpp"
#include "report/blocks/result_text.hpp"
#include "result/ties.hpp"

#include <fmt/ranges.h>

namespace archsim {

namespace {

constexpr double kWorthASentence = 0.05; ///< of the largest part
constexpr double kNothing = 1e-9;        ///< of the largest part: rounding
constexpr std::size_t kMostSentences = 6;

/// "the 8 blocks layer*.*"
std::string of_blocks(const BlockDifference& block) {
    return block.blocks == 1 ? block.name : fmt::format("the {} blocks {}", block.blocks, block.name);
}

/// "from 4 % to 12 % of peak"
std::string peak_text(const DifferencePart& part) {
    const auto [before, after] = part.peak_share;
    if (before > 0 && after > 0 && format_percent(before) != format_percent(after))
        return fmt::format("at {} of peak, before {}", format_percent(after), format_percent(before));
    const double one = after > 0 ? after : before;
    return one > 0 ? fmt::format("at {} of peak", format_percent(one)) : std::string();
}

std::string with_peak(const std::string& text, const DifferencePart& part) {
    const std::string peak = peak_text(part);
    return peak.empty() ? text : text + " " + peak;
}

/// The largest, and of these none without a part.
template <class Row>
std::size_t rows_shown(const std::vector<Row>& rows, int top) {
    if (top <= 0)
        return rows.size();
    std::size_t count = 0;
    while (count < rows.size() && count < static_cast<std::size_t>(top) &&
           std::abs(rows[count].part.value) > kNothing * std::abs(rows.front().part.value))
        ++count;
    return count;
}

template <class Row>
void add_part_columns(const Attribution& x, const std::vector<Row>& rows,
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
Table table_of_largest(std::string title, const std::vector<ColumnOf<Row>>& columns,
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
ColumnOf<ClassDifference> both_sides(Column column, std::array<double, 2> DifferencePart::*values,
                                     std::string (*format)(double)) {
    return {std::move(column), [values, format](const ClassDifference& c) {
                const std::array<double, 2>& v = c.part.*values;
                return Cell{format(v[0]) + " -> " + format(v[1]), v[1] - v[0]};
            }};
}

/// "kernels started -12 us; time +3 us"
std::string largest_causes(const ClassDifference& c, const Metric& metric) {
    std::vector<std::string> causes;
    constexpr double kSmall = 0.01; // of the largest: folded
    for (std::size_t k = 0; k < std::min<std::size_t>(2, c.causes.size()); ++k)
        if (std::abs(c.causes[k].second) > kSmall * std::abs(c.causes.front().second))
            causes.push_back(fmt::format("{} {}", info_of(c.causes[k].first).title,
                                         signed_value(metric, c.causes[k].second)));
    return fmt::format("{}", fmt::join(causes, "; "));
}

/// "; per item 42.5 us against 339 us": batches of different sizes take different times, whichever is better.
std::string per_item_text(const Difference& d) {
    const Attribution& x = d.attribution;
    const double after = d.sides[1].batch, before = d.sides[0].batch;
    if (*x.metric != metric::latency || after == before || !(after > 0) || !(before > 0))
        return "";
    return fmt::format("; per item {} against {}", format_value(*x.metric, x.a_value / after),
                       format_value(*x.metric, x.b_value / before));
}

/// " (82 % likely)"; nothing where it is as good as certain.
std::string likely_text(std::optional<double> odds) {
    constexpr double kCertain = 0.995;
    return odds && *odds < kCertain ? fmt::format(" ({:.0f} % likely)", 100 * *odds) : std::string();
}

} // namespace

SideLabels labels_of(const EstimateRecord& before, const EstimateRecord& after) {
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
    for (std::size_t i = 0; i < old.size(); ++i) {
        if (old[i] == now[i]) {
            if (!old[i].empty())
                common.push_back(old[i]);
            continue;
        }
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
    std::vector<std::string> lines = {
        fmt::format("{}{} {} {}: {} against {}, {}{}{}.",
                    !doubt.empty()            ? "Not ranked; by the estimates "
                    : odds && *odds < kCalled ? "Too close to call: "
                                              : "",
                    labels.side[1], ratio_text(metric, x.a_value / x.b_value), labels.side[0],
                    format_value(metric, x.a_value), format_value(metric, x.b_value),
                    signed_value(metric, x.difference), per_item_text(d), likely_text(odds))};
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
        std::string text =
            fmt::format("{}{}: {}", of_blocks(block),
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

Table class_table(const Difference& d, int top) {
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

} // namespace archsim
