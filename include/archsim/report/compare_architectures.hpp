#pragma once
// The answer of compare_architectures as report blocks and as its stable JSON document.

#include "archsim/compare/common_regions.hpp"
#include "archsim/compare/explanation.hpp"
#include "archsim/compare/objective.hpp"
#include "archsim/core/export.hpp"
#include "archsim/report/report.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace archsim {

enum class ComparisonLevel : std::uint8_t { summary, detailed, subgraph };
ARCHSIM_API std::string_view name_of(ComparisonLevel level);
ARCHSIM_API std::optional<ComparisonLevel> parse_comparison_level(std::string_view text);

struct CompareArchitecturesRequest {
    std::string model;
    std::vector<std::string> architectures; ///< families, FAMILY=DEVICE or devices; empty: the defaults
    ComparisonLevel level = ComparisonLevel::summary;
    std::string architecture;         ///< of the detailed level; empty: all
    std::vector<std::string> explain; ///< two architectures, or none
    Objective metric = Objective::energy;
    std::string baseline; ///< of the "vs" column; empty: the fastest
    std::string precision = "fp32";
    std::int64_t batch_size = 1;
    std::string runtime;
    std::map<std::string, std::int64_t> dims;
    Scenario scenario = Scenario::latency;
    Scope scope = Scope::kernel;
    CostOptions cost;
};

struct ArchitectureComparison {
    CompareArchitecturesRequest request;
    std::shared_ptr<const ModelFacts> model;
    std::vector<std::string> labels; ///< one per result, as asked: "GPU"
    std::vector<Result> results;
    std::optional<std::size_t> baseline; ///< absent when nothing could be estimated
    std::vector<std::size_t> detailed;   ///< results that the detailed level shows
    std::vector<std::size_t> compared;   ///< results with an estimate: what `regions` refers to, in order
    std::vector<CommonRegion> regions;   ///< of the subgraph level
    std::optional<Explanation> explanation;
};

ARCHSIM_API Report describe(const ArchitectureComparison& comparison);
/// {"schema": "archsim.compare_architectures/1", ...}; unknown values are null.
ARCHSIM_API std::string to_json(const ArchitectureComparison& comparison);

} // namespace archsim
