#include "answers/sizing/layouts.hpp"

#include "archsim/core/finding.hpp"
#include "core/in_parallel.hpp"
#include "core/lists.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <memory>

namespace archsim {

// Devices whose pairs are looked at: the cheapest in their own right, and no more simulations than those of
// single devices.
constexpr std::size_t kMostPaired = 6;
// Growths of a pool until it either holds or is larger than any answer.
constexpr int kMostGrowths = 24;
constexpr double kPoolGrowth = 1.25;

/// One kind of device, of all pairs that it is in: how it shares the model, and how sure its times are. Its
/// steps are estimated once for all of them.
struct Pool {
    std::unique_ptr<SizingRequest> request; ///< that the server refers to
    std::unique_ptr<Server> server;         ///< null: no way holds the model
    std::shared_ptr<const Device> device;
    std::string problem; ///< why it could not be estimated

    std::int64_t each() const { return server->basis().parallelism.engine_devices(); }
    double factor(SpreadOf waited, double deviation) const {
        return wait_factor(server->spread_of(waited), deviation);
    }
};

/// The fewest devices of an engine that holds the model.
static Pool pool_of(const SizingBasis& basis, const std::string& hardware, const Conditions& conditions) {
    Pool pool;
    try {
        pool.device = basis.session.hardware().device(hardware).device;
        for (const Parallelism& way : engine_ways(basis, hardware, conditions)) {
            pool.request = std::make_unique<SizingRequest>(basis.request);
            pool.request->serving.parallelism = way;
            pool.server = std::make_unique<Server>(basis.session, basis.model, hardware, conditions,
                                                   pool.request->serving);
            if (pool.server->ready())
                return pool;
        }
    } catch (const Error& error) {
        pool.problem = error.what();
    }
    pool.server.reset();
    return pool;
}

static std::optional<double> transfer_rate(const Pool& a, const Pool& b) {
    return network_between(*a.device, a.each(), *b.device, b.each());
}

class PairSizer {
  public:
    PairSizer(const SizingBasis& basis, const Pool& prompts, const Pool& answers)
        : basis_(basis), prompts_(prompts), answers_(answers) {}

    std::optional<SizedPair> size() {
        SizedPair pair;
        if (!grow(pair))
            return std::nullopt;
        pair.probability = probability(pair);
        describe(pair);
        return pair;
    }

  private:
    /// `yes_or_no`: given up as soon as a limit is missed.
    ServingOutcome simulate(const SizedPair& pair, double deviation, bool yes_or_no) {
        ServingPlan plan = answers_.server->plan();
        plan.engines = pair.answer_engines;
        plan.prompt_engines = pair.prompt_engines;
        plan.prompt_engine = prompts_.server->plan().engine;
        if (const auto rate = transfer_rate(prompts_, answers_)) // else as between two of the answers' kind
            plan.transfer_bytes_per_s = *rate;
        const auto engines = static_cast<double>(plan.engines + plan.prompt_engines);
        plan.idle_watts = (static_cast<double>(plan.engines) * plan.idle_watts +
                           static_cast<double>(plan.prompt_engines) * prompts_.server->plan().idle_watts) /
                          engines;
        ScaledPrices later(answers_.server->prices(), answers_.factor(SpreadOf::later_token, deviation)),
            first(prompts_.server->prices(), prompts_.factor(SpreadOf::first_token, deviation));
        std::vector<ServedRequest> requests = make_requests(basis_.request.serving.load);
        LimitMisses misses(basis_.request.level, plan, static_cast<std::int64_t>(requests.size()), 1);
        if (yes_or_no)
            plan.goes_on = [&](std::size_t index, const ServedRequest& r) {
                return misses.can_hold(index, r);
            };
        return simulate_serving(plan, later, std::move(requests), &first);
    }

    SizingPressure judge(const ServingOutcome& outcome) const {
        if (outcome.given_up || outcome.refused > 0 || outcome.output_tokens == 0)
            return {SizingLimit::queue, HUGE_VAL, HUGE_VAL};
        return nearest_limit(basis_.request.level, summarize(outcome));
    }

    /// Makes the pool larger that misses its limit, until both hold; then takes from each what it can spare.
    bool grow(SizedPair& pair) {
        const auto holds = [&](std::int64_t prompts, std::int64_t answers, bool yes_or_no = true) {
            if (prompts < 1 || answers < 1)
                return false;
            pair.prompt_engines = prompts;
            pair.answer_engines = answers;
            pair.pressure = judge(simulate(pair, deviation_of(basis_.request.confidence), yes_or_no));
            return pair.pressure.ratio <= 1;
        };
        std::int64_t x = 1, y = 1;
        for (int i = 0; !holds(x, y, false); ++i) { // which limit it misses says what to enlarge
            const bool of_prompts = pair.pressure.limit == SizingLimit::time_to_first;
            std::int64_t& pool = of_prompts ? x : y;
            pool = std::max(pool + 1, static_cast<std::int64_t>(kPoolGrowth * static_cast<double>(pool)));
            if (i == kMostGrowths || x * prompts_.each() + y * answers_.each() > basis_.request.most_devices)
                return false;
        }
        while (holds(x - 1, y))
            --x;
        while (holds(x, y - 1))
            --y;
        return holds(x, y);
    }

