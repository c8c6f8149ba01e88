#include "archsim/import/import.hpp"

#include "import/tflite_operator.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace archsim {

namespace import {

namespace {

constexpr std::size_t kAxesOfImages = 4;
constexpr std::string_view kUntranslated = "tflite";

/// What an operator that has no counterpart is called: the name of a custom one, or its number in the schema.
std::string name_of_call(const TfliteOperator& op) {
    return op.code == static_cast<std::int32_t>(Tflite::custom) ? op.custom
                                                                : fmt::format("BuiltinOperator{}", op.code);
}

void add_untranslated(TfliteGraph& graph, const TfliteOperator& op) {
    std::vector<TensorId> inputs;
    for (const std::int64_t i : op.inputs)
        inputs.push_back(graph.get_optional(i, AxisOrder::file));
    const auto outputs =
        graph.emit_several(name_of_call(op), std::move(inputs), op.outputs.size(), {}, kUntranslated);
    for (std::size_t i = 0; i < outputs.size(); ++i)
        graph.set(op.outputs[i], outputs[i], AxisOrder::file, false);
}

std::string node_prefix(const TfliteGraph& graph, const TfliteOperator& op, std::size_t index) {
    if (!op.outputs.empty() && !graph.tensor(op.outputs.front()).name.empty())
        return graph.tensor(op.outputs.front()).name;
    return fmt::format("operator_{}", index);
}

} // namespace

AxisOrder TfliteCall::order() const {
    const auto& inputs = op_.inputs;
    if (std::none_of(inputs.begin(), inputs.end(), [&](auto i) { return graph_.is_channels_first(i); }))
        return AxisOrder::file;
    // What is broadcast against an image must be one too, or a constant that can be declared like one.
    const auto fits = [&](std::int64_t i) {
        if (i < 0)
            return true;
        const TfliteTensor& t = graph_.tensor(i);
        return t.shape.size() == kAxesOfImages || (t.constant() && t.shape.size() < kAxesOfImages);
    };
    return std::all_of(inputs.begin(), inputs.end(), fits) ? AxisOrder::channels_first : AxisOrder::file;
}

std::int64_t TfliteCall::axis(std::int64_t axis, std::size_t rank, AxisOrder order) const {
    const auto count = static_cast<std::int64_t>(rank);
    if (axis < 0)
        axis += count;
    if (axis < 0 || axis >= count)
        throw FlatError("an operator names an axis that is not there");
    constexpr std::int64_t kFirst[] = {0, 2, 3, 1}; // of N, H, W, C
    return order == AxisOrder::channels_first && rank == kAxesOfImages ? kFirst[axis] : axis;
}

TensorId TfliteCall::activated(TensorId x, unsigned field) const {
    enum : std::int8_t { none, relu, relu_n1_to_1, relu6, tanh, sign_bit };
    switch (option<std::int8_t>(field, 0)) {
    case relu:
        return graph_.emit("Relu", {x});
    case relu_n1_to_1:
        return graph_.emit("Clip", {x, graph_.scalar(-1), graph_.scalar(1)});
    case relu6:
        return graph_.emit("Clip", {x, graph_.scalar(0), graph_.scalar(6)});
    case tanh:
        return graph_.emit("Tanh", {x});
    case sign_bit:
        return graph_.emit("Sign", {x});
    default:
        return x;
    }
}

void translate_tflite(TfliteGraph& graph) {
    const auto& operators = graph.model().operators;
    for (std::size_t i = 0; i < operators.size(); ++i) {
        const TfliteOperator& op = operators[i];
        graph.begin(node_prefix(graph, op, i));
        const TfliteCall call(graph, op);
        try {
            if (!add_tflite_image(call) && !add_tflite_arithmetic(call) && !add_tflite_arrangement(call))
                add_untranslated(graph, op);
        } catch (const FlatError& problem) {
            throw FlatError(fmt::format("operator {} of kind {}: {}", i, op.code, problem.what()));
        }
    }
}

} // namespace import

namespace {

Graph import_tflite_source(import::ByteSource& bytes, const std::string& name) {
    try {
        const import::FlatBuffer buffer(bytes);
        const import::TfliteModel model = import::read_tflite(buffer);
        import::TfliteGraph graph(model, buffer);
        import::translate_tflite(graph);
        return graph.take();
    } catch (const import::FlatError& problem) {
        throw InputError(Finding{
            .kind = FindingKind::malformed_file,
            .message = fmt::format("is not a TensorFlow Lite model, or is damaged: {}", problem.what()),
            .file = name,
            .hint = "give a complete .tflite file"});
    }
}

} // namespace

Graph import_tflite(const std::filesystem::path& file) {
    import::ByteSource bytes(file);
    return import_tflite_source(bytes, file.string());
}

Graph import_tflite(std::span<const std::uint8_t> bytes, const std::string& display_name) {
    import::ByteSource source(bytes);
    return import_tflite_source(source, display_name);
}

} // namespace archsim
