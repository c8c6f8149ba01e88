#include "core/parse_number.hpp"
#include "fit/rows/validate.hpp"

#include "fit/rows/measurements.hpp"
#include "fit/rows/served_row.hpp"
#include "hardware/uncertainty.hpp"
#include "session/generation/phases.hpp"
#include "session/graph_run.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

using Overrides = std::shared_ptr<const ParameterOverrides>;

/// A database with changes.
struct Changed {
    Overrides overrides;
    MachineChanges machine;
};

/// Batches among which saturated throughput looks for the best where a row states none.
constexpr std::array<std::int64_t, 5> kBatches = {1, 4, 16, 64, 256};
constexpr double kMilli = 1e3;

static Prediction without_estimate(std::string reason, std::string status = "unsupported") {
    return {.status = std::move(status), .reason = std::move(reason)};
}

/// Relative width of the machine's power.
static Spread power_spread(const Machine& machine) {
    return machine.uncertainty
               ? machine.uncertainty->spread(SpreadOf::power, *machine.device, *machine.runtime)
               : Spread{};
}

/// Bounds of a quantity that falls when time rises.
static Interval scaled(const Interval& interval, double factor) {
    return {interval.low * factor, interval.high * factor};
}

/// "128", or the mean length of a data set: "variable:778".
static std::int64_t tokens_of(std::string_view text) {
    text = mean_length(text);
    return take_number<std::int64_t>(text).value_or(0);
}

/// Sequences of one of the groups that divide a batch.
static std::int64_t of_group(const MeasuredRow& row, std::int64_t batch) {
    const auto groups = static_cast<std::int64_t>(row.attention_groups);
    return (batch + groups - 1) / groups;
}

/// Whether every batch waits for its copies in and out; those of other offline rows overlap.
static bool with_transfers(const MeasuredRow& row) {
    return row.scope != "kernel" && row.transfers;
}

/// Side of the image that a bound graph takes, where its first input is one.
static std::optional<std::int64_t> image_side(const ShapedGraph& graph) {
    constexpr std::size_t kImageRank = 4;
    if (graph.inputs.empty() || graph.tensors[graph.inputs.front()].shape.size() != kImageRank)
        return std::nullopt;
    return graph.tensors[graph.inputs.front()].shape.back();
}

static std::string hardware_name(const MeasuredRow& row) {
    return row.power_mode.empty() ? row.hardware : row.hardware + '@' + row.power_mode;
}

struct RowEstimator::State {
    explicit State(const Session& opened) : session(opened), stacks(opened.hardware()) {}

    const Session& session;
    const MeasuredStacks stacks;
    std::mutex mutex;
    std::map<std::string, Model> models;
    std::vector<std::pair<std::string, Model>> to_serve; ///< the last one was used last
    std::map<std::string, std::shared_ptr<const BoundModel>> bound;
    std::map<std::string, std::shared_ptr<const GenerationModel>> generators;
    ServedRuns served_runs;
    std::map<RowKey, Prediction> predicted; ///< by the database as it stands
    std::map<RowKey, MeasuredWorkload> workloads;

    /// Names that are found by their letters alone cost a look at every model, and fits ask again and again.
    MeasuredWorkload workload_of(const MeasuredRow& row) {
        RowKey key = row_key(row);
        const std::lock_guard lock(mutex);
        if (const auto known = workloads.find(key); known != workloads.end())
            return known->second;
        return workloads.emplace(std::move(key), find_workload(session.catalogue(), row)).first->second;
    }

    std::shared_ptr<const BoundModel> bind(const MeasuredWorkload& workload, std::int64_t batch) {
        std::string key = fmt::format("{}\n{}", workload.entry->name, batch);
        for (const auto& [name, value] : workload.dims)
            key += fmt::format("\n{}={}", name, value);
        const std::lock_guard lock(mutex);
        if (const auto found = bound.find(key); found != bound.end())
            return found->second;
        auto model = models.find(workload.entry->name);
        if (model == models.end())
            model = models.emplace(workload.entry->name, session.load(workload.entry->name)).first;
        Bindings bindings{.dims = workload.dims};
        return bound.emplace(std::move(key), session.bind(model->second, batch, bindings)).first->second;
    }

