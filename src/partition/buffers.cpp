#include "partition/group_description.hpp"

#include <algorithm>
#include <cstddef>

namespace archsim {

namespace {

/// Storage that holds each root tensor: itself, or the result of the outermost in-place concatenation it is
/// part of, or the grown cache that replaces it.
class Storage {
  public:
    explicit Storage(const FusionGraph& fusion)
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

} // namespace

std::vector<Buffer> find_buffers(const FusionGraph& fusion, const std::vector<Subgraph>& subgraphs) {
    const Storage storage(fusion);
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
