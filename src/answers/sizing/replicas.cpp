#include "answers/sizing/layouts.hpp"

#include "core/lists.hpp"

#include <cmath>
#include <limits>

namespace archsim {

// A cache is full where less than a fifteenth of it is left: hardly a sequence more.
constexpr double kFull = 0.93;
// Engines that stand for many: more of them share their queues hardly better.
constexpr std::int64_t kSimulated = 4;
// Requests of which a ninety-ninth percentile is still one of several: a part of the load has no fewer, and
// needs no more.
constexpr double kFewestSimulated = 600, kMostSimulated = 1000;
// Answers of one request alone that are enough to know it.
constexpr std::size_t kAlone = 4;
constexpr double kRounding = 1e-9; // of shares: 100 times 0.29 is a little less than 29

double deviation_of(double share) {
    double low = -64, high = 64;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (student_t(middle, kErrorDegreesOfFreedom) < share ? low : high) = middle;
    }
    return high;
}

double largest_share(double known, const std::function<bool(double deviation)>& holds) {
    constexpr int kWhole = 100;
    int low = static_cast<int>(std::lround(std::floor(kWhole * known + kRounding))), high = kWhole;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (holds(deviation_of(static_cast<double>(middle) / kWhole)) ? low : high) = middle;
    }
    return std::max(known, static_cast<double>(low) / kWhole);
}

double wait_factor(const Spread& spread, double deviation) {
    return std::pow(deviation < 0 ? spread.low : spread.high, std::abs(deviation) / kErrorReach);
}

SizingPressure nearest_limit(const ServiceLevel& level, const ServingSummary& run, double first) {
    SizingPressure most;
    const auto hold = [&](SizingLimit limit, double value, double at_most) {
        if (at_most > 0 && value / at_most > most.ratio)
            most = {limit, value, value / at_most};
    };
    hold(SizingLimit::time_to_first, run.time_to_first_s.p99 * first, level.time_to_first_s);
    hold(SizingLimit::time_per_token, run.time_per_token_s.p99, level.time_per_token_s);
    hold(SizingLimit::end_to_end, run.end_to_end_s.p99, level.end_to_end_s);
    return most;
}

Replicas::Replicas(const Session& session, const Model& model, const std::string& hardware,
                   const Conditions& conditions, const SizingRequest& request)
    : request_(request), server_(session, model, hardware, conditions, request.serving) {
    if (!ready())
        return;
    first_ = server_.spread_of(SpreadOf::first_token);
    later_ = server_.spread_of(SpreadOf::later_token);
}

Replicas::Factors Replicas::factors(double deviation) const {
    return {wait_factor(first_, deviation), wait_factor(later_, deviation)};
}

std::vector<ServedRequest> Replicas::requests(double load_factor, double count_factor) const {
    RequestPlan load = request_.serving.load;
    load.rate_per_s = server_.plan().concurrency > 0 ? 0 : load_factor * load.rate_per_s;
    const auto count = static_cast<double>(load.count);
    if (count_factor < 1)
        load.count =
            std::llround(std::min(count, std::clamp(count_factor * count, kFewestSimulated, kMostSimulated)));
    else
        load.count = std::llround(count_factor * count);
    return make_requests(load);
}

double Replicas::capacity() {
    if (capacity_ < 0) {
        ServingPlan one = server_.plan();
        one.engines = 1;
        one.concurrency = 0;
        capacity_ = serving_capacity(one, server_.prices(), requests(1, 0));
    }
    return capacity_;
}

/// Requests per second of one engine whose sequences all generate in steps no longer than the limit on a
/// token: with b of them at once a step takes t(b), and an answer holds its place for output x t(b).
double Replicas::quickest_rate(double later) {
    const RequestPlan& load = request_.serving.load;
    const double limit = request_.level.time_per_token_s, output = std::max(1.0, load.output_tokens);
    double best = 0;
    for (std::int64_t batch = 1;; batch *= 2) {
        batch = std::min(batch, server_.plan().engine.all_sequences());
        const double step =
            later *
            server_.prices().price({.sequences = batch, .context = load.prompt_tokens + output / 2}).seconds;
        // A batch beyond the limit still bounds those between it and the one before: t rises with b.
        best = std::max(best,
                        static_cast<double>(batch) / (output * (limit > 0 ? std::min(step, limit) : step)));
        if ((limit > 0 && step > limit) || batch == server_.plan().engine.all_sequences() || !(step > 0))
            break;
    }
    return best;
}

