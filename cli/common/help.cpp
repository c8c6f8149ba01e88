#include "common/flags.hpp"

#include "archsim/core/version.hpp"
#include "common/tool.hpp"
#include "core/lists.hpp"
#include "report/render/answer_document.hpp"
#include "report/render/renderers.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/ranges.h>

namespace archsim::cli {

constexpr std::size_t kWidth = 100, kColumn = 30;
constexpr std::size_t kShownExamples = 3;

/// A head, then the text from a column on; a long head has a line of its own.
static std::string entry(const std::string& head, std::string_view text) {
    std::string out = "  " + head;
    bool first = out.size() + 2 <= kColumn;
    if (!first)
        out += '\n';
    for (const std::string& line : wrap(text, kWidth - kColumn)) {
        out += first ? std::string(kColumn - 2 - head.size(), ' ') : std::string(kColumn, ' ');
        out += line + '\n';
        first = false;
    }
    return out.ends_with('\n') ? out : out + '\n';
}

/// The headings of options in the order of declaration.
static std::vector<std::string> groups_of(const std::vector<OptionFacts>& options) {
    return distinct(options, &OptionFacts::group);
}

static std::string explained(const OptionFacts& option) {
    std::string text = option.description;
    if (!option.fallback.empty() && option.takes_value)
        text += fmt::format(" (default: {})", option.fallback);
    return entry(value_of_option(option), text);
}

/// "Output: --format, --output, ..." in as many lines as it takes.
static std::string named(const std::string& group, const std::vector<OptionFacts>& options) {
    std::string names;
    for (const OptionFacts& option : options)
        if (option.group == group)
            names += (names.empty() ? "" : ", ") + option.flags.back();
    std::string out;
    for (const std::string& line : wrap(names, kWidth - 4))
        out += "    " + line + '\n';
    return fmt::format("  {}:\n{}", group, out);
}

/// The first examples alone, where not all are asked for.
static std::string shown_footer(std::string_view footer, HelpSize size) {
    const std::size_t most = size == HelpSize::all ? footer.size() : kShownExamples;
    std::string out;
    std::size_t examples = 0;
    bool left_out = false;
    for (std::size_t at = 0; at < footer.size();) {
        const std::size_t end = std::min(footer.find('\n', at), footer.size());
        const std::string_view line = footer.substr(at, end - at);
        const bool starts = line.starts_with("  ") && !line.starts_with("   ");
        examples += starts ? 1U : 0U;
        left_out = line.starts_with("  ") && examples > most;
        if (!left_out && line.starts_with("  "))
            out += std::string(line) + '\n';
        else if (!left_out)
            for (const std::string& part : wrap(line, kWidth))
                out += part + '\n';
        at = end + 1;
    }
    return out;
}

std::string value_of_option(const OptionFacts& option) {
    std::string text = fmt::format("{}", fmt::join(option.flags, ", "));
    if (option.flags.empty())
        text = option.name;
    else if (option.takes_value && !option.choices.empty())
        text += fmt::format(" {}", fmt::join(option.choices, "|"));
    else if (option.takes_value)
        text += ' ' + option.value;
    return option.many ? text + "..." : text;
}

std::string help_text(const Flags& flags, std::string_view footer, HelpSize size) {
    const std::vector<OptionFacts> options = flags.facts();
    std::string usage = "Usage: " + flags.tool();
    for (const OptionFacts& option : options)
        if (option.flags.empty())
            usage += option.required ? " " + value_of_option(option)
                                     : fmt::format(" [{}]", value_of_option(option));
    std::string out = flags.description() + '\n' + usage + " [options]\n\n";
    const auto is_first = [](const std::string& group) { return group == "Arguments" || group == "Options"; };
    for (const char* own : {"Arguments", "Options"})
        for (const OptionFacts& option : options)
            if (option.group == own)
                out += explained(option);
    bool more = false;
    for (const std::string& group : groups_of(options)) {
        if (is_first(group))
            continue;
        if (size == HelpSize::screen) {
            if (!more)
                out += "\nAlso, explained by --help-all:\n";
            more = true;
            out += named(group, options);
            continue;
        }
        out += fmt::format("\n{}:\n", group);
        for (const OptionFacts& option : options)
            if (option.group == group)
                out += explained(option);
    }
    return out + '\n' + shown_footer(footer, size);
}

/// Text for roff: dashes that stay dashes, backslashes, and no line that looks like a request.
static std::string roff(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n'))
            out += "\\&";
        out += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    }
    return out;
}

