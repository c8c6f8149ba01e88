#include "session/server/server.hpp"

#include "archsim/core/finding.hpp"
#include "core/spending.hpp"
#include "hardware/uncertainty.hpp"
#include "result/cost_terms.hpp"
#include "session/generation/phases.hpp"
#include "session/given.hpp"
#include "session/other_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace archsim {

Server::Server(const Session& session, const Model& model, std::string_view named, const Conditions& asked,
               const ServingRequest& request)
    : request_(request) {
    const auto [device, conditions] = of_one_device(session.hardware(), named, asked);
    if (conditions.devices != asked.devices && request.parallelism &&
        static_cast<double>(request.parallelism->devices()) != conditions.devices)
        throw UsageError(fmt::format("\"{}\" says another number of devices than {}; give one of them", named,
                                     to_string(*request.parallelism)));
    result_.model = model.name();
    result_.hardware = device;
    result_.pue = pue_of(*session.hardware().device(device).device, request.pue);
    result_.grid_intensity = request.grid_intensity;
    engine_ =
        make_engine(session, model, device, conditions, request, lengths_of(make_requests(request.load)));
    if (!engine_.model->before().empty() || engine_.model->inserted_tokens() > 0)
        result_.notes.emplace_back("prompts are text: parts that run before the language model are left out");
    result_.runtime = engine_.runtime;
    result_.precision = engine_.precision;
    result_.parallelism = engine_.parallelism;
    result_.cache_room_bytes = engine_.cache_room_bytes;
    result_.cache_bytes_per_token = engine_.cache_bytes_per_token;
    result_.fixed_cache_bytes_per_sequence = engine_.fixed_cache_bytes_per_sequence;
    result_.longest_batch = engine_.longest_batch;
    result_.reason = engine_.reason;
    if (ready() && request_.prompt_parallelism)
        make_prompt_engine(session, model, device, conditions);
    if (!ready())
        return;
    fill_plan(result_.parallelism, *engine_.device);
    note_conditions();
}

/// Which holds the caches of prompts alone; what `device` has by default it has of its own.
void Server::make_prompt_engine(const Session& session, const Model& model, std::string_view device,
                                const Conditions& conditions) {
    ServingRequest own = request_;
    own.parallelism = request_.prompt_parallelism;
    RequestLengths lengths = lengths_of(make_requests(own.load));
    lengths.output = 1;
    const std::string_view prompts =
        own.prompt_hardware.empty() ? device : std::string_view(own.prompt_hardware);
    prompt_engine_ = make_engine(session, model, prompts, conditions, own, lengths);
    if (!prompt_engine_->prices)
        result_.reason = fmt::format("engines for prompts on {}: {}", prompts, prompt_engine_->reason);
}

void Server::use_engines(std::int64_t engines) {
    result_.parallelism.data = engines;
    if (request_.parallelism)
        request_.parallelism->data = engines;
    capacity_ = -1;
    if (ready())
        fill_plan(result_.parallelism, *prices().machine().device);
}

ServingResult Server::run(double rate_per_s, bool with_capacity) {
    ServingResult out = result_;
    if (!ready())
        return out;
    RequestPlan load = request_.load;
    load.rate_per_s = rate_per_s;
    out.rate_per_s = plan_.concurrency > 0 ? 0 : rate_per_s;
    out.in_flight = plan_.concurrency;
    std::vector<ServedRequest> requests = make_requests(load);
    try {
        if (with_capacity) {
            if (capacity_ < 0)
                capacity_ = serving_capacity(plan_, prices(), requests, prompt_prices());
            out.capacity_per_s = capacity_;
            out.overloaded = plan_.concurrency == 0 && rate_per_s > 0 && rate_per_s > capacity_;
        }
        Spending spending(engine_.model->bound(1, 1, 1)->model().budget, "the simulation of a server");
        ServingPlan plan = plan_;
        plan.goes_on = [&](std::size_t index, const ServedRequest& r) {
            spending.step(0); // however many there are, the clock decides
            return !plan_.goes_on || plan_.goes_on(index, r);
        };
        out.outcome = simulate_serving(plan, prices(), std::move(requests), prompt_prices());
    } catch (const Error& problem) {
        out.reason = problem.what();
        return out;
    }
    if (!prices().problem().empty()) {
        out.reason = prices().problem();
        return out;
    }
    if (out.outcome.refused > 0)
        out.notes.push_back(
            fmt::format("{} requests are longer than the cache and were refused", out.outcome.refused));
    if (out.outcome.preempted > 0)
        out.notes.push_back(fmt::format("the cache was full: {} times a request gave way to others, and {} "
                                        "positions were computed again",
                                        out.outcome.preempted, out.outcome.recomputed_tokens));
    out.summary = summarize(out.outcome);
    describe_step(out);
    out.ok = out.outcome.output_tokens > 0;
    if (!out.ok)
        out.reason = "no request fits into the cache";
    return out;
}

ServingResult Server::run_in_flight(std::int64_t requests) {
    // Every client's first answers are those of a start at once; later ones have spread.
    constexpr std::int64_t kPerClient = 6, kFewest = 100;
    plan_.concurrency = requests;
    request_.load.count = std::max(kFewest, kPerClient * requests);
    ServingResult out = run(0, false);
    out.in_flight = requests;
    add_bounds(out);
    return out;
}

