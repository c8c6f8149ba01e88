#include "answers/sweep/sweep_worker.hpp"

#include "map/counts_of_structure.hpp"
#include "map/on_chip.hpp"
#include "result/format_parts.hpp"
#include "session/usual_precision.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace archsim {

/// A structure of a thousand steps is a thousand devices, several of them as many as there are points.
static constexpr std::size_t kMachines = 4096;

SweepShared::SweepShared(const Session& session, const SweepRequest& request, std::span<const Model> models,
                         std::span<const Bindings> sizes, unsigned threads)
    : session_(session), request_(request), models_(models), sizes_(sizes),
      kept_((threads + 1) * request.batches.size()) {}

std::shared_ptr<SweepShared::Slot> SweepShared::slot(std::size_t model, std::size_t batch) {
    const std::lock_guard lock(mutex_);
    for (const auto& known : slots_)
        if (known->model == model && known->batch == batch)
            return known;
    if (slots_.size() >= kept_)
        slots_.pop_back();
    auto& made = slots_.emplace_front(std::make_shared<Slot>());
    made->model = model;
    made->batch = batch;
    return made;
}

Result SweepShared::answer(std::size_t model, std::size_t batch, std::size_t hardware,
                           const Conditions& conditions) const {
    const Workload workload{models_[model], request_.batches[batch], sizes_[model], request_.prompt,
                            !request_.prompt};
    return session_.estimate(workload, request_.hardware[hardware], conditions);
}

std::shared_ptr<const BoundModel> SweepShared::bound(std::size_t model, std::size_t batch) {
    const auto place = slot(model, batch);
    const std::lock_guard lock(place->making);
    if (!place->bound)
        place->bound = smaller_of_another(model, request_.batches[batch]);
    if (!place->bound)
        place->bound = session_.bind(models_[model], request_.batches[batch], sizes_[model]);
    return place->bound;
}

/// The one that a larger batch of the sweep is cut into (BoundModel::divided): bound and counted once for
/// both uses. Null where there is none.
std::shared_ptr<const BoundModel> SweepShared::smaller_of_another(std::size_t model, std::int64_t batch) {
    if (sizes_[model].dims.contains(batch_symbol(*models_[model].graph)))
        return nullptr; // the batch is given, whatever the sweep says
    for (std::size_t i = 0; i < request_.batches.size(); ++i)
        if (const std::int64_t larger = request_.batches[i];
            larger > batch && larger == batch * smallest_factor(larger))
            return bound(model, i)->divided(larger / batch);
    return nullptr;
}

std::shared_ptr<const Machine> SweepShared::machine(const MachineKey& key, std::string& reason) {
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = machines_.find(key); known != machines_.end())
            return known->second;
    }
    Conditions conditions = request_.conditions;
    conditions.structure = key.structure;
    try {
        auto made = session_.machine(request_.hardware[key.hardware], conditions);
        const std::lock_guard lock(mutex_);
        if (machines_.size() >= kMachines)
            machines_.clear();
        return machines_.try_emplace(key, std::move(made)).first->second;
    } catch (const Error& problem) {
        reason = problem.what();
        return nullptr;
    }
}

constexpr auto kNone = std::numeric_limits<std::size_t>::max();
/// Machines whose counts are kept: some hundred kilobytes each.
constexpr std::size_t kPlaces = 256;

/// Whether the machine runs a network that leaves its formats to the request in either with the same result,
/// but for the format's name.
static bool run_alike(const PrecisionConfig& a, const PrecisionConfig& b, const Machine& machine) {
    return a == PrecisionConfig::uniform(a.compute) && b == PrecisionConfig::uniform(b.compute) &&
           runs_alike(a.compute, b.compute, machine);
}

/// The machine as stated, but for its parameters.
static void restate(const Machine& stated, Machine& machine) {
    machine.rates = stated.rates;
    machine.energy = stated.energy;
    machine.power_limit_w = stated.power_limit_w;
    machine.power_budget_w = stated.power_budget_w;
    machine.static_power_w = stated.static_power_w;
    machine.memory_capacity_bytes = stated.memory_capacity_bytes;
    machine.price_scale = stated.price_scale;
}

