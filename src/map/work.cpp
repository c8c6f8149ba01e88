#include "archsim/map/work.hpp"

#include "core/product_format.hpp"
#include "hardware/operator_rules.hpp"
#include "map/format_invariants.hpp"
#include "map/network_parts.hpp"
#include "map/stored_tensors.hpp"
#include "ops/precision_mix.hpp"
#include "ops/uncounted.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace archsim {

static bool has_work(const SubgraphMember& member) {
    return member.reason != FusionReason::transparent && member.reason != FusionReason::in_place;
}

/// Scale and shift disappear into the contraction's weights.
static bool folded_away(const SubgraphMember& member) {
    return member.reason == FusionReason::batch_norm_folded;
}

class WorkBuilder {
  public:
    WorkBuilder(const ShapedGraph& graph, const Partition& partition, const PrecisionConfig& precision,
                std::span<const std::uint8_t> places, const DerivedCounts* derived,
                const std::vector<std::uint8_t>& wide)
        : graph_(graph), precision_(precision), places_(places), derived_(derived),
          operators_(derived ? derived->operators : graph.operators), wide_(wide),
          needed_(graph.tensors.size()) {
        if (precision.head_bits > 0)
            lm_heads_ = find_lm_head_weights(graph);
        std::size_t members = 0;
        for (const Subgraph& s : partition.subgraphs)
            members += s.members.size();
        uses_.reserve(members); // subgraphs point into it
    }

    /// Bytes that the tensor, which nothing multiplies with as a weight, takes on this chip.
    double stored_bytes(TensorId id) const {
        const ShapedTensor& tensor = graph_.tensors[id];
        if (!tensor.known)
            return 0;
        const double share = derived_ ? derived_->tensor_share[id] : 1;
        return share * tensor.elements() *
               stored_bits(TensorFormat(tensor), precision_, storage(id, false), std::nullopt) / 8;
    }

    SubgraphWork build(const Subgraph& s, std::uint32_t index) {
        SubgraphWork work{.name = s.name, .index = index, .kind = s.kind, .repeat = s.repeat};
        const Operator& anchor = operators_[s.anchor];
        work.anchor = &anchor.work;
        work.precision = compute_precision(anchor);
        const std::size_t first = uses_.size();
        for (const auto& member : s.members)
            if (has_work(member))
                add_operator(s, member, work);
        work.operators = std::span(uses_).subspan(first);
        add_boundary(s, work);
        return work;
    }

    /// As build() of a subgraph that is like one it was called for.
    SubgraphWork build_like(const SubgraphWork& first, const Subgraph& s, std::uint32_t index) {
        SubgraphWork work = first;
        work.name = s.name;
        work.index = index;
        work.anchor = &operators_[s.anchor].work;
        const std::size_t own = uses_.size();
        auto use = first.operators.begin();
        for (const auto& member : s.members)
            if (has_work(member) && !folded_away(member)) {
                OperatorUse& copy = uses_.emplace_back(*use++);
                copy.op = &operators_[member.op];
                place(member.op, copy);
            }
        work.operators = std::span(uses_).subspan(own);
        return work;
    }

    /// The operators of all subgraphs that were built; they stay where they are.
    std::vector<OperatorUse> take_uses() { return std::move(uses_); }

  private:
    void place(std::size_t op, OperatorUse& use) const {
        if (places_.empty())
            return;
        const unsigned at = places_[op];
        use.supported = (at & kLeft) == 0;
        use.switches = (at & kSwitches) != 0;
        use.fetches = (at & kFetches) != 0;
        use.returns = (at & kReturns) != 0;
    }

    Precision compute_precision(const Operator& op) const {
        if (op.native_precision)
            return *op.native_precision;
        // Operands that are quantised on the fly, to less than 16 bits.
        const bool narrows =
            bits_of(precision_.compute) < std::min(bits_of(Precision::bf16), bits_of(precision_.activations));
        if (narrows && !multiplies_weights(op))
            return unweighted_precision(op);
        if (narrows && graph_.stored_weights) {
            // A checkpoint of several schemes that is run as it was made.
            if (precision_.compute == graph_.stored_products && meets_weight_only(graph_, op))
                return precision_.activations;
            return meeting(stated_weight_bits(op));
        }
        // A head that is kept wide is also multiplied wide.
        if (precision_.head_bits >= bits_of(precision_.activations) &&
            bits_of(precision_.activations) > bits_of(precision_.compute) &&
            std::ranges::any_of(op.inputs, [&](TensorId in) { return is_lm_head(in); }) &&
            multiplies(op.work.kind))
            return precision_.activations;
        if (precision_.convolutions && op.work.kind == OpKind::convolution)
            return *precision_.convolutions;
        return precision_.compute;
    }

