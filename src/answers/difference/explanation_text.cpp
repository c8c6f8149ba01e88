#include "answers/difference/attribution.hpp"

#include "report/blocks/metric_text.hpp"

#include <algorithm>

namespace archsim {

/// The sentence of each factor about two devices {a} and {b} with the values {x} and {y}.
constexpr std::array<std::string_view, kFactorCount> kSentences = {
    "{a} can execute {x} at the precision it runs in, {b} {y}",
    "{a} turns {x} of its peak into useful work while it computes, {b} {y}",
    "on-chip data paths are busy for {x} on {a} and {y} on {b}",
    "{a} reaches {x} of memory bandwidth in long streams, {b} {y}",
    "the accesses of this network reach {x} of that bandwidth on {a}, {y} on {b}",
    "{a} moves {x} to and from external memory, {b} {y}",
    "running compute and data movement at once saves {x} of their time on {a}, {y} on {b}",
    "starting kernels, layers and the inference take {x} on {a}, {y} on {b}",
    "operators and transfers on the host take {x} on {a}, {y} on {b}",
    "the power limit leaves {x} of the clock on {a}, {y} on {b}",
    "an item finishes every {x} of the latency on {a}, every {y} on {b}",
    "{a} has {x}, {b} {y}",
    "{a} starts {x} kernels or layers, {b} {y}",
    "the network wants room on the chip for {x} of weights on {a}, {y} on {b}",
    "{a} executes {x}, {b} {y}",
    "a multiply-accumulate costs {x} on {a}, {y} on {b}",
    "instructions, scheduling and control take {x} on {a}, {y} on {b}",
    "registers and the nearest memory pass {x} on {a}, {y} on {b}",
    "each such byte costs {x} on {a}, {y} on {b}",
    "shared on-chip memory passes {x} on {a}, {y} on {b}",
    "each byte of shared on-chip memory costs {x} on {a}, {y} on {b}",
    "{x} pass between processing elements, streamers and routing on {a}, {y} on {b}",
    "each byte between processing elements costs {x} on {a}, {y} on {b}",
    "each byte of external memory costs {x} on {a}, {y} on {b}",
    "{a} draws {x} without doing work, {b} {y}",
    "an inference occupies {a} for {x}, {b} for {y}",
    "weights take {x} on {a}, {y} on {b}",
    "activations alive at once take {x} on {a}, {y} on {b}",
    "keys and values take {x} on {a}, {y} on {b}",
    "the largest workspace takes {x} on {a}, {y} on {b}",
    "device time costs {x} on {a}, {y} on {b}",
    "electricity costs {x} per inference on {a}, {y} on {b}",
    "what lies around the chip adds {x} on {a}, {y} on {b}",
};

/// Input of a factor with its unit: "2.71 TB/s", "34.1 %".
static std::string input_text(Factor factor, double value) {
    const std::string_view unit = info_of(factor).unit;
    if (unit == "1")
        return format_percent(value);
    if (value == 0)
        return "none";
    if (unit == "s")
        return format_time(value);
    if (unit == "B")
        return format_bytes(value);
    if (unit == "B/s")
        return std::isinf(value) ? "no external memory" : format_bytes(value) + "/s";
    if (unit == "J")
        return format_energy(value);
    if (unit == "W")
        return format_power(value);
    if (unit == "op")
        return format_count(value) + " operations";
    if (unit == "op/s")
        return format_number(value / 1e12) + " TOPS";
    if (unit == "count")
        return value == std::round(value) ? fmt::format("{:.0f}", value) : format_number(value);
    return unit == "J/B" || unit == "J/op" ? format_number(value * 1e12) + " pJ"
           : unit == "USD/s"               ? fmt::format("${}/h", format_number(value * 3600))
                                           : fmt::format("${} per million", format_number(value * 1e6));
}

std::string signed_value(const Metric& metric, double value) {
    return (value > 0 ? "+" : value < 0 ? "-" : "") + format_value(metric, std::abs(value));
}

Column bar_column() {
    return {"less   |   more", "", ""};
}

Cell bar_cell(double value, double largest) {
    constexpr int kHalf = 7;
    const int length = largest > 0 ? static_cast<int>(std::lround(kHalf * std::abs(value) / largest)) : 0;
    const std::string bar(static_cast<std::size_t>(length), value < 0 ? '-' : '+');
    const std::string space(static_cast<std::size_t>(kHalf - length), ' ');
    return {value < 0 ? space + bar + "|" : std::string(kHalf, ' ') + "|" + bar};
}

Table contribution_table(const Attribution& x, std::string title, const std::array<AttributedSide, 2>& sides,
                         double folded) {
    struct Row {
        Cell name;
        double value;
        bool drawn = true;
        std::array<Cell, 2> sides = {};
    };
    const double largest = x.contributions.empty() ? 0 : std::abs(x.contributions.front().value);
    const auto of_sides = [&](const auto& of) { return std::array{of(sides[0]), of(sides[1])}; };
    std::vector<Row> rows;
    double rest = 0;
    int small = 0;
    for (const Contribution& p : x.contributions) {
        if (std::abs(p.value) < folded * std::max(std::abs(x.difference), largest)) {
            rest += p.value;
            ++small;
            continue;
        }
        rows.push_back(
            {{std::string(info_of(p.factor).title)}, p.value, true, of_sides([&](const AttributedSide& side) {
                 const double value = side.minuend ? p.a.value : p.b.value;
                 return Cell{input_text(p.factor, value), value};
             })});
    }
    if (small > 0)
        rows.push_back({{fmt::format("{} part{} under 1 %", small, small == 1 ? "" : "s")},
                        rest,
                        true,
                        {text_cell(""), text_cell("")}});
    rows.push_back({{"sum", {}, Tone::strong}, x.difference, false, of_sides([&](const AttributedSide& side) {
                        const double value = side.minuend ? x.a_value : x.b_value;
                        return Cell{format_value(*x.metric, value), value};
                    })});
    std::vector<ColumnOf<Row>> columns = {
        {{"Cause", "", "factor"}, &Row::name},
        {most_best("Part", "", "value"),
         [&](const Row& row) {
             return Cell{signed_value(*x.metric, row.value), row.value, row.name.tone};
         }},
        {bar_column(),
         [&](const Row& row) { return row.drawn ? bar_cell(row.value, largest) : text_cell(""); }}};
    for (std::size_t s = 0; s < sides.size(); ++s)
        columns.emplace_back(most_best(sides[s].label, "", sides[s].key),
                             [s](const Row& row) { return row.sides[s]; });
    Table table = table_of(std::move(title), columns, rows);
    table.notes.emplace_back("Each part is a Shapley value: the contribution of this cause alone, averaged "
                             "over all orders of changing the causes.");
    return table;
}

Chart contribution_chart(const Attribution& x, const std::string& a, const std::string& b,
                         const std::function<std::string(const Contribution&)>& hover) {
    Chart chart{ChartKind::waterfall,
                fmt::format("From {} to {}, cause by cause", b, a),
                "cause",
                fmt::format("{} ({})", x.metric->noun, axis_unit_of(*x.metric)),
                false,
                false,
                {{"", {}}}};
    const auto add = [&](const std::string& label, double value, std::string text, bool total) {
        ChartPoint point{label, 0, value * x.metric->scale};
        point.hover = std::move(text);
        point.total = total;
        chart.series.front().points.push_back(std::move(point));
    };
    const auto add_total = [&](const std::string& label, double value) {
        add(label, value, fmt::format("{}: {}", label, format_value(*x.metric, value)), true);
    };
    add_total(b, x.b_value);
    for (const Contribution& part : x.contributions)
        add(std::string(info_of(part.factor).title), part.value, hover(part), false);
    add_total(a, x.a_value);
    return chart;
}

std::string cause_text(const Contribution& c, const std::string& a, const std::string& b) {
    return fmt::format(fmt::runtime(kSentences[static_cast<std::size_t>(c.factor)]), fmt::arg("a", a),
                       fmt::arg("b", b), fmt::arg("x", input_text(c.factor, c.a.value)),
                       fmt::arg("y", input_text(c.factor, c.b.value)));
}

std::string contribution_sentence(const Contribution& c, const Metric& metric, const std::string& a,
                                  const std::string& b) {
    return fmt::format("{}: {}; this alone is {} {} {} on {}.", info_of(c.factor).title, cause_text(c, a, b),
                       format_value(metric, std::abs(c.value)), c.value > 0 ? "more" : "less", metric.noun,
                       a);
}

std::vector<const RegionContribution*> carrying(const Attribution& attribution, double share) {
    std::vector<const RegionContribution*> list;
    double sum = 0;
    for (const RegionContribution& r : attribution.region_contributions) {
        if (attribution.difference == 0 || sum / attribution.difference >= share)
            break;
        if (r.value * attribution.difference <= 0)
            continue;
        list.push_back(&r);
        sum += r.value;
    }
    return list;
}

const Contribution* main_cause(const Attribution& x) {
    std::array<double, kFactorCount> parts{};
    for (const Contribution& p : x.contributions)
        parts[static_cast<std::size_t>(p.factor)] = p.value;
    const auto main = main_factor(parts);
    const auto found = std::find_if(x.contributions.begin(), x.contributions.end(),
                                    [&](const Contribution& p) { return main && p.factor == *main; });
    return found == x.contributions.end() ? nullptr : &*found;
}

} // namespace archsim
