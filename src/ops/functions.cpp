#include "ops/functions.hpp"

#include "archsim/extend/operator.hpp"

#include <array>

namespace archsim {

namespace {

struct Twin {
    std::string_view name, of; ///< without the domain; an operator may have several
};

// Names of com.microsoft, TensorRT's plugins and TensorFlow Lite do not meet but for `Attention`. An operator
// of one of these domains that ai.onnx has by the same name needs no row.
constexpr std::array kTwins = {
    // Normalisation. What has no LayerNormalization has none without the mean either.
    Twin{"EmbedLayerNormalization", "LayerNormalization"},
    Twin{"EmbedLayerNormalization", "Gather"},
    Twin{"QEmbedLayerNormalization", "LayerNormalization"},
    Twin{"QEmbedLayerNormalization", "Gather"},
    Twin{"SkipLayerNormalization", "LayerNormalization"},
    Twin{"SkipLayerNormalization", "Add"},
    Twin{"SkipSimplifiedLayerNormalization", "RMSNormalization"},
    Twin{"SkipSimplifiedLayerNormalization", "LayerNormalization"},
    Twin{"SimplifiedLayerNormalization", "RMSNormalization"},
    Twin{"SimplifiedLayerNormalization", "LayerNormalization"},
    Twin{"GatedRMSNorm", "RMSNormalization"},
    Twin{"GatedRMSNorm", "LayerNormalization"},
    Twin{"RMSNormalization", "LayerNormalization"},
    Twin{"GroupNorm", "GroupNormalization"},
    Twin{"SkipGroupNorm", "GroupNormalization"},
    // Activations
    Twin{"BiasGelu", "Gelu"},
    Twin{"FastGelu", "Gelu"},
    Twin{"GemmFastGelu", "Gelu"},
    Twin{"GemmFastGelu", "Gemm"},
    Twin{"BiasSplitGelu", "Gelu"},
    Twin{"QuickGelu", "Swish"},
    Twin{"Silu", "Swish"},
    Twin{"BiasSoftmax", "Softmax"},
    Twin{"QLinearSoftmax", "Softmax"},
    Twin{"QLinearSigmoid", "Sigmoid"},
    Twin{"QLinearLeakyRelu", "LeakyRelu"},
    // Attention
    Twin{"MultiHeadAttention", "Attention"},
    Twin{"GroupQueryAttention", "Attention"},
    Twin{"DecoderMaskedMultiHeadAttention", "Attention"},
    Twin{"DecoderMaskedSelfAttention", "Attention"},
    Twin{"PackedAttention", "Attention"},
    Twin{"PackedMultiHeadAttention", "Attention"},
    Twin{"PagedAttention", "Attention"},
    Twin{"QAttention", "Attention"},
    Twin{"LongformerAttention", "Attention"},
    Twin{"SparseAttention", "Attention"},
    Twin{"LatentAttention", "Attention"},
    Twin{"MRotaryEmbedding", "RotaryEmbedding"},
    // Products
    Twin{"FusedConv", "Conv"},
    Twin{"NhwcConv", "Conv"},
    Twin{"NhwcFusedConv", "Conv"},
    Twin{"FusedGemm", "Gemm"},
    Twin{"GemmFloat8", "Gemm"},
    Twin{"QGemm", "Gemm"},
    Twin{"FusedMatMul", "MatMul"},
    Twin{"FusedMatMulActivation", "MatMul"},
    Twin{"TransposeMatMul", "MatMul"},
    Twin{"MatMulNBits", "MatMul"},
    Twin{"MatMulBnb4", "MatMul"},
    Twin{"MatMulFloat", "MatMul"},
    Twin{"MatMulInteger16", "MatMul"},
    Twin{"MatMulIntegerToFloat", "MatMul"},
    Twin{"DynamicQuantizeMatMul", "MatMul"},
    Twin{"SparseToDenseMatMul", "MatMul"},
    Twin{"DynamicQuantizeLSTM", "LSTM"},
    // Elements, pools, movement
    Twin{"BiasAdd", "Add"},
    Twin{"BiasDropout", "Add"},
    Twin{"QLinearAdd", "Add"},
    Twin{"QLinearMul", "Mul"},
    Twin{"MulInteger", "Mul"},
    Twin{"QLinearConcat", "Concat"},
    Twin{"QLinearAveragePool", "AveragePool"},
    Twin{"QLinearGlobalAveragePool", "GlobalAveragePool"},
    Twin{"QLinearReduceMean", "ReduceMean"},
    Twin{"QLinearWhere", "Where"},
    Twin{"NhwcMaxPool", "MaxPool"},
    Twin{"ExpandDims", "Unsqueeze"},
    Twin{"GatherBlockQuantized", "Gather"},
    Twin{"TorchEmbedding", "Gather"},
    Twin{"CropAndResize", "RoiAlign"},
    Twin{"Rfft", "DFT"},
    Twin{"Irfft", "DFT"},
    Twin{"EfficientNMS_TRT", "NonMaxSuppression"},
    Twin{"EfficientNMS_ONNX_TRT", "NonMaxSuppression"},
    Twin{"BatchedNMS_TRT", "NonMaxSuppression"},
    Twin{"EfficientNMS_Explicit_TF_TRT", "NonMaxSuppression"},
    Twin{"EfficientNMS_Implicit_TF_TRT", "NonMaxSuppression"},
    Twin{"BatchedNMSDynamic_TRT", "NonMaxSuppression"},
    // TensorFlow Lite
    Twin{"UNIDIRECTIONAL_SEQUENCE_LSTM", "LSTM"},
    Twin{"BASIC_LSTM", "LSTM"},
    Twin{"UNIDIRECTIONAL_SEQUENCE_RNN", "RNN"},
    Twin{"TFLite_Detection_PostProcess", "NonMaxSuppression"},
    Twin{"DYNAMIC_UPDATE_SLICE", "ScatterND"},
};

} // namespace

std::string_view domain_of(std::string_view type) {
    const auto dot = type.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : type.substr(0, dot);
}

std::vector<std::string_view> functions_of(std::string_view type) {
    const std::string_view domain = domain_of(type),
                           name = domain.empty() ? type : type.substr(domain.size() + 1);
    std::vector<std::string_view> functions;
    if (domain != kMlDomain && domain != kTrainingDomain &&
        OperatorRegistry::standard().find(kOnnxDomain, name) != nullptr)
        functions.push_back(name);
    for (const Twin& twin : kTwins)
        if (twin.name == name)
            functions.push_back(twin.of);
    return functions;
}

} // namespace archsim
