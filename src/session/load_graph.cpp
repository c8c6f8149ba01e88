#include "session/loading.hpp"

#include "archsim/extend/importer.hpp"
#include "checkpoint/checkpoint.hpp"
#include "checkpoint/diffusion.hpp"
#include "core/text.hpp"
#include "core/text_file.hpp"
#include "import/file_kind.hpp"
#include "ops/given_values.hpp"
#include "session/usual_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace archsim {

/// The folder's name; of a snapshot in a cache of Hugging Face NAME of "models--OWNER--NAME".
static std::string name_of_folder(const std::filesystem::path& folder) {
    constexpr std::string_view kRepository = "models--", kSeparator = "--";
    const std::string repository = folder.parent_path().parent_path().filename().string();
    if (folder.parent_path().filename() == "snapshots" && repository.starts_with(kRepository))
        return repository.substr(repository.rfind(kSeparator) + kSeparator.size());
    return folder.filename().string();
}

/// FILE.tflite, FILE.task, each with #PART where one of several graphs or models is meant: file and part.
static std::optional<std::pair<std::filesystem::path, std::string>>
tflite_part(const std::filesystem::path& path) {
    const std::string& text = path.native();
    for (const std::string_view ending : {".tflite", ".task"}) {
        if (text.ends_with(ending))
            return std::pair{path, std::string()};
        if (const auto at = text.find(std::string(ending) + "#"); at != std::string::npos)
            return std::pair{std::filesystem::path(text.substr(0, at + ending.size())),
                             text.substr(at + ending.size() + 1)};
    }
    return std::nullopt;
}

static LanguageModel language_model(const CheckpointFacts& facts) {
    return {.layers = static_cast<double>(facts.layers),
            .hidden = static_cast<double>(facts.hidden),
            .heads = static_cast<double>(facts.heads),
            .kv_heads = static_cast<double>(facts.kv_heads),
            .head_size = static_cast<double>(facts.head_size),
            .vocabulary = static_cast<double>(facts.vocabulary),
            .max_context = static_cast<double>(facts.max_context),
            .experts = static_cast<double>(facts.experts),
            .active_experts = static_cast<double>(facts.active_experts)};
}

/// The catalogue knows which initialisers training does not learn; the file does not say.
static void mark_buffers(Graph& graph, const std::vector<std::string>& patterns) {
    for (Tensor& tensor : graph.tensors)
        if (tensor.role == TensorRole::initializer)
            for (const std::string& pattern : patterns)
                tensor.buffer = tensor.buffer || matches_glob(pattern, tensor.name);
}

static bool is_cache(const Tensor& tensor) {
    return tensor.name.starts_with("past_key_values") || tensor.name.starts_with("past.");
}

/// Exports of language models (Optimum, ONNX Runtime GenAI) leave batch, tokens and cached positions open.
/// What nobody gives is one prompt of `kPromptTokens` with nothing cached, as for the catalogue's own
/// language models.
static void default_sizes(Graph& graph, CatalogueEntry& info) {
    constexpr std::int64_t kPromptTokens = 512;
    const auto tensor = [&](TensorId id) -> const Tensor& { return graph.tensors[id]; };
    if (std::ranges::none_of(graph.inputs, [&](TensorId id) { return is_cache(tensor(id)); }))
        return;
    const auto set = [&](const Dimension& axis, std::int64_t size) {
        // Sums of other symbols follow from these.
        if (!axis.symbol.empty() && names_in_expression(axis.symbol).empty())
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
    Finding finding{
        .kind = FindingKind::unresolved_dimension, .severity = Severity::note, .where = graph.name};
    finding.message =
        fmt::format("a language model with a cache: sizes that are not given are one prompt of {} tokens and "
                    "an empty cache",
                    kPromptTokens);
    finding.hint = "give --prompt-tokens and --generate-tokens, or --dim for each symbol";
    graph.findings.push_back(std::move(finding));
}

std::filesystem::path in_cache(const std::filesystem::path& path) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const fs::path snapshots = path / "snapshots";
    if (!fs::is_directory(snapshots, ignored) || is_checkpoint(path) || is_diffusion_pipeline(path))
        return path;
    std::string commit;
    if (const fs::path main = path / "refs" / "main"; fs::is_regular_file(main, ignored))
        commit = read_text_file(main);
    commit = commit.substr(0, commit.find('\n'));
    if (!commit.empty() && commit.find('/') == std::string::npos && commit.front() != '.' &&
        fs::is_directory(snapshots / commit, ignored))
        return snapshots / commit;
    fs::path only;
    for (const auto& entry : fs::directory_iterator(snapshots, ignored)) {
        if (!only.empty())
            return path;
        only = entry.path();
    }
    return only.empty() ? path : only;
}

std::string name_of_file(const std::filesystem::path& path) {
    std::error_code ignored;
    const auto absolute = std::filesystem::absolute(path, ignored).lexically_normal();
    if (const auto lite = tflite_part(path); lite && !lite->second.empty())
        return lite->first.stem().string() + "#" + lite->second;
    if (path.filename() == "config.json" || path.filename() == "model_index.json")
        return name_of_folder(absolute.parent_path());
    return std::filesystem::is_directory(path, ignored)
               ? name_of_folder(absolute.has_filename() ? absolute : absolute.parent_path())
               : (path.extension() == ".gz" ? path.stem() : path).stem().string();
}

ImportedGraph load_file(const std::filesystem::path& path, CatalogueEntry info, const Budget& budget) {
    auto lite = tflite_part(path);
    std::error_code ignored;
    refuse_foreign_file(lite                                                     ? lite->first
                        : std::filesystem::exists(path / "config.json", ignored) ? path / "config.json"
                                                                                 : path);
    if (!lite && is_tflite(path))
        lite.emplace(path, std::string());
    if (lite) {
        Graph graph = import_tflite(lite->first, lite->second, budget);
        if (info.dims.empty())
            default_sizes(graph, info);
        return {std::move(info), std::make_shared<const Graph>(std::move(graph)), budget};
    }
    if (!is_checkpoint(path)) {
        Graph graph = import_onnx(path, budget);
        mark_buffers(graph, info.buffers);
        if (info.dims.empty())
            default_sizes(graph, info);
        return {std::move(info), std::make_shared<const Graph>(std::move(graph)), budget};
    }
    Checkpoint checkpoint = read_checkpoint(path, budget);
    checkpoint.graph.name = info.name;
    mark_buffers(checkpoint.graph, info.buffers);
    info.dims.merge(checkpoint.dims);
    info.language_model = language_model(checkpoint.facts);
    info.products = quantised_products(checkpoint.graph);
    return {std::move(info), std::make_shared<const Graph>(std::move(checkpoint.graph)), budget};
}

ImportedGraph load_file(const std::filesystem::path& named, const Budget& budget) {
    const std::filesystem::path path = in_cache(named);
    CatalogueEntry own;
    own.name = own.title = name_of_file(path);
    own.file = path;
    own.source = path.string();
    ImportedGraph loaded = load_file(path, std::move(own), budget);
    loaded.info.format = format_of_file(*loaded.graph);
    return loaded;
}

} // namespace archsim
