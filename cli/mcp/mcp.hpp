#pragma once
// archsim mcp: the tools for assistants, over the Model Context Protocol on standard input and output.

#include <string_view>
#include <vector>

namespace archsim::cli {

/// A tool as the program has it.
struct ServedTool {
    std::string_view name, answers;
    int (*run)(int argc, char** argv);
};

/// The main function of `archsim mcp`.
int serve_assistants(int argc, char** argv, const std::vector<ServedTool>& tools);

} // namespace archsim::cli
