#pragma once
// One operator of a TensorFlow Lite file on its way into the graph, and the families of such operators.

#include "import/tflite_graph.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace archsim::import {

/// By number of BuiltinOperator (tensorflow/compiler/mlir/lite/schema/schema.fbs at tensorflow@0373b8f3cb4d).
inline constexpr std::string_view kBuiltinText =
    "ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE "
    "EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D "
    "LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 "
    "RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM "
    "EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND "
    "TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN "
    "EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX "
    "MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV "
    "SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT "
    "REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV "
    "REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU "
    "SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU "
    "REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE "
    "NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL "
    "PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS "
    "HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE "
    "READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM "
    "MULTINOMIAL GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX "
    "UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT "
    "STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM "
    "STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE STABLEHLO_BROADCAST_IN_DIM "
    "STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE STABLEHLO_ABS "
    "STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG STABLEHLO_MINIMUM "
    "STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT STABLEHLO_SELECT "
    "STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT "
    "STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA "
    "STABLEHLO_DOT_GENERAL STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE STABLEHLO_GATHER "
    "STABLEHLO_TRANSPOSE DILATE STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW STABLEHLO_COMPOSITE COMPLEX";

inline constexpr auto kBuiltinNames = [] {
    std::array<std::string_view, 208> names;
    std::string_view rest = kBuiltinText;
    for (std::string_view& name : names) {
        name = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
    return names;
}();

/// The number of a built-in operator; no constant where none has that name.
constexpr std::int32_t builtin(std::string_view name) {
    for (std::size_t i = 0; i < kBuiltinNames.size(); ++i)
        if (kBuiltinNames[i] == name)
            return static_cast<std::int32_t>(i);
    throw FlatError("no operator has this name");
}

/// The name of that number; empty where no operator has it.
constexpr std::string_view builtin_name(std::int32_t code) {
    return code >= 0 && static_cast<std::size_t>(code) < kBuiltinNames.size()
               ? kBuiltinNames[static_cast<std::size_t>(code)]
               : std::string_view();
}

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
    std::int32_t code() const { return op_.code; }
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

/// How a built-in operator is added.
struct TfliteRow {
    std::string_view name;
    void (*add)(const TfliteCall&) = nullptr;
    bool (*try_to_add)(const TfliteCall&) = nullptr; ///< in its place: false where it cannot be
};

template <std::size_t Count>
constexpr bool are_built_in(const TfliteRow (&rows)[Count]) {
    return std::all_of(rows, rows + Count, [](const TfliteRow& row) { return builtin(row.name) >= 0; });
}

/// Adds the operator by the row that it has among these; false where it has none.
bool add_by_row(std::span<const TfliteRow> rows, const TfliteCall& c);

/// Each adds the operator if it is one of its own.
bool add_tflite_image(const TfliteCall& call);       ///< convolutions, pools, resampling
bool add_tflite_arithmetic(const TfliteCall& call);  ///< element by element, reductions, matrix products
bool add_tflite_arrangement(const TfliteCall& call); ///< shapes, slices, gathers
bool add_tflite_recurrent(const TfliteCall& call);   ///< layers with a state
bool add_tflite_control(const TfliteCall& call);     ///< loops, branches, composites
bool add_tflite_detection(const TfliteCall& call);   ///< boxes: suppression
bool add_tflite_state(const TfliteCall& call);       ///< variables, lists of tensors

} // namespace archsim::import
