#include "common/check_options.hpp"

#include "archsim/check/check_me.hpp"
#include "archsim/check/report.hpp"
#include "archsim/core/data_dir.hpp"

#include <iterator>

namespace archsim::cli {

void CheckOptions::add_to(Flags& flags) {
    flags.add_flag("--check-me", check_me,
                   "also the command that measures the same in the software stack of the estimate");
}

std::string CheckOptions::text(const std::vector<const Result*>& results, const OutputOptions& output) const {
    if (!check_me)
        return {};
    const Format format = output.chosen();
    if (format != Format::text && format != Format::markdown)
        throw UsageError("--check-me: only with --format text or markdown");
    const CheckCommands checks(data_dir() / "hardware_db" / "check_me.json");
    std::vector<CheckCommand> commands;
    for (const Result* result : results)
        if (result->ok() && result->model != nullptr)
            commands.push_back(checks.command(*result, check_inputs(*result->model)));
    return "\n" + render(describe(commands), format, output.render_options());
}

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
