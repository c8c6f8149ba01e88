#pragma once
// A study: every combination of models, devices, software stacks, batch sizes and formats, and its outcome.

#include "archsim/compare/result.hpp"
#include "archsim/report/report.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace archsim {

/// What a study file asks for.
struct StudyRequest {
    std::string file, title, description;
    std::vector<std::string> models, devices;
    std::vector<std::string> runtimes = {std::string()}; ///< empty name: the device's default
    std::vector<std::int64_t> batch_sizes = {1};
    std::vector<std::string> precisions = {"fp32"};
    std::map<std::string, std::int64_t> dims;
    Scenario scenario = Scenario::latency;
    Scope scope = Scope::kernel;
    std::int64_t prompt_tokens = 0, generate_tokens = 0; ///< 0: one pass instead of an answer
};

/// The cells that rank among each other: one model at one batch size in one format.
struct StudyGroup {
    std::string model, precision;
    std::int64_t batch_size = 1;
    std::vector<Result> results; ///< devices x runtimes, in the order of the request
};

/// A request with the results of its cells.
struct Study {
    StudyRequest request;
    std::vector<StudyGroup> groups; ///< models x batch sizes x precisions

    /// Cells of the whole matrix.
    std::size_t cells() const;
    /// Cells with that status.
    std::size_t cells(Status status) const;
};

/// A table for each group, best first, after a summary of the winners.
ARCHSIM_API Report describe(const Study& study);
/// One flat table with a row per cell.
ARCHSIM_API Report tabulate(const Study& study);
/// {"schema": "archsim.study/1", "request": {...}, "results": [...]} with the rows of compare_models.
ARCHSIM_API std::string to_json(const Study& study);

} // namespace archsim
