#include "partition/group_description.hpp"

namespace archsim {

/// Ids that one group has named already.
class NamedBy {
  public:
    explicit NamedBy(std::size_t ids) : group_(ids, kNoGroup) {}
    /// True the first time; groups are described one after the other.
    bool first(std::uint32_t id, std::uint32_t group) { return std::exchange(group_[id], group) != group; }

  private:
    std::vector<std::uint32_t> group_;
};

static FlatLists members_of(std::size_t groups, std::span<const Placement> placement) {
    std::vector<FlatLists::Entry> members;
    members.reserve(placement.size());
    for (std::uint32_t i = 0; i < placement.size(); ++i)
        if (placement[i].group != kNoGroup)
            members.emplace_back(placement[i].group, i);
    return {groups, members};
}

class GroupDescriber {
  public:
    GroupDescriber(const FusionGraph& fusion, std::size_t groups, std::span<const Placement> placement)
        : fusion_(fusion), placement_(placement), members_(members_of(groups, placement)),
          read_(fusion.graph().tensors.size()), written_(fusion.graph().tensors.size()),
          walked_(fusion.graph().tensors.size()), preceding_(groups),
          join_(fusion.graph().tensors.size(), kNoOperator) {
        for (std::uint32_t i = 0; i < placement.size(); ++i)
            if (fusion.is_in_place_join(i))
                join_[fusion.op(i).outputs.front()] = i;
    }

    Subgraph describe(std::uint32_t id, const GroupHead& head) {
        Subgraph s;
        s.anchor = head.anchor;
        s.kind = head.kind;
        s.name = fusion_.op(head.anchor).name;
        s.repeat = fusion_.op(head.anchor).repeat;
        s.members.reserve(members_[id].size());
        for (const std::uint32_t i : members_[id]) {
            s.members.push_back({i, placement_[i].reason});
            if (!fusion_.is_view(i))
                add_tensors(fusion_.op(i), id, s);
        }
        order_inputs(s);
        return s;
    }

  private:
    std::uint32_t group_of(TensorId root) const {
        const std::uint32_t producer = fusion_.producer(root);
        return producer == kNoOperator ? kNoGroup : placement_[producer].group;
    }

    void add_tensors(const Operator& op, std::uint32_t id, Subgraph& s) {
        for (const TensorId in : op.inputs) {
            if (in == kNoTensor)
                continue;
            if (fusion_.is_constant(in)) {
                if (read_.first(in, id))
                    s.weights.push_back(in);
            } else if (group_of(fusion_.root(in)) != id) {
                if (read_.first(in, id))
                    s.inputs.push_back(in);
                add_predecessors(fusion_.root(in), id, s.predecessors);
            }
        }
        for (const TensorId out : op.outputs)
            if (out != kNoTensor && leaves(out, id) && written_.first(out, id))
                s.outputs.push_back(out);
    }

    bool leaves(TensorId out, std::uint32_t id) const {
        const auto readers = fusion_.readers(out);
        return fusion_.is_pinned(out) || std::ranges::any_of(readers, [&](std::uint32_t reader) {
                   return placement_[reader].group != id;
               });
    }

    /// Kernels that write `root`, looking through in-place concatenations.
    void add_predecessors(TensorId root, std::uint32_t self, std::vector<std::uint32_t>& list) {
        pending_.assign(1, root);
        while (!pending_.empty()) {
            const TensorId t = pending_.back();
            pending_.pop_back();
            if (!walked_.first(t, self))
                continue;
            if (const std::uint32_t group = group_of(t); group != kNoGroup) {
                if (group != self && preceding_.first(group, self))
                    list.push_back(group);
            } else if (join_[t] != kNoOperator) {
                const auto parts = fusion_.activation_inputs(join_[t]);
                pending_.insert(pending_.end(), parts.begin(), parts.end());
            }
        }
    }

    /// The anchor's first input leads: it is the operand a kernel streams.
    void order_inputs(Subgraph& s) const {
        for (const TensorId in : fusion_.op(s.anchor).inputs) {
            const auto at = std::ranges::find(s.inputs, in);
            if (in != kNoTensor && at != s.inputs.end()) {
                std::rotate(s.inputs.begin(), at, at + 1);
                return;
            }
        }
    }

