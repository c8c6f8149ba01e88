// Reductions over axes, argument searches and running sums.

#include "ops/families.hpp"
#include "ops/folding.hpp"

#include <algorithm>

namespace archsim {

namespace {

/// Axes to reduce: an input in newer opsets, an attribute in older; empty and absent mean all axes unless
/// `noop_with_empty_axes`.
std::vector<bool> reduced_axes(const NodeContext& c) {
    const std::size_t rank = c.shape(0).size();
    const auto given = axes_of(c, 1);
    if (!given || given->empty())
        return std::vector<bool>(rank, c.integer("noop_with_empty_axes", 0) == 0);
    std::vector<bool> reduced(rank, false);
    for (const std::size_t axis : normalized_axes(*given, rank))
        reduced[axis] = true;
    return reduced;
}

void infer_reduce(NodeContext& c) {
    c.set_output(0, c.type(0), reduced_shape(c.shape(0), reduced_axes(c), c.integer("keepdims", 1) != 0));
}

void work_reduce(NodeContext& c) {
    c.work().vector_ops = c.row().cost.vector * c.elements(0);
    c.work().special_ops = c.row().cost.special * c.elements(0);
    const std::string& type = c.node().op_type;
    // One more operation for each result: the mean's scaling, the norm's root, the logarithm.
    if (type == "ReduceMean")
        c.work().vector_ops += c.output(0).elements();
    else if (type == "ReduceL2" || type == "ReduceLogSum" || type == "ReduceLogSumExp")
        c.work().special_ops += c.output(0).elements();
    if (c.output(0).elements() == c.elements(0) && c.integer("noop_with_empty_axes", 0) != 0 &&
        c.output(0).shape == c.shape(0) && type != "ReduceSumSquare" && type != "ReduceL2" &&
        type != "ReduceLogSum")
        make_free(c);
}

double largest_of(double a, double b) {
    return std::max(a, b);
}
double smallest_of(double a, double b) {
    return std::min(a, b);
}

/// Folds in double, which is exact for the sizes that shape arithmetic handles.
template <RealFunction Function, bool Mean = false>
void fold_reduce(NodeContext& c) {
    const Constant& from = known_value(c, 0);
    const std::size_t count = value_count(from);
    if (count == 0 || !from.strings.empty())
        return;
    const auto reduced = reduced_axes(c);
    Constant to = blank_value(c, 0);
    const auto results = static_cast<std::size_t>(product(to.shape));
    std::vector<double> values(results, 0.0);
    std::vector<bool> seen(results, false);
    for (std::size_t flat = 0; flat < count; ++flat) {
        std::size_t rest = flat, index = 0, stride = 1;
        for (std::size_t i = from.shape.size(); i-- > 0;) {
            const auto d = static_cast<std::size_t>(from.shape[i]);
            if (!reduced[i]) {
                index += rest % d * stride;
                stride *= d;
            }
            rest /= d;
        }
        const double x = number_at(from, flat);
        values[index] = seen[index] ? Function(values[index], x) : x;
        seen[index] = true;
    }
    for (double v : values) {
        if (Mean)
            v /= static_cast<double>(count) / static_cast<double>(results);
        if (is_floating(to.type))
            to.reals.push_back(rounded_to(to.type, v));
        else if (std::abs(v) > 9007199254740992.0)
            return;
        else
            to.ints.push_back(saturated_int(v));
    }
    c.set_value(0, std::move(to));
}

void infer_arg(NodeContext& c) {
    const Shape& in = c.shape(0);
    std::vector<bool> reduced(in.size(), false);
    reduced[normalized_axis(c.integer("axis", 0), in.size())] = true;
    c.set_output(0, DataType::int64, reduced_shape(in, reduced, c.integer("keepdims", 1) != 0));
}

/// Running sums over one axis of a small integer vector.
void fold_cumsum(NodeContext& c) {
    const Constant& from = known_value(c, 0);
    if (from.shape.size() != 1 || from.ints.empty() || c.integer("reverse", 0) != 0)
        return;
    const bool exclusive = c.integer("exclusive", 0) != 0;
    Constant to = blank_value(c, 0);
    std::int64_t sum = 0;
    for (const std::int64_t v : from.ints) {
        if (exclusive)
            to.ints.push_back(sum);
        if (__builtin_add_overflow(sum, v, &sum))
            return;
        if (!exclusive)
            to.ints.push_back(sum);
    }
    c.set_value(0, std::move(to));
}

constexpr OperatorRow reduce(std::string_view name, ElementCost cost, std::string_view doc,
                             NodeFunction fold = nullptr) {
    return kOnnx.reduction(name, 1, infer_reduce, work_reduce, cost, doc, fold);
}

constexpr OperatorRow kReductionRows[] = {
    reduce("ReduceSum", {1, 0}, "sum over axes", fold_reduce<real_of<std::plus<>>>),
    reduce("ReduceMean", {1, 0}, "mean over axes", fold_reduce<real_of<std::plus<>>, true>),
    reduce("ReduceProd", {1, 0}, "product over axes", fold_reduce<real_of<std::multiplies<>>>),
    reduce("ReduceMax", {1, 0}, "largest value over axes", fold_reduce<largest_of>),
    reduce("ReduceMin", {1, 0}, "smallest value over axes", fold_reduce<smallest_of>),
    reduce("ReduceL1", {2, 0}, "sum of absolute values over axes"),
    reduce("ReduceL2", {2, 0}, "root of the sum of squares over axes"),
    reduce("ReduceSumSquare", {2, 0}, "sum of squares over axes"),
    reduce("ReduceLogSum", {1, 0}, "logarithm of the sum over axes"),
    reduce("ReduceLogSumExp", {3, 1}, "logarithm of the sum of exponentials over axes"),
    kOnnx.reduction("ArgMax", 1, infer_arg, work_per_input, {1, 0},
                    "place of the largest value along an axis"),
    kOnnx.reduction("ArgMin", 1, infer_arg, work_per_input, {1, 0},
                    "place of the smallest value along an axis"),
    kOnnx.opaque_reduction("CumSum", 11, infer_same, work_per_input, {1, 0}, "running sum along an axis",
                           fold_cumsum),
    kOnnx.opaque_reduction("CumProd", 26, infer_same, work_per_input, {1, 0},
                           "running product along an axis"),
};

} // namespace

constinit const std::span<const OperatorRow> reduction_rows = kReductionRows;

} // namespace archsim
