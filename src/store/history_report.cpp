// Answers from a file of results as blocks and documents.

#include "store/history.hpp"

#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/result_row.hpp"

#include <fmt/format.h>

namespace archsim {

using Json = nlohmann::ordered_json;

template <class Row>
using HistoryColumns = std::vector<ColumnOf<Row>>;

static std::string saved_hardware(const CellKey& key) {
    return key.power_mode.empty() ? key.hardware : key.hardware + '@' + key.power_mode;
}

/// Conditions that the other columns do not say: sizes, tokens, devices, and conditions that are not the
/// usual ones.
static std::string other_conditions(const CellKey& key) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    for (const std::string& stated : {key.dims, key.question}) {
        const Json object = Json::parse(stated, nullptr, false);
        if (object.is_object())
            for (const auto& [name, value] : object.items())
                add(value == Json(true)
                        ? name
                        : fmt::format("{} {}", name,
                                      value.is_string() ? value.get<std::string>() : value.dump()));
    }
    if (key.prompt_tokens > 0)
        add(fmt::format("{} + {} tokens", key.prompt_tokens, key.generate_tokens));
    if (!key.kv_cache.empty())
        add(key.kv_cache + " cache");
    if (key.devices != 1)
        add(fmt::format("{:.0f} devices", key.devices));
    if (key.scenario != "latency")
        add(key.scenario);
    if (key.scope != "kernel")
        add(key.scope);
    return text;
}

/// The columns of a question; `key_of` finds it in a row.
template <class Row, class KeyOf>
static HistoryColumns<Row> key_columns(KeyOf key_of) {
    const auto of_key = [key_of](auto of) {
        return [=](const Row& row) { return std::invoke(of, key_of(row)); };
    };
    constexpr CellType kText = CellType::text;
    return {{{"Model", "", "model"}, of_key(&CellKey::model), kText},
            {{"Hardware", "", "hardware"}, of_key(saved_hardware), kText},
            {{"Stack", "", "runtime", Align::left, 1}, of_key(&CellKey::runtime), kText, "software stack"},
            {{"Precision", "", "precision"}, of_key(&CellKey::precision), kText},
            {{"Batch", "", "batch_size", Align::right}, of_key(&CellKey::batch_size), CellType::count},
            {{"Conditions", "", "conditions", Align::left, 2},
             of_key(other_conditions),
             kText,
             "that are not the usual ones"}};
}

static HistoryColumns<SavedRun> run_columns() {
    constexpr CellType kText = CellType::text, kCount = CellType::count;
    return {{{"Run", "", "run", Align::right}, &SavedRun::id, kCount},
            {{"Started", "UTC", "started"}, &SavedRun::started, kText, "UTC, ISO 8601"},
            {{"Version", "", "version"}, &SavedRun::version, kText},
            {{"Results", "", "results", Align::right}, &SavedRun::results, kCount},
            {{"Tool", "", "tool", Align::left, 1}, &SavedRun::tool, kText},
            {{"Command", "", "command", Align::left, 2}, &SavedRun::command, kText}};
}

static Cell value_cell(const Metric& metric, const std::optional<Measure>& measure,
                       const std::string& status) {
    Cell cell = cell_of(metric, measure);
    if (!measure && status != "ok")
        cell.text = status;
    return cell;
}

static Cell change_cell(const CellChange& change) {
    const Tone tone = change.worse ? Tone::bad : change.better ? Tone::good : Tone::plain;
    const auto ratio = change.ratio();
    const std::string verdict = change.worse ? "worse" : change.better ? "better" : "";
    if (!ratio)
        return {verdict, {}, tone};
    return {fmt::format("{} {}", signed_percent(*ratio - 1), verdict), *ratio, tone};
}

