
#include "ops/engine.hpp"
#include "ops/families.hpp"

namespace archsim {

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

// Operators of ai.onnx that ONNX Runtime has in its own domain, too.
constexpr std::string_view kOfBoth =
    " CausalConvWithState DequantizeLinear GatherND GridSample LayerNormalization"
    " LinearAttention Pad QuantizeLinear Range RotaryEmbedding Trilu Unique ";

static std::string between_blanks(std::string_view name) {
    return ' ' + std::string(name) + ' ';
}

static Arity arity_of(std::string_view domain, std::string_view name) {
    Arity arity{.inputs = 1, .outputs = 1};
    if (std::ranges::find(kOutputsOptional, name) != kOutputsOptional.end())
        arity.outputs = 0;
    for (const Needing& row : kNeeding)
        if (row.names.find(between_blanks(name)) != std::string_view::npos)
            arity.inputs = row.inputs;
    if (name == "Attention" && domain == kOnnxDomain) // queries, keys, values; ONNX Runtime's own merges them
        arity.inputs = 3;
    return arity;
}

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
        for (std::size_t i = rows.size(); i-- > 0;)
            if (rows[i].domain == kOnnxDomain &&
                kOfBoth.find(between_blanks(rows[i].name)) != std::string_view::npos)
                rows.push_back(of_microsoft(rows[i]));
        for (OperatorRow& row : rows) {
            const Arity needs = arity_of(row.domain, row.name);
            row.inputs = needs.inputs;
            row.outputs = needs.outputs;
        }
        return OperatorRegistry(std::move(rows));
    }();
    return registry;
}

void NodeContext::wrong_attribute(std::string_view key) {
    throw NodeProblem{FindingKind::malformed_node, "attribute '" + std::string(key) + "' has the wrong type",
                      "export the model again"};
}

NodeContext::NodeContext(BindState& state, const Node& node, const OperatorRow& row, Operator& op)
    : state_(state), node_(node), row_(row), op_(op) {}

const ShapedTensor& NodeContext::input(std::size_t i) const {
    if (!has_input(i))
        throw NodeProblem{FindingKind::malformed_node, "input " + std::to_string(i) + " is missing",
                          "export the model again"};
    return state_.graph.tensors[op_.inputs[i]];
}

std::int64_t NodeContext::dim(std::size_t i, std::int64_t axis) const {
    const Shape& s = shape(i);
    const auto r = static_cast<std::int64_t>(s.size());
    if (axis < 0)
        axis += r;
    if (axis < 0 || axis >= r)
        throw NodeProblem{FindingKind::malformed_node,
                          "input " + std::to_string(i) + " has rank " + std::to_string(r) +
                              ", too low for this operator",
                          "check the shapes of the inputs"};
    return s[static_cast<std::size_t>(axis)];
}

void NodeContext::mark_learned(std::size_t i, bool learned) {
    // Folded weights (transposed, dequantised) stand for an initializer that counts already.
    if (has_input(i) && state_.graph.tensors[op_.inputs[i]].role == TensorRole::initializer)
        state_.graph.tensors[op_.inputs[i]].learned = learned && !state_.graph.tensors[op_.inputs[i]].buffer;
}

void NodeContext::mark_packed(std::size_t i, double values_per_element) {
    if (has_input(i))
        state_.graph.tensors[op_.inputs[i]].packing = values_per_element;
}

void NodeContext::mark_kv_cache_input(std::size_t i) {
    if (has_input(i))
        state_.graph.tensors[op_.inputs[i]].kv_cache = true;
}

void NodeContext::mark_kv_cache_output(std::size_t i) {
    if (has_output(i))
        state_.graph.tensors[op_.outputs[i]].kv_cache = true;
}

const Constant* NodeContext::value(std::size_t i) const {
    return has_input(i) ? state_.values[op_.inputs[i]] : nullptr;
}

const std::vector<std::int64_t>& NodeContext::ints(std::size_t i) const {
    const Constant* constant = value(i);
    if (!constant) {
        const std::string& name = input(i).name;
        throw NodeProblem{FindingKind::unresolved_dimension,
                          "the output shape depends on the value of '" + name +
                              "', which is only known at run time",
                          "give the value with --input " + name + "=..."};
    }
    return constant->ints;
}

