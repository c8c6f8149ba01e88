#include "archsim/run/parts.hpp"

#include "archsim/core/finding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace archsim {

namespace {

using WeightKey = std::tuple<std::string, DataType, Shape>;

/// One graph for the facts of the whole: all operators with their executions, shared weights once. It is
/// never bound to a device: each part is estimated on its own.
class Union {
  public:
    /// Returns the weights that an earlier part brought already.
    std::vector<TensorId> add(const ShapedGraph& part, double repeat) {
        std::vector<TensorId> known, place(part.tensors.size());
        for (TensorId id = 0; id < part.tensors.size(); ++id) {
            const ShapedTensor& tensor = part.tensors[id];
            const auto fresh = static_cast<TensorId>(graph_.tensors.size());
            place[id] = fresh;
            if (tensor.role == TensorRole::initializer) {
                const auto [at, first] =
                    weights_.try_emplace({tensor.name, tensor.type, tensor.shape}, fresh);
                place[id] = at->second;
                if (!first) {
                    known.push_back(id);
                    continue;
                }
            }
            graph_.tensors.push_back(tensor);
        }
        const auto moved = [&](TensorList ids) {
            for (TensorId& id : ids)
                id = id == kNoTensor ? kNoTensor : place[id];
            return ids;
        };
        for (const Operator& op : part.operators) {
            graph_.operators.push_back(op);
            graph_.operators.back().inputs = moved(op.inputs);
            graph_.operators.back().outputs = moved(op.outputs);
            graph_.operators.back().repeat *= repeat;
        }
        for (const auto& [name, size] : part.dims)
            graph_.dims.try_emplace(name, size);
        graph_.findings.insert(graph_.findings.end(), part.findings.begin(), part.findings.end());
        return known;
    }
    ShapedGraph take() { return std::move(graph_); }

  private:
    ShapedGraph graph_;
    std::map<WeightKey, TensorId> weights_;
};

Bindings bindings_of(const CatalogueEntry& entry, const ModelPart& part, const Bindings& user) {
    Bindings all = user;
    for (const auto& [name, size] : entry.dims)
        all.dims.try_emplace(name, size);
    for (const auto& [name, size] : part.dims)
        all.dims[name] = size;
    return all;
}

} // namespace

MultiPartModel::MultiPartModel(const Session& session, const CatalogueEntry& entry, std::int64_t batch,
                               const Bindings& bindings) {
    Union all;
    auto facts = std::make_shared<ModelFacts>();
    Bindings sized = bindings;
    if (!sized.batch_size)
        sized.dims.try_emplace("batch", batch);
    for (const ModelPart& part : entry.parts) {
        const Model model = session.load(part.model);
        parts_.push_back({part, session.bind(model, batch, bindings_of(entry, part, sized))});
        repeated_weights_.push_back(all.add(parts_.back().model->graph(), part.repeat));
        facts->operators += parts_.back().model->facts()->operators;
    }
    auto graph = std::make_shared<ShapedGraph>(all.take());
    graph->name = entry.name;
    facts->name = entry.name;
    facts->title = entry.title;
    facts->source = entry.source;
    facts->parameters = graph->parameters();
    facts->macs = graph->macs();
    facts->operations = graph->operations();
    facts->dims = graph->dims;
    facts->findings = graph->findings;
    facts->graph = std::move(graph);
    facts_ = std::move(facts);
}

