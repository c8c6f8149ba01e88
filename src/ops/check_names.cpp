#include "ops/passes.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace archsim {

namespace {

constexpr std::size_t kListedNames = 8;

void report_unused(BindState& state, const std::string& name, std::string message,
                   const std::vector<std::string>& choices) {
    Finding finding;
    finding.kind = FindingKind::unknown_name;
    finding.severity = Severity::warning;
    finding.where = name;
    finding.message = std::move(message);
    for (std::size_t i = 0; i < std::min(choices.size(), kListedNames); ++i)
        finding.hint += (i == 0 ? "it has: " : ", ") + choices[i];
    if (choices.size() > kListedNames)
        finding.hint += "...";
    if (choices.empty())
        finding.hint = "it has none";
    state.report(std::move(finding));
}

void check_dims(BindState& state) {
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
void check_tensors(BindState& state, const Given& given, const std::unordered_set<std::string_view>& known,
                   std::string_view what, const std::vector<std::string>& inputs) {
    for (const auto& [name, value] : given)
        if (!known.contains(name))
            report_unused(state, name,
                          "the model has no " + std::string(what) +
                              " of this name; what was given for it is "
                              "not used",
                          inputs);
}

} // namespace

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

} // namespace archsim