static void take_over(const Result& result, const MetricView& view, SweepRow& row) {
    const Estimate& e = result.estimate;
    row.runtime = result.runtime ? result.runtime->id : "";
    row.status = e.status;
    row.reason = e.reason;
    row.metrics = view.metrics;
    if (!result.ok())
        return;
    row.executed = result.generation ? multiplied_format(result) : std::string(name_of(e.executed.compute));
    row.power_limited = e.power_limited;
    row.standing = standing_of(e);
    row.measures.reserve(view.metrics->rows().size());
    for (const Metric* metric : view.metrics->rows())
        row.measures.push_back(measure_of(result, *metric, view.conditions));
    if (!e.uncounted.empty()) { // its numbers are bounds, and win nothing
        row.status = Status::incomplete;
        row.reason = e.uncounted;
    }
}

SweepWorker::SweepWorker(SweepShared& shared, std::span<const Conditions> formats)
    : shared_(shared), request_(shared.request()), formats_(formats), widths_(request_.hardware.size()) {
    before_.model = before_.hardware = kNone;
    meant_.assign(formats_.begin(), formats_.end());
    targets_.reserve(request_.axes.size());
    for (const SweepAxis& axis : request_.axes) {
        Target& target = targets_.emplace_back();
        target.lever = parse_lever(axis.name);
        if (!target.lever)
            target.structure = *value_named<Structure>(axis.name);
    }
}

SweepWorker::Place& SweepWorker::enter(const SweepPoint& point) {
    const bool other_device = point.hardware != before_.hardware;
    const bool elsewhere = point.model != before_.model || other_device;
    // Axes run fastest, so that a format and batch do not come back. Without axes they share a machine.
    const bool other_format = point.precision != before_.precision;
    const bool other_run = other_format || point.batch != before_.batch;
    if (point.model != before_.model) {
        bound_.assign(request_.batches.size(), nullptr);
        formats_open_.reset();
    }
    if (elsewhere || (other_run && !targets_.empty())) {
        leave_places();
        rows_.assign(targets_.empty() ? formats_.size() * request_.batches.size() : 0, std::nullopt);
    }
    // Batches of one format may be cut into each other, where software manages a memory.
    if (place_ && place_->machine && targets_.empty() &&
        (other_format || managed_memory_bytes(*place_->machine) <= 0))
        place_->counts.forget_works();
    if (other_device)
        find_targets(point);
    if ((elsewhere || other_run) && !targets_.empty()) {
        std::string reason;
        find_format(point, point.precision, shared_.machine({point.hardware, {}}, reason));
        budget_scale_.reset();
    }
    before_ = point;

    PlaceKey key;
    key.counted.fill(1);
    MachineChanges changes;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        const Target& target = targets_[i];
        if (!target.lever) {
            key.structure[target.structure] = point.factors[i];
            continue;
        }
        if (target.counts)
            key.counted[static_cast<std::size_t>(*target.lever)] = point.factors[i];
        // A machine keeps changes of parameters; the rest is put on its rates, prices and limits anew.
        if (*target.lever != Lever::fixed_cost && *target.lever != Lever::host_time)
            changes[*target.lever] = point.factors[i];
    }
    if (!place_ || key != *key_)
        place_ = &make(point, key);
    if (place_->machine && changes != place_->changes) {
        restate(*place_->stated, *place_->machine);
        apply(changes, *place_->machine);
        place_->changes = changes;
        place_->counts.machine_changed();
    }
    return *place_;
}

/// The counts of one place leave their memory to those of the next.
void SweepWorker::leave_places() {
    if (place_) {
        widths_[before_.hardware] = std::move(place_->counts.widths());
        counts_ = std::move(place_->counts);
        counts_.restart();
    }
    places_.clear();
    place_ = nullptr;
}

