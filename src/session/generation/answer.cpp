// A prompt and its answer: the passes that are priced, and the whole that they add up to.

#include "archsim/serving/simulation.hpp"
#include "core/data_dir.hpp"
#include "estimate/algebra.hpp"
#include "estimate/intervals.hpp"
#include "estimate/memory_pools.hpp"
#include "map/sharding.hpp"
#include "result/memory_fit.hpp"
#include "session/generation/language_model.hpp"
#include "session/generation/offload.hpp"
#include "session/generation/step.hpp"
#include "session/graph_run.hpp"
#include "session/server/server.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

/// Largest group of devices that is tried; links of the database's devices do not reach further at full rate.
constexpr double kLargestGroup = 64;

/// Passes that add up to a phase.
class Phase {
  public:
    void add(Estimate pass, double times) {
        passes_.push_back(std::move(pass));
        times_.push_back(times);
    }
    /// Each pass waits for the one before: a token decides the next.
    Estimate total() const {
        std::vector<Stage> stages;
        for (std::size_t i = 0; i < passes_.size(); ++i)
            stages.push_back({&passes_[i], times_[i], 0});
        return one_at_a_time(in_sequence(stages));
    }

  private:
    std::vector<Estimate> passes_;
    std::vector<double> times_;
};

class AnswerBuilder {
  public:
    AnswerBuilder(const Session& session, StepRunner runner, std::int64_t batch, const Prompt& prompt,
                  Result& result)
        : session_(session), runner_(std::move(runner)), way_(prompt.parallel.value_or(Parallelism{})),
          whole_batch_(batch), batch_(part_of(batch, way_)), q_(prompt), result_(result),
          stack_(server_memory(runner_.machine(), 0, data_table("servers.json"))),
          prompt_(prompt.tokens + runner_.model().inserted_tokens()) {}

    void run() {
        const Conditions& conditions = result_.conditions;
        g_.prompt_tokens = static_cast<double>(prompt_);
        g_.generate_tokens = static_cast<double>(q_.generate);
        g_.batch = static_cast<double>(whole_batch_);
        g_.memory_capacity_bytes = runner_.machine().memory_capacity_bytes;
        if (q_.parallel) {
            g_.devices = static_cast<double>(way_.devices());
            runner_.share(static_cast<double>(way_.tensor),
                          way_.experts > 1 ? static_cast<double>(way_.experts) : 0);
        } else {
            g_.devices_needed = smallest_count();
            g_.devices = conditions.devices > 0 ? conditions.devices : std::max(1.0, g_.devices_needed);
            use_devices(g_.devices);
        }
        result_.machine = runner_.shared_machine();
        const StepRunner within_memory = runner_;
        if (can_share() && fits() && price())
            add_serving(within_memory);
        g_.memory_bytes = result_.estimate.memory.peak_bytes;
        result_.generation = std::make_shared<const GenerationEstimate>(std::move(g_));
    }

  private:
    /// Sequences of one group of devices that have them together.
    static std::int64_t part_of(std::int64_t batch, const Parallelism& way) {
        const std::int64_t parts = way.data * way.groups();
        return (batch + parts - 1) / parts;
    }

    /// From here on so many devices share the model as the stack divides it.
    void use_devices(double devices) {
        way_ = shared_by(stack_, static_cast<std::int64_t>(devices));
        runner_.use_devices(static_cast<double>(way_.tensor));
    }

    /// Whether the model can be shared as asked; says why not.
    bool can_share() {
        const auto together = static_cast<double>(way_.tensor);
        std::string missing =
            !runner_.starts_on(together) ? runner_.unstarted(together)
            : batch_ * way_.data * way_.groups() != whole_batch_
                ? "the batch is no multiple of the groups of devices that have parts of it"
            : way_.experts > 1 && !has_experts(runner_.model().bound(batch_, 1, prompt_)->graph())
                ? "the model has no experts that ep could spread"
            : way_.engine_devices() > 1 && runner_.machine().rate(Resource::link_bytes) <= 0
                ? "has no interconnect in the database; several devices are not estimated"
            : way_.pipeline > 1 && hidden() <= 0
                ? "the model does not say the width that crosses between pipeline stages"
            : way_.devices() > way_.tensor && result_.conditions.scenario == Scenario::throughput
                ? "serving with stages, copies or groups is what serve_model answers"
                : "";
        if (missing.empty())
            return true;
        result_.estimate.status = Status::unsupported;
        result_.estimate.reason = std::move(missing);
        return false;
    }

    double hidden() const {
        const auto bound = runner_.model().bound(batch_, 1, prompt_);
        const auto& lm = bound->model().info.language_model;
        return lm ? static_cast<double>(lm->hidden) : 0;
    }

