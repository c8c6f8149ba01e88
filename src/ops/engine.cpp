#include "ops/engine.hpp"

#include "ops/families.hpp"
#include "ops/given_values.hpp"
#include "ops/passes.hpp"

namespace archsim {

static bool is_onnx_domain(const std::string& domain) {
    return domain.empty() || domain == "ai.onnx";
}

/// A tensor whose every dimension is 1 has no size for the data to decide.
static bool has_variable_size(const ShapedTensor& t) {
    return t.kind != ValueKind::tensor || std::ranges::any_of(t.shape, [](std::int64_t d) { return d != 1; });
}

const OperatorRow* BindEngine::lookup(const Node& node) {
    const auto find = [&](std::string_view domain) {
        const OperatorRow* row = state_.registry.find(domain, node.op_type);
        if (row == nullptr && node.op_type.ends_with("_TRT"))
            row = state_.registry.find(kTensorRtDomain, node.op_type);
        return row;
    };
    if (!is_onnx_domain(node.domain))
        return find(node.domain);
    const auto [it, fresh] = onnx_rows_.try_emplace(node.op_type, nullptr);
    if (fresh)
        it->second = find(kOnnxDomain);
    return it->second;
}

void BindEngine::run(const BindScope& scope) {
    for (const Node& node : scope.graph->nodes)
        run_node(scope, node);
}

Operator& BindEngine::add_operator(const BindScope& scope, const Node& node, const OperatorRow* row) {
    Operator& op = state_.graph.operators.emplace_back();
    op.name = scope.prefix;
    op.name += node.name;
    if (!is_onnx_domain(node.domain)) {
        op.type = node.domain;
        op.type += '.';
    }
    op.type += node.op_type;
    op.repeat = scope.repeat;
    state_.spending.keep(static_cast<double>(sizeof(Operator) + op.name.size()));
    op.inputs = scope.bound(node.inputs);
    op.outputs = scope.bound(node.outputs);
    if (row) {
        op.work.kind = row->kind;
        op.work.fusion = row->fusion;
    }
    return op;
}

void BindEngine::run_node(const BindScope& scope, const Node& node) {
    state_.scope = &scope;
    state_.spending.step();
    const OperatorRow* row = lookup(node);
    if (row && !row->infer && run_control_flow(*this, scope, node, *row))
        return;
    Operator& op = add_operator(scope, node, row);
    if (!row) {
        unknown_operator(scope, node);
        if (!declare_outputs(scope, node))
            preserve_shape(op);
        return;
    }
    resolve(scope, node, *row, op);
}

void BindEngine::resolve(const BindScope& scope, const Node& node, const OperatorRow& row, Operator& op) {
    if (!has_operands(node, row, op))
        return;
    NodeContext context(state_, node, row, op);
    const auto& tensors = state_.graph.tensors;
    const bool inputs_known = row.accepts_unknown || std::ranges::all_of(op.inputs, [&](TensorId id) {
                                  return id == kNoTensor || tensors[id].known;
                              });
    if (!inputs_known) {
        ++skipped_;
        declare_outputs(scope, node);
        leave_uncounted(op);
        return;
    }
    try {
        row.infer(context);
        finish(context);
    } catch (const NodeProblem& problem) {
        const bool declared = declare_outputs(scope, node);
        const bool run_time_value = problem.kind == FindingKind::unresolved_dimension && declared;
        context.note(run_time_value ? FindingKind::data_dependent_shape : problem.kind,
                     run_time_value ? Severity::note : Severity::error,
                     problem.message + (run_time_value ? "; the declared shape is used" : ""), problem.hint);
        if (!run_time_value) {
            leave_uncounted(op);
            return;
        }
        for (std::size_t i = 0; i < op.outputs.size(); ++i)
            context.output(i).data_dependent = true;
        try {
            if (row.work)
                row.work(context);
        } catch (const NodeProblem& work_problem) {
            context.note(work_problem.kind, Severity::error, work_problem.message, work_problem.hint);
            leave_uncounted(op);
        }
    }
}

bool BindEngine::has_operands(const Node& node, const OperatorRow& row, Operator& op) {
    std::string missing = missing_operand(node, row);
    if (missing.empty())
        return true;
    state_.report(node, FindingKind::malformed_node, Severity::error, std::move(missing),
                  "export the model again");
    leave_out(op);
    return false;
}

void BindEngine::finish(NodeContext& context) {
    Operator& op = context.op();
    const OperatorRow& row = context.row();
    bool constant = !row.random;
    bool values = row.fold != nullptr && !op.inputs.empty();
    bool data_dependent = false;
    for (const TensorId id : op.inputs) {
        if (id == kNoTensor)
            continue;
        const ShapedTensor& in = state_.graph.tensors[id];
        constant = constant && in.constant;
        data_dependent = data_dependent || in.data_dependent;
        values = values && state_.values[id] != nullptr;
    }
    if (values && !row.random && context.output(0).elements() <= static_cast<double>(kMaxConstantElements))
        row.fold(context);
    bool folded = !op.outputs.empty();
    for (const TensorId id : op.outputs) {
        if (id == kNoTensor)
            continue;
        ShapedTensor& out = state_.graph.tensors[id];
        out.constant = out.constant || constant;
        if (data_dependent && (has_variable_size(out) || state_.values[id]))
            out.data_dependent = true;
        if (!out.constant && attach_given_value(state_, id)) {
            out.data_dependent = true;
            context.note(FindingKind::data_dependent_shape, Severity::note,
                         "the given value of '" + out.name + "' is used",
                         "change it with --input " + out.name + "=...");
        }
        folded = folded && out.constant;
    }
    op.folded = folded;
    if (!folded && row.work) {
        row.work(context);
        if (row.domain == kMlDomain)
            add_attribute_weights(context);
    } else if (folded) {
        op.work.kind = OpKind::free;
        op.work.fusion = FusionClass::transparent;
    }
}

/// Trees, coefficients and support vectors lie in attributes: they are weights all the same, in 4 bytes each.
/// A row meets as many of them as it has operations.
void BindEngine::add_attribute_weights(NodeContext& context) {
    double values = 0;
    for (const auto& [name, attribute] : context.node().attributes) {
        if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute))
            values += static_cast<double>(ints->size());
        else if (const auto* reals = std::get_if<std::vector<double>>(&attribute))
            values += static_cast<double>(reals->size());
        else if (const auto* tensor = std::get_if<std::shared_ptr<const Constant>>(&attribute);
                 tensor && *tensor)
            values += static_cast<double>((*tensor)->ints.size() + (*tensor)->reals.size());
    }
    if (values <= 0)
        return;
    Operator& op = context.op();
    ShapedTensor made;
    made.name = op.name + ".parameters";
    made.type = DataType::float32;
    made.role = TensorRole::initializer;
    made.known = made.constant = made.learned = true;
    made.shape = {static_cast<std::int64_t>(values)};
    op.work.partial_reads.emplace_back(static_cast<std::uint16_t>(op.inputs.size()),
                                       std::min(values, op.work.operations()));
    op.inputs.push_back(state_.add_tensor(std::move(made)));
}

