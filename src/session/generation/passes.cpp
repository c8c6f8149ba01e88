#include "session/generation/passes.hpp"

#include "estimate/algebra.hpp"
#include "session/generation/step.hpp"
#include "session/prepared.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace archsim {

namespace {

/// One pass on the device of `answer`.
ResultPart pass_of(const Result& answer, const StepRunner& runner, std::string name,
                   const std::shared_ptr<const BoundModel>& bound, double repeat, Estimate estimate) {
    Result pass;
    pass.model = bound->facts();
    pass.device = answer.device;
    pass.runtime = answer.runtime;
    pass.machine = runner.shared_machine();
    pass.hardware = answer.hardware;
    pass.power_mode = answer.power_mode;
    pass.conditions = answer.conditions;
    pass.partition = runner.partition(*bound);
    pass.work = runner.work(bound);
    pass.estimate = std::move(estimate);
    return {std::move(name), repeat, std::make_shared<const Result>(std::move(pass))};
}

void add_passes(const StepRunner& runner, std::int64_t batch, const Prompt& prompt, Result& answer) {
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

} // namespace

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
    Result on_device;
    on_device.hardware = answer.hardware;
    on_device.conditions = answer.conditions;
    auto runner = make_runner(session, *model, on_device);
    runner->use_devices(answer.devices());
    add_passes(*runner, workload.batch, prompt, answer);
    return answer;
}

} // namespace archsim
