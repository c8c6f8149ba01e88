#include "archsim/core/finding.hpp"
#include "archsim/core/precision.hpp"
#include "common/model_files.hpp"
#include "common/tool.hpp"

#include <fmt/format.h>

namespace archsim::cli {

void ModelsOption::add_to(Flags& flags) {
    flags
        .add_option("MODEL", positional,
                    "catalogue name(s), .onnx, .tflite or .gguf files, checkpoints (config.json), folders "
                    "of .onnx files, or - for standard input")
        .value_named("MODEL");
    flags.add_option("--model", flag, "the same as a flag").value_named("MODEL");
}

std::vector<std::string> ModelsOption::taken(const std::string& tool) const {
    std::vector<std::string> names = positional;
    names.insert(names.end(), flag.begin(), flag.end());
    if (names.empty())
        throw UsageError(fmt::format("name a model: {} MODEL", tool));
    for (const std::string& name : names) // "--precision fp16 int8": a second value where one is taken
        if (parse_precision(name) || name.find_first_not_of("0123456789") == std::string::npos)
            throw UsageError(fmt::format("\"{}\" is no model; the flag before it takes one value", name));
    return models_named(names);
}

void ModelOption::add_to(Flags& flags) {
    flags
        .add_option("MODEL", positional,
                    "catalogue name, .onnx, .tflite or .gguf file, checkpoint (config.json), or - for "
                    "standard input")
        .value_named("MODEL");
    flags.add_option("--model", flag, "the same as a flag").value_named("MODEL");
}

std::string ModelOption::taken(const std::string& tool) const {
    if (flag.empty() == positional.empty())
        throw UsageError(positional.empty() ? fmt::format("name a model: {} MODEL", tool)
                                            : std::string("name the model once, as MODEL or with --model"));
    return model_named(flag.empty() ? positional : flag);
}

} // namespace archsim::cli
