// sweep_design_space: models x devices x changes of the device x batches x precisions, as rows, fronts and
// sensitivities.

#include "archsim/report/sweep_file.hpp"
#include "common/progress.hpp"
#include "common/tool.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib> // defines __GLIBC__ where it is
#include <thread>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

using namespace archsim;

constexpr const char* kExamples =
    R"(  sweep_design_space resnet50 --hardware TPU-v4 --vary bandwidth=0.5x..4x:log8 --vary array=0.5x,1x,2x \
      --precision int8 --output sweep.csv --pareto latency energy
  sweep_design_space mobilenet_v2 --hardware KPU-T64 --vary units=0.5x..2x:16 --sensitivity energy
  sweep_design_space resnet50 --hardware H100 --vary peak=0.5x..2x:1000 --output fine.csv --resume
  sweep_design_space resnet50 --hardware H100 --vary peak=0.5x..2x:1000 --shard 0/2 --output part0.csv
  sweep_design_space resnet50 --hardware H100 --vary peak=0.5x..2x:1000 --shard 1/2 --output part1.csv
  sweep_design_space --merge part0.csv part1.csv --output whole.csv)";

std::vector<std::int64_t> parse_batches(const std::vector<std::string>& texts) {
    std::vector<std::int64_t> batches;
    for (const std::string& text : texts) {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size())
            throw UsageError(fmt::format("--batch-sizes: \"{}\" is not a whole number", text));
        batches.push_back(value);
    }
    return batches;
}

void parse_shard(const std::string& text, SweepRequest& request) {
    const auto slash = text.find('/');
    const auto number = [&](std::string_view part, std::uint64_t& value) {
        return std::from_chars(part.data(), part.data() + part.size(), value).ptr ==
                   part.data() + part.size() &&
               !part.empty();
    };
    const std::string_view all = text;
    if (slash == std::string::npos || !number(all.substr(0, slash), request.shard) ||
        !number(all.substr(slash + 1), request.shards))
        throw UsageError(fmt::format("--shard: \"{}\" is not of the form INDEX/COUNT, counted from 0", text));
}

struct Options {
    std::vector<std::string> models, hardware, precisions{"fp32"}, batches{"1"}, vary, merge, pareto;
    std::string sensitivity, file, format, shard = "0/1", runtime, scenario = "latency", scope = "kernel",
                                           color = "auto";
    std::vector<std::string> dims, overlays;
    unsigned threads = 0;
    bool resume = false, quiet = false;

    void add_to(cli::Flags& flags) {
        flags.add_option("model", models,
                         "catalogue name(s), .onnx or .gguf files, or checkpoints (config.json)");
        flags.add_option("--hardware", hardware, "devices: NAME, NAME@MODE or a device file")
            .separated_by(',');
        flags.add_option(
            "--vary", vary,
            "a part of the device and factors on it: bandwidth=0.5x,1x,2x or bandwidth=0.5x..4x:log8 "
            "or clock=0.8x..1.2x:5 (repeatable)");
        flags.add_option("--batch-sizes", batches, "batch sizes, separated by commas").separated_by(',');
        flags.add_option("--precision", precisions, "number formats, separated by commas").separated_by(',');
        flags.add_option("--runtime", runtime, "software stack instead of each device's default");
        flags.add_option("--dim", dims, "size of a symbolic dimension, NAME=VALUE (repeatable)");
        flags.add_option("--scenario", scenario, "latency or throughput").one_of({"latency", "throughput"});
        flags.add_option("--scope", scope, "kernel or end_to_end").one_of({"kernel", "end_to_end"});
        flags.add_option("--hardware-db", overlays, "folder(s) of device files that take precedence");
        flags.add_option("--pareto", pareto, "two metrics: print the points that no other beats in both")
            .expects(2);
        flags.add_option("--sensitivity", sensitivity, "metric: print what each part alone does to it");
        flags
            .add_option("-o,--output", file,
                        "write the rows to FILE (.csv, .ndjson) instead of standard output")
            .in_group("Output");
        flags.add_option("--format", format, "csv or ndjson").in_group("Output");
        flags.add_flag("--resume", resume, "continue an interrupted FILE.partial").in_group("Output");
        flags.add_option("--shard", shard, "INDEX/COUNT: only this part of the points").in_group("Output");
        flags.add_option("--merge", merge, "join finished shards into --output FILE").in_group("Output");
        flags.add_option("--threads", threads, "threads (default: one per core)").in_group("Output");
        flags.add_flag("-q,--quiet", quiet, "no progress on standard error").in_group("Output");
    }

