#include "answers/models/discover_models.hpp"

#include "report/blocks/columns.hpp"
#include "report/blocks/finding_text.hpp"
#include "report/blocks/number_format.hpp"
#include "report/blocks/verdict.hpp"
#include "report/render/answer_document.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace archsim {

namespace {

std::string sizes_text(const ListedModel& model) {
    std::string text;
    for (const auto& [name, size] : model.dims)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, size);
    return text;
}

using ModelColumns = std::vector<ColumnOf<const ListedModel*>>;

void add_sums(ModelColumns& columns) {
    const auto add = [&](Column column, double ListedModel::*sum, std::string (*text)(double)) {
        columns.push_back({std::move(column), [sum, text](const ListedModel* model) {
                               if (model->status == ImportStatus::unreadable)
                                   return Cell{};
                               const double value = model->*sum; // without what is not understood
                               return model->status == ImportStatus::incomplete
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

ModelColumns model_columns(bool catalogue) {
    ModelColumns columns;
    using M = const ListedModel*;
    columns.emplace_back(Column{catalogue ? "Name" : "File", "", "model"}, [](M m) { return m->name; });
    if (catalogue)
        append_columns(
            columns, {{{"Task", "", "task", Align::left, 1}, [](M m) { return m->task; }},
                      {{"Title", "", "title", Align::left, 4}, [](M m) { return m->title; }},
                      {{"Family", "", "family", Align::left, 5}, [](M m) { return text_cell(m->family); }}});
    else
        columns.emplace_back(Column{"Import", "", "status"}, [](M m) {
            const bool ok = m->status == ImportStatus::ok;
            return Cell{std::string(name_of(m->status)), {}, ok ? Tone::good : Tone::bad};
        });
    add_sums(columns);
    if (catalogue)
        columns.emplace_back(Column{"Made of", "", "parts", Align::left, 7},
                             [](M m) { return text_cell(fmt::format("{}", fmt::join(m->parts, " + "))); });
    else
        columns.emplace_back(Column{"Missing operators", "", "missing_operators"}, [](M m) {
            return text_cell(fmt::format("{}", fmt::join(m->missing_operators, " ")));
        });
    columns.emplace_back(Column{"Sizes", "", "dims", Align::left, 6},
                         [](M m) { return text_cell(sizes_text(*m)); });
    return columns;
}

void add_findings(const ListedModel& model, Report& report) {
    Bullets bullets;
    for (const Finding& finding : model.findings)
        if (finding.severity != Severity::note)
            bullets.items.push_back(to_string(finding));
    if (bullets.items.empty())
        return;
    report.blocks.push_back(Heading{3, model.name});
    report.blocks.push_back(std::move(bullets));
}

std::vector<const ListedModel*> pointers(const ModelList& list) {
    std::vector<const ListedModel*> all;
    for (const ListedModel& model : list.models)
        all.push_back(&model);
    return all;
}

/// By task, then by family.
Table catalogue_table(const ModelList& list) {
    std::vector<const ListedModel*> models = pointers(list);
    std::stable_sort(models.begin(), models.end(), [](const ListedModel* a, const ListedModel* b) {
        return std::tie(a->task, a->family) < std::tie(b->task, b->family);
    });
    Table table = table_of("", model_columns(true), models);
    table.notes.emplace_back("1 MAC = 2 operations.", "macs");
    table.notes.emplace_back("Sizes are the defaults that --dim changes.", "dims");
    return table;
}

std::string folder_line(const ModelList& list) {
    const auto count = [&](ImportStatus status) {
        return std::count_if(list.models.begin(), list.models.end(),
                             [&](const ListedModel& m) { return m.status == status; });
    };
    return fmt::format("{}: {} can be estimated, {} without sizes or operators, {} that cannot be read.",
                       plural(list.models.size(), "file"), count(ImportStatus::ok),
                       count(ImportStatus::incomplete), count(ImportStatus::unreadable));
}

/// "Most work: A, 23.1 T multiply-accumulates; least: B, 1.20 M."
std::string extremes_line(const ModelList& list) {
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
std::vector<std::string> verdict_lines(const ModelList& list) {
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

Members<ListedModel> listed_model_members() {
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

AnswerDocument<ModelList> model_list_document() {
    using L = ModelList;
    return {"discover_models",
            "models of the catalogue or of a folder",
            {{"verdict", "the answer", [](const L& list) { return verdict_lines(list); }, lines_members()},
             {"folder", "null: the catalogue", [](const L& list) { return nonempty(list.folder); }},
             {"models", "", &L::models, listed_model_members()}}};
}

} // namespace

Report describe(const ModelList& list, const ModelListView& view, Format format) {
    const bool catalogue = list.folder.empty();
    Report report;
    report.title = catalogue ? "Model catalogue" : fmt::format("Models in {}", list.folder);
    if (format == Format::csv) {
        report.blocks.push_back(table_of(report.title, model_columns(catalogue), pointers(list)));
        return report;
    }
    report.blocks.push_back(
        Heading{1, catalogue ? "MODEL CATALOGUE" : fmt::format("MODELS IN {}", list.folder)});
    report.blocks.push_back(Takeaway{verdict_lines(list)});
    if (!list.models.empty())
        report.blocks.push_back(catalogue ? catalogue_table(list)
                                          : table_of("", model_columns(false), pointers(list)));
    if (view.findings)
        for (const ListedModel& model : list.models)
            add_findings(model, report);
    return report;
}

nlohmann::ordered_json discover_models_schema() {
    return model_list_document().schema();
}

std::string to_json(const ModelList& list, const ModelListView&) {
    return model_list_document().text(list);
}

} // namespace archsim