void Server::add_bounds(ServingResult& out) {
    if (!out.ok)
        return;
    RequestPlan load = request_.load;
    load.rate_per_s = out.rate_per_s;
    out.bounds = wait_bounds(plan_, prices(), prompt_prices(), load, out.summary,
                             {out.prompt_low, out.prompt_high}, {out.step_low, out.step_high});
}

void Server::describe_step(ServingResult& out) const {
    // Widths of what clients wait for come from what clients saw, not from steps alone.
    const Machine& machine = prices().machine();
    const auto relative = [&](const Estimate& e, SpreadOf waited, double& low, double& high) {
        if (e.status != Status::ok || e.latency_s <= 0)
            return false;
        const Spread spread = spread_of(waited);
        low = spread.low;
        high = spread.high;
        return true;
    };
    const Estimate step = prices().typical_step(static_cast<std::int64_t>(out.outcome.batch));
    if (relative(step, SpreadOf::later_token, out.step_low, out.step_high))
        out.step_bound = regime_of(step);
    out.doubt = doubt_of_waits(machine, step);
    if (out.doubt.empty() && machine.uncertainty && given_waits(machine).rows == 0)
        if (const HeldEvidence steps = machine.uncertainty->held().of(*machine.device, *machine.runtime,
                                                                      TimeKind::decode, step.kind);
            !steps.refuted.empty()) {
            out.steps_refuted = steps.refuted;
            out.notes.push_back(fmt::format("single steps: {} ({})", steps.refuted, steps.refuted_rows));
        }
    const auto served = static_cast<double>(std::max<std::size_t>(1, out.outcome.requests.size()));
    const auto prompt = static_cast<std::int64_t>(static_cast<double>(out.outcome.prompt_tokens) / served);
    const EnginePrices& reading = prompt_engine_ ? *prompt_engine_->prices : prices();
    relative(reading.typical_prompt(prompt), SpreadOf::first_token, out.prompt_low, out.prompt_high);
}

void Server::fill_plan(const Parallelism& way, const Device& device) {
    const Machine& m = prices().machine();
    plan_ = engine_.plan;
    plan_.first_factor = given_waits(m).first;
    plan_.engine.cache_bytes = result_.cache_room_bytes;
    plan_.engines = way.data;
    plan_.prompt_engines = request_.prompt_devices / way.engine_devices();
    plan_.transfer_bytes_per_s = m.rate(Resource::link_bytes) * m.param(Parameter::link_efficiency, 1);
    const auto engine_devices = static_cast<double>(way.engine_devices());
    plan_.idle_watts = prices().idle_watts_each() * engine_devices;
    const auto cost = [](const Device& of, double each, std::int64_t engines) {
        const auto rented = rental(of, each, static_cast<double>(engines), Share::allowed, {});
        return rented ? rented->usd_per_hour : std::nan("");
    };
    double usd = cost(device, engine_devices, plan_.engines + (prompt_engine_ ? 0 : plan_.prompt_engines));
    if (prompt_engine_) {
        const ServingEngine& own = *prompt_engine_;
        plan_.prompt_engines = own.parallelism.data;
        plan_.prompt_engine = own.plan.engine;
        plan_.prompt_engine->cache_bytes = own.cache_room_bytes;
        plan_.transfer_bytes_per_s =
            network_between(*own.device, own.parallelism.engine_devices(), device, way.engine_devices())
                .value_or(plan_.transfer_bytes_per_s);
        const auto devices = static_cast<double>(own.parallelism.devices());
        const auto engines = static_cast<double>(plan_.engines),
                   prompts = static_cast<double>(plan_.prompt_engines);
        plan_.idle_watts =
            (engines * plan_.idle_watts + devices * own.prices->idle_watts_each()) / (engines + prompts);
        usd += cost(*own.device, static_cast<double>(own.parallelism.engine_devices()), own.parallelism.data);
    }
    if (!std::isnan(usd))
        result_.usd_per_hour = usd;
}

void Server::note_conditions() {
    const Machine& m = prices().machine();
    const GivenWaits given = given_waits(m);
    if (!engine_.precision_note.empty())
        result_.notes.push_back(engine_.precision_note);
    if (given.rows > 0)
        result_.notes.push_back(fmt::format(
            "given your {} measurement{}: {:.3g} x the estimated time per token, {:.3g} x the time to first "
            "token; the 90 % intervals are narrower for it",
            given.rows, given.rows == 1 ? "" : "s", given.later, given.later * given.first));
    if (const EngineLimits& e = engine_.plan.engine; e.drafted > 0)
        result_.notes.push_back(fmt::format(
            "{} drafted tokens a step, each at {:.1f} % of a plain step{}", e.drafted, 1e2 * e.draft_cost,
            request_.plan.engine.draft_cost < 0
                ? " (one layer and the output head, as the model's own prediction layer; --draft-cost)"
                : ""));
    if (m.param(Parameter::static_context, 0) > 0)
        result_.notes.emplace_back(
            "the stack compiles fixed shapes; continuous batching is assumed all the same");
}

} // namespace archsim
