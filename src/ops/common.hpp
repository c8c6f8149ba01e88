#pragma once
// Inference and work shared by operator families.

#include "archsim/extend/operator.hpp"

#include <initializer_list>
#include <span>

namespace archsim {

// Helpers.

[[noreturn]] void malformed(std::string message);
/// Throws for shapes that contradict each other.
[[noreturn]] void sizes_differ(std::string message);
/// The value of input i; throws NodeProblem where the node has no such input or its value is not known.
const Constant& known_value(const NodeContext& c, std::size_t i);
/// Numpy broadcasting; throws NodeProblem{shape_conflict} when the shapes do not fit.
Shape broadcast(std::span<const std::int64_t> a, std::span<const std::int64_t> b);
/// Index from the front; throws when out of [-rank, rank).
std::size_t normalized_axis(std::int64_t axis, std::size_t rank);
/// Sorted axes without duplicates, from the front.
std::vector<std::size_t> normalized_axes(const std::vector<std::int64_t>& axes, std::size_t rank);
double product(std::span<const std::int64_t> dims);
/// Axes from input `i` (newer opsets) or attribute `axes` (older); nullopt when neither is given.
std::optional<std::vector<std::int64_t>> axes_of(const NodeContext& c, std::size_t i);
DataType data_type_attribute(const NodeContext& c, std::string_view key, DataType fallback);
/// A value of the output's type and shape, to be filled in.
Constant blank_value(NodeContext& c, std::size_t output);
std::size_t value_count(const Constant& constant);
double number_at(const Constant& constant, std::size_t i);
/// NodeContext::dim() as a factor of work.
inline double extent(const NodeContext& c, std::size_t i, std::int64_t axis) {
    return static_cast<double>(c.dim(i, axis));
}
/// Output 0 is this one number, known when the graph is built.
void set_known(NodeContext& c, DataType type, std::int64_t value);
/// Output 0 holds the type and the shape of input `i`, as far as they are known.
void declare_like(NodeContext& c, std::size_t i);
void append_from(Constant& to, const Constant& from, std::size_t i);
/// Truncates towards zero and saturates; NaN gives 0.
std::int64_t saturated_int(double value);
/// Rounds to what the type can hold, so that folded float32 arithmetic agrees with a float32 runtime.
double rounded_to(DataType type, double value);

// Inference.

/// Output 0 has the type and shape of input 0.
void infer_same(NodeContext& c);
/// Output 0 has the type of input `Typed` (or this type) and the shape of input `Shaped`.
template <std::size_t Typed, std::size_t Shaped>
void infer_like(NodeContext& c) {
    c.set_output(0, c.type(Typed), c.shape(Shaped));
}
template <DataType Type>
void infer_typed(NodeContext& c) {
    c.set_output(0, Type, c.shape(0));
}
/// Numpy broadcast of all inputs, type of input 0; the old `broadcast` and `axis` attributes too.
void infer_broadcast(NodeContext& c);
/// The same with a boolean result.
void infer_comparison(NodeContext& c);

// Work.

/// The row's cost for each output element.
void work_per_output(NodeContext& c);
/// The row's cost for each element of input 0.
void work_per_input(NodeContext& c);
/// Bytes only.
void work_movement(NodeContext& c);
/// Nothing at run time; joins anything.
void work_free(NodeContext& c);
/// One more product, with its multiply-accumulates.
void add_product(NodeContext& c, const Contraction& product);
/// Only so many elements of an input are read, or of an output written.
void read_part(NodeContext& c, std::size_t input, double elements);
void write_part(NodeContext& c, std::size_t output, double elements);
void mark_learned(NodeContext& c, std::initializer_list<std::size_t> inputs, bool learned = true);
/// Products run on 8-bit operands; `scales` and zero points are no parameters.
void run_int8(NodeContext& c, std::initializer_list<std::size_t> scales = {});
/// Inputs from `first` on are learned, or not.
void mark_learned_from(NodeContext& c, std::size_t first, bool learned);

/// The input product of all steps of a recurrent layer, then one with the state for every step, which waits
/// for the one before (Appleyard et al., arXiv:1604.01946). `width`: gates times hidden units.
struct RecurrentProducts {
    double directions = 1, steps = 1, batch = 1, inputs = 0, state = 0, width = 0;
    bool input_constant = true, state_constant = true;
};
void recurrent_work(NodeContext& c, const RecurrentProducts& r);

/// A sort by score in each of `lists`, then each kept box meets the others: an intersection over union is 12
/// operations and a division.
void suppression_work(NodeContext& c, double lists, double boxes, double pairs);

/// Shape of rows of `data` along `axis` by index.
Shape gathered_shape(const Shape& data, const Shape& indices, std::size_t axis);
/// Without the axes that are reduced, or with size 1 there.
Shape reduced_shape(const Shape& in, const std::vector<bool>& reduced, bool keep);

/// Value of output 0 is that of input 0 in the output's shape.
void fold_reshaped(NodeContext& c);

/// Kernel, strides, pads and dilations of a node over `rank` spatial axes, as attributes give them.
struct SpatialAttributes {
    std::vector<std::int64_t> kernel, strides, dilations, pads_begin, pads_end;
    std::string_view auto_pad;
    bool ceil_mode = false;
};

/// Throws NodeProblem when an attribute has the wrong length or a step is not positive.
SpatialAttributes spatial_attributes(const NodeContext& c, std::size_t rank,
                                     const std::vector<std::int64_t>& kernel);

/// Output size of axis `i` (ONNX operator specification of Conv and MaxPool).
std::int64_t window_output(const SpatialAttributes& a, std::size_t i, std::int64_t input);

/// Geometry for the mappers. More than three spatial axes are folded into the third.
Window window_of(const SpatialAttributes& a, std::span<const std::int64_t> in,
                 std::span<const std::int64_t> out);

/// Where a convolution-like operator has its inputs.
struct ConvolutionInputs {
    std::size_t data = 0, weights = 1, bias = 2;
    bool channels_last = false;
};

/// Output shape [N, M, spatial...] (or channels last); weights are [M, C/group, spatial...].
Shape convolution_shape(const NodeContext& c, const ConvolutionInputs& at);
/// Fills window, contraction and the bias additions, for the output shape already inferred.
void convolution_work(NodeContext& c, const ConvolutionInputs& at);

struct MatMulOperand {
    Shape shape;
    bool transposed = false; ///< the last two axes change places
};

/// Output shape of numpy.matmul.
Shape matmul_shape(const MatMulOperand& a, const MatMulOperand& b);
/// The product as contractions: a constant operand is the weight, and batch axes that it lacks join the rows.
Contraction matmul_contraction(const MatMulOperand& a, const MatMulOperand& b, bool a_constant,
                               bool b_constant);
/// Fills macs and contractions for inputs `a` and `b`.
void matmul_work(NodeContext& c, std::size_t a, std::size_t b, bool transpose_a = false,
                 bool transpose_b = false);

/// Sizes of softmax(Q K' scale + mask) V and what of it is computed.
struct AttentionSizes {
    double batch = 1, heads = 1, kv_heads = 1, query_length = 1, kv_length = 1, head_size = 1, value_size = 1;
    bool causal = false;
    double causal_offset = 0; ///< query i sees keys 0 ... i + offset
    double window = 0;        ///< keys a query sees at most; 0: all
    bool chunked = false; ///< the window does not slide: a query sees its own chunk of that many positions
    bool mask = false;    ///< a mask or bias is added to the scores
    bool softcap = false; ///< tanh limits the scores
};

/// The same as a file's whole numbers, and how long the cache is.
struct AttentionDims {
    std::int64_t batch = 0, heads = 0, kv_heads = 0, query = 0, total = 0, cache = 0, head = 0, value = 0;
    /// Masks are aligned at the end: the last query sees every key.
    AttentionSizes sizes() const;
};

/// Query-key pairs of one head that are computed: all, or what a causal mask and a window leave.
double attended_pairs(const AttentionSizes& sizes);

/// Fills attention shape, both contractions and the softmax. Query heads that share keys and values are rows
/// of one product, so a group reads each key once.
void attention_work(NodeContext& c, const AttentionSizes& sizes);

/// Rotating `elements` by precomputed sines and cosines: two multiplications and an addition each.
void add_rotation(NodeContext& c, double elements);

// Folding of elementwise operators over small known values.

/// Walks the index of a broadcast operand along with the output's.
class BroadcastIndex {
  public:
    BroadcastIndex(const Shape& operand, const Shape& output) : output_(output), strides_(output.size(), 0) {
        std::size_t stride = 1;
        const std::size_t offset = output.size() - std::min(operand.size(), output.size());
        for (std::size_t i = operand.size(); i-- > 0;) {
            if (operand[i] != 1 && offset + i < strides_.size())
                strides_[offset + i] = stride;
            stride *= static_cast<std::size_t>(operand[i]);
        }
    }
    std::size_t operator()(std::size_t flat) const {
        std::size_t index = 0;
        for (std::size_t i = output_.size(); i-- > 0;) {
            const auto d = static_cast<std::size_t>(output_[i]);
            index += flat % d * strides_[i];
            flat /= d;
        }
        return index;
    }

  private:
    const Shape& output_;
    std::vector<std::size_t> strides_;
};

using IntFunction = bool (*)(std::int64_t, std::int64_t, std::int64_t&);
using RealFunction = double (*)(double, double);

/// Folds one binary elementwise operator; no value results where an integer operation has none (x / 0).
void fold_binary_with(NodeContext& c, IntFunction ints, RealFunction reals);
void fold_unary_with(NodeContext& c, IntFunction ints, RealFunction reals);

template <IntFunction Ints, RealFunction Reals>
void fold_binary(NodeContext& c) {
    fold_binary_with(c, Ints, Reals);
}
template <class Function>
double real_of(double a, double b) {
    return Function{}(a, b);
}
/// The second argument of the functions is not used.
template <IntFunction Ints, RealFunction Reals>
void fold_unary(NodeContext& c) {
    fold_unary_with(c, Ints, Reals);
}

} // namespace archsim
