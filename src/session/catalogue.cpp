#include "archsim/run/catalogue.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/database.hpp"
#include "core/json_document.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace archsim {

/// Throws for a file that is no catalogue.
[[noreturn]] static void refuse(std::string_view key, std::string_view wanted) {
    throw std::runtime_error(fmt::format("\"{}\" must be {}", key, wanted));
}

static const JsonValue& required(const JsonValue& object, std::string_view key) {
    const JsonValue* const value = object.find(key);
    if (value == nullptr)
        throw std::runtime_error(fmt::format("a model without \"{}\"", key));
    return *value;
}

static std::string_view text_of(const JsonValue& value, std::string_view key) {
    if (!value.is_text())
        refuse(key, "a text");
    return value.text();
}

static std::string_view text(const JsonValue& object, std::string_view key, std::string_view otherwise = {}) {
    const JsonValue* const value = object.find(key);
    return value == nullptr ? otherwise : text_of(*value, key);
}

static double number_of(const JsonValue& value, std::string_view key) {
    if (!value.is_number())
        refuse(key, "a number");
    return value.number();
}

static double number(const JsonValue& object, std::string_view key, double otherwise = 0) {
    const JsonValue* const value = object.find(key);
    return value == nullptr ? otherwise : number_of(*value, key);
}

/// As texts of their own, or as views of the document.
template <class Text = std::string>
static std::vector<Text> texts(const JsonValue& object, std::string_view key) {
    std::vector<Text> all;
    if (const JsonValue* const list = object.find(key)) {
        if (!list->is_array())
            refuse(key, "an array of texts");
        for (const JsonValue& item : list->items())
            all.emplace_back(text_of(item, key));
    }
    return all;
}

static std::map<std::string, std::int64_t> read_dims(const JsonValue& object, std::string_view key) {
    std::map<std::string, std::int64_t> dims;
    if (const JsonValue* const sizes = object.find(key))
        for (const auto& [name, size] : sizes->members())
            dims.emplace_hint(dims.end(), name, static_cast<std::int64_t>(number_of(size, name)));
    return dims;
}

static PublishedFigures read_published(const JsonValue& object,
                                       const std::map<std::string, std::int64_t>& defaults) {
    PublishedFigures figures{.parameters = number(object, "parameters")};
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

static LanguageModel read_language_model(const JsonValue& object) {
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

static CatalogueEntry read_entry(const JsonValue& object, const std::filesystem::path& folder) {
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
                               number(part, "repeat", 1.0),
                               read_dims(part, "dims"),
                               {}});
    return e;
}

struct CatalogueFile {
    std::filesystem::path path;
    JsonDocument document;
};

/// The facts of a model before it is asked for, as views of its file.
struct Listed {
    std::string_view name;
    std::vector<std::string_view> aliases;
    const JsonValue* entry = nullptr;
    const CatalogueFile* file = nullptr;
};

[[noreturn]] static void no_catalogue(const std::filesystem::path& file, const std::runtime_error& problem) {
    throw InputError(fmt::format("{}: not a model catalogue: {}", file.string(), problem.what()));
}

struct Catalogue::State {
    void add(const std::filesystem::path& path) {
        std::vector<Finding> findings;
        auto document = parse_document(path.string(), findings);
        if (!document)
            throw InputError(findings.front());
        const CatalogueFile& file = files.emplace_back(CatalogueFile{path, std::move(*document)});
        try {
            for (const JsonValue& entry : required(file.document.root, "models").items()) {
                Listed& model = listed.emplace_back();
                model.file = &file;
                model.entry = &entry;
                model.name = text_of(required(entry, "name"), "name");
                model.aliases = texts<std::string_view>(entry, "aliases");
            }
        } catch (const std::runtime_error& problem) {
            no_catalogue(path, problem);
        }
    }

    CatalogueEntry read(const Listed& model) {
        try {
            return read_entry(*model.entry, folder);
        } catch (const std::runtime_error& problem) {
            no_catalogue(model.file->path, problem);
        }
    }

    std::vector<const Listed*> by_name() const {
        std::vector<const Listed*> sorted = mapped(listed, [](const Listed& model) { return &model; });
        std::ranges::sort(sorted, [](const Listed* a, const Listed* b) { return a->name < b->name; });
        return sorted;
    }

    const CatalogueEntry& entry(const Listed& model) {
        const std::lock_guard lock(reading);
        if (!entries.empty())
            return *std::ranges::lower_bound(entries, model.name, {}, &CatalogueEntry::name);
        std::unique_ptr<CatalogueEntry>& made = asked[&model];
        if (made == nullptr)
            made = std::make_unique<CatalogueEntry>(read(model));
        return *made;
    }

    std::filesystem::path folder;
    std::deque<CatalogueFile> files; ///< stay where they are
    std::vector<Listed> listed;
    std::mutex reading;
    std::map<const Listed*, std::unique_ptr<CatalogueEntry>> asked;
    std::vector<CatalogueEntry> entries; ///< as listed, once somebody asked for all
};

Catalogue::Catalogue() : state_(std::make_shared<State>()) {}

Catalogue::Catalogue(const std::filesystem::path& folder) : Catalogue() {
    state_->folder = folder;
    const auto lists = folder / "catalogue";
    std::error_code failure;
    for (const auto& file : std::filesystem::directory_iterator(lists, failure))
        if (file.path().extension() == ".json")
            state_->add(file.path());
    if (failure)
        throw InputError(fmt::format("{}: cannot be read: {}", lists.string(), failure.message()));
}

bool Catalogue::empty() const {
    return state_->listed.empty();
}

const std::vector<CatalogueEntry>& Catalogue::entries() const {
    const std::lock_guard lock(state_->reading);
    if (state_->entries.empty()) {
        std::vector<CatalogueEntry> all =
            mapped(state_->by_name(), [&](const Listed* const model) { return state_->read(*model); });
        state_->entries = std::move(all);
    }
    return state_->entries;
}

const CatalogueEntry* Catalogue::find(std::string_view name) const {
    const std::vector<Listed>& listed = state_->listed;
    const auto entry_of = [&](const Listed& model) { return &state_->entry(model); };
    for (const Listed& model : listed)
        if (same_ignoring_case(model.name, name))
            return entry_of(model);
    for (const Listed& model : listed)
        for (const std::string_view alias : model.aliases)
            if (same_ignoring_case(alias, name))
                return entry_of(model);
    // "ResNet-50" is resnet50: punctuation tells names apart only where something else is called so, too.
    const std::string bare = bare_name(name);
    const Listed* only = nullptr;
    for (const Listed& model : listed) {
        const bool called =
            bare_name(model.name) == bare || std::ranges::any_of(model.aliases, [&](std::string_view alias) {
                return bare_name(alias) == bare;
            });
        if (!called)
            continue;
        if (only != nullptr)
            return nullptr;
        only = &model;
    }
    return only != nullptr ? entry_of(*only) : nullptr;
}

std::vector<std::string> Catalogue::nearest(std::string_view name) const {
    std::vector<std::string> names;
    const std::vector<const Listed*> listed = state_->by_name();
    for (const Listed* const model : listed)
        names.emplace_back(model->name);
    auto nearest = nearest_names(name, names);
    if (!nearest.empty())
        return nearest;
    names.clear();
    for (const Listed* const model : listed)
        append(names, model->aliases);
    return nearest_names(name, names);
}

} // namespace archsim
