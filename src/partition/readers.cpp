#include "partition/readers.hpp"

#include <utility>

namespace archsim {

std::vector<std::uint32_t> next_readers(const std::vector<Subgraph>& subgraphs, std::size_t tensors) {
    constexpr std::uint32_t kNone = UINT32_MAX;
    std::vector<std::uint32_t> next(subgraphs.size()), last(tensors, kNone);
    for (std::uint32_t i = 0; i < next.size(); ++i) {
        next[i] = i;
        const OpKind kind = subgraphs[i].kind;
        const bool meets = kind == OpKind::matmul || kind == OpKind::convolution || kind == OpKind::pooling;
        if (!meets || subgraphs[i].inputs.empty())
            continue;
        std::uint32_t& before = last[subgraphs[i].inputs.front()];
        if (before != kNone)
            std::swap(next[i], next[before]);
        before = i;
    }
    return next;
}

} // namespace archsim