namespace {

/// Bytes of weights at the formats of a run.
double bytes_of(const ShapedGraph& graph, const std::vector<TensorId>& weights,
                const PrecisionConfig& precision) {
    double bytes = 0;
    for (TensorId id : weights) {
        const ShapedTensor& tensor = graph.tensors[id];
        const double bits = is_floating(tensor.type) && tensor.storage_bits <= 0
                                ? bits_of(precision.weights) + precision.weight_bits_overhead
                                : tensor.stored_bits();
        bytes += tensor.elements() * bits / 8;
    }
    return bytes;
}

/// Adds `repeat` executions of a part to the whole.
void add_part(const Estimate& part, double repeat, Estimate& whole, double& useful) {
    whole.latency_s += part.latency_s * repeat;
    whole.latency_interval.low += part.latency_interval.low * repeat;
    whole.latency_interval.high += part.latency_interval.high * repeat;
    whole.energy_per_inference_j += part.energy_per_inference_j * repeat;
    whole.energy_interval.low += part.energy_interval.low * repeat;
    whole.energy_interval.high += part.energy_interval.high * repeat;
    for (std::size_t i = 0; i < kEventCount; ++i)
        whole.energy.joules[i] += part.energy.joules[i] * repeat;
    whole.energy.static_joules += part.energy.static_joules * repeat;
    EventCounts events = part.events;
    whole.events += events.scale(repeat);
    whole.network_s += part.network_s * repeat;
    useful += part.utilization * part.latency_s * repeat;
    whole.utilization_min = std::min(whole.utilization_min, part.utilization_min);
    whole.utilization_max = std::max(whole.utilization_max, part.utilization_max);
    whole.peak_power_w = std::max(whole.peak_power_w, part.peak_power_w);
    whole.power_limited = whole.power_limited || part.power_limited;
    whole.clock_ratio = std::min(whole.clock_ratio, part.clock_ratio);
    whole.compute_bound += part.compute_bound;
    whole.memory_bound += part.memory_bound;
    whole.overhead_bound += part.overhead_bound;
    whole.memory.activation_bytes = std::max(whole.memory.activation_bytes, part.memory.activation_bytes);
    whole.memory.live_bytes = std::max(whole.memory.live_bytes, part.memory.live_bytes);
    whole.memory.kv_cache_bytes = std::max(whole.memory.kv_cache_bytes, part.memory.kv_cache_bytes);
    whole.memory.weight_bytes += part.memory.weight_bytes;
    whole.memory.capacity_bytes = part.memory.capacity_bytes;
}

/// Interval between finished batches: parts take turns on the device.
void add_interval(const Estimate& part, double repeat, double& seconds, double& low, double& high) {
    seconds += repeat * part.batch / part.throughput_per_s;
    low += repeat * part.batch / part.throughput_interval.high;
    high += repeat * part.batch / part.throughput_interval.low;
}

} // namespace

Result MultiPartModel::run(const Session& session, std::string_view hardware,
                           const RunOptions& options) const {
    Result whole;
    whole.model = facts_;
    whole.hardware = hardware;
    whole.requested = options.precision;
    whole.runtime_asked = options.runtime;
    Estimate& e = whole.estimate;
    e.utilization_min = 1;
    double useful = 0, seconds = 0, low = 0, high = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        auto part = std::make_shared<const Result>(session.run(parts_[i].model, hardware, options));
        whole.device = part->device;
        whole.runtime = part->runtime;
        whole.machine = part->machine;
        whole.power_mode = part->power_mode;
        const double repeat = parts_[i].description.repeat;
        whole.parts.push_back({parts_[i].description.name, repeat, part});
        const Estimate& own = part->estimate;
        e.executed = own.executed;
        e.batch = own.batch;
        if (e.precision_note.empty())
            e.precision_note = own.precision_note;
        e.interval_basis = own.interval_basis;
        e.projected = own.projected;
        e.findings.insert(e.findings.end(), own.findings.begin(), own.findings.end());
        if (!part->ok() && e.status == Status::ok) {
            e.status = own.status;
            e.reason = fmt::format("{}: {}", parts_[i].description.name, own.reason);
        }
        add_part(own, repeat, e, useful);
        if (part->ok())
            add_interval(own, repeat, seconds, low, high);
        e.memory.weight_bytes -= bytes_of(parts_[i].model->graph(), repeated_weights_[i], own.executed);
    }
    e.memory.peak_bytes = e.memory.weight_bytes + e.memory.activation_bytes + e.memory.kv_cache_bytes;
    if (e.status == Status::ok && e.memory.capacity_bytes > 0 &&
        e.memory.peak_bytes > e.memory.capacity_bytes) {
        e.status = Status::does_not_fit;
        e.reason = fmt::format("its parts need {:.1f} GB together, the device has {:.1f} GB",
                               e.memory.peak_bytes / 1e9, e.memory.capacity_bytes / 1e9);
    }
    if (e.status != Status::ok)
        return whole;
    e.throughput_per_s = e.batch / seconds;
    e.throughput_interval = {e.batch / high, e.batch / low};
    e.power_w = e.energy.total() / seconds;
    e.peak_power_w = std::max(e.power_w, e.peak_power_w); // NaN stays
    e.utilization = useful / e.latency_s;
    return whole;
}

} // namespace archsim
