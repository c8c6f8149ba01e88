// Operators that only look at or change shapes, and those that make tensors: constants, ranges, random
// numbers, windows.

#include "ops/families.hpp"

#include <cmath>

namespace archsim {

static Constant int_vector(std::span<const std::int64_t> values) {
    Constant constant;
    constant.type = DataType::int64;
    constant.shape = {static_cast<std::int64_t>(values.size())};
    constant.ints.assign(values.begin(), values.end());
    return constant;
}

static std::size_t clamp_axis(std::int64_t axis, std::size_t rank) {
    const auto r = static_cast<std::int64_t>(rank);
    return static_cast<std::size_t>(std::clamp<std::int64_t>(axis < 0 ? axis + r : axis, 0, r));
}

static void infer_shape(NodeContext& c) {
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

static void infer_size(NodeContext& c) {
    Constant value;
    value.type = DataType::int64;
    value.ints.push_back(saturated_int(c.elements(0)));
    c.set_output(0, DataType::int64, {});
    c.set_value(0, std::move(value));
    c.output(0).constant = true;
    c.output(0).data_dependent = c.input(0).data_dependent;
}

static void infer_reshape(NodeContext& c) {
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

static void infer_flatten(NodeContext& c) {
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

static void infer_squeeze(NodeContext& c) {
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

static void infer_unsqueeze(NodeContext& c) {
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

// Operators that make tensors: constants, ranges, random numbers, windows.

static void constant_of(NodeContext& c, DataType type, Constant value) {
    value.type = type;
    c.set_output(0, type, value.shape);
    c.set_value(0, std::move(value));
}

static void infer_constant(NodeContext& c) {
    Constant value;
    if (const Constant* tensor = c.tensor("value")) {
        c.set_output(0, tensor->type, tensor->shape);
        if (static_cast<double>(value_count(*tensor)) == product(tensor->shape))
            c.share_value(0, tensor);
    } else if (c.attribute("value_int")) {
        value.ints = {c.integer("value_int", 0)};
        constant_of(c, DataType::int64, std::move(value));
    } else if (c.attribute("value_float")) {
        value.reals = {c.real("value_float", 0)};
        constant_of(c, DataType::float32, std::move(value));
    } else if (c.attribute("value_string")) {
        value.strings = {std::string(c.text("value_string", ""))};
        constant_of(c, DataType::string, std::move(value));
    } else if (const auto* ints = c.integers("value_ints")) {
        value.ints = *ints;
        value.shape = {static_cast<std::int64_t>(ints->size())};
        constant_of(c, DataType::int64, std::move(value));
    } else if (const auto* reals = c.reals("value_floats")) {
        value.reals = *reals;
        value.shape = {static_cast<std::int64_t>(reals->size())};
        constant_of(c, DataType::float32, std::move(value));
    } else if (const auto* texts = c.texts("value_strings")) {
        value.strings = *texts;
        value.shape = {static_cast<std::int64_t>(texts->size())};
        constant_of(c, DataType::string, std::move(value));
    } else if (const Constant* sparse = c.tensor("sparse_value")) {
        c.set_output(0, sparse->type, sparse->shape);
    } else {
        malformed("the constant has no value");
    }
    // Stored in the file like an initializer; operators that take it as a weight say that it is learned.
    c.output(0).role = TensorRole::initializer;
}

static void infer_constant_of_shape(NodeContext& c) {
    const Constant* fill = c.tensor("value");
    const DataType type = fill ? fill->type : DataType::float32;
    c.set_output(0, type, c.ints(0));
    if (c.output(0).elements() > static_cast<double>(kMaxConstantElements))
        return;
    Constant value = blank_value(c, 0);
    const auto count = static_cast<std::size_t>(product(value.shape));
    if (!fill)
        value.reals.assign(count, 0.0);
    else if (!fill->ints.empty())
        value.ints.assign(count, fill->ints[0]);
    else if (!fill->reals.empty())
        value.reals.assign(count, fill->reals[0]);
    c.set_value(0, std::move(value));
}

static void infer_range(NodeContext& c) {
    const auto start = c.scalar(0), limit = c.scalar(1);
    const auto delta = c.has_input(2) ? c.scalar(2) : std::optional<double>(1.0);
    if (!start || !limit || !delta) {
        for (std::size_t i = 0; i < c.input_count(); ++i)
            if (!c.value(i))
                static_cast<void>(c.ints(i)); // throws with the name of the missing value
        malformed("start, limit and delta must be scalars");
    }
    if (*delta == 0)
        malformed("a step of 0");
    const double count = std::max(0.0, std::ceil((*limit - *start) / *delta));
    if (!(count <= 9007199254740992.0))
        throw NodeProblem{FindingKind::too_large, "the range is longer than 2^53",
                          "check start, limit and delta"};
    c.set_output(0, c.type(0), {static_cast<std::int64_t>(count)});
    if (count > static_cast<double>(kMaxConstantElements))
        return;
    Constant value = blank_value(c, 0);
    for (double i = 0; i < count; ++i) {
        const double x = *start + i * *delta;
        if (is_floating(value.type))
            value.reals.push_back(rounded_to(value.type, x));
        else
            value.ints.push_back(saturated_int(x));
    }
    c.set_value(0, std::move(value));
}

static void infer_eye_like(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "dtype", c.type(0)), c.shape(0));
}

static void infer_random(NodeContext& c) {
    const auto* shape = c.integers("shape");
    if (!shape)
        malformed("the shape is missing");
    c.set_output(0, data_type_attribute(c, "dtype", DataType::float32), *shape);
}

static void infer_multinomial(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "dtype", DataType::int32),
                 {c.dim(0, 0), c.integer("sample_size", 1)});
}

static void infer_window(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "output_datatype", DataType::float32), {c.scalar_int(0)});
}

