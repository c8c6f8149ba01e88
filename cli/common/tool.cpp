#include "common/tool.hpp"

#include "archsim/core/version.hpp"
#include "archsim/ops/given_values.hpp"
#include "common/manual.hpp"
#include "common/model_files.hpp"
#include "core/printable.hpp"
#include "report/blocks/table_order.hpp"
#include "run/session/every_mode.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <new>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace archsim::cli {

std::vector<std::string> with_modes(const Session& session, const std::vector<std::string>& devices) {
    return with_every_mode(session.hardware(), devices);
}

std::string today() {
    std::time_t now = std::time(nullptr);
    if (const char* fixed = std::getenv("SOURCE_DATE_EPOCH"))
        now = static_cast<std::time_t>(std::atoll(fixed));
    std::tm day{};
    gmtime_r(&now, &day);
    return fmt::format("{:04}-{:02}-{:02}", day.tm_year + 1900, day.tm_mon + 1, day.tm_mday);
}

namespace {

constexpr int kDefaultWidth = 100; ///< when the terminal does not say
constexpr int kMostCounts = 64;    ///< of --devices
constexpr std::int64_t kLargestBatch = 1 << 20;

/// The command line of this run, as it can be pasted.
std::string& command_line() {
    static std::string line;
    return line;
}

/// In a shell's words: bare where nothing is special, else in single quotes.
std::string shell_word(std::string_view word) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=@+:,";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos)
        return std::string(word);
    std::string out = "'";
    for (const char c : word)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

int terminal_width() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    if (const char* columns = std::getenv("COLUMNS"))
        if (const int value = std::atoi(columns); value > 0)
            return value;
    return kDefaultWidth;
}

std::int64_t parse_integer(const std::string& text, const std::string& flag) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        throw UsageError(fmt::format("{}: \"{}\" is not a whole number; a model stands before the flags, or "
                                     "after --model",
                                     flag, text));
    return value;
}

/// What the library did not throw on purpose is no mistake of the user's.
std::string own_fault(const std::string& name, const std::vector<std::string>& arguments,
                      std::string_view what) {
    return fmt::format(
        "{0}: a fault of {0} itself, not of what it was given: {1}\n"
        "{0}: please report it to the maintainers of libarchsim {2}, with the files it names and "
        "this command line: {0} {3}\n",
        name, what, version(), fmt::join(arguments, " "));
}

} // namespace

void OutputOptions::add_to(Flags& flags, const std::string& formats) {
    flags.add_option("--format", format, "output format: " + formats).in_group("Output");
    flags.add_option("-o,--output", file, "write to FILE; its extension chooses the format")
        .in_group("Output");
    flags.add_option("--color", color, "auto, always or never")
        .one_of({"auto", "always", "never"})
        .in_group("Output");
    flags.add_flag("--no-color", no_color, "same as --color never").in_group("Output");
    flags.add_flag("--ascii", ascii, "no characters outside ASCII").in_group("Output");
    flags.add_option("--width", width, "columns of text output (default: the terminal's)")
        .within(40, 1000)
        .in_group("Output");
    flags.add_flag("--no-pager", no_pager, "print at once what is longer than the terminal")
        .in_group("Output");
    flags.add_flag("-q,--quiet", quiet, "no progress or notes on standard error").in_group("Output");
    flags.add_rule([this] {
        if (own_format().empty())
            chosen();
    });
}

void OutputOptions::add_order_to(Flags& flags) {
    flags.add_option("--sort", sort, "column that orders the table, metrics best first");
    flags.add_option("--top", top, "rows of the table; 0: all").within(0, 1 << 20).show_default();
    flags.add_rule([this] {
        if ((!sort.empty() || top > 0) && own_format().empty() && chosen() == Format::json)
            throw UsageError("--sort and --top order tables; a JSON document has every row in its own order");
    });
}

Report OutputOptions::ordered(Report report) const {
    order_tables(report, {sort, top});
    return report;
}

std::string OutputOptions::own_format() const {
    for (const std::string& own : own_formats)
        if (format.empty() ? file.ends_with("." + own) : format == own)
            return own;
    return "";
}

