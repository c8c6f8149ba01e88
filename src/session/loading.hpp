#pragma once
// Models and their catalogue from files. A path goes in; a graph, the parts of a pipeline, or the catalogue
// comes out.

#include "archsim/core/finding.hpp"
#include "archsim/extend/operator.hpp"
#include "archsim/run/catalogue.hpp"
#include "archsim/run/model.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace archsim {

/// An ONNX file, a config.json, the folder of a checkpoint or a .gguf file; `info` as far as it is known
/// before. Throws InputError.
ImportedGraph load_file(const std::filesystem::path& path, CatalogueEntry info, const Budget& budget = {});
/// The same without anything known: named after the file, or the folder of a config.json.
ImportedGraph load_file(const std::filesystem::path& path, const Budget& budget = {});

/// A checkpoint of Hugging Face's cache by its snapshot ("models--OWNER--NAME/snapshots/COMMIT"); any other
/// path as it is.
std::filesystem::path in_cache(const std::filesystem::path& path);
/// The name of a model of that path where nothing else is said.
std::string name_of_file(const std::filesystem::path& path);

/// A pipeline of diffusers: a part for each text encoder, the denoiser and the decoder. `info` as far as it
/// is known before; sizes that it does not state, and the format where it states none, are those of the file.
/// `only`: the part of that name alone, whatever the others are. Throws InputError.
Model load_pipeline(const std::filesystem::path& path, CatalogueEntry info,
                    const std::shared_ptr<const OperatorRegistry>& operators, const Budget& budget,
                    std::string_view only = {});

/// The catalogue of `data`, a folder with hardware_db/ and models/. Beside the database that is built into
/// the library (data_dir()) it is that of the first of model_dirs() that has one, and empty where none has.
Catalogue find_catalogue(const std::filesystem::path& data);

/// The error for a name that is not in the catalogue.
InputError unknown_model(const Catalogue& catalogue, std::string_view name);

/// "llama3.1:8b": a file in Q4_K_M unless its tag says another type (ollama.com/library, tags), as
/// "OWNER/NAME-GGUF" is to llama.cpp's --hf-repo.
inline bool is_ollama_name(std::string_view name) {
    return name.find(':') != name.npos && name.find('/') == name.npos;
}

/// The network of the catalogue that a name means together with the format at its end: "nvidia/Llama-3.1-8B-
/// Instruct-FP8" is llama-3.1-8b in fp8 (CatalogueEntry::products), "Qwen3-8B-Q4_K_M.gguf" qwen3-8b in int4
/// and a file of llama.cpp's kind. Owners of repositories are not looked at. Without a format the network
/// as it is; nothing where none is called so.
std::optional<CatalogueEntry> entry_in_format(const Catalogue& catalogue, std::string_view name);

/// "llama-3.3-70b (Llama 3.1 70B)": the title, with what the network was called where that is none of its own
/// names: another of the same layers.
std::string title_as_asked(const CatalogueEntry& entry, std::string_view name);

/// Takes over what a name says beside the network (entry_in_format). One that says no format means the
/// weights as they were published where GGUF files keep them so: "gpt-oss:20b" is in MXFP4.
void take_named(CatalogueEntry named, std::string_view name, Model& model);

/// The error for a file that is not there: as a name it says a model or a format that nobody knows.
InputError unknown_file(const Catalogue& catalogue, std::string_view name);

} // namespace archsim