static void infer_mel_weights(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "output_datatype", DataType::float32),
                 {c.scalar_int(1) / 2 + 1, c.scalar_int(0)});
}

static constexpr OperatorRow random(std::string_view name, int since, NodeFunction infer, ElementCost cost,
                                    std::string_view doc) {
    return of_run(kOnnx.elementwise(name, since, infer, work_per_output, cost, doc));
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
    kOnnx.transparent("Constant", 1, infer_constant, work_free, "a value stored in the file"),
    kOnnx.movement("ConstantOfShape", 9, infer_constant_of_shape, work_per_output, "a tensor of one value"),
    kOnnx.elementwise("Range", 11, infer_range, work_per_output, {2, 0}, "start, start + delta, ..."),
    kOnnx.movement("EyeLike", 9, infer_eye_like, work_per_output, "ones on a diagonal"),
    // A counter-based generator (Philox, Salmon et al. SC 2011) takes 10 rounds of about 2 operations per
    // number.
    random("RandomNormal", 1, infer_random, {20, 3}, "normal random numbers: Philox rounds and Box-Muller"),
    random("RandomNormalLike", 1, infer_eye_like, {20, 3}, "normal random numbers of another tensor's shape"),
    random("RandomUniform", 1, infer_random, {20, 0}, "uniform random numbers: Philox rounds"),
    random("RandomUniformLike", 1, infer_eye_like, {20, 0},
           "uniform random numbers of another tensor's shape"),
    random("Bernoulli", 15, infer_eye_like, {21, 0}, "draws 0 or 1 by the given probability"),
    random("Multinomial", 7, infer_multinomial, {21, 1},
           "draws class numbers by unnormalised log-probabilities"),
    kOnnx.elementwise("HannWindow", 17, infer_window, work_per_output, {2, 1}, "Hann window"),
    kOnnx.elementwise("HammingWindow", 17, infer_window, work_per_output, {2, 1}, "Hamming window"),
    kOnnx.elementwise("BlackmanWindow", 17, infer_window, work_per_output, {4, 2}, "Blackman window"),
    kOnnx.elementwise("MelWeightMatrix", 17, infer_mel_weights, work_per_output, {4, 1}, "mel filter bank"),
};

constinit const std::span<const OperatorRow> shape_rows = kShapeRows;

} // namespace archsim
