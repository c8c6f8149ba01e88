#include "hardware/operator_rules.hpp"

#include "ops/uncounted.hpp"

#include <fmt/ranges.h>

namespace archsim {

using Value = std::optional<double>;

static const ShapedTensor* input(const ShapedGraph& graph, const Operator& op, std::size_t i) {
    if (i >= op.inputs.size() || op.inputs[i] == kNoTensor || !graph.tensors[op.inputs[i]].known)
        return nullptr;
    return &graph.tensors[op.inputs[i]];
}

static const ShapedTensor* output(const ShapedGraph& graph, const Operator& op) {
    if (op.outputs.empty() || op.outputs[0] == kNoTensor || !graph.tensors[op.outputs[0]].known)
        return nullptr;
    return &graph.tensors[op.outputs[0]];
}

/// A fact of the window that an operator moves over its input.
template <auto Of>
static Value of_window(const ShapedGraph&, const Operator& op, Precision) {
    return op.work.window ? Value(Of(*op.work.window)) : std::nullopt;
}

/// A fact of the first operand.
template <auto Of>
static Value of_first(const ShapedGraph& graph, const Operator& op, Precision) {
    const ShapedTensor* x = input(graph, op, 0);
    return x ? Value(Of(*x)) : std::nullopt;
}

/// The largest value of `Of` for the first operand and the result.
template <auto Of>
static Value of_either(const ShapedGraph& graph, const Operator& op, Precision) {
    double most = Of(Shape());
    for (const ShapedTensor* t : {input(graph, op, 0), output(graph, op)})
        most = std::max(most, t ? Of(t->shape) : most);
    return most;
}

static double largest(const std::array<double, 3>& values) {
    return *std::ranges::max_element(values);
}

static double dilated_kernel(const Window& w) {
    double most = 1;
    for (std::size_t i = 0; i < w.kernel.size(); ++i)
        most = std::max(most, (w.kernel[i] - 1) * w.dilation[i] + 1);
    return most;
}

/// Axes of one position have no dilation that could differ.
static double uneven_dilation(const Window& w) {
    double low = 0, high = 0;
    for (std::size_t i = 0; i < w.kernel.size(); ++i)
        if (w.kernel[i] > 1) {
            low = low == 0 ? w.dilation[i] : std::min(low, w.dilation[i]);
            high = std::max(high, w.dilation[i]);
        }
    return low == high ? 0 : 1;
}

static Value window_axes(const ShapedGraph& graph, const Operator& op, Precision) {
    const ShapedTensor* x = input(graph, op, 0);
    return op.work.window && x ? Value(static_cast<double>(x->shape.size()) - 2) : std::nullopt;
}

static Value batch(const ShapedGraph& graph, const Operator& op, Precision) {
    const ShapedTensor* x = input(graph, op, 0);
    if (op.work.window)
        return op.work.window->batch;
    return x && !x->shape.empty() ? Value(static_cast<double>(x->shape.front())) : std::nullopt;
}

/// Without the first axis, which is the batch where there are others: a compiled program takes one item.
static std::span<const std::int64_t> item_of(const Shape& shape) {
    return std::span(shape).subspan(shape.size() > 1 ? 1 : 0);
}

static double sized_axes(const ShapedTensor& x) {
    return static_cast<double>(
        std::ranges::count_if(item_of(x.shape), [](std::int64_t size) { return size > 1; }));
}

static double elements(const ShapedTensor& x) {
    double count = 1;
    for (const std::int64_t size : item_of(x.shape))
        count *= static_cast<double>(size);
    return count;
}

static double largest_axis(const Shape& shape) {
    double most = 0;
    for (const std::int64_t size : item_of(shape))
        most = std::max(most, static_cast<double>(size));
    return most;
}

/// All axes between the first and the last three.
static double outer_size(const Shape& shape) {
    double outer = 1;
    for (std::size_t i = 1; i + 3 < shape.size(); ++i)
        outer *= static_cast<double>(shape[i]);
    return outer;
}

static Value bits(const ShapedGraph&, const Operator& op, Precision activations) {
    return static_cast<double>(bits_of(op.native_precision.value_or(activations)));
}

static Value integer(const ShapedGraph&, const Operator& op, Precision activations) {
    return is_integer(op.native_precision.value_or(activations)) ? 1.0 : 0.0;
}

static Value computed_weights(const ShapedGraph& graph, const Operator& op, Precision) {
    const ShapedTensor* w = input(graph, op, 1);
    if (!w || op.work.contractions.empty())
        return std::nullopt;
    return w->constant || w->role == TensorRole::initializer ? 0.0 : 1.0;
}

/// How much larger the result is along the axis that grows or shrinks most.
static Value scale(const ShapedGraph& graph, const Operator& op, Precision) {
    const ShapedTensor *x = input(graph, op, 0), *y = output(graph, op);
    if (!x || !y || x->shape.size() != y->shape.size())
        return std::nullopt;
    double most = 1;
    for (std::size_t i = 0; i < x->shape.size(); ++i)
        if (x->shape[i] > 0) {
            const double factor = static_cast<double>(y->shape[i]) / static_cast<double>(x->shape[i]);
            if (std::abs(std::log(std::max(factor, 1e-9))) > std::abs(std::log(most)))
                most = factor;
        }
    return most;
}

static Value outputs(const ShapedGraph&, const Operator& op, Precision) {
    return static_cast<double>(
        std::ranges::count_if(op.outputs, [](TensorId id) { return id != kNoTensor; }));
}

constexpr OperatorFact kFacts[] = {
    {"stride", "largest stride of a window", of_window<[](const Window& w) { return largest(w.stride); }>},
    {"kernel", "largest side of a window", of_window<[](const Window& w) { return largest(w.kernel); }>},
    {"kernel_area", "positions of a window", of_window<[](const Window& w) { return w.taps(); }>},
    {"dilation", "largest dilation of a window",
     of_window<[](const Window& w) { return largest(w.dilation); }>},
    {"dilated_kernel", "largest side of a window, with the gaps of its dilation", of_window<dilated_kernel>},
    {"uneven_dilation", "1 where the axes of a window have different dilations", of_window<uneven_dilation>},
    {"window_axes", "axes that a window moves along", window_axes},
    {"groups", "groups of a convolution", of_window<[](const Window& w) { return w.groups; }>},
    {"channels", "input channels of a window", of_window<[](const Window& w) { return w.in_channels; }>},
    {"depthwise", "1 where every input channel is a group of its own",
     of_window<[](const Window& w) { return w.groups != 1 && w.groups == w.in_channels ? 1.0 : 0.0; }>},
    {"batch", "first axis of the first operand", batch},
    {"rank", "axes of the first operand",
     of_first<[](const ShapedTensor& x) { return static_cast<double>(x.shape.size()); }>},
    {"sized_axes", "axes of an item of the first operand that are longer than 1", of_first<sized_axes>},
    {"elements", "elements of an item of the first operand", of_first<elements>},
    {"largest_axis", "longest axis of an item, of the first operand or the result", of_either<largest_axis>},
    {"outer_size",
     "product of the axes between the first and the last three, of the first operand or the result",
     of_either<outer_size>},
    {"bits", "bits of its format", bits},
    {"integer", "1 where its format is an integer", integer},
    {"computed_weights", "1 where the second operand of a product is computed", computed_weights},
    {"scale", "factor on the axis that grows or shrinks most", scale},
    {"outputs", "results that are used", outputs},
};

static bool names(const std::vector<std::string>& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
}

static bool applies(const std::vector<std::string>& generations, std::string_view generation) {
    return generations.empty() || names(generations, generation);
}

static bool refuses(const OperatorRule& rule, const ShapedGraph& graph, const Operator& op,
                    Precision activations) {
    return std::ranges::all_of(rule.when, [&](const OperatorCondition& condition) {
        const auto value = condition.fact->of(graph, op, activations);
        return value && condition.holds(*value);
    });
}

/// "dilated_kernel" reads "dilated kernel".
static std::string words(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '_', ' ');
    return text;
}

