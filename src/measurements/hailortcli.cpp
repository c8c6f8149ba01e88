// HailoRT's `hailortcli benchmark NETWORK.hef`:
//
//   Network yolov5m_wo_spp_60p/yolov5m_wo_spp_60p: 100% | 3272 | FPS: 218.10 | ETA: 00:00:00
//   FPS     (hw_only)                 = 218.106
//           (streaming)               = 218.078
//   Latency (hw)                      = 12.8354 ms
//   Device 0000:01:00.0:
//     Power in streaming mode (average) = 5.30504 W
//
// The chip is a pipeline: frames per second in streaming mode are the row, not one over the latency.

#include "measurements/readers.hpp"

#include <fmt/format.h>

namespace archsim::tool_output {

bool is_hailortcli(std::string_view text) {
    return text.find("(hw_only)") != std::string_view::npos ||
           text.find("hailortcli") != std::string_view::npos ||
           (text.find("Network ") != std::string_view::npos && text.find("| FPS:") != std::string_view::npos);
}

ToolOutput read_hailortcli(std::string_view text) {
    ToolOutput out;
    out.tool = "hailortcli";
    auto fps = number_after(text, "(streaming)");
    if (!fps)
        fps = number_after(text, "(hw_only)");
    if (!fps) { // `hailortcli run` prints the progress line alone; its last state is the whole run
        const auto at = text.rfind("FPS:");
        fps = at == std::string_view::npos ? std::nullopt : leading_number(text.substr(at + 4));
    }
    const std::string_view network = after(text, "Network ");
    const std::string model(network.substr(0, network.find_first_of("/:")));
    const auto add = [&](MeasuredMetric metric, double value, std::string note) {
        MeasuredRow row = row_of("hailort", metric, value, std::move(note));
        row.model = model;
        row.precision = "int8";
        out.rows.push_back(std::move(row));
    };
    const auto latency = number_after(text, "(hw)");
    if (fps)
        add(MeasuredMetric::throughput_per_s, *fps,
            latency ? fmt::format("pipelined; {:g} ms from first input to last output", *latency)
                    : std::string("pipelined"));
    if (const auto watts = number_after(text, "Power in streaming mode (average)"))
        add(MeasuredMetric::power_w, *watts, "average in streaming mode, at the device");
    return out;
}

} // namespace archsim::tool_output
