// Loops, branches, composites: operators that run other graphs of the file.

#include "import/tflite_operator.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace archsim::import {

namespace {

using Ints = std::vector<std::int64_t>;

/// The integers of a constant that may count something; nothing of larger ones.
Ints counting_integers(const TfliteTensor& t, const FlatBuffer& buffer) {
    constexpr std::uint64_t kMostBytes = 64;
    return t.data_bytes <= kMostBytes ? small_integers(t, buffer).value_or(Ints{}) : Ints{};
}

/// What counts: small integers of a graph, followed through the operators that counters are made of.
class CounterWalk {
  public:
    CounterWalk(const TfliteSubgraph& graph, const FlatBuffer& buffer) : graph_(graph), buffer_(buffer) {}

    /// The integers of the outputs for these of the inputs; what is not known is empty.
    std::vector<Ints> run(const std::vector<Ints>& inputs) {
        known_.clear();
        for (std::size_t i = 0; i < graph_.inputs.size() && i < inputs.size(); ++i)
            if (!inputs[i].empty())
                known_[graph_.inputs[i]] = inputs[i];
        for (const TfliteOperator& op : graph_.operators)
            step(op);
        std::vector<Ints> out;
        for (const std::int64_t i : graph_.outputs)
            out.push_back(of(i));
        return out;
    }

  private:
    Ints of(std::int64_t index) {
        if (index < 0)
            return {};
        if (const auto it = known_.find(index); it != known_.end())
            return it->second;
        const auto [constant, fresh] = constants_.try_emplace(index);
        if (fresh)
            constant->second = counting_integers(graph_.tensors[static_cast<std::size_t>(index)], buffer_);
        return constant->second;
    }

    static std::optional<std::int64_t> binary(Tflite code, std::int64_t a, std::int64_t b) {
        // Wraps as the file's integers do, and never overflows here.
        const auto wrap = [](std::uint64_t v) { return static_cast<std::int64_t>(v); };
        const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
        switch (code) {
        case Tflite::add:
            return wrap(ua + ub);
        case Tflite::sub:
            return wrap(ua - ub);
        case Tflite::mul:
            return wrap(ua * ub);
        case Tflite::maximum:
            return std::max(a, b);
        case Tflite::minimum:
            return std::min(a, b);
        case Tflite::less:
            return a < b;
        case Tflite::less_equal:
            return a <= b;
        case Tflite::greater:
            return a > b;
        case Tflite::greater_equal:
            return a >= b;
        case Tflite::equal:
            return a == b;
        case Tflite::not_equal:
            return a != b;
        case Tflite::logical_and:
            return a != 0 && b != 0;
        case Tflite::logical_or:
            return a != 0 || b != 0;
        default:
            return std::nullopt;
        }
    }

    void step(const TfliteOperator& op) {
        if (op.inputs.empty() || op.outputs.empty())
            return;
        const auto code = static_cast<Tflite>(op.code);
        const Ints a = of(op.inputs[0]);
        switch (code) {
        case Tflite::reshape:
        case Tflite::squeeze:
        case Tflite::expand_dims:
        case Tflite::cast:
            if (!a.empty() && is_integer(op.outputs[0]))
                known_[op.outputs[0]] = a;
            return;
        case Tflite::logical_not:
            if (!a.empty())
                for (const std::int64_t v : a)
                    known_[op.outputs[0]].push_back(v == 0);
            return;
        default:
            break;
        }
        if (op.inputs.size() != 2 || !is_integer(op.outputs[0]))
            return;
        const Ints b = of(op.inputs[1]);
        // The conjunction of a limit that is known and one that is not stays below the known one.
        if (code == Tflite::logical_and && a.empty() != b.empty()) {
            const Ints& one = a.empty() ? b : a;
            if (one.size() == 1 && one.front() == 0)
                known_[op.outputs[0]] = one;
            return;
        }
        if (a.empty() || b.empty() || (a.size() != b.size() && a.size() != 1 && b.size() != 1))
            return;
        Ints y;
        for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
            const auto v = binary(code, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
            if (!v)
                return;
            y.push_back(*v);
        }
        known_[op.outputs[0]] = std::move(y);
    }

