#include "report/blocks/shape_text.hpp"

#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"

#include <cstddef>
#include <fmt/ranges.h>
#include <string_view>

namespace archsim {

std::string shape_text(const ShapedTensor& tensor) {
    if (!tensor.known)
        return "?";
    return tensor.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(tensor.shape, "x"));
}

std::string shapes_text(const ShapedGraph& graph, std::span<const TensorId> ids) {
    return joined(ids, [&](const TensorId id) {
        return id != kNoTensor ? shape_text(graph.tensors[id]) : std::string();
    });
}

std::vector<TensorId> activations_of(const ShapedGraph& graph, const Operator& op) {
    return kept(op.inputs, [&](const TensorId id) {
        return id != kNoTensor && !graph.tensors[id].constant &&
               graph.tensors[id].role != TensorRole::initializer;
    });
}

std::string sizes_text(const std::map<std::string, std::int64_t>& dims) {
    std::string text;
    for (const auto& [name, size] : dims)
        if (name.find(' ') == std::string::npos)
            text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, size);
    return text;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Runs of digits and runs of anything else, in turn.
static std::vector<std::string_view> runs_of(std::string_view name) {
    std::vector<std::string_view> runs;
    for (std::size_t at = 0; at < name.size();) {
        std::size_t end = at + 1;
        while (end < name.size() && is_digit(name[end]) == is_digit(name[at]))
            ++end;
        runs.push_back(name.substr(at, end - at));
        at = end;
    }
    return runs;
}

std::string common_name(const std::vector<std::string>& names) {
    if (names.empty())
        return "";
    std::vector<std::string_view> common = runs_of(names.front());
    for (const std::string& name : names) {
        const auto runs = runs_of(name);
        if (runs.size() != common.size())
            return names.front();
        for (std::size_t i = 0; i < runs.size(); ++i) {
            if (runs[i] == common[i])
                continue;
            if (!is_digit(runs[i].front()) || (common[i] != "*" && !is_digit(common[i].front())))
                return names.front();
            common[i] = "*";
        }
    }
    std::string text;
    for (const std::string_view run : common)
        text += run;
    return text;
}

std::string name_shape(const std::string& name) {
    std::string text;
    for (const std::string_view run : runs_of(name))
        text += is_digit(run.front()) ? std::string_view("*") : run;
    return text;
}

std::string shortened_name(const std::string& name, std::size_t most) {
    constexpr std::string_view kDots = "...";
    if (name.size() <= most || most <= kDots.size())
        return name;
    std::size_t from = name.size() - (most - kDots.size());
    while (from < name.size() && (static_cast<unsigned char>(name[from]) & 0xC0U) == 0x80U)
        ++from; // never inside a character
    return std::string(kDots) + name.substr(from);
}

std::string precision_text(const std::vector<FormatShare>& mix) {
    const double total = sum_of(mix, &FormatShare::operations);
    std::string text;
    for (const FormatShare& share : mix) {
        constexpr double kShown = 0.0005; // what would not print as 0.0 %
        if (share.operations <= kShown * total)
            continue;
        text += (text.empty() ? "" : ", ") + share.format + " " + format_percent(share.operations / total) +
                (text.empty() ? " of operations" : "");
    }
    return text.empty() ? "no arithmetic" : text;
}

std::string weight_text(const std::vector<WeightShare>& mix) {
    const double total = sum_of(mix, &WeightShare::parameters);
    return joined(mix, [&](const WeightShare& share) {
        return share.parameters > 0
                   ? fmt::format("{:g}-bit {}", share.bits, format_percent(share.parameters / total))
                   : std::string();
    });
}

} // namespace archsim
