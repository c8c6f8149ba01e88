#pragma once
// The tables of the operator families; each is one source file.

#include "archsim/extend/operator.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace archsim {

/// Operators that no standard has and configurations of language models need.
inline constexpr std::string_view kArchsimDomain = "archsim";

/// Operators of TensorFlow Lite without a counterpart in ONNX.
inline constexpr std::string_view kTfliteDomain = "tflite";

/// Plugins of TensorRT, in whatever domain a file names them.
inline constexpr std::string_view kTensorRtDomain = "TRT";

/// A row by position, as the tables write them.
constexpr OperatorRow row(std::string_view name, std::string_view domain, int since, NodeFunction infer,
                          NodeFunction work, NodeFunction fold, OpKind kind, FusionClass fusion,
                          ElementCost cost, std::string_view doc, bool accepts_unknown = false,
                          bool random = false) {
    return {name, domain, since, infer, work, fold, kind, fusion, cost, doc, accepts_unknown, random};
}

/// A row of ONNX Runtime's own domain.
constexpr OperatorRow microsoft_row(std::string_view name, NodeFunction infer, NodeFunction work, OpKind kind,
                                    FusionClass fusion, ElementCost cost, std::string_view doc) {
    return {name, kMicrosoftDomain, 1, infer, work, nullptr, kind, fusion, cost, doc};
}

/// A row of ai.onnx in ONNX Runtime's own domain, which has one version.
constexpr OperatorRow of_microsoft(OperatorRow row) {
    row.domain = kMicrosoftDomain;
    row.since = 1;
    return row;
}

std::span<const OperatorRow> unary_rows(), binary_rows(), generator_rows(), convolution_rows(),
    pooling_rows(), matmul_rows(), einsum_rows(), normalization_rows(), reduction_rows(), shape_rows(),
    movement_rows(), indexing_rows(), control_flow_rows(), quantization_rows(), attention_rows(),
    contrib_attention_rows(), contrib_norm_rows(), moe_rows(), vision_rows(), sequence_rows(),
    recurrent_rows(), signal_rows(), text_rows(), ml_rows(), training_rows(), contrib_misc_rows(),
    tflite_rows(), latent_attention_rows(), linear_attention_rows(), tensorrt_plugin_rows();

struct Arity {
    std::uint8_t inputs = 0, outputs = 1;
};

/// Of an operator of the standard table.
Arity arity_of(std::string_view domain, std::string_view name);

} // namespace archsim
