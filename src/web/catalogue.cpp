// "catalogue" and "model": what there is to choose from, and what a model leaves open.

#include "answers/hardware/hardware_list.hpp"
#include "archsim/core/finding.hpp"
#include "archsim/hardware/family.hpp"
#include "core/lists.hpp"
#include "session/bound_model.hpp"
#include "web/answers.hpp"

#include <array>
#include <functional>
#include <set>

namespace archsim::web {

/// The parts of a device that a reader may change, in the order of the sliders.
constexpr std::array kStructures = {Structure::clock, Structure::units, Structure::on_chip_memory};
constexpr std::array kLevers = {Lever::bandwidth, Lever::capacity, Lever::power_limit};

/// Formats that differ between weights and activations (PrecisionConfig::parse).
constexpr std::array<std::string_view, 3> kSchemes = {"w8a16", "w4a16", "mixed"};

static Json devices_json(const Session& session) {
    Json list = Json::array();
    std::vector<Finding> unread;
    for (const auto& device : session.hardware().all_devices(unread)) {
        Json modes = Json::array();
        for (const PowerMode& mode : device->power_modes)
            modes.push_back(mode.name);
        list.push_back({{"id", device->id},
                        {"name", device->name},
                        {"family", name_of(device->family)},
                        {"vendor", device->vendor},
                        {"power_modes", std::move(modes)},
                        {"default_power_mode", device->default_power_mode}});
    }
    return list;
}

/// The fields of a form: all that a tool takes and that one input holds, but names of files, which a page has
/// none of.
template <class Asked>
static Json fields_json(const FieldTable<Asked>& fields) {
    Json list = Json::array();
    for (const Field<Asked>& field : fields)
        if (!field.flag.empty() && !field.many() && field.kind != FieldKind::file)
            list.push_back({{"key", field.key},
                            {"help", field.help},
                            {"usual", field.fallback},
                            {"group", field.group},
                            {"everywhere", field.of == FieldOf::any},
                            {"truth", field.kind == FieldKind::truth},
                            {"choices", field.choices}});
    return list;
}

static Json form_json(const std::vector<FormField>& fields) {
    Json list = Json::array();
    for (const FormField& field : fields)
        list.push_back({{"key", field.key}, {"help", field.help}, {"usual", field.usual}});
    return list;
}

static Json dimension_json(const Dimension& dimension) {
    if (dimension.value >= 0)
        return dimension.value;
    return dimension.symbol.empty() ? Json(nullptr) : Json(dimension.symbol);
}

static Json inputs_json(const Graph& graph) {
    Json list = Json::array();
    for (const TensorId id : graph.inputs) {
        const Tensor& tensor = graph.tensors[id];
        Json shape = nullptr;
        if (tensor.shape) {
            shape = Json::array();
            for (const Dimension& dimension : *tensor.shape)
                shape.push_back(dimension_json(dimension));
        }
        list.push_back({{"name", tensor.name}, {"type", name_of(tensor.type)}, {"shape", std::move(shape)}});
    }
    return list;
}

/// The sizes that the model leaves open, as they are taken; null where neither the file nor a rule says one.
static Json sizes_json(const ModelFacts& facts, const Model& model) {
    Json sizes = facts.dims;
    if (model.graph)
        for (const TensorId id : model.graph->inputs)
            if (const auto& shape = model.graph->tensors[id].shape)
                for (const Dimension& dimension : *shape)
                    if (dimension.value < 0 && !dimension.symbol.empty() &&
                        !facts.dims.contains(dimension.symbol))
                        sizes[dimension.symbol] = nullptr;
    return sizes.is_null() ? Json::object() : sizes;
}

/// Whether the model carries keys and values from token to token.
static bool takes_prompts(const Session& session, Workload workload) {
    workload.prompt.emplace();
    try {
        session.facts(workload);
        return true;
    } catch (const UsageError&) {
        return false;
    }
}

Json answer_catalogue(const Session& session, const Question&) {
    Json models = Json::array(), deployments = Json::array(), changes = Json::array();
    const Catalogue& catalogue = session.catalogue();
    for (const CatalogueEntry& entry : catalogue.entries())
        models.push_back(
            {{"name", entry.name}, {"title", entry.title}, {"family", entry.family}, {"task", entry.task}});
    for (const Deployment& deployment : session.hardware().deployments())
        deployments.push_back({{"id", deployment.id},
                               {"title", deployment.title},
                               {"description", deployment.description},
                               {"hardware", deployment.hardware}});
    for (const Structure structure : kStructures)
        changes.push_back(name_of(structure));
    for (const Lever lever : kLevers)
        changes.push_back(info_of(lever).name);
    Json precisions = Json::array();
    precisions.push_back("usual"); // the fastest that is deployed on each device
    for (const Precision precision : kPrecisions)
        precisions.push_back(name_of(precision));
    append(precisions, kSchemes);
    Json metrics = Json::array();
    for (const Metric* metric : MetricTable::standard().rows())
        metrics.push_back({{"key", metric->key}, {"title", metric->title}, {"help", metric->limit_help}});
    return {{"models", std::move(models)},
            {"devices", devices_json(session)},
            {"precisions", std::move(precisions)},
            {"metrics", std::move(metrics)},
            {"deployments", std::move(deployments)},
            {"changes", std::move(changes)},
            {"fields", fields_json(question_fields())},
            {"load", fields_json(serving_fields())},
            {"level", fields_json(sizing_fields())},
            {"costs", form_json(cost_fields())}};
}

/// The names of a question as the lists of the page write them; what nobody knows is null. A computer around
/// a device and a number of it stay as they are.
Json answer_names(const Session& session, const Question& question) {
    const auto written = [&](const std::string& text) -> Json {
        try {
            const DeviceChoice choice = session.hardware().device(text);
            if (!choice.one.empty() || text.find('+') != std::string::npos)
                return text;
            const bool usual =
                choice.power_mode.empty() || choice.power_mode == choice.device->default_power_mode;
            return choice.device->id + (usual ? "" : "@" + choice.power_mode);
        } catch (const Error&) {
            return nullptr;
        }
    };
    Json hardware = Json::object();
    for (const std::string& text : question.hardware)
        hardware[text] = written(text);
    const CatalogueEntry* const model = session.catalogue().find(question.model);
    return {{"hardware", std::move(hardware)}, {"model", model ? Json(model->name) : Json()}};
}

Json answer_files(const Session& session, const Question& question) {
    std::set<std::string> files;
    const std::function<void(const std::string&)> add = [&](const std::string& name) {
        const CatalogueEntry* entry = session.catalogue().find(name);
        if (!entry)
            return;
        if (!entry->file.empty())
            files.insert(entry->file.string());
        for (const ModelPart& part : entry->parts)
            add(part.model);
    };
    if (question.model.empty())
        for (const CatalogueEntry& entry : session.catalogue().entries())
            if (entry.task == "text-generation")
                add(entry.name);
    add(question.model);
    return {{"files", files}};
}

Json answer_model(const Session& session, const Question& question) {
    const Model& model = question.workload.model;
    Json inputs = Json::array();
    if (model.graph)
        inputs = inputs_json(*model.graph);
    const auto facts = session.facts(question.workload);
    Json findings = Json::array();
    for (const Finding& finding : facts->findings)
        findings.push_back({{"severity", name_of(finding.severity)}, {"text", to_string(finding)}});
    return {{"name", facts->name},
            {"title", facts->title},
            {"inputs", std::move(inputs)},
            {"batch", model.graph ? batch_symbol(*model.graph) : std::string()},
            {"sizes", sizes_json(*facts, model)},
            {"generates", takes_prompts(session, question.workload)},
            {"parameters", facts->parameters},
            {"macs", facts->macs},
            {"findings", std::move(findings)}};
}

} // namespace archsim::web
