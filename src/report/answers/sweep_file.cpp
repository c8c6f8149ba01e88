#include "archsim/report/sweep_file.hpp"

#include "archsim/core/version.hpp"
#include "core/text_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace archsim {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

[[noreturn]] void fail(const fs::path& file, std::string_view what) {
    throw InputError(fmt::format("{}: {}: {}", file.string(), what, std::strerror(errno)));
}

File open_file(const fs::path& path, const char* mode, std::string_view purpose) {
    File file(std::fopen(path.c_str(), mode));
    if (!file)
        fail(path, fmt::format("cannot be {}", purpose));
    return file;
}

void write_text(const File& file, const fs::path& path, std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() || std::fflush(file.get()) != 0)
        fail(path, "could not be written; what is there can be continued with --resume");
}

fs::path beside(const fs::path& file, std::string_view ending) {
    fs::path other = file;
    other += ending;
    return other;
}

Json sizes_json(const Bindings& sizes) {
    return {{"dims", sizes.dims},
            {"shapes", sizes.input_shapes},
            {"values", sizes.input_values},
            {"real_values", sizes.input_real_values},
            {"sequences", sizes.input_sequences}};
}

Json prompt_json(const Prompt& prompt) {
    return {{"tokens", prompt.tokens},
            {"generate", prompt.generate},
            {"context", prompt.context},
            {"sampled", prompt.sampled},
            {"parallel", prompt.parallel ? Json(to_string(*prompt.parallel)) : Json(nullptr)}};
}

/// All that decides a row: lines of another request are not continued or joined.
Json manifest(const Sweep& sweep, RowFormat format) {
    const SweepRequest& q = sweep.request();
    Json metrics = Json::array();
    for (const MetricField& field : fields_of(*q.view.metrics))
        metrics.push_back(field.key());
    Json axes = Json::object();
    for (const SweepAxis& axis : q.axes)
        axes[axis.name] = axis.factors;
    return {{"schema", "archsim.sweep/4"},
            {"version", version()},
            {"request",
             {{"models", q.models},
              {"hardware", q.hardware},
              {"runtime", q.conditions.stack},
              {"precisions", q.precisions},
              {"batch_sizes", q.batches},
              {"sizes", sizes_json(q.sizes)},
              {"prompt", q.prompt ? prompt_json(*q.prompt) : Json(nullptr)},
              {"weights", q.weights ? Json(name_of(*q.weights)) : Json(nullptr)},
              {"kv_cache", q.conditions.kv_cache ? Json(name_of(*q.conditions.kv_cache)) : Json(nullptr)},
              {"strict_fp32", q.conditions.precision.strict_fp32},
              {"devices", q.conditions.devices},
              {"allow_unknown", q.conditions.allow_unknown},
              {"scenario", name_of(q.conditions.scenario)},
              {"scope", name_of(q.conditions.scope)},
              {"axes", axes},
              {"metrics", metrics},
              {"conditions",
               {{"kwh_price", q.view.conditions.kwh_price},
                {"years", q.view.conditions.years},
                {"utilization", q.view.conditions.utilization},
                {"pue", q.view.conditions.pue},
                {"grid_intensity", q.view.conditions.grid_intensity}}},
              {"format", format == RowFormat::csv ? "csv" : "ndjson"}}},
            {"points", sweep.size()},
            {"shard", q.shard},
            {"shards", q.shards}};
}

Json read_manifest(const fs::path& file) {
    const fs::path path = beside(file, ".json");
    if (!fs::is_regular_file(path))
        throw InputError(fmt::format("{}: there is no {} that says which sweep it belongs to", file.string(),
                                     path.filename().string()));
    const Json document = Json::parse(read_text_file(path), nullptr, false);
    const auto counted = [&](const char* key) {
        return document.contains(key) && document[key].is_number_unsigned();
    };
    if (!document.is_object() || !document.contains("schema") || document["schema"] != "archsim.sweep/4" ||
        !document.contains("request") || !document["request"].is_object() || !counted("points") ||
        !counted("shard") || !counted("shards"))
        throw InputError(path.string() + ": is not the description of a sweep");
    return document;
}

/// Bytes up to the last complete line, and the lines there.
struct Complete {
    std::uintmax_t bytes = 0;
    std::uint64_t lines = 0;
};

Complete complete_lines(const fs::path& path) {
    const File file = open_file(path, "rb", "read");
    Complete found;
    std::uintmax_t offset = 0;
    std::vector<char> buffer(1 << 16);
    while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
        for (std::size_t i = 0; i < n; ++i)
            if (buffer[i] == '\n') {
                ++found.lines;
                found.bytes = offset + i + 1;
            }
        offset += n;
    }
    if (std::ferror(file.get()) != 0)
        fail(path, "cannot be read");
    return found;
}

