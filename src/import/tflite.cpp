#include "archsim/extend/importer.hpp"

#include "core/lists.hpp"
#include "core/text.hpp"
#include "import/tflite.hpp"

#include <fmt/format.h>

namespace archsim {

namespace import {

constexpr std::size_t kAxesOfImages = 4;

/// Its results have the shapes that the file states.
static void add_untranslated(TfliteGraph& graph, const TfliteOperator& op) {
    std::vector<TensorId> inputs;
    for (const std::int64_t i : op.inputs)
        inputs.push_back(graph.get_optional(i, AxisOrder::file));
    const auto outputs = graph.emit_own(name_of_call(op), std::move(inputs), op.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        graph.declare(outputs[i], op.outputs[i]);
        graph.set_raw(op.outputs[i], outputs[i]);
    }
}

struct Compiled {
    std::string_view custom, what;
};
/// Custom operators that hold a network which a compiler made ready for a chip.
constexpr Compiled kCompiled[] = {
    {"ethos-u", "compiled by Vela for an Arm Ethos-U"},
    {"edgetpu-custom-op", "compiled by edgetpu_compiler for a Coral Edge TPU"},
    {"DISPATCH_OP", "compiled ahead of time by LiteRT for one NPU"},
};

/// A part of the network that is there as a program alone cannot be counted.
static void refuse_compiled(const TfliteModel& model, const std::string& file) {
    for (const TfliteSubgraph& graph : model.graphs)
        for (const TfliteOperator& op : graph.operators)
            for (const Compiled& known : kCompiled)
                if (op.code == builtin("CUSTOM") && op.custom == known.custom)
                    throw InputError(Finding{
                        .kind = FindingKind::unsupported,
                        .message = fmt::format("was {}: what its operator \"{}\" computes is not in the file",
                                               known.what, known.custom),
                        .file = file,
                        .hint = "give the .tflite file that was compiled"});
}

/// A graph that learns, or reads or writes weights, is not what a file is given for.
static bool infers(const TfliteSignature& signature) {
    const std::string name = lower_case(signature.name);
    for (const std::string_view other : {"train", "save", "restore", "init", "loss", "load"})
        if (name.find(other) != std::string::npos)
            return false;
    return true;
}

/// Graphs that a caller can ask for, the one that is meant first: those of the signatures, and the first
/// graph. Bodies of loops are none.
static std::vector<TfliteSignature> callable_graphs(const TfliteModel& model) {
    std::vector<TfliteSignature> out;
    const auto add = [&](std::string name, std::size_t graph) {
        for (const TfliteSignature& known : out)
            if (known.graph == graph)
                return;
        if (name.empty())
            name = model.graphs[graph].name.empty() ? std::to_string(graph) : model.graphs[graph].name;
        out.push_back({std::move(name), graph});
    };
    for (const TfliteSignature& signature : model.signatures)
        if (signature.graph == 0)
            add(signature.name, 0);
    add("", 0);
    for (const TfliteSignature& signature : model.signatures)
        add(signature.name, signature.graph);
    std::stable_partition(out.begin(), out.end(), infers);
    // Files without signatures: graphs that no operator runs.
    if (model.signatures.empty()) {
        std::vector<bool> run(model.graphs.size(), false);
        for (const TfliteSubgraph& graph : model.graphs)
            for (const TfliteOperator& op : graph.operators)
                for (const std::int64_t called : graphs_run_by(op))
                    if (called >= 0 && static_cast<std::size_t>(called) < run.size())
                        run[static_cast<std::size_t>(called)] = true;
        for (std::size_t i = 1; i < model.graphs.size(); ++i)
            if (!run[i])
                add("", i);
    }
    return out;
}

static std::string names_of(const std::vector<TfliteSignature>& graphs) {
    return fmt::format("{}", fmt::join(mapped(graphs, &TfliteSignature::name), ", "));
}

/// The graph of that name, or the first one.
static TfliteSignature chosen_graph(const std::vector<TfliteSignature>& graphs, std::string_view wanted,
                                    const std::string& file) {
    if (wanted.empty())
        return graphs.front();
    for (const TfliteSignature& graph : graphs)
        if (graph.name == wanted)
            return graph;
    throw InputError(Finding{.kind = FindingKind::unknown_name,
                             .message = fmt::format("has no graph \"{}\"", wanted),
                             .file = file,
                             .hint = "it has " + names_of(graphs)});
}

static Graph translated(const FlatBuffer& buffer, std::string_view wanted, const std::string& file) {
    const TfliteModel model = read_tflite(buffer);
    refuse_compiled(model, file);
    const auto graphs = callable_graphs(model);
    const TfliteSignature chosen = chosen_graph(graphs, wanted, file);
    TfliteBodies bodies(model, buffer);
    TfliteGraph graph(bodies, model.graphs[chosen.graph]);
    if (graphs.size() > 1)
        graph.report({.kind = FindingKind::inconsistent,
                      .severity = Severity::warning,
                      .message = fmt::format("holds {} graphs ({}); this is \"{}\"", graphs.size(),
                                             names_of(graphs), chosen.name),
                      .file = file,
                      .hint = "choose one with FILE#NAME"});
    translate_tflite(graph);
    return graph.take();
}

static std::string node_prefix(const TfliteGraph& graph, const TfliteOperator& op, std::size_t index) {
    if (!op.outputs.empty() && !graph.tensor(op.outputs.front()).name.empty())
        return graph.tensor(op.outputs.front()).name;
    return fmt::format("operator_{}", index);
}

AxisOrder TfliteCall::order() const {
    const auto& inputs = op_.inputs;
    if (std::ranges::none_of(inputs, [&](auto i) { return graph_.is_channels_first(i); }))
        return AxisOrder::file;
    // A tensor that is broadcast against an image must be one too, or a constant that can be declared like
    // one.
    const auto fits = [&](std::int64_t i) {
        if (i < 0)
            return true;
        const TfliteTensor& t = graph_.tensor(i);
        return t.shape.size() == kAxesOfImages || (t.constant() && t.shape.size() < kAxesOfImages);
    };
    return std::ranges::all_of(inputs, fits) ? AxisOrder::channels_first : AxisOrder::file;
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
            if (!add_tflite_image(call) && !add_tflite_arithmetic(call) && !add_tflite_arrangement(call) &&
                !add_tflite_recurrent(call) && !add_tflite_control(call))
                add_untranslated(graph, op);
            graph.follow(op);
        } catch (const FlatError& problem) {
            throw FlatError(fmt::format("operator {}, {}: {}", i, name_of_call(op), problem.what()));
        }
    }
}

} // namespace import

