#include "ops/uncounted.hpp"

#include "archsim/extend/operator.hpp"

#include <unordered_map>
#include <vector>

namespace archsim {

namespace {

struct Twins {
    std::string_view of, names; ///< without the domain, each between blanks; an operator may have several
};

// Names of com.microsoft, TensorRT's plugins and TensorFlow Lite do not meet but for `Attention`. An operator
// of one of these domains that ai.onnx has by the same name needs no row. What has no LayerNormalization has
// none without the mean either.
constexpr Twins kTwins[] = {
    {"RMSNormalization", " SkipSimplifiedLayerNormalization SimplifiedLayerNormalization"
                         " GatedRMSNorm "},
    {"LayerNormalization", " EmbedLayerNormalization QEmbedLayerNormalization"
                           " SkipLayerNormalization SkipSimplifiedLayerNormalization"
                           " SimplifiedLayerNormalization GatedRMSNorm RMSNormalization "},
    {"Gather", " EmbedLayerNormalization QEmbedLayerNormalization GatherBlockQuantized"
               " TorchEmbedding "},
    {"Add", " SkipLayerNormalization BiasAdd BiasDropout QLinearAdd "},
    {"GroupNormalization", " GroupNorm SkipGroupNorm "},
    {"Gelu", " BiasGelu FastGelu GemmFastGelu BiasSplitGelu "},
    {"Gemm", " GemmFastGelu FusedGemm GemmFloat8 QGemm "},
    {"Swish", " QuickGelu Silu "},
    {"Softmax", " BiasSoftmax QLinearSoftmax "},
    {"Sigmoid", " QLinearSigmoid "},
    {"LeakyRelu", " QLinearLeakyRelu "},
    {"Attention", " MultiHeadAttention GroupQueryAttention DecoderMaskedMultiHeadAttention"
                  " DecoderMaskedSelfAttention PackedAttention PackedMultiHeadAttention"
                  " PagedAttention QAttention LongformerAttention SparseAttention"
                  " LatentAttention "},
    {"RotaryEmbedding", " MRotaryEmbedding "},
    {"Conv", " FusedConv NhwcConv NhwcFusedConv "},
    {"MatMul", " FusedMatMul FusedMatMulActivation TransposeMatMul MatMulNBits"
               " MatMulBnb4 MatMulFloat MatMulInteger16 MatMulIntegerToFloat"
               " DynamicQuantizeMatMul SparseToDenseMatMul "},
    {"LSTM", " DynamicQuantizeLSTM UNIDIRECTIONAL_SEQUENCE_LSTM BASIC_LSTM "},
    {"Mul", " QLinearMul MulInteger "},
    {"Concat", " QLinearConcat "},
    {"AveragePool", " QLinearAveragePool "},
    {"GlobalAveragePool", " QLinearGlobalAveragePool "},
    {"ReduceMean", " QLinearReduceMean "},
    {"Where", " QLinearWhere "},
    {"MaxPool", " NhwcMaxPool "},
    {"Unsqueeze", " ExpandDims "},
    {"RoiAlign", " CropAndResize "},
    {"DFT", " Rfft Irfft "},
    {"NonMaxSuppression", " EfficientNMS_TRT EfficientNMS_ONNX_TRT BatchedNMS_TRT"
                          " EfficientNMS_Explicit_TF_TRT EfficientNMS_Implicit_TF_TRT"
                          " BatchedNMSDynamic_TRT TFLite_Detection_PostProcess "},
    {"RNN", " UNIDIRECTIONAL_SEQUENCE_RNN "},
    {"ScatterND", " DYNAMIC_UPDATE_SLICE "}};

/// What an operator does besides, by its name: asked for each operator of a network on each device.
const std::vector<std::string_view>* twins_of(std::string_view name) {
    static const auto kByName = [] {
        std::unordered_map<std::string_view, std::vector<std::string_view>> by_name;
        for (const Twins& twins : kTwins)
            for (std::size_t at = 1, end = 0; at < twins.names.size(); at = end + 1) {
                end = twins.names.find(' ', at);
                by_name[twins.names.substr(at, end - at)].push_back(twins.of);
            }
        return by_name;
    }();
    const auto found = kByName.find(name);
    return found == kByName.end() ? nullptr : &found->second;
}

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
    if (const auto* twins = twins_of(name))
        functions.insert(functions.end(), twins->begin(), twins->end());
    return functions;
}

} // namespace archsim