bool BindEngine::declare_outputs(const BindScope& scope, const Node& node) {
    bool all = true;
    for (const TensorId local : node.outputs) {
        const TensorId id = scope.bound(local);
        if (id == kNoTensor)
            continue;
        ShapedTensor& out = state_.graph.tensors[id];
        const Tensor& declared = scope.graph->tensors[local];
        if (out.known)
            continue;
        bool known = declared.shape.has_value() && declared.type != DataType::undefined;
        Shape shape;
        if (known) {
            for (const Dimension& d : *declared.shape) {
                std::optional<std::int64_t> size;
                if (d.value >= 0)
                    size = d.value;
                else if (!d.symbol.empty())
                    size = state_.symbol(d.symbol);
                known = known && size.has_value();
                shape.push_back(size.value_or(0));
            }
            known = known && !shape_problem(shape);
        }
        if (known) {
            out.type = declared.type;
            out.shape = std::move(shape);
            out.known = true;
        }
        all = all && known;
    }
    return all && !node.outputs.empty();
}

void BindEngine::preserve_shape(Operator& op) {
    if (op.inputs.empty() || op.inputs.front() == kNoTensor)
        return;
    const ShapedTensor first = state_.graph.tensors[op.inputs.front()]; // a copy: outputs lie beside it
    if (!first.known)
        return;
    for (const TensorId id : op.outputs) {
        if (id == kNoTensor || state_.graph.tensors[id].known)
            continue;
        ShapedTensor& out = state_.graph.tensors[id];
        out.type = first.type;
        out.shape = first.shape;
        out.known = true;
    }
    op.work.kind = OpKind::elementwise;
    op.work.vector_ops = first.elements();
}

