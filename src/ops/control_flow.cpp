// If: the taken branch appears inline. With a condition that only the data decides, the costlier branch is
// counted, and so is what computes the condition: it runs whichever branch is taken.

#include "ops/engine.hpp"
#include "ops/families.hpp"

namespace archsim {

struct Branch {
    std::vector<TensorId> outputs;
    std::size_t first = 0, last = 0; ///< operators
    double macs = 0, operations = 0;
};

static Branch run_branch(BindEngine& engine, const BindScope& scope, const Node& node, std::string_view key) {
    Branch branch;
    const Graph& body = body_of(node, key);
    branch.first = engine.graph().operators.size();
    const BindScope inner = engine.open(scope, body, body_prefix(scope, node), scope.repeat);
    engine.run(inner);
    engine.state().scope = &scope;
    branch.last = engine.graph().operators.size();
    branch.outputs = inner.bound(body.outputs);
    for (std::size_t i = branch.first; i < branch.last; ++i) {
        const Operator& op = engine.graph().operators[i];
        if (op.folded)
            continue;
        branch.macs += op.repeat * op.work.macs;
        branch.operations += op.repeat * op.work.operations();
    }
    return branch;
}

/// The known condition: its value, or the user's choice for the node's name.
static std::optional<bool> condition_of(BindEngine& engine, const BindScope& scope, const Node& node) {
    const TensorId id = scope.bound(node.inputs, 0);
    if (id == kNoTensor)
        throw NodeProblem{FindingKind::malformed_node, "the condition is missing", "export the model again"};
    if (const Constant* value = engine.state().values[id]; value && !value->ints.empty())
        return value->ints[0] != 0;
    if (const auto given = engine.state().given_dim(scope.prefix + node.name))
        return *given != 0;
    return std::nullopt;
}

/// The one input of a single number that the condition follows from; kNoTensor where there is none.
static TensorId deciding_input(const ShapedGraph& graph, TensorId condition) {
    std::vector<TensorId> open = {condition};
    TensorId found = kNoTensor;
    for (std::size_t next = 0; next < open.size(); ++next) {
        const ShapedTensor& tensor = graph.tensors[open[next]];
        if (tensor.role == TensorRole::input) {
            if (found != kNoTensor || !tensor.known || tensor.elements() != 1)
                return kNoTensor;
            found = open[next];
            continue;
        }
        const auto maker = std::ranges::find_if(graph.operators, [&](const Operator& op) {
            return std::ranges::find(op.outputs, open[next]) != op.outputs.end();
        });
        if (maker == graph.operators.end())
            continue;
        for (const TensorId in : maker->inputs)
            if (in != kNoTensor && !graph.tensors[in].constant && std::ranges::find(open, in) == open.end())
                open.push_back(in);
        if (constexpr std::size_t kMost = 16; open.size() > kMost)
            return kNoTensor; // a network decides
    }
    return found;
}

/// "choose with --dim NAME=1 (then) or =0 (else)", or by the input that decides.
static std::string choice_hint(const BindEngine& engine, const BindScope& scope, const Node& node) {
    const ShapedGraph& graph = engine.graph();
    const TensorId condition = scope.bound(node.inputs, 0), input = deciding_input(graph, condition);
    const std::string by_name = "--dim " + scope.prefix + node.name + "=1 (then) or =0 (else)";
    if (input == kNoTensor)
        return "choose with " + by_name;
    return "give the input that decides, --input " + graph.tensors[input].name +
           (input == condition ? "=1 (then) or =0 (else)" : "=VALUE, or choose with " + by_name);
}

/// An error that other sizes would not have had.
static bool is_misfit(const Finding& finding) {
    return finding.severity == Severity::error &&
           (finding.kind == FindingKind::shape_conflict || finding.kind == FindingKind::malformed_node);
}

/// Whether the branch that made these findings takes the sizes that are given.
static bool fits(const ShapedGraph& graph, std::size_t first, std::size_t last) {
    const auto begin = graph.findings.begin();
    return std::none_of(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last),
                        is_misfit);
}

