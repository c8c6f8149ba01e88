#include "run/session/load_graph.hpp"

#include "archsim/checkpoint/checkpoint.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/import/import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fnmatch.h>

namespace archsim {

namespace {

std::string name_of_file(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto absolute = std::filesystem::absolute(path, ignored).lexically_normal();
    if (path.filename() == "config.json")
        return absolute.parent_path().filename().string();
    return std::filesystem::is_directory(path, ignored)
               ? (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string()
               : (path.extension() == ".gz" ? path.stem() : path).stem().string();
}

LanguageModel language_model(const CheckpointFacts& facts) {
    LanguageModel lm;
    lm.layers = static_cast<double>(facts.layers);
    lm.hidden = static_cast<double>(facts.hidden);
    lm.heads = static_cast<double>(facts.heads);
    lm.kv_heads = static_cast<double>(facts.kv_heads);
    lm.head_size = static_cast<double>(facts.head_size);
    lm.vocabulary = static_cast<double>(facts.vocabulary);
    lm.max_context = static_cast<double>(facts.max_context);
    lm.experts = static_cast<double>(facts.experts);
    lm.active_experts = static_cast<double>(facts.active_experts);
    return lm;
}

/// The catalogue knows which initialisers training does not learn; the file does not say.
void mark_buffers(Graph& graph, const std::vector<std::string>& patterns) {
    for (Tensor& tensor : graph.tensors)
        if (tensor.role == TensorRole::initializer)
            for (const std::string& pattern : patterns)
                tensor.buffer = tensor.buffer || fnmatch(pattern.c_str(), tensor.name.c_str(), 0) == 0;
}

bool is_cache(const Tensor& tensor) {
    return tensor.name.starts_with("past_key_values") || tensor.name.starts_with("past.");
}

/// Exports of language models (Optimum, ONNX Runtime GenAI) leave batch, tokens and cached positions open.
/// What nobody gives is one prompt of `kPromptTokens` with nothing cached, as for the catalogue's own
/// language models.
void default_sizes(Graph& graph, CatalogueEntry& info) {
    constexpr std::int64_t kPromptTokens = 512;
    const auto tensor = [&](TensorId id) -> const Tensor& { return graph.tensors[id]; };
    if (std::none_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](TensorId id) { return is_cache(tensor(id)); }))
        return;
    const auto set = [&](const Dimension& axis, std::int64_t size) {
        // Sums of other symbols follow from these.
        if (!axis.symbol.empty() && axis.symbol.find(" + ") == std::string::npos)
            info.dims.try_emplace(axis.symbol, size);
    };
    for (const TensorId id : graph.inputs)
        if (const auto& shape = tensor(id).shape; shape && is_cache(tensor(id)) && shape->size() >= 3)
            set((*shape)[shape->size() - 2], 0);
    for (const TensorId id : graph.inputs) {
        const auto& shape = tensor(id).shape;
        if (!shape || shape->empty())
            continue;
        set(shape->front(), 1);
        if (shape->size() == 2 && !is_floating(tensor(id).type))
            set((*shape)[1], kPromptTokens);
    }
    Finding finding;
    finding.kind = FindingKind::unresolved_dimension;
    finding.severity = Severity::note;
    finding.where = graph.name;
    finding.message =
        fmt::format("a language model with a cache: sizes that are not given are one prompt of {} tokens and "
                    "an empty cache",
                    kPromptTokens);
    finding.hint = "give --prompt-tokens and --generate-tokens, or --dim for each symbol";
    graph.findings.push_back(std::move(finding));
}

} // namespace

ImportedGraph load_file(const std::filesystem::path& path, CatalogueEntry info, const Budget& budget) {
    if (!is_checkpoint(path)) {
        Graph graph = path.extension() == ".tflite" ? import_tflite(path) : import_onnx(path, budget);
        mark_buffers(graph, info.buffers);
        if (info.dims.empty())
            default_sizes(graph, info);
        return {std::move(info), std::make_shared<const Graph>(std::move(graph)), budget};
    }
    Checkpoint checkpoint = read_checkpoint(path);
    checkpoint.graph.name = info.name;
    mark_buffers(checkpoint.graph, info.buffers);
    info.dims.merge(checkpoint.dims);
    info.language_model = language_model(checkpoint.facts);
    return {std::move(info), std::make_shared<const Graph>(std::move(checkpoint.graph)), budget};
}

ImportedGraph load_file(const std::filesystem::path& path, const Budget& budget) {
    CatalogueEntry own;
    own.name = own.title = name_of_file(path);
    own.file = path;
    own.source = path.string();
    return load_file(path, std::move(own), budget);
}

} // namespace archsim
