// Remaining operators of com.microsoft, optimiser steps, plugins of TensorRT.

#include "ops/families.hpp"

namespace archsim {

static void infer_expand_dims(NodeContext& c) {
    Shape out = c.shape(0);
    const std::size_t axis = normalized_axis(c.scalar_int(1), out.size() + 1);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    c.set_output(0, c.type(0), std::move(out));
}

/// Rows of one matrix against rows of the other: subtract, square, add per component.
static void infer_distances(NodeContext& c) {
    c.set_output(0, c.type(0), {c.dim(0, 0), c.dim(1, 0)});
}

static void work_distances(NodeContext& c) {
    c.work().vector_ops = 3 * c.output(0).elements() * extent(c, 0, -1);
    c.work().special_ops = c.text("metric", "sqeuclidean") == "euclidean" ? c.output(0).elements() : 0;
}

/// Gauss-Jordan elimination takes 2 n^3 operations.
static void work_inverse(NodeContext& c) {
    const auto n = extent(c, 0, -1);
    c.work().vector_ops = 2 * c.elements(0) * n;
    c.work().special_ops = c.elements(0);
}

static void infer_flag(NodeContext& c) {
    c.set_output(0, DataType::boolean, {});
}

static void infer_hash(NodeContext& c) {
    c.set_output(0, c.integer("positive", 1) != 0 ? DataType::uint32 : DataType::int32, c.shape(0));
}

static void infer_embedding(NodeContext& c) {
    Shape out = c.shape(1);
    out.push_back(c.dim(0, 1));
    c.set_output(0, c.type(0), std::move(out));
}

static void work_embedding(NodeContext& c) {
    read_part(c, 0, std::min(c.elements(0), c.output(0).elements()));
}

/// table [buckets, heads], query length, key length.
static void infer_position_bias(NodeContext& c) {
    c.set_output(0, c.type(0), {1, c.dim(0, 1), c.scalar_int(1), c.scalar_int(2)});
}

/// query [batch, length, heads x size], biases, relative positions, gate weights [size, D].
static void infer_gated_bias(NodeContext& c) {
    const std::int64_t heads = c.integer("num_heads", 1), batch = c.rank(0) == 3 ? c.dim(0, 0) : c.dim(6, 0);
    const std::int64_t length = c.dim(2, 2);
    c.set_output(0, c.type(0), {batch, heads, length, length});
}

static void work_gated_bias(NodeContext& c) {
    Contraction gates{.n = extent(c, 3, 1), .k = extent(c, 3, 0)};
    gates.m = gates.k > 0 ? c.elements(0) / gates.k : 0;
    add_product(c, gates);
    c.work().vector_ops = c.output(0).elements() + gates.m * (gates.n + 4);
    c.work().special_ops = 4 * gates.m;
    mark_learned(c, {3, 4});
}

/// input [batch, length, hidden], valid lengths: at most everything stays.
static void infer_remove_padding(NodeContext& c) {
    const std::int64_t batch = c.dim(0, 0), length = c.dim(0, 1);
    const double all = static_cast<double>(batch) * static_cast<double>(length);
    const std::int64_t tokens = c.data_dependent_dim(0, 0, saturated_int(all), "no position is padding");
    c.set_output(0, c.type(0), {tokens, c.dim(0, 2)});
    c.set_output(1, DataType::int32, {batch, length});
    c.set_output(2, DataType::int32, {batch + 1});
    c.set_output(3, DataType::int32, {1});
}

static void infer_restore_padding(NodeContext& c) {
    c.set_output(0, c.type(0), {c.dim(1, 0), c.dim(1, 1), c.dim(0, 1)});
}

static void infer_unfold(NodeContext& c) {
    Shape out = c.shape(0);
    const std::size_t axis = normalized_axis(c.integer("dim", -1), out.size());
    const std::int64_t size = c.integer("size", 1), step = c.integer("step", 1);
    if (size < 1 || step < 1 || size > out[axis])
        malformed("size and step must be positive and fit the axis");
    out[axis] = (out[axis] - size) / step + 1;
    out.push_back(size);
    c.set_output(0, c.type(0), std::move(out));
}

/// A dense matrix times a sparse one, counted dense.
static void infer_sparse_product(NodeContext& c) {
    const bool ta = c.integer("transA", 0) != 0, tb = c.integer("transB", 0) != 0;
    c.set_output(0, c.type(1), {c.dim(0, ta ? 1 : 0), c.dim(1, tb ? 0 : 1)});
}

static void work_sparse_product(NodeContext& c) {
    add_product(c, {.m = static_cast<double>(c.output(0).shape[0]),
                    .n = static_cast<double>(c.output(0).shape[1]),
                    .k = extent(c, 0, c.integer("transA", 0) != 0 ? 0 : 1),
                    .weights_constant = c.is_constant(0) || c.is_constant(1)});
    c.work().kind = OpKind::matmul;
    c.work().fusion = FusionClass::contraction;
}

/// A network as a vendor's compiler made it: binary code, of which nothing can be counted.
static void infer_compiled(NodeContext& c) {
    constexpr std::string_view kProvider = "ExecutionProvider";
    std::string vendor(c.text("source", ""));
    if (vendor.ends_with(kProvider))
        vendor.resize(vendor.size() - kProvider.size());
    throw NodeProblem{FindingKind::unsupported,
                      "a compiled context" + (vendor.empty() ? std::string() : " for " + vendor) +
                          ": the network in it is binary code of its compiler",
                      "give the ONNX file that it was made of"};
}

// Optimiser steps (ai.onnx.preview.training): R, T, then n tensors of each kind.

/// Updates `Kinds` lists of tensors; outputs are all lists but the gradients, which come second.
template <std::size_t Kinds>
static void infer_step(NodeContext& c) {
    if (c.input_count() < 2 + Kinds || (c.input_count() - 2) % Kinds != 0)
        malformed("the tensors do not come in equal lists");
    const std::size_t tensors = (c.input_count() - 2) / Kinds;
    std::size_t out = 0;
    for (std::size_t kind = 0; kind < Kinds; ++kind)
        for (std::size_t i = 0; i < tensors && kind != 1; ++i, ++out) {
            const std::size_t from = 2 + kind * tensors + i;
            c.set_output(out, c.type(from), c.shape(from));
        }
}

static void work_step(NodeContext& c) {
    double elements = 0;
    for (std::size_t i = 0; i < c.output_count(); ++i)
        elements += c.output(i).elements();
    c.work().vector_ops = c.row().cost.vector * elements;
    c.work().special_ops = c.row().cost.special * elements;
}

/// The gradient of y has the shapes of the inputs named first.
static void infer_gradient(NodeContext& c) {
    for (std::size_t i = 0; i < c.output_count(); ++i)
        c.set_output(i, c.type(i), c.shape(i));
}

/// The differentiated work lies in other operators; a headline without twice their work would be wrong.
static void work_gradient(NodeContext&) {
    throw NodeProblem{
        FindingKind::unsupported,
        "the work of the derivatives is not counted: about twice that of what is differentiated",
        "give the graph of the forward pass, or accept totals without it with --allow-unknown"};
}

constexpr RowKinds kTraining{kTrainingDomain};

static constexpr OperatorRow step(std::string_view name, NodeFunction infer, ElementCost cost,
                                  std::string_view doc) {
    return kTraining.elementwise(name, 1, infer, work_step, cost, doc);
}

// Suppression of overlapping boxes as TensorRT's plugins do it (NVIDIA/TensorRT, plugin/efficientNMSPlugin
// and plugin/batchedNMSPlugin). They promise the size of their results in attributes. TensorRT finds a plugin
// by the operator's name, whatever the domain, and so do we.

/// Boxes [batch, boxes, ...] and scores [batch, boxes, classes].
struct Candidates {
    double batch = 1, boxes = 1, classes = 1;
};

static Candidates candidates_of(const NodeContext& c) {
    if (c.rank(0) < 3 || c.rank(1) < 3)
        malformed("boxes and scores need a batch, boxes and their values");
    return {extent(c, 1, 0), extent(c, 1, 1), extent(c, 1, 2)};
}

/// Results per image; the efficient plugins name it max_output_boxes, the older ones keepTopK.
static std::int64_t promised(const NodeContext& c) {
    const std::int64_t count = c.integer("max_output_boxes", c.integer("keepTopK", -1));
    const std::int64_t per_class = c.integer("max_output_boxes_per_class", -1);
    if (count >= 0)
        return count;
    if (per_class >= 0)
        return saturated_int(static_cast<double>(per_class) * extent(c, 1, 2));
    malformed("max_output_boxes is missing");
}

/// Number of detections, boxes, scores and classes.
static void infer_promised_detections(NodeContext& c) {
    candidates_of(c);
    const std::int64_t batch = c.dim(1, 0), kept = promised(c);
    c.set_output(0, DataType::int32, {batch, 1});
    c.set_output(1, c.type(0), {batch, kept, 4});
    c.set_output(2, c.type(1), {batch, kept});
    const bool efficient = c.node().op_type.starts_with("Efficient");
    c.set_output(3, efficient ? DataType::int32 : c.type(1), {batch, kept}); // the older ones write reals
}

/// Rows of image, class and box, as NonMaxSuppression of ONNX.
static void infer_selection(NodeContext& c) {
    candidates_of(c);
    c.set_output(0, DataType::int32, {saturated_int(static_cast<double>(promised(c)) * extent(c, 1, 0)), 3});
}

static void work_suppression(NodeContext& c) {
    const Candidates from = candidates_of(c);
    const double lists = from.batch * from.classes;
    const double kept = static_cast<double>(promised(c)) * from.batch;
    const double pairs = std::min(kept * from.boxes, lists * from.boxes * (from.boxes - 1) / 2);
    suppression_work(c, lists, from.boxes, pairs);
}

static constexpr OperatorRow plugin(std::string_view name, NodeFunction infer, std::string_view doc) {
    return RowKinds{kTensorRtDomain}.sorting(name, 1, infer, work_suppression, {1, 0}, doc);
}
constexpr std::string_view kBoxes = "suppression of overlapping boxes; as many results as max_output_boxes",
                           kTopK = "suppression of overlapping boxes; as many results as keepTopK";

constexpr OperatorRow kOtherDomainRows[] = {
    kMicrosoft.of(OpKind::free,
                  FusionClass::opaque)("EPContext", 1, infer_compiled, work_free,
                                       "a network compiled for one device; its original is needed"),
    kMicrosoft.transparent("ExpandDims", 1, infer_expand_dims, work_free, "inserts a dimension of size 1"),
    kMicrosoft.opaque_reduction("CDist", 1, infer_distances, work_distances,
                                "distances between rows: 3 operations per component"),
    kMicrosoft.elementwise("ComplexMul", 1, infer_broadcast, work_per_output, {3, 0},
                           "product of complex numbers"),
    kMicrosoft.elementwise("ComplexMulConj", 1, infer_broadcast, work_per_output, {3, 0},
                           "product with the conjugate"),
    kMicrosoft.opaque_reduction("Inverse", 1, infer_same, work_inverse,
                                "inverse matrices by elimination: 2 n^3 operations"),
    kMicrosoft.reduction("IsAllFinite", 1, infer_flag, work_per_input, {1, 0},
                         "whether all elements are finite"),
    kMicrosoft.elementwise("MurmurHash3", 1, infer_hash, work_per_output, {12, 0}, "32-bit hash"),
    kMicrosoft.opaque("NGramRepeatBlock", 1, infer_like<1, 1>, work_per_input, {2, 0},
                      "forbids repeated n-grams"),
    kMicrosoft.movement("TorchEmbedding", 1, infer_embedding, work_embedding,
                        "rows of a table; reads only those rows"),
    kMicrosoft.of(OpKind::elementwise, FusionClass::injective)(
        "RelativePositionBias", 1, infer_position_bias, work_per_output, {6, 1}, "bias by bucketed distance"),
    kMicrosoft.product("GatedRelativePositionBias", 1, infer_gated_bias, work_gated_bias,
                       "relative position bias scaled by gates of the query"),
    kMicrosoft.movement("RemovePadding", 1, infer_remove_padding, work_movement,
                        "packs positions; upper bound: none is padding"),
    kMicrosoft.movement("RestorePadding", 1, infer_restore_padding, work_movement, "undoes RemovePadding"),
    kMicrosoft.movement("UnfoldTensor", 1, infer_unfold, work_movement, "sliding windows of an axis"),
    kMicrosoft.product("SparseToDenseMatMul", 1, infer_sparse_product, work_sparse_product,
                       "sparse times dense matrix, counted dense"),
    kMicrosoft.elementwise("SampleOp", 1, infer_same, work_per_output, {1, 0},
                           "sample of onnxruntime's documentation"),
    step("Adagrad", infer_step<3>, {3, 1}, "optimiser step with accumulated squares"),
    step("Adam", infer_step<4>, {4, 1}, "optimiser step with two moments"),
    step("Momentum", infer_step<3>, {3, 0}, "optimiser step with momentum"),
    // Operators that it does not name: constant operands make no constant of it.
    of_run(kTraining.opaque("Gradient", 1, infer_gradient, work_gradient,
                            "derivatives; their work is not counted, and totals are withheld")),
    plugin("EfficientNMS_TRT", infer_promised_detections, kBoxes),
    plugin("EfficientNMS_Explicit_TF_TRT", infer_promised_detections, kBoxes),
    plugin("EfficientNMS_Implicit_TF_TRT", infer_promised_detections, kBoxes),
    plugin("EfficientNMS_ONNX_TRT", infer_selection, kBoxes),
    plugin("BatchedNMS_TRT", infer_promised_detections, kTopK),
    plugin("BatchedNMSDynamic_TRT", infer_promised_detections, kTopK),
};

constinit const std::span<const OperatorRow> other_domain_rows = kOtherDomainRows;

} // namespace archsim