    Model loaded(const std::string& name) {
        const std::lock_guard lock(mutex);
        const auto model = models.find(name);
        return model != models.end() ? model->second : models.emplace(name, session.load(name)).first->second;
    }

    /// A served model holds all that its rows were bound to, some hundred megabytes: the last one is kept.
    Model loaded_to_serve(const std::string& name) {
        constexpr std::size_t kKept = 1;
        const std::lock_guard lock(mutex);
        auto known = std::ranges::find_if(to_serve, [&](const auto& m) { return m.first == name; });
        if (known == to_serve.end()) {
            to_serve.emplace_back(name, session.load(name));
            known = std::prev(to_serve.end());
        }
        std::rotate(known, std::next(known), to_serve.end());
        if (to_serve.size() > kKept)
            to_serve.erase(to_serve.begin());
        return to_serve.back().second;
    }

    std::shared_ptr<const GenerationModel> generator(const std::string& name) {
        const std::lock_guard lock(mutex);
        auto& entry = generators[name];
        if (entry == nullptr)
            entry = std::make_shared<const GenerationModel>(session.load(name), Bindings{});
        return entry;
    }

    std::optional<Conditions> conditions(const MeasuredRow& row, const Changed& changed) const {
        Conditions run{.stack = stacks.of(row), .changes = changed.machine, .overrides = changed.overrides};
        const auto precision = PrecisionConfig::parse(row.precision);
        if (!precision)
            return std::nullopt;
        run.precision = *precision;
        const bool overlapped = row.scope == "offline" && !with_transfers(row);
        run.scenario = overlapped ? Scenario::throughput : Scenario::latency;
        run.scope = row.scope == "end_to_end" || with_transfers(row) ? Scope::end_to_end : Scope::kernel;
        if (with_transfers(row))
            run.changes.parameters.emplace_back(Parameter::host_time, 0);
        return run;
    }

    /// At the row's batch, or at the batch with the highest throughput.
    Result run(const MeasuredRow& row, const MeasuredWorkload& workload, const Conditions& conditions) {
        if (workload.whole) {
            Workload asked{.model = loaded(workload.entry->name), .batch = row.batch.value_or(1)};
            asked.sizes.dims = workload.dims;
            asked.single_pass = true;
            return session.estimate(asked, hardware_name(row), conditions);
        }
        if (row.batch || row.scope != "offline")
            return run_graph(session, bind(workload, row.batch.value_or(1)), hardware_name(row), conditions);
        std::optional<Result> best;
        for (const std::int64_t batch : kBatches) {
            Result result = run_graph(session, bind(workload, batch), hardware_name(row), conditions);
            const bool better =
                !best || (result.ok() && (!best->ok() || result.estimate.throughput_per_s >
                                                             best->estimate.throughput_per_s));
            if (better)
                best = std::move(result);
        }
        return *best;
    }

    /// `parts`, where given, are filled for rows of power.
    Prediction network(const MeasuredRow& row, const Changed& changed, PowerParts* parts);
    Prediction language(const MeasuredRow& row, const Changed& changed, PowerParts* parts);
};

/// `prediction.regime` is known.
static void name_machine(Prediction& prediction, const Device& device, const Runtime& runtime) {
    prediction.device = device.id;
    prediction.vendor = device.vendor;
    prediction.family = name_of(device.family);
    prediction.generation = device.generation;
    prediction.runtime = runtime.id;
    prediction.evidence = name_of(evidence_for(device, runtime, prediction.regime));
}

