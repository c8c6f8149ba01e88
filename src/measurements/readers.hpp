#pragma once
// One reader per tool, and what they share. A reader fills what its tool prints and leaves the rest to the
// context.

#include "core/scan_text.hpp"
#include "measurements/tool_output.hpp"

namespace archsim::tool_output {

inline constexpr double kMicro = 1e-6, kMilli = 1e-3;

/// Recognises a tool's output and reads it.
struct Reader {
    bool (*recognises)(std::string_view text);
    ToolOutput (*read)(std::string_view text);
};

bool is_trtexec(std::string_view text);
ToolOutput read_trtexec(std::string_view text);
bool is_benchmark_app(std::string_view text);
ToolOutput read_benchmark_app(std::string_view text);
bool is_onnxruntime_profile(std::string_view text);
ToolOutput read_onnxruntime_profile(std::string_view text);
bool is_onnxruntime_perf_test(std::string_view text);
ToolOutput read_onnxruntime_perf_test(std::string_view text);
bool is_llama_bench(std::string_view text);
ToolOutput read_llama_bench(std::string_view text);
bool is_serving_bench(std::string_view text);
ToolOutput read_serving_bench(std::string_view text);
bool is_genai_perf(std::string_view text);
ToolOutput read_genai_perf(std::string_view text);
bool is_benchncnn(std::string_view text);
ToolOutput read_benchncnn(std::string_view text);
bool is_hailortcli(std::string_view text);
ToolOutput read_hailortcli(std::string_view text);

/// The text after `label`, to the end of its line, without blanks at its ends; empty when there is none.
std::string_view after(std::string_view text, std::string_view label);
/// The number at the beginning of a text, after blanks and `=` or `:`.
std::optional<double> leading_number(std::string_view text);
/// The same after `label`.
std::optional<double> number_after(std::string_view text, std::string_view label);
/// "models/resnet50.onnx" -> "resnet50"
std::string stem_of(std::string_view path);
MeasuredRow row_of(std::string runtime, MeasuredMetric metric, double value, std::string note);

} // namespace archsim::tool_output
