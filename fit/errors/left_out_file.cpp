#include "fit/errors/leave_out.hpp"

#include "archsim/core/finding.hpp"
#include "core/csv_reader.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace archsim {

namespace {

constexpr std::array<std::string_view, 5> kColumns = {"id", "shipped", "without_model", "without_device",
                                                      "without_family"};

double prediction_of(const Prediction& prediction) {
    return prediction.ok() ? prediction.predicted : std::numeric_limits<double>::quiet_NaN();
}

/// Six significant digits; nothing where there is no prediction.
std::string field(double value) {
    return std::isnan(value) ? std::string() : fmt::format("{:.6g}", value);
}

[[noreturn]] void unusable(const std::filesystem::path& file, std::size_t line, std::string message) {
    Finding finding;
    finding.kind = FindingKind::malformed_file;
    finding.file = file.string();
    finding.where = fmt::format("line {}", line);
    finding.message = std::move(message);
    finding.hint = "write it again with scripts/validate";
    throw InputError(finding);
}

[[noreturn]] void unusable_first_run(const std::filesystem::path& file, std::size_t line,
                                     std::string message) {
    Finding finding;
    finding.kind = FindingKind::malformed_file;
    finding.file = file.string();
    finding.where = fmt::format("line {}", line);
    finding.message = std::move(message);
    finding.hint = "give what validate_estimates --format csv wrote";
    throw InputError(finding);
}

} // namespace

std::vector<LeftOutRow> make_left_out(const LeftOutEstimators& estimators,
                                      const std::vector<MeasuredRow>& rows, unsigned threads) {
    const LeftOutPredictions left_out = predict_left_out(estimators, rows, threads);
    std::vector<LeftOutRow> result;
    for (std::size_t i = 0; i < rows.size(); ++i)
        result.push_back({rows[i].id, prediction_of(estimators.shipped(rows[i])),
                          prediction_of(left_out.without_model[i]), prediction_of(left_out.without_device[i]),
                          prediction_of(left_out.without_family[i])});
    return result;
}

std::string to_csv(const std::vector<LeftOutRow>& rows) {
    std::string text = fmt::format("{}\n", fmt::join(kColumns, ","));
    for (const LeftOutRow& row : rows)
        text += fmt::format("{},{},{},{},{}\n", row.id, field(row.shipped), field(row.without_model),
                            field(row.without_device), field(row.without_family));
    return text;
}

std::vector<LeftOutRow> read_left_out(const std::filesystem::path& file) {
    const std::vector<CsvRecord> records = parse_csv(read_text_file(file));
    if (records.empty() || !std::equal(kColumns.begin(), kColumns.end(), records.front().fields.begin(),
                                       records.front().fields.end()))
        unusable(file, 1, fmt::format("the columns are not {}", fmt::join(kColumns, ", ")));
    std::vector<LeftOutRow> rows;
    for (auto record = records.begin() + 1; record != records.end(); ++record) {
        if (record->fields.size() != kColumns.size())
            unusable(file, record->line,
                     fmt::format("{} fields instead of {}", record->fields.size(), kColumns.size()));
        std::array<double, 4> values{};
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::string& number = record->fields[i + 1];
            values[i] = std::numeric_limits<double>::quiet_NaN();
            if (number.empty())
                continue;
            if (const auto value = plain_number<double>(number))
                values[i] = *value;
            else
                unusable(file, record->line, fmt::format("\"{}\" is not a number", number));
        }
        rows.push_back({record->fields[0], values[0], values[1], values[2], values[3]});
    }
    return rows;
}

std::vector<FirstRun> read_first_run(const std::filesystem::path& file) {
    constexpr std::array<std::string_view, 5> kNames = {"id", "status", "predicted", "low", "high"};
    const std::vector<CsvRecord> records = parse_csv(read_text_file(file));
    std::array<std::size_t, kNames.size()> at{};
    for (std::size_t i = 0; i < kNames.size(); ++i) {
        const std::vector<std::string> none;
        const auto& header = records.empty() ? none : records.front().fields;
        const auto found = std::find(header.begin(), header.end(), kNames[i]);
        if (found == header.end())
            unusable_first_run(file, 1, fmt::format("the column {} is missing", kNames[i]));
        at[i] = static_cast<std::size_t>(found - header.begin());
    }
    std::vector<FirstRun> rows;
    for (auto record = records.begin() + 1; record != records.end(); ++record) {
        if (record->fields.size() != records.front().fields.size())
            unusable_first_run(
                file, record->line,
                fmt::format("{} fields instead of {}", record->fields.size(), records.front().fields.size()));
        if (record->fields[at[1]] != "ok")
            continue;
        const auto number = [&](std::size_t column) {
            const std::string& text = record->fields[at[column]];
            const auto value = plain_number<double>(text);
            if (!value)
                unusable_first_run(file, record->line, fmt::format("\"{}\" is not a number", text));
            return *value;
        };
        rows.push_back({record->fields[at[0]], number(2), number(3), number(4)});
    }
    return rows;
}

} // namespace archsim
