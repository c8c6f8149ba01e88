#include "ops/families.hpp"
#include "ops/given_values.hpp"
#include "ops/passes.hpp"

namespace archsim {

/// Symbol of the leading dimension that means "batch": that of the first graph input which has a symbolic or
/// unnamed leading dimension.
static std::optional<std::string> batch_symbol(const Graph& graph) {
    for (const TensorId id : graph.inputs) {
        const Tensor& t = graph.tensors[id];
        if (t.role == TensorRole::initializer || !t.shape || t.shape->empty())
            continue;
        if ((*t.shape)[0].value < 0)
            return leading_name((*t.shape)[0].symbol);
    }
    return std::nullopt;
}

/// Leading dimension of the first input, where the file fixes it.
static std::optional<std::int64_t> fixed_batch(const Graph& graph) {
    for (const TensorId id : graph.inputs) {
        const Tensor& t = graph.tensors[id];
        if (t.role == TensorRole::input && t.kind == ValueKind::tensor && t.shape && !t.shape->empty())
            return (*t.shape)[0].value >= 0 ? std::optional((*t.shape)[0].value) : std::nullopt;
    }
    return std::nullopt;
}

class InputBinder {
  public:
    InputBinder(const Graph& graph, BindState& state) : state_(state) {
        if (!state.bindings.batch_size)
            return;
        batch_symbol_ = batch_symbol(graph);
        state_.batch_name = batch_symbol_.value_or(std::string());
        const auto fixed = fixed_batch(graph);
        if (batch_symbol_ || !fixed || *fixed == *state.bindings.batch_size)
            return;
        state_.rebatch.emplace(*fixed, *state.bindings.batch_size);
        state_.report({.kind = FindingKind::shape_conflict,
                       .severity = Severity::note,
                       .message = "the file fixes the batch at " + std::to_string(*fixed) +
                                  "; inputs and reshapes are taken at " +
                                  std::to_string(*state.bindings.batch_size),
                       .where = graph.name,
                       .hint = "export the model with a symbolic batch to be sure"});
    }

    void bind(TensorId id, const Tensor& tensor) {
        ShapedTensor& out = state_.graph.tensors[id];
        if (tensor.kind != ValueKind::tensor) {
            bind_container(id, tensor);
            return;
        }
        const auto whole = state_.bindings.input_shapes.find(tensor.name);
        const bool overridden =
            whole != state_.bindings.input_shapes.end() && tensor.role == TensorRole::input;
        if (overridden) {
            remember_symbols(tensor, whole->second);
            out.shape = whole->second;
            out.known = true;
        } else if (tensor.shape) {
            out.known = resolve(tensor, out.shape);
        } else if (!shape_from_value(tensor, out)) {
            report(FindingKind::unresolved_dimension, tensor, "the file does not say the shape of this input",
                   "give its shape, for example --input-shape " + shell_quoted(tensor.name + "=1,3,224,224"));
        }
        if (!out.known)
            return;
        if (auto problem = shape_problem(out.shape)) {
            report(problem->kind, tensor, problem->message, problem->hint);
            out.known = false;
        }
    }

  private:
    /// Sequences and optionals: their element shapes matter only where an operator asks, which reports then.
    void bind_container(TensorId id, const Tensor& tensor) {
        ShapedTensor& out = state_.graph.tensors[id];
        const auto given = state_.bindings.input_sequences.find(tensor.name);
        if (given != state_.bindings.input_sequences.end()) {
            SequenceElements elements;
            for (const Shape& shape : given->second)
                elements.push_back({tensor.type, shape, nullptr});
            out.known = true;
            if (!elements.empty())
                out.shape = elements.front().shape;
            state_.sequences[id] = std::make_shared<const SequenceElements>(std::move(elements));
            return;
        }
        if (!tensor.shape)
            return;
        out.known = true;
        for (const Dimension& d : *tensor.shape) {
            const auto size = d.value >= 0 ? std::optional(d.value) : state_.symbol(d.symbol);
            out.shape.push_back(size.value_or(0));
            out.known = out.known && size.has_value();
        }
        out.known = out.known && !shape_problem(out.shape);
    }

    void report(FindingKind kind, const Tensor& tensor, std::string message, std::string hint) {
        state_.report(
            {.kind = kind, .message = std::move(message), .where = tensor.name, .hint = std::move(hint)});
    }

    /// Once per symbol, however many inputs have it; of arithmetic those of its symbols that have no size.
    void report_symbol(const Tensor& tensor, const std::string& name, std::size_t axis) {
        std::vector<std::string> names = names_in_expression(name);
        std::erase_if(names, [&](const std::string& part) { return state_.symbol(part).has_value(); });
        if (names.empty())
            names = {name};
        for (const std::string& missing : names) {
            if (!state_.reported.insert("symbol " + missing).second)
                continue;
            state_.open_sizes.push_back(
                {missing, usual_sizes(tensor, axis, name, missing), state_.graph.findings.size()});
            report(FindingKind::unresolved_dimension, tensor,
                   "dimension '" + name + "' (axis " + std::to_string(axis) + ") has no size",
                   size_hint(missing, state_.open_sizes.back().usual.front()));
        }
    }