/// Whether no compiler has to do anything for it: it was computed before, or is another name for the same
/// bytes.
static bool without_work(const Operator& op) {
    return op.folded || op.work.kind == OpKind::free;
}

std::span<const OperatorFact> operator_facts() {
    return kFacts;
}

bool OperatorCondition::holds(double value) const {
    const auto among = [&](const std::vector<double>& values) {
        return std::ranges::find(values, value) != values.end();
    };
    return value > above && value < below && (is.empty() || among(is)) && !among(is_not) &&
           (not_multiple_of == 0 || std::fmod(value, not_multiple_of) != 0);
}

std::string OperatorCondition::text() const {
    std::string out = words(fact->name);
    if (std::isfinite(above))
        out += fmt::format(" above {:g}", above);
    if (std::isfinite(below))
        out += fmt::format(" below {:g}", below);
    if (!is.empty())
        out += fmt::format(" {:g}", fmt::join(is, " or "));
    if (!is_not.empty())
        out += fmt::format(" other than {:g}", fmt::join(is_not, ", "));
    if (not_multiple_of != 0)
        out += fmt::format(" no multiple of {:g}", not_multiple_of);
    return out;
}

Refusal refusal_of(const ShapedGraph& graph, const Operator& op, const OperatorRules& rules,
                   std::string_view generation, Precision activations) {
    if (without_work(op))
        return {};
    // A row for LayerNormalization is one for com.microsoft.SkipLayerNormalization; one for "ai.onnx.ml.*" is
    // for the operators of that domain that ai.onnx has no twin of.
    const std::vector<std::string_view> functions = functions_of(op.type);
    const std::string whole_domain = std::string(domain_of(op.type)) + ".*";
    const auto means = [&](const OperatorRule& rule) {
        return names(rule.operators, "*") || names(rule.operators, op.type) ||
               std::ranges::any_of(functions,
                                   [&](std::string_view name) { return names(rule.operators, name); }) ||
               (functions.empty() && names(rule.operators, whole_domain));
    };
    for (const OperatorRule& rule : rules.refused)
        if (means(rule) && applies(rule.generations, generation) && refuses(rule, graph, op, activations))
            return {.rule = &rule};
    for (const OperatorList& list : rules.lists) {
        const auto has = [&](std::string_view name) {
            return std::ranges::binary_search(list.operators, name);
        };
        if (applies(list.generations, generation) && !has(op.type) &&
            (functions.empty() || !std::ranges::all_of(functions, has)))
            return {.list = &list};
    }
    return {};
}

