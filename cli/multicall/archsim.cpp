// All tools as one program: it is the tool by whose name it is called (bin/compare_models is a link to it),
// and as `archsim TOOL ARGUMENTS...` any of them. What is installed has the library once instead of once per
// tool.

#include "archsim/core/version.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

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

const Tool* find_tool(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1); // all of it when there is none
    const auto* const found =
        std::find_if(kTools.begin(), kTools.end(), [&](const Tool& tool) { return tool.name == name; });
    return found == kTools.end() ? nullptr : found;
}

void list_tools(std::FILE* to) {
    std::fputs("usage: archsim TOOL [ARGUMENTS...]\n\ntools:\n", to);
    for (const Tool& tool : kTools)
        std::fprintf(to, "  %.*s\n", static_cast<int>(tool.name.size()), tool.name.data());
    std::fputs("\narchsim TOOL --help describes each.\n", to);
}

} // namespace

int main(int argc, char** argv) {
    if (const Tool* const tool = argc > 0 ? find_tool(argv[0]) : nullptr)
        return tool->run(argc, argv);
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (const Tool* const tool = find_tool(first))
        return tool->run(argc - 1, argv + 1);
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
        std::fprintf(stderr, "archsim: there is no tool \"%s\"\n", argv[1]);
    list_tools(stderr);
    return 1;
}
