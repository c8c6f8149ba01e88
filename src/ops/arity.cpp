#include "ops/arity.hpp"

#include "archsim/extend/operator.hpp"

#include <algorithm>
#include <array>

namespace archsim {

namespace {

struct NeededInputs {
    std::string_view name;
    std::uint8_t count;
};

// Operators by the leading inputs that are neither optional nor variadic in any version of their schema (ONNX
// up to opset 27, ONNX Runtime's contributed operators); all others need one, the first of a variadic list
// too. RotaryEmbedding's tables of angles count for nothing: configurations have none. Sorted by name.
constexpr std::array<NeededInputs, 102> kNeeded = {{
    {"Adagrad", 2},
    {"Adam", 2},
    {"Add", 2},
    {"AffineGrid", 2},
    {"And", 2},
    {"ArrayFeatureExtractor", 2},
    {"BatchNormalization", 5},
    {"BiasAdd", 2},
    {"BiasGelu", 2},
    {"BiasSoftmax", 2},
    {"BiasSplitGelu", 2},
    {"BitShift", 2},
    {"BitwiseAnd", 2},
    {"BitwiseOr", 2},
    {"BitwiseXor", 2},
    {"CDist", 2},
    {"CastLike", 2},
    {"CenterCropPad", 2},
    {"Col2Im", 3},
    {"ComplexMul", 2},
    {"ComplexMulConj", 2},
    {"Compress", 2},
    {"Constant", 0},
    {"Conv", 2},
    {"ConvInteger", 2},
    {"ConvTranspose", 2},
    {"CumProd", 2},
    {"CumSum", 2},
    {"DeformConv", 3},
    {"DequantizeLinear", 2},
    {"Div", 2},
    {"Equal", 2},
    {"Expand", 2},
    {"ExpandDims", 2},
    {"FusedConv", 2},
    {"FusedGemm", 2},
    {"FusedMatMul", 2},
    {"GRU", 3},
    {"Gather", 2},
    {"GatherElements", 2},
    {"GatherND", 2},
    {"Gemm", 2},
    {"Gradient", 0},
    {"Greater", 2},
    {"GreaterOrEqual", 2},
    {"GridSample", 2},
    {"GroupNorm", 3},
    {"GroupNormalization", 3},
    {"InstanceNormalization", 3},
    {"LSTM", 3},
    {"LayerNormalization", 2},
    {"Less", 2},
    {"LessOrEqual", 2},
    {"MatMul", 2},
    {"MatMulBnb4", 3},
    {"MatMulFloat", 2},
    {"MatMulInteger", 2},
    {"MatMulNBits", 3},
    {"MaxRoiPool", 2},
    {"MaxUnpool", 2},
    {"MelWeightMatrix", 5},
    {"Mod", 2},
    {"Momentum", 2},
    {"Mul", 2},
    {"NegativeLogLikelihoodLoss", 2},
    {"NhwcConv", 2},
    {"NonMaxSuppression", 2},
    {"OneHot", 3},
    {"Optional", 0},
    {"OptionalHasElement", 0},
    {"Or", 2},
    {"PRelu", 2},
    {"Pow", 2},
    {"QLinearConv", 8},
    {"QLinearMatMul", 8},
    {"QuantizeLinear", 2},
    {"READ_VARIABLE", 0},
    {"RMSNormalization", 2},
    {"RNN", 3},
    {"RandomNormal", 0},
    {"RandomUniform", 0},
    {"Range", 3},
    {"ReverseSequence", 2},
    {"RoiAlign", 3},
    {"STFT", 2},
    {"Scatter", 3},
    {"ScatterElements", 3},
    {"ScatterND", 3},
    {"SequenceAt", 2},
    {"SequenceEmpty", 0},
    {"SequenceInsert", 2},
    {"SimplifiedLayerNormalization", 2},
    {"SkipLayerNormalization", 2},
    {"SkipSimplifiedLayerNormalization", 2},
    {"SoftmaxCrossEntropyLoss", 2},
    {"StringConcat", 2},
    {"Sub", 2},
    {"TensorScatter", 2},
    {"Tile", 2},
    {"TransposeMatMul", 2},
    {"Where", 3},
    {"Xor", 2},
}};

// Operators whose every output may be left out.
constexpr std::array<std::string_view, 9> kOutputsOptional = {"Adagrad",  "Adam", "GRU",   "Gradient", "LSTM",
                                                              "Momentum", "RNN",  "Split", "Stored"};

} // namespace

Arity arity_of(std::string_view domain, std::string_view name) {
    Arity arity{.inputs = 1, .outputs = 1};
    if (std::find(kOutputsOptional.begin(), kOutputsOptional.end(), name) != kOutputsOptional.end())
        arity.outputs = 0;
    const auto* const needed =
        std::lower_bound(kNeeded.begin(), kNeeded.end(), name,
                         [](const NeededInputs& row, std::string_view sought) { return row.name < sought; });
    if (name == "Attention" && domain == kOnnxDomain) // queries, keys, values; ONNX Runtime's own merges them
        arity.inputs = 3;
    else if (needed != kNeeded.end() && needed->name == name)
        arity.inputs = needed->count;
    return arity;
}

} // namespace archsim
