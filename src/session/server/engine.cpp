#include "session/server/server.hpp"

#include "archsim/core/finding.hpp"
#include "hardware/energy_table.hpp"
#include "hardware/posterior.hpp"
#include "map/sharding.hpp"
#include "result/format_parts.hpp"
#include "result/memory_fit.hpp"
#include "session/graph_run.hpp"
#include "session/prepared.hpp"
#include "session/usual_precision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace archsim {

// Chips that are tried to hold a model: a node of eight, and up to eight nodes.
constexpr std::int64_t kLargestServingGroup = 64;

/// Room for caches on all devices of an engine; false with the reason when one sequence does not fit.
static bool fits(ServingEngine& engine, const EnginePrices& prices, const ServerMemory& taken,
                 const RequestLengths& lengths) {
    const Machine& m = prices.machine();
    const std::int64_t step_tokens = engine.plan.engine.step_tokens;
    if (m.memory_capacity_bytes <= 0) {
        engine.reason =
            "the device's memory capacity is unknown, and with it how many sequences it serves at once";
        return false;
    }
    // A server that is told its part of the memory measures its largest step before it gives out blocks.
    const double fixed =
        prices.fixed_bytes(taken.share > 0 && taken.of == ServerMemory::Of::all
                               ? step_tokens
                               : std::min(step_tokens, static_cast<std::int64_t>(lengths.prompt) + 1));
    const double kept = fixed + taken.reserved_bytes;
    const double left = m.memory_capacity_bytes - kept;
    const double room = taken.share <= 0                    ? m.param(Parameter::cache_memory_share, 1) * left
                        : taken.of == ServerMemory::Of::all ? taken.share * m.memory_capacity_bytes - kept
                        : taken.of == ServerMemory::Of::left
                            ? taken.share * left
                            : std::min(left, taken.share * m.memory_capacity_bytes - prices.weight_bytes());
    engine.cache_room_bytes = std::max(0.0, room) * static_cast<double>(engine.parallelism.engine_devices());
    const double whole = lengths.prompt + lengths.output, one = prices.cache_bytes(whole);
    engine.cache_bytes_per_token = prices.cache_bytes(whole + 1) - one;
    // Caches that do not grow any more: full windows, and states that never grew.
    constexpr double kRounding = 1e-9;
    const double fixed_part = one - whole * engine.cache_bytes_per_token;
    engine.fixed_cache_bytes_per_sequence = fixed_part > kRounding * one ? fixed_part : 0;
    engine.longest_batch = one > 0 ? std::floor(engine.cache_room_bytes / one) : 0;
    if (engine.longest_batch >= 1)
        return true;
    engine.reason =
        fmt::format("weights and activations take {} of each device's {}; no room for the {} of one "
                    "sequence's cache; share the model over more devices",
                    gigabytes_text(fixed), gigabytes_text(m.memory_capacity_bytes), gigabytes_text(one));
    return false;
}

/// No more sequences at once than have their states. What a sequence of one position takes beyond what the
/// second adds never grows.
static void limit_states(ServingEngine& engine, const ServerMemory& taken) {
    if (!engine.prices || taken.states_per_request <= 0 || engine.fixed_cache_bytes_per_sequence <= 0)
        return;
    const double state = 2 * engine.prices->cache_bytes(1) - engine.prices->cache_bytes(2);
    if (state <= engine.cache_bytes_per_token) // a window that fills up
        return;
    EngineLimits& limits = engine.plan.engine;
    if (limits.prefix_cache && engine.prices->schedule_in_turn())
        limits.scheduled_ahead = false;
    const double each = limits.prefix_cache ? taken.states_per_request : 1; // the cache keeps the others
    const double most = taken.states_share * engine.cache_room_bytes / (each * state);
    limits.sequences = std::clamp<std::int64_t>(std::llround(std::floor(most)), 1, limits.sequences);
}

