#include "common/flags.hpp"

#include "archsim/graph/graph.hpp"
#include "archsim/hardware/database.hpp"
#include "common/progress.hpp"
#include "common/tool.hpp"
#include "core/lists.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"

#include <CLI/CLI.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace archsim::cli {

namespace {

/// The word that stands for a value in help, and what follows from it.
struct Word {
    std::string_view word;
    bool files;               ///< it names files or folders
    bool list;                ///< one word of several may hold several of them, separated by commas
    std::string_view command; ///< prints what there is; empty: none does
};
constexpr std::array kWords = {
    Word{"MODEL", true, false, "discover_models --names"},
    Word{"DEVICE", true, true, "list_hardware_mappers --names devices"},
    Word{"STACK", false, true, "list_hardware_mappers --names runtimes"},
    Word{"DEPLOYMENT", false, false, "list_hardware_mappers --names deployments"},
    Word{"METRIC", false, true, ""},
    Word{"SIZES", false, true, ""},
    Word{"FILE", true, false, ""},
    Word{"FOLDER", true, false, ""},
    Word{"MEASUREMENT", true, false, ""}, // or a file of them
    Word{"[DEVICE=]FILE", true, false, ""},
};

const Word* find_word(std::string_view word) {
    const auto* const found = std::ranges::find(kWords, word, &Word::word);
    return found == kWords.end() ? nullptr : found;
}

/// The word that stands for the value of an option: its own word (Option::value_named), or what its type
/// says.
std::string placeholder_of(const CLI::Option& option) {
    const std::string type = option.get_type_name().substr(0, option.get_type_name().find(':'));
    constexpr std::array kTypes = {"TEXT", "INT", "UINT", "FLOAT", "BOOLEAN", ""};
    if (!contains(kTypes, type))
        return type;
    if (type == "INT" || type == "UINT")
        return "N";
    return type == "FLOAT" ? "NUMBER" : "VALUE";
}

/// Numbers with letters, "8k", as the digits that the parser reads; other texts are left to its own message.
template <class T>
std::string plain_number(const std::string& text) {
    if constexpr (std::is_integral_v<T>) {
        const auto number = parse_whole(text);
        return number ? std::to_string(*number) : text;
    } else {
        const auto number = parse_real(text);
        return number ? fmt::format("{}", *number) : text;
    }
}

template <class T>
struct NumberOf {
    using type = T;
};
template <class T>
struct NumberOf<std::vector<T>> {
    using type = T;
};
template <class T>
struct NumberOf<std::optional<T>> {
    using type = T;
};

/// "a", "b" from a type name such as "TEXT:{a,b}".
std::vector<std::string> choices_in(const std::string& type) {
    const auto open = type.find('{'), close = type.find('}');
    if (open == std::string::npos || close == std::string::npos || close < open)
        return {};
    std::vector<std::string> choices = split(std::string_view(type).substr(open + 1, close - open - 1), ',');
    std::erase(choices, ""); // of a value that may be left out
    return choices;
}

CLI::Option& of(void* option) {
    return *static_cast<CLI::Option*>(option);
}

} // namespace

/// CLI11 compares an option that is declared with each before it, and takes every name apart to find one: a
/// twentieth of what the fastest tool does. Here options are declared into an empty list and found by name.
struct Flags::Parser : CLI::App {
    using CLI::App::App;
    std::string footer = {}, config = {};
    std::map<const CLI::Option*, ValueKind> kinds = {}; ///< of options with values that are not texts
    std::set<const void*> kept_back = {};               ///< options, from assistants
    std::set<const void*> numbers = {};                 ///< options with texts that are numbers
    std::map<std::string, CLI::Option*, std::less<>> by_flag = {};

    /// Calls `declare` and keeps what it makes; throws CLI::OptionAlreadyAdded for a flag that is there.
    template <class Declare>
    CLI::Option* declared(Declare declare) {
        std::vector<CLI::Option_p> before;
        before.swap(options_);
        CLI::Option* const made = declare();
        before.push_back(std::move(options_.back()));
        before.swap(options_);
        for (const std::string& name : made->get_lnames())
            if (!by_flag.emplace("--" + name, made).second)
                throw CLI::OptionAlreadyAdded(name);
        return made;
    }

    CLI::Option* option(const std::string& flag) {
        const auto found = by_flag.find(flag);
        return found != by_flag.end() ? found->second : get_option(flag);
    }
};

Option& Option::required() {
    of(option_).required();
    return *this;
}

Option& Option::show_default() {
    of(option_).capture_default_str();
    return *this;
}

Option& Option::one_of(const std::vector<std::string>& values, Case letters) {
    if (letters == Case::ignored)
        of(option_).check(CLI::IsMember(values, CLI::ignore_case));
    else
        of(option_).check(CLI::IsMember(values));
    return *this;
}

