#include "archsim/serving/simulation.hpp"

#include "archsim/core/finding.hpp"

#include "serving/event_queue.hpp"
#include "serving/serving_engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <unordered_map>

namespace archsim {

void StepPrices::price_on(StepLoad load, std::span<StepCost> costs) {
    for (StepCost& cost : costs) {
        cost = price(load);
        load.go_on(1);
    }
}

namespace {

using serving::Engine;
using serving::EngineRole;
using serving::Event;
using serving::EventKind;

class Simulation {
  public:
    Simulation(const ServingPlan& plan, StepPrices& prices, std::vector<ServedRequest> requests,
               StepPrices* prompt_prices)
        : plan_(plan), split_(plan.prompt_engines > 0) {
        out_.requests = std::move(requests);
        check();
        for (std::int64_t i = 0; i < plan.prompt_engines; ++i)
            engines_.emplace_back(plan.prompt_engine.value_or(plan.engine), EngineRole::prompts,
                                  prompt_prices ? *prompt_prices : prices, static_cast<std::uint64_t>(i));
        answers_from_ = engines_.size();
        for (std::int64_t i = 0; i < plan.engines; ++i)
            engines_.emplace_back(plan.engine, split_ ? EngineRole::answers : EngineRole::both, prices,
                                  static_cast<std::uint64_t>(plan.prompt_engines + i));
        out_.engines = static_cast<double>(engines_.size());
        fronts_.assign(engines_.size(), 0);
        heard_.assign(engines_.size(), 0);
        due_.resize(engines_.size());
        ahead_.resize(engines_.size());
        to_catch_up_.assign(engines_.size(), std::numeric_limits<double>::infinity());
    }

    /// Lets the engines begin with the first requests, as many as they hold, each of which has emitted so
    /// many tokens; those that they do not hold stay away.
    void fill(const std::vector<std::int64_t>& emitted) {
        resumed_.assign(out_.requests.size(), false);
        bool room = true;
        for (std::size_t i = 0; i < emitted.size(); ++i) {
            resumed_[i] = true;
            room = room && engines_[i % engines_.size()].resume(i, out_.requests[i], emitted[i]);
            in_system_ += room ? 1 : 0;
        }
        touched_.resize(engines_.size());
        std::iota(touched_.begin(), touched_.end(), std::size_t{0});
    }

    /// Ends the run when the last request that waits is begun.
    void stop_when_nobody_waits() { while_waiting_ = true; }

    ServingOutcome run() {
        const std::size_t first =
            plan_.concurrency > 0
                ? std::min(static_cast<std::size_t>(plan_.concurrency), out_.requests.size())
                : out_.requests.size();
        for (std::size_t i = 0; i < first; ++i) {
            if (plan_.concurrency > 0)
                out_.requests[i].arrival_s = 0;
        }
        next_ = first;
        skip_resumed();
        out_.closed = plan_.concurrency > 0;
        out_.warm_up = plan_.warm_up_of(static_cast<std::int64_t>(out_.requests.size()));
        while (!out_.given_up && (coming_ < first || !events_.empty())) {
            const Event event = take(first);
            if (event.kind != EventKind::step_end || event.order == due_[event.subject]) {
                advance(event.time);
                handle(event);
            }
            // Engines begin when everything of this instant is known; one that nothing happened to goes on
            // with its step, or has nothing to do.
            if (next_time(first) > now_)
                begin_touched();
            if (while_waiting_ && out_.last_waited_s > 0 && waiting_ == 0)
                break;
        }
        finish();
        return std::move(out_);
    }

  private:
    void check() const {
        const EngineLimits& e = plan_.engine;
        if (plan_.engines < 1 || plan_.prompt_engines < 0 || e.groups < 1 || e.sequences < 1 ||
            e.block_tokens < 1 || e.drafted < 0 || e.wait_steps < 0 || e.poll_steps < 1 ||
            plan_.request_s < 0 || plan_.prompt_token_s < 0 || plan_.answer_token_s < 0 ||
            plan_.stream_interval < 1)
            throw UsageError("a serving plan needs an engine, a sequence and a block of one token at least");
        if (!std::ranges::is_sorted(out_.requests,
                                    [](const auto& a, const auto& b) { return a.arrival_s < b.arrival_s; }))
            throw UsageError("requests are given in the order in which they arrive");
        if (e.step_tokens <= e.drafted)
            throw UsageError("a step must hold more tokens than are drafted");
        if (e.prefix_hit < 0 || e.prefix_hit > 1 || e.accepted < 0 || e.accepted > 1)
            throw UsageError("prefix hits and accepted drafts are parts of one");
    }

