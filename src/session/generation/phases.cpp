#include "session/generation/phases.hpp"

#include "estimate/algebra.hpp"
#include "session/generation/step.hpp"
#include "session/graph_run.hpp"
#include "session/prepared.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim {

/// Mean context of the steps of a published decode measurement.
static std::int64_t mean_context(const Prompt& q) {
    return q.tokens + q.generate / 2;
}

static void price_phase(const StepRunner& runner, GenerationPhase phase, std::int64_t batch, const Prompt& q,
                        PhaseEstimate& out) {
    const auto sequences = static_cast<double>(batch), prompt = static_cast<double>(q.tokens),
               generated = static_cast<double>(q.generate);
    const std::int64_t compiled = std::max(q.context, q.tokens + q.generate);
    switch (phase) {
    case GenerationPhase::prefill:
        out.step = runner.prefill(batch, q.tokens, compiled, true);
        out.latency_s = out.step.latency_s;
        out.tokens_per_s = sequences * prompt / out.latency_s;
        return;
    case GenerationPhase::decode:
        out.step =
            runner.with_sampling(runner.decode(batch, mean_context(q), compiled, true), sequences, q.sampled);
        out.latency_s = out.step.latency_s;
        out.tokens_per_s = sequences / out.latency_s;
        return;
    case GenerationPhase::generate: {
        const Estimate first = runner.prefill(batch, q.tokens, compiled);
        out.step =
            runner.with_sampling(runner.decode(batch, mean_context(q), compiled, true), sequences, q.sampled);
        const Stage passes[] = {{&first, 1, 0}, {&out.step, generated - 1, out.step.memory.weight_bytes}};
        out.latency_s = in_sequence(passes).latency_s;
        out.tokens_per_s = sequences * generated / out.latency_s;
        if (first.status != Status::ok)
            out.step = first;
        return;
    }
    case GenerationPhase::saturated: {
        const SaturatedServing serving = serve_saturated(runner, q, out.step, sequences);
        out.latency_s = serving.step_s;
        out.tokens_per_s = serving.tokens_per_s;
        out.energy_per_token_j = serving.energy_per_token_j;
        return;
    }
    }
}

PhaseEstimate estimate_phase(const Session& session, const GenerationModel& model, std::string_view device,
                             const Conditions& conditions, GenerationPhase phase, std::int64_t batch,
                             const Prompt& prompt, double experts) {
    PhaseEstimate out;
    Result result = asked(nullptr, device, conditions);
    auto runner = make_runner(session, model, result);
    if (!runner) {
        out.status = result.estimate.status;
        out.reason = result.estimate.reason;
        return out;
    }
    try {
        runner->share(std::max(1.0, conditions.devices), experts);
        out.machine = runner->shared_machine();
        price_phase(*runner, phase, batch, prompt, out);
        out.status = out.step.status;
        out.reason = out.step.reason;
    } catch (const Error& problem) {
        out.status = Status::unsupported;
        out.reason = problem.what();
    }
    return out;
}

std::string regime_of(const Estimate& estimate) {
    std::array<double, 3> seconds{};
    seconds[static_cast<std::size_t>(Bound::overhead)] = estimate.network_s - estimate.weights_wait_s;
    seconds[static_cast<std::size_t>(Bound::memory)] = estimate.weights_wait_s;
    for (const SubgraphEstimate& subgraph : estimate.subgraphs)
        seconds[static_cast<std::size_t>(subgraph.bound)] += subgraph.latency_s;
    const auto most = std::ranges::max_element(seconds) - seconds.begin();
    return std::string(name_of(static_cast<Bound>(most)));
}

/// One pass on the device of `answer`.
static ResultPart pass_of(const Result& answer, const StepRunner& runner, std::string name,
                          const std::shared_ptr<const BoundModel>& bound, double repeat, Estimate estimate) {
    Result pass{.model = bound->facts(),
                .device = answer.device,
                .runtime = answer.runtime,
                .machine = runner.shared_machine(),
                .partition = runner.partition(*bound),
                .work = runner.work(bound),
                .hardware = answer.hardware,
                .power_mode = answer.power_mode,
                .conditions = answer.conditions,
                .estimate = std::move(estimate)};
    return {std::move(name), repeat, std::make_shared<const Result>(std::move(pass))};
}

static void add_passes(const StepRunner& runner, std::int64_t batch, const Prompt& prompt, Result& answer) {
    const std::int64_t compiled = std::max(prompt.context, prompt.tokens + prompt.generate);
    const auto first = runner.prompt_pass(batch, prompt.tokens, compiled);
    // The same as StepRunner::prefill, chunk by chunk.
    const Estimate whole = runner.prefill(batch, prompt.tokens, compiled);
    Estimate chunk = runner.prompt_part(batch, prompt.tokens, compiled, true);
    const double chunks = std::max(1.0, std::round(whole.latency_s / chunk.latency_s));
    answer.parts.push_back(pass_of(answer, runner, "prompt", first, chunks, std::move(chunk)));
    if (prompt.generate <= 1)
        return;
    static constexpr std::array kNames = {"first step", "middle step", "last step"};
    const auto points = context_points(prompt.tokens, prompt.tokens + prompt.generate - 2);
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto [context, weight] = points[i];
        const auto bound = runner.model().bound(batch, 1, runner.context_read(context, compiled));
        answer.parts.push_back(pass_of(answer, runner, points.size() == 1 ? "step" : kNames[i], bound,
                                       weight * static_cast<double>(prompt.generate - 1),
                                       runner.decode(batch, context, compiled, true)));
    }
}

Result answer_in_passes(const Session& session, const Workload& workload, std::string_view device,
                        const Conditions& conditions) {
    Prompt prompt = *workload.prompt;
    if (prompt.parallel || conditions.scenario == Scenario::throughput)
        throw UsageError("a difference between answers is taken apart pass by pass: without --parallel, and "
                         "with --scenario latency");
    Result answer = session.estimate(workload, device, conditions);
    if (!answer.ok())
        return answer;
    const auto model = workload.model.prepared->language(workload.model, workload.sizes);
    if (!model->before().empty())
        throw UsageError("a difference between answers is taken apart pass by pass: parts that run before "
                         "the prompt are not supported");
    prompt.tokens += model->inserted_tokens();
    Result on_device{.hardware = answer.hardware, .conditions = answer.conditions};
    auto runner = make_runner(session, *model, on_device);
    if (answer.generation->devices > answer.devices())
        throw UsageError("a difference between answers is taken apart pass by pass: on one device, or on "
                         "several that share every matrix");
    runner->use_devices(answer.devices());
    add_passes(*runner, workload.batch, prompt, answer);
    return answer;
}

} // namespace archsim
