// What control flow needs from the engine: scopes for bodies, links between tensors, second tries.

#include "ops/engine.hpp"

#include <algorithm>

namespace archsim {

constexpr int kMaxDepth = 64; ///< nested subgraphs; protobuf itself stops at 100 levels of messages
/// Nodes that all loops together may appear as; what goes beyond is walked once and counted with its repeats.
constexpr double kUnrolledInAll = 65536;

/// Bound tensor of an outer name, or kNoTensor.
static TensorId find_name(const BindScope& scope, const std::string& name) {
    for (const BindScope* s = &scope; s; s = s->parent) {
        if (s->names.empty())
            for (std::size_t i = 0; i < s->graph->tensors.size(); ++i)
                s->names.emplace(s->graph->tensors[i].name, static_cast<TensorId>(i));
        if (const auto it = s->names.find(name); it != s->names.end())
            return s->bound(it->second);
    }
    return kNoTensor;
}

std::string body_prefix(const BindScope& scope, const Node& node, std::int64_t iteration) {
    // Exporters write paths as names ("/layer/If"); a body's own names may start with a slash already.
    return scope.prefix + node.name + (iteration < 0 ? ":" : "#" + std::to_string(iteration) + ":");
}

const Graph& body_of(const Node& node, std::string_view key) {
    const AttributeValue* value = node.attribute(key);
    const auto* graph = value ? std::get_if<std::shared_ptr<const Graph>>(value) : nullptr;
    if (!graph || !*graph)
        throw NodeProblem{FindingKind::malformed_node, "the body '" + std::string(key) + "' is missing",
                          "export the model again"};
    return **graph;
}

BindScope BindEngine::open(const BindScope& outer, const Graph& body, std::string prefix, double repeat) {
    if (outer.depth >= kMaxDepth)
        throw NodeProblem{FindingKind::too_large, "subgraphs are nested too deeply",
                          "export the model again"};
    BindScope scope;
    scope.graph = &body;
    scope.parent = &outer;
    scope.prefix = std::move(prefix);
    scope.repeat = repeat;
    scope.depth = outer.depth + 1;
    scope.copies = outer.copies;
    scope.ids.assign(body.tensors.size(), kNoTensor);
    for (const auto& [local, name] : body.captured)
        if (local < scope.ids.size())
            scope.ids[local] = find_name(outer, name);
    auto& constants = constants_[&body];
    constants.resize(body.tensors.size(), kNoTensor);
    for (std::size_t i = 0; i < body.tensors.size(); ++i) {
        if (scope.ids[i] == kNoTensor)
            scope.ids[i] = constants[i];
        if (scope.ids[i] != kNoTensor)
            continue;
        const Tensor& tensor = body.tensors[i];
        ShapedTensor made;
        made.name = scope.prefix + tensor.name;
        made.type = tensor.type;
        made.kind = tensor.kind;
        made.buffer = tensor.buffer;
        if (tensor.role == TensorRole::initializer) {
            made.role = TensorRole::initializer;
            made.constant = true;
            made.learned = !tensor.buffer && is_floating(tensor.type);
            made.known = tensor.shape.has_value();
            for (const Dimension& d : tensor.shape.value_or(std::vector<Dimension>{}))
                made.shape.push_back(d.value);
            made.known = made.known && !shape_problem(made.shape);
        }
        const bool has_value = made.constant && made.known && tensor.value &&
                               tensor.value->shape == made.shape &&
                               static_cast<double>(tensor.value->ints.size() + tensor.value->reals.size() +
                                                   tensor.value->strings.size()) == made.elements();
        scope.ids[i] = state_.add_tensor(std::move(made));
        if (has_value)
            state_.values[scope.ids[i]] = tensor.value.get();
        if (tensor.role == TensorRole::initializer)
            constants[i] = scope.ids[i];
    }
    return scope;
}

void BindEngine::link(const BindScope& scope, const Node& node, std::vector<TensorId> inputs,
                      std::vector<TensorId> outputs) {
    Operator op;
    op.name = scope.prefix + node.name;
    op.type = node.op_type;
    op.repeat = scope.repeat;
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
    op.work.kind = OpKind::free;
    op.work.fusion = FusionClass::transparent;
    op.folded = !op.outputs.empty() && std::ranges::all_of(op.outputs, [&](TensorId id) {
        return id == kNoTensor || state_.graph.tensors[id].constant;
    });
    state_.graph.operators.push_back(std::move(op));
}

void BindEngine::copy(TensorId from, TensorId to, bool with_value) {
    if (from == kNoTensor || to == kNoTensor || from == to)
        return;
    const ShapedTensor source = state_.graph.tensors[from];
    ShapedTensor& target = state_.graph.tensors[to];
    target.type = source.type;
    target.kind = source.kind;
    target.known = source.known;
    target.data_dependent = source.data_dependent;
    target.shape = source.shape;
    target.constant = with_value && source.constant;
    state_.values[to] = with_value ? state_.values[from] : nullptr;
    const auto sequence = state_.sequences.find(from);
    if (with_value && sequence != state_.sequences.end())
        state_.sequences[to] = std::shared_ptr<const SequenceElements>(sequence->second);
    else
        state_.sequences.erase(to);
}

bool BindEngine::may_unroll(double nodes) {
    if (unrolled_ + nodes > kUnrolledInAll)
        return false;
    unrolled_ += nodes;
    return true;
}

void BindEngine::rewind(const Mark& mark) {
    state_.graph.operators.resize(mark.operators);
    state_.graph.tensors.resize(mark.tensors);
    state_.values.resize(mark.tensors);
    for (auto& [body, ids] : constants_)
        for (TensorId& id : ids)
            if (id != kNoTensor && id >= mark.tensors)
                id = kNoTensor;
    std::erase_if(state_.sequences, [&](const auto& entry) { return entry.first >= mark.tensors; });
}

void BindEngine::drop_operators(std::size_t first, std::size_t last) {
    auto& operators = state_.graph.operators;
    operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(first),
                    operators.begin() + static_cast<std::ptrdiff_t>(last));
}

} // namespace archsim
