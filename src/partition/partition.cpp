// Greedy fusion by operator class along the topological order. An operator joins the kernel that produces its
// input when all uses of that input meet again inside the kernel (local post-dominator, after TVM, Chen et
// al. OSDI 2018, section 3); the runtime's policy decides which classes may join.

#include "archsim/partition/partition.hpp"

#include "partition/group_description.hpp"

namespace archsim {

struct Group {
    std::uint32_t anchor = 0;
    OpKind kind = OpKind::free;
    std::uint32_t last = 0;      ///< operator that joined last
    std::vector<TensorId> reads; ///< roots read from outside, sorted: a sum may have thousands
    bool residual = false;
};

static bool is_epilogue_anchor(OpKind kind) {
    return kind == OpKind::convolution || kind == OpKind::matmul || kind == OpKind::attention ||
           kind == OpKind::recurrent;
}

class Partitioner {
  public:
    Partitioner(const ShapedGraph& graph, const FusionPolicy& policy)
        : policy_(policy), fusion_(graph, policy), placement_(graph.operators.size()) {}

    Partition run() {
        const auto& operators = fusion_.graph().operators;
        if (policy_.attention)
            for (auto& region : find_attention(fusion_))
                if (policy_.biased_attention || !region.biased)
                    add_attention(region);
        for (std::uint32_t i = 0; i < operators.size(); ++i)
            if (!fusion_.is_view(i) && placement_[i].group == kNoGroup)
                place(i);
        for (std::uint32_t i = 0; i < operators.size(); ++i)
            if (fusion_.is_view(i))
                attach_view(i);
        return finish();
    }

  private:
    void add_attention(const AttentionRegion& region) {
        for (std::uint32_t member : region.members)
            if (placement_[member].group != kNoGroup)
                return; // shared transposes belong to the region found first
        const auto id = static_cast<std::uint32_t>(groups_.size());
        for (std::uint32_t member : region.members)
            placement_[member] = {id, member == region.score_product ? FusionReason::starts_subgraph
                                                                     : FusionReason::pattern_attention};
        Group& group = groups_.emplace_back();
        group.anchor = region.score_product;
        group.kind = OpKind::attention;
        group.last = region.members.back();
    }

    void start_group(std::uint32_t i, FusionReason reason) {
        placement_[i] = {static_cast<std::uint32_t>(groups_.size()), reason};
        Group& group = groups_.emplace_back();
        group.anchor = group.last = i;
        group.kind = fusion_.op(i).work.kind;
        const auto inputs = fusion_.activation_inputs(i);
        group.reads.assign(inputs.begin(), inputs.end());
        std::ranges::sort(group.reads);
    }

    void join(std::uint32_t i, std::uint32_t group, FusionReason reason) {
        placement_[i] = {group, reason};
        groups_[group].last = i;
        std::vector<TensorId> further; // distinct, as an operator's inputs are
        for (TensorId in : fusion_.activation_inputs(i))
            if (group_of(in) != group && !reads(group, in))
                further.push_back(in);
        std::ranges::sort(further);
        std::vector<TensorId>& all = groups_[group].reads;
        const auto before = static_cast<std::ptrdiff_t>(all.size());
        all.insert(all.end(), further.begin(), further.end());
        std::inplace_merge(all.begin(), all.begin() + before, all.end());
    }

    std::uint32_t group_of(TensorId root) const {
        const std::uint32_t producer = fusion_.producer(root);
        return producer == kNoOperator ? kNoGroup : placement_[producer].group;
    }
    bool reads(std::uint32_t group, TensorId root) const {
        const auto& r = groups_[group].reads;
        return std::ranges::binary_search(r, root);
    }

    void place(std::uint32_t i) {
        const OpKind kind = fusion_.op(i).work.kind;
        if (kind == OpKind::elementwise)
            place_elementwise(i);
        else if (kind == OpKind::reduction || kind == OpKind::normalization || kind == OpKind::softmax ||
                 kind == OpKind::pooling)
            place_reduction(i);
        else
            start_group(i, FusionReason::starts_subgraph);
    }

    /// Whether all earlier readers of `input` are already in `group`, and all uses meet inside one kernel.
    bool closes(TensorId input, std::uint32_t i, std::uint32_t group) const {
        if (!fusion_.closing_operator(input, groups_[group].kind == OpKind::reduction))
            return false;
        const auto readers = fusion_.readers(input);
        return std::ranges::all_of(
            readers, [&](std::uint32_t reader) { return reader >= i || placement_[reader].group == group; });
    }