    /// A pass of one group's stage -> of all devices: the other stages wait, between stages the activations
    /// of `rows` tokens cross the link.
    Estimate on_all(Estimate e, double rows) const {
        if (e.status != Status::ok)
            return e;
        if (way_.pipeline > 1) {
            const auto stages = static_cast<double>(way_.pipeline),
                       stage_devices = static_cast<double>(way_.stage_devices());
            const double idle = runner_.machine().static_power_w * stage_devices * (stages - 1);
            e = beside_waiting(std::move(e), idle);
            e = lengthened(std::move(e), stage_hops(runner_.machine(), way_, rows, hidden()),
                           runner_.machine().static_power_w * stage_devices * stages);
        }
        return in_copies(with_batches(std::move(e), static_cast<double>(way_.groups())),
                         static_cast<double>(way_.data));
    }

    /// Tokens of the prompt whose activations lie in memory at once: a server that fills its memory with
    /// caches (Parameter::cache_memory_share) reads a longer prompt in steps.
    std::int64_t prompt_piece() const {
        const bool server = runner_.machine().parameters.fact(Parameter::cache_memory_share).known();
        return server ? std::min(prompt_, EngineLimits{}.step_tokens) : prompt_;
    }

    /// Memory of one chip: every part's weights at once, the cache as it is at the last token. Stacks set the
    /// cache aside before the prompt runs.
    MemoryEstimate memory_need() const { return memory_need(batch_); }

    /// The same of that many sequences.
    MemoryEstimate memory_need(std::int64_t batch) const {
        const std::int64_t end = std::max(prompt_ + q_.generate, q_.context);
        MemoryEstimate need;
        const auto hold = [&](const NetworkWork& work, double shared) {
            hold_together(need, planned_memory(work, runner_.machine()), shared);
        };
        for (std::size_t part = 0; part < runner_.model().before().size(); ++part)
            hold(*runner_.work(runner_.model().bound_before(part, batch)), 0);
        const std::int64_t piece = prompt_piece();
        const auto first = runner_.work(batch, piece, prompt_ - piece);
        const auto last = runner_.work(batch, 1, std::max<std::int64_t>(end - 1, 0));
        hold(*first, 0);
        hold(*last, held_weights(*first, runner_.machine()));
        // Stages hold their own layers and caches; activations are in one of them at a time.
        const auto stages = static_cast<double>(way_.pipeline);
        need.peak_bytes -= (need.weight_bytes + need.kv_cache_bytes) * (1 - 1 / stages);
        need.weight_bytes /= stages;
        need.kv_cache_bytes /= stages;
        return need;
    }

    /// Sequences of the batch that fit at once: doubling the batch never needs less.
    std::int64_t most_sequences() const {
        std::int64_t fit = 0, over = batch_;
        while (over - fit > 1) {
            const std::int64_t half = fit + (over - fit) / 2;
            const MemoryEstimate need = memory_need(half);
            (memory_pools(need, runner_.machine()).fits() ? fit : over) = half;
        }
        return fit;
    }

    /// Tokens of the longest prompt that fits before such an answer, in steps of 1,024; 0: none does.
    std::int64_t longest_prompt() {
        constexpr std::int64_t kStep = 1024;
        const std::int64_t asked = prompt_;
        std::int64_t fit = 0, over = (asked + kStep - 1) / kStep;
        while (over - fit > 1) {
            const std::int64_t half = fit + (over - fit) / 2;
            prompt_ = half * kStep;
            const Estimate pass = runner_.prefill(batch_, prompt_, prompt_ + q_.generate);
            MemoryEstimate need = memory_need();
            need.workspace_bytes = pass.memory.workspace_bytes;
            need.peak_bytes += need.workspace_bytes;
            const bool held = pass.status == Status::ok && memory_pools(need, runner_.machine()).fits();
            (held ? fit : over) = half;
        }
        prompt_ = asked;
        return fit * kStep;
    }

    double smallest_count() {
        // The weights and cache that one device would hold; of several none holds less than its share.
        double least = 0;
        for (double devices = 1; devices <= kLargestGroup; devices *= 2) {
            while (devices < kLargestGroup && !runner_.starts_on(devices))
                ++devices;
            use_devices(devices);
            if (least <= devices * g_.memory_capacity_bytes) {
                const MemoryEstimate need = memory_need();
                if (memory_pools(need, runner_.machine()).fits())
                    return devices;
                if (devices <= 1)
                    least = need.weight_bytes + need.kv_cache_bytes;
            }
            if (runner_.machine().rate(Resource::link_bytes) <= 0)
                break;
        }
        return 0;
    }

    bool fits() {
        Estimate& e = result_.estimate;
        e.memory = memory_need();
        g_.weight_bytes = e.memory.weight_bytes * g_.devices;
        g_.kv_cache_bytes = e.memory.kv_cache_bytes * g_.devices;
        return holds(e.memory);
    }

