#pragma once
// One operator of a TensorFlow Lite file on its way into the graph, and the families of such operators.

#include "import/tflite_graph.hpp"

#include <span>

namespace archsim::import {

/// BuiltinOperator, as far as it is translated.
enum class Tflite : std::int32_t {
    add = 0,
    average_pool_2d = 1,
    concatenation = 2,
    conv_2d = 3,
    depthwise_conv_2d = 4,
    depth_to_space = 5,
    dequantize = 6,
    embedding_lookup = 7,
    floor = 8,
    fully_connected = 9,
    l2_normalization = 11,
    local_response_normalization = 13,
    logistic = 14,
    max_pool_2d = 17,
    mul = 18,
    relu = 19,
    relu_n1_to_1 = 20,
    relu6 = 21,
    reshape = 22,
    resize_bilinear = 23,
    softmax = 25,
    space_to_depth = 26,
    tanh = 28,
    custom = 32,
    pad = 34,
    gather = 36,
    transpose = 39,
    mean = 40,
    sub = 41,
    div = 42,
    squeeze = 43,
    unidirectional_sequence_lstm = 44,
    strided_slice = 45,
    exp = 47,
    topk_v2 = 48,
    split = 49,
    log_softmax = 50,
    cast = 53,
    prelu = 54,
    maximum = 55,
    arg_max = 56,
    minimum = 57,
    less = 58,
    neg = 59,
    padv2 = 60,
    greater = 61,
    greater_equal = 62,
    less_equal = 63,
    select = 64,
    slice = 65,
    sin = 66,
    transpose_conv = 67,
    tile = 69,
    expand_dims = 70,
    equal = 71,
    not_equal = 72,
    log = 73,
    sum = 74,
    sqrt = 75,
    rsqrt = 76,
    shape = 77,
    pow = 78,
    arg_min = 79,
    reduce_prod = 81,
    reduce_max = 82,
    pack = 83,
    logical_or = 84,
    logical_and = 86,
    logical_not = 87,
    unpack = 88,
    reduce_min = 89,
    floor_div = 90,
    square = 92,
    floor_mod = 95,
    resize_nearest_neighbor = 97,
    leaky_relu = 98,
    squared_difference = 99,
    mirror_pad = 100,
    abs = 101,
    split_v = 102,
    ceil = 104,
    add_n = 106,
    gather_nd = 107,
    cos = 108,
    elu = 111,
    quantize = 114,
    round = 116,
    hard_swish = 117,
    select_v2 = 123,
    batch_matmul = 126,
    cumsum = 128,
    call_once = 129,
    broadcast_to = 130,
    gelu = 150,
    relu_0_to_1 = 152,
    sign = 158,
};

class TfliteCall {
  public:
    TfliteCall(TfliteGraph& graph, const TfliteOperator& op) : graph_(graph), op_(op) {}

    TfliteGraph& graph() const { return graph_; }
    Tflite code() const { return static_cast<Tflite>(op_.code); }
    const TfliteOperator& op() const { return op_; }
    std::size_t input_count() const { return op_.inputs.size(); }
    /// A tensor that must be there; throws FlatError otherwise.
    std::int64_t in(std::size_t i) const {
        if (i >= op_.inputs.size() || op_.inputs[i] < 0)
            throw FlatError("an operator lacks an operand");
        return op_.inputs[i];
    }
    std::int64_t optional_in(std::size_t i) const { return i < op_.inputs.size() ? op_.inputs[i] : -1; }
    std::int64_t out(std::size_t i = 0) const {
        if (i >= op_.outputs.size())
            throw FlatError("an operator lacks a result");
        return op_.outputs[i];
    }
    const Shape& shape(std::size_t i) const { return graph_.tensor(in(i)).shape; }
    std::size_t rank(std::size_t i) const { return shape(i).size(); }
    TensorId get(std::size_t i, AxisOrder order) const { return graph_.get(in(i), order); }
    TensorId get(std::size_t i) const { return get(i, AxisOrder::file); }
    /// An integer that must be known; throws FlatError otherwise.
    std::vector<std::int64_t> known(std::size_t i) const {
        auto values = graph_.integers(in(i));
        if (!values)
            throw FlatError("an operator takes sizes or axes that are not constant");
        return *values;
    }
    template <class T>
    T option(unsigned field, T otherwise) const {
        return op_.options ? op_.options->number<T>(field, otherwise) : otherwise;
    }
    bool flag(unsigned field) const { return option<std::uint8_t>(field, 0) != 0; }

    /// Where the operands are images with the channels first, so are the results of what treats axes alike.
    AxisOrder order() const;
    /// `axis` of a tensor of that rank in that order.
    std::int64_t axis(std::int64_t axis, std::size_t rank, AxisOrder order) const;
    /// The fused activation (ActivationFunctionType) in that field.
    TensorId activated(TensorId x, unsigned field) const;

  private:
    TfliteGraph& graph_;
    const TfliteOperator& op_;
};

/// Each adds the operator if it is one of its own.
bool add_tflite_image(const TfliteCall& call);       ///< convolutions, pools, resampling
bool add_tflite_arithmetic(const TfliteCall& call);  ///< element by element, reductions, matrix products
bool add_tflite_arrangement(const TfliteCall& call); ///< shapes, slices, gathers

} // namespace archsim::import