    void remember_symbols(const Tensor& tensor, const Shape& shape) {
        if (!tensor.shape || tensor.shape->size() != shape.size())
            return;
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
            if (const Dimension& d = (*tensor.shape)[axis]; d.value < 0 && !d.symbol.empty())
                state_.graph.dims.emplace(d.symbol, shape[axis]);
    }

    bool resolve(const Tensor& tensor, Shape& shape) {
        bool known = true;
        shape.reserve(tensor.shape->size());
        for (std::size_t axis = 0; axis < tensor.shape->size(); ++axis) {
            const Dimension& d = (*tensor.shape)[axis];
            if (d.value >= 0) {
                const bool batch = axis == 0 && state_.rebatch && tensor.role == TensorRole::input &&
                                   d.value == state_.rebatch->first;
                shape.push_back(batch ? state_.rebatch->second : d.value);
                continue;
            }
            const std::string name = d.symbol.empty() ? tensor.name + "." + std::to_string(axis) : d.symbol;
            const std::optional<std::int64_t> size = size_of(tensor, name, d, axis);
            if (size) {
                state_.graph.dims[name] = *size;
            } else {
                report_symbol(tensor, name, axis);
                known = false;
            }
            shape.push_back(size.value_or(0));
        }
        return known;
    }

    std::optional<std::int64_t> size_of(const Tensor& tensor, const std::string& name, const Dimension& d,
                                        std::size_t axis) {
        if (const auto given = state_.given_dim(name))
            return given;
        if (axis == 0 && batch_symbol_ && d.symbol == *batch_symbol_)
            return state_.bindings.batch_size;
        // Elsewhere than in the leading place only a named symbol means the batch.
        if (batch_symbol_ && !d.symbol.empty() && d.symbol == *batch_symbol_)
            return state_.bindings.batch_size;
        if (const auto size = state_.symbol(name))
            return size;
        if (const auto known = state_.graph.dims.find(name); known != state_.graph.dims.end())
            return known->second;
        // A vector whose values are given has their number as its length.
        if (const auto count = given_values(tensor.name); count && tensor.shape->size() == 1)
            return count;
        return std::nullopt;
    }

    std::optional<std::int64_t> given_values(const std::string& name) const {
        if (const auto it = state_.bindings.input_values.find(name); it != state_.bindings.input_values.end())
            return static_cast<std::int64_t>(it->second.size());
        if (const auto it = state_.bindings.input_real_values.find(name);
            it != state_.bindings.input_real_values.end())
            return static_cast<std::int64_t>(it->second.size());
        return std::nullopt;
    }

    bool shape_from_value(const Tensor& tensor, ShapedTensor& out) const {
        const auto count = given_values(tensor.name);
        if (count)
            out.shape = {*count};
        out.known = count.has_value();
        return out.known;
    }

    BindState& state_;
    std::optional<std::string> batch_symbol_;
};

static void add_tensors(const Graph& graph, BindState& state) {
    state.graph.tensors.reserve(graph.tensors.size() + graph.tensors.size() / 16);
    state.values.reserve(state.graph.tensors.capacity());
    InputBinder inputs(graph, state);
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
        const Tensor& tensor = graph.tensors[i];
        const auto id = static_cast<TensorId>(i);
        ShapedTensor& out = state.graph.tensors.emplace_back();
        state.values.push_back(nullptr);
        out.name = tensor.name;
        out.type = tensor.type;
        out.kind = tensor.kind;
        out.role = tensor.role;
        out.buffer = tensor.buffer;
        out.replaceable = tensor.replaceable;
        if (tensor.role == TensorRole::intermediate)
            continue;
        inputs.bind(id, tensor);
        // A constant whose values do not fill the declared shape is as good as unknown.
        if (const Constant* value = tensor.value.get();
            value && out.known && value->shape == out.shape &&
            static_cast<double>(value_count(*value)) == out.elements())
            state.values[i] = value;
        if (tensor.role == TensorRole::initializer) {
            out.constant = true;
            out.learned = !tensor.buffer && is_floating(tensor.type);
        } else {
            attach_given_value(state, id);
        }
    }
}

