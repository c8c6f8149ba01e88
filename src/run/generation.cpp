#include "archsim/run/generation.hpp"

#include "run/generation_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim {

namespace {

/// Largest group of devices that is tried; links of the database's devices do not reach further at full rate.
constexpr double kLargestGroup = 64;

std::string gigabytes(double bytes) {
    return fmt::format("{:.1f} GB", bytes / 1e9);
}

/// Memory of one chip at the last token, and while the prompts are processed.
struct MemoryNeed {
    double bytes = 0, weights = 0, cache = 0; ///< of one chip
};

MemoryNeed memory_need(const StepRunner& runner, const GenerationRequest& q) {
    const GenerationModel& model = runner.model();
    const std::int64_t prompt = q.prompt_tokens + model.inserted_tokens();
    const std::int64_t end = std::max(prompt + q.generate_tokens, q.context);
    const auto first = runner.work(q.batch, prompt, 0);
    const auto last = runner.work(q.batch, 1, std::max<std::int64_t>(end - 1, 0));
    MemoryNeed need;
    need.weights = last->weight_bytes;
    need.cache = last->memory.kv_cache_bytes;
    double others = 0;
    for (std::size_t part = 0; part < model.before().size(); ++part)
        others += runner.work(*model.bound_before(part, q.batch))->weight_bytes;
    need.weights += others;
    need.bytes =
        others + std::max(first->weight_bytes + first->memory.arena_bytes + first->memory.kv_cache_bytes,
                          last->weight_bytes + last->memory.arena_bytes + last->memory.kv_cache_bytes);
    return need;
}

/// Sums of several passes with weights.
class Sum {
  public:
    void add(const Estimate& e, double times) {
        latency += e.latency_s * times;
        low += e.latency_interval.low * times;
        high += e.latency_interval.high * times;
        const double items = e.batch * times;
        energy_low += e.energy_interval.low * items;
        energy_high += e.energy_interval.high * items;
        for (std::size_t i = 0; i < kEventCount; ++i)
            energy.joules[i] += e.energy.joules[i] * times;
        energy.static_joules += e.energy.static_joules * times;
        EventCounts counted = e.events;
        events += counted.scale(times);
        useful += e.utilization * e.latency_s * times;
        network += e.network_s * times;
        limited = limited || e.power_limited;
        peak_power = std::max(peak_power, e.peak_power_w);
        workspace = std::max(workspace, e.memory.workspace_bytes);
        lowest = std::min(lowest, e.utilization_min);
        highest = std::max(highest, e.utilization_max);
    }
    double latency = 0, low = 0, high = 0, energy_low = 0, energy_high = 0, useful = 0, network = 0,
           peak_power = 0, workspace = 0;
    double lowest = 1, highest = 0;
    EnergyBreakdown energy;
    EventCounts events;
    bool limited = false;
};

/// Contexts at which decode steps are priced, with weights that add up to one: Simpson's rule over [first,
/// last], exact where time is a cubic of the context.
std::vector<std::pair<std::int64_t, double>> context_points(std::int64_t first, std::int64_t last) {
    if (last <= first)
        return {{first, 1.0}};
    if (last - first == 1)
        return {{first, 0.5}, {last, 0.5}};
    return {{first, 1.0 / 6}, {(first + last) / 2, 4.0 / 6}, {last, 1.0 / 6}};
}

class AnswerBuilder {
  public:
    AnswerBuilder(StepRunner runner, const GenerationRequest& request, Result& result)
        : runner_(std::move(runner)), q_(request), result_(result),
          prompt_(request.prompt_tokens + runner_.model().inserted_tokens()) {}

    void run(const RunOptions& options) {
        g_.prompt_tokens = static_cast<double>(prompt_);
        g_.generate_tokens = static_cast<double>(q_.generate_tokens);
        g_.batch = static_cast<double>(q_.batch);
        g_.memory_capacity_bytes = runner_.machine().memory_capacity_bytes;
        g_.devices_needed = smallest_count();
        g_.devices = options.chips > 0 ? options.chips : std::max(1.0, g_.devices_needed);
        runner_.use_chips(g_.devices);
        if (fits() && price(options))
            add_serving(options);
        result_.generation = std::make_shared<const GenerationEstimate>(std::move(g_));
    }

  private:
    double smallest_count() {
        for (double chips = 1; chips <= kLargestGroup; chips *= 2) {
            runner_.use_chips(chips);
            if (g_.memory_capacity_bytes <= 0 || memory_need(runner_, q_).bytes <= g_.memory_capacity_bytes)
                return chips;
            if (runner_.machine().rate(Resource::link_bytes) <= 0)
                break;
        }
        return 0;
    }