    double probability(const SizedPair& pair) {
        return largest_share(basis_.request.confidence, [&](double deviation) {
            return judge(simulate(pair, deviation, true)).ratio <= 1;
        });
    }

    void describe(SizedPair& pair) {
        pair.prompt_hardware = prompts_.server->basis().hardware;
        pair.answer_hardware = answers_.server->basis().hardware;
        pair.precision = answers_.server->basis().precision;
        pair.prompt_way = prompts_.server->basis().parallelism;
        pair.answer_way = answers_.server->basis().parallelism;
        pair.transfer_bytes_per_s = transfer_rate(prompts_, answers_);
        const ServingOutcome outcome = simulate(pair, 0, false);
        pair.summary = summarize(outcome);
        pair.pressure = judge(outcome);
        const double kw = pair.summary.watts * pue_of(*answers_.device, basis_.cost.pue) / 1000;
        const auto each = [&](const Pool& pool, std::int64_t engines) {
            return hourly_price(*pool.device, static_cast<double>(pool.each()), static_cast<double>(engines),
                                basis_.cost);
        };
        const auto first = each(prompts_, pair.prompt_engines), later = each(answers_, pair.answer_engines);
        if (first && later)
            pair.usd_per_hour =
                *first + *later + (basis_.cost.tenure == Tenure::buy ? kw * basis_.cost.kwh_price : 0);
        pair.watts = kw * 1000;
        const double budget = basis_.request.budget_usd_per_hour;
        pair.within_budget = budget <= 0 || (pair.usd_per_hour && *pair.usd_per_hour <= budget);
    }

    const SizingBasis& basis_;
    const Pool& prompts_;
    const Pool& answers_;
};

void size_pairs(const SizingBasis& basis, const std::vector<const Conditions*>& conditions,
                SizingAnswer& answer) {
    // Those that serve at all and may be named first, the cheapest first.
    std::vector<std::size_t> chosen = kept(indices(answer.devices.size()), [&](std::size_t i) {
        const SizedDevice& d = answer.devices[i];
        return d.doubt.empty() && (d.layout || d.nearest.ratio > 0);
    });
    const auto cost = [&](std::size_t i) {
        const auto& layout = answer.devices[i].layout;
        return layout && layout->usd_per_hour ? *layout->usd_per_hour : HUGE_VAL;
    };
    std::ranges::stable_sort(chosen, [&](auto a, auto b) { return cost(a) < cost(b); });
    chosen.resize(std::min(chosen.size(), kMostPaired));

    std::vector<Pool> pools(chosen.size());
    in_parallel(pools.size(), all_threads(), [&](std::size_t i) {
        pools[i] = pool_of(basis, answer.devices[chosen[i]].hardware, *conditions[chosen[i]]);
    });
    struct Task {
        std::size_t prompts, answers; ///< places in `chosen`
    };
    std::vector<Task> tasks;
    const auto device = [&](std::size_t i) -> const SizedDevice& { return answer.devices[chosen[i]]; };
    for (std::size_t a = 0; a < chosen.size(); ++a)
        for (std::size_t b = 0; b < chosen.size(); ++b)
            if (device(a).hardware != device(b).hardware && device(a).precision == device(b).precision)
                tasks.push_back({a, b});
    std::vector<std::optional<SizedPair>> found(tasks.size());
    std::vector<std::string> problems(tasks.size());
    in_parallel(tasks.size(), all_threads(), [&](std::size_t i) {
        const Pool &prompts = pools[tasks[i].prompts], &answers = pools[tasks[i].answers];
        std::string why = prompts.problem.empty() ? answers.problem : prompts.problem;
        try {
            if (why.empty() && prompts.server && answers.server)
                found[i] = PairSizer(basis, prompts, answers).size();
        } catch (const Error& error) {
            why = error.what();
        }
        if (!why.empty())
            problems[i] = fmt::format("{} and {}: {}", device(tasks[i].prompts).hardware,
                                      device(tasks[i].answers).hardware, why);
    });
    std::vector<SizedPair>& pairs = answer.pairs;
    for (auto& pair : found)
        if (pair)
            pairs.push_back(std::move(*pair));
    std::ranges::copy_if(problems, std::back_inserter(answer.unpaired),
                         [](const std::string& problem) { return !problem.empty(); });
    std::ranges::stable_sort(pairs, [](const SizedPair& a, const SizedPair& b) {
        return std::pair(a.usd_per_hour.value_or(HUGE_VAL), a.devices()) <
               std::pair(b.usd_per_hour.value_or(HUGE_VAL), b.devices());
    });
}

} // namespace archsim
