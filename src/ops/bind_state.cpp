#include "ops/bind_state.hpp"

#include "ops/given_values.hpp"

#include <algorithm>

namespace archsim {

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
