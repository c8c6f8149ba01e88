#include "ops/bind_state.hpp"

namespace archsim {

std::optional<std::int64_t> BindState::symbol(const std::string& name) const {
    if (const auto it = bindings.dims.find(name); it != bindings.dims.end())
        return it->second;
    if (const auto it = defaults.find(name); it != defaults.end())
        return it->second;
    return std::nullopt;
}

void BindState::report(Finding finding) {
    std::string key = finding.where + '\n' + std::string(name_of(finding.kind)) + '\n' + finding.mend;
    if (reported.insert(std::move(key)).second)
        graph.findings.push_back(std::move(finding));
}

void BindState::report(const Node& node, FindingKind kind, Severity severity, std::string message,
                       std::string mend) {
    Finding finding;
    finding.kind = kind;
    finding.severity = severity;
    finding.message = std::move(message);
    finding.where = (scope ? scope->prefix : std::string()) + node.name;
    finding.mend = std::move(mend);
    finding.op_type = node.op_type;
    finding.domain = node.domain.empty() ? "ai.onnx" : node.domain;
    finding.opset = node.opset;
    report(std::move(finding));
}

std::optional<NodeProblem> shape_problem(const Shape& shape) {
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

} // namespace archsim