    RowFormat row_format() const {
        if (!format.empty()) {
            if (const auto parsed = parse_row_format(format))
                return *parsed;
            throw UsageError(fmt::format("--format: \"{}\" is neither csv nor ndjson", format));
        }
        if (file.empty())
            return RowFormat::csv;
        if (const auto parsed = row_format_of_file(file))
            return *parsed;
        throw UsageError(
            fmt::format("--output: no format known for \"{}\"; add --format csv or ndjson", file));
    }

    SweepRequest request() const {
        if (models.empty() || hardware.empty())
            throw UsageError("name a model and --hardware; see --help");
        SweepRequest q;
        q.models = models;
        q.hardware = hardware;
        q.precisions = precisions;
        q.batches = parse_batches(batches);
        for (const std::string& text : vary)
            q.axes.push_back(parse_sweep_axis(text));
        cli::WorkloadOptions workload;
        workload.dims = dims;
        if (!runtime.empty())
            workload.runtimes = {runtime};
        workload.scenario = scenario;
        workload.scope = scope;
        q.sizes = workload.bindings();
        q.conditions = workload.conditions();
        parse_shard(shard, q);
        return q;
    }
};

/// Counts of one device make room for those of the next, a megabyte each: the allocator keeps it instead of
/// returning it to the system, which would clear every page again.
void keep_freed_memory() {
#ifdef __GLIBC__
    constexpr int kKept = 64 << 20;
    mallopt(M_MMAP_THRESHOLD, kKept);
    mallopt(M_TRIM_THRESHOLD, kKept);
#endif
}

/// Rows go to the file or to standard output; summaries to standard output when the rows do not.
int sweep(const Options& options) {
    keep_freed_memory();
    const RowFormat format = options.row_format();
    SweepRequest request = options.request();
    SessionOptions session_options;
    session_options.hardware_overlays.assign(options.overlays.begin(), options.overlays.end());
    const Session session(session_options);
    const Sweep sweep(session, std::move(request));
    SweepSummary summary;
    summary.axes = sweep.request().axes;
    const MetricTable& metrics = *sweep.request().view.metrics;
    if (!options.pareto.empty())
        summary.front.emplace(metrics.at(options.pareto[0], "--pareto"),
                              metrics.at(options.pareto[1], "--pareto"));
    if (!options.sensitivity.empty()) {
        summary.sensitivity_of = &metrics.at(options.sensitivity, "--sensitivity");
        summary.sensitivities = sweep.sensitivities(*summary.sensitivity_of);
    }
    const bool summarise = summary.front || summary.sensitivity_of;
    const auto see = [&summary](const SweepRow& row) {
        ++summary.points;
        summary.estimated += row.status == Status::ok;
        if (summary.front)
            summary.front->add(row);
    };
    const unsigned threads =
        options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
    cli::OutputOptions output;
    output.quiet = options.quiet;
    if (!options.file.empty()) {
        cli::Progress progress("points", options.quiet);
        write_sweep(sweep, options.file,
                    {.format = format,
                     .resume = options.resume,
                     .threads = threads,
                     .progress = [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); },
                     .row = see});
    } else {
        if (!summarise)
            output.emit(sweep_header(summary.axes, format));
        std::string text;
        sweep.run(sweep.first(), threads, [&](std::span<const SweepRow> rows) {
            for (const SweepRow& row : rows)
                see(row);
            text.clear();
            append_rows(rows, summary.axes, format, text);
            if (!summarise)
                output.emit(text);
            return true;
        });
    }
    if (summarise)
        output.emit(render(describe(summary), Format::text, output.render_options()));
    return summary.estimated == summary.points ? 0 : 3;
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    const auto body = [&] {
        if (options.merge.empty())
            return sweep(options);
        if (options.file.empty())
            throw UsageError("--merge: name the file to write with --output");
        merge_sweeps({options.merge.begin(), options.merge.end()}, options.file);
        return 0;
    };
    return cli::run_tool(
        argc, argv, "sweep_design_space",
        "Estimates every point of a design space: devices with parts changed.", kExamples,
        [&](cli::Flags& flags) { options.add_to(flags); }, body);
}