    bool is_integer(std::int64_t index) const {
        const DataType type = graph_.tensors[static_cast<std::size_t>(index)].type;
        return type == DataType::int32 || type == DataType::int64 || type == DataType::boolean;
    }

    const TfliteSubgraph& graph_;
    const FlatBuffer& buffer_;
    std::map<std::int64_t, Ints> known_, constants_;
};

/// How often a condition lets a body run that starts with these values, where integers alone decide it.
std::optional<std::int64_t> trip_count(const TfliteSubgraph& condition, const TfliteSubgraph& body,
                                       TfliteBodies& bodies, std::vector<Ints> state) {
    CounterWalk tested(condition, bodies.buffer()), ran(body, bodies.buffer());
    const std::size_t each = condition.operators.size() + body.operators.size() + 1;
    for (std::size_t steps = 0; bodies.walk(each); ++steps) {
        const auto goes_on = tested.run(state);
        if (goes_on.empty() || goes_on.front().size() != 1)
            return std::nullopt;
        if (goes_on.front().front() == 0)
            return static_cast<std::int64_t>(steps);
        state = ran.run(state);
    }
    return std::nullopt;
}

struct Trips {
    std::optional<std::int64_t> count; ///< nothing: only a run knows
    bool from_zero = false;            ///< a counter that nothing in the file sets was taken to start at 0
};

Trips trips_of(const TfliteCall& c, std::int64_t condition, std::int64_t body) {
    const TfliteGraph& g = c.graph();
    const TfliteSubgraph &test = g.bodies().subgraph(condition), &run = g.bodies().subgraph(body);
    std::vector<Ints> state, from_zero;
    for (const std::int64_t i : c.op().inputs) {
        if (i < 0)
            throw FlatError("an operator lacks an operand");
        const TfliteTensor& t = g.tensor(i);
        state.push_back(counting_integers(t, g.buffer()));
        from_zero.push_back(state.back());
        const bool counter = (t.type == DataType::int32 || t.type == DataType::int64) &&
                             std::all_of(t.shape.begin(), t.shape.end(), [](auto n) { return n == 1; });
        if (counter && state.back().empty())
            from_zero.back() = {0};
    }
    if (const auto known = trip_count(test, run, g.bodies(), std::move(state)))
        return {known, false};
    return {trip_count(test, run, g.bodies(), std::move(from_zero)), true};
}

std::vector<TensorId> raw_inputs(const TfliteCall& c, std::size_t first) {
    std::vector<TensorId> inputs;
    for (std::size_t i = first; i < c.input_count(); ++i)
        inputs.push_back(c.graph().raw(c.in(i)));
    return inputs;
}

void set_results(const TfliteCall& c, const std::vector<TensorId>& results) {
    for (std::size_t i = 0; i < results.size() && i < c.op().outputs.size(); ++i) {
        c.graph().declare(results[i], c.out(i));
        c.graph().set_raw(c.out(i), results[i]);
    }
}

/// The body as ONNX has it: a counter and a condition stand before what is carried. What the condition costs,
/// a comparison of numbers, is not counted.
std::shared_ptr<const Graph> loop_body(const Graph& body) {
    Graph own = body;
    const auto add = [&](const char* name, DataType type, TensorRole role) {
        Tensor& t = own.tensors.emplace_back();
        t.name = name;
        t.type = type;
        t.role = role;
        t.shape.emplace();
        return static_cast<TensorId>(own.tensors.size() - 1);
    };
    const TensorId trip = add("loop/trip", DataType::int64, TensorRole::input),
                   before = add("loop/goes_on", DataType::boolean, TensorRole::input),
                   after = add("loop/goes_on_after", DataType::boolean, TensorRole::initializer);
    Constant yes;
    yes.type = DataType::boolean;
    yes.ints = {1};
    own.tensors[after].value = std::make_shared<const Constant>(std::move(yes));
    own.tensors[after].buffer = true;
    own.inputs.insert(own.inputs.begin(), {trip, before});
    own.outputs.insert(own.outputs.begin(), after);
    return std::make_shared<const Graph>(std::move(own));
}

void add_while(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const std::int64_t condition = c.option<std::int32_t>(0, 0), body = c.option<std::int32_t>(1, 0);
    const auto shared = g.bodies().body(body);
    if (shared->inputs.size() != c.input_count() || shared->outputs.size() != c.input_count())
        throw FlatError("a loop carries more or fewer tensors than its body");
    const Trips trips = trips_of(c, condition, body);
    std::vector<TensorId> inputs = {trips.count ? g.ints({*trips.count}) : kNoTensor, kNoTensor};
    for (const TensorId id : raw_inputs(c, 0))
        inputs.push_back(id);
    const auto results =
        g.emit_several("Loop", std::move(inputs), c.op().outputs.size(), {{"body", loop_body(*shared)}});
    set_results(c, results);
    if (trips.count && trips.from_zero)
        g.report({.kind = FindingKind::data_dependent_shape,
                  .severity = Severity::warning,
                  .message = fmt::format(
                      "the counter of the loop comes from outside; from 0 it runs {} times", *trips.count),
                  .where = g.last_node(),
                  .hint = fmt::format("give another number with --dim {}=N", g.last_node())});
}

std::vector<std::string> names_of(const TfliteCall& c, const std::vector<TensorId>& ids) {
    std::vector<std::string> names;
    for (const TensorId id : ids)
        names.push_back(c.graph().name_of(id));
    return names;
}

void add_branches(const TfliteCall& c, TensorId condition, const std::vector<TensorId>& inputs,
                  std::int64_t then, std::int64_t otherwise) {
    TfliteGraph& g = c.graph();
    const auto names = names_of(c, inputs);
    set_results(c, g.emit_several("If", {condition}, c.op().outputs.size(),
                                  {{"then_branch", g.bodies().branch(then, names)},
                                   {"else_branch", g.bodies().branch(otherwise, names)}}));
}

void add_if(const TfliteCall& c) {
    const TensorId condition = c.graph().raw(c.in(0));
    add_branches(c, condition, raw_inputs(c, 1), c.option<std::int32_t>(0, 0), c.option<std::int32_t>(1, 0));
}

/// Runs another graph, always.
void add_call(const TfliteCall& c, std::int64_t graph) {
    add_branches(c, c.graph().ints({1}), raw_inputs(c, 0), graph, graph);
}

} // namespace

std::vector<std::int64_t> graphs_run_by(const TfliteOperator& op) {
    const auto option = [&](unsigned field) -> std::int64_t {
        return op.options ? op.options->number<std::int32_t>(field, 0) : 0;
    };
    switch (static_cast<Tflite>(op.code)) {
    case Tflite::while_loop:
    case Tflite::if_then_else:
        return {option(0), option(1)};
    case Tflite::call:
    case Tflite::call_once:
        return {option(0)};
    case Tflite::composite:
        return {op.options_2 ? op.options_2->number<std::int32_t>(1, 0) : -1};
    default:
        return {};
    }
}

bool add_tflite_control(const TfliteCall& c) {
    switch (c.code()) {
    case Tflite::while_loop:
        return add_while(c), true;
    case Tflite::if_then_else:
        return add_if(c), true;
    case Tflite::call:
        return add_call(c, c.option<std::uint32_t>(0, 0)), true;
    case Tflite::composite:
        return add_call(c, c.op().options_2 ? c.op().options_2->number<std::int32_t>(1, 0) : -1), true;
    default:
        return false;
    }
}

} // namespace archsim::import