    /// Arrivals that are known from the start come from the list of requests: a heap of a thousand costs more
    /// than all that an engine does in a step. At one time they are before what they cause.
    Event take(std::size_t known) {
        if (coming_ < known && out_.requests[coming_].arrival_s <= events_.next_time()) {
            const std::size_t request = coming_++;
            skip_resumed();
            return {out_.requests[request].arrival_s, 0, EventKind::arrival, request};
        }
        return events_.take();
    }

    void skip_resumed() {
        while (coming_ < resumed_.size() && resumed_[coming_])
            ++coming_;
    }

    double next_time(std::size_t known) const {
        const double none = std::numeric_limits<double>::infinity();
        return std::min(coming_ < known ? out_.requests[coming_].arrival_s : none, events_.next_time());
    }

    void add(double time, EventKind kind, std::size_t subject) {
        events_.add({time, order_++, kind, subject});
    }

    void advance(double time) {
        const double span = time - now_;
        out_.in_system_s += span * static_cast<double>(in_system_);
        out_.waiting_s += span * static_cast<double>(waiting_);
        now_ = time;
    }

    void handle(const Event& event) {
        switch (event.kind) {
        case EventKind::arrival:
            ++in_system_;
            add(prepare(out_.requests[event.subject]), EventKind::prepared, event.subject);
            return;
        case EventKind::prepared:
            place(event.subject, 0, split_ ? answers_from_ : engines_.size());
            return;
        case EventKind::transferred:
            place(event.subject, answers_from_, engines_.size());
            return;
        case EventKind::step_end:
            end(event.subject);
            return;
        case EventKind::told:
            conclude(event.subject);
            return;
        }
    }

    /// When a request that arrives now is handed to an engine, by the first process that is free for it.
    double prepare(const ServedRequest& request) {
        const double takes = plan_.before_engine_s(static_cast<double>(request.prompt_tokens));
        if (plan_.side_by_side)
            return now_ + takes;
        for (std::size_t i = 0; passes_on() && i < engines_.size(); ++i) {
            if (to_catch_up_[i] < now_)
                catch_up(i, now_);
            else
                pass_on(i, 0);
        }
        double& free_s = *std::ranges::min_element(fronts_);
        return free_s = std::max(now_, free_s) + takes;
    }

    /// To the engine of [first, last) with the fewest tokens ahead.
    void place(std::size_t request, std::size_t first, std::size_t last) {
        ServedRequest& r = out_.requests[request];
        std::size_t best = first;
        for (std::size_t i = first; i < last; ++i) {
            if (ahead_[i].until_s <= now_)
                ahead_[i] = engines_[i].work_ahead(now_);
            if (ahead_[i].tokens < ahead_[best].tokens)
                best = i;
        }
        Engine& engine = engines_[best];
        if (!engine.can_ever_hold(r)) {
            r.refused = true;
            ++out_.refused;
            leave();
            return;
        }
        catch_up(best, now_);
        if (const auto ends = engine.cut_run())
            due(best, *ends);
        engine.enqueue(request, r, now_);
        changed(best);
        ++waiting_;
        touched_.push_back(best);
    }

    /// What was known of an engine is to be asked again.
    void changed(std::size_t index) {
        ahead_[index].until_s = 0;
        to_catch_up_[index] = engines_[index].next_to_catch_up();
    }

    void leave() {
        --in_system_;
        if (plan_.concurrency > 0 && next_ < out_.requests.size()) {
            out_.requests[next_].arrival_s = now_;
            add(now_, EventKind::arrival, next_++);
        }
    }

    void begin_touched() {
        std::ranges::sort(touched_);
        touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
        for (const std::size_t engine : touched_)
            begin(engine);
        std::erase_if(touched_, [&](std::size_t engine) {
            return engines_[engine].stepping() ||
                   engines_[engine].waiting() + engines_[engine].running() == 0;
        });
    }

