#include "common/measurement_options.hpp"

#include <iterator>

namespace archsim::cli {

void MeasurementOptions::add_to(Flags& flags, const char* files_help) {
    flags.add_option("--measurements", files, files_help);
    flags.add_option(
        "--from", logs,
        "output file(s) of trtexec, benchmark_app, onnxruntime_perf_test, llama-bench (csv, json) or "
        "hailortcli, or ONNX Runtime's JSON profile; --model and --hardware name what it does not say");
}

MeasuredTable MeasurementOptions::read(const MeasuredContext& context) const {
    if (files.empty() && logs.empty())
        throw UsageError("give --measurements FILE or --from FILE");
    MeasuredTable table = files.empty() ? MeasuredTable{} : read_measurements(files);
    for (const std::string& log : logs) {
        ToolOutput output = read_tool_output(log, context);
        std::move(output.rows.begin(), output.rows.end(), std::back_inserter(table.rows));
    }
    return table;
}

} // namespace archsim::cli
