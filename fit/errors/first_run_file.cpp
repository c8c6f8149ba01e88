#include "fit/errors/first_run_file.hpp"

#include "archsim/core/finding.hpp"

#include "core/csv_reader.hpp"
#include "core/parse_number.hpp"
#include "core/text_file.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

namespace {

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