    void begin(std::size_t index) {
        Engine& engine = engines_[index];
        StepCost cost;
        const std::size_t waiting = engine.waiting();
        if (engine.stepping() || !engine.begin_step(now_, out_.requests, cost))
            return;
        waiting_ -= waiting - engine.waiting(); // grows where somebody gave way
        if (engine.waiting() < waiting) {
            out_.last_waited_s = now_;
            out_.emitted_till_then = emitted_;
        }
        if (plan_.on_step)
            plan_.on_step(now_, engine.last_step(), cost);
        count(engine, cost);
        heard_[index] = now_;
        // Steps that nobody looks at: of several engines tokens are told when a run ends.
        const bool several = !plan_.on_step && (!while_waiting_ || engines_.size() == 1);
        due(index, engine.run_till(now_ + cost.seconds, several));
        changed(index);
    }

    void due(std::size_t index, double ends) {
        due_[index] = order_;
        add(ends, EventKind::step_end, index);
    }

    void count(const Engine& engine, const StepCost& cost) {
        ++out_.steps;
        out_.busy_s += cost.seconds;
        out_.joules += cost.joules;
        out_.prompt_busy_s += cost.prompt_seconds;
        out_.prompt_joules += cost.prompt_joules;
        wasted_ += engine.last_waste();
        if (engine.last_generating() > 0) {
            generating_ += static_cast<double>(engine.last_generating());
            ++generating_steps_;
        }
    }

    void catch_up(std::size_t index, double now) {
        Engine& engine = engines_[index];
        const std::int64_t emitted = engine.catch_up(now, [&](const StepCost& cost) { count(engine, cost); });
        changed(index);
        emitted_ += emitted;
        pass_on(index, emitted);
    }

    bool passes_on() const { return plan_.answer_token_s > 0 && !plan_.side_by_side; }

    /// The process of an engine takes over the tokens that came out since it last heard of it, one after
    /// another and after the requests that came before. Returns when the last one is on its way.
    double pass_on(std::size_t index, std::int64_t tokens) {
        if (!passes_on())
            return now_;
        const double begins_s = std::max(fronts_[index], std::exchange(heard_[index], now_));
        if (tokens > 0)
            fronts_[index] = begins_s + plan_.behind_engine_s(static_cast<double>(tokens));
        return std::max(now_, fronts_[index]);
    }

    void end(std::size_t index) {
        finished_.clear();
        touched_.push_back(index);
        catch_up(index, std::numeric_limits<double>::infinity());
        begun_.clear();
        const std::int64_t emitted = engines_[index].end_step(out_.requests, begun_, finished_);
        changed(index);
        emitted_ += emitted;
        const double told_s = pass_on(index, emitted);
        for (const std::size_t request : begun_)
            out_.requests[request].first_token_s = told_s;
        for (const std::size_t request : finished_) {
            ServedRequest& r = out_.requests[request];
            if (split_ && index < answers_from_ && r.emitted < r.output_tokens) {
                const double bytes = transfer_bytes(r);
                const double time = plan_.transfer_bytes_per_s > 0 ? bytes / plan_.transfer_bytes_per_s : 0;
                add(now_ + time, EventKind::transferred, request);
                continue;
            }
            if (told_s > now_)
                add(told_s, EventKind::told, request);
            else
                conclude(request);
        }
    }

    /// Who asked has the whole answer.
    void conclude(std::size_t request) {
        ServedRequest& r = out_.requests[request];
        r.end_s = now_;
        wait_for_first(r);
        if (plan_.goes_on && !plan_.goes_on(request, r))
            out_.given_up = true;
        out_.prompt_tokens += r.prompt_tokens;
        out_.output_tokens += r.emitted;
        leave();
    }

    /// As long as measured; the tokens behind the first one follow at the pace of the engine.
    void wait_for_first(ServedRequest& r) const {
        if (plan_.first_factor == 1 || r.first_token_s < 0)
            return;
        const double later = (plan_.first_factor - 1) * r.time_to_first();
        r.first_token_s += later;
        r.end_s += later;
    }

    double transfer_bytes(const ServedRequest& r) const { return engines_.front().handed_over_bytes(r); }

    void finish() {
        double first = std::numeric_limits<double>::infinity();
        for (const ServedRequest& r : out_.requests)
            first = std::min(first, r.arrival_s);
        out_.ended_s = now_;
        out_.duration_s = out_.requests.empty() ? 0 : std::max(0.0, now_ - first);
        out_.joules += plan_.idle_watts * std::max(0.0, out_.engines * out_.duration_s - out_.busy_s);
        for (const Engine& engine : engines_) {
            out_.cache_peak_bytes = std::max(out_.cache_peak_bytes, engine.peak_bytes());
            out_.preempted += engine.preempted();
            out_.recomputed_tokens += engine.recomputed();
        }
        if (out_.steps > 0)
            out_.cache_wasted = wasted_ / static_cast<double>(out_.steps);
        if (generating_steps_ > 0)
            out_.batch = generating_ / static_cast<double>(generating_steps_);
    }

