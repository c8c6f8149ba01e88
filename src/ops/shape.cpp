// Operators that only look at or change shapes: nothing to do at run time.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>

namespace archsim {

namespace {

Constant int_vector(std::span<const std::int64_t> values) {
    Constant constant;
    constant.type = DataType::int64;
    constant.shape = {static_cast<std::int64_t>(values.size())};
    constant.ints.assign(values.begin(), values.end());
    return constant;
}

std::size_t clamp_axis(std::int64_t axis, std::size_t rank) {
    const auto r = static_cast<std::int64_t>(rank);
    return static_cast<std::size_t>(std::clamp<std::int64_t>(axis < 0 ? axis + r : axis, 0, r));
}

void infer_shape(NodeContext& c) {
    const Shape& shape = c.shape(0);
    const std::size_t start = clamp_axis(c.integer("start", 0), shape.size());
    const std::size_t end =
        clamp_axis(c.integer("end", static_cast<std::int64_t>(shape.size())), shape.size());
    const std::size_t count = end > start ? end - start : 0;
    c.set_value(0, int_vector(std::span(shape).subspan(start, count)));
    c.set_output(0, DataType::int64, {static_cast<std::int64_t>(count)});
    c.output(0).constant = true;
    c.output(0).data_dependent = c.input(0).data_dependent;
}

void infer_size(NodeContext& c) {
    Constant value;
    value.type = DataType::int64;
    value.ints.push_back(saturated_int(c.elements(0)));
    c.set_output(0, DataType::int64, {});
    c.set_value(0, std::move(value));
    c.output(0).constant = true;
    c.output(0).data_dependent = c.input(0).data_dependent;
}

void infer_reshape(NodeContext& c) {
    const std::vector<std::int64_t>* target = nullptr;
    if (c.has_input(1))
        target = &c.ints(1);
    else
        target = c.integers("shape");
    if (!target)
        malformed("the target shape is missing");
    const Shape& in = c.shape(0);
    const bool allow_zero = c.integer("allowzero", 0) != 0;
    Shape out;
    out.reserve(target->size());
    std::optional<std::size_t> free_axis;
    double known = 1;
    for (std::size_t i = 0; i < target->size(); ++i) {
        std::int64_t d = (*target)[i];
        if (d == 0 && !allow_zero) {
            if (i >= in.size())
                malformed("a 0 in the target shape stands for a dimension that the input does not have");
            d = in[i];
        }
        if (d == -1) {
            if (free_axis)
                malformed("the target shape has two dimensions of -1");
            free_axis = i;
            out.push_back(1);
            continue;
        }
        known *= static_cast<double>(d);
        out.push_back(d);
    }
    const double elements = c.elements(0);
    if (const auto batch = c.rebatch(); batch && free_axis && *free_axis > 0 && !c.is_constant(0) &&
                                        out[0] == batch->first && batch->first > 0) {
        out[0] = batch->second;
        known = known / static_cast<double>(batch->first) * static_cast<double>(batch->second);
    }
    if (free_axis && known > 0)
        out[*free_axis] = saturated_int(elements / known);
    else if (free_axis)
        out[*free_axis] = 0;
    // A target that names the batch fixed in the file follows the batch that the user wants.
    if (const auto batch = c.rebatch();
        batch && !out.empty() && out[0] == batch->first && batch->first > 0 &&
        product(out) / static_cast<double>(batch->first) * static_cast<double>(batch->second) == elements)
        out[0] = batch->second;
    if (product(out) != elements)
        throw NodeProblem{
            FindingKind::shape_conflict,
            "cannot reshape " + std::to_string(saturated_int(elements)) +
                " elements into the target shape of " + std::to_string(saturated_int(product(out))),
            "the file may fix a batch or image size inside; bind the sizes it was exported with"};
    c.set_output(0, c.type(0), std::move(out));
}

void infer_flatten(NodeContext& c) {
    const Shape& in = c.shape(0);
    const std::size_t axis = clamp_axis(c.integer("axis", 1), in.size());
    const auto split = in.begin() + static_cast<std::ptrdiff_t>(axis);
    const auto multiply = [](auto first, auto last) {
        double n = 1;
        for (; first != last; ++first)
            n *= static_cast<double>(*first);
        return saturated_int(n);
    };
    c.set_output(0, c.type(0), {multiply(in.begin(), split), multiply(split, in.end())});
}

void infer_squeeze(NodeContext& c) {
    const Shape& in = c.shape(0);
    const auto given = axes_of(c, 1);
    Shape out;
    if (!given) {
        for (const std::int64_t d : in)
            if (d != 1)
                out.push_back(d);
    } else {
        const auto axes = normalized_axes(*given, in.size());
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (!std::ranges::binary_search(axes, i))
                out.push_back(in[i]);
            else if (in[i] != 1)
                malformed("axis " + std::to_string(i) + " has size " + std::to_string(in[i]) +
                          " and cannot be squeezed");
        }
    }
    c.set_output(0, c.type(0), std::move(out));
}

void infer_unsqueeze(NodeContext& c) {
    const Shape& in = c.shape(0);
    const auto given = axes_of(c, 1);
    if (!given)
        malformed("the axes are missing");
    const std::size_t rank = in.size() + given->size();
    const auto axes = normalized_axes(*given, rank);
    if (axes.size() != given->size())
        malformed("an axis is given twice");
    Shape out;
    out.reserve(rank);
    std::size_t next = 0;
    for (std::size_t i = 0; i < rank; ++i)
        out.push_back(std::ranges::binary_search(axes, i) ? 1 : in[next++]);
    c.set_output(0, c.type(0), std::move(out));
}

constexpr OperatorRow kShapeRows[] = {
    kOnnx.transparent("Shape", 1, infer_shape, work_free,
                      "the sizes of its input, known once the graph is bound"),
    kOnnx.transparent("Size", 1, infer_size, work_free,
                      "the number of elements of its input, known once the graph is bound"),
    kOnnx.transparent("Reshape", 1, infer_reshape, work_free, "another shape over the same bytes",
                      fold_reshaped),
    kOnnx.transparent("Flatten", 1, infer_flatten, work_free, "two dimensions over the same bytes",
                      fold_reshaped),
    kOnnx.transparent("Squeeze", 1, infer_squeeze, work_free, "drops dimensions of size 1", fold_reshaped),
    kOnnx.transparent("Unsqueeze", 1, infer_unsqueeze, work_free, "inserts dimensions of size 1",
                      fold_reshaped),
};

} // namespace

constinit const std::span<const OperatorRow> shape_rows = kShapeRows;

} // namespace archsim
