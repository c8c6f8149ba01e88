#include "ops/uncounted.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace archsim {

constexpr std::size_t kMostTypes = 4; ///< that a sentence names

/// Names of the operators that a finding of an error is about.
static std::set<std::string_view> faulty_names(const ShapedGraph& graph) {
    std::set<std::string_view> names;
    for (const Finding& finding : graph.findings)
        if (finding.severity == Severity::error && !finding.op_type.empty())
            names.insert(finding.where);
    return names;
}

static bool lacks_shape(const ShapedGraph& graph, const Operator& op) {
    const auto unknown = [&](TensorId id) { return id != kNoTensor && !graph.tensors[id].known; };
    return std::any_of(op.inputs.begin(), op.inputs.end(), unknown) ||
           std::any_of(op.outputs.begin(), op.outputs.end(), unknown);
}

Uncounted uncounted_of(const ShapedGraph& graph) {
    Uncounted result;
    if (graph.complete())
        return result;
    const std::set<std::string_view> faulty = faulty_names(graph);
    std::vector<bool> counted(graph.tensors.size(), false), left_out(graph.tensors.size(), false);
    for (const Operator& op : graph.operators) {
        if (op.folded)
            continue;
        ++result.operators;
        const bool unknown = faulty.contains(op.name);
        const bool unshaped = !unknown && lacks_shape(graph, op);
        if (unknown)
            ++result.unknown[op.type];
        result.unshaped += unshaped;
        for (const TensorId id : op.inputs)
            if (id != kNoTensor)
                (unknown || unshaped ? left_out : counted)[id] = true;
    }
    for (std::size_t id = 0; id < graph.tensors.size(); ++id) {
        const ShapedTensor& tensor = graph.tensors[id];
        if (!tensor.learned || !tensor.known)
            continue;
        const double parameters = tensor.elements() * tensor.packing;
        result.all_parameters += parameters;
        if (left_out[id] && !counted[id])
            result.parameters += parameters;
    }
    return result;
}

std::string uncounted_text(const ShapedGraph& graph) {
    if (graph.complete())
        return "";
    const Uncounted left = uncounted_of(graph);
    std::size_t unknown = 0, named = 0;
    std::string types;
    for (const auto& [type, count] : left.unknown) {
        unknown += count;
        if (++named <= kMostTypes)
            types += fmt::format("{}{}{}", types.empty() ? "" : ", ", type,
                                 count > 1 ? fmt::format(" x{}", count) : std::string());
    }
    if (named > kMostTypes)
        types += fmt::format(" and {} more types", named - kMostTypes);
    std::string text;
    if (unknown > 0)
        text = fmt::format("{} of {} operators {} not understood ({})", unknown, left.operators,
                           unknown == 1 ? "is" : "are", types);
    if (left.unshaped > 0)
        text += unknown > 0
                    ? fmt::format(" and {} {} no shapes", left.unshaped, left.unshaped == 1 ? "has" : "have")
                    : fmt::format("{} of {} operators have no shapes", left.unshaped, left.operators);
    if (text.empty())
        text = "a part of the model is not understood";
    if (left.parameters > 0)
        text += fmt::format("; these hold {:.3g} % of the parameters",
                            100 * left.parameters / left.all_parameters);
    constexpr double kGiga = 1e9, kMega = 1e6;
    const double macs = graph.macs();
    const std::string counted = macs >= kGiga   ? fmt::format("{:.3g} G ", macs / kGiga)
                                : macs >= kMega ? fmt::format("{:.3g} M ", macs / kMega)
                                                : fmt::format("{:.0f} ", macs);
    return text + "; counted are " + counted + "multiply-accumulates: every total is a lower bound";
}

double read_elements(const Operator& op, std::size_t input, const ShapedTensor& tensor) {
    for (const auto& [index, elements] : op.work.partial_reads)
        if (index == input)
            return elements;
    return tensor.elements();
}

double written_elements(const Operator& op, std::size_t output, const ShapedTensor& tensor) {
    for (const auto& [index, elements] : op.work.partial_writes)
        if (index == output)
            return elements;
    return op.work.partial_write.value_or(tensor.elements());
}

} // namespace archsim