    ServingPlan plan_;
    bool split_;
    std::vector<Engine> engines_;
    // Of each engine: of hundreds an arrival looks at these alone, not at what each holds.
    std::vector<Engine::WorkAhead> ahead_;
    std::vector<double> to_catch_up_; ///< Engine::next_to_catch_up()
    std::vector<bool> resumed_;       ///< requests that engines begin with; empty: none
    std::vector<double> fronts_;      ///< processes before the engines, one each: when they are free,
    std::vector<double> heard_;       ///< and until when they know what came out
    bool while_waiting_ = false;
    std::size_t answers_from_ = 0;
    std::size_t coming_ = 0; ///< the next request that arrives by itself
    std::size_t next_ = 0;   ///< and the next that comes when one ends
    serving::EventQueue events_;
    std::vector<std::size_t> begun_, finished_; ///< requests whose first and last tokens a step made
    std::vector<std::size_t> touched_;          ///< engines, in this instant: a request came, or a step ended
    std::size_t waiting_ = 0;                   ///< requests that no engine has begun
    std::uint64_t order_ = 0;
    std::vector<std::uint64_t>
        due_; ///< of each engine, the event that ends its run of steps, if it was not cut
    double now_ = 0, wasted_ = 0, generating_ = 0;
    std::int64_t in_system_ = 0, generating_steps_ = 0, emitted_ = 0;
    ServingOutcome out_;
};

} // namespace

ServingOutcome simulate_serving(const ServingPlan& plan, StepPrices& prices,
                                std::vector<ServedRequest> requests, StepPrices* prompt_prices) {
    return Simulation(plan, prices, std::move(requests), prompt_prices).run();
}

namespace {

/// The requests of a load again and again, all at the start. What several of them begin with alike stays
/// alike, what one of them has alone is new every time: so the prefix cache finds what it finds in a run.
class Repeated {
  public:
    explicit Repeated(const std::vector<ServedRequest>& requests) : requests_(requests) {
        for (const ServedRequest& r : requests)
            for (const std::int64_t block : names_of(r))
                ++users_[block];
        for (const ServedRequest& r : requests) {
            outputs_ += static_cast<double>(r.output_tokens);
            prompts_ += static_cast<double>(r.prompt_tokens);
            shared_ += static_cast<double>(shared_tokens(r));
        }
    }

    ServedRequest at(std::size_t i) {
        const ServedRequest& r = requests_[i % requests_.size()];
        ServedRequest again{.arrival_s = 0,
                            .prompt_tokens = r.prompt_tokens,
                            .output_tokens = r.output_tokens,
                            .prompt = r.prompt,
                            .blocks = r.blocks,
                            .block_tokens = r.block_tokens,
                            .first_block_tokens = r.first_block_tokens};
        if (again.prompt >= 0)
            again.prompt = name(again.prompt);
        for (std::int64_t& block : again.blocks)
            block = name(block);
        return again;
    }
    double prompt() const { return prompts_ / count(); }
    /// Positions of a request in the mean, without those that others have.
    double own_length(bool shares) const { return (prompts_ + outputs_ - (shares ? shared_ : 0)) / count(); }

  private:
    static std::vector<std::int64_t> names_of(const ServedRequest& r) {
        return !r.blocks.empty() || r.prompt < 0 ? r.blocks : std::vector{r.prompt};
    }
    std::int64_t shared_tokens(const ServedRequest& r) const {
        const std::vector<std::int64_t> names = names_of(r);
        std::int64_t tokens = 0;
        for (std::size_t i = 0; i < names.size() && users_.at(names[i]) > 1; ++i)
            tokens += r.blocks.empty()                     ? r.prompt_tokens
                      : i == 0 && r.first_block_tokens > 0 ? r.first_block_tokens
                                                           : r.block_tokens;
        return std::min(tokens, r.prompt_tokens);
    }
    /// Names of loads are not negative.
    std::int64_t name(std::int64_t block) {
        const auto users = users_.find(block);
        return users != users_.end() && users->second > 1 ? block : fresh_--;
    }
    double count() const { return static_cast<double>(std::max<std::size_t>(1, requests_.size())); }