SweepWorker::Place& SweepWorker::make(const SweepPoint& point, const PlaceKey& key) {
    if (const auto known = places_.find(key); known != places_.end()) {
        key_ = &known->first;
        return *known->second;
    }
    if (places_.size() >= kPlaces)
        places_.clear();
    const auto made = places_.try_emplace(key, std::make_unique<Place>()).first;
    key_ = &made->first;
    Place& place = *made->second;
    place.counts = std::exchange(counts_, {});
    place.counts.widths() = std::exchange(widths_[point.hardware], {});
    place.stated = shared_.machine({point.hardware, key.structure}, place.reason);
    place.runs.resize(formats_.size() * request_.batches.size());
    if (place.stated) {
        place.machine = std::make_shared<Machine>(*place.stated);
        MachineChanges parameters;
        for (const Lever lever : {Lever::fixed_cost, Lever::host_time})
            parameters[lever] = key.counted[static_cast<std::size_t>(lever)];
        apply(parameters, *place.machine);
    }
    if (targets_.empty())
        find_alike_formats(point, place);
    return place;
}

/// A change of the structure does not change what the device's mapper reads.
void SweepWorker::find_targets(const SweepPoint& point) {
    std::string reason;
    const auto machine = targets_.empty() ? nullptr : shared_.machine({point.hardware, {}}, reason);
    for (Target& target : targets_)
        target.counts = target.lever && (!machine || counts_depend_on(*target.lever, *machine));
}

/// The one that is meant on a machine: with axes on the device as it is stated, for all of their points.
void SweepWorker::find_format(const SweepPoint& point, std::size_t format,
                              const std::shared_ptr<const Machine>& machine) {
    meant_[format] = formats_[format];
    if (machine)
        meant_[format] = in_fastest_format(*machine, formats_[format], [&](const Conditions& trial) {
            const Result result =
                run_graph_on(bound(point), request_.hardware[point.hardware], machine, trial);
            return result.ok() ? result.estimate.throughput_per_s : 0;
        });
}

void SweepWorker::find_alike_formats(const SweepPoint& point, const Place& place) {
    alike_.resize(formats_.size());
    comes_again_.assign(formats_.size(), false);
    executed_.resize(formats_.size());
    if (place.stated && !formats_open_) {
        const auto network = bound(point);
        const ShapedGraph& graph = network->graph();
        formats_open_ =
            !graph.stored_weights && std::ranges::none_of(graph.operators, [](const Operator& op) {
                return op.native_precision.has_value();
            });
    }
    for (std::size_t p = 0; p < formats_.size(); ++p) {
        alike_[p] = p;
        if (!place.stated) {
            find_format(point, p, nullptr);
            continue;
        }
        const Machine& machine = *place.stated;
        find_format(point, p, place.stated);
        executed_[p] = resolve_precision(*machine.device, *machine.runtime, meant_[p].precision);
        for (std::size_t before = 0; before < p && alike_[p] == p; ++before)
            if (executed_[before].supported && executed_[p].supported &&
                (executed_[before].config == executed_[p].config ||
                 (*formats_open_ && run_alike(executed_[before].config, executed_[p].config, machine)))) {
                alike_[p] = before;
                comes_again_[before] = true;
            }
    }
}

const std::shared_ptr<const BoundModel>& SweepWorker::bound(const SweepPoint& point) {
    auto& model = bound_[point.batch];
    if (!model)
        model = shared_.bound(point.model, point.batch);
    return model;
}