Format OutputOptions::chosen() const {
    if (!format.empty()) {
        if (const auto parsed = parse_format(format))
            return *parsed;
        throw UsageError(fmt::format("--format: \"{}\" is not one of text, markdown, json, csv, html{}{}",
                                     format, own_formats.empty() ? "" : ", ", fmt::join(own_formats, ", ")));
    }
    if (file.empty())
        return Format::text;
    if (const auto parsed = format_of_file(file))
        return *parsed;
    throw UsageError(
        fmt::format("--output: no format known for the extension of \"{}\"; add --format", file));
}

RenderOptions OutputOptions::render_options() const {
    RenderOptions options;
    const bool terminal = file.empty() && isatty(STDOUT_FILENO) != 0;
    options.width = width > 0 ? width : terminal_width();
    options.color = !no_color && (color == "always" ||
                                  (color == "auto" && terminal && std::getenv("NO_COLOR") == nullptr));
    options.unicode = !ascii;
    options.command = command_line();
    options.date = today();
    return options;
}

namespace {

/// Rows of the terminal; 0 where there is none.
int terminal_rows() {
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

/// Shows a text that is longer than the terminal in $PAGER, or in less; false where there is none.
bool page_through(const std::string& content) {
    const char* chosen = std::getenv("PAGER");
    const std::string pager = chosen != nullptr && *chosen != '\0' ? chosen : "less -FRX";
    std::FILE* pipe = popen(pager.c_str(), "w");
    if (pipe == nullptr)
        return false;
    const auto before = std::signal(SIGPIPE, SIG_IGN); // a reader may leave early
    std::fwrite(content.data(), 1, content.size(), pipe);
    const int ended = pclose(pipe);
    std::signal(SIGPIPE, before);
    constexpr int kNoSuchCommand = 127;
    return !(WIFEXITED(ended) && WEXITSTATUS(ended) == kNoSuchCommand);
}

} // namespace

void OutputOptions::emit(const std::string& content) const {
    if (!file.empty()) {
        write_file(file, content);
        return;
    }
    if (!no_pager && isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0 &&
        std::count(content.begin(), content.end(), '\n') >= terminal_rows() && page_through(content))
        return;
    emit_part(content);
}

void OutputOptions::emit_part(const std::string& content) {
    if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() || std::fflush(stdout) != 0)
        throw InputError("standard output: could not be written");
}

void WorkloadOptions::add_to(Flags& flags, BatchFlag batch) {
    flags.add_option(
        "--precision", precision,
        "fp32, bf16, fp16, fp8, int8, int4, w4a16 ... (default: fp32; of answers to prompts bf16)");
    if (batch == BatchFlag::present)
        flags.add_option("--batch-size", batch_size, "items per inference").within(1, 1 << 20).show_default();
    if (batch == BatchFlag::several)
        flags.add_option("--batch-size", batches,
                         "items per inference; of several sizes an answer each (default: 1)");
    flags.add_option("--runtime", runtimes, "software stack(s) instead of the device's default");
    add_sizes_to(flags);
}

void WorkloadOptions::add_sizes_to(Flags& flags) {
    flags
        .add_flag("--strict-fp32", strict_fp32,
                  "fp32 products where the stack would round them to tf32 or bf16 unasked")
        .in_group("Further conditions");
    flags.add_option("--dim", dims, "size of a symbolic dimension, NAME=VALUE (repeatable)");
    add_run_flags(flags, inputs, scenario, scope, overlays, allow_unknown);
}

void add_run_flags(Flags& flags, std::vector<std::string>& inputs, std::string& scenario, std::string& scope,
                   std::vector<std::string>& overlays, bool& allow_unknown) {
    const char* further = "Further conditions";
    flags
        .add_option("--input", inputs,
                    "values of a small input that decides shapes, NAME=1,3,224 (repeatable)")
        .in_group(further);
    flags.add_option("--scenario", scenario, "latency: one stream; throughput: saturated")
        .one_of({"latency", "throughput"})
        .show_default();
    flags.add_option("--scope", scope, "kernel: device time; end_to_end: with transfers and host work")
        .one_of({"kernel", "end_to_end"})
        .show_default();
    flags.add_option("--hardware-db", overlays, "folder(s) of device files that take precedence")
        .in_group(further);
    flags
        .add_flag("--allow-unknown", allow_unknown, "estimate although a part of the model is not understood")
        .in_group(further);
}

