#include "common/option_facts.hpp"

#include <array>

namespace archsim::cli {

namespace {

struct Values {
    std::string_view option, command;
};

/// Options whose values a tool can list.
constexpr std::array kValues = {
    Values{"model", "discover_models --names"},
    Values{"MODEL", "discover_models --names"},
    Values{"hardware", "list_hardware_mappers --names devices"},
    Values{"show", "list_hardware_mappers --names devices"},
    Values{"runtime", "list_hardware_mappers --names runtimes"},
    Values{"deployment", "list_hardware_mappers --names deployments"},
};

/// Options that name files or folders.
constexpr std::array<std::string_view, 12> kFiles = {"subgraphs",    "output",      "dot",    "mermaid",
                                                     "scatter",      "hardware-db", "folder", "check",
                                                     "measurements", "model",       "MODEL",  "hardware"};

/// "a", "b" from a type name such as "TEXT:{a,b}".
std::vector<std::string> choices_in(const std::string& type) {
    const auto open = type.find('{'), close = type.find('}');
    std::vector<std::string> choices;
    if (open == std::string::npos || close == std::string::npos || close < open)
        return choices;
    std::string word;
    for (const char c : type.substr(open + 1, close - open - 1) + ",")
        if (c == ',') {
            choices.push_back(word);
            word.clear();
        } else {
            word += c;
        }
    return choices;
}

} // namespace

std::vector<OptionFacts> options_of(const CLI::App& app) {
    std::vector<OptionFacts> all;
    for (const CLI::Option* option : app.get_options()) {
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
        facts.required = option->get_required();
        for (const Values& known : kValues)
            if (known.option == facts.name)
                facts.values = known.command;
        for (const std::string_view file : kFiles)
            facts.files = facts.files || file == facts.name;
        if (facts.name == "format")
            facts.choices = {"text", "markdown", "json", "csv", "html"};
        all.push_back(std::move(facts));
    }
    return all;
}

} // namespace archsim::cli