static std::string upper(std::string_view text) {
    std::string out(text);
    for (char& letter : out)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return out;
}

static std::string placeholder(const OptionFacts& option) {
    if (!option.takes_value)
        return "";
    const std::string word =
        option.choices.empty() ? option.value : fmt::format("{}", fmt::join(option.choices, "|"));
    return option.many ? word + "..." : word;
}

static std::string entry(const OptionFacts& option) {
    std::string head;
    for (const std::string& flag : option.flags)
        head += (head.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", roff(flag));
    if (const std::string value = placeholder(option); !value.empty())
        head += fmt::format("{}\\fI{}\\fR", head.empty() ? "" : " ", roff(value));
    std::string text = roff(option.description);
    if (!option.fallback.empty())
        text += fmt::format(" (default: {})", roff(option.fallback));
    return fmt::format(".TP\n{}\n{}\n", head, text);
}

static std::string man_page(const Flags& flags, const std::string& examples) {
    const std::string& name = flags.tool();
    const auto options = flags.facts();
    std::string out = fmt::format(
        ".TH {} 1 \"\" \"libarchsim {}\" \"libarchsim\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n\\fB{}\\fR",
        upper(name), version(), roff(name), roff(flags.description()), roff(name));
    for (const OptionFacts& option : options)
        if (option.flags.empty())
            out += fmt::format(" {}\\fI{}\\fR{}", option.required ? "" : "[", roff(placeholder(option)),
                               option.required ? "" : "]");
        else if (option.required)
            out +=
                fmt::format(" \\fB{}\\fR \\fI{}\\fR", roff(option.flags.back()), roff(placeholder(option)));
    out += " [\\fIoptions\\fR]\n.SH OPTIONS\n";
    const std::vector<std::string> groups = groups_of(options);
    for (const std::string& group : groups) {
        if (groups.size() > 1)
            out += fmt::format(".SS {}\n", roff(group));
        for (const OptionFacts& option : options)
            if (option.group == group)
                out += entry(option);
    }
    std::string status;
    for (const ExitMeaning& one : exit_meanings())
        status += fmt::format(".TP\n{}\n{}\n", one.status, roff(one.meaning));
    return out + fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n"
                             ".SH EXIT STATUS\n{}.SH ENVIRONMENT\n.TP\nARCHSIM_DATA_DIR\nfolder with "
                             "hardware_db and models, instead of "
                             "the one beside the program\n.TP\nNO_COLOR\nno colours when set\n.TP\nCOLUMNS\n"
                             "width of text where there is no terminal\n",
                             roff(examples), status);
}

const std::vector<ExitMeaning>& exit_meanings() {
    static const std::vector<ExitMeaning> all = {
        {static_cast<int>(Exit::ok), "ok"},
        {static_cast<int>(Exit::usage), "usage"},
        {static_cast<int>(Exit::input), "input cannot be used"},
        {static_cast<int>(Exit::incomplete), "result incomplete"},
        {static_cast<int>(Exit::nothing), "answered, but nothing runs or meets the limits"},
        {static_cast<int>(Exit::fault), "fault of the tool; please report it with the command line"}};
    return all;
}

/// `what` of every positional option that has it.
static const OptionFacts* positional_of(const std::vector<OptionFacts>& options) {
    for (const OptionFacts& option : options)
        if (option.flags.empty())
            return &option;
    return nullptr;
}

static std::string bash_values(const OptionFacts& option) {
    std::string words = fmt::format("{}", fmt::join(option.choices, " "));
    if (!option.values.empty())
        words = fmt::format("$({} 2>/dev/null)", option.values);
    std::string out;
    if (!words.empty())
        out += fmt::format("COMPREPLY+=($(compgen -W \"{}\" -- \"$word\")); ", words);
    if (option.files)
        out += "COMPREPLY+=($(compgen -f -- \"$word\")); ";
    return out;
}

