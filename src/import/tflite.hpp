#pragma once
// The statements of a TensorFlow Lite file, table by table (tensorflow/compiler/mlir/lite/schema/schema.fbs
// at tensorflow@b6971fc8f4c9): its subgraphs, operators in the order they run. Weights are not read.

#include "archsim/graph/graph.hpp"
#include "import/flat_buffer.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace archsim::import {

struct TfliteTensor {
    std::string name;
    DataType type = DataType::undefined;
    Shape shape;            ///< as converted
    Shape signature;        ///< the same with -1 for what may be resized; empty: as `shape`
    bool variable = false;  ///< state that stays between inferences
    std::uint64_t data = 0; ///< where its bytes stand; 0: computed, or in bytes beside the buffer
    std::uint64_t data_bytes = 0;
    std::size_t scales = 0; ///< of its quantisation; 0: none
    bool written = false;   ///< by an operator, or from outside
    /// Without elements it needs no bytes.
    bool constant() const { return (data_bytes > 0 || (empty() && !written)) && !variable; }
    bool empty() const;
    /// Where linear quantisation stands behind its integers.
    bool quantized() const;
};

struct TfliteOperator {
    std::int32_t code = 0;                     ///< BuiltinOperator
    std::string custom;                        ///< name of a custom operator
    std::vector<std::int64_t> inputs, outputs; ///< tensors; -1: left out
    std::optional<FlatTable> options;
    std::optional<FlatTable> options_2; ///< the second union of options, for the newest operators
    FlatVector custom_options;          ///< bytes that belong to the custom operator
};

/// One graph of a file: what an inference runs, or the body of a loop, a branch, a composite.
struct TfliteSubgraph {
    std::string name;
    std::vector<TfliteTensor> tensors;
    std::vector<TfliteOperator> operators;
    std::vector<std::int64_t> inputs, outputs;
};

/// A name under which a graph is called.
struct TfliteSignature {
    std::string name;
    std::size_t graph = 0;
};

struct TfliteModel {
    std::vector<TfliteSubgraph> graphs; ///< one at least
    std::vector<TfliteSignature> signatures;
};

/// Throws FlatError where the bytes are no such model. The options of operators refer to `buffer`.
TfliteModel read_tflite(const FlatBuffer& buffer);

// Small integers of a TensorFlow Lite graph, followed through the operators that sizes and counters are made
// of.

/// The integers of a constant that may count something; nothing of larger ones.
std::vector<std::int64_t> counting_integers(const TfliteTensor& t, const FlatBuffer& buffer);

class TfliteIntegers {
  public:
    using Ints = std::vector<std::int64_t>;
    TfliteIntegers(const TfliteSubgraph& graph, const FlatBuffer& buffer) : graph_(graph), buffer_(buffer) {}

    /// The integers of the outputs for these of the inputs; what is not known is empty.
    std::vector<Ints> run(const std::vector<Ints>& inputs);
    /// Follows one operator.
    void step(const TfliteOperator& op);
    /// The integers of a tensor; empty where they are not known.
    Ints of(std::int64_t index);

  private:
    const TfliteTensor& tensor(std::int64_t index) const {
        return graph_.tensors[static_cast<std::size_t>(index)];
    }
    bool is_integer(std::int64_t index) const;
    /// With kUnknown for integers that only a run knows.
    Ints partly(std::int64_t index);
    bool arrange(const TfliteOperator& op);

    const TfliteSubgraph& graph_;
    const FlatBuffer& buffer_;
    std::map<std::int64_t, Ints> known_, constants_;
};

// Builds the graph of a TensorFlow Lite file out of ONNX operators. TensorFlow Lite lays images out with the
// channels last, ONNX with the channels first. Nothing is moved for that: a tensor that convolutions use is
// declared with the channels first, and where an operator looks at its axes in the file's order, a Reshape,
// which costs nothing, declares them so. Quantised tensors stand behind DequantizeLinear and QuantizeLinear,
// as in ONNX files of quantised networks.

