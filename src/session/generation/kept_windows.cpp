#include "core/parse_number.hpp"
#include "session/generation/language_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace archsim {

constexpr std::size_t kPositionsAxis = 2, kPastKeys = 3, kPresentKeys = 1;

/// Attention in a window whose cache keeps every position.
static bool keeps_all(const Node& node) {
    return node.op_type == "GroupQueryAttention" && node.integer("local_window_size", -1) > 0 &&
           node.integer("keeps_window", 0) == 0;
}

static bool holds_graph(const Node& node) {
    return std::ranges::any_of(node.attributes, [](const auto& attribute) {
        return std::holds_alternative<std::shared_ptr<const Graph>>(attribute.second);
    });
}

static TensorId at(const TensorList& list, std::size_t i) {
    return i < list.size() ? list[i] : kNoTensor;
}

/// Who reads a tensor.
struct TensorReaders {
    std::uint32_t shapes = 0, others = 0; ///< Shape operators, and whatever reads values
};

static std::vector<TensorReaders> find_readers(const Graph& graph) {
    std::vector<TensorReaders> readers(graph.tensors.size());
    for (const Node& node : graph.nodes)
        for (const TensorId in : node.inputs)
            if (in != kNoTensor)
                ++(node.op_type == "Shape" ? readers[in].shapes : readers[in].others);
    return readers;
}

static const std::string* length_name(const Graph& graph, TensorId past) {
    const Tensor& tensor = graph.tensors[past];
    const bool named = tensor.role == TensorRole::input && tensor.shape &&
                       tensor.shape->size() > kPositionsAxis &&
                       !(*tensor.shape)[kPositionsAxis].symbol.empty();
    return named ? &(*tensor.shape)[kPositionsAxis].symbol : nullptr;
}

static bool same_shape(const Graph& graph, TensorId a, TensorId b) {
    const auto &x = *graph.tensors[a].shape, &y = *graph.tensors[b].shape;
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Dimension& p, const Dimension& q) {
        return p.value == q.value && p.symbol == q.symbol;
    });
}

/// Exporters read the number of cached positions off one cache. Where that is cut, this is another of its
/// shape that is not; `past` itself where no layer keeps more than a window, so that nobody counts further.
/// kNoTensor: there is none.
static TensorId stand_in(const Graph& graph, TensorId past) {
    bool all_windows = true;
    for (const Node& node : graph.nodes) {
        if (node.op_type != "GroupQueryAttention" || keeps_all(node))
            continue;
        all_windows = false;
        const TensorId other = at(node.inputs, kPastKeys);
        if (other != kNoTensor && length_name(graph, other) && same_shape(graph, past, other))
            return other;
    }
    return all_windows ? past : kNoTensor;
}

/// Whether nothing but the node reads what its caches hold, and their length has a name.
static bool owns_caches(const Graph& graph, const Node& node, const std::vector<TensorReaders>& readers) {
    for (std::size_t i = 0; i < 2; ++i) {
        const TensorId past = at(node.inputs, kPastKeys + i), present = at(node.outputs, kPresentKeys + i);
        if (past == kNoTensor || present == kNoTensor || readers[past].others != 1 ||
            readers[present].others + readers[present].shapes != 0 || !length_name(graph, past) ||
            (readers[past].shapes > 0 && stand_in(graph, past) == kNoTensor))
            return false;
    }
    return true;
}

std::shared_ptr<const Graph> with_kept_windows(const Graph& graph) {
    if (std::ranges::none_of(graph.nodes, keeps_all) ||
        std::ranges::any_of(graph.nodes, holds_graph)) // it may read a cache by name
        return nullptr;
    const std::vector<TensorReaders> readers = find_readers(graph);
    auto cut = std::make_shared<Graph>(graph);
    std::vector<TensorId> instead(graph.tensors.size(), kNoTensor); // what Shape operators read
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        if (!keeps_all(node) || !owns_caches(graph, node, readers))
            continue;
        const std::int64_t window = node.integer("local_window_size", 0);
        for (std::size_t i = 0; i < 2; ++i) {
            const TensorId past = node.inputs[kPastKeys + i];
            instead[past] = readers[past].shapes > 0 ? stand_in(graph, past) : past;
            (*cut->tensors[past].shape)[kPositionsAxis].symbol =
                fmt::format("min({}, {})", *length_name(graph, past), window);
        }
        cut->nodes[n].attributes.emplace_back("keeps_window", std::int64_t{1});
    }
    for (Node& node : cut->nodes)
        if (const TensorId in = node.op_type == "Shape" ? at(node.inputs, 0) : kNoTensor;
            in != kNoTensor && instead[in] != kNoTensor)
            node.inputs[0] = instead[in];
    return cut;
}

CacheLength parse_cache_length(std::string_view symbol) {
    constexpr std::string_view kMinimum = "min(", kNext = ", ";
    const std::size_t comma = symbol.rfind(kNext);
    if (!symbol.starts_with(kMinimum) || !symbol.ends_with(')') || comma == std::string_view::npos)
        return {std::string(symbol), 0};
    CacheLength length{std::string(symbol.substr(kMinimum.size(), comma - kMinimum.size())), 0};
    std::string_view number = symbol.substr(comma + kNext.size());
    length.window = take_number<decltype(length.window)>(number).value_or(length.window);
    return length;
}

} // namespace archsim
