#include "run/generation/kept_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <variant>

namespace archsim {

namespace {

constexpr std::size_t kPositionsAxis = 2, kPastKeys = 3, kPresentKeys = 1;

std::int64_t integer(const Node& node, std::string_view key, std::int64_t absent) {
    const AttributeValue* value = node.attribute(key);
    const auto* number = value ? std::get_if<std::int64_t>(value) : nullptr;
    return number ? *number : absent;
}

/// Attention in a window whose cache keeps every position.
bool keeps_all(const Node& node) {
    return node.op_type == "GroupQueryAttention" && integer(node, "local_window_size", -1) > 0 &&
           integer(node, "keeps_window", 0) == 0;
}

bool holds_graph(const Node& node) {
    return std::any_of(node.attributes.begin(), node.attributes.end(), [](const auto& attribute) {
        return std::holds_alternative<std::shared_ptr<const Graph>>(attribute.second);
    });
}

TensorId at(const TensorList& list, std::size_t i) {
    return i < list.size() ? list[i] : kNoTensor;
}

/// Whether nothing but the node reads its caches, and their length has a name.
bool owns_caches(const Graph& graph, const Node& node, const std::vector<std::uint32_t>& readers) {
    for (std::size_t i = 0; i < 2; ++i) {
        const TensorId past = at(node.inputs, kPastKeys + i), present = at(node.outputs, kPresentKeys + i);
        if (past == kNoTensor || present == kNoTensor || readers[past] != 1 || readers[present] != 0)
            return false;
        const Tensor& tensor = graph.tensors[past];
        if (tensor.role != TensorRole::input || !tensor.shape || tensor.shape->size() <= kPositionsAxis ||
            (*tensor.shape)[kPositionsAxis].symbol.empty())
            return false;
    }
    return true;
}

} // namespace

std::shared_ptr<const Graph> with_kept_windows(const Graph& graph) {
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(), keeps_all) ||
        std::any_of(graph.nodes.begin(), graph.nodes.end(), holds_graph)) // it may read a cache by name
        return nullptr;
    std::vector<std::uint32_t> readers(graph.tensors.size(), 0);
    for (const Node& node : graph.nodes)
        for (const TensorId in : node.inputs)
            if (in != kNoTensor)
                ++readers[in];
    auto cut = std::make_shared<Graph>(graph);
    bool any = false;
    for (Node& node : cut->nodes) {
        if (!keeps_all(node) || !owns_caches(graph, node, readers))
            continue;
        any = true;
        const std::int64_t window = integer(node, "local_window_size", 0);
        for (std::size_t i = 0; i < 2; ++i) {
            std::string& length = (*cut->tensors[node.inputs[kPastKeys + i]].shape)[kPositionsAxis].symbol;
            length = fmt::format("min({}, {})", length, window);
        }
        node.attributes.emplace_back("keeps_window", std::int64_t{1});
    }
    return any ? std::shared_ptr<const Graph>(std::move(cut)) : nullptr;
}

CacheLength parse_cache_length(std::string_view symbol) {
    constexpr std::string_view kMinimum = "min(", kNext = ", ";
    const std::size_t comma = symbol.rfind(kNext);
    if (!symbol.starts_with(kMinimum) || !symbol.ends_with(')') || comma == std::string_view::npos)
        return {std::string(symbol), 0};
    CacheLength length{std::string(symbol.substr(kMinimum.size(), comma - kMinimum.size())), 0};
    const std::string_view number = symbol.substr(comma + kNext.size());
    std::from_chars(number.data(), number.data() + number.size() - 1, length.window);
    return length;
}

} // namespace archsim
