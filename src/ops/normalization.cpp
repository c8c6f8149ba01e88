// Normalisations and softmax. Costs per element of the input follow the plain formulas: a mean is 1 addition,
// a variance 3 (subtract, square, add), scaling and shifting 2.

#include "ops/common.hpp"
#include "ops/families.hpp"

namespace archsim {

namespace {

/// One reciprocal square root (root and division) for each normalised group of elements.
void add_roots(NodeContext& c, double groups) {
    c.work().special_ops += 2 * groups;
}

double elements_from(const Shape& shape, std::size_t axis) {
    return product(std::span(shape).subspan(axis));
}

// --- BatchNormalization

bool training(const NodeContext& c) {
    return c.integer("training_mode", 0) != 0 || (c.opset() < 7 && c.integer("is_test", 1) == 0);
}

void infer_batch_norm(NodeContext& c) {
    c.set_output(0, c.type(0), c.shape(0));
    // Running mean and variance; older opsets can also save those of the batch.
    for (std::size_t i = 1; i < c.output_count(); ++i)
        c.set_output(i, c.type(c.opset() >= 14 ? 3 : 0), c.shape(1));
}

/// In inference the statistics are constants, so it is one multiplication and one addition per element.
void work_batch_norm(NodeContext& c) {
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

void infer_layer_norm(NodeContext& c) {
    const Shape& x = c.shape(0);
    c.set_output(0, c.type(0), x);
    Shape statistics = x;
    for (std::size_t i = normalized_axis(c.integer("axis", -1), x.size()); i < x.size(); ++i)
        statistics[i] = 1;
    const DataType stash = data_type_attribute(c, "stash_type", DataType::float32);
    for (std::size_t i = 1; i < c.output_count(); ++i)
        c.set_output(i, stash, statistics);
}

void work_layer_norm(NodeContext& c) {
    const Shape& x = c.shape(0);
    const double group = elements_from(x, normalized_axis(c.integer("axis", -1), x.size()));
    c.work().vector_ops = c.row().cost.vector * c.elements(0) + (c.has_input(2) ? c.elements(0) : 0);
    c.work().passes = 2;
    add_roots(c, group > 0 ? c.elements(0) / group : 0);
    mark_learned(c, {1, 2});
}

/// Statistics of each sample and group of channels (one channel: InstanceNormalization).
void work_group_norm(NodeContext& c) {
    const std::int64_t groups = c.integer("num_groups", c.integer("groups", c.dim(0, 1)));
    c.work().vector_ops = c.row().cost.vector * c.elements(0);
    c.work().passes = 2;
    add_roots(c, static_cast<double>(c.dim(0, 0)) * static_cast<double>(groups));
    mark_learned(c, {1, 2});
}

void work_mean_variance(NodeContext& c) {
    c.work().vector_ops = c.row().cost.vector * c.elements(0);
    c.work().passes = 2;
    add_roots(c, c.rank(0) > 1 ? static_cast<double>(c.dim(0, 1)) : 1);
}

/// Squares summed over a window of channels (a sliding sum takes 2 additions), then a power and a division.
void work_lrn(NodeContext& c) {
    work_per_input(c);
    c.work().passes = 1;
}

void work_lp_norm(NodeContext& c) {
    work_per_input(c);
    c.work().passes = 2;
    const auto group = static_cast<double>(c.dim(0, c.integer("axis", -1)));
    add_roots(c, group > 0 ? c.elements(0) / group : 0);
}

// --- Softmax

void work_softmax(NodeContext& c) {
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

Shape loss_shape(const NodeContext& c) {
    return c.text("reduction", "mean") == "none" ? c.shape(1) : Shape{};
}

void infer_loss(NodeContext& c) {
    c.set_output(0, c.type(0), loss_shape(c));
    if (c.has_output(1))
        c.set_output(1, c.type(0), c.shape(0));
}

void work_log_likelihood(NodeContext& c) {
    c.work().vector_ops = 2 * c.elements(1);
    read_part(c, 0, c.elements(1));
}

constexpr OperatorRow kNormalizationRows[] = {
    kOnnx.normalization("BatchNormalization", 1, infer_batch_norm, work_batch_norm, {2, 0},
                        "scale and shift per channel in inference; statistics too in training"),
    kOnnx.normalization("LayerNormalization", 17, infer_layer_norm, work_layer_norm, {6, 0},
                        "mean, variance, scale and shift over the trailing axes; two passes"),
    kMicrosoft.normalization("LayerNormalization", 1, infer_layer_norm, work_layer_norm, {6, 0},
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
};

} // namespace

constinit const std::span<const OperatorRow> normalization_rows = kNormalizationRows;

} // namespace archsim
