#include "ops/passes.hpp"

#include <limits>

namespace archsim {

void mark_kv_caches(ShapedGraph& graph) {
    std::vector<bool> is_output(graph.tensors.size(), false);
    mark(is_output, graph.outputs);
    // Results of a branch reach the graph's outputs through copies that cost nothing.
    // The condition of an If stands behind them.
    const auto copies = [](const Operator& op) {
        const std::size_t conditions = op.type == "If" ? 1 : 0;
        return op.work.kind == OpKind::free && op.inputs.size() == op.outputs.size() + conditions;
    };
    for (auto op = graph.operators.rbegin(); op != graph.operators.rend(); ++op)
        if (copies(*op))
            for (std::size_t i = 0; i < op->outputs.size(); ++i) // of a branch: all its results side by side
                if (op->inputs[i] != kNoTensor && op->outputs[i] != kNoTensor && is_output[op->outputs[i]])
                    is_output[op->inputs[i]] = true;
    for (const Operator& op : graph.operators) {
        const bool extends = op.type == "Concat" || op.type == "ScatterND" || op.type == "ScatterElements";
        if (!extends || op.outputs.empty() || op.outputs[0] == kNoTensor || !is_output[op.outputs[0]])
            continue;
        ShapedTensor& grown = graph.tensors[op.outputs[0]];
        for (const TensorId id : op.inputs) {
            if (id == kNoTensor)
                continue;
            ShapedTensor& in = graph.tensors[id];
            // Keys and values carry batch, heads, positions and head size.
            if (in.role != TensorRole::input || in.shape.size() < 3 ||
                in.shape.size() != grown.shape.size() || in.type != grown.type)
                continue;
            in.kv_cache = true;
            grown.kv_cache = true;
        }
    }
}

void check_outputs(const Graph& graph, BindState& state) {
    const bool overridden = !state.bindings.input_shapes.empty() || state.rebatch;
    for (const TensorId id : graph.outputs) {
        if (id == kNoTensor || !graph.tensors[id].shape)
            continue;
        const ShapedTensor& found = state.graph.tensors[id];
        const auto& declared = *graph.tensors[id].shape;
        if (!found.known || found.kind != ValueKind::tensor || declared.size() != found.shape.size())
            continue;
        for (std::size_t axis = 0; axis < declared.size(); ++axis) {
            const Dimension& d = declared[axis];
            if (d.value < 0 && !d.symbol.empty())
                state.graph.dims.emplace(d.symbol, found.shape[axis]);
            if (d.value < 0 || d.value == found.shape[axis] || found.data_dependent || overridden)
                continue;
            state.report({.kind = FindingKind::shape_conflict,
                          .severity = Severity::warning,
                          .message = "the file declares " + std::to_string(d.value) + " for axis " +
                                     std::to_string(axis) + " of this output, its operators give " +
                                     std::to_string(found.shape[axis]) + "; the latter is used",
                          .where = found.name,
                          .hint = "export the model again, or bind the sizes it was exported with"});
        }
    }
}

/// Weights that nothing reads, not even at build time, are no parameters of the network.
static void forget_unread(ShapedGraph& graph) {
    std::vector<bool> read(graph.tensors.size(), false);
    mark(read, graph.outputs);
    for (const Operator& op : graph.operators)
        mark(read, op.inputs);
    for (std::size_t id = 0; id < graph.tensors.size(); ++id)
        if (!read[id])
            graph.tensors[id].learned = false;
}

void drop_unused(ShapedGraph& graph) {
    std::vector<bool> wanted(graph.tensors.size(), false);
    mark(wanted, graph.outputs);
    for (std::size_t i = graph.operators.size(); i-- > 0;) {
        Operator& op = graph.operators[i];
        if (op.folded)
            continue;
        const bool used =
            std::ranges::any_of(op.outputs, [&](TensorId id) { return id != kNoTensor && wanted[id]; });
        if (!used) {
            op.folded = true;
            continue;
        }
        mark(wanted, op.inputs);
    }
    forget_unread(graph);
}

constexpr std::size_t kListedNames = 8;

static void report_unused(BindState& state, const std::string& name, std::string message,
                          const std::vector<std::string>& choices) {
    Finding finding{.kind = FindingKind::unknown_name,
                    .severity = Severity::warning,
                    .message = std::move(message),
                    .where = name};
    for (std::size_t i = 0; i < std::min(choices.size(), kListedNames); ++i)
        finding.hint += (i == 0 ? "it has: " : ", ") + choices[i];
    if (choices.size() > kListedNames)
        finding.hint += "...";
    if (choices.empty())
        finding.hint = "it has none";
    state.report(std::move(finding));
}

static void check_dims(BindState& state) {
    std::vector<std::string> choices;
    for (const auto& [name, size] : state.graph.dims)
        choices.push_back(name);
    for (const auto& [name, size] : state.bindings.dims) {
        const auto used = state.graph.dims.find(name);
        if (used == state.graph.dims.end())
            report_unused(state, name,
                          "the model has no free dimension of this name; the given size is not used",
                          choices);
        else if (used->second != size)
            report_unused(state, name,
                          "the other sizes make this dimension " + std::to_string(used->second) +
                              "; the given size " + std::to_string(size) + " is not used",
                          choices);
    }
}

template <typename Given>
static void check_tensors(BindState& state, const Given& given,
                          const std::unordered_set<std::string_view>& known, std::string_view what,
                          const std::vector<std::string>& inputs) {
    for (const auto& [name, value] : given)
        if (!known.contains(name))
            report_unused(state, name,
                          "the model has no " + std::string(what) +
                              " of this name; what was given for it is "
                              "not used",
                          inputs);
}

void check_names(BindState& state) {
    check_dims(state);
    const Bindings& b = state.bindings;
    if (b.input_shapes.empty() && b.input_values.empty() && b.input_real_values.empty() &&
        b.input_sequences.empty())
        return;
    std::unordered_set<std::string_view> inputs, tensors;
    std::vector<std::string> choices;
    for (const TensorId id : state.graph.inputs)
        if (state.graph.tensors[id].role == TensorRole::input) {
            inputs.insert(state.graph.tensors[id].name);
            choices.push_back(state.graph.tensors[id].name);
        }
    for (const ShapedTensor& tensor : state.graph.tensors)
        tensors.insert(tensor.name);
    check_tensors(state, b.input_shapes, inputs, "input", choices);
    check_tensors(state, b.input_sequences, inputs, "input", choices);
    check_tensors(state, b.input_values, tensors, "tensor", choices);
    check_tensors(state, b.input_real_values, tensors, "tensor", choices);
}

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

static void report(BindState& state, const Operator& op, std::string message) {
    state.report({.kind = FindingKind::malformed_node,
                  .message = std::move(message),
                  .where = op.name,
                  .hint = "export the model again",
                  .op_type = op.type});
}

/// Index of the operator that makes each tensor; one that makes a tensor of another is left out.
static std::vector<std::uint32_t> producers(BindState& state) {
    std::vector<std::uint32_t> producer(state.graph.tensors.size(), kNever);
    for (std::uint32_t i = 0; i < state.graph.operators.size(); ++i) {
        Operator& op = state.graph.operators[i];
        const bool again = std::ranges::any_of(op.outputs, [&](TensorId id) {
            return id != kNoTensor && producer[id] != kNever && producer[id] != i;
        });
        if (again && op.work.kind != OpKind::free) {
            report(state, op, "it makes a value that another node makes");
            leave_out(op);
            op.outputs.clear();
        }
        for (const TensorId id : op.outputs)
            if (id != kNoTensor && producer[id] == kNever)
                producer[id] = i;
    }
    return producer;
}

/// The faults of one graph and of the bodies in it.
class FaultFinder {
  public:
    FaultFinder(const OperatorRegistry& registry, std::vector<Finding>& faults)
        : registry_(registry), faults_(faults) {}