Option& Option::within(std::int64_t low, std::int64_t high) {
    of(option_).check(CLI::Range(low, high));
    return *this;
}

Option& Option::value_named(const std::string& word) {
    CLI::Option& option = of(option_);
    option.type_name(word);
    if (const Word* known = find_word(word);
        known != nullptr && known->list && option.get_items_expected_max() > 1)
        list();
    return *this;
}

Option& Option::file() {
    return value_named("FILE");
}

Option& Option::written() {
    return file().kept_back();
}

Option& Option::kept_back() {
    kept_back_->insert(option_);
    return *this;
}

Option& Option::number() {
    numbers_->insert(option_);
    return *this;
}

Option& Option::in_group(const std::string& group) {
    of(option_).group(group);
    return *this;
}

Option& Option::list() {
    of(option_).delimiter(',');
    return *this;
}

Option& Option::expects(int least, int most) {
    of(option_).expected(least, most);
    if (most == 1) // of a list: what follows its value is no part of it
        of(option_).allow_extra_args(false);
    return *this;
}

Flags::Flags(const std::string& tool, const std::string& description, const std::string& footer,
             const std::string& version)
    : parser_(std::make_unique<Parser>(description, tool)) {
    parser_->footer = footer;
    parser_->set_help_flag("-h,--help", "show the common options and exit");
    parser_->set_help_all_flag("--help-all", "every option, and exit");
    made(parser_->declared([&] {
        return parser_->add_option("--config", parser_->config,
                                   "options from a file, JSON or TOML: {\"hardware\": [\"H100\"]}");
    }))
        .file()
        .kept_back();
    parser_->set_version_flag("--version", version);
}

Flags::~Flags() = default;

Option Flags::made(void* option) {
    Option made(option, &parser_->kept_back, &parser_->numbers);
    return group_.empty() ? made : made.in_group(group_);
}

template <class T>
Option Flags::add_option(const std::string& name, T& variable, const std::string& help) {
    CLI::Option* const option = parser_->declared([&] { return parser_->add_option(name, variable, help); });
    if constexpr (std::is_arithmetic_v<typename NumberOf<T>::type>) {
        parser_->kinds[option] =
            std::is_integral_v<typename NumberOf<T>::type> ? ValueKind::whole : ValueKind::real;
        option->transform(CLI::Validator(
            [](std::string& text) {
                text = plain_number<typename NumberOf<T>::type>(text);
                return std::string();
            },
            ""));
    }
    return made(option);
}