    bool holds(const MemoryEstimate& need) {
        if (memory_pools(need, runner_.machine()).fits())
            return true;
        const bool linked = runner_.machine().rate(Resource::link_bytes) > 0;
        const std::string more =
            q_.parallel                      ? std::string("share it over more devices")
            : g_.devices_needed > g_.devices ? fmt::format("{:.0f} devices hold it", g_.devices_needed)
            : g_.devices_needed > 0          ? std::string("the workspace of its kernels takes the rest")
            : linked ? fmt::format("{:.0f} devices do not hold it either", kLargestGroup)
                     : std::string("it has no link to others of its kind");
        g_.offload = offload_choices(session_, runner_, batch_, prompt_,
                                     std::max(prompt_ + q_.generate / 2, std::int64_t{1}), need);
        const std::string kept = in_words(g_.offload);
        const std::int64_t fit = whole_batch_ == batch_ ? most_sequences() : 0;
        const std::int64_t tokens = batch_ == 1 ? longest_prompt() : 0;
        result_.estimate.status = Status::does_not_fit;
        result_.estimate.reason =
            fmt::format("needs {}{}, {}; {}{}{}", gigabytes_text(need.peak_bytes),
                        g_.devices > 1 ? " on each device" : "", room(need.capacity_bytes),
                        fit > 0      ? fmt::format("{} of the {} sequences fit; ", fit, batch_)
                        : tokens > 0 ? fmt::format("a prompt of {} tokens fits; ", tokens)
                                     : std::string(),
                        more, kept.empty() ? "" : "; " + kept);
        return false;
    }

    /// The memory that there is, and who has or gives it.
    std::string room(double bytes) const {
        const Machine& machine = runner_.machine();
        if (const double limit = machine.param(Parameter::memory_limit, 0); limit > 0 && bytes >= limit)
            return fmt::format("{} gives one network {} at most", machine.runtime->name,
                               gigabytes_text(limit));
        return fmt::format("{} has {}",
                           machine.in_host_memory() ? "its host " + machine.host->id : "the device",
                           gigabytes_text(bytes));
    }

    bool failed(const Estimate& e) {
        if (e.status == Status::ok || (e.status == Status::incomplete && e.latency_s > 0))
            return false;
        result_.estimate.status = e.status;
        result_.estimate.reason = e.reason;
        result_.estimate.findings = e.findings;
        return true;
    }