    void look(const Graph& graph) {
        if (faults_.size() >= kFaultsNamed)
            return;
        std::vector<std::uint32_t> producer(graph.tensors.size(), kNever);
        for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
            for (const TensorId id : graph.nodes[i].outputs)
                if (id < producer.size() && producer[id] == kNever)
                    producer[id] = i;
        for (std::uint32_t i = 0; i < graph.nodes.size(); ++i)
            look(graph.nodes[i], i, producer);
        for (const auto* list : {&graph.inputs, &graph.outputs})
            if (std::any_of(list->begin(), list->end(), [&](TensorId id) { return id >= producer.size(); }))
                add(Node{}, "the graph names an input or output that is no tensor of it");
    }

  private:
    static constexpr std::size_t kFaultsNamed = 20;

    void look(const Node& node, std::uint32_t index, const std::vector<std::uint32_t>& producer) {
        for (const auto* list : {&node.inputs, &node.outputs})
            for (const TensorId id : *list)
                if (id != kNoTensor && id >= producer.size())
                    return add(node, "it names a tensor that the graph does not have");
        if (std::ranges::any_of(node.inputs, [&](TensorId id) {
                return id != kNoTensor && producer[id] != kNever && producer[id] >= index;
            }))
            return add(node, "it reads its own result, or one that is made after it");
        if (const OperatorRow* row = registry_.find(node.domain, node.op_type); row && row->infer)
            if (const std::string message = missing_operand(node, *row); !message.empty())
                return add(node, message);
        for (const auto& [key, value] : node.attributes)
            if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&value); body && *body)
                look(**body);
    }

    void add(const Node& node, std::string message) {
        if (faults_.size() < kFaultsNamed)
            faults_.push_back(Finding{.kind = FindingKind::malformed_node,
                                      .severity = Severity::error,
                                      .message = std::move(message),
                                      .file = {},
                                      .where = node.name,
                                      .hint = "export the model again",
                                      .op_type = node.op_type,
                                      .domain = node.domain,
                                      .opset = node.opset});
    }

    const OperatorRegistry& registry_;
    std::vector<Finding>& faults_;
};

