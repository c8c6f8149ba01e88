#include "report/blocks/result_row.hpp"

#include "core/lists.hpp"
#include "fields/question_json.hpp"
#include "ops/precision_mix.hpp"
#include "report/blocks/explanations.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/ranking_table.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/answer_document.hpp"
#include "result/decisions.hpp"
#include "result/duty_cycle.hpp"
#include "result/generation_metrics.hpp"
#include "result/memory_fit.hpp"

#include <fmt/format.h>

namespace archsim {

using ResultColumns = std::vector<ColumnOf<RankedResult>>;

/// With parts, also the time when they are built side by side.
struct ShownColdStart {
    ColdStart start;
    bool parts = false;
};

static Members<ShownColdStart> cold_start_members() {
    using S = ShownColdStart;
    const auto kind = [](const Fact* fact) {
        return fact != nullptr && fact->source != nullptr ? std::optional(name_of(fact->source->kind))
                                                          : std::nullopt;
    };
    return {
        {"build_s", "building the network", [](const S& s) { return finite(s.start.build_s); }},
        {"weight_upload_s", "", [](const S& s) { return finite(s.start.upload_s); }},
        {"first_inference_s", "build, upload and one batch",
         [](const S& s) { return finite(s.start.first_s()); }},
        {"first_prebuilt_s", "upload and one batch",
         [](const S& s) { return finite(s.start.upload_s + s.start.warm_s); }},
        {"compiled_before", "the tool that compiles it before it is deployed; null: the device builds it",
         [](const S& s) {
             return s.start.before != nullptr ? std::optional(s.start.before->tool) : std::nullopt;
         }},
        {"build_source", "kind of the source of build_s", [=](const S& s) { return kind(s.start.build); }},
        {"link_source", "kind of the source of the link's rate",
         [=](const S& s) { return kind(s.start.link); }},
        {"side_by_side_s", "where parts are built side by side", [](const S& s) {
             return Sometimes<std::optional<double>>{
                 s.parts ? std::make_optional(finite(s.start.side_by_side_s())) : std::nullopt};
         }}};
}

/// A column for programs of what `of` gives of a result.
template <class Of>
static ColumnOf<RankedResult> of_result(const char* key, CellType type, const char* meaning, Of of) {
    return {plain_column(key), [of](const RankedResult& row) { return std::invoke(of, *row.result); }, type,
            meaning};
}

template <class Of>
static ColumnOf<RankedResult> of_estimate(const char* key, CellType type, const char* meaning, Of of) {
    return of_result(key, type, meaning,
                     [of](const Result& r) { return known(r.ok(), std::invoke(of, r.estimate)); });
}

/// A size of a network, which is known as soon as it is planned.
static ColumnOf<RankedResult> planned_size(const char* key, const char* meaning,
                                           double MemoryEstimate::*bytes) {
    return of_result(key, CellType::number, meaning, [bytes](const Result& r) {
        return known(r.ok() || r.estimate.status == Status::does_not_fit, r.estimate.memory.*bytes);
    });
}

static ResultColumns identity_columns() {
    using R = const Result&;
    constexpr CellType kName = CellType::name;
    return {of_result("model", kName, "", [](R r) { return r.model->name; }),
            {plain_column("batch_size"), &RankedResult::batch_size, CellType::count, "items"},
            of_result("hardware", kName, "device, and how many where several",
                      [](R r) { return counted(r.device ? r.device->id : r.hardware, r); }),
            of_result("family", kName, "architecture of the device",
                      [](R r) { return r.device ? name_of(r.device->family) : std::string_view(); }),
            of_result("power_mode", kName, "", &Result::power_mode),
            of_result("runtime", kName, "software stack", runtime_label),
            of_result("precision", kName, "format asked for",
                      [](R r) { return precision_name(r.conditions.precision); }),
            of_result("executed_precision", kName, "format that runs",
                      [](R r) { return r.ok() ? precision_name(r.estimate.executed) : std::string(); }),
            of_result("status", kName, "", [](R r) { return status_text(r.estimate); }),
            of_result("reason", CellType::text, "one sentence, empty when exactly as asked", [](R r) {
                return r.estimate.reason.empty() ? r.estimate.precision_note : r.estimate.reason;
            })};
}

static ResultColumns metric_columns(const MetricView& view) {
    ResultColumns columns;
    for (const MetricField& field : fields_of(*view.metrics))
        columns.push_back({plain_column(field.key()),
                           [field, conditions = view.conditions](const RankedResult& row) {
                               const auto measure = field.metric->measure(*row.result, conditions);
                               return number_cell(measure.has_value(), measure ? field.of(*measure) : 0);
                           },
                           CellType::number, meaning_of(field)});
    return columns;
}

static ResultColumns estimate_columns() {
    using R = const Result&;
    using E = Estimate;
    constexpr CellType kNumber = CellType::number, kCount = CellType::count, kFlag = CellType::flag;
    return {
        of_estimate("peak_power_w", kNumber, "while the most demanding subgraph runs", &E::peak_power_w),
        of_estimate("batch_pieces", kCount,
                    "most parts of the batch that any subgraph runs one after another", &E::pieces),
        of_estimate("power_limited", kFlag, "the power limit lowers the clock", &E::power_limited),
        of_estimate("projected", kFlag, "no comparable device was measured on this stack; not ranked",
                    &E::projected),
        of_result("evidence", CellType::text, kEvidenceMeans,
                  [](R r) { return evidence_text(evidence_of(r)); }),
        of_result("doubt", CellType::text, "why it is not ranked, or less sure than others; empty: neither",
                  [](R r) { return may_lead(r.estimate) ? r.estimate.unlike : doubt_of(r.estimate).text(); }),
        of_estimate("utilization_min", kNumber, "of any subgraph", &E::utilization_min),
        of_estimate("utilization_max", kNumber, "of any subgraph", &E::utilization_max),
        planned_size("weight_bytes", "constants at the size they run in", &MemoryEstimate::weight_bytes),
        planned_size("activation_bytes", "the arena", &MemoryEstimate::activation_bytes),
        of_estimate("workspace_bytes", kNumber, "largest scratch memory of any kernel",
                    [](const E& e) { return e.memory.workspace_bytes; }),
        of_result(
            "subgraphs", kCount, "that the network is fused into",
            [](R r) { return r.partition ? std::optional(r.partition->subgraphs.size()) : std::nullopt; }),
        of_estimate("compute_bound_subgraphs", kCount, "", &E::compute_bound),
        of_estimate("memory_bound_subgraphs", kCount, "", &E::memory_bound),
        of_estimate("overhead_bound_subgraphs", kCount, "", &E::overhead_bound),
        of_result("first_inference_s", kNumber, "first inference: building, upload of weights and one batch",
                  [](R r) {
                      const auto start = cold_start_of(r);
                      return start ? std::optional(start->first_s()) : std::nullopt;
                  }),
        {plain_column("rank"),
         [](const RankedResult& row) {
             return known(row.place > 0 && may_lead(row.result->estimate), row.place);
         },
         kCount, "1 is best; equal where the odds are less than 3 to 1"},
        {plain_column("probability"),
         [](const RankedResult& row) { return known(row.place > 0, row.probability); }, kNumber,
         "that it is the best of those that are ranked"}};
}

/// The duty of a device with a rate; nothing where the question states none.
static ResultColumns duty_columns(std::optional<PowerBoundary> at) {
    const auto of = [at](const char* key, const char* meaning, auto member) {
        return of_result(key, CellType::number, meaning, [at, member](const Result& r) {
            const auto duty = stated_duty(r, at);
            return duty ? std::optional<double>(std::invoke(member, *duty)) : std::nullopt;
        });
    };
    using D = DutyCycle;
    return {of("time_at_work", "with a rate: part of the time, above 1 where it cannot keep up",
               &D::active_share),
            of("work_power_w", "with a rate: while it works; power_w is the average", &D::work_w),
            of("idle_power_w", "with a rate: between inferences", &D::idle_w),
            of("idle_energy_j", "with a rate: of the time that is left, for each inference",
               [](const D& d) { return d.average_w ? std::optional(d.idle_j()) : std::nullopt; }),
            of("battery_hours", "on the battery that the question states", &D::battery_hours)};
}

std::string meaning_of(const MetricField& field) {
    const Metric& metric = *field.metric;
    return field.part == MetricField::Part::value
               ? metric.noun + (metric.unit.empty() ? "" : ", " + metric.unit)
               : fmt::format("{} end of the 90 % interval",
                             field.part == MetricField::Part::low ? "lower" : "upper");
}

OneOf result_status() {
    return {UpTo{Status::incomplete}.names()};
}

std::vector<ColumnOf<RankedResult>> result_columns(const MetricView& view) {
    ResultColumns columns = identity_columns();
    append(columns, metric_columns(view));
    append(columns, estimate_columns());
    append(columns, duty_columns(view.conditions.power_at));
    return columns;
}

Members<RankedResult> result_members(const MetricView& view) {
    using R = RankedResult;
    const auto of_parts = [](const std::optional<PartsInTurn>& turn) { return Sometimes<PartsInTurn>{turn}; };
    return members_of(result_columns(view))
        .with(
            {{"family", "architecture of the device; null: it could not be read",
              [](const R& row) {
                  const auto& device = row.result->device;
                  return device ? std::optional(name_of(device->family)) : std::nullopt;
              },
              OneOf{family_names()}},
             {"status", "", [](const R& row) { return status_text(row.result->estimate); }, result_status()},
             {"cold_start", "the first inference",
              [](const R& row) {
                  const auto start = cold_start_of(*row.result);
                  return Sometimes<ShownColdStart>{
                      start ? std::optional(ShownColdStart{*start, !row.result->parts.empty()})
                            : std::nullopt};
              },
              cold_start_members()},
             {"generation", "prompt and answer of a language model",
              [at = view.conditions.power_at](const R& row) {
                  const Result& r = *row.result;
                  return Sometimes<ShownGeneration>{
                      r.generation ? std::optional(ShownGeneration{generation_at(r, at), r.ok()})
                                   : std::nullopt};
              },
              generation_members()},
             {"parts", "of a model of several networks",
              [](const R& row) {
                  const std::span<const ResultPart> parts = row.result->parts;
                  return Sometimes<std::span<const ResultPart>>{parts.empty() ? std::nullopt
                                                                              : std::optional(parts)};
              },
              part_members(view.conditions)},
             {"parts_in_turn",
              "one part in memory at a time, the others beyond the link to the host; absent where that saves "
              "nothing",
              [=](const R& row) { return of_parts(parts_in_turn(*row.result)); },
              Members<PartsInTurn>{
                  {"largest", "part that needs most alone", &PartsInTurn::largest},
                  {"peak_bytes", "of that part", &PartsInTurn::peak_bytes},
                  {"moved_bytes", "weights that cross the link for each batch", &PartsInTurn::moved_bytes},
                  {"moved_s", "their time; null: no link is stated",
                   [](const PartsInTurn& p) { return positive(p.moved_s); }}}}});
}

std::vector<RankedResult> ranked(const RankedGroup& group, const MetricView& view) {
    std::vector<RankedResult> rows;
    const std::vector<double> odds = shares_of_best(group.results, *group.by, view.conditions);
    for (const Rank& rank : rank_results(group.results, *group.by, view.conditions)) {
        const Result& r = group.results[rank.result];
        rows.push_back({&r, group.batch_size, rank.place, may_lead(r.estimate) ? odds[rank.result] : 0});
    }
    return rows;
}

Members<KnownModel> model_members() {
    using M = KnownModel;
    return {{"name", "", [](const M& m) { return m.model->name; }},
            {"source", "", [](const M& m) { return m.model->source; }},
            {"parameters", "learned values", [](const M& m) { return m.model->parameters; }},
            {"macs", "multiply-accumulates; 1 = 2 operations", [](const M& m) { return m.model->macs; }},
            {"operations", "useful operations", [](const M& m) { return m.model->operations; }},
            {"operators", "with run-time work", [](const M& m) { return m.model->operators; }},
            {"subgraphs", "that it is fused into; null: not cut",
             [](const M& m) {
                 return m.partition ? std::optional(m.partition->subgraphs.size()) : std::nullopt;
             }},
            {"weight_bytes", "constants at their stored size",
             [](const M& m) {
                 double bytes = 0;
                 for (const ShapedTensor& tensor : m.model->graph->tensors)
                     if (tensor.role == TensorRole::initializer && tensor.known)
                         bytes += tensor.elements() * tensor.stored_bits() / 8;
                 return bytes;
             }},
            {"dims", "sizes of symbolic dimensions", [](const M& m) { return m.model->dims; }},
            {"operator_mix", "operators by kind", [](const M& m) { return operator_mix(*m.model); }},
            {"operations_by_precision", "",
             [](const M& m) {
                 return mapped(precision_mix(*m.model->graph), [](const FormatShare& share) {
                     return std::pair<std::string, double>{share.format, share.operations};
                 });
             }},
            {"findings",
             "what the reader of the model did not understand or had to leave out; absent where nothing was",
             [](const M& m) {
                 const std::span<const Finding> all = m.model->findings;
                 return Sometimes<std::span<const Finding>>{all.empty() ? std::nullopt : std::optional(all)};
             },
             finding_members()}};
}

Members<Result> request_members() {
    return Members<Result>{{"model", "", [](const Result& r) { return r.model->name; }},
                           {"hardware", "", &Result::hardware}}
        .with(question_members().of<Result>([](const Result& r) {
            return Question{r.workload ? *r.workload : Workload{}, r.conditions};
        }));
}

Members<DecisionRequest> limit_members() {
    using R = DecisionRequest;
    return {{"limits", "by the flag of each",
             [](const R& r) {
                 std::map<std::string, std::string> limits;
                 for (const Constraint& c : r.constraints)
                     limits[limit_key(*c.metric)] = constraint_text(c);
                 return limits;
             }},
            {"pareto", "metrics whose front is marked",
             [](const R& r) { return mapped(r.pareto, [&](const Metric* metric) { return metric->key; }); }}};
}

std::string to_json(const Result& result, const MetricView& view) {
    return json_text(result_members(view).value({&result, result.estimate.batch, 0}));
}

} // namespace archsim
