#include "answers/models/discover_models.hpp"

#include "core/gzip.hpp"
#include "core/in_parallel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <system_error>

namespace archsim {

namespace {

void add_facts(const ModelFacts& facts, ListedModel& model) {
    model.parameters = facts.parameters;
    model.macs = facts.macs;
    model.operations = facts.operations;
    model.operators = facts.operators;
    model.dims = facts.dims;
    model.findings.insert(model.findings.end(), facts.findings.begin(), facts.findings.end());
    if (facts.graph)
        for (const ShapedTensor& tensor : facts.graph->tensors)
            if (tensor.role == TensorRole::initializer && tensor.known)
                model.weight_bytes += tensor.elements() * tensor.stored_bits() / 8;
}

void judge(ListedModel& model) {
    std::set<std::string> missing;
    for (const Finding& finding : model.findings) {
        if (finding.severity == Severity::error)
            model.status = ImportStatus::incomplete;
        if (finding.kind == FindingKind::unknown_operator)
            missing.insert(finding.domain.empty() ? finding.op_type : finding.domain + "." + finding.op_type);
    }
    model.missing_operators.assign(missing.begin(), missing.end());
}

/// Runs `look` for every model; what it throws becomes the model's finding.
template <typename Look>
void look_at_all(ModelList& list, const DiscoverOptions& options, Look look) {
    std::atomic<std::size_t> done{0};
    in_parallel(list.models.size(), options.threads, [&](std::size_t i) {
        ListedModel& model = list.models[i];
        try {
            look(model);
            judge(model);
        } catch (const Error& problem) {
            model.status = ImportStatus::unreadable;
            Finding finding;
            finding.message = problem.what();
            model.findings.push_back(std::move(finding));
        }
        const std::size_t finished = ++done;
        if (options.progress)
            options.progress(finished, list.models.size());
    });
}

double size_of(const std::filesystem::path& file) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(file, ignored);
    return ignored ? 0 : static_cast<double>(size);
}

/// The configuration of a checkpoint stands for all its files, of a pipeline of diffusers the index.
bool describes_model(const std::filesystem::path& file) {
    std::error_code ignored;
    if (file.filename() == "config.json" &&
        std::filesystem::exists(file.parent_path().parent_path() / "model_index.json", ignored))
        return false;
    return file.extension() == ".onnx" || file.native().ends_with(".onnx.gz") ||
           file.extension() == ".gguf" || file.extension() == ".tflite" || file.extension() == ".task" ||
           file.filename() == "config.json" || file.filename() == "model_index.json";
}

void check_known(const std::string& wanted, const char* flag, const std::vector<CatalogueEntry>& entries,
                 std::string CatalogueEntry::*field) {
    if (wanted.empty())
        return;
    std::set<std::string> known;
    for (const CatalogueEntry& entry : entries)
        known.insert(entry.*field);
    if (!known.contains(wanted))
        throw UsageError(
            fmt::format("{}: no model has \"{}\"; there are {}", flag, wanted, fmt::join(known, ", ")));
}

} // namespace

std::string_view name_of(ImportStatus status) {
    switch (status) {
    case ImportStatus::ok:
        return "ok";
    case ImportStatus::incomplete:
        return "incomplete";
    case ImportStatus::unreadable:
        break;
    }
    return "unreadable";
}

ModelList discover_catalogue(const Session& session, const DiscoverOptions& options) {
    const auto& entries = session.catalogue().entries();
    check_known(options.task, "--task", entries, &CatalogueEntry::task);
    check_known(options.family, "--family", entries, &CatalogueEntry::family);
    ModelList list;
    for (const CatalogueEntry& entry : entries) {
        if ((!options.task.empty() && entry.task != options.task) ||
            (!options.family.empty() && entry.family != options.family))
            continue;
        ListedModel model;
        model.name = entry.name;
        model.title = entry.title;
        model.family = entry.family;
        model.task = entry.task;
        model.source = entry.source;
        model.aliases = entry.aliases;
        if (!entry.file.empty()) {
            const auto stored = stored_file(entry.file);
            model.file = stored.string();
            model.file_bytes = size_of(stored);
        }
        for (const ModelPart& part : entry.parts)
            model.parts.push_back(part.model);
        list.models.push_back(std::move(model));
    }
    look_at_all(list, options, [&](ListedModel& model) {
        add_facts(*session.facts({.model = session.load(model.name), .batch = options.batch}), model);
    });
    return list;
}

ModelList discover_folder(const Session& session, const std::filesystem::path& folder,
                          const DiscoverOptions& options) {
    ModelList list;
    list.folder = folder.string();
    std::error_code problem, unknown;
    std::vector<std::filesystem::path> files;
    auto at = std::filesystem::recursive_directory_iterator(
        folder, std::filesystem::directory_options::skip_permission_denied, problem);
    for (; !problem && at != std::filesystem::recursive_directory_iterator(); at.increment(problem))
        if (at->is_regular_file(unknown) && describes_model(at->path()))
            files.push_back(at->path());
    if (problem)
        throw InputError(fmt::format(
            "{}: cannot be listed: {}{}", folder.string(), problem.message(),
            folder.has_parent_path() ? "" : "; models of the catalogue: discover_models --family NAME"));
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
        ListedModel model;
        model.name = file.lexically_relative(folder).string();
        model.title = file.stem().string();
        model.file = model.source = file.string();
        model.file_bytes = size_of(file);
        list.models.push_back(std::move(model));
    }
    look_at_all(list, options, [&](ListedModel& model) {
        const std::filesystem::path path = std::filesystem::path(model.file);
        // With a folder in front the name is never taken for one of the catalogue.
        const auto named = path.has_parent_path() ? path : std::filesystem::path(".") / path;
        add_facts(*session.facts({.model = session.load(named.string()), .batch = options.batch}), model);
    });
    return list;
}

void keep_largest(ModelList& list, std::size_t count) {
    if (count == 0)
        return;
    std::stable_sort(list.models.begin(), list.models.end(),
                     [](const ListedModel& a, const ListedModel& b) { return a.macs > b.macs; });
    if (list.models.size() > count)
        list.models.resize(count);
}

} // namespace archsim
