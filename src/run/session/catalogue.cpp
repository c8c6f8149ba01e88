#include "archsim/run/catalogue.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"
#include "hardware/json_document.hpp"
#include "hardware/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <stdexcept>

namespace archsim {

namespace {

bool same_name(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// What makes a file no catalogue.
[[noreturn]] void refuse(std::string_view key, std::string_view wanted) {
    throw std::runtime_error(fmt::format("\"{}\" must be {}", key, wanted));
}

const JsonValue& required(const JsonValue& object, std::string_view key) {
    const JsonValue* const value = object.find(key);
    if (value == nullptr)
        throw std::runtime_error(fmt::format("a model without \"{}\"", key));
    return *value;
}

std::string_view text_of(const JsonValue& value, std::string_view key) {
    if (!value.is_text())
        refuse(key, "a text");
    return value.text();
}

std::string_view text(const JsonValue& object, std::string_view key, std::string_view otherwise = {}) {
    const JsonValue* const value = object.find(key);
    return value == nullptr ? otherwise : text_of(*value, key);
}

double number_of(const JsonValue& value, std::string_view key) {
    if (!value.is_number())
        refuse(key, "a number");
    return value.number();
}

double number(const JsonValue& object, std::string_view key, double otherwise = 0) {
    const JsonValue* const value = object.find(key);
    return value == nullptr ? otherwise : number_of(*value, key);
}

std::vector<std::string> texts(const JsonValue& object, std::string_view key) {
    std::vector<std::string> all;
    if (const JsonValue* const list = object.find(key)) {
        if (!list->is_array())
            refuse(key, "an array of texts");
        for (const JsonValue& item : list->items())
            all.emplace_back(text_of(item, key));
    }
    return all;
}

std::map<std::string, std::int64_t> read_dims(const JsonValue& object, std::string_view key) {
    std::map<std::string, std::int64_t> dims;
    if (const JsonValue* const sizes = object.find(key))
        for (const auto& [name, size] : sizes->members())
            dims.emplace_hint(dims.end(), name, static_cast<std::int64_t>(number_of(size, name)));
    return dims;
}

PublishedFigures read_published(const JsonValue& object,
                                const std::map<std::string, std::int64_t>& defaults) {
    PublishedFigures figures;
    figures.parameters = number(object, "parameters");
    if (const JsonValue* const millions = object.find("parameters_millions")) {
        figures.parameters = number_of(*millions, "parameters_millions") * 1e6;
        figures.parameters_tolerance = number(object, "parameters_millions_tolerance");
    }
    figures.gmacs = number(object, "gmacs");
    figures.gmacs_tolerance = number(object, "gmacs_tolerance", figures.gmacs_tolerance);
    figures.source = text(object, "source");
    figures.dims = defaults;
    for (const auto& [name, size] : read_dims(object, "dims"))
        figures.dims[name] = size;
    if (const JsonValue* const input = object.find("input");
        !object.contains("dims") && input != nullptr && input->is_whole())
        figures.dims["height"] = figures.dims["width"] = static_cast<std::int64_t>(input->number());
    return figures;
}

LanguageModel read_language_model(const JsonValue& object) {
    LanguageModel lm;
    lm.layers = number(object, "layers");
    lm.hidden = number(object, "hidden");
    lm.heads = number(object, "heads");
    lm.kv_heads = number(object, "kv_heads", lm.heads);
    lm.head_size = number(object, "head_dim");
    lm.vocabulary = number(object, "vocab");
    lm.max_context = number(object, "max_context");
    lm.experts = number(object, "experts");
    lm.active_experts = number(object, "active_experts");
    return lm;
}

CatalogueEntry read_entry(const JsonValue& object, const std::filesystem::path& folder) {
    CatalogueEntry e;
    e.name = text_of(required(object, "name"), "name");
    e.title = text(object, "title", e.name);
    e.family = text(object, "family");
    e.task = text(object, "task");
    e.kind = text(object, "kind");
    e.source = text(object, "source");
    e.aliases = texts(object, "aliases");
    if (const JsonValue* const file = object.find("file"))
        e.file = folder / text_of(*file, "file");
    e.dims = read_dims(object, "dims");
    e.buffers = texts(object, "buffers");
    e.macs_formula = text(object, "macs_formula");
    if (const JsonValue* const absent = object.find("not_exported_parameters"))
        e.not_exported_parameters = number_of(required(*absent, "count"), "count");
    if (const JsonValue* const published = object.find("published"))
        e.published = read_published(*published, e.dims);
    if (const JsonValue* const language = object.find("llm"))
        e.language_model = read_language_model(*language);
    if (const JsonValue* const parts = object.find("parts"))
        for (const JsonValue& part : parts->items())
            e.parts.push_back({std::string(text_of(required(part, "name"), "name")),
                               std::string(text_of(required(part, "model"), "model")),
                               number(part, "repeat", 1.0), read_dims(part, "dims")});
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
        const auto document = parse_document(file.path().string(), findings);
        if (!document)
            throw InputError(findings.front());
        try {
            for (const JsonValue& object : required(document->root, "models").items())
                entries_.push_back(read_entry(object, folder));
        } catch (const std::runtime_error& problem) {
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
