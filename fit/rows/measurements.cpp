#include "fit/rows/measurements.hpp"

#include "archsim/hardware/database.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace archsim {

constexpr std::array<std::string_view, 11> kRequired = {"id",       "model",   "batch",   "precision",
                                                        "hardware", "devices", "runtime", "scope",
                                                        "metric",   "value",   "source"};
constexpr std::array<std::string_view, 20> kOptional = {
    "image_size", "sequence",      "power_mode",       "weight",     "note",     "source_date",     "phase",
    "steps",      "prompt_tokens", "generated_tokens", "boundary",   "replicas", "expert_devices",  "variant",
    "context",    "transfers",     "sampling",         "decided_by", "client",   "attention_groups"};
/// Columns that files lack, all of them, whose notes say the same.
constexpr std::array<std::string_view, 6> kCircumstances = {"variant",  "context",    "transfers",
                                                            "sampling", "decided_by", "client"};
constexpr std::array<std::string_view, 3> kScopes = {"kernel", "end_to_end", "offline"};

/// The values that words in a column stand for; the first is meant where the field is empty.
template <class Value>
struct ColumnWord {
    std::string_view text;
    Value value;
};
constexpr std::array<ColumnWord<bool>, 2> kTransfers = {{{"", false}, {"included", true}}};
constexpr std::array<ColumnWord<bool>, 3> kSampling = {{{"", false}, {"greedy", false}, {"top-p", true}}};
constexpr std::array<std::string_view, 3> kDeciders = {"", "host", "slow_kernel"};

class TableReader {
  public:
    explicit TableReader(std::string_view name) : name_(name) {}

    MeasuredTable run(std::string_view text) {
        const std::vector<CsvRecord> records = parse_csv(text);
        if (records.empty())
            fail("the file is empty", "the first line must name the columns");
        read_header(records.front());
        for (auto record = records.begin() + 1; record != records.end(); ++record)
            read_row(*record);
        return std::move(table_);
    }

  private:
    [[noreturn]] void fail(std::string message, std::string hint) const {
        throw InputError(Finding{.kind = FindingKind::malformed_file,
                                 .message = std::move(message),
                                 .file = name_,
                                 .hint = std::move(hint)});
    }

    void report(FindingKind kind, Severity severity, std::string where, std::string message,
                std::string hint) {
        table_.findings.push_back({.kind = kind,
                                   .severity = severity,
                                   .message = std::move(message),
                                   .file = name_,
                                   .where = std::move(where),
                                   .hint = std::move(hint)});
    }

    void read_header(const CsvRecord& header) {
        std::vector<std::string> known(kRequired.begin(), kRequired.end());
        known.insert(known.end(), kOptional.begin(), kOptional.end());
        for (std::size_t i = 0; i < header.fields.size(); ++i) {
            const std::string& column = header.fields[i];
            if (std::find(known.begin(), known.end(), column) == known.end()) {
                const auto nearest = nearest_names(column, known, 1);
                report(FindingKind::unknown_key, Severity::warning, "line 1",
                       fmt::format("the column \"{}\" is not known", column),
                       nearest.empty() ? std::string("it is ignored")
                                       : fmt::format("is \"{}\" meant?", nearest.front()));
            } else if (!columns_.emplace(column, i).second) {
                fail(fmt::format("the column \"{}\" appears twice", column), "remove one of them");
            }
        }
        for (const std::string_view column : kRequired)
            if (!columns_.contains(std::string(column)))
                fail(fmt::format("the column \"{}\" is missing", column),
                     "see tests/measured/README.md for the columns");
        width_ = header.fields.size();
        noted_ = std::ranges::none_of(
            kCircumstances, [&](std::string_view column) { return columns_.contains(std::string(column)); });
    }

    std::string field(const CsvRecord& record, const std::string& column) const {
        const auto found = columns_.find(column);
        return found == columns_.end() ? std::string() : record.fields[found->second];
    }

    void bad(const CsvRecord& record, std::string_view column, std::string message, std::string hint) {
        usable_ = false;
        report(FindingKind::malformed_file, Severity::error, fmt::format("line {}, {}", record.line, column),
               std::move(message), std::move(hint));
    }

