#include "mcp/mcp.hpp"

#include "archsim/core/version.hpp"
#include "common/tool.hpp"
#include "core/data_dir.hpp"
#include "core/input_file.hpp"
#include "core/lists.hpp"
#include "core/new_file.hpp"
#include "core/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace archsim::cli {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

/// The tools that assistants are offered where nobody says which: each tool's description costs them words.
constexpr std::array<std::string_view, 6> kCore = {"compare_models",  "explain_difference",
                                                   "size_service",    "local_models",
                                                   "discover_models", "list_hardware_mappers"};
constexpr std::string_view kAll = "all";

constexpr const char* kExamples = R"(  archsim mcp
  archsim mcp --tools all
  archsim mcp --tools compare_models profile_graph
  archsim mcp --files ~/models)";

constexpr std::string_view kInstructions =
    "Estimates latency, energy, power, memory and cost of neural networks on devices, without running them. "
    "Models are names of the catalogue (discover_models) or files; devices are names of the database "
    "(list_hardware_mappers). Begin with compare_models. Every number has a 90 % interval; say it.";

/// Runs a tool's main with words of our own.
static int run_with(const ServedTool& tool, std::vector<std::string> words) {
    words.insert(words.begin(), std::string(tool.name));
    std::vector<char*> argv = mapped(words, [&](std::string& word) { return word.data(); });
    argv.push_back(nullptr);
    return tool.run(static_cast<int>(words.size()), argv.data());
}

/// The sentence about a name that no tool has.
static std::string unknown_tool(const std::vector<ServedTool>& tools, const std::string& name) {
    std::vector<std::string> names =
        mapped(tools, [](const ServedTool& tool) { return std::string(tool.name); });
    const std::vector<std::string> near = nearest_names(name, names, 1);
    return fmt::format("there is no tool \"{}\"{}", printable(name.substr(0, 100)),
                       near.empty() ? std::string() : fmt::format("; is {} meant?", near.front()));
}

/// The tools and what they take, asked when somebody wants to know.
class Tools {
  public:
    /// `every`: the list has every argument, not the most usual ones alone; `core`: the list has kCore alone,
    /// and the others answer who knows their names.
    Tools(const std::vector<ServedTool>& tools, Streams& streams, fs::path folder, bool every, bool core)
        : tools_(tools), streams_(streams), folder_(std::move(folder)), every_(every), core_(core) {}

    const Json& list() {
        if (list_.is_null()) {
            list_ = Json::array();
            for (const ServedTool& tool : tools_)
                if (!core_ || contains(kCore, tool.name))
                    list_.push_back(described(tool));
        }
        return list_;
    }

    std::optional<Json> call(const std::string& name, const Json& arguments) {
        const auto tool = std::ranges::find(tools_, name, &ServedTool::name);
        if (tool == tools_.end())
            return std::nullopt;
        try {
            return answered(*tool, arguments);
        } catch (const Error& problem) { // of an argument
            return failed(fmt::format("{}: {}", name, problem.what()));
        }
    }

  private:
    const ToolInput& input_of(const ServedTool& tool) {
        const auto known = inputs_.find(tool.name);
        if (known != inputs_.end())
            return known->second;
        std::optional<ToolInput> input;
        flags_wanted() = [&](const Flags& flags) { input.emplace(flags); };
        run_with(tool, {});
        flags_wanted() = nullptr;
        return inputs_.emplace(tool.name, std::move(input.value())).first->second;
    }

    Json described(const ServedTool& tool) {
        const ToolInput& input = input_of(tool);
        Json schema = input.schema(every_);
        add_answer_options(schema);
        std::string description = fmt::format("{} Answers: {}.", input.description(), tool.answers);
        if (const std::vector<std::string> further = input.further(); !every_ && !further.empty())
            description += fmt::format(" Takes too: {}.", fmt::join(further, ", "));
        Json tool_json = {{"name", tool.name},
                          {"title", tool.answers},
                          {"description", std::move(description)},
                          {"inputSchema", std::move(schema)}};
        if (!input.answer().is_null())
            tool_json["outputSchema"] = input.answer();
        tool_json["annotations"] = {{"readOnlyHint", true}, {"openWorldHint", false}};
        return tool_json;
    }