    /// Activations are quantised on the fly to meet weights; among themselves they stay as stored. So do
    /// queries, but where keys and values are cached narrower: to floats as wide as these.
    Precision unweighted_precision(const Operator& op) const {
        const bool floats = !is_integer(precision_.compute) && !is_integer(precision_.kv_cache);
        return floats && multiplies(op.work.kind) &&
                       bits_of(precision_.kv_cache) < bits_of(precision_.activations)
                   ? meeting(bits_of(precision_.kv_cache))
                   : precision_.activations;
    }

    /// The format that operands of `bits` are multiplied in.
    Precision meeting(double bits) const {
        return bits >= bits_of(precision_.activations) ? precision_.activations
                                                       : product_format(bits, precision_.compute);
    }

    /// Bits of the widest matrix that `op` multiplies with, as a checkpoint states them, without scales of
    /// its own.
    double stated_weight_bits(const Operator& op) const {
        double bits = 0;
        for (const TensorId in : op.inputs)
            if (in != kNoTensor && graph_.tensors[in].constant && graph_.tensors[in].storage_bits > 0)
                bits = std::max(bits, stored_bits(TensorFormat(graph_.tensors[in]), precision_,
                                                  storage(in, true), std::nullopt));
        return bits;
    }

    static bool multiplies_weights(const Operator& op) {
        return std::ranges::any_of(op.work.contractions, &Contraction::weights_constant);
    }

    bool is_lm_head(TensorId id) const { return !lm_heads_.empty() && id != kNoTensor && lm_heads_[id] != 0; }

    Storage storage(TensorId id, bool matrix_weight) const {
        if (!matrix_weight)
            return wide_[id] != 0 ? Storage::wide_activation : Storage::activation;
        return is_lm_head(id) ? Storage::lm_head_weight : Storage::matrix_weight;
    }

