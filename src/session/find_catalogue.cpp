#include "session/loading.hpp"

#include "core/data_dir.hpp"
#include "core/embedded_files.hpp"
#include "core/lists.hpp"

#include <fmt/format.h>
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

InputError unknown_model(const Catalogue& catalogue, std::string_view name) {
    if (!catalogue.empty()) {
        const auto nearest = catalogue.nearest(name.substr(name.rfind('/') + 1)); // of "OWNER/NAME", too
        return InputError(fmt::format(
            "no model \"{}\"{}; list them with discover_models, or give the path of an .onnx file, a "
            "config.json, "
            "the folder of a checkpoint or a .gguf file",
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