    const std::vector<ServedRequest>& requests_;
    std::unordered_map<std::int64_t, std::int64_t> users_; ///< requests that have a block
    std::int64_t fresh_ = -2;
    double outputs_ = 0, prompts_ = 0, shared_ = 0;
};

/// Requests for engines that never run out of them.
struct LongRun {
    std::vector<ServedRequest> requests; ///< those that engines begin with, then those that wait
    std::vector<std::int64_t> emitted;   ///< by the former
    double count = 0, outputs = 0;       ///< of those that wait, and tokens of their answers
};

/// So many that wait, and at most so many that engines begin with.
LongRun long_run(Repeated& load, std::size_t number, std::int64_t most) {
    LongRun run;
    std::vector<ServedRequest> waiting;
    std::vector<double> ends; // of the answers, laid end to end
    for (std::size_t i = 0; i < number; ++i) {
        waiting.push_back(load.at(i));
        ends.push_back(run.outputs += static_cast<double>(waiting.back().output_tokens));
    }
    run.count = static_cast<double>(number);
    // The answers that an engine at work holds: those at evenly spread places of all that it gives, so that
    // long ones are met more often, at any stage. Multiples of the golden ratio, modulo 1, are spread evenly.
    for (std::int64_t i = 1; i <= most && number > 0; ++i) {
        const double place = std::fmod(static_cast<double>(i) * std::numbers::phi, 1.0) * run.outputs;
        const auto at = std::min<std::size_t>(
            number - 1, static_cast<std::size_t>(std::ranges::upper_bound(ends, place) - ends.begin()));
        const std::int64_t tokens = waiting[at].output_tokens;
        if (tokens < 2)
            continue;
        const double before = ends[at] - static_cast<double>(tokens);
        run.emitted.push_back(
            std::clamp<std::int64_t>(static_cast<std::int64_t>(place - before), 1, tokens - 1));
        run.requests.push_back(load.at(at));
    }
    run.requests.insert(run.requests.end(), waiting.begin(), waiting.end());
    return run;
}

} // namespace

double serving_capacity(const ServingPlan& plan, StepPrices& prices,
                        const std::vector<ServedRequest>& requests, StepPrices* prompt_prices) {
    // Pools of prompts and of answers begin empty: which of them is the slower one shows in the long run.
    const bool split = plan.prompt_engines > 0;
    const std::int64_t batches = split ? 16 : 4, fewest = 256;
    Repeated load(requests);
    // A batch is no larger than the cache holds.
    const double one = prices.cache_bytes(load.own_length(plan.engine.prefix_cache));
    const auto batch = one > 0 && plan.engine.cache_bytes > 0
                           ? std::clamp<std::int64_t>(std::llround(plan.engine.cache_bytes / one), 1,
                                                      plan.engine.all_sequences())
                           : plan.engine.all_sequences();
    const auto number = static_cast<std::size_t>(
        std::max(batches * batch, fewest) * std::max<std::int64_t>(1, plan.engines + plan.prompt_engines));
    LongRun run = long_run(load, requests.empty() ? 0 : number,
                           split ? 0 : 2 * batch * std::max<std::int64_t>(1, plan.engines));
    const double count = run.count, outputs = run.outputs;
    ServingPlan saturated = plan;
    saturated.concurrency = 0;
    saturated.request_s = saturated.prompt_token_s = saturated.answer_token_s = 0;
    saturated.on_step = nullptr;
    saturated.goes_on = nullptr;
    Simulation simulation(saturated, prices, std::move(run.requests), prompt_prices);
    if (!split) {
        simulation.fill(run.emitted);
        simulation.stop_when_nobody_waits();
    }
    const ServingOutcome out = simulation.run();
    if (out.duration_s <= 0 || outputs <= 0)
        return 0;
    const double before = plan.before_engine_s(load.prompt()) + plan.behind_engine_s(outputs / count);
    const double handed_over =
        before > 0 && !plan.side_by_side ? out.engines / before : std::numeric_limits<double>::infinity();
    // Tokens per second while somebody waited, as answers of the mean length.
    if (out.last_waited_s > 0)
        return std::min(handed_over,
                        static_cast<double>(out.emitted_till_then) / out.last_waited_s * count / outputs);
    return std::min(handed_over, count / out.duration_s);
}

} // namespace archsim