static HistoryColumns<CellChange> change_columns(const Metric& metric) {
    auto columns =
        key_columns<CellChange>([](const CellChange& change) -> const CellKey& { return change.key; });
    const auto heading = [&](const char* when) {
        return Column{fmt::format("{} {}", metric.heading, when),
                      metric.column_unit,
                      fmt::format("{}_{}", metric.field, when),
                      Align::right,
                      0,
                      column_of(metric).best};
    };
    columns.push_back({heading("before"),
                       [&metric](const CellChange& change) {
                           return value_cell(metric, change.before, change.status_before);
                       },
                       CellType::number_or_word, "a word where there is no estimate"});
    columns.push_back({heading("after"),
                       [&metric](const CellChange& change) {
                           return value_cell(metric, change.after, change.status_after);
                       },
                       CellType::number_or_word, "a word where there is no estimate"});
    columns.push_back({{"Change", "", "ratio", Align::right},
                       change_cell,
                       CellType::number_or_word,
                       "after / before; a word where one of them has no estimate"});
    return columns;
}

static std::string key_text(const CellKey& key) {
    const std::string other = other_conditions(key);
    return fmt::format("{} on {} ({}), {}, batch {}{}{}", key.model, saved_hardware(key), key.runtime,
                       key.precision, key.batch_size, other.empty() ? "" : ", ", other);
}

static Bullets list_of(const std::vector<CellKey>& keys) {
    constexpr std::size_t kShown = 20;
    Bullets bullets;
    for (const CellKey& key : keys) {
        if (bullets.items.size() == kShown) {
            bullets.items.push_back(fmt::format("and {} more", keys.size() - kShown));
            break;
        }
        bullets.items.push_back(key_text(key));
    }
    return bullets;
}

struct TrendRow {
    const Metric* metric;
    const Trend* trend;
    const TrendPoint* point;
};

static std::vector<TrendRow> rows_of(const HistoryTrend& answer) {
    std::vector<TrendRow> rows;
    for (const Trend& trend : answer.trends)
        for (const TrendPoint& point : trend.points)
            rows.push_back({answer.metric, &trend, &point});
    return rows;
}

static HistoryColumns<TrendRow> trend_columns(const Metric& metric) {
    auto columns =
        key_columns<TrendRow>([](const TrendRow& row) -> const CellKey& { return row.trend->key; });
    const auto of_run = [](auto member) {
        return [member](const TrendRow& row) { return row.point->run.*member; };
    };
    columns.push_back({{"Run", "", "run", Align::right}, of_run(&SavedRun::id), CellType::count});
    columns.push_back({{"Started", "UTC", "started", Align::left, 1},
                       of_run(&SavedRun::started),
                       CellType::text,
                       "UTC, ISO 8601"});
    columns.push_back({{"Version", "", "version"}, of_run(&SavedRun::version), CellType::text});
    columns.push_back(
        {column_of(metric),
         [](const TrendRow& row) { return value_cell(*row.metric, row.point->measure, row.point->status); },
         CellType::number_or_word, "a word where there is no estimate"});
    return columns;
}

static Chart trend_chart(const HistoryTrend& answer) {
    Chart chart{.kind = ChartKind::line,
                .title = fmt::format("{} by run", answer.metric->title),
                .x_title = "run",
                .y_title = fmt::format("{} ({})", answer.metric->title, axis_unit_of(*answer.metric))};
    for (const Trend& trend : answer.trends) {
        ChartSeries series{key_text(trend.key), {}};
        for (const TrendPoint& point : trend.points)
            if (point.measure)
                series.points.push_back({fmt::format("{}", point.run.id), static_cast<double>(point.run.id),
                                         point.measure->value * answer.metric->scale});
        if (series.points.size() > 1)
            chart.series.push_back(std::move(series));
    }
    return chart;
}

/// A result with its run.
struct HistoryRow {
    const SavedRun* run;
    const SavedResult* result;
};

static std::vector<HistoryRow> rows_of(const HistoryRows& answer) {
    std::map<std::int64_t, const SavedRun*> runs;
    for (const SavedRun& run : answer.runs)
        runs.emplace(run.id, &run);
    std::vector<HistoryRow> rows;
    for (const SavedResult& result : answer.results)
        if (const auto run = runs.find(result.run); run != runs.end()) // saved since the runs were read
            rows.push_back({run->second, &result});
    return rows;
}