Prediction RowEstimator::State::network(const MeasuredRow& row, const Changed& changed, PowerParts* parts) {
    const MeasuredWorkload workload = workload_of(row);
    if (workload.entry == nullptr)
        return without_estimate(workload.problem);
    auto asked = conditions(row, changed);
    if (!asked)
        return without_estimate(fmt::format("the precision \"{}\" is not known", row.precision));
    // The devices of an image generator share each image, those of other networks work side by side.
    const double together = workload.whole ? row.devices : 1, beside = row.devices / together;
    asked->devices = together;
    const Result result = run(row, workload, *asked);
    const Estimate& estimate = result.estimate;
    if (!result.ok())
        return without_estimate(estimate.reason, std::string(name_of(estimate.status)));
    const auto side = image_side(*result.model->graph);
    if (row.image_size && side && *side != *row.image_size)
        return without_estimate(fmt::format("the file of {} takes images of side {}, not {}",
                                            result.model->name, *side, *row.image_size));
    Prediction prediction{.regime = regime_of(estimate), .kind = estimate.kind};
    name_machine(prediction, *result.device, *result.runtime);
    const auto take = [&](double value, const Interval& interval) {
        prediction.predicted = value;
        prediction.low = interval.low;
        prediction.high = interval.high;
    };
    const PoweredRow powered{row, *result.machine, estimate, together, beside};
    if (parts != nullptr)
        *parts = parts_of_power(powered, 1 / (estimate.throughput_per_s * beside));
    switch (row.metric) {
    case MeasuredMetric::latency_ms:
        take(estimate.latency_s * kMilli, scaled(estimate.latency_interval, kMilli));
        break;
    case MeasuredMetric::throughput_per_s: // sockets and boards work side by side
        take(estimate.throughput_per_s * beside, scaled(estimate.throughput_interval, beside));
        break;
    case MeasuredMetric::power_w: {
        const Machine& machine = *result.machine;
        const double stated_w = stated_power(powered);
        const Spread power = power_spread(machine);
        take(stated_w, {stated_w * power.low, stated_w * power.high});
        break;
    }
    case MeasuredMetric::energy_mj: {
        const double device_w = estimate.power_w * beside;
        const double factor = device_w > 0 ? drawn_power(powered) / device_w : 1;
        take(estimate.energy.total() / estimate.batch * factor * kMilli,
             scaled(estimate.energy_interval, factor * kMilli));
        break;
    }
    }
    return prediction;
}

