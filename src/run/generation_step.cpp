#include "run/generation_step.hpp"

#include "estimate/intervals.hpp"

#include <algorithm>
#include <cmath>

namespace archsim {

std::shared_ptr<const Partition> StepRunner::partition(const BoundModel& bound) const {
    return bound.partition(machine_->runtime->fusion);
}

std::shared_ptr<const NetworkWork> StepRunner::work(const BoundModel& bound) const {
    return bound.work(machine_->runtime->fusion, precision_, machine_->runtime->unsupported_operators,
                      chips_);
}

std::shared_ptr<const NetworkWork> StepRunner::work(std::int64_t batch, std::int64_t sequence,
                                                    std::int64_t past) const {
    return work(*model_.bound(batch, sequence, past));
}

Estimate StepRunner::price(const NetworkWork& work, bool keep_subgraphs) const {
    return estimate(work, *machine_, {allow_unknown_, keep_subgraphs});
}

std::int64_t StepRunner::prompt_chunk(std::int64_t tokens, std::int64_t compiled) const {
    if (machine_->param(Parameter::static_context, 0) <= 0)
        return tokens;
    const auto chunk =
        static_cast<std::int64_t>(machine_->param(Parameter::microbatch_rows, static_cast<double>(tokens)));
    return std::min(chunk, std::max(tokens, compiled));
}

std::shared_ptr<const BoundModel> StepRunner::prompt_pass(std::int64_t batch, std::int64_t tokens,
                                                          std::int64_t compiled) const {
    const std::int64_t chunk = prompt_chunk(tokens, compiled);
    const bool fixed_shapes = machine_->param(Parameter::static_context, 0) > 0;
    return model_.bound(batch, chunk, fixed_shapes ? std::max<std::int64_t>(0, compiled - chunk) : 0);
}

Estimate StepRunner::prefill(std::int64_t batch, std::int64_t tokens, std::int64_t compiled,
                             bool keep_subgraphs) const {
    Estimate e = price(*work(*prompt_pass(batch, tokens, compiled)), keep_subgraphs);
    if (e.status != Status::ok)
        return e;
    add_intervals(*machine_, Metric::prefill, e);
    const std::int64_t chunk = prompt_chunk(tokens, compiled);
    repeat_pass(e, std::ceil(static_cast<double>(tokens) / static_cast<double>(chunk)));
    add_fixed_time(e, machine_->param(Parameter::first_token_time, 0), *machine_);
    return e;
}

std::int64_t StepRunner::context_read(std::int64_t past, std::int64_t compiled) const {
    return machine_->param(Parameter::static_context, 0) > 0 ? std::max(past, compiled - 1) : past;
}

Estimate StepRunner::decode(std::int64_t batch, std::int64_t past, std::int64_t compiled,
                            bool keep_subgraphs) const {
    Estimate e = price(*work(batch, 1, context_read(past, compiled)), keep_subgraphs);
    if (e.status == Status::ok)
        add_intervals(*machine_, Metric::decode, e);
    return e;
}

void repeat_pass(Estimate& e, double times) {
    if (times == 1)
        return;
    e.latency_s *= times;
    e.network_s *= times;
    e.latency_interval = {e.latency_interval.low * times, e.latency_interval.high * times};
    e.throughput_per_s /= times;
    e.throughput_interval = {e.throughput_interval.low / times, e.throughput_interval.high / times};
    for (double& joules : e.energy.joules)
        joules *= times;
    e.energy.static_joules *= times;
    e.events.scale(times);
    e.energy_per_inference_j *= times;
    e.energy_interval = {e.energy_interval.low * times, e.energy_interval.high * times};
    for (SubgraphEstimate& s : e.subgraphs) {
        s.latency_s *= times;
        for (double& lane : s.lane_s)
            lane *= times;
        s.dram_bytes *= times;
        for (double& joules : s.energy.joules)
            joules *= times;
        s.energy.static_joules *= times;
    }
}

void add_fixed_time(Estimate& e, double seconds, const Machine& machine) {
    if (seconds <= 0)
        return;
    const double factor = (e.latency_s + seconds) / e.latency_s;
    e.latency_s += seconds;
    e.network_s += seconds;
    e.latency_interval.low *= factor;
    e.latency_interval.high *= factor;
    e.throughput_per_s /= factor;
    e.throughput_interval.low /= factor;
    e.throughput_interval.high /= factor;
    e.utilization /= factor;
    if (const double before = e.energy.total(); before > 0) {
        const double idle = machine.static_power_w * seconds;
        const double energy = (before + idle) / before;
        e.energy.static_joules += idle;
        e.energy_per_inference_j *= energy;
        e.energy_interval.low *= energy;
        e.energy_interval.high *= energy;
        e.power_w *= energy / factor;
    }
}

std::optional<StepRunner> make_runner(const Session& session, const GenerationModel& model,
                                      std::string_view hardware, const RunOptions& options,
                                      std::optional<Precision> kv_cache, Result& result) {
    result.hardware = hardware;
    result.requested = options.precision;
    result.runtime_asked = options.runtime;
    RunOptions own = options;
    // Steps of one batch follow each other; serving many requests is priced as larger batches.
    own.scenario = Scenario::latency;
    try {
        if (own.runtime.empty())
            own.runtime = language_runtime(session.hardware(), *session.hardware().device(hardware).device);
        result.machine = session.machine(hardware, own);
        result.device = result.machine->device;
        result.runtime = result.machine->runtime;
        result.power_mode = result.machine->mode_name();
        const ExecutedPrecision executed = language_precision(*result.machine, options.precision, kv_cache);
        result.estimate.precision_note = executed.note;
        if (executed.supported)
            return StepRunner(model, result.machine, executed.config, options.allow_unknown);
        result.estimate.reason = executed.note;
    } catch (const Error& problem) {
        result.estimate.reason = problem.what();
    }
    result.estimate.status = Status::unsupported;
    return std::nullopt;
}

} // namespace archsim
