#pragma once
// Two questions on one command line: every flag takes one value for both, or one for each.

#include "archsim/run/explain_difference.hpp"
#include "common/tool.hpp"

#include <string>
#include <vector>

namespace archsim::cli {

/// The flags of a workload and its conditions, each once or twice.
struct PairOptions {
    ModelsOption models;
    std::vector<std::string> hardware, precision, weights, kv_cache, runtimes, dims, inputs, input_shapes,
        overlays;
    std::vector<std::int64_t> batches = {1}, devices = {1}, context, prompt_tokens, generate_tokens;
    std::string scenario = "latency", scope = "kernel";
    bool strict_fp32 = false, allow_unknown = false;

    void add_to(Flags& flags);
    /// What is asked of the first (0) or second (1). Throws UsageError for values that nobody knows.
    DifferenceSide side(std::size_t index) const;
    Session open() const;
};

} // namespace archsim::cli