/// Metrics of estimates always, others where a row has them.
static HistoryColumns<HistoryRow> row_columns(const std::vector<HistoryRow>& rows) {
    const auto column = [](const char* key, auto of) {
        using Value = std::decay_t<decltype(of(std::declval<const HistoryRow&>()))>;
        return ColumnOf<HistoryRow>{plain_column(key), of,
                                    std::is_arithmetic_v<Value> ? CellType::count : CellType::text};
    };
    const auto of_run = [&](const char* key, auto member) {
        return column(key, [member](const HistoryRow& row) { return row.run->*member; });
    };
    const auto of_key = [&](const char* key, auto member) {
        return column(key, [member](const HistoryRow& row) { return row.result->key.*member; });
    };
    const auto of_result = [&](const char* key, auto member) {
        return column(key, [member](const HistoryRow& row) { return row.result->*member; });
    };
    HistoryColumns<HistoryRow> columns = {of_run("run", &SavedRun::id),
                                          of_run("started", &SavedRun::started),
                                          of_run("tool", &SavedRun::tool),
                                          of_run("version", &SavedRun::version),
                                          of_key("model", &CellKey::model),
                                          of_key("dims", &CellKey::dims),
                                          of_key("batch_size", &CellKey::batch_size),
                                          of_key("hardware", &CellKey::hardware),
                                          of_result("family", &SavedResult::family),
                                          of_key("power_mode", &CellKey::power_mode),
                                          of_key("runtime", &CellKey::runtime),
                                          of_key("precision", &CellKey::precision),
                                          of_result("executed_precision", &SavedResult::executed_precision),
                                          of_key("kv_cache", &CellKey::kv_cache),
                                          of_key("scenario", &CellKey::scenario),
                                          of_key("scope", &CellKey::scope),
                                          of_key("prompt_tokens", &CellKey::prompt_tokens),
                                          of_key("generate_tokens", &CellKey::generate_tokens),
                                          of_key("devices", &CellKey::devices),
                                          of_key("question", &CellKey::question),
                                          of_result("status", &SavedResult::status),
                                          of_result("reason", &SavedResult::reason)};
    const auto shown = [&](const Metric& metric) {
        return MetricTable::standard().find(metric.key) != nullptr ||
               std::ranges::any_of(
                   rows, [&](const HistoryRow& row) { return row.result->metrics.contains(metric.key); });
    };
    for (const MetricField& field : fields_of(saved_metrics())) {
        if (!shown(*field.metric))
            continue;
        columns.push_back({plain_column(field.key()),
                           [field](const HistoryRow& row) {
                               const auto found = row.result->metrics.find(field.metric->key);
                               const bool known = found != row.result->metrics.end();
                               return number_cell(known, known ? field.of(found->second) : 0);
                           },
                           CellType::number, meaning_of(field)});
    }
    return columns;
}

/// "12 runs, the last on 2026-11-22 with compare_models."
static std::vector<std::string> lines_of(const HistoryList& list) {
    if (list.runs.empty())
        return {"No runs yet."};
    const auto last = std::ranges::max_element(list.runs, {}, &SavedRun::id);
    return {fmt::format("{} run{}, the last on {} with {}.", list.runs.size(),
                        list.runs.size() == 1 ? "" : "s", last->started, last->tool)};
}

/// "3 of 24 answers changed: 2 worse. Most: resnet50 on H100, +12.1 %."
static std::vector<std::string> lines_of(const HistoryChanges& answer) {
    if (answer.changes.empty() && answer.same == 0)
        return {answer.after == "the newest answer to each question"
                    ? "No question was asked twice."
                    : "The two runs have no question in common."};
    if (answer.changes.empty())
        return {fmt::format("No {} changed in {} answers of both.", answer.metric->noun, answer.same)};
    const auto size = [](const CellChange& c) { return std::abs(std::log(c.ratio().value_or(1))); };
    const auto most = std::ranges::max_element(
        answer.changes, [&](const CellChange& a, const CellChange& b) { return size(a) < size(b); });
    std::string line = fmt::format("{} of {} results changed ({} worse).", answer.changes.size(),
                                   answer.changes.size() + answer.same, answer.worse());
    if (const auto ratio = most->ratio(); ratio && *ratio > 0)
        line += fmt::format(" Largest change: {}, {}.", key_text(most->key), signed_percent(*ratio - 1));
    return {line};
}