/// Order of a tensor's axes.
enum class AxisOrder : std::uint8_t { file, channels_first };

using TfliteAttributes = std::vector<std::pair<std::string, AttributeValue>>;

/// The graphs that operators of a file run: bodies of loops, branches, composites. Each is made once.
class TfliteBodies {
  public:
    TfliteBodies(const TfliteModel& model, const FlatBuffer& buffer) : model_(model), buffer_(buffer) {}

    const TfliteModel& model() const { return model_; }
    const FlatBuffer& buffer() const { return buffer_; }
    /// Graph `index` as a body, its inputs and outputs in the file's order. Throws FlatError where there is
    /// none, or where it runs itself.
    std::shared_ptr<const Graph> body(std::int64_t index);
    /// A copy of it that sees these names of tensors outside as its inputs.
    std::shared_ptr<const Graph> branch(std::int64_t index, const std::vector<std::string>& inputs);
    const TfliteSubgraph& subgraph(std::int64_t index) const;
    /// Whether so many operators may still be walked to see how often loops run, all loops together.
    bool walk(std::size_t operators);

  private:
    const TfliteModel& model_;
    const FlatBuffer& buffer_;
    std::map<std::int64_t, std::shared_ptr<const Graph>> made_; ///< null while it is being made
    std::size_t copied_ = 0;                                    ///< nodes of branches
    std::size_t depth_ = 0, walked_ = 0;
};

class TfliteGraph {
  public:
    TfliteGraph(TfliteBodies& bodies, const TfliteSubgraph& model);

    const TfliteSubgraph& model() const { return model_; }
    const FlatBuffer& buffer() const { return buffer_; }
    TfliteBodies& bodies() const { return bodies_; }
    const TfliteTensor& tensor(std::int64_t index) const {
        return model_.tensors[static_cast<std::size_t>(index)];
    }
    /// A tensor of the file as an operator reads it: dequantised, in that order. Throws FlatError where
    /// nothing has written it yet.
    TensorId get(std::int64_t index, AxisOrder order);
    /// The same, or kNoTensor where the operator leaves it out.
    TensorId get_optional(std::int64_t index, AxisOrder order) {
        return index < 0 ? kNoTensor : get(index, order);
    }
    /// Whether it is there with the channels first, and not in the file's order.
    bool is_channels_first(std::int64_t index) const;
    /// Says that `id` is tensor `index`. `computed`: its quantised form is written; else elements moved only.
    void set(std::int64_t index, TensorId id, AxisOrder order, bool computed = true);
    /// Says that `id` holds tensor `index` as it lies in memory, quantised where it is, in the file's order.
    void set_raw(std::int64_t index, TensorId id);
    /// The tensor as it lies in memory, in the file's order.
    TensorId raw(std::int64_t index);
    /// Says that a tensor is another one under a name of its own.
    void alias(std::int64_t index, std::int64_t of);
    /// Integers of a constant; nothing where they are not known.
    std::optional<std::vector<std::int64_t>> integers(std::int64_t index) const;

    /// Integers of a constant, or those that operators made of constants and sizes so far.
    std::optional<std::vector<std::int64_t>> computed(std::int64_t index) {
        if (auto known = integers(index))
            return known;
        auto followed = integers_.of(index);
        return followed.empty() ? std::nullopt : std::optional(std::move(followed));
    }
    /// Follows the integers of an operator that was added.
    void follow(const TfliteOperator& op) { integers_.step(op); }
    /// A result that stays: the new value of a state is one though nothing in the graph reads it.
    void keep(TensorId id) { kept_.push_back(id); }