/// As asked for, or the fewest devices that hold the model; without prices where there is no way.
static void choose_way(ServingEngine& engine, const StepRunner& runner,
                       const std::optional<Parallelism>& asked, const ServerMemory& taken,
                       const RequestLengths& lengths) {
    const auto middle = static_cast<std::int64_t>(lengths.prompt + lengths.output / 2);
    Parallelism way = asked.value_or(Parallelism{});
    const bool linked = runner.machine().rate(Resource::link_bytes) > 0;
    for (;; way = shared_by(taken, 2 * way.engine_devices())) {
        engine.parallelism = way;
        if (way.experts > 1 && !has_experts(runner.model().bound(1, 1, middle)->graph())) {
            engine.reason = "the model has no experts that ep could spread";
            return;
        }
        if (!runner.starts_on(static_cast<double>(way.tensor))) {
            engine.reason = runner.unstarted(static_cast<double>(way.tensor));
            return;
        }
        if (way.engine_devices() > 1 && !linked) {
            engine.reason = "has no interconnect in the database; several devices are not estimated";
            return;
        }
        auto prices = std::make_unique<EnginePrices>(
            runner, way, middle, lengths.longest,
            Capture{engine.plan.engine.whole_graph, engine.plan.engine.captured_tokens});
        if (way.pipeline > 1 && prices->hidden() <= 0) {
            engine.reason = "the model does not say the width that crosses between pipeline stages";
            return;
        }
        if (fits(engine, *prices, taken, lengths)) {
            engine.reason.clear();
            engine.prices = std::move(prices);
            return;
        }
        if (asked || 2 * way.engine_devices() > kLargestServingGroup || !linked)
            return; // `fits` said why
    }
}

/// Servers refuse what is longer than the model states; nothing is served with more than a few million
/// tokens. Of lengths that are drawn the mean decides. Empty where all is well.
static std::string too_long(const Model& model, const RequestPlan& load, const RequestLengths& lengths) {
    constexpr double kMost = 1 << 22;
    const double stated = model.info.language_model ? model.info.language_model->max_context : 0;
    const bool given = load.trace != nullptr || !load.lengths.empty();
    const double tokens = given ? static_cast<double>(lengths.longest) : lengths.prompt + lengths.output;
    if (tokens <= (stated > 0 ? stated : kMost))
        return {};
    return fmt::format("a request of {:.0f} tokens, prompt and answer, is longer than {}; give shorter ones",
                       tokens,
                       stated > 0 ? fmt::format("the model's context of {:.0f}", stated)
                                  : fmt::format("the {:.0f} that any model is served with", kMost));
}

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
    if (!conditions.stack.empty()) // a name that no stack has is no fault of the device
        session.hardware().runtime(conditions.stack);
    ServingEngine engine{.reason = too_long(model, request.load, lengths),
                         .model = model.prepared->language(model, request.sizes)};
    try {
        Conditions meant = settled(conditions, {.model = model, .prompt = Prompt{}});
        // A count of devices says how many share the model; how, the stack.
        const auto devices = static_cast<std::int64_t>(std::exchange(meant.devices, 1));
        Result made = asked(nullptr, device, meant);
        const auto runner = make_runner(session, *engine.model, made, Users::many);
        engine.precision = name_of(meant.precision.weights);
        if (!engine.reason.empty())
            return engine;
        engine.device = made.device;
        if (made.runtime)
            engine.runtime = made.runtime->name;
        if (!runner) {
            engine.reason = made.estimate.reason;
            return engine;
        }
        engine.precision = multiplied_format(runner->precision(), engine.model->stored_weights(),
                                             meant.precision.weight_bits_overhead);
        engine.precision_note = made.estimate.precision_note;
        const std::filesystem::path servers = session.energy().file().parent_path() / "servers.json";
        engine.plan = with_server_defaults(request.plan, runner->machine(), servers);
        EngineLimits& limits = engine.plan.engine;
        const ServerMemory taken = server_memory(runner->machine(), limits.memory_share, servers);
        const bool counted = !request.parallelism && devices > 1;
        choose_way(engine, *runner, counted ? shared_by(taken, devices) : request.parallelism, taken,
                   lengths);
        limit_states(engine, taken);
        if (engine.prices && limits.drafted > 0 && limits.draft_cost < 0)
            limits.draft_cost = engine.prices->draft_cost();
        if (engine.plan.engine.groups == 0)
            engine.plan.engine.groups = engine.parallelism.groups();
    } catch (const Error& problem) {
        engine.reason = problem.what();
    }
    return engine;
}

