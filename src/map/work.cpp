#include "archsim/map/work.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace archsim {

namespace {

/// Storage of `tensor` in bits per element when this run stores floats as `config` says.
double stored_bits(const ShapedTensor& tensor, const PrecisionConfig& config, bool matrix_weight,
                   std::optional<Precision> native) {
    if (!is_floating(tensor.type))
        return bits_of(tensor.type);
    if (bits_of(tensor.type) < 16) // already a packed 8- or 4-bit float
        return bits_of(tensor.type);
    if (tensor.kv_cache)
        return bits_of(config.kv_cache);
    if (native)
        return bits_of(*native);
    if (matrix_weight)
        return bits_of(config.weights) + config.weight_bits_overhead;
    return bits_of(config.activations);
}

bool uses_matrix_weights(OpKind kind) {
    return kind == OpKind::convolution || kind == OpKind::matmul || kind == OpKind::attention ||
           kind == OpKind::recurrent;
}

double read_elements(const Operator& op, std::size_t input, const ShapedTensor& tensor) {
    for (const auto& [index, elements] : op.work.partial_reads)
        if (index == input)
            return elements;
    return tensor.elements();
}

class WorkBuilder {
  public:
    WorkBuilder(const ShapedGraph& graph, const PrecisionConfig& precision, std::span<const std::string> unsupported)
        : graph_(graph), precision_(precision), unsupported_(unsupported) {}

    SubgraphWork build(const Subgraph& s, std::uint32_t index) {
        SubgraphWork work;
        work.name = s.name;
        work.index = index;
        work.kind = s.kind;
        work.repeat = s.repeat;
        const Operator& anchor = graph_.operators[s.anchor];
        work.anchor = &anchor.work;
        work.precision = compute_precision(anchor);
        for (const auto& member : s.members)
            if (member.reason != FusionReason::transparent && member.reason != FusionReason::in_place)
                add_operator(s, member, work);
        add_boundary(s, work);
        return work;
    }

  private:
    Precision compute_precision(const Operator& op) const {
        return op.native_precision ? *op.native_precision : precision_.compute;
    }

    void add_operator(const Subgraph& s, const SubgraphMember& member, SubgraphWork& work) {
        const Operator& op = graph_.operators[member.op];
        const bool folded_away = member.reason == FusionReason::batch_norm_folded;
        OperatorUse use;
        use.op = &op;
        use.anchor = member.op == s.anchor;
        use.compute = compute_precision(op);
        use.supported = std::find(unsupported_.begin(), unsupported_.end(), op.type) == unsupported_.end();
        const bool matrix = uses_matrix_weights(op.work.kind);
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (op.inputs[i] == kNoTensor)
                continue;
            const ShapedTensor& tensor = graph_.tensors[op.inputs[i]];
            const bool constant = tensor.constant || tensor.role == TensorRole::initializer;
            const double elements = read_elements(op, i, tensor);
            const double bytes = elements * bits(tensor, op, constant && matrix) / 8;
            if (constant) {
                use.weight_bytes += bytes;
            } else {
                use.read_bytes += bytes;
                use.input_elements += elements;
            }
        }
        for (TensorId out : op.outputs)
            if (out != kNoTensor) {
                const double elements = op.work.partial_write.value_or(graph_.tensors[out].elements());
                use.written_bytes += elements * bits(graph_.tensors[out], op, false) / 8;
                use.output_elements += elements;
            }
        if (folded_away)
            return; // scale and shift disappear into the contraction's weights
        work.macs += op.work.macs;
        work.vector_ops += op.work.vector_ops;
        work.special_ops += op.work.special_ops;
        work.unfused_bytes += use.read_bytes + use.written_bytes + use.weight_bytes;
        work.operators.push_back(use);
    }

    double bits(const ShapedTensor& tensor, const Operator& op, bool matrix_weight) const {
        return stored_bits(tensor, precision_, matrix_weight, op.native_precision);
    }