std::string sentence(const Refusal& refusal, const ShapedGraph& graph, const Operator& op,
                     Precision activations) {
    if (refusal.list)
        return fmt::format("{}: {}", op.type, refusal.list->because);
    if (!refusal.rule)
        return {};
    std::string seen;
    for (const OperatorCondition& condition : refusal.rule->when) {
        const auto value = condition.fact->of(graph, op, activations);
        const bool yes_or_no = condition.fact->meaning.starts_with("1 where");
        if (!value || (yes_or_no && *value == 0))
            continue;
        seen += fmt::format("{}{}", seen.empty() ? "" : ", ", words(condition.fact->name));
        if (!yes_or_no)
            seen += fmt::format(" {:g}", *value);
    }
    return seen.empty() ? fmt::format("{}: {}", op.type, refusal.rule->because)
                        : fmt::format("{} ({}): {}", op.type, seen, refusal.rule->because);
}

std::vector<std::uint8_t> place_operators(const ShapedGraph& graph, const OperatorRules& rules,
                                          std::string_view generation, Precision activations) {
    if (rules.empty())
        return {};
    std::vector<std::uint8_t> places(graph.operators.size(), 0);
    std::vector<bool> behind(rules.rest_follows ? graph.tensors.size() : 0), on_chip(behind.size());
    bool any = false;
    for (std::size_t i = 0; i < graph.operators.size(); ++i) {
        const Operator& op = graph.operators[i];
        const bool refused = static_cast<bool>(refusal_of(graph, op, rules, generation, activations));
        if (!rules.rest_follows) {
            if (refused)
                places[i] = kLeft | kSwitches | kFetches | kReturns;
            any = any || refused;
            continue;
        }
        const auto reads = [&](const std::vector<bool>& marked) {
            return std::ranges::any_of(op.inputs, [&](TensorId id) { return id != kNoTensor && marked[id]; });
        };
        const bool left = refused || reads(behind), fetches = reads(on_chip);
        for (const TensorId id : op.outputs)
            if (id != kNoTensor) {
                behind[id] = left;
                on_chip[id] = !left && (fetches || !without_work(op));
            }
        if (!left || without_work(op))
            continue;
        // The accelerator's part ends once: whoever comes first waits for it.
        places[i] = static_cast<std::uint8_t>(kLeft | (any ? 0 : kSwitches) | (fetches ? kFetches : 0));
        any = true;
    }
    if (!any)
        places.clear();
    return places;
}

} // namespace archsim
