#pragma once
// What every tool shares: option groups, output, exit codes. Tools parse, call the library and print; they
// compute nothing.

#include "archsim/compare/decisions.hpp"
#include "archsim/report/report.hpp"
#include "archsim/run/generation.hpp"
#include "archsim/run/session.hpp"

#include "common/flags.hpp"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace archsim::cli {

/// Where the answer goes and how it looks.
struct OutputOptions {
    std::string format, file;
    std::string color = "auto";
    int width = 0;
    bool quiet = false, ascii = false, no_color = false;

    void add_to(Flags& flags, const std::string& formats);
    /// The format asked for, or that of the output file's extension, or text.
    Format chosen() const;
    RenderOptions render_options() const;
    /// Prints to standard output or writes the file (temporary neighbour, then rename).
    void emit(const std::string& content) const;
};

/// YYYY-MM-DD
std::string today();

/// Whether a tool has --batch-size.
enum class BatchFlag : std::uint8_t { present, absent };

/// What decides an estimate.
struct WorkloadOptions {
    std::string precision = "fp32";
    std::int64_t batch_size = 1;
    std::vector<std::string> dims, inputs, runtimes, overlays;
    std::string scenario = "latency", scope = "kernel";
    bool allow_unknown = false;

    void add_to(Flags& flags, BatchFlag batch = BatchFlag::present);
    PrecisionConfig parsed_precision() const;
    Bindings bindings() const;
    RunOptions run_options(const std::string& runtime = {}) const;
    /// The one software stack asked for, or empty; throws UsageError when several were.
    std::string single_runtime() const;
    Session open() const;
};

/// Storage formats apart from the arithmetic, several devices, and prompts of language models.
struct GenerationOptions {
    std::int64_t prompt_tokens = 0, generate_tokens = 0;
    std::string weights, activations, kv_cache, devices = "1";

    void add_to(Flags& flags);
    /// Overrides what the flags name; throws UsageError for unknown formats and counts.
    void apply(RunOptions& options) const;
    /// Nothing when neither a prompt nor tokens to generate were given.
    std::optional<GenerationRequest> request(std::int64_t batch_size) const;
};

/// Limits and choices of tools that compare.
struct DecisionOptions {
    std::string max_latency, max_power, max_energy, max_memory, max_cost, min_throughput;
    std::vector<std::string> pareto;

    void add_to(Flags& flags);
    /// Throws UsageError for values without the right unit and unknown metrics. `preference` decides among
    /// devices that meet the limits.
    DecisionRequest request(Objective preference) const;
};

/// "1,8,32", or a progression that continues as its first numbers: "1,2,4,...,256", "8,16,...,64".
std::vector<std::int64_t> parse_batches(const std::string& text, const std::string& flag);

/// For tools that take the model as MODEL or with --model: fills `model`, throws UsageError unless it was
/// named exactly once.
void take_model(std::string& model, const std::string& positional, const std::string& tool);

/// Exit status for a fault of our own, EX_SOFTWARE of sysexits.h: far from those that say something about the
/// input.
inline constexpr int kOwnFault = 70;

/// 0, or 3 when there is no estimate.
int exit_code_of(const Result& result);

/// Builds the parser with `setup`, runs `body`, turns errors into one line on standard error and an exit
/// code: 0 ok, 1 usage, 2 input, 3 incomplete; an exception that the library does not throw on purpose is a
/// fault of ours (kOwnFault), and the line says how to report it.
int run_tool(int argc, char** argv, const std::string& name, const std::string& description,
             const std::string& examples, const std::function<void(Flags&)>& setup,
             const std::function<int()>& body);

} // namespace archsim::cli
