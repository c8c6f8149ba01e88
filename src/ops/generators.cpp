// Operators that make tensors: constants, ranges, random numbers, windows.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <cmath>

namespace archsim {

namespace {

void constant_of(NodeContext& c, DataType type, Constant value) {
    value.type = type;
    c.set_output(0, type, value.shape);
    c.set_value(0, std::move(value));
}

void infer_constant(NodeContext& c) {
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

void infer_constant_of_shape(NodeContext& c) {
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

void infer_range(NodeContext& c) {
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

void infer_eye_like(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "dtype", c.type(0)), c.shape(0));
}

void infer_random(NodeContext& c) {
    const auto* shape = c.integers("shape");
    if (!shape)
        malformed("the shape is missing");
    c.set_output(0, data_type_attribute(c, "dtype", DataType::float32), *shape);
}

void infer_multinomial(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "dtype", DataType::int32),
                 {c.dim(0, 0), c.integer("sample_size", 1)});
}

void infer_window(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "output_datatype", DataType::float32), {c.scalar_int(0)});
}

void infer_mel_weights(NodeContext& c) {
    c.set_output(0, data_type_attribute(c, "output_datatype", DataType::float32),
                 {c.scalar_int(1) / 2 + 1, c.scalar_int(0)});
}

constexpr OperatorRow random(std::string_view name, int since, NodeFunction infer, ElementCost cost,
                             std::string_view doc) {
    return of_run(kOnnx.elementwise(name, since, infer, work_per_output, cost, doc));
}

constexpr OperatorRow kGeneratorsRows[] = {
    kOnnx.transparent("Constant", 1, infer_constant, work_free, "a value stored in the file"),
    kOnnx.movement("ConstantOfShape", 9, infer_constant_of_shape, work_per_output, "a tensor of one value"),
    kOnnx.elementwise("Range", 11, infer_range, work_per_output, {2, 0}, "start, start + delta, ..."),
    kMicrosoft.elementwise("Range", 1, infer_range, work_per_output, {2, 0}, "start, start + delta, ..."),
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

} // namespace

constinit const std::span<const OperatorRow> generator_rows = kGeneratorsRows;

} // namespace archsim
