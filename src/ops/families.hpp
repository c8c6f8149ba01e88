#pragma once
// The tables of the operator families; each is one source file.

#include "ops/common.hpp"

namespace archsim {

/// Operators that no standard has and configurations of language models need.
inline constexpr std::string_view kArchsimDomain = "archsim";

/// Operators of TensorFlow Lite without a counterpart in ONNX.
inline constexpr std::string_view kTfliteDomain = "tflite";

/// Plugins of TensorRT, in whatever domain a file names them.
inline constexpr std::string_view kTensorRtDomain = "TRT";

/// Rows of one domain and kind, which a table states once: each row adds what it has to itself.
struct RowsOf {
    OpKind kind;
    FusionClass fusion;
    std::string_view domain;

    constexpr OperatorRow operator()(std::string_view name, int since, NodeFunction infer, NodeFunction work,
                                     ElementCost cost, std::string_view doc,
                                     NodeFunction fold = nullptr) const {
        return {name, domain, since, infer, work, fold, kind, fusion, cost, doc};
    }
    constexpr OperatorRow operator()(std::string_view name, int since, NodeFunction infer, NodeFunction work,
                                     std::string_view doc, NodeFunction fold = nullptr) const {
        return (*this)(name, since, infer, work, {}, doc, fold);
    }
};

/// The kinds of rows that tables of a domain have.
struct RowKinds {
    std::string_view domain;
    RowsOf elementwise{OpKind::elementwise, FusionClass::elementwise, domain};
    RowsOf opaque{OpKind::elementwise, FusionClass::opaque, domain};
    RowsOf movement{OpKind::data_movement, FusionClass::injective, domain};
    RowsOf transparent{OpKind::free, FusionClass::transparent, domain};
    RowsOf product{OpKind::matmul, FusionClass::contraction, domain};
    RowsOf convolution{OpKind::convolution, FusionClass::contraction, domain};
    RowsOf attention{OpKind::attention, FusionClass::contraction, domain};
    RowsOf softmax{OpKind::softmax, FusionClass::reduction, domain};
    RowsOf normalization{OpKind::normalization, FusionClass::reduction, domain};
    RowsOf pooling{OpKind::pooling, FusionClass::reduction, domain};
    RowsOf reduction{OpKind::reduction, FusionClass::reduction, domain};
    RowsOf opaque_reduction{OpKind::reduction, FusionClass::opaque, domain};
    RowsOf sorting{OpKind::sorting, FusionClass::opaque, domain};
    RowsOf recurrent{OpKind::recurrent, FusionClass::opaque, domain};
    constexpr RowsOf of(OpKind kind, FusionClass fusion) const { return {kind, fusion, domain}; }
};
inline constexpr RowKinds kOnnx{kOnnxDomain}, kMicrosoft{kMicrosoftDomain};

/// A row of ai.onnx in ONNX Runtime's own domain, which has one version.
constexpr OperatorRow of_microsoft(OperatorRow row) {
    row.domain = kMicrosoftDomain;
    row.since = 1;
    return row;
}

/// A row whose `infer` copes with inputs of unknown shape.
constexpr OperatorRow of_unknown(OperatorRow row) {
    row.accepts_unknown = true;
    return row;
}

/// A row that differs from run to run.
constexpr OperatorRow of_run(OperatorRow row) {
    row.random = true;
    return row;
}

extern const std::span<const OperatorRow> other_domain_rows, elementwise_rows, convolution_rows, matmul_rows,
    normalization_rows, reduction_rows, shape_rows, movement_rows, indexing_rows, control_flow_rows,
    quantization_rows, attention_rows, contrib_attention_rows, moe_rows, vision_rows, sequence_rows,
    recurrent_rows, ml_rows, tflite_rows, latent_attention_rows;

} // namespace archsim