    const FusionGraph& fusion_;
    std::span<const Placement> placement_;
    FlatLists members_; ///< operators of each group, ascending
    NamedBy read_, written_, walked_, preceding_;
    std::vector<std::uint32_t> join_; ///< the in-place concatenation that makes a tensor
    std::vector<TensorId> pending_;
};

std::vector<Subgraph> describe_groups(const FusionGraph& fusion, std::span<const GroupHead> groups,
                                      std::span<const Placement> placement) {
    GroupDescriber describer(fusion, groups.size(), placement);
    std::vector<Subgraph> subgraphs;
    subgraphs.reserve(groups.size());
    for (std::uint32_t id = 0; id < groups.size(); ++id)
        subgraphs.push_back(describer.describe(id, groups[id]));
    return subgraphs;
}

/// Storage that holds each root tensor: itself, or the result of the outermost in-place concatenation it is
/// part of, or the grown cache that replaces it.
class RootStorage {
  public:
    explicit RootStorage(const FusionGraph& fusion)
        : fusion_(fusion), host_(fusion.graph().tensors.size(), kNoTensor) {
        for (std::uint32_t i = 0; i < fusion.graph().operators.size(); ++i)
            if (fusion.is_in_place_join(i)) {
                for (TensorId part : fusion.activation_inputs(i))
                    move_into(part, fusion.op(i).outputs.front());
            } else {
                join_caches(fusion.op(i));
            }
    }
    TensorId of(TensorId tensor) const {
        TensorId t = fusion_.root(tensor);
        while (host_[t] != kNoTensor)
            t = host_[t]; // a concatenation is never part of itself: the graph is acyclic
        return t;
    }

  private:
    /// The first host of a tensor keeps it.
    void move_into(TensorId tensor, TensorId host) {
        if (host_[tensor] == kNoTensor)
            host_[tensor] = host;
    }

    /// An attention cache is one allocation that grows: the n-th cache read is the n-th cache written.
    void join_caches(const Operator& op) {
        std::size_t output = 0;
        const auto is_cache = [&](TensorId id) { return id != kNoTensor && fusion_.tensor(id).kv_cache; };
        for (TensorId in : op.inputs) {
            if (!is_cache(in))
                continue;
            while (output < op.outputs.size() && !is_cache(op.outputs[output]))
                ++output;
            if (output == op.outputs.size())
                return;
            if (const TensorId grown = op.outputs[output++]; grown != in)
                move_into(in, grown);
        }
    }

    const FusionGraph& fusion_;
    std::vector<TensorId> host_; ///< kNoTensor: the tensor has storage of its own
};

std::vector<Buffer> find_buffers(const FusionGraph& fusion, const std::vector<Subgraph>& subgraphs) {
    const RootStorage storage(fusion);
    constexpr auto kNoBuffer = static_cast<std::size_t>(-1);
    std::vector<std::size_t> index(fusion.graph().tensors.size(), kNoBuffer);
    std::vector<Buffer> buffers;
    buffers.reserve(subgraphs.size());
    const auto touch = [&](TensorId tensor, std::uint32_t step) -> Buffer& {
        const TensorId home = storage.of(tensor);
        if (index[home] == kNoBuffer) {
            index[home] = buffers.size();
            buffers.push_back({home, step, step, fusion.tensor(home).kv_cache});
        }
        Buffer& buffer = buffers[index[home]];
        buffer.first = std::min(buffer.first, step);
        buffer.last = std::max(buffer.last, step);
        return buffer;
    };
    for (TensorId in : fusion.graph().inputs)
        if (in != kNoTensor && !fusion.is_constant(in))
            touch(in, 0);
    for (std::uint32_t step = 0; step < subgraphs.size(); ++step) {
        for (TensorId in : subgraphs[step].inputs)
            touch(in, step);
        for (TensorId out : subgraphs[step].outputs)
            touch(out, step);
    }
    const auto last = static_cast<std::uint32_t>(subgraphs.empty() ? 0 : subgraphs.size() - 1);
    for (TensorId out : fusion.graph().outputs)
        if (out != kNoTensor && !fusion.is_constant(out))
            touch(out, last);
    return buffers;
}

} // namespace archsim
