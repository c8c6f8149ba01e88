#pragma once
// The output of the runtimes' own measuring tools, read into measurement rows and times per layer, so that an
// estimate can be checked, and a device calibrated, without typing numbers.

#include "archsim/compare/measured_row.hpp"
#include "measurements/types.hpp"

#include <filesystem>
#include <optional>
#include <string_view>

namespace archsim {

/// Facts that a log often does not say. Members that are set win over what is read, but for the precision:
/// that of the output is what ran.
struct MeasuredContext {
    std::string model, hardware, power_mode, precision;
    std::string runtime; ///< of words about language models; empty: what runs the file
    std::optional<int> batch;
    std::string sequence;
    double devices = 0; ///< that share the model; 0: what is read, or one
    /// The log wins over the model and the device, too.
    bool only_missing = false;
};

/// One measurement run.
struct ToolOutput {
    std::string tool;              ///< "trtexec", "benchmark_app", ...
    std::vector<MeasuredRow> rows; ///< without an id: read_tool_output gives it
    std::vector<LayerTime> layers; ///< in order of execution; empty without a profile
};

/// Reads the output of trtexec (with --dumpProfile: layers too), OpenVINO's benchmark_app,
/// onnxruntime_perf_test, ONNX Runtime's JSON profile (layers, and the latency of the whole), llama-bench
/// (CSV or JSON), vllm bench serve, sglang.bench_serving, genai-perf, aiperf (JSON), benchncnn or hailortcli;
/// which one is seen from the text. Throws InputError when it is none
/// of them, holds no result, or lacks what `context` must then give (--model, --hardware).
ToolOutput read_tool_output(const std::filesystem::path& file, const MeasuredContext& context = {});
bool is_tool_output(std::string_view text);
/// The same from text; `name` stands for the file.
ToolOutput parse_tool_output(std::string_view text, std::string_view name,
                             const MeasuredContext& context = {});

} // namespace archsim