static std::string bash_cases(const std::vector<OptionFacts>& options, bool many_only) {
    std::string out;
    for (const OptionFacts& option : options)
        if (option.takes_value && !option.flags.empty() && (option.many || !many_only))
            out += fmt::format("    {}) {}return ;;\n", fmt::join(option.flags, " | "), bash_values(option));
    return out;
}

static std::string bash_completion(const Flags& flags) {
    const auto options = flags.facts();
    std::vector<std::string> words;
    for (const OptionFacts& option : options)
        append(words, option.flags);
    const OptionFacts* positional = positional_of(options);
    return fmt::format(
        "# bash completion of {0}; generated\n_{0}() {{\n"
        "  local word=${{COMP_WORDS[COMP_CWORD]}} flag=${{COMP_WORDS[COMP_CWORD-1]}} at=$((COMP_CWORD-1))\n"
        "  COMPREPLY=()\n"
        "  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"{1}\" -- \"$word\")); return; fi\n"
        "  case $flag in\n{2}  esac\n"
        "  # An option with several values: the last word that is an option.\n"
        "  while ((at > 0)) && [[ ${{COMP_WORDS[at]}} != -* ]]; do ((at--)); done\n"
        "  case ${{COMP_WORDS[at]}} in\n{3}  esac\n"
        "  {4}return 0\n}}\ncomplete -o filenames -F _{0} {0}\n",
        flags.tool(), fmt::join(words, " "), bash_cases(options, false), bash_cases(options, true),
        positional ? bash_values(*positional) : std::string());
}

/// In single quotes, without what ends a description of zsh or fish.
static std::string plain(std::string text) {
    for (char& c : text)
        if (c == '\'' || c == '[' || c == ']' || c == ':' || c == '`' || c == '"' || c == '\n')
            c = ' ';
    return text;
}

static std::string zsh_action(const OptionFacts& option) {
    if (!option.choices.empty())
        return fmt::format("({})", fmt::join(option.choices, " "));
    if (!option.values.empty())
        return fmt::format("{{compadd -- $({} 2>/dev/null){}}}", option.values,
                           option.files ? "; _files" : "");
    return option.files ? "_files" : "";
}

static std::string zsh_completion(const Flags& flags) {
    std::string out =
        fmt::format("#compdef {0}\n# zsh completion of {0}; generated\n_arguments", flags.tool());
    for (const OptionFacts& option : flags.facts()) {
        const std::string value =
            option.takes_value ? fmt::format(":{}:{}", plain(option.name), zsh_action(option)) : "";
        if (option.flags.empty())
            out += fmt::format(" \\\n  '{}{}'", option.many ? "*" : "1", value);
        for (const std::string& flag : option.flags)
            out += fmt::format(" \\\n  '{}{}[{}]{}'", option.many ? "*" : "", flag, plain(option.description),
                               value);
    }
    return out + "\n";
}

static std::string fish_completion(const Flags& flags) {
    std::string out = fmt::format("# fish completion of {}; generated\n", flags.tool());
    for (const OptionFacts& option : flags.facts()) {
        std::string line = "complete -c " + flags.tool();
        for (const std::string& flag : option.flags)
            line += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
        if (option.takes_value && !option.flags.empty())
            line += option.files ? " -r" : " -x";
        if (!option.values.empty())
            line += fmt::format(" -a '({} 2>/dev/null)'", option.values);
        else if (!option.choices.empty())
            line += fmt::format(" -a '{}'", fmt::join(option.choices, " "));
        out += fmt::format("{} -d '{}'\n", line, plain(option.description));
    }
    return out;
}

std::string formatted_help(const Flags& flags, std::string_view format, const std::string& examples) {
    if (format == "man")
        return man_page(flags, examples);
    if (format == "bash")
        return bash_completion(flags);
    if (format == "zsh")
        return zsh_completion(flags);
    if (format == "fish")
        return fish_completion(flags);
    for (const Flags::Document& document : flags.documents())
        if (format == "schema" || format == "schema:" + document.name)
            return archsim::document_text(document.schema());
    return "";
}

} // namespace archsim::cli