/// Nodes of archsim.Stored say how constants and states lie in memory: bits per element of each input, and
/// the format of most weights where it is narrow, that of products with them, which inputs are quantised
/// alone beside these, and the format of a cache.
static void apply_stored(const Graph& graph, ShapedGraph& bound) {
    for (const Node& node : graph.nodes) {
        if (node.op_type != "Stored" || node.domain != kArchsimDomain)
            continue;
        const AttributeValue* bits = node.attribute("bits");
        const auto* list = bits ? std::get_if<std::vector<double>>(bits) : nullptr;
        for (std::size_t i = 0; list && i < std::min(list->size(), node.inputs.size()); ++i)
            if (node.inputs[i] != kNoTensor && (*list)[i] > 0)
                bound.tensors[node.inputs[i]].storage_bits = (*list)[i];
        for (const auto& [key, member] : {std::pair("format", &ShapedGraph::stored_weights),
                                          std::pair("products", &ShapedGraph::stored_products),
                                          std::pair("cache", &ShapedGraph::stored_cache)}) {
            const AttributeValue* value = node.attribute(key);
            if (const auto* name = value ? std::get_if<std::string>(value) : nullptr)
                bound.*member = parse_precision(*name);
        }
        const AttributeValue* alone = node.attribute("weight_only");
        const auto* inputs = alone ? std::get_if<std::vector<std::int64_t>>(alone) : nullptr;
        for (std::size_t i = 0; inputs && i < std::min(inputs->size(), node.inputs.size()); ++i)
            if (node.inputs[i] != kNoTensor)
                bound.tensors[node.inputs[i]].weight_only = (*inputs)[i] != 0;
    }
}

static void check_opset(const Graph& graph, BindState& state) {
    for (const auto& [domain, version] : graph.opset_imports) {
        if ((!domain.empty() && domain != "ai.onnx") || version <= kNewestOpset)
            continue;
        state.report({.kind = FindingKind::unsupported,
                      .severity = Severity::warning,
                      .message = "opset " + std::to_string(version) +
                                 " is newer than the operator table; operators are read as in opset " +
                                 std::to_string(kNewestOpset),
                      .where = graph.name,
                      .hint = "compare the shapes with those that the exporter shows"});
    }
}

/// A graph at given sizes, and the sizes that are missing.
struct Pass {
    ShapedGraph graph;
    std::vector<OpenSize> open;
};

static Pass bind_once(const Graph& graph, const Bindings& bindings,
                      const std::map<std::string, std::int64_t>& defaults, const OperatorRegistry& registry,
                      const Budget& budget) {
    BindState state(bindings, defaults, registry, Spending(budget, graph.name));
    state.graph.name = graph.name;
    state.graph.inputs = graph.inputs;
    state.graph.outputs = graph.outputs;
    state.graph.findings = graph.findings;
    check_opset(graph, state);
    add_tensors(graph, state);
    apply_stored(graph, state.graph);
    state.graph.operators.reserve(graph.nodes.size());
    BindEngine engine(state);
    BindScope top;
    top.graph = &graph;
    engine.run(top);
    if (engine.skipped() > 0) {
        state.report(
            {.kind = FindingKind::unresolved_dimension,
             .severity = Severity::warning,
             .message =
                 std::to_string(engine.skipped()) +
                 " operators have no shapes because an earlier operator or input could not be resolved",
             .hint = "fix the findings before this one"});
    }
    check_structure(state);
    check_outputs(graph, state);
    check_names(state);
    mark_quantization(state);
    mark_kv_caches(state.graph);
    drop_unused(state.graph);
    return {std::move(state.graph), std::move(state.open_sizes)};
}

/// Puts sizes at which the network binds into the hints, where the usual ones do not: a network that halves
/// its image five times takes no width of 224 / 3.
static void offer_sizes_that_run(Pass& pass, const Graph& graph, const Bindings& bindings,
                                 const std::map<std::string, std::int64_t>& defaults,
                                 const OperatorRegistry& registry, const Budget& budget) {
    for (std::size_t attempt = 0; attempt < kMostUsualSizes; ++attempt) {
        Bindings tried = bindings;
        for (const OpenSize& open : pass.open)
            tried.dims.try_emplace(open.name, open.usual[std::min(attempt, open.usual.size() - 1)]);
        const Pass bound = bind_once(graph, tried, defaults, registry, budget);
        const auto no_size_mends = [](const Finding& f) {
            return f.severity != Severity::error || f.kind == FindingKind::unknown_operator ||
                   f.kind == FindingKind::unsupported;
        };
        if (!std::ranges::all_of(bound.graph.findings, no_size_mends))
            continue;
        for (const OpenSize& open : pass.open)
            pass.graph.findings[open.finding].hint = size_hint(open.name, tried.dims.at(open.name));
        return;
    }
}

ShapedGraph bind(const Graph& graph, const Bindings& bindings,
                 const std::map<std::string, std::int64_t>& defaults, const OperatorRegistry& registry,
                 const Budget& budget) {
    Pass pass = bind_once(graph, bindings, defaults, registry, budget);
    if (!pass.open.empty())
        offer_sizes_that_run(pass, graph, bindings, defaults, registry, budget);
    return std::move(pass.graph);
}

ShapedGraph bind(const Graph& graph, const Bindings& bindings,
                 const std::map<std::string, std::int64_t>& defaults) {
    return bind(graph, bindings, defaults, OperatorRegistry::standard());
}

} // namespace archsim