std::int64_t Replicas::fewest(double deviation, bool quickly) {
    const double rate = request_.serving.load.rate_per_s, later = factors(deviation).later;
    if (server_.plan().concurrency > 0)
        return 1;
    const double each = quickly ? quickest_rate(later) : capacity() / later;
    return each > 0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(rate / each))) : 1;
}

const SizingPressure* Replicas::known(const Asked& asked) const {
    const auto found = std::ranges::find_if(known_, [&](const auto& one) { return one.first == asked; });
    return found != known_.end() ? &found->second : nullptr;
}

SizingPressure Replicas::pressure(std::int64_t engines, double deviation, double load_factor, bool whole) {
    const Asked asked{engines, whole ? engines : std::min(engines, kSimulated), deviation, load_factor};
    if (const SizingPressure* before = known(asked))
        return *before;
    known_.emplace_back(asked, simulated(asked, false).value());
    return known_.back().second;
}

bool Replicas::holds(std::int64_t engines, double deviation, bool whole) {
    const Asked asked{engines, whole ? engines : std::min(engines, kSimulated), deviation};
    if (const SizingPressure* before = known(asked))
        return before->ratio <= 1;
    if (contains(missed_, asked))
        return false;
    const std::optional<SizingPressure> found = simulated(asked, true);
    if (found)
        known_.emplace_back(asked, *found);
    else
        missed_.push_back(asked);
    return found && found->ratio <= 1;
}

std::optional<SizingPressure> Replicas::simulated(const Asked& asked, bool may_give_up) {
    const auto& [engines, alike, deviation, load_factor] = asked;
    const Factors by = factors(deviation);
    ServingPlan plan = server_.plan();
    plan.engines = alike;
    const double part = load_factor * static_cast<double>(plan.engines) / static_cast<double>(engines);
    if (plan.concurrency > 0)
        plan.concurrency = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::ceil(part * static_cast<double>(plan.concurrency))));
    std::vector<ServedRequest> arriving = requests(part, plan.concurrency > 0 ? part : std::min(1.0, part));
    ScaledPrices prices(server_.prices(), by.later);
    LimitMisses misses(request_.level, plan, static_cast<std::int64_t>(arriving.size()), by.first / by.later);
    if (may_give_up)
        plan.goes_on = [&](std::size_t index, const ServedRequest& r) { return misses.can_hold(index, r); };
    const ServingOutcome outcome = simulate_serving(plan, prices, std::move(arriving));
    if (outcome.given_up)
        return std::nullopt;
    SizingPressure most = nearest_limit(request_.level, summarize(outcome), by.first / by.later);
    if (plan.concurrency == 0 && capacity() > 0) {
        const double queue = load_factor * request_.serving.load.rate_per_s * by.later /
                             (capacity() * static_cast<double>(engines));
        if (queue > most.ratio)
            most = {SizingLimit::queue, queue, queue};
    }
    if (outcome.refused > 0 || outcome.output_tokens == 0)
        most = {SizingLimit::queue, std::numeric_limits<double>::infinity(),
                std::numeric_limits<double>::infinity()};
    most.cache_full = outcome.cache_peak_bytes > kFull * plan.engine.cache_bytes;
    most.batch_full = outcome.batch > kFull * static_cast<double>(plan.engine.all_sequences());
    return most;
}

SizingPressure Replicas::alone(double deviation) {
    const Factors by = factors(deviation);
    ServingPlan plan = server_.plan();
    plan.engines = 1;
    plan.concurrency = 1;
    std::vector<ServedRequest> few = requests(1, 0);
    few.resize(std::min(few.size(), kAlone));
    ScaledPrices prices(server_.prices(), by.later);
    return nearest_limit(request_.level, summarize(simulate_serving(plan, prices, std::move(few))),
                         by.first / by.later);
}

WaitBounds Replicas::bounds(std::int64_t engines, const ServingSummary& run) {
    ServingPlan plan = server_.plan();
    plan.engines = std::min(engines, kSimulated);
    RequestPlan load = request_.serving.load;
    if (plan.engines < engines) {
        const double part = static_cast<double>(plan.engines) / static_cast<double>(engines);
        load.rate_per_s *= part;
        load.count = static_cast<std::int64_t>(requests(part, part).size());
        if (plan.concurrency > 0)
            plan.concurrency =
                static_cast<std::int64_t>(std::ceil(part * static_cast<double>(plan.concurrency)));
    }
    if (plan.concurrency > 0)
        load.rate_per_s = 0;
    return wait_bounds(plan, server_.prices(), nullptr, load, run, {first_.low, first_.high},
                       {later_.low, later_.high});
}

double Replicas::probability(std::int64_t engines, double known) {
    return largest_share(known, [&](double deviation) { return holds(engines, deviation); });
}

} // namespace archsim