/// `part`: a graph of the file, or a model of a bundle and "/" and a graph of it; empty: the first, the only.
static Graph import_tflite_source(import::ByteSource& bytes, const std::string& name, std::string_view part,
                                  const Budget& budget) {
    try {
        if (import::is_bundle(bytes)) {
            const import::BundledModel model = import::find_in_bundle(bytes, part, name, budget.bytes);
            return import::translated(model.buffer(), model.graph, name);
        }
        return import::translated(import::FlatBuffer(bytes), part, name);
    } catch (const import::FlatError& problem) {
        throw InputError(Finding{
            .kind = FindingKind::malformed_file,
            .message = fmt::format("is not a TensorFlow Lite model, or is damaged: {}", problem.what()),
            .file = name,
            .hint = "give a complete .tflite file"});
    }
}

Graph import_tflite(const std::filesystem::path& file, std::string_view part, const Budget& budget) {
    import::ByteSource bytes(file, budget.bytes);
    return import_tflite_source(bytes, file.string(), part, budget);
}

Graph import_tflite(std::span<const std::uint8_t> bytes, const std::string& display_name,
                    std::string_view part, const Budget& budget) {
    import::ByteSource source(bytes);
    return import_tflite_source(source, display_name, part, budget);
}

} // namespace archsim
