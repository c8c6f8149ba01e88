// All tools as one program: it is the tool by whose name it is called (bin/compare_models is a link to it),
// and as `archsim TOOL ARGUMENTS...` any of them. What is installed has the library once instead of once per
// tool.

#include "archsim/core/version.hpp"
#include "archsim/hardware/database.hpp"
#include "common/tool.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "mcp/mcp.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

// cmake/Multicall.cmake gives each tool's main this name.
#define TOOL(name) extern "C" int archsim_main_##name(int argc, char** argv);
#include "tools.def"
#undef TOOL

namespace {

struct Tool {
    std::string_view name;
    int (*run)(int argc, char** argv);
};

constexpr std::array kTools = {
#define TOOL(name) Tool{#name, archsim_main_##name},
#include "tools.def"
#undef TOOL
};

/// The question that a tool answers, under the heading of those that belong together, and a shorter name for
/// it.
struct Question {
    std::string_view group, tool, text, brief;
};

constexpr std::array kQuestions = {
    Question{"Compare", "compare_models", "which device runs this model best, or these models, and why",
             "compare"},
    Question{"Compare", "compare_architectures",
             "which architecture fits this model, and what would turn it around", "architectures"},
    Question{"Compare", "explain_difference",
             "why two estimates differ: models, devices, batches, formats, stacks", "explain"},
    Question{"Compare", "size_service", "how many of which devices a load needs, within limits on waiting",
             "size"},
    Question{"One device", "local_models", "which models run on a machine, and how fast", "local"},
    Question{"One device", "analyze_comprehensive", "everything about one model on one device", "analyze"},
    Question{"One device", "analyze_graph_mapping", "how the model sits on the device, subgraph by subgraph",
             "mapping"},
    Question{"One device", "analyze_batch", "which batch, under limits", "batch"},
    Question{"One device", "serve_model", "how long users of a language model wait under load", "serve"},
    Question{"One device", "check_model",
             "what of a model leaves an accelerator, and what would keep it there", "check"},
    Question{"Design and decide", "sweep_design_space",
             "what if the device had more bandwidth, units, memory, clock", "sweep"},
    Question{"Design and decide", "check_budget", "budgets in CI: what moved since a baseline, and why",
             "budget"},
    Question{"Design and decide", "history", "what a file of results knows: runs, trends, regressions"},
    Question{"Models and devices", "profile_graph", "what is in a model file", "profile"},
    Question{"Models and devices", "discover_models", "which models are known, which files can be used",
             "models"},
    Question{"Models and devices", "list_hardware_mappers",
             "which devices are known, every number with its source", "devices"},
    Question{"Evidence", "validate_estimates", "how far the estimates are from published measurements",
             "validate"},
    Question{"Evidence", "calibrate_device", "which parameters agree with measurements of your own",
             "calibrate"},
};

constexpr bool answers_something(std::string_view tool) {
    return std::ranges::any_of(kQuestions, [&](const Question& question) { return question.tool == tool; });
}
static_assert(kQuestions.size() == kTools.size() &&
                  std::ranges::all_of(kTools, [](const Tool& tool) { return answers_something(tool.name); }),
              "every tool has a line in kQuestions");

constexpr const Tool* find_tool(std::string_view name) {
    const auto* const found = std::ranges::find(kTools, name, &Tool::name);
    return found == kTools.end() ? nullptr : found;
}

/// The same by its shorter name too.
const Tool* tool_meant(std::string_view name) {
    const auto* const question = std::ranges::find_if(
        kQuestions, [&](const Question& one) { return !one.brief.empty() && one.brief == name; });
    return find_tool(question == kQuestions.end() ? name : question->tool);
}

/// The tools that assistants may call.
std::vector<archsim::cli::ServedTool> served_tools() {
    return archsim::mapped(kQuestions, [&](const Question& question) -> archsim::cli::ServedTool {
        return {.name = question.tool, .answers = question.text, .run = find_tool(question.tool)->run};
    });
}

void list_tools(std::FILE* to) {
    std::fputs("usage: archsim TOOL [ARGUMENTS...]\n", to);
    std::string_view group;
    for (const Question& question : kQuestions) {
        if (question.group != group)
            std::fprintf(to, "\n%.*s:\n", static_cast<int>(question.group.size()), question.group.data());
        group = question.group;
        const std::string names =
            std::string(question.tool) + (question.brief.empty() ? "" : ", ") + std::string(question.brief);
        std::fprintf(to, "  %-36s %.*s\n", names.c_str(), static_cast<int>(question.text.size()),
                     question.text.data());
    }
    std::fputs("\nFor assistants:\n"
               "  mcp                                  the tools over the Model Context Protocol\n"
               "\nFor programs:\n"
               "  schema [DOCUMENT]                    the JSON Schema of a tool's --format json\n"
               "\nFor example: archsim compare resnet50 --deployment edge\n"
               "archsim TOOL --help describes each.\n",
               to);
}

/// The schema of a JSON document: of the tool of that name, or of another document that a tool writes.
/// Without a name, the names.
int print_schema(int argc, char** argv) {
    std::string names;
    const Tool* found = nullptr;
    std::string format = "schema";
    for (const Tool& tool : kTools) {
        archsim::cli::flags_wanted() = [&](const archsim::cli::Flags& flags) {
            for (const auto& document : flags.documents()) {
                names += document.name + "\n";
                if (argc > 1 && (document.name == argv[1] || tool_meant(argv[1]) == &tool) && !found) {
                    found = &tool;
                    if (document.name == argv[1])
                        format += ":" + document.name;
                }
            }
        };
        std::string name(tool.name);
        char* words[] = {name.data(), nullptr};
        tool.run(1, words);
    }
    archsim::cli::flags_wanted() = nullptr;
    if (argc < 2) {
        std::fputs(names.c_str(), stdout);
        return 0;
    }
    if (found == nullptr) {
        std::fprintf(stderr, "archsim: there is no document \"%s\"; archsim schema lists them\n",
                     archsim::printable(argv[1]).c_str());
        return 1;
    }
    std::string name(found->name), flag = "--help-format";
    char* words[] = {name.data(), flag.data(), format.data(), nullptr};
    return found->run(3, words);
}

/// On standard error: there is none of that name, and which may be meant.
void name_nearest(std::string_view asked) {
    std::vector<std::string> names;
    for (const Question& question : kQuestions) {
        names.emplace_back(question.tool);
        if (!question.brief.empty())
            names.emplace_back(question.brief);
    }
    names.emplace_back("mcp");
    names.emplace_back("schema");
    const std::vector<std::string> near = archsim::nearest_names(asked, names, 1);
    std::fprintf(stderr, "archsim: there is no tool \"%s\"%s%s%s\n",
                 archsim::printable(std::string(asked)).c_str(), near.empty() ? "" : "; is ",
                 near.empty() ? "" : near.front().c_str(), near.empty() ? "" : " meant?");
}

} // namespace

// A wheel exports it, under another name (cmake/Python.cmake).
[[gnu::visibility("default")]] int main(int argc, char** argv) {
    const std::string_view called = argc > 0 ? argv[0] : "";
    if (const Tool* const tool = find_tool(called.substr(called.rfind('/') + 1))) // all of it without one
        return tool->run(argc, argv);
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (const Tool* const tool = tool_meant(first))
        return tool->run(argc - 1, argv + 1);
    if (first == "mcp")
        return archsim::cli::serve_assistants(argc - 1, argv + 1, served_tools());
    if (first == "schema")
        return print_schema(argc - 1, argv + 1);
    if (first == "--version") {
        const std::string_view version = archsim::version();
        std::printf("archsim %.*s\n", static_cast<int>(version.size()), version.data());
        return 0;
    }
    if (first == "--help" || first == "-h") {
        list_tools(stdout);
        return 0;
    }
    if (argc > 1)
        name_nearest(first);
    list_tools(stderr);
    return 1;
}
