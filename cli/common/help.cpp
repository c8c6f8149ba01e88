#include "common/flags.hpp"

#include "report/render/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace archsim::cli {

namespace {

constexpr std::size_t kWidth = 100, kColumn = 30;
constexpr std::size_t kShownExamples = 3;

/// A head, then the text from a column on; a long head has a line of its own.
std::string entry(const std::string& head, std::string_view text) {
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

std::string explained(const OptionFacts& option) {
    std::string text = option.description;
    if (!option.fallback.empty() && option.takes_value)
        text += fmt::format(" (default: {})", option.fallback);
    return entry(value_of_option(option), text);
}

/// "Output: --format, --output, ..." in as many lines as it takes.
std::string named(const std::string& group, const std::vector<OptionFacts>& options) {
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
std::string shown_footer(std::string_view footer, HelpSize size) {
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

} // namespace

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
    std::vector<std::string> groups; // in the order of declaration
    for (const OptionFacts& option : options) {
        if (option.flags.empty())
            usage += option.required ? " " + value_of_option(option)
                                     : fmt::format(" [{}]", value_of_option(option));
        if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
            groups.push_back(option.group);
    }
    std::string out = flags.description() + '\n' + usage + " [options]\n\n";
    const auto is_first = [](const std::string& group) { return group == "Arguments" || group == "Options"; };
    for (const char* own : {"Arguments", "Options"})
        for (const OptionFacts& option : options)
            if (option.group == own)
                out += explained(option);
    bool more = false;
    for (const std::string& group : groups) {
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

} // namespace archsim::cli