std::vector<std::int64_t> WorkloadOptions::batch_sizes() const {
    std::vector<std::int64_t> sizes;
    for (const std::string& text : batches) {
        sizes.push_back(parse_integer(text, "--batch-size"));
        if (sizes.back() < 1 || sizes.back() > kLargestBatch)
            throw UsageError(
                fmt::format("--batch-size: {} is not between 1 and {}", sizes.back(), kLargestBatch));
    }
    return sizes.empty() ? std::vector{batch_size} : sizes;
}

Bindings WorkloadOptions::bindings() const {
    Bindings result;
    for (const std::string& text : dims)
        give_dim(result, text, "--dim");
    for (const std::string& text : inputs)
        give_input(result, text, "--input");
    return result;
}

Workload WorkloadOptions::workload() const {
    Workload workload;
    workload.batch = batch_size;
    workload.sizes = bindings();
    return workload;
}

Conditions WorkloadOptions::conditions_of_every_stack() const {
    Conditions conditions;
    conditions.precision = precision_named(
        precision.empty() ? usual_precision(answers_prompts, strict_fp32) : precision, "--precision");
    conditions.precision.strict_fp32 = strict_fp32;
    conditions.scenario = scenario_named(scenario, "--scenario");
    conditions.scope = scope_named(scope, "--scope");
    conditions.allow_unknown = allow_unknown;
    return conditions;
}

Conditions WorkloadOptions::conditions() const {
    if (runtimes.size() > 1)
        throw UsageError("--runtime: give one software stack");
    Conditions conditions = conditions_of_every_stack();
    if (!runtimes.empty())
        conditions.stack = runtimes.front();
    return conditions;
}

Session WorkloadOptions::open() const {
    SessionOptions options;
    options.hardware_overlays.assign(overlays.begin(), overlays.end());
    return Session(options);
}

namespace {
constexpr const char* kGenerationGroup = "Language models and several devices";
}

void GenerationOptions::add_formats_to(Flags& flags) {
    const char* group = kGenerationGroup;
    flags.add_option("--weights", weights, "storage of weights where it differs, e.g. int4").in_group(group);
    flags.add_option("--activations", activations, "format of activations and arithmetic where it differs")
        .in_group(group);
    flags.add_option("--kv-cache", kv_cache, "storage of cached keys and values, e.g. fp8").in_group(group);
}

void GenerationOptions::add_to(Flags& flags, DeviceCounts counts) {
    const char* group = kGenerationGroup;
    flags.add_option("--prompt-tokens", prompt_tokens, "answer a prompt of N tokens")
        .within(1, 1 << 22)
        .in_group(group);
    flags.add_option("--generate-tokens", generate_tokens, "with M tokens, one step each")
        .within(1, 1 << 22)
        .in_group(group);
    flags
        .add_option("--context", context,
                    "with a prompt: positions that caches and static shapes are made for (default: prompt "
                    "and answer)")
        .within(1, 1 << 24)
        .in_group(group);
    flags
        .add_option(
            "--sampling", sampling,
            "with a prompt: how tokens are chosen, the likeliest or one of the likeliest (stacks that "
            "order the vocabulary for it take longer)")
        .one_of({"greedy", "top-p"})
        .in_group(group);
    add_formats_to(flags);
    const bool several = counts == DeviceCounts::several;
    flags
        .add_option("--devices", devices,
                    fmt::format("devices that share every layer (tensor parallelism){}, or auto: as many as "
                                "needed (default: 1)",
                                several ? ", a row for each count: 1 2 4 8" : ""))
        .expects(1, several ? kMostCounts : 1)
        .in_group(group);
    flags
        .add_option("--parallel", parallel,
                    "with a prompt: how devices share the model, such as tp=4,pp=2,dp=2,ep=8, in place of "
                    "--devices")
        .in_group(group);
}

Precision format_named(const std::string& text, const char* flag) {
    if (const auto parsed = parse_precision(text))
        return *parsed;
    throw UsageError(
        fmt::format("{}: \"{}\" is not a numeric format; use fp32, bf16, fp16, fp8, int8, int4 and the like",
                    flag, text));
}