/// A branch for other sizes (a voice detector's for another sample rate) does not run: what does not fit
/// there is no error of the network.
static void excuse(ShapedGraph& graph, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
        if (Finding& finding = graph.findings[i]; is_misfit(finding)) {
            finding.severity = Severity::note;
            finding.message =
                "in a branch that does not take these sizes and is not counted: " + finding.message;
        }
}

static void run_if(BindEngine& engine, const BindScope& scope, const Node& node) {
    const auto outputs = scope.bound(node.outputs);
    const auto condition = condition_of(engine, scope, node);
    if (condition) {
        const Branch taken = run_branch(engine, scope, node, *condition ? "then_branch" : "else_branch");
        // A choice of the user's says which branch runs, not that nothing has to be computed.
        const TensorId decides = scope.bound(node.inputs, 0);
        const bool at_run_time = !engine.graph().tensors[decides].constant;
        for (std::size_t i = 0; i < std::min(outputs.size(), taken.outputs.size()); ++i) {
            engine.copy(taken.outputs[i], outputs[i], true);
            if (at_run_time && outputs[i] != kNoTensor)
                engine.graph().tensors[outputs[i]].constant = false;
        }
        std::vector<TensorId> sources = taken.outputs;
        sources.push_back(decides);
        engine.link(scope, node, std::move(sources), outputs);
        return;
    }
    const std::size_t before = engine.graph().findings.size();
    const Branch a = run_branch(engine, scope, node, "then_branch");
    const std::size_t between = engine.graph().findings.size();
    const Branch b = run_branch(engine, scope, node, "else_branch");
    const bool a_fits = fits(engine.graph(), before, between),
               b_fits = fits(engine.graph(), between, engine.graph().findings.size());
    const bool costlier = a.macs != b.macs ? a.macs > b.macs : a.operations >= b.operations;
    const bool first = a_fits == b_fits ? costlier : a_fits;
    if (a_fits != b_fits)
        excuse(engine.graph(), a_fits ? between : before, a_fits ? engine.graph().findings.size() : between);
    const Branch &kept = first ? a : b, &other = first ? b : a;
    for (std::size_t i = 0; i < std::min({outputs.size(), a.outputs.size(), b.outputs.size()}); ++i) {
        engine.copy(kept.outputs[i], outputs[i], false);
        if (outputs[i] == kNoTensor || other.outputs[i] == kNoTensor)
            continue;
        ShapedTensor& out = engine.graph().tensors[outputs[i]];
        const ShapedTensor& alternative = engine.graph().tensors[other.outputs[i]];
        if (!out.known || !alternative.known || out.shape == alternative.shape)
            continue;
        out.data_dependent = true;
        if (out.shape.size() == alternative.shape.size())
            for (std::size_t d = 0; d < out.shape.size(); ++d)
                out.shape[d] = std::max(out.shape[d], alternative.shape[d]);
    }
    engine.state().report(node, FindingKind::data_dependent_shape, Severity::note,
                          std::string("the condition is only known at run time; the costlier branch (") +
                              (first ? "then" : "else") + ") is counted",
                          choice_hint(engine, scope, node));
    engine.drop_operators(other.first, other.last);
    std::vector<TensorId> sources = kept.outputs;
    sources.push_back(scope.bound(node.inputs, 0));
    engine.link(scope, node, std::move(sources), outputs);
}

