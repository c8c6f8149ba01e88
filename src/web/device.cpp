// "device", "explain" and "change": one device, two devices, a device that does not exist.

#include "answers/architectures/architectures.hpp"
#include "answers/comprehensive/comprehensive.hpp"
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
#include "report/blocks/result_text.hpp"
#include "result/cost_terms.hpp"
#include "web/answers.hpp"

#include <array>
#include <fmt/format.h>

namespace archsim::web {

namespace {

const std::string& only_device(const Question& question) {
    if (question.hardware.size() != 1)
        throw UsageError(fmt::format("\"{}\" is asked of one device", question.ask));
    return question.hardware.front();
}

Json operators_json(const Result& result, const Subgraph& subgraph) {
    Json list = Json::array();
    for (const SubgraphMember& member : subgraph.members)
        list.push_back(result.model->graph->operators[member.op].type);
    return list;
}

/// The fused graph: what ran, from what to what, and what it took.
Json graph_json(const Result& result) {
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
std::vector<Block> change_blocks(const Result& stated, const Result& changed) {
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
void shorten(Report& report) {
    constexpr std::size_t kLongest = 200;
    for (Block& block : report.blocks)
        if (Table* table = std::get_if<Table>(&block); table != nullptr && table->rows.size() > kLongest) {
            table->notes.push_back(
                fmt::format("These are the first {} of {} rows.", kLongest, table->rows.size()));
            table->rows.resize(kLongest);
        }
}

void expect_devices(const Question& question) {
    if (question.hardware.empty())
        throw UsageError(fmt::format("\"{}\" is asked of devices: name them in \"hardware\"", question.ask));
}

/// The limits on waiting, of a question that takes nothing else of a sizing.
ServiceLevel limits_of(const Question& question) {
    for (const SizingField& field : sizing_fields())
        if (question.level.has(field.key) && find_field(level_fields(), field.key) == nullptr)
            throw UsageError(fmt::format("{}: not of \"{}\", but of a sizing", field.key, question.ask));
    return question.level.request(ServingTexts(Spelling::key)).level;
}

} // namespace

Json answer_device(const Session& session, const Question& question) {
    ComprehensiveAnalysis analysis;
    analysis.result = session.estimate(question.workload, only_device(question), question.conditions);
    const std::span one(&analysis.result, 1);
    analysis.decision = decide(one, question.limits);
    analysis.kinds = breakdown_by_kind(analysis.result);
    Report report = describe(analysis, {.verbose = true});
    shorten(report);
    std::get<Heading>(report.blocks.front()).text = "Overview"; // the page has the title already
    return {{"title", fmt::format("{} on {}", analysis.result.model->title, hardware_label(analysis.result))},
            {"status", status_text(analysis.result.estimate)},
            {"sections", sections(report, "device")},
            {"graph", graph_json(analysis.result)}};
}

Json answer_trace(const Session& session, const Question& question) {
    const Result result = session.estimate(question.workload, only_device(question), question.conditions);
    if (!result.ok())
        throw InputError(result.estimate.reason);
    return {{"text", to_trace(result)}};
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

} // namespace archsim::web