void GenerationOptions::apply(Conditions& conditions) const {
    if (!activations.empty()) {
        const bool strict = conditions.precision.strict_fp32;
        conditions.precision = PrecisionConfig::uniform(format_named(activations, "--activations"));
        conditions.precision.strict_fp32 = strict;
    }
    if (!weights.empty())
        conditions.precision.weights = format_named(weights, "--weights");
    if (!kv_cache.empty())
        conditions.kv_cache = format_named(kv_cache, "--kv-cache");
    conditions.devices = counts().front();
}

std::vector<double> GenerationOptions::counts() const {
    std::vector<double> all;
    for (const std::string& text : devices) {
        all.push_back(text == "auto" ? 0 : static_cast<double>(parse_integer(text, "--devices")));
        if (all.back() < 0 || (all.back() == 0 && text != "auto"))
            throw UsageError("--devices: give a positive number, or auto");
    }
    return all;
}

void GenerationOptions::give(Workload& workload, Conditions& conditions) const {
    workload.prompt = prompt();
    apply(conditions);
    const std::vector<double> all = counts();
    if (!workload.prompt && std::find(all.begin(), all.end(), 0.0) != all.end())
        throw UsageError("--devices auto: only with --prompt-tokens or --generate-tokens");
}

void GenerationOptions::ask(WorkloadOptions& options, Workload& workload, Conditions& conditions) const {
    options.answers_prompts = asked();
    workload = options.workload();
    conditions = options.conditions();
    give(workload, conditions);
}

std::optional<Prompt> GenerationOptions::prompt() const {
    if (!asked()) {
        if (!parallel.empty())
            throw UsageError("--parallel: only with --prompt-tokens or --generate-tokens");
        if (sampling != "greedy")
            throw UsageError("--sampling: only with --prompt-tokens or --generate-tokens");
        if (context > 0)
            throw UsageError("--context: only with --prompt-tokens or --generate-tokens; the sizes of a "
                             "single pass are --dim sequence=N and --dim past_sequence=N");
        return std::nullopt;
    }
    Prompt prompt;
    prompt.sampled = sampling == "top-p";
    if (!parallel.empty()) {
        if (devices != std::vector<std::string>{"1"})
            throw UsageError("--parallel says how many devices there are: no --devices beside it");
        prompt.parallel = parse_parallelism(parallel);
    }
    if (prompt_tokens > 0)
        prompt.tokens = prompt_tokens;
    if (generate_tokens > 0)
        prompt.generate = generate_tokens;
    if (context > 0 && context < prompt.tokens + prompt.generate)
        throw UsageError(
            fmt::format("--context: {} positions do not hold a prompt of {} tokens and an answer "
                        "of {}",
                        context, prompt.tokens, prompt.generate));
    prompt.context = context;
    return prompt;
}

void ModelsOption::add_to(Flags& flags) {
    flags.add_option("MODEL", positional,
                     "catalogue name(s), .onnx, .tflite or .gguf files, checkpoints (config.json), folders "
                     "of .onnx files, or - for standard input");
    flags.add_option("--model", flag, "the same as a flag");
}

std::vector<std::string> ModelsOption::taken(const std::string& tool) const {
    std::vector<std::string> names = positional;
    names.insert(names.end(), flag.begin(), flag.end());
    if (names.empty())
        throw UsageError(fmt::format("name a model: {} MODEL", tool));
    for (const std::string& name : names) // "--precision fp16 int8": a second value where one is taken
        if (parse_precision(name) || name.find_first_not_of("0123456789") == std::string::npos)
            throw UsageError(fmt::format("\"{}\" is no model; the flag before it takes one value", name));
    return models_named(names);
}

void ModelOption::add_to(Flags& flags) {
    flags.add_option("MODEL", positional,
                     "catalogue name, .onnx, .tflite or .gguf file, checkpoint (config.json), or - for "
                     "standard input");
    flags.add_option("--model", flag, "the same as a flag");
}

std::string ModelOption::taken(const std::string& tool) const {
    if (flag.empty() == positional.empty())
        throw UsageError(positional.empty() ? fmt::format("name a model: {} MODEL", tool)
                                            : std::string("name the model once, as MODEL or with --model"));
    return model_named(flag.empty() ? positional : flag);
}

