// NVIDIA's trtexec (TensorRT 8 to 10):
//
//   &&&& RUNNING TensorRT.trtexec [TensorRT v100200] # trtexec --onnx=resnet50.onnx --fp16 --dumpProfile
//   [I] Selected Device: NVIDIA A100-SXM4-80GB
//   [I] Precision: FP32+FP16
//   [I]    Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer            one line per layer with
//   --dumpProfile [I] Throughput: 2215.3 qps [I] Latency: min = 0.45 ms, max = ..., median = 0.46 ms, ...
//   with copies to and from the device [I] GPU Compute Time: min = 0.44 ms, ..., median = 0.451 ms, ...
//
// The row is the median of the GPU compute time, which is what the kernel scope estimates.

#include "measurements/readers.hpp"

#include <fmt/format.h>

namespace archsim::tool_output {

/// "FP32+FP16+INT8": the narrowest of them is what the builder may use.
static std::string built_precision(std::string_view text) {
    const std::string_view said = after(text, "Precision: ");
    for (const auto& [word, name] : {std::pair{"FP8", "fp8"}, std::pair{"INT8", "int8"},
                                     std::pair{"BF16", "bf16"}, std::pair{"FP16", "fp16"}})
        if (said.find(word) != std::string_view::npos)
            return name;
    return "fp32";
}

/// Leading dimension of "--shapes=input:8x3x224x224".
static std::optional<int> batch_of(std::string_view text) {
    const std::string_view shapes = after(text, "--shapes=");
    const auto colon = shapes.find(':');
    if (colon == std::string_view::npos)
        return std::nullopt;
    const auto value = leading_number(shapes.substr(colon + 1));
    return value ? std::optional(static_cast<int>(*value)) : std::nullopt;
}

/// Lines "[date] [I]  16.15  0.0077  0.0075  0.5  NAME" under the heading of the profile.
static std::vector<LayerTime> layers_of(std::string_view text) {
    std::vector<LayerTime> layers;
    bool inside = false, median = false;
    each_line(text, [&](std::string_view line) {
        const auto info = line.find("[I]");
        if (info == std::string_view::npos)
            return;
        line.remove_prefix(info + 3);
        if (line.find("Time(ms)") != std::string_view::npos && line.find("Layer") != std::string_view::npos) {
            inside = true;
            median = line.find("Median(ms)") != std::string_view::npos;
            return;
        }
        if (!inside)
            return;
        // total, average, median (absent in older releases), share, name
        std::vector<double> numbers;
        while (numbers.size() < (median ? 4U : 3U)) {
            const auto value = leading_number(line);
            if (!value)
                break;
            numbers.push_back(*value);
            line.remove_prefix(line.find_first_not_of(" \t"));
            line.remove_prefix(std::min(line.size(), line.find_first_of(" \t")));
        }
        const std::string_view name = after(line, "");
        if (numbers.size() < 2 || name.empty() || name == "Total") {
            inside = numbers.size() >= 2 && name != "Total";
            return;
        }
        layers.push_back({std::string(name), "", numbers[median && numbers.size() > 2 ? 2 : 1] * kMilli});
    });
    return layers;
}

bool is_trtexec(std::string_view text) {
    return text.find("TensorRT.trtexec") != std::string_view::npos ||
           text.find("GPU Compute Time: min") != std::string_view::npos;
}

ToolOutput read_trtexec(std::string_view text) {
    ToolOutput out;
    out.tool = "trtexec";
    out.layers = layers_of(text);
    const auto median = number_after(after(text, "GPU Compute Time:"), "median");
    if (!median)
        return out;
    const auto qps = number_after(text, "Throughput:");
    MeasuredRow row = row_of("tensorrt", MeasuredMetric::latency_ms, *median,
                             qps ? fmt::format("median GPU compute time; {:g} queries/s", *qps)
                                 : std::string("median GPU compute time"));
    std::string_view model = after(text, "--onnx=");
    row.model = stem_of(model.substr(0, model.find(' ')));
    row.hardware = after(text, "Selected Device: ");
    row.precision = built_precision(text);
    row.batch = batch_of(text);
    out.rows.push_back(std::move(row));
    return out;
}

} // namespace archsim::tool_output