/// "resnet50 on H100 (tensorrt), fp16, batch 1: latency 0.52 ms first, 0.48 ms last (-7.7 %)."
static std::vector<std::string> lines_of(const HistoryTrend& answer) {
    constexpr std::size_t kNamed = 3;
    std::vector<std::string> lines;
    for (const Trend& trend : answer.trends) {
        if (lines.size() == kNamed) {
            lines.push_back(fmt::format("and {} more questions", answer.trends.size() - kNamed));
            break;
        }
        const auto &first = trend.points.front().measure, &last = trend.points.back().measure;
        std::string text = key_text(trend.key) + ": ";
        if (first && trend.points.size() == 1)
            text += fmt::format("{} {} in one run", answer.metric->noun,
                                format_value(*answer.metric, first->value));
        else if (first && last)
            text += fmt::format("{} {} first, {} last", answer.metric->noun,
                                format_value(*answer.metric, first->value),
                                format_value(*answer.metric, last->value));
        else
            text += "no estimate in the first or last run";
        if (first && last && first->value > 0 && trend.points.size() > 1)
            text += fmt::format(" ({})", signed_percent(last->value / first->value - 1));
        lines.push_back(text + ".");
    }
    return lines.empty() ? std::vector<std::string>{"No such answers."} : lines;
}

template <class Answer>
static AnswerDocument history_document(const Answer& answer, const char* question,
                                       const Members<Answer>& rest) {
    return {
        answer, "history", "questions to a file of results",
        Members<Answer>{{"question", "", [question](const Answer&) { return question; }, OneOf{{question}}},
                        {"file", "", &Answer::file}}
            .with(rest)};
}

template <class Answer>
static Member<Answer> history_verdict() {
    return {"verdict", "the answer", [](const Answer& answer) { return lines_of(answer); }, lines_members()};
}

/// The schema with the columns of every metric, of which an answer has those of its own.
template <class Answer>
static Json of_every_metric(const char* list) {
    Json all;
    for (const Metric* metric : saved_metrics().rows()) {
        Answer answer;
        answer.metric = metric;
        Json schema = document_of(answer).schema();
        Json& rows = schema["properties"][list]["items"];
        if (all.is_null()) {
            all = std::move(schema);
            continue;
        }
        Json& known = all["properties"][list]["items"];
        known["properties"].update(rows["properties"]);
        known["required"] =
            kept(known["required"], [&](const Json& key) { return contains(rows["required"], key); });
    }
    return all;
}

/// Rows have the columns of those metrics that are saved in the file.
static Json rows_schema() {
    Json schema = schema_of<HistoryRows>();
    for (const MetricField& field : fields_of(saved_metrics())) {
        Json& rows = schema["properties"]["rows"]["items"];
        rows["properties"][field.key()] = schema_of(CellType::number);
        rows["properties"][field.key()]["description"] = meaning_of(field);
    }
    return schema;
}

Report describe(const HistoryList& list, PlainView, Format format) {
    Report report{"Runs", {}};
    if (format != Format::csv)
        add_blocks(report, Heading{1, fmt::format("RESULTS: {}", list.file)}, Takeaway{lines_of(list)});
    report.blocks.push_back(table_of("Runs", run_columns(), list.runs));
    return report;
}

