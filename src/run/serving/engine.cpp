#include "run/serving/engine.hpp"

#include "archsim/core/finding.hpp"
#include "archsim/hardware/uncertainty.hpp"
#include "archsim/run/usual_precision.hpp"
#include "map/sharding.hpp"
#include "run/serving/servers.hpp"
#include "run/session/graph_run.hpp"
#include "run/session/prepared.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace archsim {

namespace {

// Chips that are tried to hold a model: a node of eight, and up to eight nodes.
constexpr std::int64_t kLargestServingGroup = 64;

std::string in_gigabytes(double bytes) {
    return fmt::format("{:.1f} GB", bytes / 1e9);
}

/// Room for caches on all devices of an engine; false with the reason when one sequence does not fit.
bool fits(ServingEngine& engine, const EnginePrices& prices, std::int64_t step_tokens,
          const RequestLengths& lengths) {
    const Machine& m = prices.machine();
    if (m.memory_capacity_bytes <= 0) {
        engine.reason =
            "the device's memory capacity is unknown, and with it how many sequences it serves at once";
        return false;
    }
    const double fixed = prices.fixed_bytes(
        std::min<std::int64_t>(step_tokens, static_cast<std::int64_t>(lengths.prompt) + 1));
    const double room = m.param(Parameter::cache_memory_share, 1) *
                        (m.memory_capacity_bytes - fixed - m.param(Parameter::reserved_memory, 0));
    engine.cache_room_bytes = std::max(0.0, room) * static_cast<double>(engine.parallelism.engine_devices());
    const double whole = lengths.prompt + lengths.output, one = prices.cache_bytes(whole);
    engine.cache_bytes_per_token = prices.cache_bytes(whole + 1) - one;
    // What does not grow any more: full windows, and states that never grew.
    constexpr double kRounding = 1e-9;
    const double fixed_part = one - whole * engine.cache_bytes_per_token;
    engine.fixed_cache_bytes_per_sequence = fixed_part > kRounding * one ? fixed_part : 0;
    engine.longest_batch = one > 0 ? std::floor(engine.cache_room_bytes / one) : 0;
    if (engine.longest_batch >= 1)
        return true;
    engine.reason =
        fmt::format("weights and activations take {} of each device's {}; no room for the {} of one "
                    "sequence's cache; share the model over more devices",
                    in_gigabytes(fixed), in_gigabytes(m.memory_capacity_bytes), in_gigabytes(one));
    return false;
}

/// As asked for, or the fewest devices that hold the model; without prices where there is no way.
void choose_way(ServingEngine& engine, const StepRunner& runner, const ServingRequest& request,
                const RequestLengths& lengths) {
    const auto middle = static_cast<std::int64_t>(lengths.prompt + lengths.output / 2);
    Parallelism way = request.parallelism.value_or(Parallelism{});
    const bool linked = runner.machine().rate(Resource::link_bytes) > 0;
    for (;; way.tensor *= 2) {
        engine.parallelism = way;
        if (way.experts > 1 && !has_experts(runner.model().bound(1, 1, middle)->graph())) {
            engine.reason = "the model has no experts that ep could spread";
            return;
        }
        if (way.engine_devices() > 1 && !linked) {
            engine.reason = "has no interconnect in the database; several devices are not estimated";
            return;
        }
        auto prices = std::make_unique<EnginePrices>(runner, way, middle, lengths.longest,
                                                     engine.plan.engine.whole_graph);
        if (way.pipeline > 1 && prices->hidden() <= 0) {
            engine.reason = "the model does not say the width that crosses between pipeline stages";
            return;
        }
        if (fits(engine, *prices, engine.plan.engine.step_tokens, lengths)) {
            engine.reason.clear();
            engine.prices = std::move(prices);
            return;
        }
        if (request.parallelism || 2 * way.tensor > kLargestServingGroup || !linked)
            return; // `fits` said why
    }
}

} // namespace

RequestLengths lengths_of(const std::vector<ServedRequest>& requests) {
    RequestLengths l{0, 0, 1};
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

ServingEngine make_engine(const Session& session, const Model& model, std::string_view device,
                          const Conditions& conditions, const ServingRequest& request,
                          const RequestLengths& lengths) {
    if (!model.prepared)
        throw UsageError("serving needs a model that Session::load returned");
    ServingEngine engine;
    engine.model = model.prepared->language(model, request.sizes);
    try {
        const Conditions meant = settled(conditions, {.prompt = Prompt{}});
        Result made = asked(nullptr, device, meant);
        const auto runner = make_runner(session, *engine.model, made);
        engine.precision = name_of(meant.precision.weights);
        engine.device = made.device;
        if (made.runtime)
            engine.runtime = made.runtime->name;
        if (!runner) {
            engine.reason = made.estimate.reason;
            return engine;
        }
        if (const auto stored = engine.model->stored_weights())
            engine.precision = name_of(*stored);
        engine.plan = with_server_defaults(request.plan, runner->machine(),
                                           session.energy().file().parent_path() / "servers.json");
        choose_way(engine, *runner, request, lengths);
    } catch (const Error& problem) {
        engine.reason = problem.what();
    }
    return engine;
}

Spread waiting_spread(const Machine& machine, SpreadOf waited) {
    return machine.uncertainty ? machine.uncertainty->spread(waited, *machine.device, *machine.runtime)
                               : Spread{};
}

} // namespace archsim