    void add_operator(const Subgraph& s, const SubgraphMember& member, SubgraphWork& work) {
        const Operator& op = operators_[member.op];
        OperatorUse use{.op = &op, .compute = compute_precision(op), .anchor = member.op == s.anchor};
        place(member.op, use);
        const bool matrix = multiplies(op.work.kind);
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            if (op.inputs[i] == kNoTensor)
                continue;
            const ShapedTensor& tensor = graph_.tensors[op.inputs[i]];
            const bool constant = tensor.constant || tensor.role == TensorRole::initializer;
            const double elements = read_elements(op, i, tensor);
            const double bytes = elements * bits(op.inputs[i], op, constant && matrix) / 8;
            if (constant) {
                use.weight_bytes += bytes;
            } else {
                use.read_bytes += bytes;
                use.input_elements += elements;
            }
        }
        for (std::size_t o = 0; o < op.outputs.size(); ++o)
            if (op.outputs[o] != kNoTensor) {
                const double elements = written_elements(op, o, graph_.tensors[op.outputs[o]]);
                use.written_bytes += elements * bits(op.outputs[o], op, false) / 8;
                use.output_elements += elements;
            }
        if (folded_away(member))
            return;
        if (derived_) {
            const double width = bits_of(precision_.activations) / 8.0;
            work.link_bytes += derived_->link_elements[member.op] * width;
            work.collectives += derived_->collectives[member.op];
        }
        work.macs += op.work.macs;
        work.vector_ops += op.work.vector_ops;
        work.special_ops += op.work.special_ops;
        work.unfused_bytes += use.read_bytes + use.written_bytes + use.weight_bytes;
        uses_.push_back(use);
    }

    /// Bits per element where `op` reads or writes it: products are given narrow copies of what is wide.
    double bits(TensorId id, const Operator& op, bool matrix_weight) const {
        Storage kept = storage(id, matrix_weight);
        if (kept == Storage::wide_activation && multiplies(op.work.kind))
            kept = Storage::activation;
        return stored_bits(TensorFormat(graph_.tensors[id]), precision_, kept, op.native_precision);
    }

    /// Elements of `id`, which comes from another kernel, that a kernel of its own narrows for `op`.
    void add_narrowed(TensorId id, double elements, const Operator& op, const Subgraph& s,
                      SubgraphWork& work) const {
        if (!precision_.autocast || wide_[id] == 0 || !multiplies(op.work.kind) ||
            std::ranges::find(s.inputs, id) == s.inputs.end())
            return;
        work.narrowed_elements += elements;
        work.narrowed_tensors += 1;
    }

    /// Bytes that cross the boundary: each outside tensor once, as much of it as any member needs.
    void add_boundary(const Subgraph& s, SubgraphWork& work) {
        for (const OperatorUse& use : work.operators)
            for (std::size_t i = 0; i < use.op->inputs.size(); ++i) {
                const TensorId id = use.op->inputs[i];
                if (id == kNoTensor)
                    continue;
                const ShapedTensor& tensor = graph_.tensors[id];
                const bool constant = tensor.constant || tensor.role == TensorRole::initializer;
                const bool matrix_weight = constant && multiplies(use.op->work.kind);
                const double elements = read_elements(*use.op, i, tensor);
                needed_[id] = std::max(needed_[id], elements * bits(id, *use.op, matrix_weight) / 8);
                if (!constant)
                    add_narrowed(id, elements, *use.op, s, work);
            }
        bool first = true;
        for (TensorId in : s.inputs) {
            const double bytes = needed_[in];
            (first ? work.input_bytes : work.extra_bytes) += bytes;
            const ShapedTensor& tensor = graph_.tensors[in];
            if (tensor.kv_cache)
                work.kv_bytes += bytes;
            else if (tensor.role == TensorRole::input)
                work.given_bytes +=
                    tensor.elements() * (is_floating(tensor.type) ? bytes_of(precision_.activations)
                                                                  : bits_of(tensor.type) / 8.0);
            first = false;
        }
        for (TensorId weight : s.weights)
            work.weight_bytes += needed_[weight];
        for (TensorId out : s.outputs)
            work.output_bytes += written(out, work);
        for (TensorId image : s.relaid)
            if (graph_.tensors[image].known)
                work.relaid_elements +=
                    (derived_ ? derived_->tensor_share[image] : 1) * graph_.tensors[image].elements();
        for (TensorId operand : s.gathered)
            work.gathered_elements +=
                (derived_ ? derived_->tensor_share[operand] : 1) * graph_.tensors[operand].elements();
        work.gathered_tensors = static_cast<double>(s.gathered.size());
        for (const OperatorUse& use : work.operators)
            for (const TensorId id : use.op->inputs)
                if (id != kNoTensor)
                    needed_[id] = 0;
    }

    double written(TensorId id, const SubgraphWork& work) const {
        const ShapedTensor& tensor = graph_.tensors[id];
        for (const OperatorUse& use : work.operators)
            for (std::size_t o = 0; o < use.op->outputs.size(); ++o)
                if (use.op->outputs[o] == id)
                    return written_elements(*use.op, o, tensor) * bits(id, *use.op, false) / 8;
        return stored_bytes(id);
    }

    const ShapedGraph& graph_;
    const PrecisionConfig precision_;
    const std::span<const std::uint8_t> places_;
    const DerivedCounts* derived_;
    const std::vector<Operator>& operators_;
    const std::vector<std::uint8_t>& wide_; ///< see find_wide_tensors
    std::vector<std::uint8_t> lm_heads_;    ///< see find_lm_head_weights; empty: none are kept wider
    std::vector<double> needed_;            ///< bytes per tensor; 0 between calls
    std::vector<OperatorUse> uses_;         ///< of all subgraphs
};

/// Classes whose subgraphs are executed in the same places too: what stands behind the end of the compiler's
/// part is unlike the same before it.
static std::shared_ptr<const SubgraphClasses> split_by_place(const SubgraphClasses& classes,
                                                             const Partition& partition,
                                                             std::span<const std::uint8_t> places) {
    auto own = std::make_shared<SubgraphClasses>(classes);
    std::vector<std::string> patterns(partition.subgraphs.size());
    for (std::size_t i = 0; i < patterns.size(); ++i)
        for (const SubgraphMember& member : partition.subgraphs[i].members)
            patterns[i] += static_cast<char>(places[member.op]);
    for (std::vector<std::uint32_t>* of : {&own->by_work, &own->by_place}) {
        std::map<std::pair<std::uint32_t, std::string_view>, std::uint32_t> first;
        for (std::uint32_t i = 0; i < of->size(); ++i)
            (*of)[i] = first.try_emplace({(*of)[i], patterns[i]}, i).first->second;
    }
    return own;
}

class PartitionFindings {
  public:
    /// As classify_subgraphs(): graphs of other sizes are mostly alike in the same places.
    std::shared_ptr<const SubgraphClasses> classes_for(const ShapedGraph& graph, const GraphKinds& kinds,
                                                       const Partition& partition) const {
        const std::lock_guard lock(mutex_);
        for (const Classified& known : classified_)
            if (known.kinds == kinds)
                return known.classes;
        auto made = std::make_shared<const SubgraphClasses>(classify_subgraphs(graph, kinds, partition));
        return classified_.emplace_back(Classified{kinds, std::move(made)}).classes;
    }