    void place_elementwise(std::uint32_t i) {
        const auto inputs = fusion_.activation_inputs(i);
        FusionReason refusal = FusionReason::starts_subgraph;
        std::uint32_t best = kNoGroup;
        FusionReason best_reason{};
        OtherInputs others;
        for (TensorId in : inputs) {
            const std::uint32_t group = group_of(in);
            if (group == kNoGroup || group == best)
                continue;
            FusionReason reason{};
            if (!may_join(i, in, group, others, inputs, reason)) {
                refusal = reason;
                continue;
            }
            // The later kernel hosts the operator, the earlier one's result is its second tensor.
            if (best == kNoGroup || groups_[group].last > groups_[best].last) {
                best = group;
                best_reason = reason;
            }
        }
        if (best == kNoGroup) {
            start_group(i, refusal);
            return;
        }
        for (TensorId in : inputs)
            if (is_residual(i, in, best))
                groups_[best].residual = true;
        join(i, best, best_reason);
    }

    double output_elements(std::uint32_t i) const {
        return fusion_.tensor(fusion_.op(i).outputs.front()).elements();
    }
    bool is_residual(std::uint32_t i, TensorId in, std::uint32_t group) const {
        return group_of(in) != group && !reads(group, in) &&
               fusion_.tensor(in).elements() >= output_elements(i);
    }

    /// How the inputs of an operator lie to a kernel that it may join.
    struct OtherInputs {
        std::uint32_t group = kNoGroup;
        bool covered = true; ///< all are inside the kernel or already read by it
        int residuals = 0;   ///< 2 stands for more
    };
    OtherInputs other_inputs(std::uint32_t i, std::uint32_t group, std::span<const TensorId> inputs) const {
        OtherInputs found{.group = group};
        for (TensorId other : inputs) {
            found.covered = found.covered && (group_of(other) == group || reads(group, other));
            found.residuals = std::min(found.residuals + is_residual(i, other, group), 2);
            if (!found.covered && found.residuals == 2)
                break; // the rest of a sum of thousands tells nothing more
        }
        return found;
    }

    /// Whether all inputs are inside the kernel or already read by it.
    bool covers(std::uint32_t group, std::span<const TensorId> inputs) const {
        return std::ranges::all_of(inputs,
                                   [&](TensorId in) { return group_of(in) == group || reads(group, in); });
    }

    /// Looks at all inputs last: operators that read all results before them make that a cube of their
    /// number. `others` is kept from one input to the next of the same kernel.
    bool may_join(std::uint32_t i, TensorId in, std::uint32_t group, OtherInputs& others,
                  std::span<const TensorId> inputs, FusionReason& reason) const {
        const Group& g = groups_[group];
        const bool same_size = fusion_.tensor(in).elements() == output_elements(i);
        const bool may_normalize = g.kind == OpKind::reduction && policy_.normalization;
        if (!same_size && !(may_normalize && covers(group, inputs)))
            return reason = FusionReason::cut_shape, false;
        if (!closes(in, i, group))
            return reason = FusionReason::cut_several_readers, false;
        if (others.group != group)
            others = other_inputs(i, group, inputs);
        if (may_normalize && others.covered)
            return reason = FusionReason::pattern_normalization, true;
        if (others.residuals > 0) {
            if (is_epilogue_anchor(g.kind) ? !policy_.residual_add : !policy_.elementwise_chain)
                return reason = FusionReason::cut_policy, false;
            if (is_epilogue_anchor(g.kind) && (g.residual || others.residuals > 1))
                return reason = FusionReason::cut_second_residual, false;
            return reason = FusionReason::residual_fused, true;
        }
        if (!is_epilogue_anchor(g.kind)) {
            if (policy_.gated_activation && inside_gate(i, g))
                return reason = FusionReason::gated_activation_fused, true;
            reason = policy_.elementwise_chain ? FusionReason::elementwise_chained : FusionReason::cut_policy;
            return policy_.elementwise_chain && g.kind != OpKind::sorting;
        }
        return may_join_epilogue(i, in, inputs, reason);
    }

    /// Whether operator `i` lies between the input of kernel `g` and the place where all its uses meet, as
    /// the parts of x * gate(x) do: a framework has these as one operator. A constant factor after that place
    /// belongs to it (the half of a GELU).
    bool inside_gate(std::uint32_t i, const Group& g) const {
        if (g.kind != OpKind::elementwise || g.reads.size() != 1 ||
            fusion_.readers(g.reads.front()).size() < 2)
            return false;
        const auto end = fusion_.closing_operator(g.reads.front(), false);
        if (!end)
            return false;
        const bool scales = g.last == *end && fusion_.activation_inputs(i).size() == 1 &&
                            fusion_.op(i).inputs.size() > 1 && fusion_.op(i).type == "Mul";
        return i <= *end || scales;
    }

