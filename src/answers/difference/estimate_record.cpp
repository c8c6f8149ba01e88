#include "answers/difference/estimate_record.hpp"

#include "answers/difference/attribution.hpp"
#include "answers/difference/factor_terms.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

namespace {

void add_cost(const Result& result, const CostOptions& options, EstimateRecord& out) {
    if (!value_of(result, metric::cost, options))
        return;
    const Cost cost = cost_of(result, options);
    out.electricity = cost.way() == Tenure::buy ? *cost.electricity : 0;
    out.price_per_s = (*cost.best() - out.electricity) * cost.inferences_per_s;
    out.seconds_per_inference = 1 / cost.inferences_per_s;
}

constexpr std::uint32_t kUnlisted = 0xFFFFFFFFU;

/// Sizes after the first axis, which the batch scales.
std::string item_shape(const ShapedTensor& tensor) {
    if (tensor.shape.empty())
        return "";
    return fmt::format("{}", fmt::join(tensor.shape.begin() + 1, tensor.shape.end(), "x"));
}

std::string shape_of(const ShapedGraph& graph, const Operator& op) {
    std::string text;
    for (TensorId id : op.inputs)
        if (id != kNoTensor && graph.tensors[id].role == TensorRole::initializer)
            text += fmt::format("[{}]", fmt::join(graph.tensors[id].shape, "x"));
    for (TensorId id : op.outputs)
        if (id != kNoTensor)
            text += "->" + item_shape(graph.tensors[id]);
    return text;
}

bool runs(const Operator& op) {
    return !op.folded && op.work.kind != OpKind::free;
}

} // namespace

EstimateRecord record_of(const Result& result, const CostOptions& cost, RecordDetail detail) {
    EstimateRecord record;
    record.model = result.model->name;
    record.hardware = result.hardware;
    if (const double devices = std::max(result.devices(), result.conditions.devices); devices > 1)
        record.hardware += fmt::format(" x{:.0f}", devices);
    record.stack = result.runtime ? result.runtime->id : std::string();
    record.precision = result.conditions.precision;
    record.dims = result.model->dims;
    record.batch = result.estimate.batch;
    for (const Metric* metric : MetricTable::standard().rows())
        if (const auto measure = measure_of(result, *metric, cost))
            record.values[metric->key] = *measure;
    const MemoryEstimate& memory = result.estimate.memory;
    record.weight_bytes = memory.weight_bytes;
    record.activation_bytes = memory.activation_bytes;
    record.kv_cache_bytes = memory.kv_cache_bytes;
    record.workspace_bytes = memory.workspace_bytes;
    add_cost(result, cost, record);
    for (const ResultLeaf& leaf : leaves_of(result)) {
        record.graphs.push_back(record_of_graph(*leaf.result, detail));
        record.graphs.back().repeat = leaf.repeat;
    }
    for (std::size_t part = 0; part < result.parts.size(); ++part)
        record.graphs[part].name = result.parts[part].name;
    if (detail == RecordDetail::all) {
        FactorInputs inputs(result, cost);
        for (std::size_t f = 0; f < kFactorCount; ++f)
            record.inputs.push_back(inputs.of(static_cast<Factor>(f)).value);
    }
    return record;
}

std::string operator_class(const Operator& op) {
    const auto& window = op.work.window;
    if (op.work.kind != OpKind::convolution || !window)
        return std::string(name_of(op.work.kind));
    std::vector<double> kernel; // images leave the first of three axes unused
    for (std::size_t axis = window->in[0] > 1 || window->kernel[0] > 1 ? 0 : 1; axis < 3; ++axis)
        kernel.push_back(window->kernel[axis]);
    const bool depthwise = window->groups > 1 && window->groups == window->in_channels;
    return fmt::format("{} {}{}convolution", fmt::join(kernel, "x"), window->transposed ? "transposed " : "",
                       depthwise            ? "depthwise "
                       : window->groups > 1 ? "grouped "
                                            : "");
}

void add_operators(const Result& leaf, GraphRecord& out) {
    const ShapedGraph& graph = *leaf.model->graph;
    std::vector<std::uint32_t> place(graph.operators.size(), kUnlisted);
    for (std::uint32_t i = 0; i < graph.operators.size(); ++i)
        if (const Operator& op = graph.operators[i]; runs(op)) {
            place[i] = static_cast<std::uint32_t>(out.operators.size());
            out.operators.push_back({op.name, op.type, shape_of(graph, op)});
        }
    for (std::uint32_t s = 0; s < out.kernels.size(); ++s) {
        KernelRecord& kernel = out.kernels[s];
        const Subgraph& subgraph = leaf.partition->subgraphs[s];
        kernel.name = subgraph.name;
        const Operator* largest = &graph.operators[subgraph.anchor];
        for (const SubgraphMember& member : subgraph.members) {
            if (place[member.op] == kUnlisted)
                continue;
            kernel.operators.push_back(place[member.op]);
            if (graph.operators[member.op].work.operations() > largest->work.operations())
                largest = &graph.operators[member.op];
        }
        kernel.kind = operator_class(*largest);
    }
    out.network.name = out.network.kind = "whole network";
}

} // namespace archsim