    /// Formats and batches scale most networks' buffers alike, and powers of two leave every comparison of
    /// the planner as it is, to the last bit. Keys and values, of any context, lie outside the arena.
    MemoryPlan plan_for(const Partition& partition, std::vector<double> sizes) const {
        double kv_cache_bytes = 0;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            if (partition.buffers[i].kv_cache)
                kv_cache_bytes += std::exchange(sizes[i], 0);
        MemoryPlan plan = plan_without_cache(partition, std::move(sizes));
        plan.kv_cache_bytes = kv_cache_bytes;
        return plan;
    }

  private:
    struct Planned {
        std::vector<double> sizes; ///< of the buffers
        MemoryPlan plan;
    };
    struct Classified {
        GraphKinds kinds;
        std::shared_ptr<const SubgraphClasses> classes;
    };
    mutable std::mutex mutex_;             ///< of both lists
    mutable std::vector<Planned> planned_; ///< one per width of activations at most, of each graph
    mutable std::vector<Classified> classified_;

    MemoryPlan plan_without_cache(const Partition& partition, std::vector<double> sizes) const {
        const std::lock_guard lock(mutex_);
        for (const Planned& known : planned_)
            if (const auto factor = power_of_two_between(known.sizes, sizes))
                return scaled(known.plan, *factor);
        MemoryPlan plan = plan_memory(partition.buffers, sizes, partition.subgraphs.size());
        return planned_.emplace_back(Planned{std::move(sizes), std::move(plan)}).plan;
    }

    /// The factor on every size of `from` that gives those of `to`.
    static std::optional<double> power_of_two_between(const std::vector<double>& from,
                                                      const std::vector<double>& to) {
        const auto some = std::ranges::find_if(from, [](double size) { return size > 0; });
        const double factor =
            some == from.end() ? 1 : to[static_cast<std::size_t>(some - from.begin())] / *some;
        int exponent = 0;
        constexpr double kPowerOfTwo = 0.5; // what frexp leaves of one
        const bool all = std::frexp(factor, &exponent) == kPowerOfTwo &&
                         std::equal(from.begin(), from.end(), to.begin(),
                                    [factor](double own, double other) { return own * factor == other; });
        return all ? std::optional(factor) : std::nullopt;
    }
};

std::shared_ptr<const PartitionFindings> no_findings_yet() {
    return std::make_shared<const PartitionFindings>();
}

static double elements_held(const ShapedGraph& graph, TensorId id, const DerivedCounts* derived) {
    const ShapedTensor& tensor = graph.tensors[id];
    return tensor.known ? (derived ? derived->tensor_share[id] : 1) * tensor.elements() : 0;
}

/// Every initializer of the graph.
static StoredTensors find_weights(const ShapedGraph& graph, const GraphKinds& kinds,
                                  const Partition& partition, const DerivedCounts* derived) {
    const std::vector<Operator>& operators = derived ? derived->operators : graph.operators;
    std::vector<std::uint8_t> matrix_weights(graph.tensors.size());
    for (const Subgraph& subgraph : partition.subgraphs)
        for (const SubgraphMember& member : subgraph.members)
            if (has_work(member) && !folded_away(member) && multiplies(operators[member.op].work.kind))
                for (const TensorId in : operators[member.op].inputs)
                    if (in != kNoTensor)
                        matrix_weights[in] = 1;
    std::vector<std::uint8_t> tables(graph.tensors.size());
    for (const Operator& op : operators)
        if (op.type == "Gather" && !op.inputs.empty() && op.inputs.front() != kNoTensor)
            if (const ShapedTensor& tensor = graph.tensors[op.inputs.front()];
                tensor.role == TensorRole::initializer && tensor.learned && tensor.shape.size() == 2)
                tables[op.inputs.front()] = 1;
    StoredTensors weights;
    for (TensorId id = 0; id < graph.tensors.size(); ++id)
        if (const ShapedTensor& tensor = graph.tensors[id];
            tensor.role == TensorRole::initializer && tensor.known)
            weights.add(elements_held(graph, id, derived), TensorFormat(tensor),
                        matrix_weights[id] == 0  ? (tables[id] != 0 ? Storage::table : Storage::activation)
                        : kinds.lm_head[id] != 0 ? Storage::lm_head_weight
                                                 : Storage::matrix_weight);
    return weights;
}

