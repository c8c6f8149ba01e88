// Element by element, reductions, and products of matrices.

#include "import/tflite_operator.hpp"

#include <algorithm>

namespace archsim::import {

namespace {

using Ints = std::vector<std::int64_t>;

struct NamedCode {
    Tflite code;
    std::string_view op;
};

/// One operand, one result of its shape.
constexpr NamedCode kUnary[] = {
    {Tflite::floor, "Floor"},
    {Tflite::logistic, "Sigmoid"},
    {Tflite::relu, "Relu"},
    {Tflite::tanh, "Tanh"},
    {Tflite::exp, "Exp"},
    {Tflite::neg, "Neg"},
    {Tflite::sin, "Sin"},
    {Tflite::log, "Log"},
    {Tflite::sqrt, "Sqrt"},
    {Tflite::abs, "Abs"},
    {Tflite::ceil, "Ceil"},
    {Tflite::cos, "Cos"},
    {Tflite::elu, "Elu"},
    {Tflite::round, "Round"},
    {Tflite::hard_swish, "HardSwish"},
    {Tflite::gelu, "Gelu"},
    {Tflite::sign, "Sign"},
    {Tflite::logical_not, "Not"},
    {Tflite::leaky_relu, "LeakyRelu"},
};
/// Two operands that are broadcast; those of the first column after `div` carry a fused activation.
constexpr NamedCode kBinary[] = {
    {Tflite::add, "Add"},
    {Tflite::sub, "Sub"},
    {Tflite::mul, "Mul"},
    {Tflite::div, "Div"},
    {Tflite::maximum, "Max"},
    {Tflite::minimum, "Min"},
    {Tflite::pow, "Pow"},
    {Tflite::less, "Less"},
    {Tflite::greater, "Greater"},
    {Tflite::equal, "Equal"},
    {Tflite::prelu, "PRelu"},
    {Tflite::greater_equal, "GreaterOrEqual"},
    {Tflite::floor_mod, "Mod"},
    {Tflite::less_equal, "LessOrEqual"},
    {Tflite::logical_or, "Or"},
    {Tflite::logical_and, "And"},
    {Tflite::bitwise_xor, "BitwiseXor"},
};
constexpr NamedCode kReductions[] = {
    {Tflite::mean, "ReduceMean"},      {Tflite::sum, "ReduceSum"},          {Tflite::reduce_max, "ReduceMax"},
    {Tflite::reduce_min, "ReduceMin"}, {Tflite::reduce_prod, "ReduceProd"}, {Tflite::reduce_any, "ReduceMax"},
    {Tflite::reduce_all, "ReduceMin"},
};

template <std::size_t N>
std::string_view name_in(const NamedCode (&table)[N], Tflite code) {
    for (const NamedCode& row : table)
        if (row.code == code)
            return row.op;
    return {};
}

void add_unary(const TfliteCall& c, std::string_view op) {
    const AxisOrder order = c.order();
    c.graph().set(c.out(), c.graph().emit(op, {c.get(0, order)}), order);
}

void add_clip(const TfliteCall& c, double low, double high) {
    const AxisOrder order = c.order();
    TfliteGraph& g = c.graph();
    g.set(c.out(), g.emit("Clip", {c.get(0, order), g.scalar(low), g.scalar(high)}), order);
}

bool has_activation(Tflite code) {
    return code == Tflite::add || code == Tflite::sub || code == Tflite::mul || code == Tflite::div;
}

void add_binary(const TfliteCall& c, std::string_view op) {
    const AxisOrder order = c.order();
    const TensorId a = c.get(0, order), b = c.get(1, order);
    TensorId y = c.graph().emit(op, {a, b});
    if (has_activation(c.code()))
        y = c.activated(y, 0);
    c.graph().set(c.out(), y, order);
}

void add_pair(const TfliteCall& c, std::string_view first, std::string_view second) {
    const AxisOrder order = c.order();
    TfliteGraph& g = c.graph();
    TensorId y = kNoTensor;
    if (c.code() == Tflite::square) {
        const TensorId x = c.get(0, order);
        y = g.emit("Mul", {x, x});
    } else if (c.code() == Tflite::squared_difference) {
        const TensorId a = c.get(0, order), b = c.get(1, order);
        const TensorId d = g.emit(first, {a, b});
        y = g.emit(second, {d, d});
    } else if (c.code() == Tflite::floor_div || c.code() == Tflite::atan2) {
        const TensorId a = c.get(0, order), b = c.get(1, order);
        y = g.emit(second, {g.emit(first, {a, b})});
    } else {
        y = g.emit(second, {g.emit(first, {c.get(0, order)})});
    }
    g.set(c.out(), y, order);
}

void add_sum(const TfliteCall& c) {
    const AxisOrder order = c.order();
    std::vector<TensorId> inputs;
    for (std::size_t i = 0; i < c.input_count(); ++i)
        inputs.push_back(c.get(i, order));
    c.graph().set(c.out(), c.graph().emit("Sum", std::move(inputs)), order);
}

void add_select(const TfliteCall& c) {
    const AxisOrder order = c.order();
    const TensorId condition = c.get(0, order), a = c.get(1, order), b = c.get(2, order);
    c.graph().set(c.out(), c.graph().emit("Where", {condition, a, b}), order);
}

/// Means over height and width, kept or not, look at no order; others take the file's.
void add_reduction(const TfliteCall& c, std::string_view op) {
    TfliteGraph& g = c.graph();
    const std::size_t rank = c.rank(0);
    const bool keep = c.flag(0);
    AxisOrder order = c.order();
    Ints axes = c.known(1);
    for (std::int64_t& axis : axes)
        axis = c.axis(axis, rank, AxisOrder::file);
    const auto goes = [&](std::int64_t axis) { return std::count(axes.begin(), axes.end(), axis) > 0; };
    if (order == AxisOrder::channels_first && !keep && !goes(3) && !(goes(1) && goes(2)))
        order = AxisOrder::file;
    for (std::int64_t& axis : axes)
        axis = c.axis(axis, rank, order);
    const TensorId x = c.get(0, order);
    g.set(c.out(), g.emit(op, {x, g.ints(std::move(axes))}, {{"keepdims", std::int64_t{keep}}}),
          keep ? order : AxisOrder::file);
}

void add_along(const TfliteCall& c, std::string_view op) {
    const AxisOrder order = c.order();
    const std::int64_t axis = c.axis(-1, c.rank(0), order);
    c.graph().set(c.out(), c.graph().emit(op, {c.get(0, order)}, {{"axis", axis}}), order);
}

void add_local_norm(const TfliteCall& c) {
    const TensorId x = c.get(0, AxisOrder::channels_first);
    c.graph().set(c.out(),
                  c.graph().emit("LRN", {x}, {{"size", std::int64_t{2 * c.option<std::int32_t>(0, 2) + 1}}}),
                  AxisOrder::channels_first);
}

/// Weights O, I. A vector per row of the matrix that the operand is taken for.
void add_fully_connected(const TfliteCall& c) {
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

TensorId last_two_swapped(const TfliteCall& c, std::size_t input) {
    Ints perm;
    for (std::size_t i = 0; i < c.rank(input); ++i)
        perm.push_back(static_cast<std::int64_t>(i));
    if (perm.size() < 2)
        throw FlatError("a product of matrices has an operand that is none");
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return c.graph().emit("Transpose", {c.get(input)}, {{"perm", std::move(perm)}});
}

void add_batch_matmul(const TfliteCall& c) {
    const TensorId a = c.flag(0) ? last_two_swapped(c, 0) : c.get(0),
                   b = c.flag(1) ? last_two_swapped(c, 1) : c.get(1);
    c.graph().set(c.out(), c.graph().emit("MatMul", {a, b}), AxisOrder::file);
}

void add_not_equal(const TfliteCall& c) {
    const AxisOrder order = c.order();
    TfliteGraph& g = c.graph();
    const TensorId a = c.get(0, order), b = c.get(1, order);
    g.set(c.out(), g.emit("Not", {g.emit("Equal", {a, b})}), order);
}

void add_shift(const TfliteCall& c) {
    const AxisOrder order = c.order();
    const TensorId a = c.get(0, order), b = c.get(1, order);
    c.graph().set(c.out(), c.graph().emit("BitShift", {a, b}, {{"direction", std::string("RIGHT")}}), order);
}

} // namespace

bool add_tflite_arithmetic(const TfliteCall& c) {
    const Tflite code = c.code();
    if (const auto op = name_in(kUnary, code); !op.empty())
        return add_unary(c, op), true;
    if (const auto op = name_in(kBinary, code); !op.empty())
        return add_binary(c, op), true;
    if (const auto op = name_in(kReductions, code); !op.empty())
        return add_reduction(c, op), true;
    switch (code) {
    case Tflite::relu6:
        return add_clip(c, 0, 6), true;
    case Tflite::relu_n1_to_1:
        return add_clip(c, -1, 1), true;
    case Tflite::relu_0_to_1:
        return add_clip(c, 0, 1), true;
    case Tflite::square:
    case Tflite::squared_difference:
        return add_pair(c, "Sub", "Mul"), true;
    case Tflite::rsqrt:
        return add_pair(c, "Sqrt", "Reciprocal"), true;
    case Tflite::floor_div:
        return add_pair(c, "Div", "Floor"), true;
    case Tflite::atan2:
        return add_pair(c, "Div", "Atan"), true;
    case Tflite::add_n:
        return add_sum(c), true;
    case Tflite::select:
    case Tflite::select_v2:
        return add_select(c), true;
    case Tflite::softmax:
        return add_along(c, "Softmax"), true;
    case Tflite::log_softmax:
        return add_along(c, "LogSoftmax"), true;
    case Tflite::l2_normalization:
        return add_along(c, "LpNormalization"), true;
    case Tflite::local_response_normalization:
        return add_local_norm(c), true;
    case Tflite::fully_connected:
        return add_fully_connected(c), true;
    case Tflite::batch_matmul:
        return add_batch_matmul(c), true;
    case Tflite::not_equal:
        return add_not_equal(c), true;
    case Tflite::right_shift:
        return add_shift(c), true;
    case Tflite::fake_quant: // rounds as the quantisation that it stands for
        return c.graph().alias(c.out(), c.in(0)), true;
    default:
        return false;
    }
}

} // namespace archsim::import
