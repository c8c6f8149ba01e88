// Loops, branches, composites: operators that run other graphs of the file.

#include "core/lists.hpp"
#include "import/tflite.hpp"

#include <fmt/format.h>

namespace archsim::import {

using Ints = std::vector<std::int64_t>;

/// How often a condition lets a body run that starts with these values, where integers alone decide it.
static std::optional<std::int64_t> trip_count(const TfliteSubgraph& condition, const TfliteSubgraph& body,
                                              TfliteBodies& bodies, std::vector<Ints> state) {
    TfliteIntegers tested(condition, bodies.buffer()), ran(body, bodies.buffer());
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

static Trips trips_of(const TfliteCall& c, std::int64_t condition, std::int64_t body) {
    TfliteGraph& g = c.graph();
    const TfliteSubgraph &test = g.bodies().subgraph(condition), &run = g.bodies().subgraph(body);
    std::vector<Ints> state, from_zero;
    for (const std::int64_t i : c.op().inputs) {
        if (i < 0)
            throw FlatError("an operator lacks an operand");
        const TfliteTensor& t = g.tensor(i);
        state.push_back(g.computed(i).value_or(Ints{}));
        from_zero.push_back(state.back());
        const bool counter = (t.type == DataType::int32 || t.type == DataType::int64) &&
                             std::ranges::all_of(t.shape, [](auto n) { return n == 1; });
        if (counter && state.back().empty())
            from_zero.back() = {0};
    }
    if (const auto known = trip_count(test, run, g.bodies(), std::move(state)))
        return {known, false};
    return {trip_count(test, run, g.bodies(), std::move(from_zero)), true};
}

/// A loop whose counter runs up to a number that is carried unchanged: its trips follow from what a graph at
/// given sizes knows of that number.
struct Limit {
    std::size_t operand = 0; ///< of the loop, that holds the number
    std::int64_t begin = 0, step = 1;
    bool includes = false; ///< the number itself
};

static std::optional<Limit> limit_of(const TfliteCall& c, std::int64_t condition, std::int64_t body) {
    TfliteGraph& g = c.graph();
    const TfliteSubgraph &test = g.bodies().subgraph(condition), &run = g.bodies().subgraph(body);
    const auto carried = [](const TfliteSubgraph& graph, std::int64_t tensor) -> std::optional<std::size_t> {
        const auto at = std::ranges::find(graph.inputs, tensor);
        return at == graph.inputs.end() ? std::nullopt
                                        : std::optional(static_cast<std::size_t>(at - graph.inputs.begin()));
    };
    // Where several conditions must all hold, the others are bounds that constants gave already.
    for (const TfliteOperator& op : test.operators) {
        const auto code = op.code;
        if ((code != builtin("LESS") && code != builtin("LESS_EQUAL")) || op.inputs.size() != 2)
            continue;
        const auto counter = carried(test, op.inputs[0]), number = carried(test, op.inputs[1]);
        const std::size_t all = std::min({run.inputs.size(), run.outputs.size(), c.input_count()});
        if (!counter || !number || *counter >= all || *number >= all ||
            run.outputs[*number] != run.inputs[*number])
            continue;
        const auto begin = g.computed(c.in(*counter));
        if (!begin || begin->size() != 1)
            continue;
        std::vector<std::vector<std::int64_t>> state(run.inputs.size());
        state[*counter] = *begin;
        const auto after = TfliteIntegers(run, g.buffer()).run(state);
        constexpr std::int64_t kMost = std::int64_t{1} << 40; // keeps every sum inside 64 bits
        if (after[*counter].size() != 1 || after[*counter].front() <= begin->front() ||
            begin->front() < -kMost || after[*counter].front() > kMost)
            continue;
        return Limit{*number, begin->front(), after[*counter].front() - begin->front(),
                     code == builtin("LESS_EQUAL")};
    }
    return std::nullopt;
}

/// (number - begin + step - 1) / step, one more where the number itself is reached.
static TensorId trips_up_to(const TfliteCall& c, const Limit& limit) {
    TfliteGraph& g = c.graph();
    const TensorId number = g.emit("Cast", {g.emit("Reshape", {c.get(limit.operand), g.ints({1})})},
                                   {{"to", static_cast<std::int64_t>(DataType::int64)}});
    const std::int64_t add = limit.step - 1 - limit.begin + (limit.includes ? 1 : 0);
    return g.emit("Div", {g.emit("Add", {number, g.ints({add})}), g.ints({limit.step})});
}

static std::vector<TensorId> raw_inputs(const TfliteCall& c, std::size_t first) {
    std::vector<TensorId> inputs;
    for (std::size_t i = first; i < c.input_count(); ++i)
        inputs.push_back(c.graph().raw(c.in(i)));
    return inputs;
}

static void set_results(const TfliteCall& c, const std::vector<TensorId>& results) {
    for (std::size_t i = 0; i < results.size() && i < c.op().outputs.size(); ++i) {
        c.graph().declare(results[i], c.out(i));
        c.graph().set_raw(c.out(i), results[i]);
    }
}

/// The body as ONNX has it: a counter and a condition stand before what is carried. What the condition costs,
/// a comparison of numbers, is not counted.
static std::shared_ptr<const Graph> loop_body(const Graph& body) {
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

static void add_while(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const std::int64_t condition = c.option<std::int32_t>(0, 0), body = c.option<std::int32_t>(1, 0);
    const auto shared = g.bodies().body(body);
    if (shared->inputs.size() != c.input_count() || shared->outputs.size() != c.input_count())
        throw FlatError("a loop carries more or fewer tensors than its body");
    Trips trips = trips_of(c, condition, body);
    std::vector<TensorId> inputs = {kNoTensor, kNoTensor};
    if (const auto limit = trips.count && !trips.from_zero ? std::nullopt : limit_of(c, condition, body)) {
        trips = {};
        inputs.front() = trips_up_to(c, *limit);
    } else if (trips.count) {
        inputs.front() = g.ints({*trips.count});
    }
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

static std::vector<std::string> names_of(const TfliteCall& c, const std::vector<TensorId>& ids) {
    return mapped(ids, [&](const TensorId id) { return c.graph().name_of(id); });
}

static void add_branches(const TfliteCall& c, TensorId condition, const std::vector<TensorId>& inputs,
                         std::int64_t then, std::int64_t otherwise) {
    TfliteGraph& g = c.graph();
    const auto names = names_of(c, inputs);
    set_results(c, g.emit_several("If", {condition}, c.op().outputs.size(),
                                  {{"then_branch", g.bodies().branch(then, names)},
                                   {"else_branch", g.bodies().branch(otherwise, names)}}));
}

static void add_if(const TfliteCall& c) {
    const TensorId condition = c.graph().raw(c.in(0));
    add_branches(c, condition, raw_inputs(c, 1), c.option<std::int32_t>(0, 0), c.option<std::int32_t>(1, 0));
}

/// Runs another graph, always.
static void add_call(const TfliteCall& c, std::int64_t graph) {
    add_branches(c, c.graph().ints({1}), raw_inputs(c, 0), graph, graph);
}

constexpr TfliteRow kRowsControl[] = {
    {"WHILE", add_while},
    {"IF", add_if},
    {"CALL", [](const TfliteCall& c) { add_call(c, c.option<std::uint32_t>(0, 0)); }},
    {"STABLEHLO_COMPOSITE",
     [](const TfliteCall& c) {
         add_call(c, c.op().options_2 ? c.op().options_2->number<std::int32_t>(1, 0) : -1);
     }},
};
static_assert(are_built_in(kRowsControl));

std::vector<std::int64_t> graphs_run_by(const TfliteOperator& op) {
    const auto option = [&](unsigned field) -> std::int64_t {
        return op.options ? op.options->number<std::int32_t>(field, 0) : 0;
    };
    switch (op.code) {
    case builtin("WHILE"):
    case builtin("IF"):
        return {option(0), option(1)};
    case builtin("CALL"):
    case builtin("CALL_ONCE"):
        return {option(0)};
    case builtin("STABLEHLO_COMPOSITE"):
        return {op.options_2 ? op.options_2->number<std::int32_t>(1, 0) : -1};
    default:
        return {};
    }
}

bool add_tflite_control(const TfliteCall& c) {
    return add_by_row(kRowsControl, c);
}

} // namespace archsim::import
