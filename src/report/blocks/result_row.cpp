#include "report/blocks/result_row.hpp"
#include "report/blocks/finding_json.hpp"

#include "ask/question_json.hpp"
#include "compare/offload.hpp"
#include "ops/precision_mix.hpp"
#include "report/answers/result_json.hpp"
#include "report/blocks/cold_start_table.hpp"
#include "report/blocks/generation_json.hpp"
#include "report/blocks/result_text.hpp"
#include "report/render/json_document.hpp"

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;
using ResultColumns = std::vector<ColumnOf<RankedResult>>;

Json cold_start_json(const ColdStart& start, bool parts) {
    const auto number = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
    const auto kind = [](const Fact* fact) {
        return fact != nullptr && fact->source != nullptr ? Json(name_of(fact->source->kind)) : Json(nullptr);
    };
    Json object = {{"build_s", number(start.build_s)},
                   {"weight_upload_s", number(start.upload_s)},
                   {"first_inference_s", number(start.first_s())},
                   {"first_prebuilt_s", number(start.upload_s + start.warm_s)},
                   {"build_source", kind(start.build)},
                   {"link_source", kind(start.link)}};
    if (parts)
        object["side_by_side_s"] = number(start.side_by_side_s());
    return object;
}

void add_identity(ResultColumns& columns) {
    const auto text = [&](const char* key, std::string (*of)(const Result&)) {
        columns.push_back(
            {plain_column(key), [of](const RankedResult& row) { return Cell{of(*row.result)}; }});
    };
    text("model", [](const Result& r) { return r.model->name; });
    columns.push_back({plain_column("batch_size"),
                       [](const RankedResult& row) { return count_cell(true, row.batch_size); }});
    text("hardware", [](const Result& r) { return counted(r.device ? r.device->id : r.hardware, r); });
    text("family",
         [](const Result& r) { return r.device ? std::string(name_of(r.device->family)) : std::string(); });
    text("power_mode", [](const Result& r) { return r.power_mode; });
    text("runtime", runtime_label);
    text("precision", [](const Result& r) { return precision_name(r.conditions.precision); });
    text("executed_precision",
         [](const Result& r) { return r.ok() ? precision_name(r.estimate.executed) : std::string(); });
    text("status", [](const Result& r) { return std::string(status_text(r.estimate)); });
    columns.push_back({plain_column("reason"), [](const RankedResult& row) {
                           const Estimate& e = row.result->estimate;
                           return text_cell(e.reason.empty() ? e.precision_note : e.reason);
                       }});
}

void add_metrics(const MetricView& view, ResultColumns& columns) {
    for (const MetricField& field : fields_of(*view.metrics))
        columns.push_back(
            {plain_column(field.key()), [field, conditions = view.conditions](const RankedResult& row) {
                 const auto measure = field.metric->measure(*row.result, conditions);
                 return number_cell(measure.has_value(), measure ? field.of(*measure) : 0);
             }});
}

/// Known with the estimate, and (sizes) as soon as the network is planned.
void add_estimate_details(ResultColumns& columns) {
    const auto number = [&](const char* key, double (*of)(const Estimate&)) {
        columns.push_back({plain_column(key), [of](const RankedResult& row) {
                               return number_cell(row.result->ok(), of(row.result->estimate));
                           }});
    };
    const auto count = [&](const char* key, double (*of)(const Estimate&)) {
        columns.push_back({plain_column(key), [of](const RankedResult& row) {
                               return count_cell(row.result->ok(), of(row.result->estimate));
                           }});
    };
    const auto size = [&](const char* key, double (*of)(const Estimate&)) {
        columns.push_back({plain_column(key), [of](const RankedResult& row) {
                               const Result& r = *row.result;
                               const bool sized = r.ok() || r.estimate.status == Status::does_not_fit;
                               return number_cell(sized, of(r.estimate));
                           }});
    };
    number("peak_power_w", [](const Estimate& e) { return e.peak_power_w; });
    count("batch_pieces", [](const Estimate& e) { return e.pieces; });
    columns.push_back({plain_column("power_limited"), [](const RankedResult& row) {
                           return flag_cell(row.result->ok(), row.result->estimate.power_limited);
                       }});
    columns.push_back({plain_column("projected"), [](const RankedResult& row) {
                           return flag_cell(row.result->ok(), row.result->estimate.projected);
                       }});
    number("utilization_min", [](const Estimate& e) { return e.utilization_min; });
    number("utilization_max", [](const Estimate& e) { return e.utilization_max; });
    size("weight_bytes", [](const Estimate& e) { return e.memory.weight_bytes; });
    size("activation_bytes", [](const Estimate& e) { return e.memory.activation_bytes; });
    number("workspace_bytes", [](const Estimate& e) { return e.memory.workspace_bytes; });
    columns.push_back({plain_column("subgraphs"), [](const RankedResult& row) {
                           const auto& partition = row.result->partition;
                           return count_cell(
                               !!partition, partition ? static_cast<double>(partition->subgraphs.size()) : 0);
                       }});
    count("compute_bound_subgraphs", [](const Estimate& e) { return double(e.compute_bound); });
    count("memory_bound_subgraphs", [](const Estimate& e) { return double(e.memory_bound); });
    count("overhead_bound_subgraphs", [](const Estimate& e) { return double(e.overhead_bound); });
    columns.push_back({plain_column("first_inference_s"), [](const RankedResult& row) {
                           const auto start = cold_start_of(*row.result);
                           return number_cell(start.has_value(), start ? start->first_s() : 0);
                       }});
    columns.push_back(
        {plain_column("rank"), [](const RankedResult& row) { return count_cell(row.place > 0, row.place); }});
}

} // namespace

