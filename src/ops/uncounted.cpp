#include "ops/uncounted.hpp"

#include "archsim/extend/operator.hpp"

#include <fmt/format.h>
#include <set>
#include <unordered_map>

namespace archsim {

constexpr std::size_t kMostTypes = 4; ///< that a sentence names

/// Names of the operators that a finding of an error is about.
static std::set<std::string_view> faulty_names(const ShapedGraph& graph) {
    std::set<std::string_view> names;
    for (const Finding& finding : graph.findings)
        if (finding.severity == Severity::error && !finding.op_type.empty())
            names.insert(finding.where);
    return names;
}

static bool lacks_shape(const ShapedGraph& graph, const Operator& op) {
    const auto unknown = [&](TensorId id) { return id != kNoTensor && !graph.tensors[id].known; };
    return std::ranges::any_of(op.inputs, unknown) || std::ranges::any_of(op.outputs, unknown);
}

Uncounted uncounted_of(const ShapedGraph& graph) {
    Uncounted result;
    if (graph.complete())
        return result;
    const std::set<std::string_view> faulty = faulty_names(graph);
    std::vector<bool> counted(graph.tensors.size(), false), left_out(graph.tensors.size(), false);
    for (const Operator& op : graph.operators) {
        if (op.folded)
            continue;
        ++result.operators;
        const bool unknown = faulty.contains(op.name);
        const bool unshaped = !unknown && lacks_shape(graph, op);
        if (unknown)
            ++result.unknown[op.type];
        result.unshaped += unshaped;
        for (const TensorId id : op.inputs)
            if (id != kNoTensor)
                (unknown || unshaped ? left_out : counted)[id] = true;
    }
    for (std::size_t id = 0; id < graph.tensors.size(); ++id) {
        const ShapedTensor& tensor = graph.tensors[id];
        if (!tensor.learned || !tensor.known)
            continue;
        const double parameters = tensor.elements() * tensor.packing;
        result.all_parameters += parameters;
        if (left_out[id] && !counted[id])
            result.parameters += parameters;
    }
    return result;
}

std::string uncounted_text(const ShapedGraph& graph) {
    if (graph.complete())
        return "";
    const Uncounted left = uncounted_of(graph);
    std::size_t unknown = 0, named = 0;
    std::string types;
    for (const auto& [type, count] : left.unknown) {
        unknown += count;
        if (++named <= kMostTypes)
            types += fmt::format("{}{}{}", types.empty() ? "" : ", ", type,
                                 count > 1 ? fmt::format(" x{}", count) : std::string());
    }
    if (named > kMostTypes)
        types += fmt::format(" and {} more types", named - kMostTypes);
    std::string text;
    if (unknown > 0)
        text = fmt::format("{} of {} operators {} not understood ({})", unknown, left.operators,
                           unknown == 1 ? "is" : "are", types);
    if (left.unshaped > 0)
        text += unknown > 0
                    ? fmt::format(" and {} {} no shapes", left.unshaped, left.unshaped == 1 ? "has" : "have")
                    : fmt::format("{} of {} operators have no shapes", left.unshaped, left.operators);
    if (text.empty())
        text = "a part of the model is not understood";
    if (left.parameters > 0)
        text += fmt::format("; these hold {:.3g} % of the parameters",
                            100 * left.parameters / left.all_parameters);
    constexpr double kGiga = 1e9, kMega = 1e6;
    const double macs = graph.macs();
    const std::string counted = macs >= kGiga   ? fmt::format("{:.3g} G ", macs / kGiga)
                                : macs >= kMega ? fmt::format("{:.3g} M ", macs / kMega)
                                                : fmt::format("{:.0f} ", macs);
    return text + "; counted are " + counted + "multiply-accumulates: every total is a lower bound";
}

double read_elements(const Operator& op, std::size_t input, const ShapedTensor& tensor) {
    for (const auto& [index, elements] : op.work.partial_reads)
        if (index == input)
            return elements;
    return tensor.elements();
}

double written_elements(const Operator& op, std::size_t output, const ShapedTensor& tensor) {
    for (const auto& [index, elements] : op.work.partial_writes)
        if (index == output)
            return elements;
    return op.work.partial_write.value_or(tensor.elements());
}

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
    {"Attention", " MultiHeadAttention GroupQueryAttention DecoderMaskedMultiHeadAttention "
                  "DecoderMaskedSelfAttention PackedAttention PackedMultiHeadAttention PagedAttention "
                  "QAttention LongformerAttention SparseAttention LatentAttention "},
    {"RotaryEmbedding", " MRotaryEmbedding "},
    {"Conv", " FusedConv NhwcConv NhwcFusedConv "},
    {"MatMul", " FusedMatMul FusedMatMulActivation TransposeMatMul MatMulNBits MatMulBnb4 MatMulFloat "
               "MatMulInteger16 MatMulIntegerToFloat DynamicQuantizeMatMul SparseToDenseMatMul "},
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

/// The further work of an operator by its name: asked for each operator of a network on each device.
static const std::vector<std::string_view>* twins_of(std::string_view name) {
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

NetworkKind ShapedGraph::kind() const {
    double all = 0, convolutions = 0, recurrences = 0, of_experts = 0;
    bool attends = false, enlarges = false;
    for (const Operator& op : operators) {
        if (op.folded)
            continue;
        const double macs = op.work.macs * op.repeat;
        all += macs;
        if (op.work.kind == OpKind::convolution)
            convolutions += macs;
        else if (op.work.kind == OpKind::recurrent)
            recurrences += macs;
        else if (op.work.kind == OpKind::matmul && op.work.serial_steps > 1)
            of_experts += macs;
        attends = attends || op.work.kind == OpKind::attention || op.work.kind == OpKind::softmax;
        enlarges = enlarges || op.type == "Resize" || op.type == "Upsample" ||
                   (op.work.window && op.work.window->transposed);
    }
    constexpr double kDecides = 0.25; // kernels that wait for each other take more time than their arithmetic
    if (all > 0 && of_experts >= kDecides * all)
        return NetworkKind::experts;
    if (all > 0 && recurrences >= kDecides * all)
        return NetworkKind::recurrent;
    if (all > 0 && 2 * convolutions >= all)
        return enlarges ? NetworkKind::dense_prediction : NetworkKind::convolution;
    return attends ? NetworkKind::attention : NetworkKind::products;
}

} // namespace archsim