    /// A node with one output, named after the tensor that it helps to make.
    TensorId emit(std::string_view op, std::vector<TensorId> inputs, TfliteAttributes attributes = {});
    std::vector<TensorId> emit_several(std::string_view op, std::vector<TensorId> inputs, std::size_t outputs,
                                       TfliteAttributes attributes = {}, std::string_view domain = "");
    /// The same for an operator that ONNX does not have.
    std::vector<TensorId> emit_own(std::string_view op, std::vector<TensorId> inputs, std::size_t outputs,
                                   TfliteAttributes attributes = {});
    TensorId emit_own(std::string_view op, std::vector<TensorId> inputs, TfliteAttributes attributes);
    /// Constants that the translation needs.
    TensorId constant(Constant value);
    TensorId ints(std::vector<std::int64_t> values);
    TensorId scalar(double value);
    /// Weights that the file holds in another arrangement, declared with `shape`.
    TensorId weights(std::int64_t index, Shape shape);
    /// Declares a result as the file states it: for operators whose shapes nothing else tells.
    void declare(TensorId id, std::int64_t index);
    const std::string& name_of(TensorId id) const { return graph_.tensors[id].name; }
    const std::string& last_node() const { return graph_.nodes.back().name; }
    void report(Finding finding) { graph_.findings.push_back(std::move(finding)); }

    /// Names of nodes that follow begin with this.
    void begin(std::string name) { prefix_ = std::move(name); }
    /// Declares all inputs, in their order, as they lie in memory; of a body.
    void begin_body();
    Graph take();
    Graph take_body();

  private:
    struct Forms {
        std::array<TensorId, 2> plain{kNoTensor, kNoTensor};  ///< as operators read it, by order
        std::array<TensorId, 2> stored{kNoTensor, kNoTensor}; ///< quantised, as it lies in memory
    };
    TensorId make(std::string name, TensorRole role, DataType type);
    TensorId declared(std::int64_t index, AxisOrder order);
    TensorId dequantized(std::int64_t index, TensorId stored);
    TensorId reordered(std::int64_t index, TensorId from, AxisOrder to);
    /// QuantizeLinear or DequantizeLinear by the scales and zero points of a tensor.
    TensorId scaled(std::string_view op, TensorId x, const TfliteTensor& t);

    TfliteBodies& bodies_;
    const TfliteSubgraph& model_;
    const FlatBuffer& buffer_;
    Graph graph_;
    std::vector<Forms> forms_;
    std::vector<std::int64_t> source_; ///< constant that a tensor only unpacks, or -1
    /// Weights by where they stand in the file, then by shape: what several operators read is one tensor.
    std::map<std::pair<std::uint64_t, Shape>, TensorId> weights_;
    std::map<std::pair<std::int64_t, TensorId>, TensorId> dequantized_weights_;
    std::vector<bool> is_input_;
    TfliteIntegers integers_;
    std::vector<TensorId> kept_;
    std::string prefix_;
    std::size_t made_ = 0;
};

/// Adds every operator of the file.
void translate_tflite(TfliteGraph& graph);

// One operator of a TensorFlow Lite file on its way into the graph, and the families of such operators.

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

/// The name of an operator: the name in the schema, or that of a custom one.
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
    /// The integers of an operand where the file has them, else the operand.
    TensorId sizes(std::size_t i) const {
        const auto stated = graph_.integers(in(i));
        return stated ? graph_.ints(*stated) : get(i);
    }
    /// All operands in one order.
    std::vector<TensorId> operands(AxisOrder order) const {
        std::vector<TensorId> all;
        for (std::size_t i = 0; i < input_count(); ++i)
            all.push_back(get(i, order));
        return all;
    }
    /// Says that these are the results, as moved elements.
    void set_moved(const std::vector<TensorId>& results, AxisOrder order = AxisOrder::file) const {
        for (std::size_t i = 0; i < results.size(); ++i)
            graph_.set(out(i), results[i], order, false);
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

/// How a built-in operator is added; rows of one name are tried in turn.
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
bool add_tflite_image(const TfliteCall& call);       ///< convolutions, pools, resampling, boxes
bool add_tflite_arithmetic(const TfliteCall& call);  ///< element by element, reductions, matrix products
bool add_tflite_arrangement(const TfliteCall& call); ///< shapes, slices, gathers
bool add_tflite_recurrent(const TfliteCall& call);   ///< layers with a state, variables, lists of tensors
bool add_tflite_control(const TfliteCall& call);     ///< loops, branches, composites

} // namespace archsim::import