std::optional<double> network_between(const Device& from, std::int64_t from_devices, const Device& to,
                                      std::int64_t to_devices) {
    const double one = from.network_bandwidth.value_or(0), other = to.network_bandwidth.value_or(0);
    if (one <= 0 && other <= 0)
        return std::nullopt;
    const double each = one > 0 && other > 0 ? std::min(one, other) : std::max(one, other);
    return each * static_cast<double>(std::min(from_devices, to_devices));
}

LaneShares lanes_waited_for(SpreadOf waited) {
    return waited == SpreadOf::first_token ? LaneShares{1, 0, 0} : LaneShares{0, 1, 0};
}

/// Whoever measures a server asks about it: what estimates of its network err by is known with the rest of
/// what its device and stack have in common. Measurements do not say which network they are of, so that
/// other networks follow as far.
static ErrorParts of_one_server(ErrorParts parts) {
    parts.set += parts.network + parts.generation + parts.cell;
    parts.network = parts.generation = parts.cell = 0;
    return parts;
}

/// The correction by measured waits for a machine whose errors consist of `parts`.
static Posterior learnt_of_waits(const Machine& machine, SpreadOf waited, const ErrorParts& parts) {
    std::vector<GivenRow> rows = machine.uncertainty->given();
    for (GivenRow& row : rows)
        if (row.metric == waited)
            row.parts = of_one_server(row.parts);
    return posterior(rows, UncertaintyTable::subject(waited, *machine.device, *machine.runtime),
                     of_one_server(parts));
}

GivenWaits given_waits(const Machine& machine) {
    GivenWaits waits;
    if (!machine.uncertainty || machine.uncertainty->given().empty())
        return waits;
    const auto longer = [&](SpreadOf waited) {
        const Posterior learnt = learnt_of_waits(
            machine, waited, machine.uncertainty->parts(waited, *machine.device, *machine.runtime));
        waits.rows = std::max(waits.rows, learnt.rows);
        return std::exp(learnt.mean_at(lanes_waited_for(waited)));
    };
    waits.later = longer(SpreadOf::later_token);
    waits.first = longer(SpreadOf::first_token) / waits.later;
    return waits;
}

bool at_defaults(const ServingPlan& asked) {
    const ServingPlan usual = ServingRequest{}.plan;
    return asked.engine == usual.engine && asked.stream_interval == usual.stream_interval;
}

Spread waiting_spread(const Machine& machine, SpreadOf waited, bool by_default) {
    if (!machine.uncertainty)
        return {};
    const UncertaintyTable& table = *machine.uncertainty;
    const SpreadOf known = !by_default                       ? waited
                           : waited == SpreadOf::first_token ? SpreadOf::default_first_token
                                                             : SpreadOf::default_later_token;
    Spread spread = table.spread(known, *machine.device, *machine.runtime);
    if (table.given().empty())
        return spread;
    const ErrorParts parts = table.parts(known, *machine.device, *machine.runtime);
    const Posterior learnt = learnt_of_waits(machine, waited, parts);
    if (learnt.rows == 0)
        return spread;
    const LaneShares lanes = lanes_waited_for(waited);
    spread.high = interval_factor(table.reach(), std::max(parts.total() - learnt.fall_at(lanes), parts.rest));
    spread.low = 1 / spread.high;
    return spread;
}

Doubt doubt_of_waits(const Machine& machine, Estimate step) {
    if (machine.uncertainty && given_waits(machine).rows == 0) {
        const HeldEvidence held =
            machine.uncertainty->held().of(*machine.device, *machine.runtime, TimeKind::served, step.kind);
        step.projected = held.projected;
        step.related = held.related;
        step.unlike = held.unlike;
        step.refuted = held.refuted;
        step.refuted_rows = held.refuted_rows;
    }
    return doubt_of(step);
}

} // namespace archsim
