// OpenVINO's benchmark_app (2022 to 2025), C++ and Python:
//
//   [Step 4/11] Reading model files
//   [ INFO ] Loading model files
//   [Step 5/11] ...       [ INFO ] Model batch size: 1
//   [Step 8/11] Querying optimal runtime parameters
//   [ INFO ]   NETWORK_NAME: resnet50        [ INFO ]   INFERENCE_PRECISION_HINT: f32
//   [ INFO ]   PERFORMANCE_HINT: LATENCY     [ INFO ]   EXECUTION_DEVICES: ['CPU']
//   [ INFO ] Latency:
//   [ INFO ]    Median:        3.21 ms
//   [ INFO ] Throughput:   311.25 FPS
//
// With the hint LATENCY, or one stream, the row is the median latency; otherwise the throughput.

#include "measurements/readers.hpp"

#include <fmt/format.h>

namespace archsim::tool_output {

bool is_benchmark_app(std::string_view text) {
    return text.find("[Step 11/11]") != std::string_view::npos ||
           (text.find("[ INFO ] Throughput:") != std::string_view::npos &&
            text.find("[ INFO ]") != std::string_view::npos);
}

ToolOutput read_benchmark_app(std::string_view text) {
    ToolOutput out;
    out.tool = "benchmark_app";
    const auto summary = text.rfind("Latency:");
    const auto median =
        summary == std::string_view::npos ? std::nullopt : number_after(text.substr(summary), "Median:");
    const auto fps = number_after(text, "Throughput:");
    const std::string_view hint = after(text, "PERFORMANCE_HINT:"), streams = after(text, "NUM_STREAMS:");
    const bool latency = median && (hint.find("LATENCY") != std::string_view::npos || streams == "1" || !fps);
    if (!latency && !fps)
        return out;
    MeasuredRow row =
        latency
            ? row_of("openvino", MeasuredMetric::latency_ms, *median, "median of one request at a time")
            : row_of("openvino", MeasuredMetric::throughput_per_s, *fps, fmt::format("{} streams", streams));
    row.model = after(text, "NETWORK_NAME:");
    const std::string_view precision = after(text, "INFERENCE_PRECISION_HINT:");
    row.precision = precision.find("bf16") != std::string_view::npos  ? "bf16"
                    : precision.find("f16") != std::string_view::npos ? "fp16"
                                                                      : "fp32";
    for (const char* label : {"Model batch size:", "Network batch size:"})
        if (const auto batch = number_after(text, label))
            row.batch = static_cast<int>(*batch);
    out.rows.push_back(std::move(row));
    return out;
}

} // namespace archsim::tool_output
