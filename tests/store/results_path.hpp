#pragma once
// What the tests of files of results share.

#include "store/results_file.hpp"

#include "laws/laws.hpp"
#include "store/schema.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace archsim::test {

/// A path in a folder of its own.
class ResultsPath {
  public:
    ResultsPath() {
        static int count = 0;
        folder_ = std::filesystem::temp_directory_path() /
                  ("archsim-results-" + std::to_string(getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directories(folder_);
    }
    ~ResultsPath() { std::filesystem::remove_all(folder_); }
    std::filesystem::path file() const { return folder_ / "results.db"; }
    const std::filesystem::path& folder() const { return folder_; }

  private:
    std::filesystem::path folder_;
};

inline std::vector<Result> two_results() {
    return {laws::run("resnet18", "H100", Precision::fp16, 4),
            laws::run("resnet18", "Jetson-Orin-Nano@15W", Precision::int8, 1)};
}

/// Saves results at the batch that their estimates have.
inline std::int64_t save(const std::filesystem::path& file, const RunFacts& run,
                         std::span<const Result> results) {
    std::vector<AskedResult> asked;
    for (const Result& result : results)
        asked.push_back({&result, static_cast<std::int64_t>(result.estimate.batch)});
    return save_results(file, run, asked);
}

inline std::string integrity(const std::filesystem::path& file) {
    SqlFile database(file, SqlAccess::read);
    SqlStatement check(database, "PRAGMA integrity_check");
    check.step();
    return check.text();
}

} // namespace archsim::test
