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
    hashtable_lookup = 10,
    l2_normalization = 11,
    l2_pool_2d = 12,
    local_response_normalization = 13,
    logistic = 14,
    lstm = 16,
    max_pool_2d = 17,
    mul = 18,
    relu = 19,
    relu_n1_to_1 = 20,
    relu6 = 21,
    reshape = 22,
    resize_bilinear = 23,
    rnn = 24,
    softmax = 25,
    space_to_depth = 26,
    svdf = 27,
    tanh = 28,
    call = 31,
    custom = 32,
    pad = 34,
    unidirectional_sequence_rnn = 35,
    gather = 36,
    batch_to_space_nd = 37,
    space_to_batch_nd = 38,
    transpose = 39,
    mean = 40,
    sub = 41,
    div = 42,
    squeeze = 43,
    unidirectional_sequence_lstm = 44,
    strided_slice = 45,
    bidirectional_sequence_rnn = 46,
    exp = 47,
    topk_v2 = 48,
    split = 49,
    log_softmax = 50,
    bidirectional_sequence_lstm = 52,
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
    sparse_to_dense = 68,
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
    fake_quant = 80,
    reduce_prod = 81,
    reduce_max = 82,
    pack = 83,
    logical_or = 84,
    one_hot = 85,
    logical_and = 86,
    logical_not = 87,
    unpack = 88,
    reduce_min = 89,
    floor_div = 90,
    reduce_any = 91,
    square = 92,
    zeros_like = 93,
    fill = 94,
    floor_mod = 95,
    range = 96,
    resize_nearest_neighbor = 97,
    leaky_relu = 98,
    squared_difference = 99,
    mirror_pad = 100,
    abs = 101,
    split_v = 102,
    unique = 103,
    ceil = 104,
    reverse_v2 = 105,
    add_n = 106,
    gather_nd = 107,
    cos = 108,
    where = 109,
    rank = 110,
    elu = 111,
    reverse_sequence = 112,
    matrix_diag = 113,
    quantize = 114,
    matrix_set_diag = 115,
    round = 116,
    hard_swish = 117,
    if_then_else = 118,
    while_loop = 119,
    non_max_suppression_v4 = 120,
    non_max_suppression_v5 = 121,
    scatter_nd = 122,
    select_v2 = 123,
    densify = 124,
    batch_matmul = 126,
    cumsum = 128,
    call_once = 129,
    broadcast_to = 130,
    conv_3d = 132,
    reduce_all = 140,
    conv_3d_transpose = 141,
    var_handle = 142,
    read_variable = 143,
    assign_variable = 144,
    broadcast_args = 145,
    random_standard_normal = 146,
    random_uniform = 148,
    gelu = 150,
    dynamic_update_slice = 151,
    relu_0_to_1 = 152,
    atan2 = 156,
    sign = 158,
    bitwise_xor = 160,
    right_shift = 161,
    composite = 206,
};

/// What an operator is called: the name in the schema, or that of a custom one.
std::string name_of_call(const TfliteOperator& op);

/// Numbers of the graphs that an operator runs.
std::vector<std::int64_t> graphs_run_by(const TfliteOperator& op);

/// The small integers of a constant; nothing where it holds none.
std::optional<std::vector<std::int64_t>> small_integers(const TfliteTensor& t, const FlatBuffer& buffer);

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
        auto values = graph_.computed(in(i));
        if (!values)
            throw FlatError("an operator takes sizes or axes that only a run knows");
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
bool add_tflite_recurrent(const TfliteCall& call);   ///< layers with a state
bool add_tflite_control(const TfliteCall& call);     ///< loops, branches, composites
bool add_tflite_detection(const TfliteCall& call);   ///< boxes: suppression
bool add_tflite_state(const TfliteCall& call);       ///< variables, lists of tensors

} // namespace archsim::import