    Json answered(const ServedTool& tool, const Json& given) {
        const ToolInput& input = input_of(tool);
        Json arguments = given;
        const AnswerOptions options = take_answer_options(arguments);
        std::vector<std::string> words = input.words(arguments, folder_);
        for (const char* flag : {"quiet", "no-pager"})
            if (input.has(flag))
                words.push_back(fmt::format("--{}", flag));
        if (!input.has("format"))
            return answer_of(run(tool, words), {}, options);
        std::vector<std::string> as_json = words, as_text = words;
        as_json.insert(as_json.begin(), "--format=json");
        as_text.insert(as_text.begin(), {"--format=text", "--color=never", "--width=100"});
        return answer_of(
            run(tool, as_json), [&] { return run(tool, as_text); }, options);
    }

    Captured run(const ServedTool& tool, const std::vector<std::string>& words) {
        return streams_.capture([&] { return run_with(tool, words); });
    }

    const std::vector<ServedTool>& tools_;
    Streams& streams_;
    fs::path folder_;
    bool every_, core_;
    std::map<std::string_view, ToolInput> inputs_;
    Json list_;
};

/// Answers until nobody asks any more.
static int serve(const std::vector<ServedTool>& tools, const fs::path& folder, bool every, bool core) {
    refuse_new_files("archsim mcp writes no files; call the tool from a shell to write one");
    // Files that a file names, through links too, are read through the same door as what a call names; beside
    // the folder lie the database and the catalogue.
    std::vector<fs::path> readable = model_dirs();
    readable.insert(readable.begin(), {folder, data_dir(), data_dir() / "hardware_db"}); // each may be a link
    read_only_inside(readable);
    Streams streams;
    Tools known(tools, streams, folder, every, core);
    Protocol protocol(
        {.name = "archsim",
         .version = version(),
         .instructions = kInstructions,
         .list = [&]() -> const Json& { return known.list(); },
         .call = [&](const std::string& tool, const Json& arguments) { return known.call(tool, arguments); },
         .unknown = [&](const std::string& tool) { return unknown_tool(tools, tool); }});
    bool whole = true;
    while (const std::optional<std::string> line = streams.read_line(kMostBytes, whole))
        if (const std::optional<std::string> answer = protocol.answer(*line, whole))
            if (!streams.write_line(*answer))
                break;
    return static_cast<int>(Exit::ok);
}

int serve_assistants(int argc, char** argv, const std::vector<ServedTool>& tools) {
    std::string files = ".";
    std::vector<std::string> names;
    const auto setup = [&](Flags& flags) {
        flags.add_option(
            "--tools", names,
            "serve these, whose descriptions an assistant reads; all: every tool with every argument "
            "explained (default: the six that most questions need)",
            "TOOL");
        flags.add_option("--files", files, "the folder whose files may be read (default: the current one)",
                         "FOLDER");
    };
    const auto body = [&] {
        std::error_code problem;
        const fs::path folder = fs::canonical(files, problem);
        if (problem || !fs::is_directory(folder, problem))
            throw InputError(fmt::format("--files: {} is no folder; name one", files));
        const bool every = names.size() == 1 && names.front() == kAll;
        const bool core = names.empty();
        std::vector<ServedTool> served =
            kept(tools, [&](const ServedTool& tool) { return every || core || contains(names, tool.name); });
        for (const std::string& name : names)
            if (!every && !contains(tools, name, &ServedTool::name))
                throw UsageError("--tools: " + unknown_tool(tools, name));
        // Relative names start in the folder, or where the server was started within it.
        if (!leads_into(folder, fs::current_path(problem)))
            fs::current_path(folder);
        return serve(served, folder, every, core);
    };
    return run_tool(
        argc, argv, "archsim mcp",
        "Serves the tools to assistants over the Model Context Protocol, on standard input and output.",
        kExamples, setup, body);
}

} // namespace archsim::cli
