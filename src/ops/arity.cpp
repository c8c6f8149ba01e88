#include "ops/arity.hpp"

#include "archsim/extend/operator.hpp"

#include <algorithm>
#include <array>

namespace archsim {

namespace {

// Operators by the leading inputs that are neither optional nor variadic in any version of their schema (ONNX
// up to opset 26, ONNX Runtime's contributed operators); all others need one, the first of a variadic list
// too. Names are sorted.
constexpr std::array<std::string_view, 7> kNeedsNone = {"Constant",           "Gradient",     "Optional",
                                                        "OptionalHasElement", "RandomNormal", "RandomUniform",
                                                        "SequenceEmpty"};
constexpr std::array<std::string_view, 72> kNeedsTwo = {"Adagrad",
                                                        "Adam",
                                                        "Add",
                                                        "AffineGrid",
                                                        "And",
                                                        "ArrayFeatureExtractor",
                                                        "BiasAdd",
                                                        "BiasGelu",
                                                        "BiasSoftmax",
                                                        "BiasSplitGelu",
                                                        "BitShift",
                                                        "BitwiseAnd",
                                                        "BitwiseOr",
                                                        "BitwiseXor",
                                                        "CDist",
                                                        "CastLike",
                                                        "CenterCropPad",
                                                        "ComplexMul",
                                                        "ComplexMulConj",
                                                        "Compress",
                                                        "Conv",
                                                        "ConvInteger",
                                                        "ConvTranspose",
                                                        "CumProd",
                                                        "CumSum",
                                                        "DequantizeLinear",
                                                        "Div",
                                                        "Equal",
                                                        "Expand",
                                                        "ExpandDims",
                                                        "FusedConv",
                                                        "FusedGemm",
                                                        "FusedMatMul",
                                                        "Gather",
                                                        "GatherElements",
                                                        "GatherND",
                                                        "Gemm",
                                                        "Greater",
                                                        "GreaterOrEqual",
                                                        "GridSample",
                                                        "LayerNormalization",
                                                        "Less",
                                                        "LessOrEqual",
                                                        "MatMul",
                                                        "MatMulInteger",
                                                        "MaxRoiPool",
                                                        "MaxUnpool",
                                                        "Mod",
                                                        "Momentum",
                                                        "Mul",
                                                        "NegativeLogLikelihoodLoss",
                                                        "NhwcConv",
                                                        "NonMaxSuppression",
                                                        "Or",
                                                        "PRelu",
                                                        "Pow",
                                                        "QuantizeLinear",
                                                        "RMSNormalization",
                                                        "ReverseSequence",
                                                        "STFT",
                                                        "SequenceAt",
                                                        "SequenceInsert",
                                                        "SimplifiedLayerNormalization",
                                                        "SkipLayerNormalization",
                                                        "SkipSimplifiedLayerNormalization",
                                                        "SoftmaxCrossEntropyLoss",
                                                        "StringConcat",
                                                        "Sub",
                                                        "TensorScatter",
                                                        "Tile",
                                                        "TransposeMatMul",
                                                        "Xor"};
constexpr std::array<std::string_view, 17> kNeedsThree = {"Col2Im",
                                                          "DeformConv",
                                                          "GRU",
                                                          "GroupNorm",
                                                          "GroupNormalization",
                                                          "InstanceNormalization",
                                                          "LSTM",
                                                          "MatMulBnb4",
                                                          "MatMulNBits",
                                                          "OneHot",
                                                          "RNN",
                                                          "Range",
                                                          "RoiAlign",
                                                          "Scatter",
                                                          "ScatterElements",
                                                          "ScatterND",
                                                          "Where"};
constexpr std::array<std::string_view, 2> kNeedsFive = {"BatchNormalization", "MelWeightMatrix"};
constexpr std::array<std::string_view, 2> kNeedsEight = {"QLinearConv", "QLinearMatMul"};

// Operators whose every output may be left out.
constexpr std::array<std::string_view, 9> kOutputsOptional = {"Adagrad",  "Adam", "GRU",   "Gradient", "LSTM",
                                                              "Momentum", "RNN",  "Split", "Stored"};

template <std::size_t N>
bool lists(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::binary_search(names.begin(), names.end(), name);
}

} // namespace

Arity arity_of(std::string_view domain, std::string_view name) {
    Arity arity{.inputs = 1, .outputs = lists(kOutputsOptional, name) ? std::uint8_t{0} : std::uint8_t{1}};
    if (name == "Attention" && domain == kOnnxDomain) // queries, keys, values; ONNX Runtime's own merges them
        arity.inputs = 3;
    else if (lists(kNeedsNone, name))
        arity.inputs = 0;
    else if (name == "RotaryEmbedding") // the tables of angles count for nothing: configurations have none
        arity.inputs = 1;
    else if (lists(kNeedsTwo, name))
        arity.inputs = 2;
    else if (lists(kNeedsThree, name))
        arity.inputs = 3;
    else if (lists(kNeedsFive, name))
        arity.inputs = 5;
    else if (lists(kNeedsEight, name))
        arity.inputs = 8;
    return arity;
}

} // namespace archsim