constexpr OperatorRow kControlFlowRows[] = {
    kOnnx.transparent("If", 1, nullptr, nullptr,
                      "the taken branch appears inline; with a run-time condition the costlier one"),
    kOnnx.transparent("Loop", 1, nullptr, nullptr,
                      "the body appears inline, repeated; without a bound the trip count must be given"),
    kOnnx.transparent("Scan", 8, nullptr, nullptr, "the body appears inline, repeated for each slice"),
    kOnnx.transparent("SequenceMap", 17, nullptr, nullptr, "the body appears inline for each element"),
    kMicrosoft.transparent("BeamSearch", 1, nullptr, nullptr,
                           "encoder and decoder appear inline, the decoder once a token for every beam"),
    kMicrosoft.transparent("WhisperBeamSearch", 1, nullptr, nullptr,
                           "encoder and decoder appear inline, the decoder once a token for every beam"),
    kMicrosoft.transparent("GreedySearch", 1, nullptr, nullptr, "the decoder appears inline, once a token"),
    kMicrosoft.transparent("Sampling", 1, nullptr, nullptr, "the decoder appears inline, once a token"),
};

bool run_control_flow(BindEngine& engine, const BindScope& scope, const Node& node, const OperatorRow& row) {
    using Function = void (*)(BindEngine&, const BindScope&, const Node&);
    static constexpr std::pair<std::string_view, Function> kFunctions[] = {
        {"If", run_if}, {"Loop", run_loop}, {"Scan", run_scan}, {"SequenceMap", run_sequence_map}};
    Function function = row.domain == kMicrosoftDomain ? run_search : nullptr;
    for (const auto& [name, known] : kFunctions)
        if (row.name == name)
            function = known;
    if (!function)
        return false;
    try {
        function(engine, scope, node);
    } catch (const NodeProblem& problem) {
        engine.state().scope = &scope;
        engine.declare_outputs(scope, node);
        engine.state().report(node, problem.kind, Severity::error, problem.message, problem.hint);
    }
    return true;
}

constinit const std::span<const OperatorRow> control_flow_rows = kControlFlowRows;

// The engine's part of control flow: scopes for bodies, links between tensors, second tries.

constexpr int kMaxDepth = 64; ///< nested subgraphs; protobuf itself stops at 100 levels of messages
/// Nodes that all loops together may appear as; what goes beyond is walked once and counted with its repeats.
constexpr double kUnrolledInAll = 65536;

/// Bound tensor of an outer name, or kNoTensor.
static TensorId find_name(const BindScope& scope, const std::string& name) {
    for (const BindScope* s = &scope; s; s = s->parent) {
        if (s->names.empty())
            for (std::size_t i = 0; i < s->graph->tensors.size(); ++i)
                s->names.emplace(s->graph->tensors[i].name, static_cast<TensorId>(i));
        if (const auto it = s->names.find(name); it != s->names.end())
            return s->bound(it->second);
    }
    return kNoTensor;
}

std::string body_prefix(const BindScope& scope, const Node& node, std::int64_t iteration) {
    // Exporters write paths as names ("/layer/If"); a body's own names may start with a slash already.
    return scope.prefix + node.name + (iteration < 0 ? ":" : "#" + std::to_string(iteration) + ":");
}

const Graph& body_of(const Node& node, std::string_view key) {
    const AttributeValue* value = node.attribute(key);
    const auto* graph = value ? std::get_if<std::shared_ptr<const Graph>>(value) : nullptr;
    if (!graph || !*graph)
        throw NodeProblem{FindingKind::malformed_node, "the body '" + std::string(key) + "' is missing",
                          "export the model again"};
    return **graph;
}