    double positive(const CsvRecord& record, const std::string& column, double otherwise) {
        const std::string text = field(record, column);
        if (text.empty())
            return otherwise;
        const auto value = plain_number<double>(text);
        if (!value || *value <= 0)
            bad(record, column, fmt::format("\"{}\" is not a number above 0", text), "correct the value");
        return value.value_or(otherwise);
    }

    std::optional<int> whole(const CsvRecord& record, const std::string& column) {
        const std::string text = field(record, column);
        if (text.empty())
            return std::nullopt;
        const auto value = plain_number<double>(text);
        if (!value || *value < 1 || *value > 1e6 || *value != std::floor(*value)) {
            bad(record, column, fmt::format("\"{}\" is not a whole number from 1", text),
                "correct the value");
            return std::nullopt;
        }
        return static_cast<int>(*value);
    }

    std::string named(const CsvRecord& record, const std::string& column) {
        std::string text = field(record, column);
        if (text.empty())
            bad(record, column, "the field is empty", "every row needs it");
        return text;
    }

    void read_boundary(const CsvRecord& record, MeasuredRow& row) {
        const std::string text = field(record, "boundary");
        if (text.empty())
            return;
        if (const auto boundary = value_named<PowerBoundary>(text))
            row.boundary = *boundary;
        else
            bad(record, "boundary", fmt::format("\"{}\" is not a boundary of power", text),
                "use rail, chip, module, board or wall");
    }

    template <std::size_t size>
    bool flag(const CsvRecord& record, const std::string& column,
              const std::array<ColumnWord<bool>, size>& words) {
        const std::string text = field(record, column);
        for (const auto& [word, value] : words)
            if (word == text)
                return value;
        bad(record, column, fmt::format("\"{}\" is not known", text),
            fmt::format("use {} or leave it empty", words.back().text));
        return false;
    }

    /// The circumstances of a row beside its configuration.
    void read_circumstances(const CsvRecord& record, MeasuredRow& row) {
        read_boundary(record, row);
        row.variant = field(record, "variant");
        row.context = whole(record, "context").value_or(0);
        row.transfers = flag(record, "transfers", kTransfers);
        row.sampled = flag(record, "sampling", kSampling);
        row.client = field(record, "client");
        row.decided_by = field(record, "decided_by");
        if (std::find(kDeciders.begin(), kDeciders.end(), row.decided_by) == kDeciders.end())
            bad(record, "decided_by", fmt::format("\"{}\" is not known", row.decided_by),
                "use host or slow_kernel, or leave it empty");
        if (noted_)
            fill_from_note(row, field(record, "boundary").empty());
    }

