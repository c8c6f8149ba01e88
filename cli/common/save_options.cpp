#include "common/save_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace archsim::cli {

void SaveOptions::add_to(Flags& flags, int argc, char** argv) {
    flags
        .add_option("--save", file,
                    "also add the results to FILE, a database that `archsim history` asks (SQLite)")
        .written()
        .in_group("Output");
    tool_ = flags.tool();
    std::vector<std::string> words{tool_};
    words.insert(words.end(), argv + 1, argv + argc);
    command_ = fmt::format("{}", fmt::join(words, " "));
}

void SaveOptions::save(std::span<const Result> results, std::int64_t batch_size,
                       const MetricView& view) const {
    std::vector<AskedResult> asked;
    for (const Result& result : results)
        asked.push_back({&result, batch_size});
    save(asked, view);
}

void SaveOptions::save(std::span<const AskedResult> results, const MetricView& view) const {
    if (!file.empty())
        save_results(file, {tool_, command_}, results, view);
}

void SaveOptions::save_rows(std::span<const SavedResult> rows) const {
    if (!file.empty())
        archsim::save_rows(file, {tool_, command_}, rows);
}

} // namespace archsim::cli