BindScope BindEngine::open(const BindScope& outer, const Graph& body, std::string prefix, double repeat) {
    if (outer.depth >= kMaxDepth)
        throw NodeProblem{FindingKind::too_large, "subgraphs are nested too deeply",
                          "export the model again"};
    BindScope scope;
    scope.graph = &body;
    scope.parent = &outer;
    scope.prefix = std::move(prefix);
    scope.repeat = repeat;
    scope.depth = outer.depth + 1;
    scope.copies = outer.copies;
    scope.ids.assign(body.tensors.size(), kNoTensor);
    for (const auto& [local, name] : body.captured)
        if (local < scope.ids.size())
            scope.ids[local] = find_name(outer, name);
    auto& constants = constants_[&body];
    constants.resize(body.tensors.size(), kNoTensor);
    for (std::size_t i = 0; i < body.tensors.size(); ++i) {
        if (scope.ids[i] == kNoTensor)
            scope.ids[i] = constants[i];
        if (scope.ids[i] != kNoTensor)
            continue;
        const Tensor& tensor = body.tensors[i];
        ShapedTensor made;
        made.name = scope.prefix + tensor.name;
        made.type = tensor.type;
        made.kind = tensor.kind;
        made.buffer = tensor.buffer;
        if (tensor.role == TensorRole::initializer) {
            made.role = TensorRole::initializer;
            made.constant = true;
            made.learned = !tensor.buffer && is_floating(tensor.type);
            made.known = tensor.shape.has_value();
            for (const Dimension& d : tensor.shape.value_or(std::vector<Dimension>{}))
                made.shape.push_back(d.value);
            made.known = made.known && !shape_problem(made.shape);
        }
        const bool has_value = made.constant && made.known && tensor.value &&
                               tensor.value->shape == made.shape &&
                               static_cast<double>(value_count(*tensor.value)) == made.elements();
        scope.ids[i] = state_.add_tensor(std::move(made));
        if (has_value)
            state_.values[scope.ids[i]] = tensor.value.get();
        if (tensor.role == TensorRole::initializer)
            constants[i] = scope.ids[i];
    }
    return scope;
}

void BindEngine::link(const BindScope& scope, const Node& node, std::vector<TensorId> inputs,
                      std::vector<TensorId> outputs) {
    Operator op;
    op.name = scope.prefix + node.name;
    op.type = node.op_type;
    op.repeat = scope.repeat;
    op.inputs = std::move(inputs);
    op.outputs = std::move(outputs);
    op.work.kind = OpKind::free;
    op.work.fusion = FusionClass::transparent;
    op.folded = !op.outputs.empty() && std::ranges::all_of(op.outputs, [&](TensorId id) {
        return id == kNoTensor || state_.graph.tensors[id].constant;
    });
    state_.graph.operators.push_back(std::move(op));
}

void BindEngine::copy(TensorId from, TensorId to, bool with_value) {
    if (from == kNoTensor || to == kNoTensor || from == to)
        return;
    const ShapedTensor source = state_.graph.tensors[from];
    ShapedTensor& target = state_.graph.tensors[to];
    target.type = source.type;
    target.kind = source.kind;
    target.known = source.known;
    target.data_dependent = source.data_dependent;
    target.shape = source.shape;
    target.constant = with_value && source.constant;
    state_.values[to] = with_value ? state_.values[from] : nullptr;
    const auto sequence = state_.sequences.find(from);
    if (with_value && sequence != state_.sequences.end())
        state_.sequences[to] = std::shared_ptr<const SequenceElements>(sequence->second);
    else
        state_.sequences.erase(to);
}

bool BindEngine::may_unroll(double nodes) {
    if (unrolled_ + nodes > kUnrolledInAll)
        return false;
    unrolled_ += nodes;
    return true;
}

void BindEngine::rewind(const Mark& mark) {
    state_.graph.operators.resize(mark.operators);
    state_.graph.tensors.resize(mark.tensors);
    state_.values.resize(mark.tensors);
    for (auto& [body, ids] : constants_)
        for (TensorId& id : ids)
            if (id != kNoTensor && id >= mark.tensors)
                id = kNoTensor;
    std::erase_if(state_.sequences, [&](const auto& entry) { return entry.first >= mark.tensors; });
}

void BindEngine::drop_operators(std::size_t first, std::size_t last) {
    auto& operators = state_.graph.operators;
    operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(first),
                    operators.begin() + static_cast<std::ptrdiff_t>(last));
}

} // namespace archsim