void BindEngine::unknown_operator(const BindScope& scope, const Node& node) {
    const std::string domain = node.domain.empty() ? "ai.onnx" : node.domain;
    std::string known_in;
    for (const OperatorRow& row : state_.registry.rows())
        if (row.name == node.op_type)
            known_in = row.domain.empty() ? "ai.onnx" : row.domain;
    state_.scope = &scope;
    state_.report(node, FindingKind::unknown_operator, Severity::error,
                  "operator " + domain + "." + node.op_type + " (opset " + std::to_string(node.opset) +
                      ") is not in the operator table",
                  known_in.empty()
                      ? "register a row for it, or take its results like its first input, at one "
                        "operation per element, with --allow-unknown"
                      : "an operator of that name exists in domain " + known_in +
                            "; correct the node's domain, or accept incomplete totals with "
                            "--allow-unknown");
}

std::optional<std::int64_t> BindState::given_dim(const std::string& name) {
    const auto it = bindings.dims.find(name);
    if (it == bindings.dims.end())
        return std::nullopt;
    graph.dims[name] = it->second;
    return it->second;
}

std::optional<std::int64_t> BindState::symbol(const std::string& name) {
    if (const auto given = given_dim(name))
        return given;
    if (const auto it = defaults.find(name); it != defaults.end())
        return it->second;
    if (!batch_name.empty() && name == batch_name)
        return bindings.batch_size;
    return computed_symbol(name);
}

std::optional<std::int64_t> BindState::computed_symbol(const std::string& name) {
    constexpr std::size_t kLongest = 512; // no size needs more; names can have megabytes
    if (name.size() > kLongest)
        return std::nullopt;
    return evaluate_expression(name, [this](const std::string& part) { return symbol(part); });
}

void BindState::report(Finding finding) {
    std::string key = finding.where + '\n' + std::string(name_of(finding.kind)) + '\n' + finding.hint;
    if (reported.insert(std::move(key)).second)
        graph.findings.push_back(std::move(finding));
}

void BindState::report(const Node& node, FindingKind kind, Severity severity, std::string message,
                       std::string hint) {
    report({.kind = kind,
            .severity = severity,
            .message = std::move(message),
            .file = {},
            .where = (scope ? scope->prefix : std::string()) + node.name,
            .hint = std::move(hint),
            .op_type = node.op_type,
            .domain = node.domain.empty() ? "ai.onnx" : node.domain,
            .opset = node.opset});
}

bool attach_given_value(BindState& state, TensorId id) {
    if (state.bindings.input_values.empty() && state.bindings.input_real_values.empty())
        return false; // as nearly always, and this is asked for every tensor
    const ShapedTensor& tensor = state.graph.tensors[id];
    Constant constant;
    if (const auto it = state.bindings.input_values.find(tensor.name);
        it != state.bindings.input_values.end()) {
        if (is_floating(tensor.type))
            constant.reals.assign(it->second.begin(), it->second.end());
        else
            constant.ints = it->second;
    } else if (const auto reals = state.bindings.input_real_values.find(tensor.name);
               reals != state.bindings.input_real_values.end()) {
        if (is_floating(tensor.type))
            constant.reals = reals->second;
        else
            for (const double v : reals->second)
                constant.ints.push_back(static_cast<std::int64_t>(v));
    } else {
        return false;
    }
    if (!tensor.known)
        return false;
    const auto count = static_cast<double>(constant.ints.size() + constant.reals.size());
    if (count != tensor.elements()) {
        state.report({.kind = FindingKind::shape_conflict,
                      .message = "the number of values given does not fit the shape of this tensor",
                      .where = tensor.name,
                      .hint = "give one value per element with --input"});
        return false;
    }
    constant.type = tensor.type;
    constant.shape = tensor.shape;
    state.values[id] = &state.arena.emplace_back(std::move(constant));
    return true;
}

std::optional<NodeProblem> shape_problem(const Shape& shape) {
    constexpr std::size_t kMostAxes = 64; // of numpy's arrays, and more than any runtime takes
    if (shape.size() > kMostAxes)
        return NodeProblem{FindingKind::too_large, "a tensor would have more than 64 dimensions",
                           "check the shapes given for the inputs"};
    double product = 1;
    for (const std::int64_t d : shape) {
        if (d < 0)
            return NodeProblem{FindingKind::malformed_node,
                               "a dimension would be negative (" + std::to_string(d) + ")",
                               "check the sizes given for the inputs"};
        // Zero-sized tensors are legal, but may not hide an absurd partner dimension.
        product *= static_cast<double>(d > 0 ? d : 1);
        if (product > kMaxElements)
            return NodeProblem{FindingKind::too_large, "a tensor would have more than 2^53 elements",
                               "check the sizes given for the inputs"};
    }
    return std::nullopt;
}

void require_shape(const Shape& shape) {
    if (auto problem = shape_problem(shape))
        throw NodeProblem(std::move(*problem));
}

} // namespace archsim