void SweepWorker::fill(const SweepPoint& point, SweepRow& row) {
    row.hardware = request_.hardware[point.hardware];
    row.precision = request_.precisions[point.precision];
    row.batch = request_.batches[point.batch];
    row.factors = point.factors;
    row.point = point.number;
    if (!shared_.one_graph(point.model))
        return answer(point, row);
    Place& place = enter(point);
    if (!targets_.empty())
        return estimate(point, place, row);
    const std::size_t batches = request_.batches.size();
    if (const auto& same = rows_[alike_[point.precision] * batches + point.batch]) {
        row = *same;
        row.precision = request_.precisions[point.precision];
        if (row.status == Status::ok)
            row.executed = name_of(executed_[point.precision].config.compute);
        row.point = point.number;
        return;
    }
    estimate(point, place, row);
    place.runs[point.precision * batches + point.batch] = nullptr; // without axes it does not come again
    if (comes_again_[point.precision])
        rows_[point.precision * batches + point.batch] = row;
}

PreparedRun& SweepWorker::run(const SweepPoint& point, Place& place) {
    auto& run = place.runs[point.precision * request_.batches.size() + point.batch];
    if (!run) {
        Conditions conditions = meant_[point.precision];
        conditions.keep_subgraphs = false;
        run = std::make_unique<PreparedRun>(
            prepare_run(bound(point), request_.hardware[point.hardware], place.machine, conditions));
    }
    return *run;
}

void SweepWorker::answer(const SweepPoint& point, SweepRow& row) const {
    Conditions conditions = formats_[point.precision];
    conditions.keep_subgraphs = false;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        const Target& target = targets_[i];
        (target.lever ? conditions.changes[*target.lever] : conditions.structure[target.structure]) =
            point.factors[i];
    }
    row.model = shared_.model_name(point.model);
    take_over(shared_.answer(point.model, point.batch, point.hardware, conditions), request_.view, row);
}

void SweepWorker::estimate(const SweepPoint& point, Place& place, SweepRow& row) {
    row.model = bound(point)->facts()->name;
    if (!place.machine) {
        row.reason = place.reason;
        row.status = Status::unsupported;
        return;
    }
    PreparedRun& prepared = run(point, place);
    price(point, place, prepared);
    if (with_idle_units(point))
        take_over(leaving_idle(point, prepared.result), request_.view, row);
    else
        take_over(prepared.result, request_.view, row);
}

/// A point that differs from the device as it is described is held to the device's budget.
void SweepWorker::price(const SweepPoint& point, Place& place, PreparedRun& prepared) {
    if (!prepared.runs)
        return;
    Machine& machine = *place.machine;
    const bool described = std::ranges::all_of(point.factors, [](double factor) { return factor == 1; });
    if (described || machine.power_budget_w <= 0)
        return estimate_run(prepared, machine, place.counts);
    if (!budget_scale_) {
        std::string reason;
        const auto stated = shared_.machine({point.hardware, {}}, reason);
        budget_scale_ = stated ? scale_to_budget(bound(point), request_.hardware[point.hardware], stated,
                                                 meant_[point.precision])
                               : 1;
    }
    const double limit = machine.power_limit_w, budget = machine.power_budget_w;
    hold_to_budget(*budget_scale_, machine);
    estimate_run(prepared, machine, place.counts);
    machine.power_limit_w = limit; // other batches and formats of this place have other prices
    machine.power_budget_w = budget;
    machine.price_scale = 1;
}

std::optional<SweepPoint> SweepWorker::with_idle_units(const SweepPoint& point) const {
    for (std::size_t i = 0; i < targets_.size(); ++i)
        if (!targets_[i].lever && targets_[i].structure == Structure::units && point.factors[i] > 1) {
            SweepPoint idle = point;
            idle.factors[i] = fewer_units(point.factors[i]);
            return idle;
        }
    return std::nullopt;
}

/// The next question enters a place of its own: `all` is copied before.
Result SweepWorker::leaving_idle(const SweepPoint& point, Result all) {
    const std::optional<SweepPoint> idle = with_idle_units(point);
    if (!idle)
        return all;
    Place& place = enter(*idle);
    if (!place.machine)
        return all;
    PreparedRun& prepared = run(*idle, place);
    price(*idle, place, prepared);
    return faster_with_idle_units(std::move(all), leaving_idle(*idle, prepared.result));
}

} // namespace archsim