namespace {

int status(Exit code) {
    return static_cast<int>(code);
}

Exit exit_of(const Error& problem) {
    if (dynamic_cast<const UsageError*>(&problem) != nullptr)
        return Exit::usage;
    return dynamic_cast<const IncompleteError*>(&problem) != nullptr ? Exit::incomplete : Exit::input;
}

} // namespace

int exit_code_of(const Result& result) {
    return exit_code_of(std::span(&result, 1));
}

namespace {

/// The whole command with a size for every dimension that has none, on standard error.
void suggest_sizes(std::span<const Result> results) {
    constexpr std::string_view kDim = "--dim ";
    std::vector<std::string> sizes;
    for (const Result& result : results)
        for (const Finding& finding : result.estimate.findings) {
            const std::size_t at = finding.hint.find(kDim);
            if (finding.kind != FindingKind::unresolved_dimension || finding.severity != Severity::error ||
                at == std::string::npos)
                continue;
            const std::string size = finding.hint.substr(at + kDim.size());
            if (std::find(sizes.begin(), sizes.end(), size) == sizes.end())
                sizes.push_back(size);
        }
    if (sizes.empty())
        return;
    std::string line = command_line();
    for (const std::string& size : sizes)
        line += " --dim " + shell_word(size);
    fmt::print(stderr, "sizes are missing; for example: {}\n", printable(line));
}

} // namespace

int exit_code_of(std::span<const Result> results) {
    suggest_sizes(results);
    const bool incomplete = std::any_of(results.begin(), results.end(), [](const Result& result) {
        return result.estimate.status == Status::incomplete;
    });
    const bool nothing_runs = !results.empty() && std::none_of(results.begin(), results.end(),
                                                               [](const Result& r) { return r.ok(); });
    return status(incomplete ? Exit::incomplete : nothing_runs ? Exit::nothing : Exit::ok);
}

int exit_code_of(std::span<const Result> results, const DecisionRequest& limits) {
    const int code = exit_code_of(results);
    if (code != status(Exit::ok) || limits.constraints.empty())
        return code;
    return status(decide(results, limits).recommended ? Exit::ok : Exit::nothing);
}

int nothing_runs(const std::string& tool, const Error& why) {
    fmt::print(stderr, "{}: {}\n", tool, printable(why.what()));
    return status(Exit::nothing);
}

int run_tool(int argc, char** argv, const std::string& name, const std::string& description,
             const std::string& examples, const std::function<void(Flags&)>& setup,
             const std::function<int()>& body) {
    std::signal(SIGPIPE, SIG_DFL); // a closed pipe ends the tool quietly, as `| head` expects
    Flags flags(name, description,
                "Examples:\n" + examples +
                    "\nExit status: 0 ok, 1 usage, 2 input cannot be used, 3 result incomplete, 4 answered, "
                    "but nothing runs or meets the limits, 70 fault of the tool.",
                name + " " + std::string(version()));
    setup(flags);
    if (argc == 3 && std::string_view(argv[1]) == "--help-format") {
        const std::string text = formatted_help(flags, argv[2], examples);
        if (text.empty()) {
            fmt::print(stderr, "{}: --help-format: \"{}\" is not one of man, bash, zsh, fish\n", name,
                       argv[2]);
            return status(Exit::usage);
        }
        fmt::print("{}", text);
        return 0;
    }
    if (const std::optional<int> done = flags.parse(argc, argv))
        return *done;
    command_line() = name;
    for (int i = 1; i < argc; ++i)
        command_line() += ' ' + shell_word(argv[i]);
    try {
        flags.check_rules();
        return body();
    } catch (const Error& problem) {
        fmt::print(stderr, "{}: {}\n", name, printable(problem.what()));
        return status(exit_of(problem));
    } catch (const std::bad_alloc&) {
        fmt::print(stderr, "{}: there is not enough memory; ask for less at once, or give the tool more\n",
                   name);
        return status(Exit::input);
    } catch (const std::exception& problem) {
        fmt::print(stderr, "{}", printable(own_fault(name, {argv + 1, argv + argc}, problem.what())));
        return status(Exit::fault);
    }
}

} // namespace archsim::cli
