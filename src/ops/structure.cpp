#include "ops/passes.hpp"

#include <algorithm>
#include <limits>

namespace archsim {

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

namespace {

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

} // namespace

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