std::vector<Finding> structural_faults(const Graph& graph, const OperatorRegistry& registry) {
    std::vector<Finding> faults;
    FaultFinder(registry, faults).look(graph);
    return faults;
}

std::string missing_operand(const Node& node, const OperatorRow& row) {
    const auto missing = [](const TensorList& list, std::size_t needed) {
        std::size_t i = 0;
        while (i < needed && i < list.size() && list[i] != kNoTensor)
            ++i;
        return i < needed ? std::optional(i) : std::nullopt;
    };
    if (const auto input = missing(node.inputs, row.inputs))
        return "input " + std::to_string(*input) + " is missing";
    if (const auto output = missing(node.outputs, row.outputs))
        return "output " + std::to_string(*output) + " has no name";
    return {};
}

void leave_out(Operator& op) {
    op.inputs.clear();
    op.folded = true;
    leave_uncounted(op);
    op.work.kind = OpKind::free;
    op.work.fusion = FusionClass::transparent;
}

void leave_uncounted(Operator& op) {
    op.work = {};
    op.work.kind = OpKind::data_movement;
    op.work.fusion = FusionClass::opaque;
}

void check_structure(BindState& state) {
    const std::vector<std::uint32_t> producer = producers(state);
    for (std::uint32_t i = 0; i < state.graph.operators.size(); ++i) {
        Operator& op = state.graph.operators[i];
        const bool waits = std::ranges::any_of(op.inputs, [&](TensorId id) {
            return id != kNoTensor && producer[id] != kNever && producer[id] >= i;
        });
        if (waits) {
            report(state, op, "it reads its own result, or one that is made after it");
            leave_out(op);
            continue;
        }
        // Fused kernels are found by the first result of what they hold.
        if (!op.folded && op.work.kind != OpKind::recurrent && op.work.kind != OpKind::free &&
            (op.outputs.empty() || op.outputs.front() == kNoTensor))
            leave_uncounted(op);
    }
}

} // namespace archsim
