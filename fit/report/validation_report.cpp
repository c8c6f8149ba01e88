// Validation as report blocks. The first table, one line per family:
//
//   Family  Rows  Median  Mean   90 %   Bias   <= 10 %  <= 25 %  <= 50 %  In interval  Tau devices  Tau
//   models gpu      260   9.8 %  13 %   31 %  -1.2 %     51 %     84 %     98 %         91 %         0.93
//   0.91
//
// Median, mean and 90 %: absolute error relative to the measurement. Bias: geometric mean of predicted /
// measured, minus 1. Tau: Kendall's rank agreement.

#include "fit/report/validation_report.hpp"

#include "report/blocks/number_format.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace archsim {

static Table overview(const Validation& validation) {
    std::vector<ValidationGroup> groups;
    for (const ValidationSummary* summary : {&validation.trusted, &validation.every}) {
        groups.push_back(summary->all);
        groups.back().name = summary->selection;
    }
    Table table = table_of({}, statistic_columns("Rows of", "selection"), groups);
    table.notes.emplace_back("Errors are |predicted / measured - 1|.", "median_ape");
    table.notes.emplace_back("Bias is the geometric mean of predicted / measured, minus 1.", "bias");
    table.notes.emplace_back(
        "Tau is Kendall's rank agreement: of devices for the same workload, of models on the "
        "same device; in brackets the pairs that were compared.",
        "tau_of_models");
    return table;
}

