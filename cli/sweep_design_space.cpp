// sweep_design_space: models x devices x changes of the device x batches x precisions, as rows, fronts and
// sensitivities.

#include "answers/sweep/sweep_file.hpp"
#include "common/answer_options.hpp"
#include "common/progress.hpp"
#include "core/parse_number.hpp"
#include "report/render/answer_document.hpp"
#include "result/generation_metrics.hpp"
#include "session/given.hpp"

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
  sweep_design_space resnet50 --hardware H100 A100 --batch-size 1,8,64 --sort efficiency --top 3 --output sweep.html
  sweep_design_space llama-3-8b --hardware H100 --prompt-tokens 512 --generate-tokens 128 --vary bandwidth=0.5x,1x,2x
  sweep_design_space resnet50 --hardware H100 --vary peak=0.5x..2x:1000 --output fine.csv --resume
  sweep_design_space resnet50 --hardware H100 --vary peak=0.5x..2x:1000 --shard 0/2 --output part0.csv
  sweep_design_space resnet50 --hardware H100 --vary peak=0.5x..2x:1000 --shard 1/2 --output part1.csv
  sweep_design_space --merge part0.csv part1.csv --output whole.csv)";

std::vector<std::int64_t> parse_batches(const std::vector<std::string>& texts) {
    std::vector<std::int64_t> batches;
    for (const std::string& text : texts) {
        const auto value = parse_whole(text);
        if (!value)
            throw UsageError(fmt::format("--batch-sizes: \"{}\" is not a whole number", text));
        batches.push_back(*value);
    }
    return batches;
}

void parse_shard(const std::string& text, SweepRequest& request) {
    const auto slash = text.find('/');
    const auto number = [&](std::string_view part, std::uint64_t& value) {
        const auto read = archsim::plain_number<std::uint64_t>(part);
        value = read.value_or(value);
        return read.has_value();
    };
    const std::string_view all = text;
    if (slash == std::string::npos || !number(all.substr(0, slash), request.shard) ||
        !number(all.substr(slash + 1), request.shards))
        throw UsageError(fmt::format("--shard: \"{}\" is not of the form INDEX/COUNT, with a COUNT from 1 to "
                                     "1000000 and an INDEX from 0 to COUNT - 1",
                                     text));
}

struct Options {
    cli::ModelsOption models;
    std::vector<std::string> hardware, batches{"1"}, vary, merge, pareto;
    std::string sensitivity, sort, shard = "0/1";
    std::size_t top = SweepSummary::kListed;
    unsigned threads = 0;
    bool resume = false, yes = false;
    cli::QuestionOptions question;
    cli::OutputOptions output;
    cli::SaveOptions save;

    void add_to(cli::Flags& flags, int argc, char** argv) {
        flags.add_document("sweep_design_space", schema_of<SweepSummary, PlainView>);
        output.own_formats = {"ndjson", "jsonl"};
        models.add_to(flags);
        flags.add_option("--hardware", hardware, "devices: NAME, NAME@MODE or a device file", "DEVICE");
        flags.add_option(
            "--vary", vary,
            "a part of the device and factors on it: bandwidth=0.5x,1x,2x or bandwidth=0.5x..4x:log8 "
            "or clock=0.8x..1.2x:5 (repeatable)",
            "PART=FACTORS");
        flags.add_option("--batch-sizes,--batch-size", batches, "batch sizes, separated by commas", "SIZES");
        question.add_to(flags, {.without = {"batch_size"}, .several = {"precision"}});
        flags.add_option("--sort", sort,
                         "metric that ranks the points: " + MetricTable::standard().keys() +
                             "; of answers to prompts: " + generation_metrics().keys() + ", latency",
                         "COLUMN");
        flags.add_top(top, "points to list per model, best first; 0: all");
        flags.add_option("--pareto", pareto, "two metrics: the points that no other beats in both", "METRIC")
            .expects(2);
        flags.add_option("--sensitivity", sensitivity, "metric: what each part alone does to it", "METRIC");
        output.add_to(flags, "text, markdown, json, html; every point: csv, ndjson");
        flags.group("Output");
        flags.add_flag("--resume", resume, "continue an interrupted FILE.partial").kept_back();
        flags.add_option("--shard", shard, "INDEX/COUNT: only this part of the points", "INDEX/COUNT");
        flags.add_option("--merge", merge, "join finished shards into --output FILE").file();
        flags.add_option("--threads", threads, "threads (default: one per core)");
        flags.add_flag("--yes", yes, "begin a sweep of more than ten million points");
        flags.group("");
        save.add_to(flags, argc, argv);
        flags.exclude("--save", "--merge");
        flags.exclude("--save", "--resume"); // the rows written before are not estimated again
    }

