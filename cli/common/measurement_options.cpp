#include "common/measurement_options.hpp"
#include "core/lists.hpp"

namespace archsim::cli {

void MeasurementOptions::add_to(Flags& flags, const char* files_help) {
    flags.add_option("--measurements", files, files_help).file();
    flags
        .add_option(
            "--from", logs,
            "output file(s) of trtexec, benchmark_app, onnxruntime_perf_test, llama-bench (csv, json), vllm "
            "bench serve, sglang.bench_serving, genai-perf or aiperf (json), benchncnn or hailortcli, or "
            "ONNX Runtime's JSON profile; --model and --hardware name what it does not say")
        .file();
}

MeasuredTable MeasurementOptions::read(const MeasuredContext& context) const {
    if (files.empty() && logs.empty())
        throw UsageError("give --measurements FILE or --from FILE");
    MeasuredTable table = files.empty() ? MeasuredTable{} : read_measurements(files);
    for (const std::string& log : logs) {
        ToolOutput output = read_tool_output(log, context);
        append(table.rows, std::move(output.rows));
    }
    return table;
}

std::vector<std::filesystem::path>
MeasurementOptions::overlays(const std::vector<std::string>& others) const {
    std::vector<std::filesystem::path> folders;
    for (const std::filesystem::path file : files) {
        std::error_code unreadable;
        const auto folder =
            (std::filesystem::is_directory(file, unreadable) ? file : file.parent_path()) / "machines";
        if (std::filesystem::is_directory(folder, unreadable) && !contains(folders, folder))
            folders.push_back(folder);
    }
    append(folders, others);
    return folders;
}

} // namespace archsim::cli
