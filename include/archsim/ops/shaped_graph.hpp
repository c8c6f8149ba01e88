#pragma once
// A graph bound to concrete sizes: every tensor has a shape, every operator its work. Binding never changes
// the imported graph; one import serves any number of bindings.

#include "archsim/core/export.hpp"
#include "archsim/core/precision.hpp"
#include "archsim/graph/graph.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace archsim {

/// The kinds of work that operators ask of hardware.
enum class OpKind : std::uint8_t {
    free,          ///< nothing at run time: reshape, identity, constants, folded shape arithmetic
    convolution,   ///< contraction with a sliding window (grouped and depthwise too)
    matmul,        ///< contraction without a window: Gemm, MatMul, Einsum, expert layers
    attention,     ///< fused attention: two contractions around a softmax
    recurrent,     ///< LSTM/GRU/RNN: contractions with `serial_steps` dependent steps
    elementwise,   ///< one output element per input element (broadcast allowed)
    normalization, ///< mean/variance over an axis and scaling
    softmax,
    reduction,
    pooling,       ///< windowed reduction; global pooling has one output pixel
    data_movement, ///< transpose, concat, slice, gather, pad, resize: bytes only
    sorting,       ///< TopK, NonMaxSuppression, Unique: data-dependent scans
};

/// Which kernels most of a network's arithmetic runs in: what was measured of one kind says little of
/// another.
enum class NetworkKind : std::uint8_t {
    convolution,      ///< convolutions that never make a map larger
    dense_prediction, ///< convolutions with maps that are made larger again: detection, segmentation
    attention,
    experts, ///< layers of which each token takes a few experts
    recurrent,
    products, ///< matrix products without attention
};
inline constexpr std::size_t kNetworkKinds = 6;

/// How an operator may join its neighbours in one kernel (after TVM, Chen et al. OSDI 2018, section 3).
enum class FusionClass : std::uint8_t {
    transparent, ///< costs nothing and joins anything
    elementwise, ///< joins the producer of its largest input
    injective,   ///< data movement: joins elementwise chains where the policy allows
    reduction,   ///< pooling, normalisation, softmax: absorbs elementwise inputs and outputs
    contraction, ///< absorbs elementwise successors
    opaque,      ///< never joins
};

/// One batch of `groups` independent M x N x K products. For a convolution M = output pixels of the batch,
/// N = output channels per group, K = taps x input channels per group.
struct Contraction {
    double groups = 1, m = 1, n = 1, k = 1;
    bool weights_constant = true; ///< the K x N operand is a weight, not an activation
    /// Multiply-accumulates of all groups.
    double macs() const { return groups * m * n * k; }
};

/// Window geometry of a convolution or pooling; unused axes are 1.
struct Window {
    double batch = 1, in_channels = 1, out_channels = 1, groups = 1;
    std::array<double, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
    bool transposed = false;
    /// Output pixels of one image.
    double out_pixels() const { return out[0] * out[1] * out[2]; }
    /// Input pixels of one image.
    double in_pixels() const { return in[0] * in[1] * in[2]; }
    /// Positions of the kernel.
    double taps() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/// Sizes of a fused attention (per call, all sequences of the batch).
struct AttentionShape {
    double batch = 1, heads = 1, kv_heads = 1, query_length = 1, kv_length = 1, head_size = 1, value_size = 1;
    bool causal = false;
};

/// Work of one operator by class. One multiply-accumulate = 1 `macs` = 2 operations.
struct OperatorWork {
    OpKind kind = OpKind::free;
    FusionClass fusion = FusionClass::opaque;
    double macs = 0;        ///< multiply-accumulates of contractions (causal attention counts what is needed)
    double vector_ops = 0;  ///< additions, multiplications, comparisons outside contractions
    double special_ops = 0; ///< exp, tanh, erf, sqrt, division, trigonometry: one per element and function
    std::vector<Contraction> contractions; ///< matrix work, in order of execution
    std::optional<Window> window;          ///< convolution and pooling
    std::optional<AttentionShape> attention;
    double serial_steps = 1; ///< dependent steps of a recurrence, or of a mixture of experts
    /// Elements read per input where that is not the whole input (Gather reads rows, Slice a part): index ->
    /// elements; and elements written where that is not the whole output.
    std::vector<std::pair<std::uint16_t, double>> partial_reads;
    std::optional<double> partial_write;
    /// The same per output, where outputs differ: output index -> elements (attention appends new keys and
    /// values to a cache that it shares with its input).
    std::vector<std::pair<std::uint16_t, double>> partial_writes;
    double passes = 1; ///< times an unfused kernel walks its input (LayerNorm 2, Softmax 3)

