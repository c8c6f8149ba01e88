// Element by element, reductions, and products of matrices.

#include "import/tflite.hpp"

namespace archsim::import {

using Ints = std::vector<std::int64_t>;

/// One operand, one result of its shape.
constexpr std::string_view kUnary =
    " FLOOR=Floor LOGISTIC=Sigmoid RELU=Relu TANH=Tanh EXP=Exp NEG=Neg SIN=Sin LOG=Log SQRT=Sqrt"
    " ABS=Abs CEIL=Ceil COS=Cos ELU=Elu ROUND=Round HARD_SWISH=HardSwish GELU=Gelu SIGN=Sign"
    " LOGICAL_NOT=Not LEAKY_RELU=LeakyRelu ";
/// Two operands that are broadcast; ADD to DIV carry a fused activation.
constexpr std::string_view kBinary =
    " ADD=Add SUB=Sub MUL=Mul DIV=Div MAXIMUM=Max MINIMUM=Min POW=Pow LESS=Less GREATER=Greater"
    " EQUAL=Equal PRELU=PRelu GREATER_EQUAL=GreaterOrEqual FLOOR_MOD=Mod LESS_EQUAL=LessOrEqual"
    " LOGICAL_OR=Or LOGICAL_AND=And BITWISE_XOR=BitwiseXor ";
constexpr std::string_view kReductions =
    " MEAN=ReduceMean SUM=ReduceSum REDUCE_MAX=ReduceMax REDUCE_MIN=ReduceMin REDUCE_PROD=ReduceProd"
    " REDUCE_ANY=ReduceMax REDUCE_ALL=ReduceMin ";

/// "Relu" of RELU where the table has " RELU=Relu "; empty where it has none.
static std::string_view named_in(std::string_view table, std::int32_t code) {
    const std::string sought = " " + std::string(builtin_name(code)) + "=";
    const std::size_t at = table.find(sought);
    if (at == std::string_view::npos)
        return {};
    table.remove_prefix(at + sought.size());
    return table.substr(0, table.find(' '));
}

/// All operands in one order, and the result in the same.
static TensorId same(const TfliteCall& c, std::string_view op, AxisOrder order,
                     TfliteAttributes attributes = {}) {
    return c.graph().emit(op, c.operands(order), std::move(attributes));
}

static void add_same(const TfliteCall& c, std::string_view op, TfliteAttributes attributes = {}) {
    const AxisOrder order = c.order();
    c.graph().set(c.out(), same(c, op, order, std::move(attributes)), order);
}

static void add_clip(const TfliteCall& c, double low, double high) {
    const AxisOrder order = c.order();
    TfliteGraph& g = c.graph();
    g.set(c.out(), g.emit("Clip", {c.get(0, order), g.scalar(low), g.scalar(high)}), order);
}

static bool has_activation(std::int32_t code) {
    return code == builtin("ADD") || code == builtin("SUB") || code == builtin("MUL") ||
           code == builtin("DIV");
}

static void add_binary(const TfliteCall& c, std::string_view op) {
    const AxisOrder order = c.order();
    const TensorId y = same(c, op, order);
    c.graph().set(c.out(), has_activation(c.code()) ? c.activated(y, 0) : y, order);
}

/// The second operator on what the first makes of all operands.
static void add_pair(const TfliteCall& c, std::string_view first, std::string_view second) {
    const AxisOrder order = c.order();
    c.graph().set(c.out(), c.graph().emit(second, {same(c, first, order)}), order);
}

/// The square of the operand, or of the difference of two.
static void add_square(const TfliteCall& c) {
    const AxisOrder order = c.order();
    const TensorId x = c.input_count() > 1 ? same(c, "Sub", order) : c.get(0, order);
    c.graph().set(c.out(), c.graph().emit("Mul", {x, x}), order);
}

/// Means over height and width, kept or not, look at no order; others take the file's.
static void add_reduction(const TfliteCall& c, std::string_view op) {
    TfliteGraph& g = c.graph();
    const std::size_t rank = c.rank(0);
    const bool keep = c.flag(0);
    AxisOrder order = c.order();
    Ints axes = c.known(1);
    for (std::int64_t& axis : axes)
        axis = c.axis(axis, rank, AxisOrder::file);
    const auto goes = [&](std::int64_t axis) { return std::ranges::count(axes, axis) > 0; };
    if (order == AxisOrder::channels_first && !keep && !goes(3) && !(goes(1) && goes(2)))
        order = AxisOrder::file;
    for (std::int64_t& axis : axes)
        axis = c.axis(axis, rank, order);
    const TensorId x = c.get(0, order);
    g.set(c.out(), g.emit(op, {x, g.ints(std::move(axes))}, {{"keepdims", std::int64_t{keep}}}),
          keep ? order : AxisOrder::file);
}

static void add_along(const TfliteCall& c, std::string_view op) {
    add_same(c, op, {{"axis", c.axis(-1, c.rank(0), c.order())}});
}

static void add_local_norm(const TfliteCall& c) {
    const TensorId x = c.get(0, AxisOrder::channels_first);
    c.graph().set(c.out(),
                  c.graph().emit("LRN", {x}, {{"size", std::int64_t{2 * c.option<std::int32_t>(0, 2) + 1}}}),
                  AxisOrder::channels_first);
}

/// Weights O, I. A vector per row of the matrix that the operand is taken for.
static void add_fully_connected(const TfliteCall& c) {
    TfliteGraph& g = c.graph();
    if (c.rank(1) != 2)
        throw FlatError("the weights of a fully connected layer are no matrix");
    const Shape w = c.shape(1), out = g.tensor(c.out()).shape;
    const TensorId bias = g.get_optional(c.optional_in(2), AxisOrder::file);
    TensorId x = c.get(0);
    TensorId y = kNoTensor;
    if (out.size() > 2) {
        y = g.emit("MatMul", {x, g.weights(c.in(1), {w[1], w[0]})});
        if (bias != kNoTensor)
            y = g.emit("Add", {y, bias});
    } else {
        if (c.rank(0) != 2)
            x = g.emit("Reshape", {x, g.ints({-1, w[1]})});
        y = g.emit("Gemm", {x, g.weights(c.in(1), w), bias}, {{"transB", std::int64_t{1}}});
    }
    g.set(c.out(), c.activated(y, 0), AxisOrder::file);
}

static TensorId last_two_swapped(const TfliteCall& c, std::size_t input) {
    Ints perm;
    for (std::size_t i = 0; i < c.rank(input); ++i)
        perm.push_back(static_cast<std::int64_t>(i));
    if (perm.size() < 2)
        throw FlatError("a product of matrices has an operand that is none");
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return c.graph().emit("Transpose", {c.get(input)}, {{"perm", std::move(perm)}});
}

static void add_batch_matmul(const TfliteCall& c) {
    const TensorId a = c.flag(0) ? last_two_swapped(c, 0) : c.get(0),
                   b = c.flag(1) ? last_two_swapped(c, 1) : c.get(1);
    c.graph().set(c.out(), c.graph().emit("MatMul", {a, b}), AxisOrder::file);
}

constexpr TfliteRow kRowsArithmetic[] = {
    {"RELU6", [](const TfliteCall& c) { add_clip(c, 0, 6); }},
    {"RELU_N1_TO_1", [](const TfliteCall& c) { add_clip(c, -1, 1); }},
    {"RELU_0_TO_1", [](const TfliteCall& c) { add_clip(c, 0, 1); }},
    {"SQUARE", add_square},
    {"SQUARED_DIFFERENCE", add_square},
    {"RSQRT", [](const TfliteCall& c) { add_pair(c, "Sqrt", "Reciprocal"); }},
    {"FLOOR_DIV", [](const TfliteCall& c) { add_pair(c, "Div", "Floor"); }},
    {"ATAN2", [](const TfliteCall& c) { add_pair(c, "Div", "Atan"); }},
    {"ADD_N", [](const TfliteCall& c) { add_same(c, "Sum"); }},
    {"SELECT", [](const TfliteCall& c) { add_same(c, "Where"); }},
    {"SELECT_V2", [](const TfliteCall& c) { add_same(c, "Where"); }},
    {"SOFTMAX", [](const TfliteCall& c) { add_along(c, "Softmax"); }},
    {"LOG_SOFTMAX", [](const TfliteCall& c) { add_along(c, "LogSoftmax"); }},
    {"L2_NORMALIZATION", [](const TfliteCall& c) { add_along(c, "LpNormalization"); }},
    {"LOCAL_RESPONSE_NORMALIZATION", add_local_norm},
    {"FULLY_CONNECTED", add_fully_connected},
    {"BATCH_MATMUL", add_batch_matmul},
    {"NOT_EQUAL", [](const TfliteCall& c) { add_pair(c, "Equal", "Not"); }},
    {"RIGHT_SHIFT",
     [](const TfliteCall& c) {
         add_same(c, "BitShift", {{"direction", std::string("RIGHT")}});
     }},
    {"FAKE_QUANT",
     [](const TfliteCall& c) {
         c.graph().alias(c.out(), c.in(0));
     }}, // rounds as the quantisation that it stands for
};
static_assert(are_built_in(kRowsArithmetic));

bool add_tflite_arithmetic(const TfliteCall& c) {
    const std::int32_t code = c.code();
    if (const auto op = named_in(kUnary, code); !op.empty())
        return add_same(c, op), true;
    if (const auto op = named_in(kBinary, code); !op.empty())
        return add_binary(c, op), true;
    if (const auto op = named_in(kReductions, code); !op.empty())
        return add_reduction(c, op), true;
    return add_by_row(kRowsArithmetic, c);
}

} // namespace archsim::import
