// Questions about one device, about two, about a device that does not exist, and about many.

#include "web/answers.hpp"

#include "answers/architectures/architectures.hpp"
#include "answers/compare/compare_models_report.hpp"
#include "answers/comprehensive/comprehensive.hpp"
#include "answers/local/local_models.hpp"
#include "answers/mapping/graph_mapping.hpp"
#include "answers/serving/serving_report.hpp"
#include "answers/sizing/size_service.hpp"
#include "answers/sizing/sizing_report.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/run/serve.hpp"
#include "core/lists.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/metric_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "report/blocks/verdict.hpp"
#include "result/cost_terms.hpp"
#include "result/ranking.hpp"

#include <array>
#include <fmt/format.h>

namespace archsim::web {

static const std::string& only_device(const Question& question) {
    if (question.hardware.size() != 1)
        throw UsageError(fmt::format("\"{}\" is asked of one device", question.ask));
    return question.hardware.front();
}

static Json operators_json(const Result& result, const Subgraph& subgraph) {
    Json list = Json::array();
    for (const SubgraphMember& member : subgraph.members)
        list.push_back(result.model->graph->operators[member.op].type);
    return list;
}

/// The fused graph: what ran, from what to what, and what it took.
static Json graph_json(const Result& result) {
    Json nodes = Json::array();
    if (!result.ok() || !result.partition || !result.work)
        return nodes;
    for (const SubgraphEstimate& s : result.estimate.subgraphs) {
        const Subgraph& subgraph = result.partition->subgraphs[s.index];
        const SubgraphWork& work = result.work->subgraphs[s.index];
        nodes.push_back({{"index", s.index},
                         {"name", subgraph.name},
                         {"kind", name_of(subgraph.kind)},
                         {"operators", operators_json(result, subgraph)},
                         {"predecessors", subgraph.predecessors},
                         {"share", s.latency_s / result.estimate.latency_s},
                         {"bound", name_of(s.bound)},
                         {"binding", name_of(s.binding)},
                         {"numbers",
                          {{"Time", format_time(s.latency_s)},
                           {"Share of time", format_percent(s.latency_s / result.estimate.latency_s)},
                           {"Energy", format_energy(s.energy.total())},
                           {"Bound by", fmt::format("{} ({})", name_of(s.bound), name_of(s.binding))},
                           {"Utilization", format_percent(s.utilization)},
                           {"Operations", format_count(work.operations() * work.repeat)},
                           {"External memory", format_bytes(s.dram_bytes)},
                           {"Weights", format_bytes(work.weight_bytes)},
                           {"Precision", name_of(work.precision)},
                           {"Executions", fmt::format("{:g}", subgraph.repeat)}}}});
    }
    return nodes;
}

/// Before and after, metric by metric; in words where one of them is no estimate.
static std::vector<Block> change_blocks(const Result& stated, const Result& changed) {
    const std::array both = {stated, changed};
    const CostOptions basis = on_one_basis(both, {});
    struct Row {
        const Metric& metric;
        std::optional<double> before, after;
    };
    const auto shown = [](std::optional<double> Row::*of) {
        return [of](const Row& row) {
            return row.*of ? Cell{format_value(row.metric, *(row.*of)), row.*of} : Cell{};
        };
    };
    std::vector<Row> rows;
    const auto shown_rows = shown_metrics(both).metrics->rows();
    std::vector<const Metric*> metrics(shown_rows.begin(), shown_rows.end());
    if (!contains(metrics, &metric::cost)) // those of answers to prompts are per token
        metrics.push_back(&metric::cost);
    for (const Metric* metric : metrics)
        if (const auto before = value_of(stated, *metric, basis), after = value_of(changed, *metric, basis);
            before || after)
            rows.push_back({*metric, before, after});
    Table table =
        table_of<Row>(fmt::format("{}, as stated and as changed", hardware_label(stated)),
                      {{{"Metric", "", "metric"},
                        [&](const Row& row) {
                            return row.metric == metric::cost
                                       ? fmt::format("{} ({})", row.metric.title, basis_text(basis.tenure))
                                       : row.metric.title;
                        }},
                       {most_best("As stated", "", "stated"), shown(&Row::before)},
                       {most_best("As changed", "", "changed"), shown(&Row::after)},
                       {most_best("Ratio", "", "ratio"),
                        [](const Row& row) {
                            const double ratio =
                                row.before && row.after && *row.before > 0 ? *row.after / *row.before : 0;
                            return ratio > 0 ? Cell{fmt::format("{:.3f}", ratio), ratio} : Cell{};
                        }}},
                      rows);
    for (const Result* result : {&stated, &changed})
        if (!result->ok())
            table.notes.push_back(fmt::format("{}: {}", result == &stated ? "as stated" : "as changed",
                                              result->estimate.reason));
    return {table};
}

/// Without the rows of long tables that nobody reads on a page.
static void shorten(Report& report) {
    constexpr std::size_t kLongest = 200;
    for (Block& block : report.blocks)
        if (Table* table = std::get_if<Table>(&block); table != nullptr && table->rows.size() > kLongest) {
            table->notes.push_back(
                fmt::format("These are the first {} of {} rows.", kLongest, table->rows.size()));
            table->rows.resize(kLongest);
        }
}

static void expect_devices(const Question& question) {
    if (question.hardware.empty())
        throw UsageError(fmt::format("\"{}\" is asked of devices: name them in \"hardware\"", question.ask));
}

/// The limits on waiting, of a question that takes nothing else of a sizing.
static ServiceLevel limits_of(const Question& question) {
    for (const SizingField& field : sizing_fields())
        if (question.level.has(field.key) && find_field(level_fields(), field.key) == nullptr)
            throw UsageError(fmt::format("{}: not of \"{}\", but of a sizing", field.key, question.ask));
    return question.level.request(ServingTexts(Spelling::key)).level;
}

/// Rows of a decision that stand above the ranking.
constexpr std::size_t kDecided = 5;

static Json row_json(const Result& result, int place) {
    return {{"hardware", result.hardware},
            {"label", hardware_label(result)},
            {"family", result.device ? Json(name_of(result.device->family)) : Json(nullptr)},
            {"status", status_text(result.estimate)},
            {"priced", result.device && (result.device->list_price || result.device->cloud_price)},
            {"evidence", result.ok() ? Json(evidence_text(evidence_of(result))) : Json(nullptr)},
            {"place", may_lead(result.estimate) ? place : 0}};
}

Json answer_device(const Session& session, const Question& question) {
    only_device(question);
    const ComprehensiveAnalysis analysis{compare(session, question), {}};
    const Result& result = analysis.result();
    Report report = describe(analysis, {.verbose = true});
    shorten(report);
    std::get<Heading>(report.blocks.front()).text = "Overview"; // the page has the title already
    return {{"title", fmt::format("{} on {}", result.model->title, hardware_label(result))},
            {"status", status_text(result.estimate)},
            {"sections", sections(report, "device")},
            {"graph", graph_json(result)}};
}

Json answer_trace(const Session& session, const Question& question) {
    const Result result = session.estimate(question.workload, only_device(question), question.conditions);
    if (!result.ok())
        throw InputError(result.estimate.reason);
    return {{"text", to_trace(result)}};
}

Json answer_local(const Session& session, const Question& question) {
    LocalRequest request;
    take_machine(session, only_device(question), request);
    return {
        {"sections", sections(describe(local_models(session, request), LocalView{}, Format::html), "local")}};
}

Json answer_explain(const Session& session, const Question& question) {
    if (question.hardware.size() != 2)
        throw UsageError("\"explain\" is asked of two devices");
    CompareArchitecturesRequest request;
    request.model = question.model;
    request.workload = question.workload;
    request.conditions = question.conditions;
    request.architectures = request.explain = question.hardware;
    request.metric = question.metric;
    return {
        {"sections", sections(describe(compare_architectures(session, std::move(request)), {}, Format::html),
                              "explain")}};
}

Json answer_change(const Session& session, const Question& question) {
    const std::string& device = only_device(question);
    Conditions conditions = question.conditions;
    conditions.keep_subgraphs = false;
    const Result changed = session.estimate(question.workload, device, conditions);
    conditions.changes = {};
    conditions.structure = {};
    const Result stated = session.estimate(question.workload, device, conditions);
    const auto seconds = [](const Result& result) {
        return result.ok() ? Json(result.estimate.latency_s) : Json(nullptr);
    };
    return {{"table", html_fragment(change_blocks(stated, changed), "change")},
            {"stated_s", seconds(stated)},
            {"changed_s", seconds(changed)}};
}

Json answer_serve(const Session& session, const Question& question) {
    expect_devices(question);
    ServingRequest request = question.load.request();
    request.sizes = question.workload.sizes;
    const ServiceLevel level = limits_of(question);
    const bool loaded = request.load.rate_per_s > 0 || request.plan.concurrency > 0 || request.load.trace;
    if (loaded == level.any())
        throw UsageError(loaded ? "give a load or limits on waiting: of limits the highest rate is found"
                                : "give a load (rate or concurrency), or limits on waiting (ttft_p99)");
    std::vector<ServingResult> results = mapped(question.hardware, [&](const std::string& device) {
        return loaded ? run_serving(session, question.workload.model, device, question.conditions, request)
                      : highest_rate(session, question.workload.model, device, question.conditions, request,
                                     level);
    });
    return {{"sections", sections(describe_serving(results, level), "serve")},
            {"json", serving_json(results, served_question(question.workload.model, question.hardware,
                                                           question.conditions, request,
                                                           loaded ? ServiceLevel{} : level))}};
}

Json answer_size(const Session& session, const Question& question) {
    expect_devices(question);
    SizingRequest request = question.level.request(question.load);
    request.serving.sizes = question.workload.sizes;
    request.cost = question.costs;
    const std::vector<Conditions> formats = {question.conditions};
    const SizingAnswer answer =
        size_service(session, question.workload.model, question.hardware, formats, request);
    return {{"sections", sections(describe(answer, PlainView{}, Format::html), "size")},
            {"json", to_json(answer, PlainView{})}};
}

Json answer_cost(const Session& session, const Question& question) {
    const ModelComparison comparison = compare(session, question);
    const Explanations asked = {.cost = true, .conditions = comparison.request.decision.cost};
    return {{"html", html_fragment(explanation_blocks(comparison.results, asked), "cost")}};
}

ModelComparison compare(const Session& session, const Question& question) {
    CompareModelsRequest request{
        .models = {question.model}, .deployment = question.deployment, .hardware = question.hardware};
    if (request.hardware.empty() && request.deployment.empty())
        request.hardware = session.hardware().device_ids();
    request.workload = question.workload;
    request.conditions = question.conditions;
    request.decision = question.limits;
    request.decision.cost = question.costs;
    return compare_models(session, std::move(request), question.workload.model);
}

Json answer_rank(const Session& session, const Question& question) {
    const ModelComparison c = compare(session, question);
    const Metric& by =
        question.sort != nullptr ? *question.sort : usual_order(c.results, question.conditions);
    const std::vector<std::string> labels = hardware_labels(c.results);
    const DecisionRequest& limits = c.request.decision; // with costs on one basis
    const Decision decision = decide(c.results, limits);
    std::vector<Block> verdicts = {verdict_block({c.results, labels, by, limits.cost, &decision,
                                                  c.modes.front(), c.tried.front(), c.too_large.front()})};
    std::vector<Block> decided, all_decided; // of many devices a few, and all of them to unfold
    if (question.limits.active())
        decided = decision_blocks(decision, c.results, labels);
    for (Block& block : decided)
        if (Table* table = std::get_if<Table>(&block); table != nullptr && table->rows.size() > kDecided) {
            all_decided.emplace_back(*table);
            table->rows.resize(kDecided);
            table->notes.clear();
        }
    append(verdicts, std::move(decided));
    const std::vector<Block> facts = {model_facts(*c.models.front(), c.results)};
    const std::vector<Block> table = {
        ranking_table(c.results, by, shown_metrics(c.results, {.conditions = limits.cost}))};
    Json answer = {{"title", c.models.front()->title},
                   {"verdict", html_fragment(verdicts, "verdict")},
                   {"decisions", all_decided.empty() ? "" : html_fragment(all_decided, "decisions")},
                   {"facts", html_fragment(facts, "facts")},
                   {"ranking", html_fragment(table, "ranking")},
                   {"rows", Json::array()},
                   {"advice", Json::array()},
                   {"findings", Json::array()}};
    if (question.charts)
        answer["charts"] = html_fragment(comparison_charts(c.results), "charts");
    for (const Rank& rank : rank_results(c.results, by))
        answer["rows"].push_back(row_json(c.results[rank.result], rank.place));
    for (const TriedChange& change : c.tried.front())
        if (const Result& result = c.results[change.result];
            c.results.size() == 1 || may_lead(result.estimate)) {
            Json fields = Json::object();
            for (const auto& [key, text] : fields_of(change.asked))
                fields[key] = text;
            answer["advice"].push_back(
                {{"hardware", result.hardware}, {"fields", std::move(fields)}, {"gain", change.gain}});
        }
    for (const Finding& finding : c.models.front()->findings)
        answer["findings"].push_back({{"severity", name_of(finding.severity)}, {"text", to_string(finding)}});
    return answer;
}

Json answer_export(const Session& session, const Question& question) {
    const auto format = value_named<Format>(question.format);
    if (!format)
        throw UsageError(
            fmt::format("\"{}\" is not one of text, markdown, json, csv, html", question.format));
    const ModelComparison c = compare(session, question);
    CompareModelsView view{.sort_by = question.sort};
    RenderOptions look{.date = question.date};
    return {{"text", render(c, *format, view, look)}};
}

} // namespace archsim::web