    /// Operations of all classes; 1 MAC = 2.
    double operations() const { return 2 * macs + vector_ops + special_ops; }
};

/// A tensor with its shape, and what is known of its value.
struct ShapedTensor {
    std::string name;
    DataType type = DataType::undefined;
    ValueKind kind = ValueKind::tensor;
    TensorRole role = TensorRole::intermediate;
    bool known = false;          ///< shape resolved
    bool data_dependent = false; ///< the shape is a documented upper bound or the user's choice
    bool at_upper_bound = false; ///< and is the largest that it can be
    bool buffer = false;         ///< initializer, but not a learned parameter
    bool replaceable = false;    ///< initializer that callers may replace: no constant for ONNX Runtime
    bool constant = false;       ///< value known at build time (initializer or folded)
    bool kv_cache = false;       ///< attention keys/values carried between steps
    bool learned = false; ///< counts as parameters: trained values, not statistics or quantisation scales
    /// A weight of a checkpoint that quantises what most of its weights meet, but not what this one does.
    bool weight_only = false;
    /// Bits per element as it lies in memory where that differs from `type` (the packed form behind a folded
    /// DequantizeLinear, with the scales' share); 0: the size of `type`.
    double storage_bits = 0;
    double packing = 1; ///< values per stored element (two 4-bit weights in a byte)
    Shape shape;

    /// Number of elements.
    double elements() const {
        double n = 1;
        for (auto d : shape)
            n *= static_cast<double>(d);
        return n;
    }
    /// Bits per element as stored.
    double stored_bits() const { return storage_bits > 0 ? storage_bits : bits_of(type); }
};

/// One operator instance of the bound graph. Bodies of control flow appear inline with their repeat count.
struct Operator {
    std::string name;
    std::string type;           ///< op_type; domain prefix only outside ai.onnx ("com.microsoft.Gelu")
    TensorList inputs, outputs; ///< into ShapedGraph::tensors
    double repeat = 1;          ///< executions per inference (loop bodies)
    bool folded = false;        ///< computed at build time, or its result is never used: absent at run time
    std::optional<Precision> native_precision; ///< what a quantised graph prescribes, if it does
    OperatorWork work;
};

/// Values given by the user when binding.
struct Bindings {
    std::map<std::string, std::int64_t> dims;                      ///< symbol -> size ("batch", "height")
    std::map<std::string, Shape> input_shapes;                     ///< input name -> whole shape
    std::map<std::string, std::vector<std::int64_t>> input_values; ///< small inputs that decide shapes
    std::map<std::string, std::vector<double>> input_real_values;  ///< likewise, floating (Resize scales)
    /// Shapes of the elements of inputs that are sequences.
    std::map<std::string, std::vector<Shape>> input_sequences;
    /// First dimension of every graph input that shares the first input's symbol, or has no name at all; an
    /// explicit entry in `dims` or `input_shapes` wins.
    std::optional<std::int64_t> batch_size;
};

/// A graph whose every size is known, or a finding says which is not.
struct ARCHSIM_API ShapedGraph {
    std::string name;
    std::vector<ShapedTensor> tensors;
    std::vector<Operator> operators; ///< topological order
    std::vector<TensorId> inputs, outputs;
    std::map<std::string, std::int64_t> dims; ///< every symbol's resolved size
    std::vector<Finding> findings;            ///< unknown operators, unresolved dimensions...
    /// Format of most weights where a checkpoint states how each of them lies in memory, narrower than what
    /// is multiplied with them: ShapedTensor::storage_bits has the bits of every one.
    std::optional<Precision> stored_weights;
    /// Format that a checkpoint quantises both operands of most products to; none: weights alone are narrow.
    std::optional<Precision> stored_products;
    /// Format of cached keys and values where a checkpoint states it, unless another is asked for.
    std::optional<Precision> stored_cache;

    /// True when no finding is an error.
    bool complete() const {
        return std::none_of(findings.begin(), findings.end(),
                            [](const Finding& f) { return f.severity == Severity::error; });
    }
    /// Elements of learned initializers (float or packed), each counted once.
    double parameters() const {
        double total = 0;
        for (const ShapedTensor& t : tensors)
            if (t.learned && t.known)
                total += t.elements() * t.packing;
        return total;
    }
    /// Multiply-accumulates of one inference.
    double macs() const {
        double total = 0;
        for (const Operator& op : operators)
            if (!op.folded)
                total += op.repeat * op.work.macs;
        return total;
    }
    /// Operations of one inference; 1 MAC = 2.
    double operations() const {
        double total = 0;
        for (const Operator& op : operators)
            if (!op.folded)
                total += op.repeat * op.work.operations();
        return total;
    }
    /// By its multiply-accumulates.
    NetworkKind kind() const;
};

/// Infers all shapes and folds shape arithmetic. `defaults` are used for symbols that `bindings` does not
/// name. Never throws for a bad model: what cannot be resolved becomes a finding, all at once.
ARCHSIM_API ShapedGraph bind(const Graph& graph, const Bindings& bindings,
                             const std::map<std::string, std::int64_t>& defaults = {});

} // namespace archsim