static std::string heading_of(const std::string& property) {
    std::string text = property;
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

static void add_groups(const ValidationSummary& summary, Report& report) {
    for (const auto& [property, groups] : summary.by)
        if (!groups.empty())
            report.blocks.push_back(table_of(fmt::format("By {} ({})", property, summary.selection),
                                             statistic_columns(heading_of(property), property), groups));
}

static Table row_table(const std::vector<const ValidatedRow*>& rows, bool spreadsheet) {
    using R = const ValidatedRow*;
    const auto estimated = [](R row) { return row->prediction.ok(); };
    std::vector<ColumnOf<R>> columns = {{{"Row", "", "id"}, [](R row) { return row->measured.id; }}};
    if (spreadsheet)
        append(columns,
               {{{"Status", "", "status"}, [](R row) { return row->prediction.status; }},
                {{"Reason", "", "reason"}, [](R row) { return text_cell(row->prediction.reason); }}});
    append(columns, where<R>(estimated, {{least_best("Predicted", "", "predicted"), 1,
                                          [](R row) { return row->prediction.predicted; }},
                                         {interval_column("Interval", "90 %", "low", "high", 1), [](R row) {
                                              const Prediction& p = row->prediction;
                                              return interval_cell(1, p.low, p.predicted, p.high);
                                          }}}));
    append(columns,
           {{least_best("Measured", "", "value"), 1, [](R row) { return row->measured.value; }},
            {{"Unit", "", "metric", Align::left, 1}, [](R row) { return name_of(row->measured.metric); }}});
    append(columns, where<R>(estimated, {{least_best("Error", "", "error"),
                                          [](R row) { return signed_cell(row->error()); }}}));
    append(columns, {{{"Regime", "", "regime", Align::left, 2},
                      [](R row) { return text_cell(row->prediction.regime); }},
                     {most_best("Weight", "", "weight", 2), 1, [](R row) { return row->measured.weight; }}});
    return table_of({}, columns, rows);
}

/// |log(predicted / measured)|: half and double are equally wrong.
static double distance(const ValidatedRow& row) {
    return std::abs(std::log(row.prediction.predicted / row.measured.value));
}

static void add_worst(const Validation& validation, int limit, Report& report) {
    std::vector<const ValidatedRow*> rows;
    for (const ValidatedRow& row : validation.rows)
        if (row.prediction.ok())
            rows.push_back(&row);
    std::ranges::stable_sort(
        rows, [](const ValidatedRow* a, const ValidatedRow* b) { return distance(*a) > distance(*b); });
    if (limit > 0 && rows.size() > static_cast<std::size_t>(limit))
        rows.resize(static_cast<std::size_t>(limit));
    if (rows.empty())
        return;
    report.blocks.push_back(Heading{2, "Worst rows first"});
    report.blocks.push_back(row_table(rows, false));
}

static void add_missing(const Validation& validation, Report& report) {
    std::map<std::string, std::vector<std::string>> reasons;
    for (const ValidatedRow& row : validation.rows)
        if (!row.prediction.ok())
            reasons[row.prediction.reason.empty() ? row.prediction.status : row.prediction.reason].push_back(
                row.measured.id);
    if (reasons.empty())
        return;
    using R = std::pair<const std::string, std::vector<std::string>>;
    report.blocks.push_back(Heading{2, "Rows without an estimate"});
    report.blocks.push_back(table_of<R>(
        {},
        {{{"Reason", "", "reason"}, &R::first},
         {most_best("Count", "", "count"), 1, [](const R& r) { return r.second.size(); }},
         {{"Rows", "", "rows"}, [](const R& r) { return fmt::format("{}", fmt::join(r.second, ", ")); }}},
        reasons));
}

static std::string error_line(std::string_view of, const ValidationGroup& group) {
    const ErrorStatistics& e = group.errors;
    return e.n == 0
               ? std::string()
               : fmt::format("{}: median error {}, 90 % of {} within {}, bias {}; {} lie in their 90 % "
                             "interval.",
                             of, format_percent(e.median_ape), plural(e.n, "measurement"),
                             format_percent(e.p90_ape), signed_percent(e.bias), format_percent(e.coverage));
}

static const ValidatedRow* worst_row(const Validation& validation) {
    const ValidatedRow* worst = nullptr;
    const auto distance = [](const ValidatedRow& row) {
        return std::abs(std::log(row.prediction.predicted / row.measured.value));
    };
    for (const ValidatedRow& row : validation.rows)
        if (row.prediction.ok() && (worst == nullptr || distance(row) > distance(*worst)))
            worst = &row;
    return worst;
}

static const std::vector<ValidationGroup>* groups_by(const ValidationSummary& summary,
                                                     const std::string& property) {
    const auto found = std::ranges::find_if(summary.by, [&](const auto& by) { return by.first == property; });
    return found == summary.by.end() ? nullptr : &found->second;
}

static const ValidationGroup* group_named(const ValidationSummary& summary, const std::string& property,
                                          const std::string& name) {
    const auto* groups = groups_by(summary, property);
    if (groups == nullptr)
        return nullptr;
    const auto found = std::ranges::find(*groups, name, &ValidationGroup::name);
    return found == groups->end() ? nullptr : &*found;
}

/// One group, and the same rows left out of the fits.
struct LeftOutLine {
    std::string name;
    std::array<const ValidationGroup*, 4> groups;
};

static Table left_out_table(const Validation& shipped, const LeftOutValidation& left_out,
                            const std::string& property) {
    std::string heading = property;
    heading.front() = static_cast<char>(heading.front() - 'a' + 'A');
    using R = LeftOutLine;
    std::vector<ColumnOf<R>> columns = {
        {{heading, "", property}, &R::name},
        {most_best("Rows", "", "n"), 1, [](const R& r) { return r.groups[0]->errors.n; }}};
    static constexpr std::array<std::pair<const char*, const char*>, 4> kSets = {
        {{"shipped", "shipped"},
         {"network out", "model_out"},
         {"device out", "device_out"},
         {"family out", "family_out"}}};
    for (std::size_t i = 0; i < kSets.size(); ++i) {
        const auto& [name, key] = kSets[i];
        const auto share = [i](double ErrorStatistics::*of) {
            return [i, of](const R& r) { return share_cell(r.groups[i]->errors.*of); };
        };
        append(columns,
               where<R>([i](const R& r) { return r.groups[i] != nullptr && r.groups[i]->errors.n > 0; },
                        {{least_best("Median", name, fmt::format("{}_median_ape", key)),
                          share(&ErrorStatistics::median_ape)},
                         {most_best("Within 25 %", name, fmt::format("{}_within_25", key)),
                          share(&ErrorStatistics::within_25)},
                         {most_best("In interval", name, fmt::format("{}_interval_coverage", key)),
                          share(&ErrorStatistics::coverage)},
                         {most_best("Tau models", name, fmt::format("{}_tau_of_models", key)),
                          [i](const R& r) { return tau_cell(r.groups[i]->models); }}}));
    }
    std::vector<R> rows;
    if (const auto* groups = groups_by(shipped.trusted, property))
        for (const ValidationGroup& group : *groups)
            rows.push_back({group.name,
                            {&group, group_named(left_out.without_model.trusted, property, group.name),
                             group_named(left_out.without_device.trusted, property, group.name),
                             group_named(left_out.without_family.trusted, property, group.name)}});
    rows.push_back({"all",
                    {&shipped.trusted.all, &left_out.without_model.trusted.all,
                     &left_out.without_device.trusted.all, &left_out.without_family.trusted.all}});
    rows.push_back({"all, any weight",
                    {&shipped.every.all, &left_out.without_model.every.all,
                     &left_out.without_device.every.all, &left_out.without_family.every.all}});
    return table_of(fmt::format("By {} ({})", property, shipped.trusted.selection), columns, rows);
}

static Cell part_of(double part, std::size_t of) {
    return of > 0 ? share_cell(part / static_cast<double>(of)) : Cell{};
}

/// Which of two devices is faster: what the odds said, and what was measured.
static void add_pairs(const PairOdds& odds, Report& report) {
    if (odds.pairs == 0)
        return;
    const PairOdds::Tenth& called = odds.tenths.back();
    report.blocks.push_back(Heading{3, "Which of two devices is faster"});
    report.blocks.push_back(Paragraph{
        fmt::format("Pairs of devices that run one workload, of times whose network no fit has seen. The "
                    "estimates order {} of {} pairs as the measurements do; {} have odds of nine to one or "
                    "more, and {} of those are ordered right.",
                    share_cell(static_cast<double>(odds.right) / static_cast<double>(odds.pairs)).text,
                    odds.pairs, part_of(static_cast<double>(called.pairs), odds.pairs).text,
                    part_of(static_cast<double>(called.right), called.pairs).text)});
    using Index = std::size_t;
    const auto& tenths = odds.tenths;
    report.blocks.push_back(table_of<Index>(
        {},
        {{{"Probability", "", "probability"},
          [](Index i) { return fmt::format("{} to {} %", 50 + 10 * i, 60 + 10 * i); }},
         {most_best("Pairs", "", "pairs"), 1, [&](Index i) { return tenths[i].pairs; }},
         {most_best("Said", "", "said"), [&](Index i) { return part_of(tenths[i].said, tenths[i].pairs); }},
         {most_best("Was", "", "was"),
          [&](Index i) { return part_of(static_cast<double>(tenths[i].right), tenths[i].pairs); }}},
        indices(tenths.size())));
}

static void add_first_run_checks(const std::vector<FirstRunCheck>& checks, Report& report) {
    if (checks.empty())
        return;
    report.blocks.push_back(Heading{3, "Intervals of rows that nobody had seen"});
    report.blocks.push_back(Paragraph{
        "Recorded first runs: predictions of their day, with the intervals of an error model that has "
        "seen none of the run's rows. Served: waits of clients to whom no parameter was fitted, with the "
        "intervals of a model that has not seen the row's network."});
    using C = FirstRunCheck;
    report.blocks.push_back(table_of<C>(
        {},
        {{{"Run", "", "run"}, &C::name},
         {most_best("Rows", "", "rows"), 1, &C::rows},
         {least_best("Median", "error", "median_ape"), [](const C& c) { return share_cell(c.median_error); }},
         {most_best("In interval", "90 %", "interval_coverage"),
          [](const C& c) { return part_of(static_cast<double>(c.covered), c.rows); }},
         {least_best("Width", "high / low", "width"),
          [](const C& c) {
              return Cell{fmt::format("{:.2f}", c.median_width), c.median_width};
          }}},
        checks));
}

constexpr std::size_t kLeastOfDevice = 3; ///< rows from which a device has a line of its own

/// One row as it was said at first and is said now; left-out predictions where there are any.
struct BeforeAndAfter {
    ValidatedRow first;
    const ValidatedRow *shipped = nullptr, *without_model = nullptr, *without_device = nullptr;
};

static std::map<std::string, const ValidatedRow*> rows_by_id(const Validation& validation) {
    std::map<std::string, const ValidatedRow*> rows;
    for (const ValidatedRow& row : validation.rows)
        if (row.prediction.ok())
            rows[row.measured.id] = &row;
    return rows;
}

/// The errors of one group under four sets of parameters.
struct FirstRunRow {
    std::string name;
    std::size_t rows;
    std::array<std::optional<ErrorStatistics>, 4> errors;
};

static FirstRunRow line_of(const std::string& name, const std::vector<const BeforeAndAfter*>& rows) {
    std::array<std::vector<const ValidatedRow*>, 4> sets;
    for (const BeforeAndAfter* row : rows) {
        const std::array<const ValidatedRow*, 4> each = {&row->first, row->shipped, row->without_model,
                                                         row->without_device};
        for (std::size_t i = 0; i < each.size(); ++i)
            if (each[i] != nullptr)
                sets[i].push_back(each[i]);
    }
    FirstRunRow line{name, rows.size(), {}};
    for (std::size_t i = 0; i < sets.size(); ++i)
        if (!sets[i].empty())
            line.errors[i] = error_statistics(sets[i]);
    return line;
}

static Table table_by(const char* heading, const char* key, const std::vector<BeforeAndAfter>& rows,
                      std::size_t least,
                      const std::function<std::string(const BeforeAndAfter&)>& name_of_row) {
    std::vector<ColumnOf<FirstRunRow>> columns = {{{heading, "", key}, &FirstRunRow::name},
                                                  {most_best("Rows", "", "n"), 1, &FirstRunRow::rows}};
    static constexpr std::array<std::pair<const char*, const char*>, 4> kSets = {
        {{"first run", "first"},
         {"shipped", "shipped"},
         {"network out", "model_out"},
         {"device out", "device_out"}}};
    for (std::size_t i = 0; i < kSets.size(); ++i) {
        const auto& [name, prefix] = kSets[i];
        const auto share = [i](double ErrorStatistics::*of) {
            return [i, of](const FirstRunRow& row) {
                return row.errors[i] ? share_cell((*row.errors[i]).*of) : Cell{};
            };
        };
        append(columns, {{least_best("Median", name, fmt::format("{}_median_ape", prefix)),
                          share(&ErrorStatistics::median_ape)},
                         {most_best("Within 25 %", name, fmt::format("{}_within_25", prefix)),
                          share(&ErrorStatistics::within_25)},
                         {most_best("In interval", name, fmt::format("{}_interval_coverage", prefix)),
                          share(&ErrorStatistics::coverage)}});
    }
    std::map<std::string, std::vector<const BeforeAndAfter*>> groups;
    std::vector<const BeforeAndAfter*> all;
    for (const BeforeAndAfter& row : rows) {
        groups[name_of_row(row)].push_back(&row);
        all.push_back(&row);
    }
    std::vector<FirstRunRow> lines;
    for (const auto& [name, members] : groups)
        if (members.size() >= least)
            lines.push_back(line_of(name, members));
    lines.push_back(line_of("all", all));
    return table_of(fmt::format("By {}, first run and now", key), columns, lines);
}

/// Rows of weight >= kTrustedWeight that had an estimate then and have one now; nothing where there is none.
static void add_first_run(const Validation& shipped, const LeftOutValidation* left_out,
                          const std::vector<FirstRun>& first, Report& report) {
    const auto now = rows_by_id(shipped);
    std::map<std::string, const ValidatedRow*> model, device;
    if (left_out != nullptr) {
        model = rows_by_id(left_out->without_model);
        device = rows_by_id(left_out->without_device);
    }
    const auto in = [](const std::map<std::string, const ValidatedRow*>& rows, const std::string& id) {
        const auto found = rows.find(id);
        return found == rows.end() ? nullptr : found->second;
    };
    std::vector<BeforeAndAfter> rows;
    for (const FirstRun& said : first) {
        const ValidatedRow* row = in(now, said.id);
        if (row == nullptr || row->measured.weight < kTrustedWeight)
            continue;
        BeforeAndAfter both{*row, row, in(model, said.id), in(device, said.id)};
        both.first.prediction.predicted = said.predicted;
        both.first.prediction.low = said.low;
        both.first.prediction.high = said.high;
        rows.push_back(std::move(both));
    }
    if (rows.empty())
        return;
    report.blocks.push_back(Heading{2, "Blind at first, and now"});
    report.blocks.push_back(Paragraph{
        "Rows that version 0.1.0 estimated before anything was fitted to them, of weight >= 0.7. First run: "
        "its predictions and intervals. Shipped: the parameters of today, some of which these rows decided. "
        "Network out and device out: without the row's network, or device, in any fit."});
    report.blocks.push_back(table_by("Family", "family", rows, 1,
                                     [](const BeforeAndAfter& row) { return row.first.prediction.family; }));
    report.blocks.push_back(table_by("Hardware", "hardware", rows, kLeastOfDevice,
                                     [](const BeforeAndAfter& row) { return row.first.measured.hardware; }));
}

/// How many numbers were chosen with measurements in view, and on how many rows.
static void add_support(const std::vector<FitSupport>& support, Report& report) {
    if (support.empty())
        return;
    report.blocks.push_back(Heading{2, "What was chosen with measurements in view"});
    report.blocks.push_back(Paragraph{"Parameters of the latency model that a recorded fit (fitted) or a "
                                      "look at measured rows (tuned) decided, beside the measured times that "
                                      "they decide. \"Thin\": more of them than a third of the rows, so that "
                                      "they may follow the measurements instead of the chip."});
    using S = FitSupport;
    report.blocks.push_back(
        table_of<S>({},
                    {{{"Of", "", "kind"}, &S::kind},
                     {{"Name", "", "name"}, &S::name},
                     {most_best("Rows", "", "rows"), 1, &S::rows},
                     {most_best("Networks", "", "networks"), 1, &S::networks},
                     {least_best("Fitted", "", "fitted"), 1, &S::fitted},
                     {least_best("Tuned", "", "tuned"), 1, &S::tuned},
                     {{"Thin", "", "thin"}, [](const S& s) { return text_cell(s.thin() ? "thin" : ""); }}},
                    support));
}

static void add_left_out(const Validation& shipped, const LeftOutValidation& left_out, Report& report) {
    report.blocks.push_back(Heading{2, "On rows the parameters have not seen"});
    report.blocks.push_back(Paragraph{
        "Shipped: with the parameters of the database, most of which were fitted on these very rows. Network "
        "out: everything marked as fitted or tuned is fitted again without the row's network. Device out: "
        "without the row's device, whose own parameters are then those of its family; facts that were tuned "
        "have the value that public facts give. Family out: every such parameter has the value that public "
        "facts give where the database states it, else that of the other families. These are what to expect "
        "of a network, a device or an architecture that was not measured. The intervals of left-out rows are "
        "nested: the table that they come from has not seen the row's network, device or family."});
    if (left_out.outdated > 0)
        report.blocks.push_back(Paragraph{fmt::format("{} rows are new or have changed by more than 1 % "
                                                      "since the left-out predictions were made: write them "
                                                      "again with scripts/validate.",
                                                      left_out.outdated),
                                          Tone::bad});
    for (const char* property : {"family", "metric", "runtime", "hardware", "regime"})
        report.blocks.push_back(left_out_table(shipped, left_out, property));
    add_pairs(left_out.pairs, report);
    add_first_run_checks(left_out.first_runs, report);
}

Report describe(const ValidationAnswer& answer, const ValidationView& view, Format format) {
    const Validation& validation = answer.validation;
    Report report{.title = "Validation"};
    if (format == Format::csv) {
        std::vector<const ValidatedRow*> rows;
        for (const ValidatedRow& row : validation.rows)
            rows.push_back(&row);
        report.blocks.push_back(row_table(rows, true));
        return report;
    }
    const auto estimated = static_cast<std::size_t>(
        std::ranges::count_if(validation.rows, [](const ValidatedRow& row) { return row.prediction.ok(); }));
    report.blocks.push_back(Heading{1, "Estimates against published measurements"});
    report.blocks.push_back(Takeaway{verdict_lines(answer)});
    report.blocks.push_back(Paragraph{fmt::format("{} of {} measurements were estimated, each on its own "
                                                  "model, batch size, precision, device, power mode, "
                                                  "software stack and scope.",
                                                  estimated, validation.rows.size())});
    for (const Finding& finding : answer.findings)
        report.blocks.push_back(Paragraph{to_string(finding), Tone::bad});
    report.blocks.push_back(overview(validation));
    if (answer.left_out)
        add_left_out(validation, *answer.left_out, report);
    add_first_run(validation, answer.left_out ? &*answer.left_out : nullptr, answer.first_run, report);
    add_support(answer.support, report);
    add_power(validation, answer.left_out ? &*answer.left_out : nullptr, report);
    add_prices(answer.prices, report);
    if (format == Format::markdown && !view.chart_file.empty())
        report.blocks.push_back(Chart{.title = "Predicted against measured time, logarithmic axes",
                                      .x_title = view.chart_file}); // drawn there
    if (format == Format::html && estimated > 0)
        report.blocks.push_back(scatter_of(validation));
    report.blocks.push_back(Heading{2, "Where the errors are"});
    add_groups(validation.trusted, report);
    add_worst(validation, view.worst, report);
    add_missing(validation, report);
    return report;
}

std::vector<std::string> verdict_lines(const ValidationAnswer& answer) {
    const Validation& v = answer.validation;
    std::vector<std::string> lines;
    const auto add = [&](std::string line) {
        if (!line.empty())
            lines.push_back(std::move(line));
    };
    const bool trusted = v.trusted.all.errors.n > 0;
    add(trusted ? error_line(fmt::format("Rows of weight {:g} or more", kTrustedWeight), v.trusted.all)
                : error_line("All rows", v.every.all));
    if (answer.left_out) {
        add(error_line("Networks left out of the fits", answer.left_out->without_model.trusted.all));
        add(error_line("Devices left out of the fits", answer.left_out->without_device.trusted.all));
    }
    const ValidatedRow* worst = worst_row(v);
    if (worst == nullptr)
        return {"None of these measurements could be estimated: the table says why."};
    lines.push_back(fmt::format("Farthest off: {}, {} ({} estimated, {} measured).", worst->measured.id,
                                signed_percent(worst->error()), format_number(worst->prediction.predicted),
                                format_number(worst->measured.value)));
    return lines;
}

SavedResult saved_row(const ValidatedRow& validated) {
    const MeasuredRow& m = validated.measured;
    const Prediction& p = validated.prediction;
    SavedResult row;
    row.key.model = m.model;
    row.key.dims =
        nlohmann::json({{"row", m.id}}).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    row.key.hardware = m.hardware;
    row.key.power_mode = m.power_mode;
    row.key.runtime = p.runtime.empty() ? m.runtime : p.runtime;
    row.key.precision = m.precision;
    row.key.batch_size = m.batch.value_or(0);
    row.key.scenario = "measured";
    row.key.scope = m.scope;
    row.key.devices = m.devices;
    row.family = p.family;
    row.status = p.status;
    row.reason = p.reason;
    constexpr double kMilli = 1e-3;
    const bool milli = m.metric == MeasuredMetric::latency_ms || m.metric == MeasuredMetric::energy_mj;
    const double unit = milli ? kMilli : 1;
    row.metrics["measured"] = {m.value * unit, {m.value * unit, m.value * unit}};
    if (!p.ok())
        return row;
    const Metric& of = m.metric == MeasuredMetric::latency_ms         ? metric::latency
                       : m.metric == MeasuredMetric::throughput_per_s ? metric::throughput
                       : m.metric == MeasuredMetric::power_w          ? metric::power
                                                                      : metric::energy;
    row.metrics[of.key] = {p.predicted * unit, {p.low * unit, p.high * unit}};
    const double error = std::abs(validated.error());
    row.metrics["error"] = {error, {error, error}};
    return row;
}

} // namespace archsim
