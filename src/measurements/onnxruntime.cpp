// ONNX Runtime. Its profile (SessionOptions.enable_profiling) is a JSON list of events in microseconds:
//
//   {"cat": "Session", "name": "model_run", "dur": 15383, ...}                        one per inference
//   {"cat": "Node", "name": "t2_nchwc_kernel_time", "dur": 401, "args": {"op_name": "Conv", ...}}
//
// Rows are the median of the inferences, without the first ones that warm up; layers are the medians of their
// events. onnxruntime_perf_test prints a summary:
//
//   Average inference time cost: 15.9 ms            P50 Latency: 0.0158 s

#include "measurements/readers.hpp"

#include "core/json_document.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim::tool_output {

using Json = nlohmann::json;

// Inferences that fill caches and arenas.
constexpr std::size_t kWarmUp = 3;
constexpr std::string_view kKernel = "_kernel_time";

static double median_of(std::vector<double> values) {
    if (values.size() > 2 * kWarmUp)
        values.erase(values.begin(), values.begin() + kWarmUp);
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct Kernel {
    std::string name, kind;
    std::vector<double> seconds;
};

bool is_onnxruntime_profile(std::string_view text) {
    return text.substr(0, text.find_first_not_of(" \t\r\n") + 1).ends_with('[') &&
           text.find("\"cat\"") != std::string_view::npos &&
           text.find("\"Session\"") != std::string_view::npos;
}

ToolOutput read_onnxruntime_profile(std::string_view text) {
    ToolOutput out;
    out.tool = "onnxruntime-profile";
    const Json events = Json::parse(bounded_json(text, "the profile of ONNX Runtime"), nullptr, false);
    if (!events.is_array())
        return out; // a run that was killed leaves the list open
    std::vector<double> runs;
    // Nodes without a name share that of their operator; their number in the graph tells them apart.
    std::vector<std::string> order;
    std::map<std::string, Kernel> kernels;
    for (const Json& event : events) {
        if (!event.is_object() || !event.contains("name") || !event["name"].is_string() ||
            !event.contains("dur") || !event["dur"].is_number())
            continue;
        const std::string name = event["name"];
        const double seconds = event["dur"].get<double>() * kMicro;
        if (name == "model_run")
            runs.push_back(seconds);
        if (!event.contains("cat") || event["cat"] != "Node" || !name.ends_with(kKernel))
            continue;
        const Json args = event.value("args", Json::object());
        const bool described = args.is_object();
        const std::string node =
            name + (described && args.contains("node_index") ? args["node_index"].dump() : "");
        Kernel& kernel = kernels[node];
        if (kernel.seconds.empty()) {
            order.push_back(node);
            kernel.name = name.substr(0, name.size() - kKernel.size());
            if (described && args.contains("op_name") && args["op_name"].is_string())
                kernel.kind = args["op_name"];
        }
        kernel.seconds.push_back(seconds);
    }
    for (const std::string& node : order)
        out.layers.push_back({kernels[node].name, kernels[node].kind, median_of(kernels[node].seconds)});
    if (!runs.empty())
        out.rows.push_back(row_of("onnxruntime-cpu", MeasuredMetric::latency_ms, median_of(runs) / kMilli,
                                  fmt::format("median of {} profiled runs", runs.size())));
    return out;
}

bool is_onnxruntime_perf_test(std::string_view text) {
    return text.find("Average inference time cost") != std::string_view::npos;
}

ToolOutput read_onnxruntime_perf_test(std::string_view text) {
    ToolOutput out;
    out.tool = "onnxruntime_perf_test";
    const auto median = number_after(text, "P50 Latency:");
    const auto average = number_after(text, "Average inference time cost:");
    if (median) // in seconds; the average is in milliseconds
        out.rows.push_back(row_of("onnxruntime-cpu", MeasuredMetric::latency_ms, *median / kMilli, "median"));
    else if (average)
        out.rows.push_back(row_of("onnxruntime-cpu", MeasuredMetric::latency_ms, *average, "average"));
    return out;
}

} // namespace archsim::tool_output
