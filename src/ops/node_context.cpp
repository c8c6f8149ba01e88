#include "archsim/extend/operator.hpp"

#include "ops/common.hpp"
#include "ops/engine.hpp"

namespace archsim {

void NodeContext::wrong_attribute(std::string_view key) {
    throw NodeProblem{FindingKind::malformed_node, "attribute '" + std::string(key) + "' has the wrong type",
                      "export the model again"};
}

NodeContext::NodeContext(BindState& state, const Node& node, const OperatorRow& row, Operator& op)
    : state_(state), node_(node), row_(row), op_(op) {}

const ShapedTensor& NodeContext::input(std::size_t i) const {
    if (!has_input(i))
        throw NodeProblem{FindingKind::malformed_node, "input " + std::to_string(i) + " is missing",
                          "export the model again"};
    return state_.graph.tensors[op_.inputs[i]];
}

std::int64_t NodeContext::dim(std::size_t i, std::int64_t axis) const {
    const Shape& s = shape(i);
    const auto r = static_cast<std::int64_t>(s.size());
    if (axis < 0)
        axis += r;
    if (axis < 0 || axis >= r)
        throw NodeProblem{FindingKind::malformed_node,
                          "input " + std::to_string(i) + " has rank " + std::to_string(r) +
                              ", too low for this operator",
                          "check the shapes of the inputs"};
    return s[static_cast<std::size_t>(axis)];
}

void NodeContext::mark_learned(std::size_t i, bool learned) {
    // Folded weights (transposed, dequantised) stand for an initializer that counts already.
    if (has_input(i) && state_.graph.tensors[op_.inputs[i]].role == TensorRole::initializer)
        state_.graph.tensors[op_.inputs[i]].learned = learned && !state_.graph.tensors[op_.inputs[i]].buffer;
}

void NodeContext::mark_packed(std::size_t i, double values_per_element) {
    if (has_input(i))
        state_.graph.tensors[op_.inputs[i]].packing = values_per_element;
}

void NodeContext::mark_kv_cache_input(std::size_t i) {
    if (has_input(i))
        state_.graph.tensors[op_.inputs[i]].kv_cache = true;
}

void NodeContext::mark_kv_cache_output(std::size_t i) {
    if (has_output(i))
        state_.graph.tensors[op_.outputs[i]].kv_cache = true;
}

const Constant* NodeContext::value(std::size_t i) const {
    return has_input(i) ? state_.values[op_.inputs[i]] : nullptr;
}

const std::vector<std::int64_t>& NodeContext::ints(std::size_t i) const {
    const Constant* constant = value(i);
    if (!constant) {
        const std::string& name = input(i).name;
        throw NodeProblem{FindingKind::unresolved_dimension,
                          "the output shape depends on the value of '" + name +
                              "', which is only known at run time",
                          "give the value with --input " + name + "=..."};
    }
    return constant->ints;
}

std::int64_t NodeContext::scalar_int(std::size_t i) const {
    const auto& values = ints(i);
    if (values.empty())
        throw NodeProblem{FindingKind::malformed_node, "input " + std::to_string(i) + " must hold an integer",
                          "export the model again"};
    return values[0];
}

std::optional<double> NodeContext::scalar(std::size_t i) const {
    const Constant* constant = value(i);
    if (!constant)
        return std::nullopt;
    if (constant->reals.size() == 1)
        return constant->reals[0];
    if (constant->ints.size() == 1)
        return static_cast<double>(constant->ints[0]);
    return std::nullopt;
}

ShapedTensor& NodeContext::output(std::size_t i) {
    if (has_output(i))
        return state_.graph.tensors[op_.outputs[i]];
    return i == 0 ? first_ : scratch_;
}

void NodeContext::set_output(std::size_t i, DataType type, Shape shape) {
    require_shape(shape);
    ShapedTensor& out = output(i);
    out.type = type;
    out.shape = std::move(shape);
    out.known = true;
}

void NodeContext::set_value(std::size_t i, Constant value) {
    // A value that does not fill its shape (a malformed constant behind it) is as good as unknown.
    if (has_output(i) && static_cast<double>(value_count(value)) == product(value.shape))
        state_.values[op_.outputs[i]] = &state_.arena.emplace_back(std::move(value));
}

void NodeContext::share_value(std::size_t i, const Constant* value) {
    if (has_output(i))
        state_.values[op_.outputs[i]] = value;
}

std::int64_t NodeContext::data_dependent_dim(std::size_t output_index, std::size_t axis,
                                             std::int64_t upper_bound, std::string_view bound_text) {
    if (!has_output(output_index))
        return upper_bound;
    output(output_index).data_dependent = true;
    std::string symbol = state_.scope->prefix + node_.name;
    const TensorId local = node_.outputs[output_index];
    if (state_.scope->graph && local < state_.scope->graph->tensors.size()) {
        const auto& declared = state_.scope->graph->tensors[local].shape;
        if (declared && axis < declared->size()) {
            const Dimension& d = (*declared)[axis];
            if (!d.symbol.empty())
                symbol = d.symbol;
        }
    }
    for (const std::string& name : {symbol, state_.scope->prefix + node_.name}) {
        const auto given = state_.given_dim(name);
        if (!given)
            continue;
        note(FindingKind::data_dependent_shape, Severity::note,
             "dimension '" + name + "' depends on the data; the given size " + std::to_string(*given) +
                 " is used",
             "change it with --dim " + name + "=N");
        return *given;
    }
    output(output_index).at_upper_bound = true;
    note(FindingKind::data_dependent_shape, Severity::note,
         "the output size depends on the data; its upper bound " + std::to_string(upper_bound) + " (" +
             std::string(bound_text) + ") is used",
         "give the expected size with --dim " + symbol + "=N");
    return upper_bound;
}

std::optional<std::pair<std::int64_t, std::int64_t>> NodeContext::rebatch() const {
    return state_.rebatch;
}

void NodeContext::note(FindingKind kind, Severity severity, std::string message, std::string hint) const {
    state_.report(node_, kind, severity, std::move(message), std::move(hint));
}

const SequenceElements* NodeContext::sequence(std::size_t i) const {
    if (!has_input(i))
        return nullptr;
    const auto it = state_.sequences.find(op_.inputs[i]);
    return it == state_.sequences.end() ? nullptr : it->second.get();
}

void NodeContext::set_sequence(std::size_t i, SequenceElements elements) {
    if (!has_output(i))
        return;
    ShapedTensor& out = state_.graph.tensors[op_.outputs[i]];
    out.kind = ValueKind::sequence;
    out.known = true;
    if (!elements.empty()) {
        out.type = elements.front().type;
        out.shape = elements.front().shape;
    }
    state_.sequences[op_.outputs[i]] = std::make_shared<const SequenceElements>(std::move(elements));
}

} // namespace archsim
