// ncnn's benchncnn (benchmark/README.md): five settings, then a line for each network:
//
//   loop_count = 50
//   num_threads = 4
//   powersave = 2
//   gpu_device = -1
//   cooling_down = 1
//             squeezenet  min =   16.49  max =   17.01  avg =   16.64
//        squeezenet_int8  min =   18.11  max =   18.26  avg =   18.17
//
// The row is the average, as there is no median; names are the tool's. A network whose name ends in _int8 ran
// in 8 bits; the format of the others follows from the processor, which the output does not name.

#include "measurements/readers.hpp"

#include <fmt/format.h>

namespace archsim::tool_output {

bool is_benchncnn(std::string_view text) {
    return text.find("loop_count = ") != std::string_view::npos &&
           text.find("cooling_down = ") != std::string_view::npos;
}

ToolOutput read_benchncnn(std::string_view text) {
    ToolOutput out;
    out.tool = "benchncnn";
    const std::string_view threads = after(text, "num_threads = ");
    each_line(text, [&](std::string_view line) {
        const auto at = line.find(" min =");
        const auto average = number_after(line, " avg =");
        if (at == std::string_view::npos || !average)
            return;
        constexpr std::string_view kInteger = "_int8", kParameters = ".param";
        std::string_view name = trimmed(line.substr(0, at));
        if (name.ends_with(kParameters))
            name.remove_suffix(kParameters.size());
        const bool integer = name.ends_with(kInteger);
        if (integer)
            name.remove_suffix(kInteger.size());
        const auto least = number_after(line, " min =");
        MeasuredRow row = row_of("ncnn", MeasuredMetric::latency_ms, *average,
                                 fmt::format("average, {} threads; min {:g} ms", threads, least.value_or(0)));
        row.model = name;
        row.precision = integer ? "int8" : "";
        out.rows.push_back(std::move(row));
    });
    return out;
}

} // namespace archsim::tool_output
