#include "run/serving/server.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/uncertainty.hpp"
#include "archsim/run/usual_precision.hpp"
#include "map/sharding.hpp"
#include "run/serving/wait_bounds.hpp"
#include "run/session/graph_run.hpp"
#include "run/session/prepared.hpp"
#include "run/session/regime.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

namespace {

// Chips that are tried to hold a model: a node of eight, and up to eight nodes.
constexpr std::int64_t kLargestServingGroup = 64;

std::string in_gigabytes(double bytes) {
    return fmt::format("{:.1f} GB", bytes / 1e9);
}

} // namespace

Server::Lengths Server::lengths_of(const std::vector<ServedRequest>& requests) {
    Lengths l{0, 0, 1};
    for (const ServedRequest& r : requests) {
        l.prompt += static_cast<double>(r.prompt_tokens);
        l.output += static_cast<double>(r.output_tokens);
        l.longest = std::max(l.longest, r.prompt_tokens + r.output_tokens);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, requests.size()));
    l.prompt /= count;
    l.output /= count;
    return l;
}

Server::Server(const Session& session, const Model& model, std::string_view device,
               const Conditions& conditions, const ServingRequest& request)
    : request_(request) {
    if (!model.prepared)
        throw UsageError("serving needs a model that Session::load returned");
    result_.model = model.name();
    result_.hardware = device;
    model_ = model.prepared->language(model, request.sizes);
    if (!model_->before().empty() || model_->inserted_tokens() > 0)
        result_.notes.emplace_back("prompts are text: parts that run before the language model are left out");
    try {
        make(session, device, settled(conditions, {.prompt = Prompt{}}));
    } catch (const Error& problem) {
        result_.reason = problem.what();
    }
}

void Server::make(const Session& session, std::string_view device, const Conditions& conditions) {
    Result made = asked(nullptr, device, conditions);
    const auto runner = make_runner(session, *model_, made);
    result_.precision = name_of(conditions.precision.weights);
    if (made.runtime)
        result_.runtime = made.runtime->name;
    if (!runner) {
        result_.reason = made.estimate.reason;
        return;
    }
    if (const auto stored = model_->stored_weights())
        result_.precision = name_of(*stored);
    if (choose_way(*runner, lengths_of(make_requests(request_.load))))
        fill_plan(result_.parallelism, *made.device);
}

/// As asked for, or the fewest devices that hold the model; false with the reason.
bool Server::choose_way(const StepRunner& runner, const Lengths& lengths) {
    const auto middle = static_cast<std::int64_t>(lengths.prompt + lengths.output / 2);
    Parallelism way = request_.parallelism.value_or(Parallelism{});
    if (way.experts > 1 && !has_experts(runner.model().bound(1, 1, middle)->graph())) {
        result_.parallelism = way;
        result_.reason = "the model has no experts that ep could spread";
        return false;
    }
    for (;; way.tensor *= 2) {
        result_.parallelism = way;
        const bool linked = runner.machine().rate(Resource::link_bytes) > 0;
        if (way.engine_devices() > 1 && !linked) {
            result_.reason = "has no interconnect in the database; several devices are not estimated";
            return false;
        }
        auto prices = std::make_unique<EnginePrices>(runner, way, middle, lengths.longest,
                                                     request_.plan.engine.whole_graph);
        if (fits(*prices, way, lengths)) {
            prices_ = std::move(prices);
            break;
        }
        if (request_.parallelism || 2 * way.tensor > kLargestServingGroup || !linked)
            return false; // `fits` said why
    }
    if (way.pipeline > 1 && prices_->hidden() <= 0) {
        result_.reason = "the model does not say the width that crosses between pipeline stages";
        return false;
    }
    result_.reason.clear();
    return true;
}

void Server::use_engines(std::int64_t engines) {
    result_.parallelism.data = engines;
    if (request_.parallelism)
        request_.parallelism->data = engines;
    capacity_ = -1;
    if (ready())
        fill_plan(result_.parallelism, *prices_->machine().device);
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
                capacity_ = serving_capacity(plan_, *prices_, requests);
            out.capacity_per_s = capacity_;
            out.overloaded = plan_.concurrency == 0 && rate_per_s > 0 && rate_per_s > capacity_;
        }
        out.outcome = simulate_serving(plan_, *prices_, std::move(requests));
    } catch (const Error& problem) {
        out.reason = problem.what();
        return out;
    }
    if (!prices_->problem().empty()) {
        out.reason = prices_->problem();
        return out;
    }
    if (out.outcome.refused > 0)
        out.notes.push_back(
            fmt::format("{} requests are longer than the cache and were refused", out.outcome.refused));
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
    out.bounds = wait_bounds(plan_, *prices_, load, out.summary, {out.prompt_low, out.prompt_high},
                             {out.step_low, out.step_high});
}

