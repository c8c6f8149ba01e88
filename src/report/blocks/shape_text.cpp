#include "report/blocks/shape_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace archsim {

std::string shape_text(const ShapedTensor& tensor) {
    if (!tensor.known)
        return "?";
    return tensor.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(tensor.shape, "x"));
}

std::string shapes_text(const ShapedGraph& graph, std::span<const TensorId> ids) {
    std::string text;
    for (const TensorId id : ids)
        if (id != kNoTensor)
            text += (text.empty() ? "" : ", ") + shape_text(graph.tensors[id]);
    return text;
}

std::vector<TensorId> activations_of(const ShapedGraph& graph, const Operator& op) {
    std::vector<TensorId> ids;
    for (const TensorId id : op.inputs)
        if (id != kNoTensor && !graph.tensors[id].constant &&
            graph.tensors[id].role != TensorRole::initializer)
            ids.push_back(id);
    return ids;
}

std::string sizes_text(const std::map<std::string, std::int64_t>& dims) {
    std::string text;
    for (const auto& [name, size] : dims)
        if (name.find(' ') == std::string::npos)
            text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, size);
    return text;
}

} // namespace archsim
