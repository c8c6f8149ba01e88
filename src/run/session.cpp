#include "archsim/run/session.hpp"

#include "archsim/core/data_dir.hpp"
#include "run/find_catalogue.hpp"
#include "run/load_graph.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

namespace archsim {

namespace {

bool looks_like_path(std::string_view name) {
    return name.find('/') != std::string_view::npos || name.ends_with(".onnx");
}

/// True when the first input's leading dimension has no name, or is fixed at one item.
bool can_take_batch(const Graph& graph) {
    for (const TensorId input : graph.inputs)
        if (const auto& shape = graph.tensors[input].shape; shape && !shape->empty())
            return shape->front().value < 0 || shape->front().value == 1;
    return false;
}

/// The catalogue knows which initialisers training does not learn; the file does not say.
void mark_buffers(Graph& graph, const std::vector<std::string>& patterns) {
    for (Tensor& tensor : graph.tensors)
        if (tensor.role == TensorRole::initializer)
            for (const std::string& pattern : patterns)
                tensor.buffer = tensor.buffer || fnmatch(pattern.c_str(), tensor.name.c_str(), 0) == 0;
}

} // namespace

Session::Session(const SessionOptions& options) : operators_(options.operators), mappers_(options.mappers) {
    const auto root = options.data.empty() ? data_dir() : options.data;
    hardware_ = std::make_unique<HardwareDatabase>(root / "hardware_db", options.hardware_overlays);
    catalogue_ = std::make_unique<Catalogue>(find_catalogue(root));
    energy_ = std::make_shared<const EnergyDatabase>(root / "hardware_db" / "energy.json");
    uncertainty_ = std::make_shared<const UncertaintyTable>(root / "hardware_db" / "uncertainty.json");
}

Model Session::load(std::string_view name_or_path) const {
    if (const CatalogueEntry* entry = catalogue_->find(name_or_path)) {
        if (entry->file.empty()) {
            std::vector<std::string_view> parts;
            for (const ModelPart& part : entry->parts)
                parts.push_back(part.model);
            throw InputError(fmt::format("{}: has no graph of its own; name one of its parts: {}",
                                         entry->name, fmt::join(parts, ", ")));
        }
        Model model = load_file(entry->file, *entry);
        if (!entry->buffers.empty()) {
            Graph graph = *model.graph;
            mark_buffers(graph, entry->buffers);
            model.graph = std::make_shared<const Graph>(std::move(graph));
        }
        return model;
    }
    const std::filesystem::path path(name_or_path);
    if (looks_like_path(name_or_path) || std::filesystem::exists(path)) {
        return load_file(path);
    }
    throw unknown_model(*catalogue_, name_or_path);
}

std::shared_ptr<const BoundModel> Session::bind(const Model& model, std::int64_t batch,
                                                const Bindings& bindings) const {
    Bindings all = bindings;
    if (const std::string symbol = batch_symbol(*model.graph); !symbol.empty())
        all.dims.try_emplace(symbol, batch);
    else if (can_take_batch(*model.graph))
        all.batch_size = batch;
    return std::make_shared<const BoundModel>(model, all,
                                              operators_ ? *operators_ : OperatorRegistry::standard());
}

std::shared_ptr<const Machine> Session::machine(std::string_view hardware, const RunOptions& options) const {
    DeviceChoice choice = hardware_->device(hardware);
    std::shared_ptr<const Runtime> runtime = hardware_->runtime_for(*choice.device, options.runtime);
    if (options.overrides) {
        Device device = *choice.device;
        Runtime stack = *runtime;
        apply(*options.overrides, device, stack);
        choice.device = std::make_shared<const Device>(std::move(device));
        runtime = std::make_shared<const Runtime>(std::move(stack));
    }
    if (options.structure != DeviceChanges{})
        choice.device = changed(*choice.device, options.structure);
    MachineOptions machine_options;
    machine_options.scenario = options.scenario;
    machine_options.scope = options.scope;
    machine_options.energy = std::make_shared<const EnergyTable>(energy_->resolve(*choice.device));
    machine_options.uncertainty = uncertainty_;
    if (const auto own = mappers_.find(choice.device->family); own != mappers_.end())
        machine_options.mapper = own->second;
    Machine machine = make_machine(choice.device, choice.power_mode, std::move(runtime), machine_options);
    apply(options.changes, machine);
    return std::make_shared<const Machine>(std::move(machine));
}

Result Session::run(const std::shared_ptr<const BoundModel>& model, std::string_view hardware,
                    const RunOptions& options) const {
    Result result;
    result.model = model->facts();
    result.hardware = hardware;
    result.requested = options.precision;
    result.runtime_asked = options.runtime;
    try {
        const DeviceChoice choice = hardware_->device(hardware);
        result.device = choice.device; // known even where the stack does not run on it
        result.power_mode = choice.power_mode;
        return run_on(model, hardware, machine(hardware, options), options);
    } catch (const Error& problem) {
        result.estimate.status = Status::unsupported;
        result.estimate.reason = problem.what();
    }
    return result;
}

Result Session::run_on(const std::shared_ptr<const BoundModel>& model, std::string_view hardware,
                       std::shared_ptr<const Machine> made, const RunOptions& options, BatchCounts* counted) {
    Result result;
    result.model = model->facts();
    result.hardware = hardware;
    result.requested = options.precision;
    result.runtime_asked = options.runtime;
    result.machine = std::move(made);
    const Machine& machine = *result.machine;
    result.device = machine.device;
    result.runtime = machine.runtime;
    result.power_mode = machine.mode_name();
    try {
        const ExecutedPrecision executed =
            resolve_precision(*machine.device, *machine.runtime, options.precision);
        if (!executed.supported) {
            result.estimate.status = Status::unsupported;
            result.estimate.reason = executed.note;
            return result;
        }
        const FusionPolicy& fusion = options.fusion ? *options.fusion : machine.runtime->fusion;
        const auto work_of = [&](const BoundModel& bound) {
            return bound.work(fusion, executed.config, machine.runtime->unsupported_operators, options.chips);
        };
        result.partition = model->partition(fusion);
        result.work = work_of(*model);
        EstimateOptions how{options.allow_unknown, options.keep_subgraphs, {}, counted};
        auto smaller = model;
        how.smaller_batch = [&](std::size_t) -> std::shared_ptr<const NetworkWork> {
            smaller = smaller->smaller();
            return smaller ? work_of(*smaller) : nullptr;
        };
        result.estimate = estimate(*result.work, machine, how);
        result.estimate.precision_note = executed.note;
    } catch (const Error& problem) {
        result.estimate.status = Status::unsupported;
        result.estimate.reason = problem.what();
    }
    return result;
}

} // namespace archsim
