#include "common/tool.hpp"

#include "archsim/core/version.hpp"
#include "common/progress.hpp"
#include "core/lists.hpp"
#include "core/new_file.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"
#include "machine/this_machine.hpp"
#include "ops/given_values.hpp"
#include "report/blocks/columns.hpp"
#include "session/other_conditions.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <new>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace archsim::cli {

std::vector<std::string> with_modes(const Session& session, const std::vector<std::string>& devices,
                                    bool families) {
    return with_every_mode(session.hardware(), devices, families);
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
constexpr int kNarrowest = 40, kWidest = 1000;

/// The command line of this run, as it can be pasted.
std::string& command_line() {
    static std::string line;
    return line;
}

int terminal_width() {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    if (const char* columns = std::getenv("COLUMNS"))
        if (const auto value = parse_whole(columns); value && *value > 0)
            return static_cast<int>(std::min<std::int64_t>(*value, kWidest));
    return kDefaultWidth;
}

/// An exception that the library did not throw on purpose is no mistake of the user's.
std::string own_fault(const std::string& name, const std::vector<std::string>& arguments,
                      std::string_view what) {
    return fmt::format(
        "{0}: a fault of {0} itself, not of what it was given: {1}\n"
        "{0}: please report it to the maintainers of libarchsim {2}, with the files it names and "
        "this command line: {0} {3}\n",
        name, what, version(), one_line(fmt::format("{}", fmt::join(arguments, " "))));
}

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

int status(Exit code) {
    return static_cast<int>(code);
}

Exit exit_of(const Error& problem) {
    if (dynamic_cast<const UsageError*>(&problem) != nullptr)
        return Exit::usage;
    return dynamic_cast<const IncompleteError*>(&problem) != nullptr ? Exit::incomplete : Exit::input;
}

/// The whole command with a size for every dimension that has none, on standard error.
void suggest_sizes(std::span<const Result> results) {
    const std::vector<std::string> sizes =
        distinct(flattened(results, [](const Result& r) { return sizes_wanted(r.estimate.findings); }));
    if (sizes.empty())
        return;
    std::string line = command_line();
    for (const std::string& size : sizes)
        line += " " + size;
    say("sizes are missing; for example: {}\n", one_line(line));
}

/// Files that are not finished go, and the signal ends the tool as it would have.
extern "C" void end_by_signal(int number) {
    remove_unfinished_files();
    std::signal(number, SIG_DFL);
    std::raise(number);
}

/// Standard streams that are closed: the next file that is opened would be one, and get what is written to
/// it. One that cannot be written or read takes the place.
void open_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(stream, F_GETFD) < 0)
            static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

void handle_signals() {
    std::signal(SIGPIPE, SIG_DFL); // a closed pipe ends the tool quietly, as `| head` expects
    std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is one that cannot be written
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGXCPU})
        if (std::signal(number, end_by_signal) == SIG_IGN) // by nohup, or a shell in the background
            std::signal(number, SIG_IGN);
}

/// "0 ok, 1 usage, ...".
std::string exit_text() {
    return joined(exit_meanings(),
                  [](const ExitMeaning& one) { return fmt::format("{} {}", one.status, one.meaning); });
}

/// Parses and runs; throws what fails.
int parse_and_run(int argc, char** argv, const std::string& name, const std::string& description,
                  const std::string& examples, const std::function<void(Flags&)>& setup,
                  const std::function<int()>& body) {
    Flags flags(name, description, "Examples:\n" + examples + "\nExit status: " + exit_text() + ".",
                name + " " + std::string(version()));
    setup(flags);
    if (flags_wanted()) {
        flags_wanted()(flags);
        return 0;
    }
    if (argc == 3 && std::string_view(argv[1]) == "--help-format") {
        const std::string text = formatted_help(flags, argv[2], examples);
        if (text.empty()) {
            say("{}: --help-format: \"{}\" is not one of man, bash, zsh, fish{}\n", name, one_line(argv[2]),
                flags.documents().empty() ? "" : ", schema");
            return status(Exit::usage);
        }
        OutputOptions::emit_part(text);
        return 0;
    }
    if (const std::optional<int> done = flags.parse(argc, argv))
        return *done;
    command_line() = name;
    for (int i = 1; i < argc; ++i)
        command_line() += ' ' + shell_quoted(argv[i]);
    flags.check_rules();
    return body();
}

/// Says so on standard error without a formatter, which would ask for memory.
int out_of_memory(const char* tool) noexcept {
    std::fputs(tool, stderr);
    std::fputs(": there is not enough memory; ask for less at once, or give the tool more\n", stderr);
    return status(Exit::input);
}

/// The standard library's handler says what was thrown, and aborts.
std::terminate_handler& usual_end() {
    static std::terminate_handler handler = std::abort;
    return handler;
}

/// A request for memory was refused since the program began.
std::atomic<bool> memory_ended = false;

[[noreturn]] void refuse_memory() {
    memory_ended = true;
    throw std::bad_alloc();
}