template Option Flags::add_option(const std::string&, std::string&, const std::string&);
template Option Flags::add_option(const std::string&, int&, const std::string&);
template Option Flags::add_option(const std::string&, unsigned&, const std::string&);
template Option Flags::add_option(const std::string&, std::int64_t&, const std::string&);
template Option Flags::add_option(const std::string&, std::size_t&, const std::string&);
#ifdef __EMSCRIPTEN__ // where std::uint64_t is another type
template Option Flags::add_option(const std::string&, std::uint64_t&, const std::string&);
#endif
template Option Flags::add_option(const std::string&, double&, const std::string&);
template Option Flags::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Flags::add_option(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Option Flags::add_option(const std::string&, std::optional<double>&, const std::string&);

Option Flags::add_optional_value(const std::string& name, std::optional<std::string>& variable,
                                 const std::string& help) {
    const auto take = [&variable](const std::string& value) { variable = value; };
    return made(parser_->declared([&] { return parser_->add_option_function<std::string>(name, take, help); })
                    ->expected(0, 1)
                    ->trigger_on_parse());
}

Option Flags::add_flag(const std::string& name, bool& variable, const std::string& help) {
    return made(parser_->declared([&] { return parser_->add_flag(name, variable, help); }));
}

void Flags::exclude_all_but(const std::string& flag, const std::vector<std::string>& beside) {
    for (const OptionFacts& other : facts())
        if (const std::string name = other.flags.empty() ? other.name : "--" + other.name;
            name != flag && !other.kept_back && !contains(beside, name))
            exclude(flag, name);
}

void Flags::exclude(const std::string& flag, const std::string& other) {
    parser_->option(flag)->excludes(parser_->option(other));
}

bool Flags::has(const std::string& flag) const {
    return parser_->option(flag)->count() > 0;
}

void Flags::remove(const std::string& flag) {
    CLI::Option* const option = parser_->option(flag);
    std::erase_if(parser_->by_flag, [option](const auto& entry) { return entry.second == option; });
    parser_->remove_option(option);
}

std::string Flags::what_was_meant(const std::vector<std::string>& unexpected,
                                  const std::vector<std::string>& arguments) const {
    const std::vector<OptionFacts> options = facts();
    for (const std::string& word : unexpected) {
        if (!word.starts_with("-"))
            continue;
        const std::string flag = word.substr(0, word.find('='));
        if (const std::string other = tool_with_flag(flag, options); !other.empty())
            return fmt::format("there is no {} here; {} has it", flag, other);
        if (const std::string why = not_estimated(flag); !why.empty())
            return fmt::format("there is no {}: {}", flag, why);
        const std::string meant = meant_flag(flag, options);
        return fmt::format("there is no {}{}", flag,
                           meant.empty() ? std::string() : fmt::format("; is {} meant?", meant));
    }
    const std::string why = why_unexpected(arguments, unexpected.front(), options);
    return fmt::format("\"{}\" {} not expected{}", fmt::join(unexpected, "\", \""),
                       unexpected.size() == 1 ? "was" : "were", why.empty() ? "" : ": " + why);
}

std::optional<int> Flags::parse(int argc, char** argv) {
    // No argument of a tool may be empty, and CLI11 2.1 does not return from some command lines with one.
    for (int i = 1; i < argc; ++i)
        if (*argv[i] == '\0') {
            say("{0}: argument {1} is empty; leave it out or give it a value (see {0} --help)\n", tool(), i);
            return 1;
        }
    try {
        std::vector<std::string> words =
            with_config({argv + 1, argv + argc}, positional_key(), [this] { return facts(); });
        std::ranges::reverse(words); // the order CLI11 takes them in
        parser_->parse(std::move(words));
        return std::nullopt;
    } catch (const Error& problem) { // of the configuration file
        say("{}: {}\n", tool(), problem.what());
        return dynamic_cast<const UsageError*>(&problem) != nullptr ? 1 : 2;
    } catch (const CLI::CallForHelp&) {
        OutputOptions::emit_part(help_text(*this, parser_->footer, HelpSize::screen));
        return 0;
    } catch (const CLI::CallForAllHelp&) {
        OutputOptions::emit_part(help_text(*this, parser_->footer, HelpSize::all));
        return 0;
    } catch (const CLI::Success& done) {
        return parser_->exit(done);
    } catch (const CLI::ExtrasError&) {
        say("{0}: {1} (see {0} --help)\n", tool(),
            one_line(what_was_meant(parser_->remaining(), {argv + 1, argv + argc})));
        return 1;
    } catch (const CLI::ParseError& problem) {
        say("{0}: {1} (see {0} --help)\n", tool(), one_line(problem.what()));
        return 1;
    }
}

std::string Flags::positional_key() const {
    for (const CLI::Option* option : std::as_const(*parser_).get_options())
        if (option->get_lnames().empty() && option->get_snames().empty() && !option->get_group().empty())
            return CLI::detail::to_lower(option->get_name(true));
    return "";
}

std::vector<ConfigLine> read_toml(std::istream& in, const std::string& file) {
    std::vector<ConfigLine> lines;
    try {
        for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(in))
            if (item.name != "++" && item.name != "--") // where its tables begin and end
                lines.push_back({item.fullname(), item.inputs});
    } catch (const CLI::Error& problem) {
        throw InputError(fmt::format("--config: {}: {}", file, problem.what()));
    }
    return lines;
}

const std::string& Flags::tool() const {
    return parser_->get_name();
}

std::string Flags::description() const {
    return parser_->get_description();
}

std::vector<OptionFacts> Flags::facts() const {
    std::vector<OptionFacts> all;
    for (const CLI::Option* option : std::as_const(*parser_).get_options()) {
        if (option->get_group().empty())
            continue; // hidden
        OptionFacts facts;
        for (const std::string& name : option->get_snames())
            facts.flags.push_back("-" + name);
        for (const std::string& name : option->get_lnames())
            facts.flags.push_back("--" + name);
        facts.name = option->get_lnames().empty() ? option->get_name(true) : option->get_lnames().front();
        facts.description = option->get_description();
        facts.fallback = option->get_default_str();
        facts.group = facts.flags.empty() ? std::string("Arguments") : option->get_group();
        facts.choices = choices_in(option->get_type_name());
        facts.takes_value = option->get_items_expected_max() > 0;
        facts.many = option->get_items_expected_max() > 1;
        if (const auto kind = parser_->kinds.find(option); kind != parser_->kinds.end())
            facts.kind = kind->second;
        else if (!facts.takes_value)
            facts.kind = ValueKind::truth;
        facts.number = parser_->numbers.contains(option);
        facts.required = option->get_required();
        facts.value = placeholder_of(*option);
        if (const Word* known = find_word(facts.value)) {
            facts.files = known->files;
            facts.values = known->command;
        }
        // Help and version are of the terminal, and so are options from a file.
        facts.kept_back = parser_->kept_back.contains(option) || option == parser_->get_help_ptr() ||
                          option == parser_->get_help_all_ptr() || option == parser_->get_version_ptr();
        if (facts.value.find('|') != std::string::npos)
            facts.choices = split(facts.value, '|');
        all.push_back(std::move(facts));
    }
    return all;
}

} // namespace archsim::cli
