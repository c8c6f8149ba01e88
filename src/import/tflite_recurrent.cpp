// Recurrent layers. They keep the operands that the file gives them, gate by gate: a gate that is coupled to
// another has none, a projection makes the state narrower than the cell.

#include "import/tflite.hpp"

namespace archsim::import {

/// Operands from `first` on, `count` of them; what is left out is kNoTensor.
static void append(const TfliteCall& c, std::vector<TensorId>& to, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i)
        to.push_back(c.graph().get_optional(c.optional_in(i), AxisOrder::file));
}

constexpr std::size_t kLstmWeights =
    17; ///< 4 x input, 4 x state, 3 peepholes, 4 biases, projection, its bias
constexpr std::size_t kLayerNorms = 4;

static void need(bool there, const char* what) {
    if (!there)
        throw FlatError(what);
}

/// x, 17 weights from `first` on, coefficients of layer normalisation from `norms` on where there are.
static TensorId lstm(const TfliteCall& c, std::size_t first, std::size_t norms, bool time_major,
                     bool backward) {
    std::vector<TensorId> inputs = {c.get(0)};
    append(c, inputs, first, kLstmWeights);
    if (norms > 0)
        append(c, inputs, norms, kLayerNorms);
    TfliteAttributes attributes = {{"time_major", std::int64_t{time_major}}};
    if (backward)
        attributes.emplace_back("backward", std::int64_t{1});
    return c.graph().emit_own("UNIDIRECTIONAL_SEQUENCE_LSTM", std::move(inputs), std::move(attributes));
}

static void add_lstm(const TfliteCall& c) {
    constexpr std::size_t kNorms = 20;
    c.graph().set(c.out(), lstm(c, 1, kNorms, c.flag(3), false), AxisOrder::file);
}

/// One step. The basic kernel has one matrix for all gates, and gives its state and what it computed with it.
static void add_lstm_cell(const TfliteCall& c) {
    constexpr std::size_t kNorms = 20, kBasicInputs = 5;
    TfliteGraph& g = c.graph();
    if (c.input_count() > kBasicInputs)
        return g.set(c.out(), lstm(c, 1, kNorms, false, false), AxisOrder::file);
    std::vector<TensorId> inputs;
    append(c, inputs, 0, kBasicInputs);
    const auto results = g.emit_own("BASIC_LSTM", std::move(inputs), 4);
    for (std::size_t i = 0; i < results.size() && i < c.op().outputs.size(); ++i)
        g.set(c.out(i), results[i], AxisOrder::file);
}

static void set_both(const TfliteCall& c, TensorId forward, TensorId backward, bool merged) {
    TfliteGraph& g = c.graph();
    if (merged || c.op().outputs.size() < 2)
        return g.set(c.out(), g.emit("Concat", {forward, backward}, {{"axis", std::int64_t{-1}}}),
                     AxisOrder::file);
    g.set(c.out(0), forward, AxisOrder::file);
    g.set(c.out(1), backward, AxisOrder::file);
}

static void add_bidirectional_lstm(const TfliteCall& c) {
    constexpr std::size_t kForward = 1, kBackward = 18;
    const bool time_major = c.option<std::uint8_t>(4, 1) != 0;
    const TensorId forward = lstm(c, kForward, 0, time_major, false);
    set_both(c, forward, lstm(c, kBackward, 0, time_major, true), c.flag(3));
}

/// x, input weights, state weights, bias.
static TensorId rnn(const TfliteCall& c, std::size_t first, bool time_major) {
    std::vector<TensorId> inputs = {c.get(0)};
    append(c, inputs, first, 3);
    return c.graph().emit_own("UNIDIRECTIONAL_SEQUENCE_RNN", std::move(inputs),
                              {{"time_major", std::int64_t{time_major}}});
}

static void add_bidirectional_rnn(const TfliteCall& c) {
    const TensorId forward = rnn(c, 1, c.flag(0));
    set_both(c, forward, rnn(c, 5, c.flag(0)), c.flag(2));
}

