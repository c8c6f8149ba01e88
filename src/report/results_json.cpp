#include "report/results_json.hpp"

#include "archsim/ops/precision_mix.hpp"
#include "archsim/report/result_json.hpp"
#include "report/cold_start_table.hpp"
#include "report/generation_json.hpp"
#include "report/result_text.hpp"

#include <cmath>

namespace archsim {

namespace {

using Json = nlohmann::ordered_json;

Json number(bool known, double value) {
    return known && std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json cold_start_json(const ColdStart& start) {
    const auto kind = [](const Fact* fact) {
        return fact != nullptr && fact->source != nullptr ? Json(name_of(fact->source->kind)) : Json(nullptr);
    };
    return {{"build_s", number(true, start.build_s)},
            {"weight_upload_s", number(true, start.upload_s)},
            {"first_inference_s", number(true, start.first_s())},
            {"build_source", kind(start.build)},
            {"link_source", kind(start.link)}};
}

} // namespace

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
            weight_bytes += tensor.elements() * bits_of(tensor.type) / 8;
    return {{"name", model.name},
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
}

Json result_json(const Result& r, double batch_size, int place) {
    const Estimate& e = r.estimate;
    const bool ok = r.ok();
    const bool sized = ok || e.status == Status::does_not_fit;
    Json row = {{"model", r.model->name},
                {"hardware", r.device ? r.device->id : r.hardware},
                {"family", r.device ? Json(name_of(r.device->family)) : Json(nullptr)},
                {"runtime", runtime_label(r).empty() ? Json(nullptr) : Json(runtime_label(r))},
                {"power_mode", r.power_mode.empty() ? Json(nullptr) : Json(r.power_mode)},
                {"precision", precision_name(r.requested)},
                {"executed_precision", ok ? Json(precision_name(e.executed)) : Json(nullptr)},
                {"batch_size", batch_size},
                {"status", name_of(e.status)},
                {"reason", e.reason.empty() ? e.precision_note : e.reason},
                {"latency_s", number(ok, e.latency_s)},
                {"latency_low_s", number(ok, e.latency_interval.low)},
                {"latency_high_s", number(ok, e.latency_interval.high)},
                {"throughput_per_s", number(ok, e.throughput_per_s)},
                {"throughput_low_per_s", number(ok, e.throughput_interval.low)},
                {"throughput_high_per_s", number(ok, e.throughput_interval.high)},
                {"power_w", number(ok, e.power_w)},
                {"peak_power_w", number(ok, e.peak_power_w)},
                {"batch_pieces", number(ok, e.pieces)},
                {"power_limited", ok ? Json(e.power_limited) : Json(nullptr)},
                {"projected", ok ? Json(e.projected) : Json(nullptr)},
                {"energy_per_inference_j", number(ok, e.energy_per_inference_j)},
                {"energy_low_j", number(ok, e.energy_interval.low)},
                {"energy_high_j", number(ok, e.energy_interval.high)},
                {"efficiency_per_w", number(ok, e.throughput_per_s / e.power_w)},
                {"utilization", number(ok, e.utilization)},
                {"utilization_min", number(ok, e.utilization_min)},
                {"utilization_max", number(ok, e.utilization_max)},
                {"peak_memory_bytes", number(sized, e.memory.peak_bytes)},
                {"weight_bytes", number(sized, e.memory.weight_bytes)},
                {"activation_bytes", number(sized, e.memory.activation_bytes)},
                {"workspace_bytes", number(ok, e.memory.workspace_bytes)},
                {"subgraphs", r.partition ? Json(r.partition->subgraphs.size()) : Json(nullptr)},
                {"compute_bound_subgraphs", ok ? Json(e.compute_bound) : Json(nullptr)},
                {"memory_bound_subgraphs", ok ? Json(e.memory_bound) : Json(nullptr)},
                {"overhead_bound_subgraphs", ok ? Json(e.overhead_bound) : Json(nullptr)},
                {"rank", place > 0 ? Json(place) : Json(nullptr)}};
    if (const auto start = cold_start_of(r))
        row["cold_start"] = cold_start_json(*start);
    if (r.generation)
        row["generation"] = generation_json(*r.generation, ok);
    if (!r.parts.empty())
        row["parts"] = parts_json(r);
    return row;
}

std::string to_json(const Result& result) {
    return result_json(result, result.estimate.batch, 0).dump(2);
}

} // namespace archsim
