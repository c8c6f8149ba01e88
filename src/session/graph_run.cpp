#include "session/graph_run.hpp"

#include "estimate/algebra.hpp"
#include "map/counts_of_structure.hpp"

#include <algorithm>

namespace archsim {

/// True when the first input's leading dimension has no name, or is fixed at one item.
static bool can_take_batch(const Graph& graph) {
    for (const TensorId input : graph.inputs)
        if (const auto& shape = graph.tensors[input].shape; shape && !shape->empty())
            return shape->front().value < 0 || shape->front().value == 1;
    return false;
}

static void refuse(Estimate& e, std::string reason) {
    e.status = Status::unsupported;
    e.reason = std::move(reason);
}

/// The machine of these conditions, held to an estimated budget where they change anything about it. `scale`,
/// as scale_to_budget() says, is asked for once.
static std::shared_ptr<const Machine> held_to_budget(const Session& session,
                                                     const std::shared_ptr<const BoundModel>& model,
                                                     std::string_view device, const Conditions& conditions,
                                                     std::optional<double>& scale) {
    auto asked = session.machine(device, conditions);
    if (asked->power_budget_w <= 0 ||
        (conditions.changes == MachineChanges{} && conditions.structure == DeviceChanges{}))
        return asked;
    Conditions described = conditions;
    described.changes = {};
    described.structure = {};
    auto held = std::make_shared<Machine>(*asked);
    if (!scale)
        scale = scale_to_budget(model, device, session.machine(device, described), described);
    hold_to_budget(*scale, *held);
    return held;
}

double scale_to_budget(const std::shared_ptr<const BoundModel>& model, std::string_view device,
                       std::shared_ptr<const Machine> described, const Conditions& conditions) {
    if (described->power_budget_w <= 0)
        return 1;
    Conditions whole = conditions;
    whole.keep_subgraphs = false;
    const Result result = run_graph_on(model, device, std::move(described), whole);
    return result.ok() ? result.estimate.energy_scale : 1;
}

void hold_to_budget(double scale, Machine& changed) {
    if (changed.power_budget_w <= 0 || scale <= 0)
        return;
    constexpr double kRounding = 1e-9; // the chip as it is described meets its budget to the last bit
    const double budget = changed.power_budget_w * (1 + kRounding);
    changed.price_scale = scale;
    changed.power_limit_w = changed.power_limit_w > 0 ? std::min(changed.power_limit_w, budget) : budget;
    changed.power_budget_w = 0;
}

std::shared_ptr<const BoundModel> bind_graph(const ImportedGraph& model, std::int64_t batch,
                                             const Bindings& bindings, const OperatorRegistry& operators,
                                             std::span<const std::shared_ptr<const BoundModel>> earlier) {
    Bindings all = bindings;
    if (const std::string symbol = batch_symbol(*model.graph); !symbol.empty())
        all.dims.try_emplace(symbol, batch);
    else if (can_take_batch(*model.graph) || (batch > 1 && fixed_items(*model.graph) > 1))
        all.batch_size = batch; // one item is what nobody asked for: the file's own number stays
    return std::make_shared<const BoundModel>(model, all, operators, earlier);
}

Result asked(std::shared_ptr<const ModelFacts> model, std::string_view device, const Conditions& conditions) {
    return {.model = std::move(model), .hardware = std::string(device), .conditions = conditions};
}

Result run_graph(const Session& session, const std::shared_ptr<const BoundModel>& model,
                 std::string_view device, const Conditions& conditions) {
    Result result = asked(model->facts(), device, conditions);
    try {
        const DeviceChoice choice = session.hardware().device(device);
        result.device = choice.device; // known even where the stack does not run on it
        result.power_mode = choice.power_mode;
        std::optional<double> scale;
        Result all = run_graph_on(model, device, held_to_budget(session, model, device, conditions, scale),
                                  conditions);
        if (const auto idle = with_idle_units(conditions))
            return faster_with_idle_units(std::move(all), run_graph(session, model, device, *idle));
        return all;
    } catch (const Error& problem) {
        refuse(result.estimate, problem.what());
    }
    return result;
}

PreparedRun prepare_run(const std::shared_ptr<const BoundModel>& model, std::string_view device,
                        std::shared_ptr<const Machine> made, const Conditions& conditions) {
    PreparedRun run;
    Result& result = run.result = asked(model->facts(), device, conditions);
    result.machine = std::move(made);
    const Machine& machine = *result.machine;
    result.device = machine.device;
    result.runtime = machine.runtime;
    result.power_mode = machine.mode_name();
    try {
        const ExecutedPrecision executed =
            resolve_precision(*machine.device, *machine.runtime, conditions.formats());
        if (!executed.supported) {
            refuse(result.estimate, executed.note);
            return run;
        }
        const auto runtime = machine.runtime;
        const FusionPolicy fusion =
            conditions.fusion ? *conditions.fusion : runtime->fusion_on(machine.device->family);
        const auto work_of =
            [fusion, config = executed.config, devices = machine.devices,
             takes = OperatorTaker{runtime->rules, machine.device->generation}](const BoundModel& bound) {
                return bound.work(fusion, config, takes, devices);
            };
        result.partition = model->partition(fusion);
        result.work = work_of(*model);
        result.estimate.precision_note = executed.note;
        if (!(result.work->batch > 0)) { // nothing per item could be said
            refuse(result.estimate, "the sizes make a batch of no items; give at least one");
            return run;
        }
        run.how.allow_unknown = conditions.allow_unknown;
        run.how.keep_subgraphs = conditions.keep_subgraphs;
        run.how.smaller_batch = [model, work_of](std::size_t parts) -> std::shared_ptr<const NetworkWork> {
            const auto smaller = model->divided(static_cast<std::int64_t>(parts));
            return smaller ? work_of(*smaller) : nullptr;
        };
        run.runs = true;
    } catch (const Error& problem) {
        refuse(result.estimate, problem.what());
    }
    return run;
}

void estimate_run(PreparedRun& run, const Machine& machine, BatchCounts& counted) {
    Estimate& e = run.result.estimate;
    std::string note = std::move(e.precision_note);
    try {
        e = estimate(*run.result.work, machine, run.how, counted);
    } catch (const Error& problem) {
        e = {};
        refuse(e, problem.what());
    }
    e.precision_note = std::move(note);
}

Result run_graph_on(const std::shared_ptr<const BoundModel>& model, std::string_view device,
                    std::shared_ptr<const Machine> machine, const Conditions& conditions) {
    PreparedRun run = prepare_run(model, device, std::move(machine), conditions);
    BatchCounts counted;
    if (run.runs)
        estimate_run(run, *run.result.machine, counted);
    return std::move(run.result);
}

Result RateTrials::with(const MachineChanges& changes) {
    Conditions what = conditions_;
    what.changes = changes;
    const auto machine = held_to_budget(session_, model_, device_, what, budget_scale_);
    bool counts_differ = with_idle_units(what).has_value();
    for (std::size_t i = 0; i < kLeverCount; ++i)
        if (const auto lever = static_cast<Lever>(i); changes[lever] != conditions_.changes[lever])
            counts_differ = counts_differ || counts_depend_on(lever, *machine);
    if (counts_differ)
        return run_graph(session_, model_, device_, what);
    if (!run_)
        run_ = prepare_run(model_, device_, machine, what);
    run_->result.machine = machine;
    run_->result.conditions = what;
    counted_.machine_changed();
    if (run_->runs)
        estimate_run(*run_, *machine, counted_);
    return run_->result;
}

std::optional<Conditions> with_idle_units(const Conditions& conditions) {
    const double units = conditions.structure[Structure::units];
    if (!(units > 1))
        return std::nullopt;
    Conditions idle = conditions;
    idle.structure[Structure::units] = fewer_units(units);
    return idle;
}

Result faster_with_idle_units(Result all, Result fewer) {
    const Estimate &a = all.estimate, &b = fewer.estimate;
    const bool faster = all.conditions.scenario == Scenario::latency
                            ? b.latency_s < a.latency_s
                            : b.throughput_per_s > a.throughput_per_s;
    // Units that draw more than the limit while they wait cannot be left idle either.
    const bool over_limit = !all.ok() && all.machine && all.machine->power_limit_w > 0 &&
                            all.machine->static_power_w >= all.machine->power_limit_w;
    if (!fewer.ok() || !fewer.machine || (all.ok() && !faster) || over_limit)
        return all;
    const double idle_w = all.machine ? all.machine->static_power_w - fewer.machine->static_power_w : 0;
    fewer.estimate = beside_waiting(std::move(fewer.estimate), idle_w * fewer.machine->devices);
    fewer.conditions = std::move(all.conditions);
    return fewer;
}

} // namespace archsim
