// What the schema says without a graph: names of the built-in operators, and the integers of constants.

#include "import/tflite_operator.hpp"

#include <fmt/format.h>
#include <iterator>

namespace archsim::import {

namespace {

/// By number of BuiltinOperator (tensorflow/compiler/mlir/lite/schema/schema.fbs at tensorflow@0373b8f3cb4d).
constexpr std::string_view kBuiltinNames[] = {"ADD",
                                              "AVERAGE_POOL_2D",
                                              "CONCATENATION",
                                              "CONV_2D",
                                              "DEPTHWISE_CONV_2D",
                                              "DEPTH_TO_SPACE",
                                              "DEQUANTIZE",
                                              "EMBEDDING_LOOKUP",
                                              "FLOOR",
                                              "FULLY_CONNECTED",
                                              "HASHTABLE_LOOKUP",
                                              "L2_NORMALIZATION",
                                              "L2_POOL_2D",
                                              "LOCAL_RESPONSE_NORMALIZATION",
                                              "LOGISTIC",
                                              "LSH_PROJECTION",
                                              "LSTM",
                                              "MAX_POOL_2D",
                                              "MUL",
                                              "RELU",
                                              "RELU_N1_TO_1",
                                              "RELU6",
                                              "RESHAPE",
                                              "RESIZE_BILINEAR",
                                              "RNN",
                                              "SOFTMAX",
                                              "SPACE_TO_DEPTH",
                                              "SVDF",
                                              "TANH",
                                              "CONCAT_EMBEDDINGS",
                                              "SKIP_GRAM",
                                              "CALL",
                                              "CUSTOM",
                                              "EMBEDDING_LOOKUP_SPARSE",
                                              "PAD",
                                              "UNIDIRECTIONAL_SEQUENCE_RNN",
                                              "GATHER",
                                              "BATCH_TO_SPACE_ND",
                                              "SPACE_TO_BATCH_ND",
                                              "TRANSPOSE",
                                              "MEAN",
                                              "SUB",
                                              "DIV",
                                              "SQUEEZE",
                                              "UNIDIRECTIONAL_SEQUENCE_LSTM",
                                              "STRIDED_SLICE",
                                              "BIDIRECTIONAL_SEQUENCE_RNN",
                                              "EXP",
                                              "TOPK_V2",
                                              "SPLIT",
                                              "LOG_SOFTMAX",
                                              "DELEGATE",
                                              "BIDIRECTIONAL_SEQUENCE_LSTM",
                                              "CAST",
                                              "PRELU",
                                              "MAXIMUM",
                                              "ARG_MAX",
                                              "MINIMUM",
                                              "LESS",
                                              "NEG",
                                              "PADV2",
                                              "GREATER",
                                              "GREATER_EQUAL",
                                              "LESS_EQUAL",
                                              "SELECT",
                                              "SLICE",
                                              "SIN",
                                              "TRANSPOSE_CONV",
                                              "SPARSE_TO_DENSE",
                                              "TILE",
                                              "EXPAND_DIMS",
                                              "EQUAL",
                                              "NOT_EQUAL",
                                              "LOG",
                                              "SUM",
                                              "SQRT",
                                              "RSQRT",
                                              "SHAPE",
                                              "POW",
                                              "ARG_MIN",
                                              "FAKE_QUANT",
                                              "REDUCE_PROD",
                                              "REDUCE_MAX",
                                              "PACK",
                                              "LOGICAL_OR",
                                              "ONE_HOT",
                                              "LOGICAL_AND",
                                              "LOGICAL_NOT",
                                              "UNPACK",
                                              "REDUCE_MIN",
                                              "FLOOR_DIV",
                                              "REDUCE_ANY",
                                              "SQUARE",
                                              "ZEROS_LIKE",
                                              "FILL",
                                              "FLOOR_MOD",
                                              "RANGE",
                                              "RESIZE_NEAREST_NEIGHBOR",
                                              "LEAKY_RELU",
                                              "SQUARED_DIFFERENCE",
                                              "MIRROR_PAD",
                                              "ABS",
                                              "SPLIT_V",
                                              "UNIQUE",
                                              "CEIL",
                                              "REVERSE_V2",
                                              "ADD_N",
                                              "GATHER_ND",
                                              "COS",
                                              "WHERE",
                                              "RANK",
                                              "ELU",
                                              "REVERSE_SEQUENCE",
                                              "MATRIX_DIAG",
                                              "QUANTIZE",
                                              "MATRIX_SET_DIAG",
                                              "ROUND",
                                              "HARD_SWISH",
                                              "IF",
                                              "WHILE",
                                              "NON_MAX_SUPPRESSION_V4",
                                              "NON_MAX_SUPPRESSION_V5",
                                              "SCATTER_ND",
                                              "SELECT_V2",
                                              "DENSIFY",
                                              "SEGMENT_SUM",
                                              "BATCH_MATMUL",
                                              "PLACEHOLDER_FOR_GREATER_OP_CODES",
                                              "CUMSUM",
                                              "CALL_ONCE",
                                              "BROADCAST_TO",
                                              "RFFT2D",
                                              "CONV_3D",
                                              "IMAG",
                                              "REAL",
                                              "COMPLEX_ABS",
                                              "HASHTABLE",
                                              "HASHTABLE_FIND",
                                              "HASHTABLE_IMPORT",
                                              "HASHTABLE_SIZE",
                                              "REDUCE_ALL",
                                              "CONV_3D_TRANSPOSE",
                                              "VAR_HANDLE",
                                              "READ_VARIABLE",
                                              "ASSIGN_VARIABLE",
                                              "BROADCAST_ARGS",
                                              "RANDOM_STANDARD_NORMAL",
                                              "BUCKETIZE",
                                              "RANDOM_UNIFORM",
                                              "MULTINOMIAL",
                                              "GELU",
                                              "DYNAMIC_UPDATE_SLICE",
                                              "RELU_0_TO_1",
                                              "UNSORTED_SEGMENT_PROD",
                                              "UNSORTED_SEGMENT_MAX",
                                              "UNSORTED_SEGMENT_SUM",
                                              "ATAN2",
                                              "UNSORTED_SEGMENT_MIN",
                                              "SIGN",
                                              "BITCAST",
                                              "BITWISE_XOR",
                                              "RIGHT_SHIFT",
                                              "STABLEHLO_LOGISTIC",
                                              "STABLEHLO_ADD",
                                              "STABLEHLO_DIVIDE",
                                              "STABLEHLO_MULTIPLY",
                                              "STABLEHLO_MAXIMUM",
                                              "STABLEHLO_RESHAPE",
                                              "STABLEHLO_CLAMP",
                                              "STABLEHLO_CONCATENATE",
                                              "STABLEHLO_BROADCAST_IN_DIM",
                                              "STABLEHLO_CONVOLUTION",
                                              "STABLEHLO_SLICE",
                                              "STABLEHLO_CUSTOM_CALL",
                                              "STABLEHLO_REDUCE",
                                              "STABLEHLO_ABS",
                                              "STABLEHLO_AND",
                                              "STABLEHLO_COSINE",
                                              "STABLEHLO_EXPONENTIAL",
                                              "STABLEHLO_FLOOR",
                                              "STABLEHLO_LOG",
                                              "STABLEHLO_MINIMUM",
                                              "STABLEHLO_NEGATE",
                                              "STABLEHLO_OR",
                                              "STABLEHLO_POWER",
                                              "STABLEHLO_REMAINDER",
                                              "STABLEHLO_RSQRT",
                                              "STABLEHLO_SELECT",
                                              "STABLEHLO_SUBTRACT",
                                              "STABLEHLO_TANH",
                                              "STABLEHLO_SCATTER",
                                              "STABLEHLO_COMPARE",
                                              "STABLEHLO_CONVERT",
                                              "STABLEHLO_DYNAMIC_SLICE",
                                              "STABLEHLO_DYNAMIC_UPDATE_SLICE",
                                              "STABLEHLO_PAD",
                                              "STABLEHLO_IOTA",
                                              "STABLEHLO_DOT_GENERAL",
                                              "STABLEHLO_REDUCE_WINDOW",
                                              "STABLEHLO_SORT",
                                              "STABLEHLO_WHILE",
                                              "STABLEHLO_GATHER",
                                              "STABLEHLO_TRANSPOSE",
                                              "DILATE",
                                              "STABLEHLO_RNG_BIT_GENERATOR",
                                              "REDUCE_WINDOW",
                                              "STABLEHLO_COMPOSITE",
                                              "COMPLEX"};

static_assert(std::size(kBuiltinNames) == 208);
static_assert(kBuiltinNames[static_cast<int>(Tflite::conv_3d)] == "CONV_3D");
static_assert(kBuiltinNames[static_cast<int>(Tflite::sign)] == "SIGN");
static_assert(kBuiltinNames[static_cast<int>(Tflite::composite)] == "STABLEHLO_COMPOSITE");

} // namespace

std::string name_of_call(const TfliteOperator& op) {
    if (op.code == static_cast<std::int32_t>(Tflite::custom))
        return op.custom.empty() ? "CUSTOM" : op.custom;
    return op.code >= 0 && static_cast<std::size_t>(op.code) < std::size(kBuiltinNames)
               ? std::string(kBuiltinNames[op.code])
               : fmt::format("BuiltinOperator{}", op.code);
}

std::optional<std::vector<std::int64_t>> small_integers(const TfliteTensor& t, const FlatBuffer& buffer) {
    const std::size_t width = t.type == DataType::int64     ? 8
                              : t.type == DataType::int32   ? 4
                              : t.type == DataType::boolean ? 1
                                                            : 0;
    if (!t.constant() || width == 0 || t.data_bytes > width * kMaxConstantElements ||
        t.data_bytes % width != 0)
        return std::nullopt;
    std::uint64_t elements = 1;
    for (const std::int64_t n : t.shape)
        elements = n > static_cast<std::int64_t>(kMaxConstantElements)
                       ? 0
                       : elements * static_cast<std::uint64_t>(n);
    if (elements != t.data_bytes / width)
        return std::nullopt;
    std::vector<std::int64_t> values;
    for (std::uint64_t at = t.data; at < t.data + t.data_bytes; at += width)
        values.push_back(width == 8   ? static_cast<std::int64_t>(buffer.number<std::uint64_t>(at))
                         : width == 4 ? static_cast<std::int32_t>(buffer.number<std::uint32_t>(at))
                                      : buffer.number<std::uint8_t>(at));
    return values;
}

} // namespace archsim::import