    bool fits() {
        const MemoryNeed need = memory_need(runner_, q_);
        g_.memory_bytes = need.bytes;
        g_.weight_bytes = need.weights * g_.devices;
        g_.kv_cache_bytes = need.cache * g_.devices;
        MemoryEstimate& memory = result_.estimate.memory;
        memory.weight_bytes = need.weights;
        memory.kv_cache_bytes = need.cache;
        memory.peak_bytes = need.bytes;
        memory.activation_bytes = need.bytes - need.weights - need.cache;
        memory.capacity_bytes = g_.memory_capacity_bytes;
        if (g_.memory_capacity_bytes <= 0 || need.bytes <= g_.memory_capacity_bytes)
            return true;
        const bool linked = runner_.machine().rate(Resource::link_bytes) > 0;
        const std::string more = g_.devices_needed > 0
                                     ? fmt::format("{:.0f} devices hold it", g_.devices_needed)
                                 : linked ? fmt::format("{:.0f} devices do not hold it either", kLargestGroup)
                                          : std::string("it has no link to others of its kind");
        result_.estimate.status = Status::does_not_fit;
        result_.estimate.reason =
            fmt::format("needs {}{}, the device has {}; {}", gigabytes(need.bytes),
                        g_.devices > 1 ? " on each device" : "", gigabytes(g_.memory_capacity_bytes), more);
        return false;
    }

    bool failed(const Estimate& e) {
        if (e.status == Status::ok || (e.status == Status::incomplete && e.latency_s > 0))
            return false;
        result_.estimate.status = e.status;
        result_.estimate.reason = e.reason;
        result_.estimate.findings = e.findings;
        return true;
    }

    bool price(const RunOptions& options) {
        Sum first, steps;
        for (std::size_t part = 0; part < runner_.model().before().size(); ++part) {
            const Estimate e = runner_.price(*runner_.work(*runner_.model().bound_before(part, q_.batch)));
            if (failed(e))
                return false;
            first.add(e, runner_.model().before()[part].repeat);
        }
        const std::int64_t compiled = std::max(q_.context, prompt_ + q_.generate_tokens);
        const bool prompt_only = q_.generate_tokens <= 1;
        const Estimate prompt =
            runner_.prefill(q_.batch, prompt_, compiled, prompt_only && options.keep_subgraphs);
        if (failed(prompt))
            return false;
        first.add(prompt, 1);
        Estimate middle = prompt;
        if (prompt_only) {
            show_pass(*runner_.prompt_pass(q_.batch, prompt_, compiled));
        } else {
            const auto points = context_points(prompt_, prompt_ + q_.generate_tokens - 2);
            for (std::size_t i = 0; i < points.size(); ++i) {
                const auto [context, weight] = points[i];
                const bool central = i == points.size() / 2;
                Estimate e = runner_.decode(q_.batch, context, compiled, central && options.keep_subgraphs);
                if (failed(e))
                    return false;
                steps.add(e, weight);
                g_.steps.push_back({static_cast<double>(context), e.latency_s, e.energy.total()});
                if (central) {
                    middle = std::move(e);
                    show_pass(*runner_.model().bound(q_.batch, 1, runner_.context_read(context, compiled)));
                }
            }
        }
        describe_phases(first, steps);
        describe_answer(first, steps, std::move(middle));
        return true;
    }

    /// The pass whose subgraphs the result lists.
    void show_pass(const BoundModel& bound) {
        result_.partition = runner_.partition(bound);
        result_.work = runner_.work(bound);
        result_.model = bound.facts();
    }

    void describe_phases(const Sum& first, const Sum& steps) {
        g_.time_to_first_token_s = first.latency;
        g_.time_to_first_token_interval = {first.low, first.high};
        g_.energy_first_token_j = first.energy.total();
        if (steps.latency <= 0)
            return;
        g_.time_per_output_token_s = steps.latency;
        g_.time_per_output_token_interval = {steps.low, steps.high};
        g_.tokens_per_s_stream = 1 / steps.latency;
        g_.tokens_per_s_total = g_.batch / steps.latency;
        g_.tokens_per_s_total_interval = {g_.batch / steps.high, g_.batch / steps.low};
        g_.energy_per_token_j = steps.energy.total() / g_.batch;
        g_.energy_per_token_interval = {steps.energy_low / g_.batch, steps.energy_high / g_.batch};
    }

    /// The whole answer: the prompt, then all steps but the one that the prompt's pass already gave.
    void describe_answer(const Sum& first, const Sum& steps, Estimate middle) {
        Sum all = first;
        const double count = g_.generate_tokens > 1 ? g_.generate_tokens - 1 : 0;
        all.latency += count * steps.latency;
        all.low += count * steps.low;
        all.high += count * steps.high;
        all.energy_low += count * steps.energy_low;
        all.energy_high += count * steps.energy_high;
        for (std::size_t i = 0; i < kEventCount; ++i)
            all.energy.joules[i] += count * steps.energy.joules[i];
        all.energy.static_joules += count * steps.energy.static_joules;
        EventCounts stepped = steps.events;
        all.events += stepped.scale(count);
        all.useful += count * steps.useful;
        all.network += count * steps.network;
        if (count > 0) {
            all.peak_power = std::max(all.peak_power, steps.peak_power);
            all.workspace = std::max(all.workspace, steps.workspace);
            all.lowest = std::min(all.lowest, steps.lowest);
            all.highest = std::max(all.highest, steps.highest);
            all.limited = all.limited || steps.limited;
        }
        Estimate e = std::move(middle);
        e.memory = result_.estimate.memory;
        e.memory.workspace_bytes = all.workspace;
        e.memory.peak_bytes += all.workspace;
        e.precision_note = result_.estimate.precision_note;
        e.batch = g_.batch;
        e.latency_s = all.latency;
        e.latency_interval = {all.low, all.high};
        e.throughput_per_s = g_.batch / all.latency;
        e.throughput_interval = {g_.batch / all.high, g_.batch / all.low};
        e.energy = all.energy;
        e.events = all.events;
        e.energy_per_inference_j = all.energy.total() / g_.batch;
        e.energy_interval = {all.energy_low / g_.batch, all.energy_high / g_.batch};
        e.power_w = all.energy.total() / all.latency;
        e.peak_power_w = std::max(e.power_w, all.peak_power); // NaN stays
        e.power_limited = all.limited;
        e.utilization = all.useful / all.latency;
        e.utilization_min = std::min(all.lowest, all.highest);
        e.utilization_max = all.highest;
        e.network_s = all.network;
        result_.estimate = std::move(e);
    }

