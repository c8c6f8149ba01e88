#include "checkpoint/checkpoint.hpp"

#include "checkpoint/config_parts.hpp"
#include "checkpoint/gguf_file.hpp"
#include "checkpoint/stored_files.hpp"

#include <fmt/format.h>

namespace archsim {

using checkpoint::Decoder;

// No configuration is larger; what is, is another file.
constexpr std::uintmax_t kLargestConfig = 64u << 20;
// In the folder of an adapter, which has no config.json; its fields say so and the reader refuses them.
constexpr const char* kAdapter = "adapter_config.json";
// The sizes when nothing is asked: as the models of the catalogue.
constexpr std::int64_t kDefaultSequence = 512;
constexpr const char* kPast = "past_sequence";

static std::string read_file(const std::filesystem::path& file) {
    return checkpoint::read_config_text(file, kLargestConfig);
}

static Checkpoint finish(Decoder decoder, const std::filesystem::path& file = {}) {
    Checkpoint out{.graph = checkpoint::build_graph(decoder)};
    if (decoder.stated.parameters > 0)
        checkpoint::check_gguf_parameters(decoder, out.graph, file.string());
    out.facts = std::move(decoder.facts);
    out.dims = {{"batch", 1}, {"sequence", kDefaultSequence}};
    const auto grows = [](const Dimension& d) { return d.symbol.find(kPast) != std::string::npos; };
    if (std::ranges::any_of(out.graph.inputs, [&](TensorId id) {
            const auto& shape = out.graph.tensors[id].shape;
            return shape && std::any_of(shape->begin(), shape->end(), grows);
        })) // states of fixed size alone have none (Mamba)
        out.dims.emplace(kPast, 0);
    return out;
}

/// Files beside config.json that say how weights lie in memory, where it does not: those of NVIDIA's Model
/// Optimizer, AutoGPTQ and AutoAWQ, with the method where the file does not name it.
struct QuantizationFile {
    const char* name;
    const char* method;
};
constexpr QuantizationFile kQuantizationFiles[] = {
    {"hf_quant_config.json", "modelopt"}, {"quantize_config.json", "gptq"}, {"quant_config.json", "awq"}};

/// The object's own statement of the quantisation; null: none.
static nlohmann::json* quantization_in(nlohmann::json& object) {
    for (const char* key : {"quantization_config", "compression_config", "quantization"})
        if (const auto it = object.find(key); it != object.end() && it->is_object() && !it->empty())
            return &*it;
    return nullptr;
}

/// The statement of the first of the files beside the configuration; null: there is none.
static nlohmann::json read_quantization_file(const std::filesystem::path& folder) {
    for (const QuantizationFile& file : kQuantizationFiles) {
        std::error_code ignored;
        const auto path = folder / file.name;
        if (!std::filesystem::is_regular_file(path, ignored))
            continue;
        nlohmann::json stated = checkpoint::parse_python_json(read_file(path), path.string());
        if (const auto inner = stated.find("quantization"); inner != stated.end() && inner->is_object())
            stated = nlohmann::json(*inner);
        if (!stated.contains("quant_method"))
            stated["quant_method"] = file.method;
        return stated;
    }
    return nullptr;
}

static nlohmann::json with_quantization(nlohmann::json document, const std::filesystem::path& folder) {
    nlohmann::json* own = quantization_in(document);
    for (auto& [key, part] : document.items())
        if (!own && key.ends_with("_config") && part.is_object())
            own = quantization_in(part);
    const char* cache = "kv_cache_quant_algo"; // Model Optimizer may say it in its own file alone
    const bool whole = own && (own->contains(cache) || own->contains("kv_cache_scheme") ||
                               own->value("quant_method", nlohmann::json()) != "modelopt");
    if (whole)
        return document;
    nlohmann::json stated = read_quantization_file(folder);
    if (own && stated.is_object() && stated.contains(cache))
        (*own)[cache] = stated[cache];
    else if (!own && stated.is_object())
        document["quantization_config"] = std::move(stated);
    return document;
}

static Decoder read_folder(const std::filesystem::path& folder, const std::filesystem::path& config,
                           const Budget& budget) {
    Decoder d = checkpoint::read_config(
        with_quantization(checkpoint::parse_python_json(read_file(config), config.string()), folder),
        config.string(), budget);
    checkpoint::apply_headers(checkpoint::read_safetensors_folder(folder), d);
    const checkpoint::StoredFiles files = checkpoint::read_stored_files(folder);
    checkpoint::apply_index(files, d);
    if (files.bytes > 0) {
        const double counted = checkpoint::weight_bytes(checkpoint::build_graph(d));
        constexpr double kByte = 8;
        const double unloaded = d.facts.prediction_parameters * bits_of(d.type) / kByte;
        checkpoint::hold_bytes(files, counted, unloaded, Severity::error, d);
    }
    return d;
}

bool is_checkpoint(const std::filesystem::path& path) {
    const std::string ending = path.extension().string();
    std::error_code ignored;
    return ending == ".gguf" || ending == ".safetensors" || ending == ".json" ||
           (std::filesystem::is_directory(path, ignored) &&
            (std::filesystem::exists(path / "config.json", ignored) ||
             std::filesystem::exists(path / kAdapter, ignored)));
}

Checkpoint read_checkpoint_config(std::string_view text, const std::string& file, const Budget& budget) {
    return finish(checkpoint::read_config(checkpoint::parse_python_json(text, file), file, budget));
}

Checkpoint read_checkpoint(const std::filesystem::path& path, const Budget& budget) {
    std::error_code ignored;
    if (path.extension() == ".gguf")
        return finish(checkpoint::read_gguf(path), path);
    if (std::filesystem::is_directory(path, ignored)) {
        const bool adapter = !std::filesystem::exists(path / "config.json", ignored) &&
                             std::filesystem::exists(path / kAdapter, ignored);
        return finish(read_folder(path, path / (adapter ? kAdapter : "config.json"), budget));
    }
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    if (path.extension() == ".safetensors") {
        if (!std::filesystem::exists(folder / "config.json", ignored))
            throw InputError(
                fmt::format("{}: states tensors, not how they are joined; put the model's config.json "
                            "beside it",
                            path.string()));
        return finish(read_folder(folder, folder / "config.json", budget));
    }
    if (path.filename() == "config.json")
        return finish(read_folder(folder, path, budget));
    return read_checkpoint_config(read_file(path), path.string(), budget);
}

} // namespace archsim