    /// Bytes that cross the boundary: each outside tensor once, as much of it as any member needs.
    void add_boundary(const Subgraph& s, SubgraphWork& work) {
        needed_.clear();
        for (const OperatorUse& use : work.operators)
            for (std::size_t i = 0; i < use.op->inputs.size(); ++i) {
                const TensorId id = use.op->inputs[i];
                if (id == kNoTensor)
                    continue;
                const ShapedTensor& tensor = graph_.tensors[id];
                const bool constant = tensor.constant || tensor.role == TensorRole::initializer;
                const bool matrix_weight = constant && uses_matrix_weights(use.op->work.kind);
                const double bytes = read_elements(*use.op, i, tensor) * bits(tensor, *use.op, matrix_weight) / 8;
                double& entry = needed_[id];
                entry = std::max(entry, bytes);
            }
        bool first = true;
        for (TensorId in : s.inputs) {
            const double bytes = needed(in);
            (first ? work.input_bytes : work.extra_bytes) += bytes;
            if (graph_.tensors[in].kv_cache)
                work.kv_bytes += bytes;
            first = false;
        }
        for (TensorId weight : s.weights)
            work.weight_bytes += needed(weight);
        for (TensorId out : s.outputs)
            work.output_bytes += written(out, work);
    }

    double needed(TensorId id) const {
        const auto at = needed_.find(id);
        return at == needed_.end() ? 0 : at->second;
    }

    double written(TensorId id, const SubgraphWork& work) const {
        const ShapedTensor& tensor = graph_.tensors[id];
        for (const OperatorUse& use : work.operators)
            for (TensorId out : use.op->outputs)
                if (out == id)
                    return use.op->work.partial_write.value_or(tensor.elements()) * bits(tensor, *use.op, false) / 8;
        return tensor.elements() * stored_bits(tensor, precision_, false, std::nullopt) / 8;
    }

    const ShapedGraph& graph_;
    const PrecisionConfig precision_;
    const std::span<const std::string> unsupported_;
    std::unordered_map<TensorId, double> needed_;
};

} // namespace

NetworkWork make_network_work(const ShapedGraph& graph, const Partition& partition,
                              const PrecisionConfig& precision, std::span<const std::string> unsupported) {
    NetworkWork network;
    network.graph = &graph;
    network.partition = &partition;
    network.precision = precision;
    if (const auto batch = graph.dims.find("batch"); batch != graph.dims.end())
        network.batch = static_cast<double>(batch->second);
    WorkBuilder builder(graph, precision, unsupported);
    network.subgraphs.reserve(partition.subgraphs.size());
    std::unordered_set<TensorId> matrix_weights;
    for (std::uint32_t i = 0; i < partition.subgraphs.size(); ++i) {
        const SubgraphWork& work = network.subgraphs.emplace_back(builder.build(partition.subgraphs[i], i));
        network.largest_activation_bytes = std::max(network.largest_activation_bytes, work.activation_bytes());
        network.macs += work.macs * work.repeat;
        network.operations += work.operations() * work.repeat;
        for (const OperatorUse& use : work.operators)
            if (uses_matrix_weights(use.op->work.kind))
                matrix_weights.insert(use.op->inputs.begin(), use.op->inputs.end());
    }
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
        const ShapedTensor& tensor = graph.tensors[id];
        if (tensor.role == TensorRole::initializer && tensor.known)
            network.weight_bytes +=
                tensor.elements() * stored_bits(tensor, precision, matrix_weights.contains(id), std::nullopt) / 8;
    }
    for (TensorId in : graph.inputs)
        network.input_bytes += graph.tensors[in].elements() *
                               stored_bits(graph.tensors[in], precision, false, std::nullopt) / 8;
    for (TensorId out : graph.outputs)
        if (graph.tensors[out].known)
            network.output_bytes += graph.tensors[out].elements() *
                                    stored_bits(graph.tensors[out], precision, false, std::nullopt) / 8;
    std::vector<double> sizes;
    sizes.reserve(partition.buffers.size());
    for (const Buffer& buffer : partition.buffers) {
        const ShapedTensor& tensor = graph.tensors[buffer.tensor];
        sizes.push_back(tensor.known ? tensor.elements() * stored_bits(tensor, precision, false, std::nullopt) / 8 : 0);
    }
    network.memory = plan_memory(partition.buffers, sizes, partition.subgraphs.size());
    return network;
}

} // namespace archsim