/// Where no handler is: tables that are made before main, variables of main, destructors, functions of the
/// standard library that promise not to throw. Memory that ends there ends the tool as it does elsewhere.
void end_without_memory() {
    try {
        if (const std::exception_ptr thrown = std::current_exception())
            std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
        _exit(out_of_memory(program_invocation_short_name));
    } catch (...) { // a fault
        usual_end()();
    }
    // Without memory for an exception there is none, and none is left where it met a promise not to throw.
    if (memory_ended)
        _exit(out_of_memory(program_invocation_short_name));
    usual_end()();
}

/// Before every table of the program: priorities up to 100 are the compiler's.
[[gnu::constructor(101)]] void prepare_for_the_end() {
    usual_end() = std::set_terminate(end_without_memory);
    std::set_new_handler(refuse_memory);
}

} // namespace

void OutputOptions::add_to(Flags& flags, const std::string& formats) {
    std::vector<std::string> choices = {"text", "markdown", "json", "csv", "html"};
    append(choices, own_formats);
    flags.group("Output");
    flags.add_option("--format", format, "output format: " + formats,
                     fmt::format("{}", fmt::join(choices, "|")));
    flags.add_written("-o,--output", file,
                      "write to FILE, - to standard output; its extension chooses the format");
    flags.add_option("--color", color, "auto, always or never").one_of({"auto", "always", "never"});
    flags.add_flag("--no-color", no_color, "same as --color never");
    flags.add_flag("--ascii", ascii, "no characters outside ASCII");
    flags.add_option("--width", width, "columns of text output (default: the terminal's)")
        .within(kNarrowest, kWidest);
    flags.add_flag("--no-pager", no_pager, "print at once what is longer than the terminal");
    flags.add_flag("-q,--quiet", quiet, "no progress or notes on standard error");
    flags.group("");
    flags.add_rule([this] {
        if (file == "-") // standard output
            file.clear();
        if (own_format().empty())
            chosen();
    });
}

void OutputOptions::add_order_to(Flags& flags) {
    // An assistant gets a JSON document, which neither orders.
    flags.add_option("--sort", sort, "column that orders the table, metrics best first", "COLUMN")
        .kept_back();
    flags.add_top(top, "rows of the table; 0: all").kept_back();
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
        if (const auto parsed = value_named<Format>(format))
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

std::string first_line(const Report& report) {
    for (const Block& block : report.blocks)
        if (const auto* verdict = std::get_if<Takeaway>(&block);
            verdict != nullptr && !verdict->lines.empty())
            return verdict->lines.front();
    return "";
}

Drawn OutputOptions::drawn_report(const Report& report, Format how) const {
    Drawn drawn(render(report, how, render_options()));
    drawn.verdict = first_line(report);
    return drawn;
}

void OutputOptions::emit(const Drawn& drawn) const {
    const std::string& content = drawn.text;
    if (!file.empty()) {
        write_file(file, content);
        if (!quiet)
            say("{}{}{} is written.\n", one_line(drawn.verdict), drawn.verdict.empty() ? "" : "\n",
                one_line(file));
        return;
    }
    if (!no_pager && isatty(STDOUT_FILENO) != 0 && isatty(STDIN_FILENO) != 0 &&
        std::ranges::count(content, '\n') >= terminal_rows() && page_through(content))
        return;
    emit_part(content);
}

void OutputOptions::emit_part(const std::string& content) {
    if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() || std::fflush(stdout) != 0)
        throw InputError("standard output: could not be written");
}

int exit_code_of(const Result& result) {
    return exit_code_of(std::span(&result, 1));
}

int exit_code_of(std::span<const Result> results) {
    suggest_sizes(results);
    const bool incomplete = std::ranges::any_of(results, [](const Result& result) {
        return result.estimate.status == Status::incomplete || !result.estimate.uncounted.empty();
    });
    const bool nothing_runs = !results.empty() && std::ranges::none_of(results, &Result::ok);
    return status(incomplete ? Exit::incomplete : nothing_runs ? Exit::nothing : Exit::ok);
}

int exit_code_of(std::span<const Result> results, const DecisionRequest& limits) {
    const int code = exit_code_of(results);
    if (code != status(Exit::ok))
        return code;
    const Decision decision = decide(results, limits); // with the rates that are asked for
    return status(decision.recommended || decision.request.constraints.empty() ? Exit::ok : Exit::nothing);
}

std::function<void(const Flags&)>& flags_wanted() {
    static std::function<void(const Flags&)> wanted;
    return wanted;
}

int run_tool(int argc, char** argv, const std::string& name, const std::string& description,
             const std::string& examples, const std::function<void(Flags&)>& setup,
             const std::function<int()>& body) {
    open_standard_streams();
    handle_signals();
    let_machine_be_measured();
    try {
        return parse_and_run(argc, argv, name, description, examples, setup, body);
    } catch (const Error& problem) {
        say("{}: {}\n", name, problem.what());
        return status(exit_of(problem));
    } catch (const std::bad_alloc&) {
        return out_of_memory(name.c_str());
    } catch (const std::filesystem::filesystem_error& problem) { // a name that no file can have
        say("{}: {}; check the paths\n", name, one_line(problem.what()));
        return status(Exit::input);
    } catch (const std::exception& problem) {
        say("{}", own_fault(name, {argv + 1, argv + argc}, one_line(problem.what())));
        return status(Exit::fault);
    }
}

} // namespace archsim::cli
