#include "archsim/check/check_me.hpp"

#include "core/text_file.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace archsim {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

CheckTemplate read_check(const std::string& stack, const Json& object, const std::string& file) {
    CheckTemplate check;
    if (object.is_object()) {
        check.command = text_of(object, "command");
        check.why_not = text_of(object, "none");
        check.reads = text_of(object, "reads");
        check.note = text_of(object, "note");
        check.cite = text_of(object, "cite");
        if (const auto words = object.find("precision"); words != object.end() && words->is_object())
            for (const auto& [format, word] : words->items())
                if (word.is_string())
                    check.precision[format] = word.get<std::string>();
    }
    if (check.command.empty() == check.why_not.empty()) {
        Finding finding;
        finding.kind = FindingKind::malformed_file;
        finding.file = file;
        finding.where = "/checks/" + stack;
        finding.message = "this must be either a command or a reason why there is none";
        finding.mend = R"(give "command" or "none")";
        throw InputError(finding);
    }
    return check;
}

/// The text with every {KEY} replaced; braces around other words are part of the command.
std::string filled(std::string text, const std::map<std::string, std::string>& values) {
    for (const auto& [key, value] : values) {
        const std::string placeholder = "{" + key + "}";
        for (auto at = text.find(placeholder); at != std::string::npos;
             at = text.find(placeholder, at + value.size()))
            text.replace(at, placeholder.size(), value);
    }
    return text;
}

} // namespace

CheckCommands::CheckCommands(const std::filesystem::path& file) : file_(file.string()) {
    const Json document = Json::parse(read_text_file(file_), nullptr, false);
    const auto checks = document.is_object() ? document.find("checks") : document.end();
    if (!document.is_object() || checks == document.end() || !checks->is_object()) {
        Finding finding;
        finding.kind = FindingKind::malformed_file;
        finding.file = file_;
        finding.message = R"(the file holds no object "checks")";
        finding.mend = "take the file of the installation";
        throw InputError(finding);
    }
    for (const auto& [stack, object] : checks->items())
        checks_.emplace(stack, read_check(stack, object, file_));
}

const CheckTemplate* CheckCommands::find(std::string_view runtime) const {
    const auto found = checks_.find(runtime);
    return found == checks_.end() ? nullptr : &found->second;
}

CheckCommand CheckCommands::command(const Result& result, const CheckInputs& inputs) const {
    CheckCommand out;
    out.hardware = result.hardware;
    if (result.runtime == nullptr) {
        out.why_not = "there is no estimate to check";
        return out;
    }
    out.runtime = result.runtime->id;
    const CheckTemplate* check = find(out.runtime);
    if (check == nullptr || check->command.empty()) {
        out.why_not = check == nullptr ? fmt::format("{} says nothing of this stack", file_) : check->why_not;
        return out;
    }
    std::string shapes, list;
    for (const auto& [input, shape] : inputs.shapes) {
        std::string sides = shape;
        std::replace(sides.begin(), sides.end(), 'x', ',');
        shapes += fmt::format("{}{}:{}", shapes.empty() ? "" : ",", input, shape);
        list += fmt::format("{}{}[{}]", list.empty() ? "" : ",", input, sides);
    }
    const std::string format(name_of(result.estimate.executed.activations));
    const auto word = check->precision.find(format);
    const double cores = result.machine != nullptr ? std::max(1.0, result.machine->units) : 1;
    out.command = filled(check->command, {{"onnx", inputs.onnx},
                                          {"name", inputs.name},
                                          {"batch", std::to_string(inputs.batch)},
                                          {"shapes", shapes},
                                          {"shape_list", list},
                                          {"threads", fmt::format("{:.0f}", cores)},
                                          {"prompt", std::to_string(inputs.prompt_tokens)},
                                          {"generate", std::to_string(inputs.generate_tokens)},
                                          {"precision", word == check->precision.end() ? "" : word->second}});
    out.note = check->note.empty()
                   ? std::string()
                   : filled(check->note, {{"onnx", inputs.onnx},
                                          {"name", inputs.name},
                                          {"threads", fmt::format("{:.0f}", cores)},
                                          {"prompt", std::to_string(inputs.prompt_tokens)},
                                          {"generate", std::to_string(inputs.generate_tokens)}});
    if (word == check->precision.end() && format != "fp32" &&
        check->command.find("{precision}") != std::string::npos)
        out.note += fmt::format("{}the tool has no switch for {}: give it a model of that format",
                                out.note.empty() ? "" : "; ", format);
    out.reads = check->reads;
    return out;
}

CheckInputs check_inputs(const ModelFacts& model) {
    CheckInputs inputs;
    inputs.name = model.name;
    inputs.onnx = model.source.ends_with(".onnx") ? model.source : model.name + ".onnx";
    if (const auto batch = model.dims.find("batch"); batch != model.dims.end())
        inputs.batch = static_cast<long>(batch->second);
    if (model.graph != nullptr)
        for (const TensorId id : model.graph->inputs) {
            const ShapedTensor& tensor = model.graph->tensors[id];
            std::string shape;
            for (const auto side : tensor.shape)
                shape += fmt::format("{}{}", shape.empty() ? "" : "x", side);
            if (!shape.empty())
                inputs.shapes.emplace(tensor.name, shape);
        }
    return inputs;
}

} // namespace archsim
