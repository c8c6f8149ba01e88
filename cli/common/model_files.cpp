#include "common/tool.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/core/precision.hpp"
#include "common/answer_options.hpp"
#include "core/lists.hpp"
#include "core/new_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>

namespace archsim::cli {

namespace fs = std::filesystem;

constexpr std::size_t kPart = std::size_t{1} << 20; ///< of standard input at a time

/// A folder that goes with the process, under a name that nobody can guess and for its user alone.
class Scratch {
  public:
    Scratch() : folder_(fs::temp_directory_path() / ("archsim-" + random_name())), unfinished_(folder_) {
        if (mkdir(folder_.c_str(), S_IRWXU) != 0)
            throw InputError(
                fmt::format("-: a folder for standard input cannot be made: {}: {}; let TMPDIR name one",
                            folder_.string(), std::strerror(errno)));
    }
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    fs::path file(std::string_view name) {
        inside_ = Unfinished(folder_ / name);
        return folder_ / name;
    }

  private:
    fs::path folder_;
    Unfinished unfinished_, inside_;
};

/// Formats that are read by what they begin with.
static std::string_view file_name_for(std::string_view content) {
    if (content.starts_with("GGUF"))
        return "stdin.gguf";
    return content.find_first_not_of(" \t\r\n") != std::string_view::npos &&
                   content[content.find_first_not_of(" \t\r\n")] == '{'
               ? "config.json"
               : "stdin.onnx";
}

std::string model_named(const std::string& name) {
    if (name != "-")
        return name;
    static Scratch scratch;
    static std::string file; // what was read is read once
    if (!file.empty())
        return file;
    const double most = allowed_budget().bytes;
    std::string part(kPart, '\0');
    const auto more = [&]() -> std::string_view {
        const std::size_t read = std::fread(part.data(), 1, part.size(), stdin);
        if (std::ferror(stdin) != 0)
            throw InputError(fmt::format("-: standard input cannot be read: {}", std::strerror(errno)));
        return std::string_view(part).substr(0, read);
    };
    std::string_view content = more();
    if (content.empty())
        throw InputError(
            "-: standard input is empty; a model is read from it: compare_models - < model.onnx");
    const fs::path path = scratch.file(file_name_for(content));
    NewFile out(path, path.string());
    for (double bytes = 0; !content.empty(); content = more()) {
        bytes += static_cast<double>(content.size());
        if (bytes > most)
            throw InputError(
                fmt::format("-: standard input has more than {:.0f} bytes; give the model as a file, "
                            "or allow more: bytes=... in ARCHSIM_BUDGET",
                            most));
        out.write(content);
    }
    out.put_in_place();
    return file = path.string();
}

std::vector<std::string> models_named(const std::vector<std::string>& names) {
    std::vector<std::string> out;
    for (const std::string& name : names) {
        std::vector<std::string> found;
        std::error_code problem; // a name too long for a file, a link to itself: no folder
        if (fs::is_directory(name, problem) && !fs::exists(fs::path(name) / "config.json", problem))
            for (auto at = fs::directory_iterator(name, problem); !problem && at != fs::directory_iterator();
                 at.increment(problem))
                if (at->path().extension() == ".onnx")
                    found.push_back(at->path().string());
        std::ranges::sort(found);
        if (found.empty())
            out.push_back(model_named(name));
        else
            append(out, found);
    }
    return out;
}

void ModelsOption::add_to(Flags& flags) {
    flags.add_option("MODEL", positional,
                     "catalogue name(s), .onnx, .tflite or .gguf files, checkpoints (config.json), folders "
                     "of .onnx files, or - for standard input",
                     "MODEL");
    flags.add_option("--model", flag, "the same as a flag", "MODEL");
}

std::vector<std::string> ModelsOption::taken(const std::string& tool) const {
    std::vector<std::string> names = positional;
    append(names, flag);
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
                     "standard input",
                     "MODEL");
    flags.add_option("--model", flag, "the same as a flag", "MODEL");
}

std::string ModelOption::taken(const std::string& tool) const {
    if (flag.empty() == positional.empty())
        throw UsageError(positional.empty() ? fmt::format("name a model: {} MODEL", tool)
                                            : std::string("name the model once, as MODEL or with --model"));
    return model_named(flag.empty() ? positional : flag);
}

} // namespace archsim::cli
