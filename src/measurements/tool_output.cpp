#include "measurements/readers.hpp"

#include "core/text_file.hpp"

#include <fmt/format.h>

namespace archsim {

namespace tool_output {

std::string_view after(std::string_view text, std::string_view label) {
    const auto at = text.find(label);
    if (at == std::string_view::npos)
        return {};
    text.remove_prefix(at + label.size());
    return trimmed(text.substr(0, text.find('\n')));
}

std::optional<double> leading_number(std::string_view text) {
    const auto first = text.find_first_not_of(" \t=:");
    if (first == std::string_view::npos)
        return std::nullopt;
    const auto value = number_at_start(text.substr(first));
    return value && *value > 0 ? value : std::nullopt;
}

std::optional<double> number_after(std::string_view text, std::string_view label) {
    const auto at = text.find(label);
    return at == std::string_view::npos ? std::nullopt : leading_number(text.substr(at + label.size()));
}

std::string stem_of(std::string_view path) {
    return std::filesystem::path(path).stem().string();
}

MeasuredRow row_of(std::string runtime, MeasuredMetric metric, double value, std::string note) {
    return {.runtime = std::move(runtime),
            .scope = metric == MeasuredMetric::throughput_per_s ? "offline" : "kernel",
            .metric = metric,
            .value = value,
            .note = std::move(note)};
}

constexpr std::array kReaders = {
    Reader{is_trtexec, read_trtexec},
    Reader{is_benchmark_app, read_benchmark_app},
    Reader{is_onnxruntime_profile, read_onnxruntime_profile},
    Reader{is_onnxruntime_perf_test, read_onnxruntime_perf_test},
    Reader{is_llama_bench, read_llama_bench},
    Reader{is_serving_bench, read_serving_bench},
    Reader{is_genai_perf, read_genai_perf},
    Reader{is_benchncnn, read_benchncnn},
    Reader{is_hailortcli, read_hailortcli},
};

[[noreturn]] static void fail(std::string_view name, std::string message, std::string hint) {
    throw InputError(Finding{.kind = FindingKind::malformed_file,
                             .message = std::move(message),
                             .file = std::string(name),
                             .hint = std::move(hint)});
}

/// Gives the row what the context knows better; the row's place among others becomes its name.
static void complete(MeasuredRow& row, std::size_t number, const ToolOutput& output, std::string_view name,
                     const MeasuredContext& context) {
    const auto prefer = [&](std::string& value, const std::string& given) {
        if (!given.empty() && (value.empty() || !context.only_missing))
            value = given;
    };
    prefer(row.model, context.model);
    prefer(row.hardware, context.hardware);
    prefer(row.power_mode, context.power_mode);
    prefer(row.sequence, context.sequence);
    if (context.batch)
        row.batch = context.batch;
    if (!row.batch)
        row.batch = 1;
    if (context.devices > 0)
        row.devices = context.devices;
    if (row.precision.empty()) // what the output says is what ran
        row.precision = !context.precision.empty() ? context.precision : row.client.empty() ? "fp32" : "bf16";
    if (row.model.empty())
        fail(name, fmt::format("{} does not say which network ran", output.tool), "name it with --model");
    if (row.hardware.empty())
        fail(name, fmt::format("{} does not say which device ran", output.tool), "name it with --hardware");
    row.id = fmt::format("{}-{}-{}", stem_of(name), output.tool, number + 1);
    row.source =
        fmt::format("{}, output of {}", std::filesystem::path(name).filename().string(), output.tool);
    row.line = number + 1;
}

} // namespace tool_output

bool is_tool_output(std::string_view text) {
    return std::ranges::any_of(tool_output::kReaders,
                               [&](const tool_output::Reader& reader) { return reader.recognises(text); });
}

ToolOutput parse_tool_output(std::string_view text, std::string_view name, const MeasuredContext& context) {
    using namespace tool_output;
    const auto reader =
        std::ranges::find_if(kReaders, [&](const Reader& candidate) { return candidate.recognises(text); });
    if (reader == kReaders.end())
        fail(
            name, "this is the output of no tool that can be read",
            "trtexec, benchmark_app, onnxruntime_perf_test, ONNX Runtime's profile, llama-bench (csv, json), "
            "vllm bench serve, sglang.bench_serving, genai-perf, aiperf (json), benchncnn and hailortcli "
            "are");
    ToolOutput output = reader->read(text);
    if (output.rows.empty())
        fail(name, fmt::format("this output of {} holds no result", output.tool),
             "did the run end before it measured?");
    for (std::size_t i = 0; i < output.rows.size(); ++i)
        complete(output.rows[i], i, output, name, context);
    return output;
}

ToolOutput read_tool_output(const std::filesystem::path& file, const MeasuredContext& context) {
    return parse_tool_output(read_text_file(file.string()), file.string(), context);
}

} // namespace archsim