void append_file(const fs::path& from, bool skip_first_line, const File& out, const fs::path& to) {
    const File in = open_file(from, "rb", "read");
    std::vector<char> buffer(1 << 16);
    while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), in.get())) {
        std::string_view text(buffer.data(), n);
        if (skip_first_line) {
            const auto end = text.find('\n');
            if (end == std::string_view::npos)
                continue;
            text.remove_prefix(end + 1);
            skip_first_line = false;
        }
        write_text(out, to, text);
    }
    if (std::ferror(in.get()) != 0)
        fail(from, "cannot be read");
}

/// Rows are collected beside the file and put in place at the end: that would replace a device or a pipe.
void require_replaceable(const fs::path& file) {
    if (fs::exists(file) && !fs::is_regular_file(file))
        throw UsageError(
            fmt::format("{}: is not a file; without --output the rows go to standard output", file.string()));
}

void rename_file(const fs::path& from, const fs::path& to) {
    std::error_code problem;
    fs::rename(from, to, problem);
    if (problem)
        throw InputError(
            fmt::format("{}: cannot be renamed to {}: {}", from.string(), to.string(), problem.message()));
}

} // namespace

std::uint64_t write_sweep(const Sweep& sweep, const fs::path& file, const SweepFileOptions& options) {
    require_replaceable(file);
    const fs::path partial = beside(file, ".partial"), description = beside(file, ".json");
    const Json ours = manifest(sweep, options.format);
    const auto& axes = sweep.request().axes;
    const MetricTable& metrics = *sweep.request().view.metrics;
    const std::string header = sweep_header(axes, options.format, metrics);
    std::uint64_t from = sweep.first();
    if (options.resume && (fs::exists(partial) || fs::exists(file)) && read_manifest(file) != ours)
        throw InputError(fmt::format("{}: belongs to another sweep; give its flags, or another file",
                                     (fs::exists(partial) ? partial : file).string()));
    if (options.resume && !fs::exists(partial) && fs::exists(file))
        return 0; // finished before
    File out;
    if (options.resume && fs::exists(partial)) {
        const Complete there = complete_lines(partial);
        const std::uint64_t heading = header.empty() ? 0 : 1;
        if (there.lines >= heading) {
            fs::resize_file(partial, there.bytes);
            out = open_file(partial, "ab", "written");
            from += there.lines - heading;
        }
    }
    if (!out) {
        write_file(description.string(), ours.dump(2) + "\n");
        out = open_file(partial, "wb", "created");
        write_text(out, partial, header);
    }
    const std::uint64_t start = from;
    std::string text;
    sweep.run(from, options.threads, [&](std::span<const SweepRow> rows) {
        text.clear();
        append_rows(rows, axes, options.format, text, metrics);
        write_text(out, partial, text);
        from += rows.size();
        if (options.row)
            for (const SweepRow& row : rows)
                options.row(row);
        if (options.progress)
            options.progress(from - sweep.first(), sweep.last() - sweep.first());
        return true;
    });
    out.reset();
    rename_file(partial, file);
    return from - start;
}

void merge_sweeps(const std::vector<fs::path>& shards, const fs::path& file) {
    if (shards.empty())
        throw UsageError("--merge: name the files of the shards");
    require_replaceable(file);
    std::vector<fs::path> ordered;
    Json whole = read_manifest(shards.front());
    const auto count = whole["shards"].get<std::uint64_t>();
    if (count != shards.size())
        throw InputError(fmt::format("{}: the sweep has {} shards, {} files are given",
                                     shards.front().string(), count, shards.size()));
    ordered.resize(shards.size());
    for (const fs::path& shard : shards) {
        const Json described = read_manifest(shard);
        if (described["request"] != whole["request"] || described["points"] != whole["points"] ||
            described["shards"] != whole["shards"])
            throw InputError(
                fmt::format("{}: belongs to another sweep than {}", shard.string(), shards.front().string()));
        const auto index = described["shard"].get<std::uint64_t>();
        if (index >= count || !ordered[index].empty())
            throw InputError(fmt::format("{}: shard {} of {} is given twice", shard.string(), index, count));
        if (!fs::exists(shard))
            throw InputError(shard.string() + ": is not finished; run that shard again with --resume");
        ordered[index] = shard;
    }
    const bool has_header = whole["request"].contains("format") && whole["request"]["format"] == "csv";
    const fs::path partial = beside(file, ".partial");
    {
        const File out = open_file(partial, "wb", "created");
        for (std::size_t i = 0; i < ordered.size(); ++i)
            append_file(ordered[i], has_header && i > 0, out, partial);
    }
    whole["shard"] = 0;
    whole["shards"] = 1;
    write_file(beside(file, ".json").string(), whole.dump(2) + "\n");
    rename_file(partial, file);
}

} // namespace archsim
