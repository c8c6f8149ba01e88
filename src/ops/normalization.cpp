// Normalisations and softmax. Costs per element of the input follow the plain formulas: a mean is 1 addition,
// a variance 3 (subtract, square, add), scaling and shifting 2.

#include "ops/families.hpp"

namespace archsim {

/// One reciprocal square root (root and division) for each normalised group of elements.
static void add_roots(NodeContext& c, double groups) {
    c.work().special_ops += 2 * groups;
}

static double elements_from(const Shape& shape, std::size_t axis) {
    return product(std::span(shape).subspan(axis));
}

// --- BatchNormalization

static bool training(const NodeContext& c) {
    return c.integer("training_mode", 0) != 0 || (c.opset() < 7 && c.integer("is_test", 1) == 0);
}

static void infer_batch_norm(NodeContext& c) {
    c.set_output(0, c.type(0), c.shape(0));
    // Running mean and variance; older opsets can also save those of the batch.
    for (std::size_t i = 1; i < c.output_count(); ++i)
        c.set_output(i, c.type(c.opset() >= 14 ? 3 : 0), c.shape(1));
}

/// In inference the statistics are constants, so it is one multiplication and one addition per element.
static void work_batch_norm(NodeContext& c) {
    mark_learned(c, {1, 2});
    mark_learned(c, {3, 4}, false);
    const double n = c.elements(0);
    if (!training(c)) {
        c.work().kind = OpKind::elementwise;
        c.work().fusion = FusionClass::elementwise;
        c.work().vector_ops = 2 * n;
        return;
    }
    c.work().vector_ops = 6 * n;
    c.work().passes = 2;
    add_roots(c, c.elements(1));
}

// --- Per-sample normalisations

static void infer_layer_norm(NodeContext& c) {
    const Shape& x = c.shape(0);
    c.set_output(0, c.type(0), x);
    Shape statistics = x;
    for (std::size_t i = normalized_axis(c.integer("axis", -1), x.size()); i < x.size(); ++i)
        statistics[i] = 1;
    const DataType stash = data_type_attribute(c, "stash_type", DataType::float32);
    for (std::size_t i = 1; i < c.output_count(); ++i)
        c.set_output(i, stash, statistics);
}

static void work_layer_norm(NodeContext& c) {
    const Shape& x = c.shape(0);
    const double group = elements_from(x, normalized_axis(c.integer("axis", -1), x.size()));
    c.work().vector_ops = c.row().cost.vector * c.elements(0) + (c.has_input(2) ? c.elements(0) : 0);
    c.work().passes = 2;
    add_roots(c, group > 0 ? c.elements(0) / group : 0);
    mark_learned(c, {1, 2});
}

/// Statistics of each sample and group of channels (one channel: InstanceNormalization).
static void work_group_norm(NodeContext& c) {
    const std::int64_t groups = c.integer("num_groups", c.integer("groups", c.dim(0, 1)));
    c.work().vector_ops = c.row().cost.vector * c.elements(0);
    c.work().passes = 2;
    add_roots(c, extent(c, 0, 0) * static_cast<double>(groups));
    mark_learned(c, {1, 2});
}

static void work_mean_variance(NodeContext& c) {
    c.work().vector_ops = c.row().cost.vector * c.elements(0);
    c.work().passes = 2;
    add_roots(c, c.rank(0) > 1 ? extent(c, 0, 1) : 1);
}

/// Squares summed over a window of channels (a sliding sum takes 2 additions), then a power and a division.
static void work_lrn(NodeContext& c) {
    work_per_input(c);
    c.work().passes = 1;
}

static void work_lp_norm(NodeContext& c) {
    work_per_input(c);
    c.work().passes = 2;
    const auto group = extent(c, 0, c.integer("axis", -1));
    add_roots(c, group > 0 ? c.elements(0) / group : 0);
}

// --- Softmax

static void work_softmax(NodeContext& c) {
    work_per_input(c);
    c.work().passes = 3;
    const Shape& x = c.shape(0);
    if (x.empty())
        return;
    // One division per row, then multiplications. Before opset 13 a row was everything from `axis` on.
    const bool flattened = c.opset() < 13 && c.node().domain != kMicrosoftDomain;
    const std::size_t axis = normalized_axis(c.integer("axis", flattened ? 1 : -1), x.size());
    const double row = flattened ? elements_from(x, axis) : static_cast<double>(x[axis]);
    c.work().special_ops += row > 0 ? c.elements(0) / row : 0;
}

// --- Losses

static Shape loss_shape(const NodeContext& c) {
    return c.text("reduction", "mean") == "none" ? c.shape(1) : Shape{};
}

static void infer_loss(NodeContext& c) {
    c.set_output(0, c.type(0), loss_shape(c));
    if (c.has_output(1))
        c.set_output(1, c.type(0), c.shape(0));
}

static void work_log_likelihood(NodeContext& c) {
    c.work().vector_ops = 2 * c.elements(1);
    read_part(c, 0, c.elements(1));
}

// Fused normalisations, embeddings and softmax of com.microsoft.

/// Rows of the last axis; each takes one reciprocal square root.
static double rows_of(const Shape& shape) {
    return shape.empty() || shape.back() == 0 ? 0 : product(shape) / static_cast<double>(shape.back());
}

// --- SkipLayerNormalization: input, skip, gamma, beta, bias; the simplified form has no beta

static void infer_skip_norm(NodeContext& c) {
    const Shape& x = c.shape(0);
    c.set_output(0, c.type(0), x);
    Shape statistics = x;
    if (!statistics.empty())
        statistics.back() = 1;
    c.set_output(1, DataType::float32, statistics);
    c.set_output(2, DataType::float32, statistics);
    c.set_output(3, c.type(0), x);
}

template <std::size_t Bias>
static void work_skip_norm(NodeContext& c) {
    const double n = c.elements(0);
    c.work().vector_ops = n * (c.row().cost.vector + 1 + (c.has_input(Bias) ? 1 : 0));
    c.work().special_ops = 2 * rows_of(c.shape(0));
    c.work().passes = 2;
    for (std::size_t i = 2; i <= Bias; ++i)
        c.mark_learned(i);
}

// --- EmbedLayerNormalization: ids, segment ids, word, position and segment tables, gamma, beta, mask

static void infer_embed_norm(NodeContext& c) {
    const std::int64_t batch = c.dim(0, 0), length = c.dim(0, 1), hidden = c.dim(2, 1);
    c.set_output(0, c.type(2), {batch, length, hidden});
    c.set_output(1, DataType::int32, {batch});
    c.set_output(2, c.type(2), {batch, length, hidden});
}

static void work_embed_norm(NodeContext& c) {
    const double n = c.output(0).elements();
    c.work().vector_ops = n * (6 + 1 + (c.has_input(4) ? 1 : 0));
    c.work().special_ops = 2 * rows_of(c.output(0).shape);
    for (const std::uint16_t table : {std::uint16_t{2}, std::uint16_t{3}, std::uint16_t{4}})
        if (c.has_input(table))
            c.work().partial_reads.emplace_back(table, std::min(n, c.elements(table)));
}

/// As above with 8-bit tables: scales at 7 to 11, zero points at 12 to 16.
static void infer_quantized_embed_norm(NodeContext& c) {
    const std::int64_t batch = c.dim(0, 0), length = c.dim(0, 1), hidden = c.dim(2, 1);
    c.set_output(0, c.type(8), {batch, length, hidden});
    c.set_output(1, DataType::int32, {batch});
}

static void work_quantized_embed_norm(NodeContext& c) {
    work_embed_norm(c);
    c.work().vector_ops += 2 * 3 * c.output(0).elements();
    mark_learned(c, {2, 3, 4, 5, 6});
    mark_learned_from(c, 8, false);
}

// --- GroupNorm (channels last by default), SkipGroupNorm

static void infer_group_norm(NodeContext& c) {
    c.set_output(0, c.type(0), c.shape(0));
    c.set_output(1, c.type(0), c.shape(0));
}

static void work_fused_group_norm(NodeContext& c) {
    const double n = c.elements(0);
    const bool skip = c.node().op_type == "SkipGroupNorm";
    c.work().vector_ops = n * (7 + (skip ? 1 : 0) + (c.has_input(4) ? 1 : 0));
    c.work().special_ops = 2 * extent(c, 0, 0) * static_cast<double>(c.integer("groups", 1));
    if (c.integer("activation", 0) == 1) { // x sigmoid(x)
        c.work().vector_ops += 2 * n;
        c.work().special_ops += 2 * n;
    }
    c.work().passes = 2;
    mark_learned(c, {1, 2});
}

static void work_gated_rms(NodeContext& c) {
    const double n = c.elements(0), group = c.elements(1);
    c.work().vector_ops = 7 * n;
    c.work().special_ops = 2 * n + (group > 0 ? 2 * n / group : 0);
    c.work().passes = 2;
    c.mark_learned(1);
}

// --- BiasSoftmax, BiasSplitGelu, BiasDropout

static void work_bias_softmax(NodeContext& c) {
    const Shape& x = c.shape(0);
    const std::size_t axis = x.empty() ? 0 : normalized_axis(c.integer("axis", 1), x.size());
    const double row = product(std::span(x).subspan(axis));
    work_per_input(c);
    c.work().special_ops += row > 0 ? c.elements(0) / row : 0;
    c.work().passes = 3;
}

static void infer_split_gelu(NodeContext& c) {
    Shape out = c.shape(0);
    if (out.empty())
        malformed("an input of rank 1 or more is needed");
    out.back() /= 2;
    c.set_output(0, c.type(0), std::move(out));
}

static void infer_bias_dropout(NodeContext& c) {
    c.set_output(0, c.type(0), c.shape(0));
    c.set_output(1, DataType::boolean, c.shape(0));
}

constexpr OperatorRow kNormalizationRows[] = {
    kOnnx.normalization("BatchNormalization", 1, infer_batch_norm, work_batch_norm, {2, 0},
                        "scale and shift per channel in inference; statistics too in training"),
    kOnnx.normalization("LayerNormalization", 17, infer_layer_norm, work_layer_norm, {6, 0},
                        "mean, variance, scale and shift over the trailing axes; two passes"),
    kMicrosoft.normalization("SimplifiedLayerNormalization", 1, infer_layer_norm, work_layer_norm, {4, 0},
                             "root mean square and scale over the trailing axes"),
    kOnnx.normalization("SimplifiedLayerNormalization", 1, infer_layer_norm, work_layer_norm, {4, 0},
                        "as in com.microsoft; onnxruntime writes it without a domain"),
    kOnnx.normalization("RMSNormalization", 23, infer_layer_norm, work_layer_norm, {4, 0},
                        "root mean square and scale over the trailing axes"),
    kOnnx.normalization("InstanceNormalization", 1, infer_same, work_group_norm, {7, 0},
                        "mean and variance of each channel of each sample"),
    kOnnx.normalization("GroupNormalization", 18, infer_same, work_group_norm, {7, 0},
                        "mean and variance of groups of channels"),
    kOnnx.normalization("MeanVarianceNormalization", 9, infer_same, work_mean_variance, {5, 0},
                        "mean and variance over given axes"),
    kOnnx.normalization("LRN", 1, infer_same, work_lrn, {6, 3},
                        "local response normalisation across channels"),
    kOnnx.normalization("LpNormalization", 1, infer_same, work_lp_norm, {3, 0},
                        "divides by the Lp norm of an axis"),
    kOnnx.softmax("Softmax", 1, infer_same, work_softmax, {4, 1},
                  "exp(x - max) / sum: maximum, subtraction, sum, scaling; exp"),
    kOnnx.softmax("LogSoftmax", 1, infer_same, work_softmax, {4, 1}, "x - max - log sum exp(x - max)"),
    kOnnx.softmax("Hardmax", 1, infer_same, work_softmax, {2, 0}, "one at the largest value, zero elsewhere"),
    kOnnx.reduction("NegativeLogLikelihoodLoss", 12, infer_loss, work_log_likelihood,
                    "picks the log-probability of each label"),
    kOnnx.softmax("SoftmaxCrossEntropyLoss", 12, infer_loss, work_per_input, {5, 1},
                  "log-softmax and the negative log-likelihood"),
    kMicrosoft.normalization("SkipLayerNormalization", 1, infer_skip_norm, work_skip_norm<4>, {7, 0},
                             "sum of input and skip (and bias), then LayerNormalization"),
    kMicrosoft.normalization("SkipSimplifiedLayerNormalization", 1, infer_skip_norm, work_skip_norm<3>,
                             {4, 0}, "sum of input and skip (and bias), then root mean square normalisation"),
    kMicrosoft.normalization(
        "EmbedLayerNormalization", 1, infer_embed_norm, work_embed_norm,
        "sum of word, position and segment rows, then LayerNormalization; reads only those rows"),
    kMicrosoft.normalization("QEmbedLayerNormalization", 1, infer_quantized_embed_norm,
                             work_quantized_embed_norm, "EmbedLayerNormalization over 8-bit tables"),
    kMicrosoft.normalization("GroupNorm", 1, infer_group_norm, work_fused_group_norm,
                             "group normalisation, channels last, with an optional x sigmoid(x)"),
    kMicrosoft.normalization("SkipGroupNorm", 1, infer_group_norm, work_fused_group_norm,
                             "sum of input, skip and bias, then GroupNorm"),
    kMicrosoft.normalization("GatedRMSNorm", 1, infer_same, work_gated_rms,
                             "root mean square normalisation times a gated x sigmoid(x)"),
    kMicrosoft.softmax("BiasSoftmax", 1, infer_same, work_bias_softmax, {5, 1}, "softmax(x + bias)"),
    kMicrosoft.elementwise("BiasSplitGelu", 1, infer_split_gelu, work_per_output, {7, 1},
                           "adds a bias, then one half times the gelu of the other"),
    kMicrosoft.elementwise("BiasDropout", 1, infer_bias_dropout, work_per_output, {2, 0},
                           "bias and residual sum; the dropout does nothing in inference"),
};

constinit const std::span<const OperatorRow> normalization_rows = kNormalizationRows;

} // namespace archsim