std::int64_t NodeContext::scalar_int(std::size_t i) const {
    const auto& values = ints(i);
    if (values.empty())
        throw NodeProblem{FindingKind::malformed_node, "input " + std::to_string(i) + " must hold an integer",
                          "export the model again"};
    return values[0];
}

std::optional<double> NodeContext::scalar(std::size_t i) const {
    const Constant* constant = value(i);
    if (!constant)
        return std::nullopt;
    if (constant->reals.size() == 1)
        return constant->reals[0];
    if (constant->ints.size() == 1)
        return static_cast<double>(constant->ints[0]);
    return std::nullopt;
}

ShapedTensor& NodeContext::output(std::size_t i) {
    if (has_output(i))
        return state_.graph.tensors[op_.outputs[i]];
    return i == 0 ? first_ : scratch_;
}

void NodeContext::set_output(std::size_t i, DataType type, Shape shape) {
    require_shape(shape);
    ShapedTensor& out = output(i);
    out.type = type;
    out.shape = std::move(shape);
    out.known = true;
}

void NodeContext::set_value(std::size_t i, Constant value) {
    // A value that does not fill its shape (a malformed constant behind it) is as good as unknown.
    if (has_output(i) && static_cast<double>(value_count(value)) == product(value.shape))
        state_.values[op_.outputs[i]] = &state_.arena.emplace_back(std::move(value));
}

void NodeContext::share_value(std::size_t i, const Constant* value) {
    if (has_output(i))
        state_.values[op_.outputs[i]] = value;
}

std::int64_t NodeContext::data_dependent_dim(std::size_t output_index, std::size_t axis,
                                             std::int64_t upper_bound, std::string_view bound_text) {
    if (!has_output(output_index))
        return upper_bound;
    output(output_index).data_dependent = true;
    std::string symbol = state_.scope->prefix + node_.name;
    const TensorId local = node_.outputs[output_index];
    if (state_.scope->graph && local < state_.scope->graph->tensors.size()) {
        const auto& declared = state_.scope->graph->tensors[local].shape;
        if (declared && axis < declared->size()) {
            const Dimension& d = (*declared)[axis];
            if (!d.symbol.empty())
                symbol = d.symbol;
        }
    }
    for (const std::string& name : {symbol, state_.scope->prefix + node_.name}) {
        const auto given = state_.given_dim(name);
        if (!given)
            continue;
        note(FindingKind::data_dependent_shape, Severity::note,
             "dimension '" + name + "' depends on the data; the given size " + std::to_string(*given) +
                 " is used",
             "change it with --dim " + name + "=N");
        return *given;
    }
    output(output_index).at_upper_bound = true;
    note(FindingKind::data_dependent_shape, Severity::note,
         "the output size depends on the data; its upper bound " + std::to_string(upper_bound) + " (" +
             std::string(bound_text) + ") is used",
         "give the expected size with --dim " + symbol + "=N");
    return upper_bound;
}

std::optional<std::pair<std::int64_t, std::int64_t>> NodeContext::rebatch() const {
    return state_.rebatch;
}

void NodeContext::note(FindingKind kind, Severity severity, std::string message, std::string hint) const {
    state_.report(node_, kind, severity, std::move(message), std::move(hint));
}

const SequenceElements* NodeContext::sequence(std::size_t i) const {
    if (!has_input(i))
        return nullptr;
    const auto it = state_.sequences.find(op_.inputs[i]);
    return it == state_.sequences.end() ? nullptr : it->second.get();
}

void NodeContext::set_sequence(std::size_t i, SequenceElements elements) {
    if (!has_output(i))
        return;
    ShapedTensor& out = state_.graph.tensors[op_.outputs[i]];
    out.kind = ValueKind::sequence;
    out.known = true;
    if (!elements.empty()) {
        out.type = elements.front().type;
        out.shape = elements.front().shape;
    }
    state_.sequences[op_.outputs[i]] = std::make_shared<const SequenceElements>(std::move(elements));
}

} // namespace archsim