    void read_row(const CsvRecord& record) {
        usable_ = true;
        if (record.fields.size() != width_) {
            bad(record, "columns",
                fmt::format("{} fields where the first line names {}", record.fields.size(), width_),
                "quote fields that hold commas");
            return;
        }
        MeasuredRow row{.id = named(record, "id"),
                        .model = named(record, "model"),
                        .image_size = whole(record, "image_size"),
                        .steps = whole(record, "steps"),
                        .sequence = field(record, "sequence"),
                        .batch = whole(record, "batch"),
                        .precision = named(record, "precision"),
                        .hardware = named(record, "hardware"),
                        .power_mode = field(record, "power_mode"),
                        .devices = positive(record, "devices", 1),
                        .runtime = named(record, "runtime"),
                        .scope = field(record, "scope"),
                        .line = record.line};
        if (std::find(kScopes.begin(), kScopes.end(), row.scope) == kScopes.end())
            bad(record, "scope", fmt::format("\"{}\" is not a scope", row.scope),
                "use kernel, end_to_end or offline");
        const std::string metric = field(record, "metric");
        if (const auto parsed = value_named<MeasuredMetric>(metric))
            row.metric = *parsed;
        else
            bad(record, "metric", fmt::format("\"{}\" is not a metric", metric),
                "use latency_ms, throughput_per_s, power_w or energy_mj");
        named(record, "value");
        row.value = positive(record, "value", 0);
        row.weight = positive(record, "weight", 1);
        if (row.weight > 1)
            bad(record, "weight", fmt::format("{:g} is above 1", row.weight),
                "weights lie above 0 and up to 1");
        row.source = field(record, "source");
        if (row.source.empty())
            report(FindingKind::missing_source, Severity::warning,
                   fmt::format("line {}, source", record.line), "the measurement names no source",
                   "say where it was published, or who measured it");
        row.source_date = field(record, "source_date");
        row.note = field(record, "note");
        row.phase = field(record, "phase");
        row.prompt_tokens = field(record, "prompt_tokens");
        row.generated_tokens = field(record, "generated_tokens");
        row.replicas = positive(record, "replicas", 1);
        row.expert_devices = whole(record, "expert_devices").value_or(0);
        if (row.expert_devices > row.devices / row.replicas)
            bad(record, "expert_devices",
                fmt::format("{} devices hold the experts of a model on {:g}", row.expert_devices,
                            row.devices / row.replicas),
                "give the devices of one copy of the model at most");
        row.attention_groups = positive(record, "attention_groups", 1);
        const double copy = row.devices / row.replicas;
        if (row.attention_groups > 1 &&
            (row.expert_devices != copy || std::fmod(copy, row.attention_groups) != 0))
            bad(record, "attention_groups",
                fmt::format("{:g} groups do not share the experts on {} of {:g} devices",
                            row.attention_groups, row.expert_devices, copy),
                "groups of equal size hold the experts together: expert_devices is all devices of a copy");
        read_circumstances(record, row);
        if (usable_ && !ids_.insert(row.id).second) {
            usable_ = false;
            report(FindingKind::duplicate, Severity::error, fmt::format("line {}, id", record.line),
                   fmt::format("\"{}\" appears twice", row.id), "give each row its own id");
        }
        if (usable_)
            table_.rows.push_back(std::move(row));
    }

    std::string name_;
    std::map<std::string, std::size_t> columns_;
    std::size_t width_ = 0;
    std::set<std::string> ids_;
    bool noted_ = false; ///< see fill_from_note()
    bool usable_ = true;
    MeasuredTable table_;
};

static std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

/// True where the first line names what every measurement needs.
static bool holds_measurements(const std::filesystem::path& file) {
    const std::vector<CsvRecord> records = parse_csv(first_line(read_text_file(file)));
    return !records.empty() && std::all_of(kRequired.begin(), kRequired.end(), [&](std::string_view column) {
        const auto& fields = records.front().fields;
        return std::find(fields.begin(), fields.end(), column) != fields.end();
    });
}

/// A folder stands for the CSV files in it that hold measurements, by name.
static std::vector<std::filesystem::path> measurement_files(const std::vector<std::string>& names) {
    std::vector<std::filesystem::path> files;
    for (const std::string& name : names) {
        std::error_code problem;
        if (!std::filesystem::is_directory(name, problem)) {
            files.emplace_back(name);
            continue;
        }
        std::vector<std::filesystem::path> inside;
        for (auto at = std::filesystem::directory_iterator(name, problem);
             !problem && at != std::filesystem::directory_iterator(); at.increment(problem))
            if (at->path().extension() == ".csv" && holds_measurements(at->path()))
                inside.push_back(at->path());
        std::sort(inside.begin(), inside.end());
        files.insert(files.end(), inside.begin(), inside.end());
    }
    return files;
}

std::optional<Precision> published_cache(const Runtime& runtime, const PrecisionConfig& precision) {
    const Precision p = precision.compute;
    const bool narrow = precision == PrecisionConfig::uniform(p) && !is_integer(p) && bits_of(p) <= 8;
    return narrow && runtime.allows(p) ? std::optional(Precision::fp8) : std::nullopt;
}

MeasuredTable parse_measurements(std::string_view text, std::string_view name) {
    return TableReader(name).run(text);
}

MeasuredTable read_measurements(const std::filesystem::path& file) {
    return parse_measurements(read_text_file(file), file.string());
}

MeasuredTable read_measurements(const std::vector<std::string>& files) {
    MeasuredTable table;
    for (const std::filesystem::path& file : measurement_files(files)) {
        MeasuredTable more = read_measurements(file);
        table.rows.insert(table.rows.end(), more.rows.begin(), more.rows.end());
        table.findings.insert(table.findings.end(), more.findings.begin(), more.findings.end());
    }
    return table;
}

} // namespace archsim
