// Elementwise operators: of one tensor (activations, rounding, trigonometry, casts), and of several, with
// broadcasting.

#include "ops/families.hpp"

namespace archsim {

using Int = std::int64_t;

template <double (*Function)(double)>
static double real(double a, double) {
    return Function(a);
}

template <class Function>
static bool int_of(Int a, Int b, Int& r) {
    return r = Function{}(a, b), true;
}
template <class Function>
static constexpr NodeFunction fold_ints = fold_binary<int_of<Function>, nullptr>;
template <class Function>
static constexpr NodeFunction fold_both = fold_binary<int_of<Function>, real_of<Function>>;
/// Of one tensor: a function whose second argument is not used.
template <class Function>
static constexpr NodeFunction fold_one = fold_unary<int_of<Function>, real_of<Function>>;

using Positive = decltype([](auto a, auto) { return a > 0 ? a : 0; });
using Sign = decltype([](auto a, auto) { return (a > 0) - (a < 0); });
using Negative = decltype([](double a, double) { return -a; });
using Not = decltype([](Int a, Int) { return a == 0; });
using Same = decltype([](Int a, Int) { return a; });
using Reciprocal = decltype([](double a, double) { return 1.0 / a; });
using Xor = decltype([](Int a, Int b) { return (a != 0) != (b != 0); });
using Larger = decltype([](auto a, auto b) { return a > b ? a : b; });
using Smaller = decltype([](auto a, auto b) { return a < b ? a : b; });
using Remainder = decltype([](double a, double b) { return std::fmod(a, b); });
using Power = decltype([](double a, double b) { return std::pow(a, b); });

static bool abs_int(Int a, Int, Int& r) {
    return !__builtin_sub_overflow(a < 0 ? 0 : a, a < 0 ? a : 0, &r);
}
static bool neg_int(Int a, Int, Int& r) {
    return !__builtin_sub_overflow(0, a, &r);
}

static void infer_cast(NodeContext& c) {
    // Before opset 6 the target type was written as text; such files name it in upper case ("FLOAT").
    DataType type = DataType::undefined;
    if (const auto* to = c.attribute("to"); to && std::holds_alternative<std::string>(*to)) {
        const std::string& name = std::get<std::string>(*to);
        constexpr std::pair<std::string_view, DataType> kNames[] = {
            {"FLOAT", DataType::float32}, {"DOUBLE", DataType::float64}, {"FLOAT16", DataType::float16},
            {"INT64", DataType::int64},   {"INT32", DataType::int32},    {"INT16", DataType::int16},
            {"INT8", DataType::int8},     {"UINT8", DataType::uint8},    {"UINT16", DataType::uint16},
            {"UINT32", DataType::uint32}, {"UINT64", DataType::uint64},  {"BOOL", DataType::boolean},
            {"STRING", DataType::string}};
        for (const auto& [text, candidate] : kNames)
            if (text == name)
                type = candidate;
    } else {
        type = data_type_attribute(c, "to", DataType::undefined);
    }
    if (type == DataType::undefined)
        malformed("attribute 'to' names no data type");
    c.set_output(0, type, c.shape(0));
}

static void fold_cast(NodeContext& c) {
    const Constant& from = known_value(c, 0);
    Constant to = blank_value(c, 0);
    if (!from.strings.empty() || to.type == DataType::string)
        return;
    const std::size_t count = value_count(from);
    for (std::size_t i = 0; i < count; ++i) {
        if (is_floating(to.type))
            to.reals.push_back(rounded_to(to.type, number_at(from, i)));
        else if (to.type == DataType::boolean)
            to.ints.push_back(number_at(from, i) != 0.0);
        else
            to.ints.push_back(i < from.ints.size() ? from.ints[i] : saturated_int(from.reals[i]));
    }
    c.set_value(0, std::move(to));
}

static void work_cast(NodeContext& c) {
    if (c.type(0) == c.output(0).type)
        work_free(c);
    else
        work_per_output(c);
}

/// Same bits, another type; the last dimension keeps its size because the widths agree (opset 26).
static void infer_bit_cast(NodeContext& c) {
    infer_cast(c);
    const int from = bits_of(c.type(0)), to = bits_of(c.output(0).type);
    if (from != to)
        malformed("BitCast needs types of equal width");
}

static void infer_dropout(NodeContext& c) {
    c.set_output(0, c.type(0), c.shape(0));
    if (c.has_output(1))
        c.set_output(1, c.opset() >= 10 ? DataType::boolean : c.type(0), c.shape(0));
}

/// Dropout does nothing in inference; training draws a random number, compares and scales.
static void work_dropout(NodeContext& c) {
    const Constant* training = c.value(2);
    const bool trains = c.opset() >= 12 && c.has_input(2) && (!training || number_at(*training, 0) != 0.0);
    if (!trains)
        work_free(c);
    else
        work_per_output(c);
}

static void fold_identity(NodeContext& c) {
    c.share_value(0, c.value(0));
}

static void infer_identity(NodeContext& c) {
    declare_like(c, 0);
    c.output(0).kind = c.input(0).kind;
    if (const auto* elements = c.sequence(0))
        c.set_sequence(0, *elements);
}

static constexpr OperatorRow unary(std::string_view name, int since, ElementCost cost, std::string_view doc,
                                   NodeFunction fold = nullptr) {
    return kOnnx.elementwise(name, since, infer_same, work_per_output, cost, doc, fold);
}

// Elementwise operators of several tensors, with broadcasting.

static bool add_int(Int a, Int b, Int& r) {
    return !__builtin_add_overflow(a, b, &r);
}
static bool sub_int(Int a, Int b, Int& r) {
    return !__builtin_sub_overflow(a, b, &r);
}
static bool mul_int(Int a, Int b, Int& r) {
    return !__builtin_mul_overflow(a, b, &r);
}
static bool div_int(Int a, Int b, Int& r) {
    if (b == 0 || (b == -1 && a == std::numeric_limits<Int>::min()))
        return false;
    return r = a / b, true;
}
/// The remainder takes the sign of the divisor (fmod = 0).
static bool mod_int(Int a, Int b, Int& r) {
    if (b == 0 || b == -1)
        return r = 0, b != 0;
    r = a % b;
    if (r != 0 && (r < 0) != (b < 0))
        r += b;
    return true;
}
static bool pow_int(Int a, Int b, Int& r) {
    r = 1;
    for (Int i = 0; i < b; ++i)
        if (i > 64 || !mul_int(r, a, r))
            return false;
    return b >= 0;
}

/// Division by a constant is a multiplication by its reciprocal.
static void work_div(NodeContext& c) {
    const double n = c.output(0).elements();
    if (c.is_constant(1))
        c.work().vector_ops = n;
    else
        c.work().special_ops = n;
}

/// Small whole exponents are multiplications, 0.5 a square root, anything else exp(b log a).
static void work_pow(NodeContext& c) {
    const double n = c.output(0).elements();
    const auto exponent = c.scalar(1);
    if (exponent && *exponent >= 1 && *exponent <= 4 && *exponent == std::floor(*exponent))
        c.work().vector_ops = n * (*exponent <= 2 ? *exponent - 1 : 2);
    else if (exponent && std::fabs(*exponent) == 0.5)
        c.work().special_ops = n * (*exponent < 0 ? 2 : 1);
    else
        c.work().special_ops = 2 * n;
}

/// n inputs take n - 1 operations per element; Mean divides too (a multiplication by 1/n).
static void work_variadic(NodeContext& c) {
    const auto inputs = static_cast<double>(c.input_count());
    c.work().vector_ops = c.output(0).elements() * (inputs - 1 + c.row().cost.vector);
}

static void infer_where(NodeContext& c) {
    c.set_output(0, c.type(1), broadcast(broadcast(c.shape(0), c.shape(1)), c.shape(2)));
}

static void fold_where(NodeContext& c) {
    const Constant &condition = known_value(c, 0), &a = known_value(c, 1), &b = known_value(c, 2);
    Constant result = blank_value(c, 0);
    const BroadcastIndex ic(condition.shape, result.shape), ia(a.shape, result.shape),
        ib(b.shape, result.shape);
    const auto count = static_cast<std::size_t>(product(result.shape));
    for (std::size_t i = 0; i < count; ++i) {
        const bool taken = number_at(condition, ic(i)) != 0.0;
        append_from(result, taken ? a : b, taken ? ia(i) : ib(i));
    }
    if (value_count(result) == count)
        c.set_value(0, std::move(result));
}

static constexpr OperatorRow binary(std::string_view name, int since, std::string_view doc,
                                    NodeFunction fold = nullptr) {
    return kOnnx.elementwise(name, since, infer_broadcast, work_per_output, {1, 0}, doc, fold);
}

static constexpr OperatorRow comparison(std::string_view name, int since, std::string_view doc,
                                        NodeFunction fold) {
    return kOnnx.elementwise(name, since, infer_comparison, work_per_output, {1, 0}, doc, fold);
}

static constexpr OperatorRow variadic(std::string_view name, ElementCost cost, std::string_view doc,
                                      NodeFunction fold) {
    return kOnnx.elementwise(name, 1, infer_broadcast, work_variadic, cost, doc, fold);
}

constexpr OperatorRow kElementwiseRows[] = {
    unary("Abs", 1, {1, 0}, "|x|", fold_unary<abs_int, real<std::fabs>>),
    unary("Acos", 7, {0, 1}, "arc cosine"),
    unary("Acosh", 9, {0, 1}, "inverse hyperbolic cosine"),
    unary("Asin", 7, {0, 1}, "arc sine"),
    unary("Asinh", 9, {0, 1}, "inverse hyperbolic sine"),
    unary("Atan", 7, {0, 1}, "arc tangent"),
    unary("Atanh", 9, {0, 1}, "inverse hyperbolic tangent"),
    unary("BitwiseNot", 18, {1, 0}, "bitwise complement"),
    unary("Ceil", 1, {1, 0}, "rounds up", fold_unary<nullptr, real<std::ceil>>),
    unary("Celu", 12, {4, 2}, "max(0,x) + min(0, a(exp(x/a)-1)): exp and a division"),
    unary("Clip", 1, {2, 0}, "limits to [min, max]: two comparisons"),
    unary("Cos", 7, {0, 1}, "cosine"),
    unary("Cosh", 9, {0, 1}, "hyperbolic cosine"),
    unary("Elu", 1, {3, 1}, "x or a(exp(x)-1)"),
    unary("Erf", 9, {0, 1}, "error function"),
    unary("Exp", 1, {0, 1}, "exponential", fold_unary<nullptr, real<std::exp>>),
    unary("Floor", 1, {1, 0}, "rounds down", fold_unary<nullptr, real<std::floor>>),
    unary("Gelu", 20, {4, 1}, "0.5 x (1 + erf(x/sqrt 2)), or the tanh form"),
    unary("HardSigmoid", 1, {4, 0}, "clip(a x + b, 0, 1)"),
    unary("HardSwish", 14, {5, 0}, "x clip(x/6 + 0.5, 0, 1)"),
    unary("ImageScaler", 1, {2, 0}, "scales an image and adds a bias per channel (withdrawn operator)"),
    unary("Affine", 1, {2, 0}, "a x + b (withdrawn operator)"),
    unary("ParametricSoftplus", 1, {3, 2}, "a ln(exp(b x) + 1) (withdrawn operator)"),
    unary("ScaledTanh", 1, {2, 1}, "a tanh(b x) (withdrawn operator)"),
    unary("LeakyRelu", 1, {2, 0}, "x or a x"),
    unary("Log", 1, {0, 1}, "natural logarithm", fold_unary<nullptr, real<std::log>>),
    unary("Mish", 18, {2, 3}, "x tanh(ln(1 + exp x))"),
    unary("Neg", 1, {1, 0}, "-x", fold_unary<neg_int, real_of<Negative>>),
    unary("Not", 1, {1, 0}, "logical complement", fold_unary<int_of<Not>, nullptr>),
    unary("PRelu", 1, {2, 0}, "x or slope x, slope per channel"),
    unary("Reciprocal", 1, {0, 1}, "1/x", fold_unary<nullptr, real_of<Reciprocal>>),
    unary("Relu", 1, {1, 0}, "max(x, 0)", fold_one<Positive>),
    unary("Round", 11, {1, 0}, "rounds half to even", fold_unary<int_of<Same>, real<std::nearbyint>>),
    unary("Selu", 1, {4, 1}, "scaled exponential linear unit"),
    unary("Shrink", 9, {4, 0}, "shrinks values towards zero"),
    unary("Sigmoid", 1, {2, 2}, "1/(1 + exp -x): exp and a division"),
    unary("Sign", 9, {2, 0}, "sign", fold_one<Sign>),
    unary("Sin", 7, {0, 1}, "sine"),
    unary("Sinh", 9, {0, 1}, "hyperbolic sine"),
    unary("Softplus", 1, {1, 2}, "ln(1 + exp x)"),
    unary("Softsign", 1, {2, 1}, "x/(1 + |x|)"),
    unary("Sqrt", 1, {0, 1}, "square root", fold_unary<nullptr, real<std::sqrt>>),
    unary("Swish", 24, {3, 2}, "x sigmoid(a x)"),
    unary("Tan", 7, {0, 1}, "tangent"),
    unary("Tanh", 1, {0, 1}, "hyperbolic tangent"),
    unary("ThresholdedRelu", 10, {2, 0}, "x where x > a, else 0"),
    kOnnx.elementwise("IsInf", 10, infer_typed<DataType::boolean>, work_per_output, {1, 0},
                      "tests for infinity"),
    kOnnx.elementwise("IsNaN", 9, infer_typed<DataType::boolean>, work_per_output, {1, 0},
                      "tests for not-a-number"),
    kOnnx.elementwise("Cast", 1, infer_cast, work_cast, {1, 0},
                      "converts the element type; free when it is the same", fold_cast),
    kOnnx.elementwise("CastLike", 15, infer_like<1, 0>, work_cast, {1, 0},
                      "converts to the type of the second input", fold_cast),
    kOnnx.transparent("BitCast", 26, infer_bit_cast, work_free, "reads the same bits as another type"),
    kOnnx.elementwise("Dropout", 1, infer_dropout, work_dropout, {3, 0},
                      "nothing in inference; in training a random number, comparison and scaling"),
    of_unknown(
        kOnnx.transparent("Identity", 1, infer_identity, work_free, "the input itself", fold_identity)),
    of_microsoft(unary("Gelu", 1, {4, 1}, "0.5 x (1 + erf(x/sqrt 2))")),
    of_microsoft(unary("QuickGelu", 1, {3, 2}, "x sigmoid(1.702 x)")),
    of_microsoft(unary("Silu", 1, {2, 2}, "x sigmoid(x)")),
    binary("Add", 1, "a + b", fold_binary<add_int, real_of<std::plus<>>>),
    binary("Sub", 1, "a - b", fold_binary<sub_int, real_of<std::minus<>>>),
    binary("Mul", 1, "a b", fold_binary<mul_int, real_of<std::multiplies<>>>),
    kOnnx.elementwise("Div", 1, infer_broadcast, work_div, {0, 1},
                      "a / b; a multiplication where b is constant",
                      fold_binary<div_int, real_of<std::divides<>>>),
    kOnnx.elementwise("Pow", 1, infer_broadcast, work_pow, {0, 2},
                      "a to the b: multiplications for small whole exponents, else exp(b log a)",
                      fold_binary<pow_int, real_of<Power>>),
    binary("Mod", 10, "remainder", fold_binary<mod_int, real_of<Remainder>>),
    binary("BitShift", 11, "bit shift"),
    binary("BitwiseAnd", 18, "bitwise and", fold_ints<std::bit_and<>>),
    binary("BitwiseOr", 18, "bitwise or", fold_ints<std::bit_or<>>),
    binary("BitwiseXor", 18, "bitwise exclusive or", fold_ints<std::bit_xor<>>),
    comparison("And", 1, "logical and", fold_ints<std::logical_and<>>),
    comparison("Or", 1, "logical or", fold_ints<std::logical_or<>>),
    comparison("Xor", 1, "logical exclusive or", fold_ints<Xor>),
    comparison("Equal", 1, "a = b", fold_both<std::equal_to<>>),
    comparison("Greater", 1, "a > b", fold_both<std::greater<>>),
    comparison("GreaterOrEqual", 12, "a >= b", fold_both<std::greater_equal<>>),
    comparison("Less", 1, "a < b", fold_both<std::less<>>),
    comparison("LessOrEqual", 12, "a <= b", fold_both<std::less_equal<>>),
    variadic("Max", {0, 0}, "largest of the inputs", fold_both<Larger>),
    variadic("Min", {0, 0}, "smallest of the inputs", fold_both<Smaller>),
    variadic("Sum", {0, 0}, "sum of the inputs", fold_binary<add_int, real_of<std::plus<>>>),
    variadic("Mean", {1, 0}, "mean of the inputs", nullptr),
    kOnnx.elementwise("Where", 9, infer_where, work_per_output, {1, 0}, "selects by a condition", fold_where),
    kMicrosoft.elementwise("BiasAdd", 1, infer_same, work_per_output, {2, 0},
                           "x + bias + skip (image generation models)"),
    kMicrosoft.elementwise("BiasGelu", 1, infer_same, work_per_output, {5, 1}, "gelu(x + bias)"),
    kMicrosoft.elementwise("FastGelu", 1, infer_same, work_per_output, {8, 1},
                           "tanh form of gelu, with an optional bias"),
};

constinit const std::span<const OperatorRow> elementwise_rows = kElementwiseRows;

} // namespace archsim
