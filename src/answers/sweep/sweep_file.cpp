#include "answers/sweep/sweep_file.hpp"

#include "core/input_file.hpp"
#include "core/new_file.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"
#include "fields/question.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace archsim {

namespace fs = std::filesystem;

constexpr std::string_view kLog = "archsim.sweep.log/1";

[[noreturn]] static void fail(const fs::path& file, std::string_view what) {
    throw InputError(fmt::format("{}: {}: {}", file.string(), what, std::strerror(errno)));
}

/// A file that replaces a private one is private from its first byte.
static int open_new(const fs::path& path, int flags, const fs::path& replaced) {
    expect_new_files();
    const int file =
        open(path.c_str(), flags | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode_of_file(replaced) ? 0600 : 0666);
    if (file < 0)
        fail(path, errno == ELOOP ? "is a link; name another file" : "cannot be created");
    return file;
}

/// Whether the path still names the open file, and nothing else does.
static bool is_at(const fs::path& path, int file) {
    struct stat open_one {
    }, named{};
    return fstat(file, &open_one) == 0 && lstat(path.c_str(), &named) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

static int open_locked(const fs::path& path, const fs::path& file) {
    for (;;) {
        const int log = open_new(path, O_RDWR, file);
        if (flock(log, LOCK_EX | LOCK_NB) != 0) {
            const int problem = errno;
            close(log);
            if (problem == EWOULDBLOCK)
                throw InputError(
                    fmt::format("{}: another process is writing this file; wait for it, or name another file",
                                file.string()));
            errno = problem;
            fail(path, "cannot be locked; write to another file system, or to standard output");
        }
        if (is_at(path, log)) // else who held it has finished and removed it
            return log;
        close(log);
    }
}

struct LogLine {
    std::uintmax_t bytes = 0;
    std::uint64_t points = 0;
    std::string_view digest;
};

/// "BYTES POINTS DIGEST"; false for anything else.
static bool parse_line(std::string_view text, LogLine& line) {
    const auto number = [&text](auto& value) {
        const auto read = take_number<std::remove_reference_t<decltype(value)>>(text);
        if (!read || !text.starts_with(' '))
            return false;
        text.remove_prefix(1);
        value = *read;
        return true;
    };
    if (!number(line.bytes) || !number(line.points))
        return false;
    line.digest = text;
    return true;
}

/// The next `size` bytes; fewer at the end.
static bool read_into(int file, Digest& digest, std::uintmax_t size) {
    std::vector<char> buffer(1U << 16U);
    while (size > 0) {
        const ssize_t got = read(file, buffer.data(),
                                 static_cast<std::size_t>(std::min<std::uintmax_t>(size, buffer.size())));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        digest.bytes({buffer.data(), static_cast<std::size_t>(got)});
        size -= static_cast<std::uintmax_t>(got);
    }
    return true;
}

static std::string digest_of(std::string_view text) {
    Digest digest;
    digest.bytes(text);
    return digest.hex();
}

PartialSweep::PartialSweep(const fs::path& file)
    : file_(file), rows_path_(beside(file, ".partial")), log_path_(beside(file, ".partial.log")),
      log_(open_locked(log_path_, file)) {}

PartialSweep::~PartialSweep() {
    if (rows_ >= 0)
        close(rows_);
    struct stat there {};
    if (fstat(log_, &there) == 0 && there.st_size == 0 && is_at(log_path_, log_)) // nothing was begun
        unlink(log_path_.c_str());
    close(log_);
}

std::string PartialSweep::check_of(std::string_view line) const {
    return digest_of(fmt::format("{} {}", manifest_digest_, line));
}

PartialSweep::Found PartialSweep::take_up(const std::string& manifest) {
    Found found;
    manifest_digest_ = digest_of(manifest);
    const std::string text = read_text_file(log_path_);
    const std::string_view log = text;
    const std::size_t first = log.find('\n');
    std::error_code unknown;
    if (first == std::string_view::npos || !fs::is_regular_file(fs::symlink_status(rows_path_, unknown)))
        return found;
    // "archsim.sweep.log/1 DIGEST MANIFEST", intact or not to be believed.
    const std::string_view heading = log.substr(0, first);
    const std::size_t at = kLog.size() + 1, behind = at + manifest_digest_.size();
    if (!heading.starts_with(kLog) || heading.size() <= behind ||
        digest_of(heading.substr(behind + 1)) != heading.substr(at, manifest_digest_.size()))
        return found;
    if (heading.substr(behind + 1) != manifest) {
        found.another = true;
        return found;
    }
    rows_ = open(rows_path_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat there {};
    if (rows_ < 0 || fstat(rows_, &there) != 0)
        fail(rows_path_, "cannot be read");
    Digest running;
    std::uintmax_t read_bytes = 0;
    std::size_t kept = first + 1;
    for (std::size_t begin = kept; begin < log.size();) {
        const std::size_t end = log.find('\n', begin);
        if (end == std::string_view::npos)
            break;
        const std::string_view whole = log.substr(begin, end - begin);
        const std::size_t space = whole.rfind(' ');
        LogLine line;
        if (space == std::string_view::npos || check_of(whole.substr(0, space)) != whole.substr(space + 1) ||
            !parse_line(whole.substr(0, space), line) || line.bytes <= read_bytes || line.points <= points_ ||
            !read_into(rows_, running, line.bytes - read_bytes) || running.hex() != line.digest)
            break;
        read_bytes = bytes_ = line.bytes;
        points_ = line.points;
        digest_ = running;
        kept = begin = end + 1;
    }
    found.points = points_;
    found.lost_bytes = static_cast<std::uintmax_t>(there.st_size) - bytes_;
    if (points_ == 0) {
        close(std::exchange(rows_, -1));
        return found;
    }
    if (ftruncate(rows_, static_cast<off_t>(bytes_)) != 0 || lseek(rows_, 0, SEEK_END) < 0)
        fail(rows_path_, "cannot be written");
    if (ftruncate(log_, static_cast<off_t>(kept)) != 0 || lseek(log_, 0, SEEK_END) < 0)
        fail(log_path_, "cannot be written");
    return found;
}

void PartialSweep::begin(const std::string& manifest, std::string_view heading) {
    // In this order: rows without a log of theirs are not believed, whenever this ends.
    if (unlink(rows_path_.c_str()) != 0 && errno != ENOENT)
        fail(rows_path_, "cannot be replaced");
    if (ftruncate(log_, 0) != 0 || lseek(log_, 0, SEEK_SET) < 0)
        fail(log_path_, "cannot be written");
    take_access_of(file_, log_);
    manifest_digest_ = digest_of(manifest);
    write_log(fmt::format("{} {} {}\n", kLog, manifest_digest_, manifest));
    rows_ = open_new(rows_path_, O_RDWR | O_EXCL, file_);
    take_access_of(file_, rows_);
    digest_ = {};
    bytes_ = points_ = 0;
    digest_.bytes(heading);
    bytes_ = heading.size();
    if (!write_fully(rows_, heading))
        fail(rows_path_, "could not be written");
}

void PartialSweep::write_log(std::string_view line) {
    if (!write_fully(log_, line))
        fail(log_path_, "could not be written; what is there can be continued with --resume");
}

void PartialSweep::append(std::string_view rows, std::uint64_t points) {
    if (!write_fully(rows_, rows))
        fail(rows_path_, "could not be written; what is there can be continued with --resume");
    digest_.bytes(rows);
    bytes_ += rows.size();
    points_ += points;
    const std::string line = fmt::format("{} {} {}", bytes_, points_, digest_.hex());
    write_log(fmt::format("{} {}\n", line, check_of(line)));
}

void PartialSweep::finish(const std::string& manifest) {
    if (fsync(rows_) != 0 && errno != EINVAL && errno != ENOTSUP) // which some file systems cannot
        fail(rows_path_, "could not be written");
    const fs::path description = beside(file_, ".json");
    NewFile described(description, description.string());
    if (!mode_of_file(description))
        described.take_access_of(rows_path_);
    described.write(description_text(manifest, bytes_, digest_));
    described.put_in_place();
    if (std::rename(rows_path_.c_str(), file_.c_str()) != 0)
        fail(rows_path_, fmt::format("cannot be renamed to {}", file_.string()));
    discard();
}

void PartialSweep::discard() {
    unlink(rows_path_.c_str());
    unlink(log_path_.c_str());
}

namespace fs = std::filesystem;

/// Hands the bytes of a finished file to `sink` and throws unless they are those that its description states.
template <class Sink>
static void read_finished(const fs::path& path, const SweepDescription& description, const Sink& sink) {
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
static void require_replaceable(const fs::path& file) {
    std::error_code unknown;
    if (fs::exists(file, unknown) && !fs::is_regular_file(file, unknown))
        throw UsageError(
            fmt::format("{}: is not a file; without --output the rows go to standard output", file.string()));
}

/// The file itself where a link is named: two names of a file are one to write.
static fs::path behind_links(const fs::path& file) {
    std::error_code unknown;
    if (!fs::is_symlink(file, unknown))
        return file;
    const fs::path target = fs::canonical(file, unknown);
    return unknown ? file : target;
}

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
            throw InputError(fmt::format("{}: belongs to another sweep, or its models, devices or tool were "
                                         "changed since; give its flags and files, or another file",
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
            throw InputError(fmt::format("{}: belongs to another sweep than {}, or its models, devices or "
                                         "tool were changed between them",
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
