#include "answers/models/discover_models.hpp"

#include "core/gzip.hpp"
#include "core/in_parallel.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "report/blocks/columns.hpp"
#include "report/blocks/finding_text.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <iterator>
#include <set>
#include <tuple>

namespace archsim {

static void add_facts(const ModelFacts& facts, ListedModel& model) {
    model.parameters = facts.parameters;
    model.macs = facts.macs;
    model.operations = facts.operations;
    model.operators = facts.operators;
    model.dims = facts.dims;
    append(model.findings, facts.findings);
    if (facts.graph)
        for (const ShapedTensor& tensor : facts.graph->tensors)
            if (tensor.role == TensorRole::initializer && tensor.known)
                model.weight_bytes += tensor.elements() * tensor.stored_bits() / 8;
}

static void judge(ListedModel& model) {
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
static void look_at_all(ModelList& list, const DiscoverOptions& options, Look look) {
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

static double size_of(const std::filesystem::path& file) {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(file, ignored);
    return ignored ? 0 : static_cast<double>(size);
}

/// The configuration of a checkpoint stands for all its files, of a pipeline of diffusers the index.
static bool describes_model(const std::filesystem::path& file) {
    std::error_code ignored;
    if (file.filename() == "config.json" &&
        std::filesystem::exists(file.parent_path().parent_path() / "model_index.json", ignored))
        return false;
    return file.extension() == ".onnx" || file.native().ends_with(".onnx.gz") ||
           file.extension() == ".gguf" || file.extension() == ".tflite" || file.extension() == ".task" ||
           file.filename() == "config.json" || file.filename() == "model_index.json";
}

/// The wanted values of a field: that value, or those with it in their names ("detection"); of nothing, all.
static std::set<std::string> wanted_of(const std::string& wanted, const char* flag,
                                       const std::vector<CatalogueEntry>& entries,
                                       std::string CatalogueEntry::*field) {
    std::set<std::string> known, meant;
    for (const CatalogueEntry& entry : entries)
        known.insert(entry.*field);
    if (!wanted.empty() && known.contains(wanted))
        return {wanted};
    std::ranges::copy_if(known, std::inserter(meant, meant.end()),
                         [&](const std::string& one) { return one.find(wanted) != std::string::npos; });
    if (meant.empty())
        throw UsageError(
            fmt::format("{}: no model has \"{}\"; there are {}", flag, wanted, fmt::join(known, ", ")));
    return meant;
}

ModelList discover_catalogue(const Session& session, const DiscoverOptions& options) {
    const auto& entries = session.catalogue().entries();
    const auto tasks = wanted_of(options.task, "--task", entries, &CatalogueEntry::task),
               families = wanted_of(options.family, "--family", entries, &CatalogueEntry::family);
    ModelList list;
    for (const CatalogueEntry& entry : entries) {
        const std::string words =
            lower_case(fmt::format("{} {} {} {} {}", entry.name, entry.title, entry.task, entry.family,
                                   fmt::join(entry.aliases, " ")));
        if (!tasks.contains(entry.task) || !families.contains(entry.family) ||
            words.find(lower_case(options.word)) == words.npos)
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
        throw InputError(fmt::format("{}: cannot be listed: {}", folder.string(), problem.message()));
    std::ranges::sort(files);
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

static std::string sizes_text(const ListedModel& model) {
    return joined(
        model.dims, [](const auto& dim) { return fmt::format("{}={}", dim.first, dim.second); }, " ");
}

using ModelColumns = std::vector<ColumnOf<ListedModel>>;

static void add_sums(ModelColumns& columns) {
    const auto add = [&](Column column, double ListedModel::*sum, std::string (*text)(double)) {
        columns.push_back({std::move(column), [sum, text](const ListedModel& model) {
                               if (model.status == ImportStatus::unreadable)
                                   return Cell{};
                               const double value = model.*sum; // without what is not understood
                               return model.status == ImportStatus::incomplete
                                          ? bound_cell(text(value), value)
                                          : Cell{text(value), value};
                           }});
    };
    add(least_best("Parameters", "", "parameters"), &ListedModel::parameters, format_count);
    add(least_best("MACs", "", "macs"), &ListedModel::macs, format_count);
    add(least_best("Operators", "", "operators", 3), &ListedModel::operators,
        [](double count) { return fmt::format("{:.0f}", count); });
    add(least_best("Weights", "", "weight_bytes", 2), &ListedModel::weight_bytes, format_bytes);
}

static ModelColumns model_columns(bool catalogue) {
    ModelColumns columns;
    using M = ListedModel;
    columns.emplace_back(Column{catalogue ? "Name" : "File", "", "model"}, &M::name);
    if (catalogue)
        append(columns,
               {{{"Task", "", "task", Align::left, 1}, &M::task},
                {{"Title", "", "title", Align::left, 4}, &M::title},
                {{"Family", "", "family", Align::left, 5}, [](const M& m) { return text_cell(m.family); }}});
    else
        columns.emplace_back(Column{"Import", "", "status"}, [](const M& m) {
            return toned_cell(name_of(m.status), m.status == ImportStatus::ok ? Tone::good : Tone::bad);
        });
    add_sums(columns);
    if (catalogue)
        columns.emplace_back(Column{"Made of", "", "parts", Align::left, 7}, [](const M& m) {
            return text_cell(fmt::format("{}", fmt::join(m.parts, " + ")));
        });
    else
        columns.emplace_back(Column{"Missing operators", "", "missing_operators"}, [](const M& m) {
            return text_cell(fmt::format("{}", fmt::join(m.missing_operators, " ")));
        });
    columns.emplace_back(Column{"Sizes", "", "dims", Align::left, 6},
                         [](const M& m) { return text_cell(sizes_text(m)); });
    return columns;
}

static void add_findings(const ListedModel& model, Report& report) {
    Bullets bullets;
    for (const Finding& finding : model.findings)
        if (finding.severity != Severity::note)
            bullets.items.push_back(to_string(finding));
    if (bullets.items.empty())
        return;
    add_blocks(report, Heading{3, model.name}, std::move(bullets));
}

/// By task, then by family.
static Table catalogue_table(const ModelList& list) {
    std::vector<ListedModel> models = list.models;
    std::ranges::stable_sort(models, {},
                             [](const ListedModel& model) { return std::tie(model.task, model.family); });
    Table table = table_of("", model_columns(true), models);
    table.notes.emplace_back("1 MAC = 2 operations.", "macs");
    table.notes.emplace_back("Sizes are the defaults that --dim changes.", "dims");
    return table;
}

static std::string folder_line(const ModelList& list) {
    const auto count = [&](ImportStatus status) {
        return std::ranges::count(list.models, status, &ListedModel::status);
    };
    return fmt::format("{}: {} can be estimated, {} without sizes or operators, {} that cannot be read.",
                       plural(list.models.size(), "file"), count(ImportStatus::ok),
                       count(ImportStatus::incomplete), count(ImportStatus::unreadable));
}

/// "Most work: A, 23.1 T multiply-accumulates; least: B, 1.20 M."
static std::string extremes_line(const ModelList& list) {
    const ListedModel *least = nullptr, *most = nullptr;
    for (const ListedModel& m : list.models) {
        if (m.status != ImportStatus::ok || m.macs <= 0)
            continue;
        least = least == nullptr || m.macs < least->macs ? &m : least;
        most = most == nullptr || m.macs > most->macs ? &m : most;
    }
    if (most == nullptr)
        return "";
    if (most == least)
        return fmt::format("{}: {} multiply-accumulates, {} parameters.", most->name,
                           format_count(most->macs), format_count(most->parameters));
    return fmt::format("Most work: {}, {} multiply-accumulates; least: {}, {}.", most->name,
                       format_count(most->macs), least->name, format_count(least->macs));
}

/// "155 models of 31 tasks, from ... to ...", or how many files of a folder can be used.
static std::vector<std::string> verdict_lines(const ModelList& list) {
    if (!list.verdict.empty())
        return list.verdict;
    std::vector<std::string> lines;
    if (list.folder.empty()) {
        std::set<std::string> tasks, families;
        for (const ListedModel& model : list.models) {
            tasks.insert(model.task);
            families.insert(model.family);
        }
        lines.push_back(
            fmt::format("{} of {} for {}.", plural(list.models.size(), "model"),
                        families.size() == 1 ? "1 family" : fmt::format("{} families", families.size()),
                        plural(tasks.size(), "task")));
    } else {
        lines.push_back(folder_line(list));
    }
    if (std::string extremes = extremes_line(list); !extremes.empty())
        lines.push_back(std::move(extremes));
    return lines;
}

void keep_largest(ModelList& list, std::size_t count) {
    if (count == 0)
        return;
    list.verdict = verdict_lines(list);
    std::ranges::stable_sort(list.models, std::ranges::greater{}, &ListedModel::macs);
    if (list.models.size() > count)
        list.models.resize(count);
}

static Members<ListedModel> listed_model_members() {
    using M = ListedModel;
    const auto text = [](std::string M::*member) {
        return [member](const M& m) { return nonempty(m.*member); };
    };
    const auto sum = [](double M::*member) {
        return [member](const M& m) { return known(m.status == ImportStatus::ok, m.*member); };
    };
    return {{"name", "", &M::name},
            {"title", "", &M::title},
            {"family", "", text(&M::family)},
            {"task", "", text(&M::task)},
            {"aliases", "", &M::aliases},
            {"source", "", &M::source},
            {"file", "null: it is made of parts", text(&M::file)},
            {"file_bytes", "", [](const M& m) { return known(!m.file.empty(), m.file_bytes); }},
            {"parts", "models that it is made of", &M::parts},
            {"status", "", &M::status, UpTo{ImportStatus::unreadable}},
            {"parameters", "learned values", sum(&M::parameters)},
            {"macs", "multiply-accumulates; 1 = 2 operations", sum(&M::macs)},
            {"operations", "useful operations", sum(&M::operations)},
            {"operators", "with run-time work", sum(&M::operators)},
            {"weight_bytes", "constants at their stored size", sum(&M::weight_bytes)},
            {"dims", "sizes of symbolic dimensions", &M::dims},
            {"missing_operators", "operators that this library does not know", &M::missing_operators},
            {"findings", "", &M::findings, finding_members()}};
}

Report describe(const ModelList& list, const ModelListView& view, Format format) {
    const bool catalogue = list.folder.empty();
    Report report{catalogue ? "Model catalogue" : fmt::format("Models in {}", list.folder), {}};
    if (format == Format::csv)
        return {report.title, {table_of(report.title, model_columns(catalogue), list.models)}};
    add_blocks(report, Heading{1, catalogue ? "MODEL CATALOGUE" : fmt::format("MODELS IN {}", list.folder)},
               Takeaway{verdict_lines(list)});
    if (!list.models.empty())
        report.blocks.push_back(catalogue ? catalogue_table(list)
                                          : table_of("", model_columns(false), list.models));
    if (view.findings)
        for (const ListedModel& model : list.models)
            add_findings(model, report);
    return report;
}

AnswerDocument document_of(const ModelList& answer, const ModelListView&) {
    using L = ModelList;
    return {answer,
            "discover_models",
            "models of the catalogue or of a folder",
            {{"verdict", "the answer", [](const L& list) { return verdict_lines(list); }, lines_members()},
             {"folder", "null: the catalogue", [](const L& list) { return nonempty(list.folder); }},
             {"models", "", &L::models, listed_model_members()}}};
}

} // namespace archsim
