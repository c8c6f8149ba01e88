// Elementwise operators of several tensors, with broadcasting.

#include "ops/families.hpp"
#include "ops/folding.hpp"

namespace archsim {

namespace {

using Int = std::int64_t;

bool add_int(Int a, Int b, Int& r) {
    return !__builtin_add_overflow(a, b, &r);
}
bool sub_int(Int a, Int b, Int& r) {
    return !__builtin_sub_overflow(a, b, &r);
}
bool mul_int(Int a, Int b, Int& r) {
    return !__builtin_mul_overflow(a, b, &r);
}
bool div_int(Int a, Int b, Int& r) {
    if (b == 0 || (b == -1 && a == std::numeric_limits<Int>::min()))
        return false;
    return r = a / b, true;
}
/// The remainder takes the sign of the divisor (fmod = 0).
bool mod_int(Int a, Int b, Int& r) {
    if (b == 0 || b == -1)
        return r = 0, b != 0;
    r = a % b;
    if (r != 0 && (r < 0) != (b < 0))
        r += b;
    return true;
}
bool pow_int(Int a, Int b, Int& r) {
    r = 1;
    for (Int i = 0; i < b; ++i)
        if (i > 64 || !mul_int(r, a, r))
            return false;
    return b >= 0;
}
bool xor_int(Int a, Int b, Int& r) {
    return r = (a != 0) != (b != 0), true;
}

double mod_real(double a, double b) {
    return std::fmod(a, b);
}
double pow_real(double a, double b) {
    return std::pow(a, b);
}

struct Larger {
    auto operator()(auto a, auto b) const { return a > b ? a : b; }
};
struct Smaller {
    auto operator()(auto a, auto b) const { return a < b ? a : b; }
};

template <class Function>
bool int_of(Int a, Int b, Int& r) {
    return r = Function{}(a, b), true;
}
template <class Function>
constexpr NodeFunction fold_ints = fold_binary<int_of<Function>, nullptr>;
template <class Function>
constexpr NodeFunction fold_both = fold_binary<int_of<Function>, real_of<Function>>;

/// Division by a constant is a multiplication by its reciprocal.
void work_div(NodeContext& c) {
    const double n = c.output(0).elements();
    if (c.is_constant(1))
        c.work().vector_ops = n;
    else
        c.work().special_ops = n;
}

/// Small whole exponents are multiplications, 0.5 a square root, anything else exp(b log a).
void work_pow(NodeContext& c) {
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
void work_variadic(NodeContext& c) {
    const auto inputs = static_cast<double>(c.input_count());
    c.work().vector_ops = c.output(0).elements() * (inputs - 1 + c.row().cost.vector);
}

void infer_where(NodeContext& c) {
    c.set_output(0, c.type(1), broadcast(broadcast(c.shape(0), c.shape(1)), c.shape(2)));
}

void fold_where(NodeContext& c) {
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

constexpr OperatorRow binary(std::string_view name, int since, std::string_view doc,
                             NodeFunction fold = nullptr) {
    return kOnnx.elementwise(name, since, infer_broadcast, work_per_output, {1, 0}, doc, fold);
}

constexpr OperatorRow comparison(std::string_view name, int since, std::string_view doc, NodeFunction fold) {
    return kOnnx.elementwise(name, since, infer_comparison, work_per_output, {1, 0}, doc, fold);
}

constexpr OperatorRow variadic(std::string_view name, ElementCost cost, std::string_view doc,
                               NodeFunction fold) {
    return kOnnx.elementwise(name, 1, infer_broadcast, work_variadic, cost, doc, fold);
}

constexpr OperatorRow kBinaryRows[] = {
    binary("Add", 1, "a + b", fold_binary<add_int, real_of<std::plus<>>>),
    binary("Sub", 1, "a - b", fold_binary<sub_int, real_of<std::minus<>>>),
    binary("Mul", 1, "a b", fold_binary<mul_int, real_of<std::multiplies<>>>),
    kOnnx.elementwise("Div", 1, infer_broadcast, work_div, {0, 1},
                      "a / b; a multiplication where b is constant",
                      fold_binary<div_int, real_of<std::divides<>>>),
    kOnnx.elementwise("Pow", 1, infer_broadcast, work_pow, {0, 2},
                      "a to the b: multiplications for small whole exponents, else exp(b log a)",
                      fold_binary<pow_int, pow_real>),
    binary("Mod", 10, "remainder", fold_binary<mod_int, mod_real>),
    binary("BitShift", 11, "bit shift"),
    binary("BitwiseAnd", 18, "bitwise and", fold_ints<std::bit_and<>>),
    binary("BitwiseOr", 18, "bitwise or", fold_ints<std::bit_or<>>),
    binary("BitwiseXor", 18, "bitwise exclusive or", fold_ints<std::bit_xor<>>),
    comparison("And", 1, "logical and", fold_ints<std::logical_and<>>),
    comparison("Or", 1, "logical or", fold_ints<std::logical_or<>>),
    comparison("Xor", 1, "logical exclusive or", fold_binary<xor_int, nullptr>),
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

} // namespace

constinit const std::span<const OperatorRow> binary_rows = kBinaryRows;

} // namespace archsim
