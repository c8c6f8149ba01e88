// Fused normalisations, embeddings and softmax of com.microsoft.

#include "ops/common.hpp"
#include "ops/families.hpp"

#include <algorithm>

namespace archsim {

namespace {

/// Rows of the last axis; each takes one reciprocal square root.
double rows_of(const Shape& shape) {
    return shape.empty() || shape.back() == 0 ? 0 : product(shape) / static_cast<double>(shape.back());
}

// --- SkipLayerNormalization: input, skip, gamma, beta, bias; the simplified form has no beta

void infer_skip_norm(NodeContext& c) {
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
void work_skip_norm(NodeContext& c) {
    const double n = c.elements(0);
    c.work().vector_ops = n * (c.row().cost.vector + 1 + (c.has_input(Bias) ? 1 : 0));
    c.work().special_ops = 2 * rows_of(c.shape(0));
    c.work().passes = 2;
    for (std::size_t i = 2; i <= Bias; ++i)
        c.mark_learned(i);
}

// --- EmbedLayerNormalization: ids, segment ids, word, position and segment tables, gamma, beta, mask

void infer_embed_norm(NodeContext& c) {
    const std::int64_t batch = c.dim(0, 0), length = c.dim(0, 1), hidden = c.dim(2, 1);
    c.set_output(0, c.type(2), {batch, length, hidden});
    c.set_output(1, DataType::int32, {batch});
    c.set_output(2, c.type(2), {batch, length, hidden});
}

void work_embed_norm(NodeContext& c) {
    const double n = c.output(0).elements();
    c.work().vector_ops = n * (6 + 1 + (c.has_input(4) ? 1 : 0));
    c.work().special_ops = 2 * rows_of(c.output(0).shape);
    for (const std::uint16_t table : {std::uint16_t{2}, std::uint16_t{3}, std::uint16_t{4}})
        if (c.has_input(table))
            c.work().partial_reads.emplace_back(table, std::min(n, c.elements(table)));
}

/// As above with 8-bit tables: scales at 7 to 11, zero points at 12 to 16.
void infer_quantized_embed_norm(NodeContext& c) {
    const std::int64_t batch = c.dim(0, 0), length = c.dim(0, 1), hidden = c.dim(2, 1);
    c.set_output(0, c.type(8), {batch, length, hidden});
    c.set_output(1, DataType::int32, {batch});
}

void work_quantized_embed_norm(NodeContext& c) {
    work_embed_norm(c);
    c.work().vector_ops += 2 * 3 * c.output(0).elements();
    for (std::size_t i = 2; i < 7; ++i)
        c.mark_learned(i);
    for (std::size_t i = 8; i < c.input_count(); ++i)
        c.mark_learned(i, false);
}

// --- GroupNorm (channels last by default), SkipGroupNorm

void infer_group_norm(NodeContext& c) {
    c.set_output(0, c.type(0), c.shape(0));
    c.set_output(1, c.type(0), c.shape(0));
}

void work_group_norm(NodeContext& c) {
    const double n = c.elements(0);
    const bool skip = c.node().op_type == "SkipGroupNorm";
    c.work().vector_ops = n * (7 + (skip ? 1 : 0) + (c.has_input(4) ? 1 : 0));
    c.work().special_ops = 2 * static_cast<double>(c.dim(0, 0)) * static_cast<double>(c.integer("groups", 1));
    if (c.integer("activation", 0) == 1) { // x sigmoid(x)
        c.work().vector_ops += 2 * n;
        c.work().special_ops += 2 * n;
    }
    c.work().passes = 2;
    mark_learned(c, {1, 2});
}

void work_gated_rms(NodeContext& c) {
    const double n = c.elements(0), group = c.elements(1);
    c.work().vector_ops = 7 * n;
    c.work().special_ops = 2 * n + (group > 0 ? 2 * n / group : 0);
    c.work().passes = 2;
    c.mark_learned(1);
}

// --- BiasSoftmax, BiasSplitGelu, BiasDropout

void work_bias_softmax(NodeContext& c) {
    const Shape& x = c.shape(0);
    const std::size_t axis = x.empty() ? 0 : normalized_axis(c.integer("axis", 1), x.size());
    const double row = product(std::span(x).subspan(axis));
    work_per_input(c);
    c.work().special_ops += row > 0 ? c.elements(0) / row : 0;
    c.work().passes = 3;
}

void infer_split_gelu(NodeContext& c) {
    Shape out = c.shape(0);
    if (out.empty())
        malformed("an input of rank 1 or more is needed");
    out.back() /= 2;
    c.set_output(0, c.type(0), std::move(out));
}

void infer_bias_dropout(NodeContext& c) {
    c.set_output(0, c.type(0), c.shape(0));
    c.set_output(1, DataType::boolean, c.shape(0));
}

constexpr OperatorRow kContribNormRows[] = {
    kMicrosoft.normalization("SkipLayerNormalization", 1, infer_skip_norm, work_skip_norm<4>, {7, 0},
                             "sum of input and skip (and bias), then LayerNormalization"),
    kMicrosoft.normalization("SkipSimplifiedLayerNormalization", 1, infer_skip_norm, work_skip_norm<3>,
                             {4, 0}, "sum of input and skip (and bias), then root mean square normalisation"),
    kMicrosoft.normalization(
        "EmbedLayerNormalization", 1, infer_embed_norm, work_embed_norm,
        "sum of word, position and segment rows, then LayerNormalization; reads only those rows"),
    kMicrosoft.normalization("QEmbedLayerNormalization", 1, infer_quantized_embed_norm,
                             work_quantized_embed_norm, "EmbedLayerNormalization over 8-bit tables"),
    kMicrosoft.normalization("GroupNorm", 1, infer_group_norm, work_group_norm,
                             "group normalisation, channels last, with an optional x sigmoid(x)"),
    kMicrosoft.normalization("SkipGroupNorm", 1, infer_group_norm, work_group_norm,
                             "sum of input, skip and bias, then GroupNorm"),
    kMicrosoft.normalization("GatedRMSNorm", 1, infer_same, work_gated_rms,
                             "root mean square normalisation times a gated x sigmoid(x)"),
    kMicrosoft.softmax("BiasSoftmax", 1, infer_same, work_bias_softmax, {5, 1}, "softmax(x + bias)"),
    kMicrosoft.elementwise("BiasSplitGelu", 1, infer_split_gelu, work_per_output, {7, 1},
                           "adds a bias, then one half times the gelu of the other"),
    kMicrosoft.elementwise("BiasDropout", 1, infer_bias_dropout, work_per_output, {2, 0},
                           "bias and residual sum; the dropout does nothing in inference"),
};

} // namespace

constinit const std::span<const OperatorRow> contrib_norm_rows = kContribNormRows;

} // namespace archsim
