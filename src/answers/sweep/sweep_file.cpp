#include "answers/sweep/sweep_file.hpp"

#include "answers/sweep/sweep_manifest.hpp"
#include "core/input_file.hpp"
#include "core/new_file.hpp"
#include "fields/question.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

namespace {

namespace fs = std::filesystem;

/// Hands the bytes of a finished file to `sink` and throws unless they are those that its description states.
template <class Sink>
void read_finished(const fs::path& path, const SweepDescription& description, const Sink& sink) {
    const InputFile in(path);
    std::vector<char> buffer(1U << 16U);
    Digest digest;
    std::uintmax_t bytes = 0;
    while (const std::size_t n = in.read_on(buffer.data(), buffer.size())) {
        const std::string_view text(buffer.data(), n);
        digest.bytes(text);
        bytes += n;
        if (bytes <= description.bytes)
            sink(text);
    }
    if (bytes != description.bytes || digest.hex() != description.digest)
        throw InputError(fmt::format("{0}: is not what {0}.json describes: changed, damaged or not finished; "
                                     "run it again without --resume",
                                     path.string()));
}

/// Rows are collected beside the file and put in place at the end: that would replace a device or a pipe.
void require_replaceable(const fs::path& file) {
    std::error_code unknown;
    if (fs::exists(file, unknown) && !fs::is_regular_file(file, unknown))
        throw UsageError(
            fmt::format("{}: is not a file; without --output the rows go to standard output", file.string()));
}

/// The file itself where a link is named: two names of a file are one to write.
fs::path behind_links(const fs::path& file) {
    std::error_code unknown;
    if (!fs::is_symlink(file, unknown))
        return file;
    const fs::path target = fs::canonical(file, unknown);
    return unknown ? file : target;
}

} // namespace

std::uint64_t write_sweep(const Sweep& sweep, const fs::path& named, const SweepFileOptions& options) {
    require_replaceable(named);
    const fs::path file = behind_links(named);
    const std::string ours = sweep_manifest(sweep, options.format);
    const auto& axes = sweep.request().axes;
    const MetricTable& metrics = *sweep.request().view.metrics;
    const std::uint64_t all = sweep.last() - sweep.first();
    PartialSweep partial(file);
    PartialSweep::Found found;
    if (options.resume) {
        found = partial.take_up(ours);
        const auto another = [](const fs::path& what) {
            throw InputError(fmt::format(
                "{}: belongs to another sweep, or its models, devices or tool were changed since; give its "
                "flags and files, or another file",
                what.string()));
        };
        if (found.another || found.points > all)
            another(beside(file, ".partial"));
        if (found.points == 0 && found.lost_bytes == 0 && fs::exists(file)) { // finished before
            const SweepDescription description = read_description(file);
            if (description.manifest != ours)
                another(file);
            read_finished(file, description, [](std::string_view) {});
            partial.discard();
            return 0;
        }
        if (found.lost_bytes > 0 && options.note)
            options.note(fmt::format("{}: the first {} points are kept; {} bytes behind them were cut off or "
                                     "damaged and are estimated again",
                                     beside(named, ".partial").string(), found.points, found.lost_bytes));
    }
    if (found.points == 0)
        partial.begin(ours, sweep_header(axes, options.format, metrics));
    const std::uint64_t start = sweep.first() + found.points;
    std::uint64_t from = start;
    std::string text;
    sweep.run(from, options.threads, [&](std::span<const SweepRow> rows) {
        text.clear();
        append_rows(rows, axes, options.format, text, metrics);
        partial.append(text, rows.size());
        from += rows.size();
        if (options.row)
            for (const SweepRow& row : rows)
                options.row(row);
        if (options.progress)
            options.progress(from - sweep.first(), all);
        return true;
    });
    partial.finish(ours);
    return from - start;
}

void merge_sweeps(const std::vector<fs::path>& shards, const fs::path& named) {
    if (shards.empty())
        throw UsageError("--merge: name the files of the shards");
    require_replaceable(named);
    const fs::path file = behind_links(named);
    std::vector<fs::path> ordered(shards.size());
    std::vector<SweepDescription> described(shards.size());
    const SweepDescription whole = read_description(shards.front());
    if (whole.shards != shards.size())
        throw InputError(fmt::format("{}: the sweep has {} shards, {} files are given",
                                     shards.front().string(), whole.shards, shards.size()));
    for (const fs::path& shard : shards) {
        SweepDescription description = read_description(shard);
        if (description.request != whole.request || description.shards != whole.shards)
            throw InputError(
                fmt::format("{}: belongs to another sweep than {}, or its models, devices or tool were "
                            "changed between them",
                            shard.string(), shards.front().string()));
        const std::uint64_t index = description.shard;
        if (index >= shards.size() || !ordered[index].empty())
            throw InputError(
                fmt::format("{}: shard {} of {} is given twice", shard.string(), index, shards.size()));
        if (!fs::exists(shard))
            throw InputError(shard.string() + ": is not finished; run that shard again with --resume");
        ordered[index] = shard;
        described[index] = std::move(description);
    }
    PartialSweep partial(file);
    NewFile out(file, named.string());
    Digest digest;
    std::uintmax_t bytes = 0;
    for (std::size_t i = 0; i < ordered.size(); ++i) {
        bool in_heading = whole.has_header && i > 0;
        read_finished(ordered[i], described[i], [&](std::string_view text) {
            if (in_heading) {
                const auto end = text.find('\n');
                if (end == std::string_view::npos)
                    return;
                text.remove_prefix(end + 1);
                in_heading = false;
            }
            out.write(text);
            digest.bytes(text);
            bytes += text.size();
        });
    }
    write_file(beside(file, ".json").string(), description_text(whole_manifest(whole), bytes, digest));
    out.put_in_place();
    partial.discard();
}

SavedResult saved_row(const SweepRow& point, const SweepRequest& request) {
    SavedResult row;
    row.key.model = point.model;
    nlohmann::json factors = nlohmann::json::object();
    for (const auto& [name, size] : request.sizes.dims)
        factors[name] = size;
    for (std::size_t i = 0; i < request.axes.size() && i < point.factors.size(); ++i)
        factors[request.axes[i].name] = point.factors[i];
    row.key.dims = factors.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    name_device(point.hardware, row.key);
    row.key.runtime = point.runtime;
    row.key.precision = point.precision;
    row.executed_precision = point.executed;
    row.key.batch_size = point.batch;
    row.key.scenario = name_of(request.conditions.scenario);
    row.key.scope = name_of(request.conditions.scope);
    row.key.devices = request.conditions.devices;
    if (request.prompt) {
        row.key.prompt_tokens = request.prompt->tokens;
        row.key.generate_tokens = request.prompt->generate;
    }
    Question question{{.sizes = request.sizes, .prompt = request.prompt}, request.conditions};
    question.workload.sizes.dims.clear(); // which are above
    if (request.conditions.kv_cache)
        row.key.kv_cache = name_of(*request.conditions.kv_cache);
    if (request.weights)
        question.conditions.weights = request.weights;
    row.key.question = question_key(question, kSavedColumns);
    row.status = name_of(point.status);
    row.reason = point.reason;
    const auto metrics = point.metrics->rows();
    for (std::size_t i = 0; i < metrics.size() && i < point.measures.size(); ++i)
        if (point.measures[i])
            row.metrics[metrics[i]->key] = *point.measures[i];
    return row;
}

} // namespace archsim