std::vector<ColumnOf<RankedResult>> result_columns(const MetricView& view) {
    ResultColumns columns;
    add_identity(columns);
    add_metrics(view, columns);
    add_estimate_details(columns);
    return columns;
}

Json result_json(const RankedResult& row, const MetricView& view) {
    const Result& r = *row.result;
    Json object = object_of(result_columns(view), row);
    if (const auto start = cold_start_of(r))
        object["cold_start"] = cold_start_json(*start, !r.parts.empty());
    if (r.generation)
        object["generation"] = generation_json(*r.generation, r.ok());
    if (!r.parts.empty())
        object["parts"] = parts_json(r);
    if (const auto turn = parts_in_turn(r))
        object["parts_in_turn"] = {{"largest", turn->largest},
                                   {"peak_bytes", turn->peak_bytes},
                                   {"moved_bytes", turn->moved_bytes},
                                   {"moved_s", turn->moved_s > 0 ? Json(turn->moved_s) : Json(nullptr)}};
    return object;
}

std::vector<RankedResult> ranked(const RankedGroup& group, const MetricView& view) {
    std::vector<RankedResult> rows;
    for (const Rank& rank : rank_results(group.results, *group.by, view.conditions))
        rows.push_back({&group.results[rank.result], group.batch_size, rank.place});
    return rows;
}

Json model_json(const ModelFacts& model, const Partition* partition) {
    Json mix = Json::object();
    for (const auto& [kind, count] : operator_mix(model))
        mix[kind] = count;
    Json precisions = Json::object();
    for (const FormatShare& share : precision_mix(*model.graph))
        precisions[share.format] = share.operations;
    Json dims = Json::object();
    for (const auto& [name, size] : model.dims)
        dims[name] = size;
    double weight_bytes = 0;
    for (const ShapedTensor& tensor : model.graph->tensors)
        if (tensor.role == TensorRole::initializer && tensor.known)
            weight_bytes += tensor.elements() * tensor.stored_bits() / 8;
    Json object{{"name", model.name},
                {"source", model.source},
                {"parameters", model.parameters},
                {"macs", model.macs},
                {"operations", model.operations},
                {"operators", model.operators},
                {"subgraphs", partition ? Json(partition->subgraphs.size()) : Json(nullptr)},
                {"weight_bytes", weight_bytes},
                {"dims", dims},
                {"operator_mix", mix},
                {"operations_by_precision", precisions}};
    if (!model.findings.empty())
        object["findings"] = findings_json(model.findings);
    return object;
}

nlohmann::ordered_json request_json(const Result& result) {
    nlohmann::ordered_json request = {{"model", result.model->name}, {"hardware", result.hardware}};
    request.update(question_json({result.workload ? *result.workload : Workload{}, result.conditions}));
    return request;
}

std::string to_json(const Result& result, const MetricView& view) {
    return json_text(result_json({&result, result.estimate.batch, 0}, view));
}

} // namespace archsim
