#pragma once
// The tables of the operator families; each is one source file.

#include "archsim/extend/operator.hpp"

#include <array>
#include <span>

namespace archsim {

/// Operators that no standard has and configurations of language models need.
inline constexpr std::string_view kArchsimDomain = "archsim";

/// Operators of TensorFlow Lite without a counterpart in ONNX.
inline constexpr std::string_view kTfliteDomain = "tflite";

/// Plugins of TensorRT, in whatever domain a file names them.
inline constexpr std::string_view kTensorRtDomain = "TRT";

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

std::span<const OperatorRow> unary_rows();
std::span<const OperatorRow> binary_rows();
std::span<const OperatorRow> generator_rows();
std::span<const OperatorRow> convolution_rows();
std::span<const OperatorRow> pooling_rows();
std::span<const OperatorRow> matmul_rows();
std::span<const OperatorRow> einsum_rows();
std::span<const OperatorRow> normalization_rows();
std::span<const OperatorRow> reduction_rows();
std::span<const OperatorRow> shape_rows();
std::span<const OperatorRow> movement_rows();
std::span<const OperatorRow> indexing_rows();
std::span<const OperatorRow> control_flow_rows();
std::span<const OperatorRow> quantization_rows();
std::span<const OperatorRow> attention_rows();
std::span<const OperatorRow> contrib_attention_rows();
std::span<const OperatorRow> contrib_norm_rows();
std::span<const OperatorRow> contrib_quantized_rows();
std::span<const OperatorRow> moe_rows();
std::span<const OperatorRow> latent_attention_rows();
std::span<const OperatorRow> compressed_attention_rows();
std::span<const OperatorRow> linear_attention_rows();
std::span<const OperatorRow> vision_rows();
std::span<const OperatorRow> sequence_rows();
std::span<const OperatorRow> recurrent_rows();
std::span<const OperatorRow> signal_rows();
std::span<const OperatorRow> text_rows();
std::span<const OperatorRow> ml_rows();
std::span<const OperatorRow> training_rows();
std::span<const OperatorRow> contrib_misc_rows();
std::span<const OperatorRow> tflite_rows();
std::span<const OperatorRow> tensorrt_plugin_rows();

inline constexpr std::array kOperatorFamilies = {
    &unary_rows,
    &binary_rows,
    &generator_rows,
    &convolution_rows,
    &pooling_rows,
    &matmul_rows,
    &einsum_rows,
    &normalization_rows,
    &reduction_rows,
    &shape_rows,
    &movement_rows,
    &indexing_rows,
    &control_flow_rows,
    &quantization_rows,
    &attention_rows,
    &contrib_attention_rows,
    &contrib_norm_rows,
    &contrib_quantized_rows,
    &moe_rows,
    &vision_rows,
    &sequence_rows,
    &recurrent_rows,
    &signal_rows,
    &text_rows,
    &ml_rows,
    &training_rows,
    &contrib_misc_rows,
    &tflite_rows,
    &latent_attention_rows,
    &compressed_attention_rows,
    &linear_attention_rows,
    &tensorrt_plugin_rows,
};

} // namespace archsim
