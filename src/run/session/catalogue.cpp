#include "archsim/run/catalogue.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"
#include "hardware/json_text.hpp"
#include "hardware/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <optional>

namespace archsim {

namespace {

using nlohmann::json;

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::map<std::string, std::int64_t> read_dims(const json& object, const char* key) {
    return object.contains(key) ? object.at(key).get<std::map<std::string, std::int64_t>>()
                                : std::map<std::string, std::int64_t>{};
}

PublishedFigures read_published(const json& object, const std::map<std::string, std::int64_t>& defaults) {
    PublishedFigures figures;
    figures.parameters = object.value("parameters", 0.0);
    if (object.contains("parameters_millions")) {
        figures.parameters = object.at("parameters_millions").get<double>() * 1e6;
        figures.parameters_tolerance = object.value("parameters_millions_tolerance", 0.0);
    }
    figures.gmacs = object.value("gmacs", 0.0);
    figures.gmacs_tolerance = object.value("gmacs_tolerance", figures.gmacs_tolerance);
    figures.source = object.value("source", "");
    figures.dims = defaults;
    for (const auto& [name, size] : read_dims(object, "dims"))
        figures.dims[name] = size;
    if (const auto input = object.find("input");
        !object.contains("dims") && input != object.end() && input->is_number_integer())
        figures.dims["height"] = figures.dims["width"] = input->get<std::int64_t>();
    return figures;
}

LanguageModel read_language_model(const json& object) {
    LanguageModel lm;
    lm.layers = object.value("layers", 0.0);
    lm.hidden = object.value("hidden", 0.0);
    lm.heads = object.value("heads", 0.0);
    lm.kv_heads = object.value("kv_heads", lm.heads);
    lm.head_size = object.value("head_dim", 0.0);
    lm.vocabulary = object.value("vocab", 0.0);
    lm.max_context = object.value("max_context", 0.0);
    lm.experts = object.value("experts", 0.0);
    lm.active_experts = object.value("active_experts", 0.0);
    return lm;
}

CatalogueEntry read_entry(const json& object, const std::filesystem::path& folder) {
    CatalogueEntry e;
    e.name = object.at("name").get<std::string>();
    e.title = object.value("title", e.name);
    e.family = object.value("family", "");
    e.task = object.value("task", "");
    e.kind = object.value("kind", "");
    e.source = object.value("source", "");
    e.aliases = object.value("aliases", std::vector<std::string>{});
    if (object.contains("file"))
        e.file = folder / object.at("file").get<std::string>();
    e.dims = read_dims(object, "dims");
    e.buffers = object.value("buffers", std::vector<std::string>{});
    e.macs_formula = object.value("macs_formula", "");
    if (object.contains("not_exported_parameters"))
        e.not_exported_parameters = object.at("not_exported_parameters").at("count").get<double>();
    if (object.contains("published"))
        e.published = read_published(object.at("published"), e.dims);
    if (object.contains("llm"))
        e.language_model = read_language_model(object.at("llm"));
    for (const json& part : object.value("parts", json::array()))
        e.parts.push_back({part.at("name").get<std::string>(), part.at("model").get<std::string>(),
                           part.value("repeat", 1.0), read_dims(part, "dims")});
    return e;
}

} // namespace

Catalogue::Catalogue(const std::filesystem::path& folder) {
    const auto lists = folder / "catalogue";
    std::error_code failure;
    for (const auto& file : std::filesystem::directory_iterator(lists, failure)) {
        if (file.path().extension() != ".json")
            continue;
        std::vector<Finding> findings;
        const std::optional<json> document = parse_json_file(file.path().string(), findings);
        if (!document)
            throw InputError(findings.front());
        try {
            for (const json& object : document->at("models"))
                entries_.push_back(read_entry(object, folder));
        } catch (const json::exception& problem) {
            throw InputError(
                fmt::format("{}: not a model catalogue: {}", file.path().string(), problem.what()));
        }
    }
    if (failure)
        throw InputError(fmt::format("{}: cannot be read: {}", lists.string(), failure.message()));
    std::sort(entries_.begin(), entries_.end(),
              [](const CatalogueEntry& a, const CatalogueEntry& b) { return a.name < b.name; });
}

const CatalogueEntry* Catalogue::find(std::string_view name) const {
    for (const CatalogueEntry& entry : entries_)
        if (same_name(entry.name, name))
            return &entry;
    for (const CatalogueEntry& entry : entries_)
        for (const std::string& alias : entry.aliases)
            if (same_name(alias, name))
                return &entry;
    // "ResNet-50" is resnet50: punctuation tells names apart only where something else is called so, too.
    const std::string bare = bare_name(name);
    const CatalogueEntry* only = nullptr;
    for (const CatalogueEntry& entry : entries_) {
        const bool called = bare_name(entry.name) == bare ||
                            std::any_of(entry.aliases.begin(), entry.aliases.end(),
                                        [&](const std::string& alias) { return bare_name(alias) == bare; });
        if (!called)
            continue;
        if (only != nullptr)
            return nullptr;
        only = &entry;
    }
    return only;
}

std::vector<std::string> Catalogue::nearest(std::string_view name) const {
    std::vector<std::string> names;
    for (const CatalogueEntry& entry : entries_)
        names.push_back(entry.name);
    return nearest_names(name, names);
}

} // namespace archsim