/// x, weights of features, weights of time, bias; the state is a variable.
static void add_svdf(const TfliteCall& c) {
    need(c.option<std::int32_t>(0, 0) > 0, "an SVDF layer has no rank");
    std::vector<TensorId> inputs;
    append(c, inputs, 0, 4);
    const TensorId y =
        c.graph().emit_own("SVDF", std::move(inputs), {{"rank", std::int64_t{c.option<std::int32_t>(0, 1)}}});
    c.graph().set(c.out(), c.activated(y, 1), AxisOrder::file);
}

// State that outlives an inference (variables of streaming networks), and lists of tensors, which loops of
// Keras read and fill one element a turn.

/// The value is what the last inference, or the initialisation, left there: nothing that is known when the
/// network is built.
static void add_read(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    const TfliteTensor& t = g.tensor(c.out());
    const TensorId id = g.emit_own("READ_VARIABLE", std::vector<TensorId>{},
                                   {{"shape", t.shape}, {"type", static_cast<std::int64_t>(t.type)}});
    g.declare(id, c.out());
    g.set_raw(c.out(), id);
}

static void add_assign(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    g.keep(g.emit_own("ASSIGN_VARIABLE", {g.raw(c.in(1))}, TfliteAttributes{}));
}

/// A list is the tensor of its elements, the first axis counting them. Axes of the elements that the file
/// leaves open are 1 until an element is written.
static TensorId reserved(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    std::vector<std::int64_t> element = g.computed(c.in(0)).value_or(std::vector<std::int64_t>{});
    for (std::int64_t& size : element)
        size = std::max<std::int64_t>(size, 1);
    const auto length = g.computed(c.in(1));
    const TensorId count = length ? g.ints({length->front()}) : g.emit("Reshape", {c.get(1), g.ints({1})});
    return g.emit_own("TENSOR_LIST_RESERVE", {g.ints(std::move(element)), count}, TfliteAttributes{});
}

static bool add_list(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    std::string_view name = c.op().custom;
    if (constexpr std::string_view kFlex = "Flex"; name.starts_with(kFlex))
        name.remove_prefix(kFlex.size());
    const auto set = [&](TensorId id) { g.set(c.out(), id, AxisOrder::file, false); };
    if (name == "TensorListReserve")
        set(reserved(c));
    else if (name == "TensorListFromTensor" || name == "TensorListStack")
        set(g.emit("Identity", {c.get(0)}));
    else if (name == "TensorListGetItem")
        set(g.emit("Gather", {c.get(0), c.get(1)}, {{"axis", std::int64_t{0}}}));
    else if (name == "TensorListSetItem")
        set(g.emit_own("TENSOR_LIST_SET_ITEM", {c.get(0), c.get(1), c.get(2)}, TfliteAttributes{}));
    else if (name == "TensorListLength")
        set(g.emit("Gather", {g.emit("Shape", {c.get(0)}), g.ints({0})}, {{"axis", std::int64_t{0}}}));
    else
        return false;
    return true;
}

constexpr TfliteRow kRowsRecurrent[] = {
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", add_lstm},
    {"LSTM", add_lstm_cell},
    {"BIDIRECTIONAL_SEQUENCE_LSTM", add_bidirectional_lstm},
    {"UNIDIRECTIONAL_SEQUENCE_RNN",
     [](const TfliteCall& c) { c.graph().set(c.out(), rnn(c, 1, c.flag(0)), AxisOrder::file); }},
    {"RNN", [](const TfliteCall& c) { c.graph().set(c.out(), rnn(c, 1, false), AxisOrder::file); }},
    {"BIDIRECTIONAL_SEQUENCE_RNN", add_bidirectional_rnn},
    {"SVDF", add_svdf},
    {"VAR_HANDLE", [](const TfliteCall&) {}}, // a name, no bytes
    {"READ_VARIABLE", add_read},
    {"ASSIGN_VARIABLE", add_assign},
    {"CUSTOM", nullptr, add_list},
};
static_assert(are_built_in(kRowsRecurrent));

bool add_tflite_recurrent(const TfliteCall& c) {
    return add_by_row(kRowsRecurrent, c);
}

} // namespace archsim::import