    bool may_join_epilogue(std::uint32_t i, TensorId in, std::span<const TensorId> inputs,
                           FusionReason& reason) const {
        if (fusion_.op(i).type == "BatchNormalization") {
            const bool fixed =
                policy_.replaceable_weights ||
                (!fusion_.reads_replaceable(i) && !fusion_.reads_replaceable(groups_[group_of(in)].anchor));
            reason = !policy_.batch_norm ? FusionReason::cut_policy
                     : fixed             ? FusionReason::batch_norm_folded
                                         : FusionReason::cut_replaceable;
            return policy_.batch_norm && fixed;
        }
        const bool gate = inputs.size() > 1 || fusion_.readers(in).size() > 1;
        if (gate) { // x * g(x): both uses of the producer's result meet here
            const bool joins = policy_.gated_activation && policy_.activation;
            reason = joins ? FusionReason::gated_activation_fused : FusionReason::cut_policy;
            return joins;
        }
        const bool constant_operand = fusion_.op(i).inputs.size() > 1 && fusion_.op(i).work.special_ops == 0;
        reason = constant_operand ? FusionReason::bias_added : FusionReason::activation_fused;
        if (!policy_.activation && !adds_layer_bias(i))
            return reason = FusionReason::cut_policy, false;
        return true;
    }

    /// Adds a number per column or channel, as the bias of a layer: an argument of every library's products.
    bool adds_layer_bias(std::uint32_t i) const {
        const Operator& op = fusion_.op(i);
        return op.type == "Add" && std::ranges::any_of(op.inputs, [&](TensorId in) {
                   if (in == kNoTensor || !fusion_.is_constant(in))
                       return false;
                   const Shape& shape = fusion_.tensor(in).shape;
                   return std::ranges::count_if(shape, [](auto d) { return d > 1; }) <= 1;
               });
    }

    void place_reduction(std::uint32_t i) {
        const auto inputs = fusion_.activation_inputs(i);
        if (!inputs.empty()) {
            const TensorId in = inputs.front();
            const std::uint32_t group = group_of(in);
            if (group != kNoGroup && closes(in, i, group)) {
                Group& g = groups_[group];
                // The variance after the mean of one normalisation; or elementwise work feeding a reduction.
                const bool continues = policy_.normalization && g.kind == OpKind::reduction &&
                                       fusion_.op(i).work.kind == OpKind::reduction;
                const bool prologue = policy_.reduction_prologue && g.kind == OpKind::elementwise;
                if (continues || prologue) {
                    join(i, group, FusionReason::pattern_normalization);
                    if (prologue) {
                        g.anchor = i;
                        g.kind = fusion_.op(i).work.kind;
                    }
                    return;
                }
            }
        }
        start_group(i, FusionReason::starts_subgraph);
    }

    void attach_view(std::uint32_t i) {
        const Operator& op = fusion_.op(i);
        if (op.folded)
            return;
        const FusionReason reason =
            fusion_.is_in_place_join(i) ? FusionReason::in_place : FusionReason::transparent;
        for (TensorId in : op.inputs) {
            if (in == kNoTensor || group_of(fusion_.root(in)) == kNoGroup)
                continue;
            placement_[i] = {group_of(fusion_.root(in)), reason};
            return;
        }
    }

    Partition finish() {
        Partition result;
        std::vector<GroupHead> heads;
        heads.reserve(groups_.size());
        for (const Group& group : groups_)
            heads.push_back({group.anchor, group.kind});
        std::vector<Subgraph> subgraphs = describe_groups(fusion_, heads, placement_);
        const auto order = topological_group_order(subgraphs);
        if (order.size() != subgraphs.size())
            return {}; // joins through several outputs closed a cycle
        std::vector<std::uint32_t> position(order.size());
        for (std::uint32_t p = 0; p < order.size(); ++p)
            position[order[p]] = p;
        for (Subgraph& subgraph : subgraphs) {
            for (auto& predecessor : subgraph.predecessors)
                predecessor = position[predecessor];
            std::ranges::sort(subgraph.predecessors);
        }
        if (std::ranges::is_sorted(order)) {
            result.subgraphs = std::move(subgraphs);
        } else {
            result.subgraphs.reserve(order.size());
            for (std::uint32_t g : order)
                result.subgraphs.push_back(std::move(subgraphs[g]));
        }
        result.next_reader = next_readers(result.subgraphs, fusion_.graph().tensors.size());
        find_relaid(fusion_, policy_, result.subgraphs);
        if (!policy_.strided_products)
            find_gathered(fusion_.graph(), result.subgraphs);
        result.buffers = find_buffers(fusion_, result.subgraphs);
        result.critical_path = longest_chain(result.subgraphs);
        return result;
    }

    const FusionPolicy policy_;
    const FusionGraph fusion_;
    std::vector<Placement> placement_; ///< of every operator
    std::vector<Group> groups_;
};

Partition partition(const ShapedGraph& graph, const FusionPolicy& policy) {
    Partition result = Partitioner(graph, policy).run();
    // Kernels that wait for each other cannot run: fall back to one kernel per operator.
    if (result.subgraphs.empty())
        result = Partitioner(graph, FusionPolicy::unfused()).run();
    return result;
}

} // namespace archsim