    void add_serving(const RunOptions& options) {
        if (options.scenario != Scenario::throughput || q_.generate_tokens < 1)
            return;
        Estimate step;
        GenerationRequest q = q_;
        q.prompt_tokens = prompt_;
        g_.serving = serve_saturated(runner_, q, step);
        Estimate& e = result_.estimate;
        if (step.status != Status::ok) {
            e.status = step.status;
            e.reason = step.reason;
            return;
        }
        const double per_answer = std::max(1.0, g_.generate_tokens);
        e.throughput_per_s = g_.serving.tokens_per_s / per_answer;
        e.throughput_interval = {g_.serving.tokens_interval.low / per_answer,
                                 g_.serving.tokens_interval.high / per_answer};
        e.power_w = step.power_w;
        e.power_limited = e.power_limited || step.power_limited;
    }

    StepRunner runner_;
    const GenerationRequest& q_;
    Result& result_;
    const std::int64_t prompt_;
    GenerationEstimate g_;
};

} // namespace

Result run_generation(const Session& session, const GenerationModel& model, std::string_view hardware,
                      const RunOptions& options, const GenerationRequest& request) {
    Result result;
    try {
        result.model =
            model.bound(request.batch, request.prompt_tokens + model.inserted_tokens(), 0)->facts();
        if (auto runner = make_runner(session, model, hardware, options, request.kv_cache, result))
            AnswerBuilder(std::move(*runner), request, result).run(options);
    } catch (const Error& problem) {
        result.estimate.status = Status::unsupported;
        result.estimate.reason = problem.what();
    }
    return result;
}

namespace {

/// Mean context of the steps of a published decode measurement.
std::int64_t mean_context(const GenerationRequest& q) {
    return q.prompt_tokens + q.generate_tokens / 2;
}

void price_phase(const StepRunner& runner, GenerationPhase phase, const GenerationRequest& q,
                 PhaseEstimate& out) {
    const auto batch = static_cast<double>(q.batch), prompt = static_cast<double>(q.prompt_tokens),
               generated = static_cast<double>(q.generate_tokens);
    const std::int64_t compiled = std::max(q.context, q.prompt_tokens + q.generate_tokens);
    switch (phase) {
    case GenerationPhase::prefill:
        out.step = runner.prefill(q.batch, q.prompt_tokens, compiled, true);
        out.latency_s = out.step.latency_s;
        out.tokens_per_s = batch * prompt / out.latency_s;
        return;
    case GenerationPhase::decode:
        out.step = runner.decode(q.batch, mean_context(q), compiled, true);
        out.latency_s = out.step.latency_s;
        out.tokens_per_s = batch / out.latency_s;
        return;
    case GenerationPhase::generate: {
        const Estimate first = runner.prefill(q.batch, q.prompt_tokens, compiled);
        out.step = runner.decode(q.batch, mean_context(q), compiled, true);
        out.latency_s = first.latency_s + (generated - 1) * out.step.latency_s;
        out.tokens_per_s = batch * generated / out.latency_s;
        if (first.status != Status::ok)
            out.step = first;
        return;
    }
    case GenerationPhase::saturated: {
        const SaturatedServing serving = serve_saturated(runner, q, out.step);
        out.latency_s = serving.step_s;
        out.tokens_per_s = serving.tokens_per_s;
        return;
    }
    }
}

} // namespace

PhaseEstimate estimate_generation(const Session& session, const GenerationModel& model,
                                  std::string_view hardware, const RunOptions& options, GenerationPhase phase,
                                  const GenerationRequest& request) {
    PhaseEstimate out;
    Result result;
    auto runner = make_runner(session, model, hardware, options, request.kv_cache, result);
    if (!runner) {
        out.status = result.estimate.status;
        out.reason = result.estimate.reason;
        return out;
    }
    try {
        runner->use_chips(std::max(1.0, options.chips));
        price_phase(*runner, phase, request, out);
        out.status = out.step.status;
        out.reason = out.step.reason;
    } catch (const Error& problem) {
        out.status = Status::unsupported;
        out.reason = problem.what();
    }
    return out;
}

} // namespace archsim