    bool price() {
        const bool keep = result_.conditions.keep_subgraphs;
        // A pass is that of all stages, of which a device holds one, and of all steps over a prompt.
        if (way_.pipeline > 1 || prompt_piece() < prompt_)
            runner_.ignore_capacity();
        Phase prompt;
        for (std::size_t part = 0; part < runner_.model().before().size(); ++part) {
            Estimate e = runner_.price(*runner_.work(runner_.model().bound_before(part, batch_)));
            if (failed(e))
                return false;
            add_intervals(runner_.machine(), SpreadOf::latency, e);
            prompt.add(std::move(e), runner_.model().before()[part].repeat);
        }
        const std::int64_t compiled = std::max(q_.context, prompt_ + q_.generate);
        const bool prompt_only = q_.generate <= 1;
        const auto sequences = static_cast<double>(batch_);
        Estimate shown = on_all(runner_.prefill(batch_, prompt_, compiled, prompt_only && keep),
                                sequences * static_cast<double>(prompt_));
        if (failed(shown))
            return false;
        prompt.add(shown, 1);
        const Estimate first = prompt.total();
        describe_prompt(first);
        if (prompt_only) {
            show_pass(runner_.prompt_pass(batch_, prompt_, compiled));
            return take_answer(first, shown);
        }
        Phase steps;
        const auto points = context_points(prompt_, prompt_ + q_.generate - 2);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const auto [context, weight] = points[i];
            const bool central = i == points.size() / 2;
            Estimate e =
                on_all(runner_.with_sampling(runner_.decode(batch_, context, compiled, central && keep),
                                             sequences, q_.sampled),
                       sequences);
            if (failed(e))
                return false;
            g_.steps.push_back({static_cast<double>(context), e.latency_s, e.energy.total()});
            if (central) {
                shown = e;
                show_pass(runner_.model().bound(batch_, 1, runner_.context_read(context, compiled)));
            }
            steps.add(std::move(e), weight);
        }
        const Estimate step = steps.total();
        describe_step(step);
        // The prompt's pass gives the first token.
        Phase answer;
        answer.add(first, 1);
        answer.add(step, g_.generate_tokens - 1);
        return take_answer(answer.total(), shown);
    }

    /// The pass whose subgraphs the result lists.
    void show_pass(const std::shared_ptr<const BoundModel>& bound) {
        result_.partition = runner_.partition(*bound);
        result_.work = runner_.work(bound);
        result_.model = bound->facts();
    }

    void describe_prompt(const Estimate& first) {
        g_.time_to_first_token_s = first.latency_s;
        g_.time_to_first_token_interval = first.latency_interval;
        g_.energy_first_token_j = first.energy.total();
    }

    void describe_step(const Estimate& step) {
        g_.time_per_output_token_s = step.latency_s;
        g_.time_per_output_token_interval = step.latency_interval;
        g_.tokens_per_s_stream = 1 / step.latency_s;
        g_.tokens_per_s_total = step.throughput_per_s;
        g_.tokens_per_s_total_interval = step.throughput_interval;
        g_.energy_per_token_j = step.energy.total() / step.batch;
        g_.energy_per_token_interval = step.energy_interval;
    }

    /// The whole answer, with the subgraphs of the pass that is shown.
    bool take_answer(Estimate e, Estimate shown) {
        const Estimate before = std::move(result_.estimate);
        const double workspace = e.memory.workspace_bytes;
        e.memory = before.memory;
        e.memory.workspace_bytes = workspace;
        e.memory.peak_bytes += workspace;
        e.precision_note = before.precision_note;
        e.findings = std::move(shown.findings);
        e.pieces = shown.pieces;
        e.clock_ratio = shown.clock_ratio;
        e.network = std::move(shown.network);
        e.network_s = shown.network_s;
        e.weights_wait_s = shown.weights_wait_s;
        e.compute_bound = shown.compute_bound;
        e.memory_bound = shown.memory_bound;
        e.overhead_bound = shown.overhead_bound;
        take_evidence(shown, e); // answers are ranked by the pass that is shown
        e.subgraphs = std::move(shown.subgraphs);
        result_.estimate = std::move(e);
        return holds(result_.estimate.memory);
    }

    /// Throughput, energy and power of a server that always has requests waiting; the latency stays that of a
    /// batch that has the devices for itself. A server that gains nothing by more sequences at once, or has
    /// no room for them, answers one batch after another.
    void add_serving(const StepRunner& runner) {
        if (result_.conditions.scenario != Scenario::throughput || q_.generate < 1)
            return;
        Estimate step;
        Prompt q = q_;
        q.tokens = prompt_;
        g_.serving = serve_saturated(runner, q, step);
        Estimate& e = result_.estimate;
        if (step.status != Status::ok && step.status != Status::does_not_fit) {
            e.status = step.status;
            e.reason = step.reason;
            return;
        }
        const double steps_per_answer = std::max(1.0, g_.generate_tokens);
        if (step.status == Status::ok) {
            const Estimate busy = repeated(one_at_a_time(std::move(step)), steps_per_answer);
            if (busy.throughput_per_s >= e.throughput_per_s) {
                e = kept_busy(std::move(e), busy);
                return;
            }
        }
        g_.serving.sequences = e.batch;
        g_.serving.step_s = e.latency_s / steps_per_answer;
        g_.serving.tokens_per_s = e.throughput_per_s * steps_per_answer;
        g_.serving.tokens_interval = {e.throughput_interval.low * steps_per_answer,
                                      e.throughput_interval.high * steps_per_answer};
        g_.serving.energy_per_token_j = e.energy_per_inference_j / steps_per_answer;
    }

    const Session& session_;
    StepRunner runner_;
    Parallelism way_;
    const std::int64_t whole_batch_, batch_; ///< of all devices, and of one group
    const Prompt& q_;
    Result& result_;
    const ServerMemory stack_; ///< how it divides a model among devices
    std::int64_t prompt_;
    GenerationEstimate g_;
};

PreparedPrompt::PreparedPrompt(std::shared_ptr<const GenerationModel> model, std::int64_t batch,
                               const Prompt& prompt)
    : model_(std::move(model)), batch_(batch), prompt_(prompt) {}

std::shared_ptr<const ModelFacts> PreparedPrompt::facts() const {
    return model_->bound(batch_, prompt_.tokens + model_->inserted_tokens(), 0)->facts();
}

Result PreparedPrompt::on(const Session& session, std::string_view device,
                          const Conditions& conditions) const {
    Result result{.hardware = std::string(device), .conditions = conditions};
    try {
        result.model = facts();
        if (auto runner = make_runner(session, *model_, result))
            AnswerBuilder(session, std::move(*runner), batch_, prompt_, result).run();
    } catch (const Error& problem) {
        result.estimate.status = Status::unsupported;
        result.estimate.reason = problem.what();
    }
    if (const auto idle = with_idle_units(conditions))
        return faster_with_idle_units(std::move(result), on(session, device, *idle));
    return result;
}

} // namespace archsim
