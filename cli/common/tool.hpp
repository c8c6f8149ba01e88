#pragma once
// Shared by every tool: option groups, output, exit codes. Tools parse, call the library and print; they
// compute nothing.

#include "archsim/compare/decisions.hpp"
#include "archsim/extend/renderer.hpp"
#include "archsim/run/session.hpp"
#include "common/flags.hpp"
#include "common/question_options.hpp"
#include "result/generation_metrics.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace archsim::cli {

/// The name itself; for "-" a file with what standard input holds, gone when the tool ends. Throws InputError
/// when nothing can be read.
std::string model_named(const std::string& name);

/// Each in turn; a folder of ONNX files that is no checkpoint becomes its files, by name.
std::vector<std::string> models_named(const std::vector<std::string>& names);

inline constexpr std::int64_t kLargestBatch = 1 << 20; ///< of --batch-size and what else takes batches

/// Devices, with every NAME@all in each of its power modes. Throws InputError as with_every_mode() does.
std::vector<std::string> with_modes(const Session& session, const std::vector<std::string>& devices,
                                    bool families = true);

/// The sentence that a report comes down to, the first of its verdict: "Fastest: H100, 339 us."; empty: it
/// has none.
std::string first_line(const Report& report);

/// An answer as it is written: "{...}\n", and the sentence that it comes down to, "Fastest: H100, 339 us.".
struct Drawn {
    Drawn(std::string content = {}) : text(std::move(content)) {}

    /// The same with more behind it.
    Drawn operator+(const std::string& more) const {
        Drawn longer = *this;
        longer.text += more;
        return longer;
    }

    std::string text;
    std::string verdict = {}; ///< empty where no report was drawn
};

struct OutputOptions {
    std::string format, file;
    std::string color = "auto";
    int width = 0;
    bool quiet = false, ascii = false, no_color = false, no_pager = false;
    /// Formats that are none of a report but the tool's own ("ndjson"); add_to() takes them, chosen() does
    /// not.
    std::vector<std::string> own_formats = {};

    std::string sort;    ///< column that orders the answer's table; empty: none
    std::size_t top = 0; ///< rows of it that stay; 0: all

    /// The options must outlive `flags`.
    void add_to(Flags& flags, const std::string& formats);
    /// --sort and --top, for tools whose table lists what can be ranked.
    void add_order_to(Flags& flags);
    /// The one of the tool's own formats that is asked for by name or by the file's extension; else empty.
    std::string own_format() const;
    /// The format asked for, or that of the output file's extension, or text.
    Format chosen() const;
    RenderOptions render_options() const;
    /// Prints to standard output or writes the file (temporary neighbour, then rename). Of a file standard
    /// error says where it is, under the verdict of the report that was drawn, unless --quiet.
    void emit(const Drawn& content) const;
    /// The report in the format asked for, with its verdict.
    Drawn drawn_report(const Report& report, Format how) const;
    /// A report with its table in the order that --sort and --top ask for.
    Report ordered(Report report) const;
    /// Prints a part of a long answer to standard output, without a pager.
    static void emit_part(const std::string& content);
    /// The answer in the format asked for.
    template <class Answer, class View = PlainView>
    Drawn drawn(const Answer& answer, const View& view = {}) const {
        const Format how = chosen();
        return how == Format::json ? Drawn(to_json(answer, view))
                                   : drawn_report(ordered(describe(answer, view, how)), how);
    }
    template <class Answer, class View = PlainView>
    void emit_answer(const Answer& answer, const View& view = {}) const {
        emit(drawn(answer, view));
    }
};

/// "2026-11-22", or the day of SOURCE_DATE_EPOCH, so that documents can be made again.
std::string today();

/// "--max-latency", "--min-throughput": the flag of a metric's limit.
std::string limit_flag(const Metric& metric);

/// Limits and choices of tools that compare: one flag for every metric.
struct DecisionOptions {
    const MetricTable* metrics = &every_metric();
    std::map<std::string, std::string> limits; ///< as given, by key of the metric
    std::vector<std::string> pareto;

    void add_to(Flags& flags);
    /// The limits alone.
    void add_limits_to(Flags& flags);
    /// Throws UsageError for values without the right unit and unknown metrics. `preference` decides among
    /// devices that meet the limits.
    DecisionRequest request(const Metric& preference) const;
};

/// "1,8,32", or a progression that continues as its first numbers: "1,2,4,...,256", "8,16,...,64".
std::vector<std::int64_t> parse_batches(const std::string& text, const std::string& flag);

/// The models of a tool, as MODEL or with --model: names, files, folders of ONNX files, or - for standard
/// input.
struct ModelsOption {
    std::vector<std::string> positional, flag;

    void add_to(Flags& flags);
    /// In the order named. Throws UsageError when there is none.
    std::vector<std::string> taken(const std::string& tool) const;
};

struct ModelOption {
    std::string positional, flag;

    void add_to(Flags& flags);
    /// Its name. Throws UsageError unless it was named exactly once.
    std::string taken(const std::string& tool) const;
};

/// Status of a process; the same for every tool. A fault of our own is EX_SOFTWARE of sysexits.h: far from
/// those that say something about the input.
enum class Exit : std::uint8_t { ok = 0, usage = 1, input = 2, incomplete = 3, nothing = 4, fault = 70 };
/// The exit status of the one result that a tool was asked for.
int exit_code_of(const Result& result);
/// The exit status of a comparison: incomplete when a result misses a part of its model, nothing when none of
/// them runs. Where sizes are missing, the whole command with them goes to standard error.
int exit_code_of(std::span<const Result> results);
/// The same, and nothing also when no result meets the limits.
int exit_code_of(std::span<const Result> results, const DecisionRequest& limits);

/// While it holds a function, a tool gives that function its flags instead of running: for who describes the
/// tools.
std::function<void(const Flags&)>& flags_wanted();

/// Builds the parser with `setup`, runs `body`, turns errors into one line on standard error and an exit
/// code: 0 ok, 1 usage, 2 input, 3 incomplete, 4 nothing runs or meets the limits; an exception that the
/// library does not throw on purpose is a fault of ours (Exit::fault), and the line says how to report it.
int run_tool(int argc, char** argv, const std::string& name, const std::string& description,
             const std::string& examples, const std::function<void(Flags&)>& setup,
             const std::function<int()>& body);

} // namespace archsim::cli
