#include "session/loading.hpp"

#include "core/data_dir.hpp"
#include "core/embedded_files.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"

#include <fmt/ranges.h>

#include <string>
#include <system_error>
#include <vector>

namespace archsim {

Catalogue find_catalogue(const std::filesystem::path& data) {
    if (!is_embedded(data))
        return Catalogue(data / "models");
    std::error_code unknown;
    for (const auto& folder : model_dirs())
        if (std::filesystem::is_directory(folder / "catalogue", unknown))
            return Catalogue(folder);
    return {};
}

/// Models of which the words are the task, or a part of the title.
static std::vector<std::string> models_for(const Catalogue& catalogue, std::string_view words) {
    constexpr std::size_t kFew = 3, kShortest = 6; // letters, without which words are a part of too much
    const std::string wanted = name_key(words);
    std::vector<std::string> found;
    for (const CatalogueEntry& entry : catalogue.entries())
        if (wanted.size() >= kShortest && found.size() < kFew &&
            (name_key(entry.task) == wanted || name_key(entry.title).find(wanted) != std::string::npos))
            found.push_back(entry.name);
    return found;
}

InputError unknown_model(const Catalogue& catalogue, std::string_view name) {
    if (!catalogue.empty()) {
        auto nearest = catalogue.nearest(name.substr(name.rfind('/') + 1)); // of "OWNER/NAME", too
        if (nearest.empty())
            nearest = models_for(catalogue, name);
        return InputError(fmt::format(
            "no model \"{}\"{}; list them with discover_models, or give the path of an .onnx file, a "
            "config.json, the folder of a checkpoint or a .gguf file",
            name, nearest.empty() ? std::string() : fmt::format("; nearest: {}", fmt::join(nearest, ", "))));
    }
    std::vector<std::string> places =
        mapped(model_dirs(), [](const auto& folder) { return folder.string(); });
    return InputError(
        fmt::format("no model \"{}\": there is no catalogue of models in {}; give the path of an "
                    ".onnx file, or let ARCHSIM_DATA_DIR name a folder with hardware_db/ and models/",
                    name, fmt::join(places, ", ")));
}

} // namespace archsim
