#pragma once
// A file of any format that describes a model.

#include "archsim/run/model.hpp"

#include <filesystem>

namespace archsim {

/// An ONNX file, a config.json, the folder of a checkpoint or a .gguf file; `info` as far as it is known
/// before. Throws InputError.
ImportedGraph load_file(const std::filesystem::path& path, CatalogueEntry info, const Budget& budget = {});
/// The same without anything known: named after the file, or the folder of a config.json.
ImportedGraph load_file(const std::filesystem::path& path, const Budget& budget = {});

/// A checkpoint of Hugging Face's cache by its snapshot ("models--OWNER--NAME/snapshots/COMMIT"); any other
/// path as it is.
std::filesystem::path in_cache(const std::filesystem::path& path);
/// What a model of that path is called where nothing else is said.
std::string name_of_file(const std::filesystem::path& path);

} // namespace archsim
