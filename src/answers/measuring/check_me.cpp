#include "answers/measuring/check_me.hpp"

#include "fields/question.hpp"
#include "result/format_parts.hpp"
#include "session/named_format.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string>

namespace archsim {

/// The values of a command's placeholders beside the stack and the format.
struct CheckInputs {
    std::string onnx; ///< path of the model's file
    std::string name;
    std::map<std::string, std::vector<std::int64_t>> shapes; ///< by input
    long batch = 1;
    long prompt_tokens = 512, generate_tokens = 128;
};

/// The text with every {KEY} replaced; braces around other words are part of the command.
static std::string filled(std::string text, const std::map<std::string, std::string>& values) {
    for (const auto& [key, value] : values) {
        const std::string placeholder = "{" + key + "}";
        for (auto at = text.find(placeholder); at != std::string::npos;
             at = text.find(placeholder, at + value.size()))
            text.replace(at, placeholder.size(), value);
    }
    return text;
}

/// Placeholders that the model decides.
static std::map<std::string, std::string> words_of(const CheckInputs& inputs) {
    std::string shapes, list;
    for (const auto& [input, sides] : inputs.shapes) {
        shapes += fmt::format("{}{}:{}", shapes.empty() ? "" : ",", input, fmt::join(sides, "x"));
        list += fmt::format("{}{}[{}]", list.empty() ? "" : ",", input, fmt::join(sides, ","));
    }
    const std::vector<std::int64_t> first =
        inputs.shapes.empty() ? std::vector<std::int64_t>{} : inputs.shapes.begin()->second;
    // Mobile runtimes name width, height and channels of one item.
    const std::vector<std::int64_t> item(first.rbegin(), first.empty() ? first.rend() : first.rend() - 1);
    return {{"onnx", inputs.onnx},
            {"name", inputs.name},
            {"batch", std::to_string(inputs.batch)},
            {"shapes", shapes},
            {"shape_list", list},
            {"sides", fmt::format("{}", fmt::join(first, ","))},
            {"item", fmt::format("{}", fmt::join(item, ","))},
            {"prompt", std::to_string(inputs.prompt_tokens)},
            {"generate", std::to_string(inputs.generate_tokens)}};
}

static CheckInputs check_inputs(const Result& result) {
    const ModelFacts& model = *result.model;
    CheckInputs inputs;
    inputs.name = model.name;
    inputs.onnx = model.source.ends_with(".onnx") ? model.source : model.name + ".onnx";
    if (const auto batch = model.dims.find("batch"); batch != model.dims.end())
        inputs.batch = static_cast<long>(batch->second);
    if (result.generation != nullptr) {
        inputs.batch = std::lround(result.generation->batch);
        inputs.prompt_tokens = std::lround(result.generation->prompt_tokens);
        inputs.generate_tokens = std::lround(result.generation->generate_tokens);
    }
    if (model.graph != nullptr)
        for (const TensorId id : model.graph->inputs) {
            const ShapedTensor& tensor = model.graph->tensors[id];
            if (!tensor.shape.empty())
                inputs.shapes.emplace(tensor.name,
                                      std::vector<std::int64_t>(tensor.shape.begin(), tensor.shape.end()));
        }
    return inputs;
}

static std::string torchvision_name(const Session& session, const std::string& model) {
    // "torchvision 0.14.1 resnet50"; others are made from its models with sizes of their own.
    const CatalogueEntry* const entry = session.catalogue().find(model);
    return entry != nullptr && entry->source.starts_with("torchvision ") &&
                   entry->source.ends_with(" " + entry->name)
               ? entry->name
               : std::string();
}

static std::string repository_name(const Session& session, const std::string& model) {
    std::string checkpoint = checkpoint_of(session, model);
    return checkpoint.find('/') == std::string::npos ? std::string() : checkpoint;
}

/// A library that has models under names of its own, by the word that stands for one in a command.
struct Library {
    const char *word, *lacks;
    std::string (*name_in)(const Session& session, const std::string& model); ///< empty: it has none
};
constexpr Library kLibraries[] = {{"torchvision", "torchvision does not have", torchvision_name},
                                  {"checkpoint", "there is no repository here of", repository_name}};

/// The format that the tool must be told: that of the tensors, of language models that of the weights too, or
/// tf32 where their products run in it and the tool has a word for it.
static std::string measured_format(const Result& result, const CheckTemplate& check) {
    const PrecisionConfig& executed = result.estimate.executed;
    if (result.generation)
        return multiplied_format(result);
    const std::string_view tf32 = name_of(Precision::tf32);
    if (executed.compute == Precision::tf32 && check.precision.contains(std::string(tf32)))
        return std::string(tf32);
    return std::string(name_of(executed.activations));
}

CheckCommand check_command(const Session& session, const Result& result) {
    CheckCommand out;
    out.hardware = result.hardware;
    if (result.runtime == nullptr || result.model == nullptr) {
        out.why_not = "there is no estimate to check";
        return out;
    }
    out.runtime = result.runtime->id;
    out.model = result.model->name;
    const CheckTemplate& check = result.runtime->check;
    if (check.command.empty()) {
        out.why_not = check.why_not.empty() ? "the stack's file does not say how to measure" : check.why_not;
        return out;
    }
    const std::string format = measured_format(result, check);
    const auto word = check.precision.find(format);
    std::map<std::string, std::string> values = words_of(check_inputs(result));
    for (const Library& library : kLibraries) {
        const std::string& name = values[library.word] = library.name_in(session, result.model->name);
        if (name.empty() && check.command.find(fmt::format("{{{}}}", library.word)) != std::string::npos) {
            out.why_not = fmt::format("no command is known: {} {}", library.lacks, result.model->name);
            return out;
        }
    }
    values["threads"] =
        fmt::format("{:.0f}", result.machine != nullptr ? std::max(1.0, result.machine->units) : 1.0);
    values["precision"] = word == check.precision.end() ? "" : word->second;
    out.command = filled(check.command, values);
    out.note = filled(check.note, values);
    if (word == check.precision.end() && format != "fp32")
        out.note += fmt::format("{}the tool has no switch for {}: give it a model of that format",
                                out.note.empty() ? "" : "; ", format);
    out.reads = check.reads;
    return out;
}

Report describe(const std::vector<CheckCommand>& commands) {
    Report report{"Verify on hardware", {}};
    report.blocks.push_back(Heading{2, report.title});
    std::set<std::string> shown;
    for (const CheckCommand& check : commands) {
        if (!shown.insert(check.hardware + '\n' + check.command + check.why_not).second)
            continue;
        report.blocks.push_back(Paragraph{
            check.command.empty() ? fmt::format("{} ({}): {}.", check.hardware, check.runtime, check.why_not)
                                  : fmt::format("{} ({}){}", check.hardware, check.runtime,
                                                check.note.empty() ? "" : ": " + check.note)});
        if (!check.command.empty())
            report.blocks.push_back(Command{check.command});
        if (!check.reads.empty())
            report.blocks.push_back(
                Command{fmt::format("validate_estimates --from FILE --hardware {} --model {}",
                                    shell_quoted(check.hardware), shell_quoted(check.model))});
    }
    return report;
}

} // namespace archsim