static StoredTensors find_buffers(const ShapedGraph& graph, const GraphKinds& kinds,
                                  const Partition& partition, const DerivedCounts* derived) {
    StoredTensors buffers;
    for (const Buffer& buffer : partition.buffers)
        buffers.add(elements_held(graph, buffer.tensor, derived), TensorFormat(graph.tensors[buffer.tensor]),
                    kinds.wide[buffer.tensor] != 0 ? Storage::wide_activation : Storage::activation);
    return buffers;
}

struct FormatInvariants {
    std::shared_ptr<const SubgraphClasses> classes;
    std::shared_ptr<const PartitionFindings> known;
    StoredTensors weights, buffers;
    std::vector<std::uint8_t> wide; ///< see find_wide_tensors
};

std::shared_ptr<const FormatInvariants>
find_format_invariants(const ShapedGraph& graph, const GraphKinds& kinds, const Partition& partition,
                       std::shared_ptr<const PartitionFindings> known, const DerivedCounts* derived) {
    auto classes = known->classes_for(graph, kinds, partition);
    return std::make_shared<const FormatInvariants>(
        FormatInvariants{std::move(classes), std::move(known), find_weights(graph, kinds, partition, derived),
                         find_buffers(graph, kinds, partition, derived), kinds.wide});
}

NetworkWork make_network_work(const ShapedGraph& graph, const Partition& partition,
                              const PrecisionConfig& precision, std::span<const std::uint8_t> places,
                              std::shared_ptr<const DerivedCounts> derived) {
    const auto kinds = find_kinds(graph, derived.get());
    const auto common = find_format_invariants(graph, *kinds, partition, no_findings_yet(), derived.get());
    return make_network_work(graph, partition, precision, places, std::move(derived), *common);
}

NetworkWork make_network_work(const ShapedGraph& graph, const Partition& partition,
                              const PrecisionConfig& asked, std::span<const std::uint8_t> places,
                              std::shared_ptr<const DerivedCounts> derived, const FormatInvariants& common) {
    PrecisionConfig precision = asked;
    if (graph.stored_weights) { // no request changes what lies in a file
        precision.requantized = quantised_anew(*graph.stored_weights, asked.weights);
        const bool own_integers = precision.requantized && is_integer(asked.weights);
        precision.table_bits = own_integers ? asked.table_bits : 0;
        if (!precision.requantized) {
            precision.weights = *graph.stored_weights;
            precision.weight_bits_overhead = 0;
        }
        // But a stack that reads files of its own writes what a 4-bit floating-point scheme leaves wide.
        const bool own_files =
            own_integers || (precision.weights == Precision::fp4 && asked.weights == Precision::fp4 &&
                             asked.head_bits < bits_of(Precision::bf16));
        if (!own_files)
            precision.head_bits = 0;
    }
    NetworkWork network{
        .graph = &graph, .partition = &partition, .precision = precision, .kind = graph.kind()};
    if (const auto batch = graph.dims.find("batch"); batch != graph.dims.end())
        network.batch = static_cast<double>(batch->second);
    WorkBuilder builder(graph, partition, precision, places, derived.get(), common.wide);
    network.subgraphs.reserve(partition.subgraphs.size());
    for (std::uint32_t i = 0; i < partition.subgraphs.size(); ++i) {
        const std::uint32_t first = common.classes->by_work[i];
        const Subgraph& subgraph = partition.subgraphs[i];
        const SubgraphWork& work = network.subgraphs.emplace_back(
            first == i ? builder.build(subgraph, i)
                       : builder.build_like(network.subgraphs[first], subgraph, i));
        network.largest_activation_bytes =
            std::max(network.largest_activation_bytes, work.activation_bytes());
        network.macs += work.macs * work.repeat;
        network.operations += work.operations() * work.repeat;
    }
    for (const double bytes : common.weights.bytes(precision))
        network.weight_bytes += bytes;
    network.table_bytes = common.weights.bytes(precision, Storage::table);
    // Keys and values stay on the device between steps.
    for (TensorId in : graph.inputs)
        if (in != kNoTensor && !graph.tensors[in].kv_cache)
            network.input_bytes += builder.stored_bytes(in);
    for (TensorId out : graph.outputs)
        if (out != kNoTensor && !graph.tensors[out].kv_cache)
            network.output_bytes += builder.stored_bytes(out);
    network.uses = std::make_shared<const std::vector<OperatorUse>>(builder.take_uses());
    network.memory = common.known->plan_for(partition, common.buffers.bytes(precision));
    network.derived = std::move(derived);
    network.classes = places.empty() ? common.classes : split_by_place(*common.classes, partition, places);
    network.representatives = find_representatives(*network.classes, network.memory.timeline);
    return network;
}

} // namespace archsim
