#include "archsim/run/session.hpp"

#include "checkpoint/diffusion.hpp"
#include "core/data_dir.hpp"
#include "hardware/parameter_site.hpp"
#include "machine/this_machine.hpp"
#include "result/latency_spread.hpp"
#include "session/generation/language_model.hpp"
#include "session/graph_run.hpp"
#include "session/loading.hpp"
#include "session/other_conditions.hpp"
#include "session/prepared.hpp"
#include "session/price_tables.hpp"
#include "session/usual_precision.hpp"

#include <cmath>
#include <fmt/format.h>

namespace archsim {

static bool looks_like_path(std::string_view name) {
    return name.find('/') != std::string_view::npos || name.ends_with(".onnx") ||
           name.ends_with(".onnx.gz") || name.ends_with(".gguf") || name.ends_with(".json") ||
           name.ends_with(".tflite") || name.ends_with(".task") || name.find(".tflite#") != name.npos ||
           name.find(".task#") != name.npos;
}

/// "openai-community/gpt2": an owner and a name of his, as model hubs write them.
static bool looks_like_hub_name(std::string_view name) {
    const std::size_t slash = name.find('/');
    return slash != std::string_view::npos && slash > 0 && name.rfind('/') == slash && name[0] != '.' &&
           name[0] != '~' && slash + 1 < name.size() && name.find_first_of(" \\#") == std::string_view::npos;
}

/// Whether it names a place among files and nothing else: "./NAME", "/NAME", "FOLDER/NAME.gguf".
static bool is_place(std::string_view name) {
    return name.empty() || std::string_view("./~").find(name[0]) != std::string_view::npos ||
           (name.find('/') != std::string_view::npos && name.ends_with(".gguf"));
}

/// Whether it ends as nothing but a file does.
static bool has_model_ending(std::string_view name) {
    return looks_like_path(name.substr(name.rfind('/') + 1));
}

// More than anything is served with: sums of what they count stay whole numbers, and searches over them
// short.
constexpr std::int64_t kMostItems = std::int64_t{1} << 20, kMostTokens = std::int64_t{1} << 22,
                       kMostPositions = std::int64_t{1} << 24;

static void check(const char* what, std::int64_t given, std::int64_t least, std::int64_t most) {
    if (given < least || given > most)
        throw UsageError(fmt::format("{} of {}: give a number from {} to {}", what, given, least, most));
}

/// The part "PIPELINE#transformer" of the catalogue; nothing where that is no pipeline or has no such part.
static std::optional<Model> part_named(const Session& session, std::string_view whole,
                                       std::string_view name) {
    if (!is_diffusion_pipeline(session.catalogue().find(whole)->file))
        return std::nullopt;
    const std::string_view wanted = name.substr(whole.size());
    for (const Model& part : session.load(whole).parts)
        if (part.name().ends_with(wanted))
            return part;
    return std::nullopt;
}

static void check(const Workload& workload, const Conditions& conditions) {
    if (workload.batch < 1)
        throw UsageError(fmt::format("a batch of {}: give at least one item", workload.batch));
    check("a batch", workload.batch, 1, kMostItems);
    if (workload.prompt) {
        check("a prompt", workload.prompt->tokens, 1, kMostTokens);
        check("an answer", workload.prompt->generate, 0, kMostTokens);
        check("a context", workload.prompt->context, 0, kMostPositions);
    }
    if (!(conditions.devices >= 0) || conditions.devices != std::floor(conditions.devices))
        throw UsageError(fmt::format("{:g} devices: give a whole number", conditions.devices));
    if (conditions.devices == 0 && !workload.prompt)
        throw UsageError("as many devices as needed: only for a language model with a prompt");
}

Session::Session(const SessionOptions& options)
    : data_(options.data.empty() ? data_dir() : options.data), operators_(options.operators),
      mappers_(options.mappers), budget_(options.budget) {
    const auto database = data_ / "hardware_db";
    hardware_ = std::make_unique<HardwareDatabase>(database, options.hardware_overlays, options.tuned);
    name_this_machine();
    catalogue_ = std::make_unique<Catalogue>(find_catalogue(data_));
    prices_ = std::make_shared<const PriceTables>(database);
    if (options.estimates) { // what is wrong with them is told once, not of every device
        prices_->energy();
        prices_->uncertainty();
    }
}

const EnergyDatabase& Session::energy() const {
    return prices_->energy();
}

std::shared_ptr<const std::vector<SpreadRow>> Session::spread_rows() const {
    return std::make_shared<const std::vector<SpreadRow>>(read_latency_spread(data_));
}

Model Session::load(std::string_view name_or_path) const {
    Model model{.prepared = std::make_shared<PreparedWorkloads>(operators_)};
    const CatalogueEntry* const entry = catalogue_->find(name_or_path);
    if (entry != nullptr && !(is_ollama_name(name_or_path) && entry_in_format(*catalogue_, name_or_path))) {
        CatalogueEntry asked = *entry;
        asked.title = title_as_asked(*entry, name_or_path);
        if (!entry->file.empty() && is_diffusion_pipeline(entry->file))
            return load_pipeline(entry->file, std::move(asked), operators_, budget_);
        model.info = asked;
        for (const ModelPart& part : entry->parts)
            model.parts.push_back(load(part.model));
        if (!entry->file.empty())
            static_cast<ImportedGraph&>(model) = load_file(entry->file, asked, budget_);
        return model;
    }
    const std::filesystem::path path(name_or_path);
    std::error_code no_file; // a name too long for one
    const auto pipeline_at = [&](const std::filesystem::path& own, std::string_view only) {
        CatalogueEntry info;
        info.name = info.title = name_of_file(own);
        info.file = own;
        info.source = own.string();
        return load_pipeline(own, std::move(info), operators_, budget_, only);
    };
    if (const std::filesystem::path own = in_cache(path); is_diffusion_pipeline(own))
        return pipeline_at(own, {});
    if (const std::size_t at = name_or_path.rfind('#'); at != std::string_view::npos && at > 0) {
        const std::string_view whole = name_or_path.substr(0, at), only = name_or_path.substr(at + 1);
        if (catalogue_->find(whole) != nullptr) {
            if (auto part = part_named(*this, whole, name_or_path))
                return std::move(*part);
        } else if (const std::filesystem::path own = in_cache(whole); is_diffusion_pipeline(own)) {
            Model alone = pipeline_at(own, only); // of other parts no more is read than it takes
            if (!alone.parts.empty())
                return std::move(alone.parts.front());
        }
    }
    if (!std::filesystem::exists(path, no_file) && !is_place(name_or_path))
        if (auto named = entry_in_format(*catalogue_, name_or_path)) {
            model = load(named->name);
            model.prepared = std::make_shared<PreparedWorkloads>(operators_);
            take_named(std::move(*named), name_or_path, model);
            return model;
        }
    if (!std::filesystem::exists(path, no_file) && !is_place(name_or_path) && name_or_path.ends_with(".gguf"))
        throw unknown_file(*catalogue_, name_or_path);
    const bool hub_name = looks_like_hub_name(name_or_path) && !has_model_ending(name_or_path);
    if ((looks_like_path(name_or_path) && !hub_name) || std::filesystem::exists(path, no_file)) {
        static_cast<ImportedGraph&>(model) = load_file(path, budget_);
        return model;
    }
    throw unknown_model(*catalogue_, name_or_path);
}

std::shared_ptr<const BoundModel> Session::bind(const ImportedGraph& model, std::int64_t batch,
                                                const Bindings& bindings) const {
    graph_of(model);
    return bind_graph(model, batch, bindings, operators_ ? *operators_ : OperatorRegistry::standard());
}

/// The conditions of a network's companion: the formats that were asked for, or none.
static Conditions of_companion(Conditions conditions, const Workload& workload) {
    const Conditions usual = settled({}, workload);
    if (conditions.format_of_device == usual.format_of_device &&
        static_cast<const PrecisionConfig&>(conditions.precision) == usual.precision)
        conditions.precision = {};
    conditions.format_of_device = conditions.keep_subgraphs = false;
    return conditions;
}

Result Session::estimate(const Workload& asked, std::string_view device, const Conditions& conditions) const {
    if (conditions.duty.stated()) { // each network alone: how they share the time follows from the results
        Conditions alone = conditions;
        alone.duty = {};
        Result result = estimate(asked, device, alone);
        result.conditions.duty = conditions.duty;
        for (const Companion& other : conditions.duty.with)
            result.beside.push_back(std::make_shared<const Result>(
                estimate({.model = load(other.model)}, device, of_companion(alone, usual_question(asked)))));
        return result;
    }
    // Names that do not exist are errors, not results.
    const DeviceChoice named = hardware_->device(device);
    if (!named.one.empty()) {
        const auto [one, shared] = of_one_device(*hardware_, device, conditions);
        return estimate(asked, one, shared);
    }
    const std::shared_ptr<const Device> known = named.device;
    const Workload workload = usual_question(asked);
    check(workload, conditions);
    if (!conditions.stack.empty())
        hardware_->runtime(conditions.stack);
    Conditions meant = settled(conditions, workload);
    if (const CatalogueEntry& info = workload.model.info;
        meant.stack.empty() && !info.language_model && !workload.prompt)
        meant.stack = stack_of_file(*hardware_, *known, info.file, GgufModels::images);
    refuse_unknown_names(workload);
    const std::shared_ptr<const Prepared> prepared = prepare(workload);
    const bool of_device = meant.format_of_device;
    if (of_device) {
        try {
            meant = in_fastest_format(*machine(device, meant), meant, [&](const Conditions& trial) {
                const Result result = prepared->on(*this, device, trial);
                return result.ok() ? result.estimate.throughput_per_s : 0;
            });
        } catch (const InputError&) { // the estimate says what the device lacks
            meant.format_of_device = false;
        }
    }
    Result result = prepared->on(*this, device, meant);
    if (of_device && result.estimate.status == Status::does_not_fit)
        result.estimate.reason =
            fmt::format("in {} {}", name_of(result.estimate.executed.weights), result.estimate.reason);
    result.workload = prepared->workload();
    if (result.estimate.status == Status::does_not_fit && may_take_fewer_bits(workload, conditions))
        if (auto fewer = in_fewer_bits(*this, workload, result))
            return std::move(*fewer);
    return result;
}

std::shared_ptr<const ModelFacts> Session::facts(const Workload& workload) const {
    return prepare(workload)->facts();
}

/// An event costs what it does on the device as it is stated, and the voltage follows the clock as in its
/// power modes and under a power limit; what the units that are awake draw follows the design.
static void keep_event_prices(const EnergyTable& stated, EnergyTable& table) {
    table.mac = stated.mac;
    table.event = stated.event;
    table.operation = stated.operation;
    table.rated_mac = stated.rated_mac;
}

std::shared_ptr<const Machine> Session::machine(std::string_view hardware,
                                                const Conditions& conditions) const {
    DeviceChoice choice = hardware_->device(hardware);
    if (!choice.one.empty()) // what shares a model is said by the conditions, which many read beside this
        throw InputError(
            Finding{.kind = FindingKind::unknown_name,
                    .message = fmt::format("\"{}\" is several devices", hardware),
                    .hint = fmt::format("name {}, and how many with the option devices", choice.one)});
    std::shared_ptr<const Runtime> runtime = hardware_->runtime_for(*choice.device, conditions.stack);
    const bool other_parameters = conditions.overrides || conditions.ideal_mapping;
    if (other_parameters) {
        Device device = *choice.device;
        Runtime stack = *runtime;
        if (conditions.ideal_mapping) // a device's own values decide over those of the stack
            apply(ParameterOverrides{{{device.id, stack.id, "", Parameter::weight_residency}, 1},
                                     {{device.id, stack.id, "", Parameter::spill_share}, 0}},
                  device, stack);
        if (conditions.overrides)
            apply(*conditions.overrides, device, stack);
        choice.device = std::make_shared<const Device>(std::move(device));
        runtime = std::make_shared<const Runtime>(std::move(stack));
    }
    const std::shared_ptr<const Device> stated = choice.device;
    if (conditions.structure != DeviceChanges{})
        choice.device = changed(*choice.device, conditions.structure);
    MachineOptions machine_options{.scenario = conditions.scenario,
                                   .scope = conditions.scope,
                                   .devices = std::max(1.0, conditions.devices)};
    if (stated == choice.device && !other_parameters) {
        machine_options.energy = prices_->of(stated);
    } else {
        auto prices = std::make_shared<EnergyTable>(energy().resolve(*choice.device));
        if (stated != choice.device)
            keep_event_prices(other_parameters ? energy().resolve(*stated) : *prices_->of(stated), *prices);
        machine_options.energy = std::move(prices);
    }
    machine_options.uncertainty = prices_->uncertainty();
    if ((!choice.device->dram || choice.device->in_computer) && !choice.device->host.empty())
        machine_options.host = hardware_->device(choice.device->host).device;
    if (const auto own = mappers_.find(choice.device->family); own != mappers_.end())
        machine_options.mapper = own->second;
    Machine machine = make_machine(choice.device, choice.power_mode, std::move(runtime), machine_options);
    apply(conditions.changes, machine);
    return std::make_shared<const Machine>(std::move(machine));
}

} // namespace archsim