/// How sure the steps are, and what binds them.
void Server::describe_step(ServingResult& out) const {
    // Widths of what clients wait for come from what clients saw, not from steps alone.
    const Machine& machine = prices_->machine();
    const auto relative = [&](const Estimate& e, SpreadOf waited, double& low, double& high) {
        if (e.status != Status::ok || e.latency_s <= 0)
            return false;
        if (machine.uncertainty) {
            const Spread spread = machine.uncertainty->spread(waited, *machine.device, *machine.runtime);
            low = spread.low;
            high = spread.high;
        }
        return true;
    };
    const Estimate step = prices_->typical_step(static_cast<std::int64_t>(out.outcome.batch));
    if (relative(step, SpreadOf::later_token, out.step_low, out.step_high))
        out.step_bound = regime_of(step);
    const auto served = static_cast<double>(std::max<std::size_t>(1, out.outcome.requests.size()));
    const auto prompt = static_cast<std::int64_t>(static_cast<double>(out.outcome.prompt_tokens) / served);
    relative(prices_->typical_prompt(prompt), SpreadOf::first_token, out.prompt_low, out.prompt_high);
}

/// Room for caches on all devices of an engine; false with the reason when one sequence does not fit.
bool Server::fits(const EnginePrices& prices, const Parallelism& way, const Lengths& lengths) {
    const Machine& m = prices.machine();
    if (m.memory_capacity_bytes <= 0) {
        result_.reason =
            "the device's memory capacity is unknown, and with it how many sequences it serves at once";
        return false;
    }
    const double fixed = prices.fixed_bytes(std::min<std::int64_t>(
        request_.plan.engine.step_tokens, static_cast<std::int64_t>(lengths.prompt) + 1));
    const double room = m.param(Parameter::cache_memory_share, 1) *
                        (m.memory_capacity_bytes - fixed - m.param(Parameter::reserved_memory, 0));
    result_.cache_room_bytes = std::max(0.0, room) * static_cast<double>(way.engine_devices());
    const double whole = lengths.prompt + lengths.output, one = prices.cache_bytes(whole);
    result_.cache_bytes_per_token = prices.cache_bytes(whole + 1) - one;
    // What does not grow any more: full windows, and states that never grew.
    constexpr double kRounding = 1e-9;
    const double fixed_part = one - whole * result_.cache_bytes_per_token;
    result_.fixed_cache_bytes_per_sequence = fixed_part > kRounding * one ? fixed_part : 0;
    result_.longest_batch = one > 0 ? std::floor(result_.cache_room_bytes / one) : 0;
    if (result_.longest_batch >= 1)
        return true;
    result_.reason =
        fmt::format("weights and activations take {} of each device's {}; no room for the {} of one "
                    "sequence's cache; share the model over more devices",
                    in_gigabytes(fixed), in_gigabytes(m.memory_capacity_bytes), in_gigabytes(one));
    return false;
}

void Server::fill_plan(const Parallelism& way, const Device& device) {
    const Machine& m = prices_->machine();
    plan_ = request_.plan;
    plan_.engine.cache_bytes = result_.cache_room_bytes;
    plan_.engine.sequences = std::min<std::int64_t>(
        plan_.engine.sequences, static_cast<std::int64_t>(m.param(Parameter::largest_batch, 1e9)));
    plan_.engines = way.data;
    plan_.prompt_engines = request_.prompt_devices / way.engine_devices();
    plan_.transfer_bytes_per_s = m.rate(Resource::link_bytes) * m.param(Parameter::link_efficiency, 1);
    const auto engine_devices = static_cast<double>(way.engine_devices());
    plan_.idle_watts = m.static_power_w * engine_devices;
    if (device.cloud_price)
        result_.usd_per_hour = device.cloud_price->amount.value * engine_devices *
                               static_cast<double>(plan_.engines + plan_.prompt_engines);
    if (m.param(Parameter::static_context, 0) > 0)
        result_.notes.emplace_back(
            "the stack compiles fixed shapes; continuous batching is assumed all the same");
}

} // namespace archsim
