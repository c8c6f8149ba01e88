#include "archsim/extend/operator.hpp"

#include "ops/families.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace archsim {

namespace {

struct Arity {
    std::uint8_t inputs = 0, outputs = 1;
};

struct Needing {
    std::uint8_t inputs;
    std::string_view names; // each between blanks
};

// Operators by the leading inputs that are neither optional nor variadic in any version of their schema (ONNX
// up to opset 27, ONNX Runtime's contributed operators); all others need one, the first of a variadic list
// too. RotaryEmbedding's tables of angles count for nothing: configurations have none.
constexpr Needing kNeeding[] = {
    {0, " Constant Gradient Optional OptionalHasElement READ_VARIABLE RandomNormal RandomUniform"
        " SequenceEmpty "},
    {2, " Adagrad Adam Add AffineGrid And ArrayFeatureExtractor BiasAdd BiasGelu BiasSoftmax"
        " BiasSplitGelu BitShift BitwiseAnd BitwiseOr BitwiseXor CDist CastLike CenterCropPad"
        " ComplexMul ComplexMulConj Compress Conv ConvInteger ConvTranspose CumProd CumSum"
        " DequantizeLinear Div Equal Expand ExpandDims FusedConv FusedGemm FusedMatMul Gather"
        " GatherElements GatherND Gemm Greater GreaterOrEqual GridSample LayerNormalization Less"
        " LessOrEqual MatMul MatMulFloat MatMulInteger MaxRoiPool MaxUnpool Mod Momentum Mul"
        " NegativeLogLikelihoodLoss NhwcConv NonMaxSuppression Or PRelu Pow QuantizeLinear"
        " RMSNormalization ReverseSequence STFT SequenceAt SequenceInsert"
        " SimplifiedLayerNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization"
        " SoftmaxCrossEntropyLoss StringConcat Sub TensorScatter Tile TransposeMatMul Xor "},
    {3, " Col2Im DeformConv GRU GroupNorm GroupNormalization InstanceNormalization LSTM MatMulBnb4"
        " MatMulNBits OneHot RNN Range RoiAlign Scatter ScatterElements ScatterND Where "},
    {5, " BatchNormalization MelWeightMatrix "},
    {8, " QLinearConv QLinearMatMul "}};

// Operators whose every output may be left out.
constexpr std::array<std::string_view, 9> kOutputsOptional = {"Adagrad",  "Adam", "GRU",   "Gradient", "LSTM",
                                                              "Momentum", "RNN",  "Split", "Stored"};

Arity arity_of(std::string_view domain, std::string_view name) {
    Arity arity{.inputs = 1, .outputs = 1};
    if (std::ranges::find(kOutputsOptional, name) != kOutputsOptional.end())
        arity.outputs = 0;
    const std::string sought = ' ' + std::string(name) + ' ';
    for (const Needing& row : kNeeding)
        if (row.names.find(sought) != std::string_view::npos)
            arity.inputs = row.inputs;
    if (name == "Attention" && domain == kOnnxDomain) // queries, keys, values; ONNX Runtime's own merges them
        arity.inputs = 3;
    return arity;
}

} // namespace

static auto key_of(const OperatorRow& row) {
    return std::pair(row.name, row.domain);
}

OperatorRegistry::OperatorRegistry(std::vector<OperatorRow> rows) : rows_(std::move(rows)) {
    std::ranges::sort(rows_, {}, key_of);
}

void OperatorRegistry::add(const OperatorRow& row) {
    const auto it = std::ranges::lower_bound(rows_, key_of(row), {}, key_of);
    if (it != rows_.end() && key_of(*it) == key_of(row))
        *it = row;
    else
        rows_.insert(it, row);
}

const OperatorRow* OperatorRegistry::find(std::string_view domain, std::string_view name) const {
    const std::pair key(name, domain == "ai.onnx" ? kOnnxDomain : domain);
    const auto it = std::ranges::lower_bound(rows_, key, {}, key_of);
    return it != rows_.end() && key_of(*it) == key ? &*it : nullptr;
}

const OperatorRegistry& OperatorRegistry::standard() {
    static const OperatorRegistry registry = [] {
        std::vector<OperatorRow> rows;
        const auto append = [&](auto... families) {
            (rows.insert(rows.end(), families.begin(), families.end()), ...);
        };
        append(other_domain_rows, elementwise_rows, convolution_rows, matmul_rows, normalization_rows,
               reduction_rows, shape_rows, movement_rows, indexing_rows, control_flow_rows, quantization_rows,
               attention_rows, contrib_attention_rows, moe_rows, vision_rows, sequence_rows, recurrent_rows,
               ml_rows, tflite_rows, latent_attention_rows);
        for (OperatorRow& row : rows) {
            const Arity needs = arity_of(row.domain, row.name);
            row.inputs = needs.inputs;
            row.outputs = needs.outputs;
        }
        return OperatorRegistry(std::move(rows));
    }();
    return registry;
}

} // namespace archsim