    /// Every point is wanted, as a line each; nothing: the summary is.
    std::optional<RowFormat> rows() const {
        if (!output.own_format().empty())
            return RowFormat::ndjson;
        return output.chosen() == Format::csv ? std::optional(RowFormat::csv) : std::nullopt;
    }

    /// Something about the points was asked for that their lines do not say.
    bool summarises() const { return !pareto.empty() || !sensitivity.empty() || !sort.empty(); }

    SweepRequest request() const {
        if (hardware.empty())
            throw UsageError("name devices with --hardware; see --help");
        SweepRequest q{.models = models.taken("sweep_design_space"),
                       .hardware = hardware,
                       .batches = parse_batches(batches)};
        for (const std::string& axis : vary)
            q.axes.push_back(parse_sweep_axis(axis));
        Question asked = question.question();
        q.conditions = std::move(asked.conditions);
        q.sizes = std::move(asked.workload.sizes);
        q.prompt = asked.workload.prompt;
        q.single_pass = asked.workload.single_pass;
        q.weights = q.conditions.weights;
        q.precisions = question.given("precision");
        if (const auto& activations = question.given("activations"); !activations.empty()) {
            if (!q.precisions.empty())
                throw UsageError("--activations: in a sweep --precision names the formats; add --weights "
                                 "where storage differs");
            q.precisions = activations;
        }
        parse_shard(shard, q);
        q.overlays.assign(question.overlays.begin(), question.overlays.end());
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

SweepSummary summary_of(const Options& options, const Sweep& sweep) {
    const MetricTable& metrics = *sweep.request().view.metrics;
    const Metric& ranks = options.sort.empty() ? sweep.usual_order() : metrics.at(options.sort, "--sort");
    SweepSummary summary(sweep.request().axes, ranks, options.top, sweep.last() - sweep.first(), metrics);
    if (!options.pareto.empty())
        summary.front.emplace(metrics.at(options.pareto[0], "--pareto"),
                              metrics.at(options.pareto[1], "--pareto"));
    if (!options.sensitivity.empty()) {
        if (sweep.request().axes.empty())
            throw UsageError(
                "--sensitivity: nothing varies; name parts with --vary, as in --vary bandwidth=0.5x,2x");
        summary.sensitivity_of = &metrics.at(options.sensitivity, "--sensitivity");
        summary.sensitivities = sweep.sensitivities(*summary.sensitivity_of);
    }
    return summary;
}

/// Every point as a line, to the file or to standard output.
void write_rows(const Options& options, const Sweep& sweep, RowFormat format, unsigned threads,
                const std::function<void(const SweepRow&)>& see) {
    if (!options.output.file.empty()) {
        cli::Progress progress("points", options.output.quiet);
        write_sweep(sweep, options.output.file,
                    {.format = format,
                     .resume = options.resume,
                     .threads = threads,
                     .progress = [&](std::uint64_t done, std::uint64_t all) { progress.show(done, all); },
                     .row = see,
                     .note =
                         [&](const std::string& said) {
                             if (!options.output.quiet)
                                 cli::print_note("sweep_design_space", said);
                         }});
        return;
    }
    const std::vector<SweepAxis>& axes = sweep.request().axes;
    const MetricTable& metrics = *sweep.request().view.metrics;
    options.output.emit_part(sweep_header(axes, format, metrics));
    std::string text;
    sweep.run(sweep.first(), threads, [&](std::span<const SweepRow> rows) {
        for (const SweepRow& row : rows)
            see(row);
        text.clear();
        append_rows(rows, axes, format, text, metrics);
        options.output.emit_part(text);
        return true;
    });
}

constexpr std::uint64_t kManyPoints = 10'000'000;

/// "40 s", "25 min", "7.5 h".
std::string rough_time(double seconds) {
    constexpr double kMinute = 60, kHour = 3600;
    return seconds < 2 * kMinute ? fmt::format("{:.0f} s", seconds)
           : seconds < 2 * kHour ? fmt::format("{:.0f} min", seconds / kMinute)
                                 : fmt::format("{:.1f} h", seconds / kHour);
}

/// Says how long a large sweep takes and how much it writes, from points of it that are estimated now, and
/// begins only when that was asked for.
void confirm_size(const Options& options, const Sweep& sweep, unsigned threads) {
    using Clock = std::chrono::steady_clock;
    constexpr auto kSample = std::chrono::milliseconds(500);
    constexpr double kGigabyte = 1e9;
    const std::uint64_t all = sweep.last() - sweep.first();
    if (all <= kManyPoints || options.yes)
        return;
    std::uint64_t points = 0;
    std::string text;
    const auto begin = Clock::now();
    sweep.run(sweep.first(), threads, [&](std::span<const SweepRow> rows) {
        points += rows.size();
        append_rows(rows, sweep.request().axes, options.rows().value_or(RowFormat::csv), text,
                    *sweep.request().view.metrics);
        return Clock::now() - begin < kSample;
    });
    const double share = static_cast<double>(all) / static_cast<double>(points);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count() * share;
    const std::string size =
        options.rows() ? fmt::format(" and {:.3g} GB", static_cast<double>(text.size()) * share / kGigabyte)
                       : "";
    throw UsageError(
        fmt::format("{} points: about {}{}, as the first {} of them went; add --yes to begin, or "
                    "leave factors out",
                    all, rough_time(seconds), size, points));
}

/// Rows go to the file or to standard output, the summary where they do not.
int sweep(const Options& options) {
    keep_freed_memory();
    const std::optional<RowFormat> format = options.rows();
    SweepRequest request = options.request();
    const Session session = options.question.open();
    request.hardware = cli::with_modes(session, request.hardware);
    const Sweep sweep(session, std::move(request));
    const unsigned threads =
        options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
    confirm_size(options, sweep, threads);
    SweepSummary summary = summary_of(options, sweep);
    std::vector<SavedResult> saved;
    const std::string measured = measured_key(session, sweep.request().hardware.front());
    // A file of every point has the rows; what they conclude is then printed beside it, if asked for.
    const bool shown = !format || (options.summarises() && !options.output.file.empty());
    const auto see = [&](const SweepRow& row) {
        shown ? summary.add(row) : summary.count(row);
        if (!options.save.file.empty()) {
            saved.push_back(saved_row(row, sweep.request()));
            saved.back().key.question = with_measured(std::move(saved.back().key.question), measured);
        }
    };
    if (format) {
        write_rows(options, sweep, *format, threads, see);
    } else {
        cli::Progress progress("points", options.output.quiet);
        sweep.run(sweep.first(), threads, [&](std::span<const SweepRow> rows) {
            for (const SweepRow& row : rows)
                see(row);
            progress.show(summary.points, sweep.last() - sweep.first());
            return true;
        });
    }
    options.save.save_rows(saved);
    if (shown)
        summary.study(sweep);
    if (!format) {
        options.output.emit_answer(summary);
    } else if (shown) {
        cli::OutputOptions screen = options.output;
        screen.file.clear();
        screen.format = "text";
        screen.emit_answer(summary);
    }
    if (summary.estimated == 0 && summary.incomplete == 0 &&
        summary.points > 0) // a finished file has nothing to resume
        return static_cast<int>(cli::Exit::nothing);
    return static_cast<int>(summary.estimated == summary.points ? cli::Exit::ok : cli::Exit::incomplete);
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    const auto body = [&] {
        if (options.merge.empty())
            return sweep(options);
        if (options.output.file.empty())
            throw UsageError("--merge: name the file to write with --output");
        merge_sweeps({options.merge.begin(), options.merge.end()}, options.output.file);
        return 0;
    };
    return cli::run_tool(
        argc, argv, "sweep_design_space",
        "Estimates every point of a design space: devices with parts changed.", kExamples,
        [&](cli::Flags& flags) { options.add_to(flags, argc, argv); }, body);
}
