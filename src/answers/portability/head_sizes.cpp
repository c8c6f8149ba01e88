#include "answers/portability/rewrites.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim {

namespace {

constexpr std::array<std::string_view, 2> kQueryHeads = {"num_heads", "q_num_heads"};
constexpr std::string_view kSharedHeads = "kv_num_heads";

bool is_whole(const Tensor& tensor) {
    return tensor.type == DataType::int64 || tensor.type == DataType::int32;
}

/// `from` -> `to` wherever they stand; the number of places.
std::size_t replace_sizes(std::vector<std::int64_t>& values, const HeadSizes& from, const HeadSizes& to) {
    std::size_t places = 0;
    for (std::int64_t& value : values)
        if (value == from.heads || value == from.size) {
            value = value == from.heads ? to.heads : to.size;
            ++places;
        }
    return places;
}

/// Attributes of a fused attention. False where its shared heads cannot be divided so.
bool replace_attributes(Node& node, const HeadSizes& from, const HeadSizes& to, std::size_t& places) {
    for (auto& [key, value] : node.attributes) {
        auto* number = std::get_if<std::int64_t>(&value);
        if (number == nullptr)
            continue;
        if (std::find(kQueryHeads.begin(), kQueryHeads.end(), key) != kQueryHeads.end() &&
            *number == from.heads) {
            *number = to.heads;
            ++places;
        } else if (key == kSharedHeads) {
            if (*number * to.heads % from.heads != 0)
                return false;
            *number = *number * to.heads / from.heads;
        }
    }
    return true;
}

} // namespace

std::optional<HeadSizes> head_sizes(const ShapedGraph& graph, double batch) {
    std::optional<HeadSizes> found;
    double most = 0;
    for (const Operator& op : graph.operators) {
        HeadSizes own;
        if (op.work.attention) {
            own = {std::llround(op.work.attention->heads), std::llround(op.work.attention->head_size)};
        } else if (op.work.kind == OpKind::matmul && op.work.contractions.size() == 1) {
            // Queries times keys: as many rows as columns, the size of a head between them.
            const Contraction& c = op.work.contractions.front();
            if (c.weights_constant || c.m != c.n || c.groups < 2 * batch || std::fmod(c.groups, batch) != 0)
                continue;
            own = {std::llround(c.groups / batch), std::llround(c.k)};
        }
        if (own.heads > 0 && own.size > 0 && op.work.macs > most) {
            most = op.work.macs;
            found = own;
        }
    }
    return found;
}

std::pair<std::shared_ptr<const Graph>, std::size_t>
with_head_sizes(const Graph& graph, const HeadSizes& from, const HeadSizes& to) {
    if (from.heads == from.size) // which of the two a number means is open
        return {nullptr, 0};
    auto copy = std::make_shared<Graph>(graph);
    std::size_t places = 0;
    for (Node& node : copy->nodes)
        if (!replace_attributes(node, from, to, places))
            return {nullptr, 0};
    // Only what shapes are made of: weights that are looked up by index are none.
    std::vector<bool> decides_shape(graph.tensors.size());
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
        const bool reshapes = (node->op_type == "Reshape" || node->op_type == "Expand") &&
                              node->inputs.size() > 1 && node->inputs[1] != kNoTensor;
        if (reshapes)
            decides_shape[node->inputs[1]] = true;
        const bool feeds = std::any_of(node->outputs.begin(), node->outputs.end(),
                                       [&](TensorId id) { return id != kNoTensor && decides_shape[id]; });
        constexpr std::array<std::string_view, 8> kArithmetic = {
            "Concat", "Unsqueeze", "Mul", "Div", "Cast", "Squeeze", "Reshape", "Identity"};
        if (feeds && std::find(kArithmetic.begin(), kArithmetic.end(), node->op_type) != kArithmetic.end())
            for (TensorId id : node->inputs)
                if (id != kNoTensor)
                    decides_shape[id] = true;
    }
    for (TensorId id = 0; id < copy->tensors.size(); ++id) {
        Tensor& tensor = copy->tensors[id];
        if (!decides_shape[id] || !is_whole(tensor) || !tensor.value)
            continue;
        Constant changed = *tensor.value;
        if (const std::size_t here = replace_sizes(changed.ints, from, to)) {
            places += here;
            tensor.value = std::make_shared<const Constant>(std::move(changed));
        }
    }
    if (places == 0)
        return {nullptr, 0};
    // What the file says of the sizes in between does not hold any more.
    for (Tensor& tensor : copy->tensors)
        if (tensor.role == TensorRole::intermediate)
            tensor.shape.reset();
    return {std::move(copy), places};
}

bool keeps_work(const ShapedGraph& before, const ShapedGraph& after, const HeadSizes& heads, double batch) {
    if (after.outputs.size() != before.outputs.size() || head_sizes(after, batch) != heads)
        return false;
    for (std::size_t i = 0; i < after.outputs.size(); ++i)
        if (after.tensors[after.outputs[i]].shape != before.tensors[before.outputs[i]].shape)
            return false;
    return std::abs(after.macs() - before.macs()) <= 1e-9 * before.macs();
}

} // namespace archsim