Prediction RowEstimator::State::language(const MeasuredRow& row, const Changed& changed, PowerParts* parts) {
    if (row.prompt_tokens == "variable" || row.generated_tokens == "variable")
        return without_estimate("prompts of variable length, whose distribution is not published");
    auto asked = conditions(row, changed);
    if (!asked)
        return without_estimate(fmt::format("the precision \"{}\" is not known", row.precision));
    asked->scenario = Scenario::latency; // a saturated server is a phase of its own
    asked->devices = row.devices / row.replicas / row.attention_groups;
    const auto device = session.hardware().device(row.hardware).device;
    const auto runtime = session.hardware().runtime_for(*device, asked->stack);
    asked->kv_cache = published_cache(*runtime, asked->precision);
    if (is_served(row)) {
        Prediction served = served_runs.predict(session, loaded_to_serve(row.model), row, *asked);
        served.kind = generator(row.model)->bound(1, 1, 1)->graph().kind();
        name_machine(served, *device, *runtime);
        return served;
    }
    const Prompt prompt{.tokens = tokens_of(row.prompt_tokens),
                        .generate = tokens_of(row.generated_tokens),
                        .context = row.context,
                        .sampled = row.sampled};
    const GenerationPhase phase =
        row.phase == "prefill"                 ? GenerationPhase::prefill
        : row.phase == "decode"                ? GenerationPhase::decode
        : row.phase == "saturated"             ? GenerationPhase::saturated // `batch` requests at once
        : row.scope == "offline" && !row.batch ? GenerationPhase::saturated // as many as fit
                                               : GenerationPhase::generate;
    if (phase != GenerationPhase::decode && prompt.tokens < 1)
        return without_estimate("the row does not say how long its prompts are");
    if (phase == GenerationPhase::generate && row.metric != MeasuredMetric::latency_ms &&
        row.metric != MeasuredMetric::throughput_per_s)
        return without_estimate("power and energy of prompts and generation together are not compared");
    const std::int64_t batch = of_group(row, row.batch.value_or(phase == GenerationPhase::saturated ? 0 : 1));
    // Time is that of the device with the busiest experts; power and energy are those of all devices, which
    // have the mean: what experts that are shared like the rest have.
    const bool timed =
        row.metric == MeasuredMetric::latency_ms || row.metric == MeasuredMetric::throughput_per_s;
    if (!timed && row.attention_groups > 1)
        return without_estimate("power of groups that share experts is not compared");
    const double experts = timed ? row.expert_devices : 0;
    const PhaseEstimate answer = estimate_phase(session, *generator(row.model), hardware_name(row), *asked,
                                                phase, batch, prompt, experts);
    if (answer.status != Status::ok)
        return without_estimate(answer.reason, std::string(name_of(answer.status)));
    Prediction prediction{.regime = regime_of(answer.step), .kind = answer.step.kind};
    name_machine(prediction, *device, *runtime);
    const Estimate& step = answer.step;
    const double low = step.latency_s > 0 ? step.latency_interval.low / step.latency_s : 1;
    const double high = step.latency_s > 0 ? step.latency_interval.high / step.latency_s : 1;
    if (row.metric == MeasuredMetric::latency_ms) {
        prediction.predicted = answer.latency_s * kMilli;
        prediction.low = prediction.predicted * low;
        prediction.high = prediction.predicted * high;
    } else if (row.metric == MeasuredMetric::throughput_per_s) {
        prediction.predicted = answer.tokens_per_s * row.attention_groups;
        prediction.low = high > 0 ? prediction.predicted / high : 0;
        prediction.high = low > 0 ? prediction.predicted / low : 0;
    } else {
        const double copies = row.replicas;
        const PoweredRow powered{row, *answer.machine, step, asked->devices, copies};
        if (parts != nullptr)
            *parts = parts_of_power(powered, 1 / (copies * answer.tokens_per_s));
        if (row.metric == MeasuredMetric::power_w) {
            const Spread power = power_spread(*answer.machine);
            prediction.predicted = stated_power(powered);
            prediction.low = prediction.predicted * power.low;
            prediction.high = prediction.predicted * power.high;
        } else {
            const double joules = step.energy.total() / step.batch;
            prediction.predicted = drawn_power(powered) / (copies * answer.tokens_per_s) * kMilli;
            const double factor = joules > 0 ? prediction.predicted / joules : 0;
            prediction.low = joules > 0 ? factor * step.energy_interval.low : prediction.predicted;
            prediction.high = joules > 0 ? factor * step.energy_interval.high : prediction.predicted;
        }
    }
    return prediction;
}

RowEstimator::RowEstimator(const Session& session) : state_(std::make_unique<State>(session)) {}

RowEstimator::~RowEstimator() = default;

std::string RowEstimator::stack_of(const MeasuredRow& row) const {
    return state_->stacks.of(row);
}

const Session& RowEstimator::session() const {
    return state_->session;
}

Prediction RowEstimator::operator()(const MeasuredRow& row, Overrides overrides,
                                    const MachineChanges& changes) const {
    const auto predict = [&] {
        try {
            const Changed changed{std::move(overrides), changes};
            return row.phase.empty() ? state_->network(row, changed, nullptr)
                                     : state_->language(row, changed, nullptr);
        } catch (const Error& problem) {
            return without_estimate(problem.what());
        }
    };
    if (overrides != nullptr || changes != MachineChanges{})
        return predict();
    // Validation, fits and what they support ask for the same rows again.
    const RowKey key = row_key(row);
    {
        const std::lock_guard lock(state_->mutex);
        if (const auto known = state_->predicted.find(key); known != state_->predicted.end())
            return known->second;
    }
    Prediction prediction = predict();
    const std::lock_guard lock(state_->mutex);
    return state_->predicted.try_emplace(key, std::move(prediction)).first->second;
}

std::optional<PowerParts> RowEstimator::power_parts(const MeasuredRow& row,
                                                    const MachineChanges& changes) const {
    if (row.metric != MeasuredMetric::power_w)
        return std::nullopt;
    PowerParts parts;
    try {
        const Changed changed{nullptr, changes};
        const Prediction prediction = row.phase.empty() ? state_->network(row, changed, &parts)
                                                        : state_->language(row, changed, &parts);
        return prediction.ok() ? std::optional(parts) : std::nullopt;
    } catch (const Error&) {
        return std::nullopt;
    }
}

} // namespace archsim