Report describe(const HistoryChanges& answer, PlainView, Format format) {
    const Metric& metric = *answer.metric;
    Report report{"Changes", {}};
    Table table = table_of(format == Format::csv ? "" : fmt::format("{} that changed", metric.title),
                           change_columns(metric), answer.changes);
    if (format != Format::csv) {
        add_blocks(report, Heading{1, fmt::format("RESULTS: {}", answer.file)}, Takeaway{lines_of(answer)},
                   Facts{{{"Before", answer.before},
                          {"After", answer.after},
                          {"Changed", fmt::format("{} ({} worse)", answer.changes.size(), answer.worse())},
                          {"Others", fmt::format("{}", answer.same)}}});
        if (answer.changes.empty())
            table.columns.clear();
    }
    if (!table.columns.empty())
        report.blocks.push_back(std::move(table));
    if (format == Format::csv)
        return report;
    for (const auto& [when, keys] : {std::pair("before", &answer.gone), std::pair("after", &answer.added)})
        if (!keys->empty())
            add_blocks(report, Heading{3, fmt::format("Only {} ({}):", when, keys->size())}, list_of(*keys));
    return report;
}

Report describe(const HistoryTrend& answer, PlainView, Format format) {
    Report report{"Trend", {}};
    const auto rows = rows_of(answer);
    if (format != Format::csv)
        add_blocks(report, Heading{1, fmt::format("RESULTS: {}", answer.file)}, Takeaway{lines_of(answer)});
    report.blocks.push_back(
        table_of(format == Format::csv ? "" : fmt::format("{} by run", answer.metric->title),
                 trend_columns(*answer.metric), rows));
    Chart chart = trend_chart(answer);
    if (format != Format::csv && !chart.series.empty())
        report.blocks.push_back(std::move(chart));
    return report;
}

Report describe(const HistoryRows& answer, PlainView, Format format) {
    Report report{"Rows", {}};
    if (format != Format::csv)
        report.blocks.push_back(Heading{1, fmt::format("RESULTS: {}", answer.file)});
    const std::vector<HistoryRow> rows = rows_of(answer);
    report.blocks.push_back(table_of("", row_columns(rows), rows));
    return report;
}

AnswerDocument document_of(const HistoryList& list, PlainView) {
    return history_document<HistoryList>(
        list, "runs",
        {history_verdict<HistoryList>(),
         {"runs", "oldest first", &HistoryList::runs, members_of(run_columns())}});
}

AnswerDocument document_of(const HistoryChanges& answer, PlainView) {
    using C = HistoryChanges;
    const Members<CellKey> keys =
        members_of(key_columns<CellKey>([](const CellKey& key) -> const CellKey& { return key; }));
    return history_document<C>(answer, "changes",
                               {history_verdict<C>(),
                                {"before", "run", &C::before},
                                {"after", "run", &C::after},
                                {"metric", "", [](const C& c) { return c.metric->key; }},
                                {"threshold", "share from which a change counts", &C::threshold},
                                {"unchanged", "", &C::same},
                                {"worse", "", &C::worse},
                                {"changes", "", &C::changes, members_of(change_columns(*answer.metric))},
                                {"only_before", "questions of one side alone", &C::gone, keys},
                                {"only_after", "questions of one side alone", &C::added, keys}});
}

AnswerDocument document_of(const HistoryTrend& answer, PlainView) {
    using T = HistoryTrend;
    return history_document<T>(
        answer, "trend",
        {history_verdict<T>(),
         {"metric", "", [](const T& t) { return t.metric->key; }},
         {"rows", "", [](const T& t) { return rows_of(t); }, members_of(trend_columns(*answer.metric))}});
}

AnswerDocument document_of(const HistoryRows& answer, PlainView) {
    return history_document<HistoryRows>(answer, "rows",
                                         {{"rows", "", [](const HistoryRows& all) { return rows_of(all); },
                                           members_of(row_columns(rows_of(answer)))}});
}

Json history_schema() {
    return any_of({schema_of<HistoryList>(), of_every_metric<HistoryChanges>("changes"),
                   of_every_metric<HistoryTrend>("rows"), rows_schema()});
}

} // namespace archsim
