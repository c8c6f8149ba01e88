#include "answers/sizing/layouts.hpp"

#include "archsim/core/finding.hpp"
#include "core/data_dir.hpp"
#include "core/lists.hpp"
#include "report/blocks/number_format.hpp"
#include "session/generation/language_model.hpp"

#include <fmt/format.h>

#include <memory>
#include <tuple>

namespace archsim {

constexpr double kByEstimate = 0.5; // share of what holds by the estimate alone
constexpr double kNoMore = 0.02;    // of the likelihood, for which nobody takes many more devices
constexpr double kGramsPerKg = 1000, kWattsPerKw = 1000, kMilliseconds = 1000;

/// "2.55 s", "36.8 ms".
/// A way and how many engines of it hold.
struct Found {
    Replicas* replicas = nullptr;
    std::int64_t engines = 0;
    double share = 0; ///< with which the limits hold

    std::int64_t devices() const {
        return replicas ? engines * replicas->server().basis().parallelism.engine_devices() : 0;
    }
};

static std::shared_ptr<const Runtime> stack_of(const SizingBasis& basis, const std::string& hardware,
                                               const Conditions& conditions) {
    const HardwareDatabase& database = basis.session.hardware();
    const Device& device = *database.device(hardware).device;
    return database.runtime_for(device, conditions.stack.empty()
                                            ? language_runtime(database, device, basis.model.info.file)
                                            : conditions.stack);
}

class DeviceSizer {
  public:
    DeviceSizer(const SizingBasis& basis, std::string hardware, const Conditions& conditions,
                std::shared_ptr<const Device> device, std::int64_t known)
        : basis_(basis), hardware_(std::move(hardware)), conditions_(conditions), device_(std::move(device)),
          known_(known) {}

    /// Finds the way and its engines; what else is to be known of them is describe()'s.
    void size(SizedDevice& out) {
        search(best_, basis_.request.confidence, out);
        out.holds = best_.replicas != nullptr;
        if (!out.holds && known_ == 0)
            for (const double share : {likeliest() - kNoMore, kByEstimate})
                if (!best_.replicas && share > 0)
                    search(best_, share, out);
        if (!best_.replicas)
            why_none(out);
    }

    void describe(SizedDevice& out) const {
        if (!best_.replicas || out.layout)
            return;
        out.layout = layout(out);
        if (!out.holds)
            out.reason = fmt::format(
                "the limits hold with {:g} %, which more devices hardly raise; {:g} % are asked for",
                100 * out.layout->probability, 100 * basis_.request.confidence);
    }
    /// The devices of the service; 0: there is none.
    std::int64_t devices() const { return best_.devices(); }

  private:
    /// Every way that the model fits, with a bound on how few devices it takes, least first.
    void prepare(double deviation, SizedDevice& out) {
        if (tried_.empty()) {
            for (const Parallelism& way : engine_ways(basis_, hardware_, conditions_)) {
                if (way.engine_devices() > basis_.request.most_devices ||
                    (way.pipeline > 1 && !tried_.empty()))
                    break;
                std::unique_ptr<Replicas> replicas = make(way);
                note(replicas->server().basis(), out);
                if (!replicas->ready())
                    continue;
                out.given = given_waits(replicas->server().prices().machine());
                tried_.push_back({std::move(replicas)});
            }
            if (!tried_.empty())
                out.reason.clear();
        }
        for (Tried& way : tried_)
            way.bound = way.replicas->server().basis().parallelism.engine_devices() *
                        way.replicas->fewest(deviation, true);
        std::ranges::stable_sort(tried_, {}, &Tried::bound);
    }

    /// The way with the fewest devices; those that cannot have fewer than the best are not looked at.
    void search(Found& best, double share, SizedDevice& out) {
        const double deviation = deviation_of(share);
        nearest_ = {};
        prepare(deviation, out);
        for (const Tried& way : tried_) {
            if (has_rival(best) && way.bound > most_devices(best))
                break;
            const std::int64_t engines = fewest_engines(*way.replicas, best, deviation);
            if (!way.replicas->problem().empty())
                out.reason = way.replicas->problem();
            else if (engines > 0)
                best = {way.replicas.get(), engines, share};
        }
        if (best.replicas)
            note(best.replicas->server().basis(), out);
    }

    /// The largest share with which as many devices as there may be hold the limits; 0: not by the estimate
    /// alone.
    double likeliest() const {
        double best = 0;
        for (const Tried& way : tried_) {
            const std::int64_t each = way.replicas->server().basis().parallelism.engine_devices();
            const std::int64_t most = basis_.request.most_devices / each;
            if (way.replicas->problem().empty() && way.replicas->fewest(0, true) <= most &&
                way.replicas->holds(most, deviation_of(std::max(best, kByEstimate))))
                best = way.replicas->probability(most, std::max(best, kByEstimate));
        }
        return best;
    }

    std::unique_ptr<Replicas> make(const Parallelism& way) {
        SizingRequest& own =
            requests_.emplace_back(std::make_unique<SizingRequest>(basis_.request)).operator*();
        own.serving.parallelism = way;
        return std::make_unique<Replicas>(basis_.session, basis_.model, hardware_, conditions_, own);
    }

    static void note(const ServingResult& basis, SizedDevice& out) {
        out.runtime = basis.runtime;
        out.precision = basis.precision;
        if (!basis.reason.empty())
            out.reason = basis.reason;
        else
            out.reason.clear();
    }

    /// Another way or format holds: nobody asks then why one that takes more devices does not.
    bool has_rival(const Found& best) const { return best.replicas != nullptr || known_ > 0; }

    std::int64_t most_devices(const Found& best) const {
        if (best.replicas)
            return best.devices() - 1;
        return known_ > 0 ? known_ : basis_.request.most_devices;
    }

    /// By doubling and bisection between what arrivals need and what can still be fewer than the best; 0 when
    /// none holds.
    std::int64_t fewest_engines(Replicas& replicas, const Found& best, double deviation) {
        const std::int64_t each = replicas.server().basis().parallelism.engine_devices();
        const std::int64_t most = most_devices(best) / each;
        const SizingPressure alone = replicas.alone(deviation);
        if (nearest_.ratio <= 0 || alone.ratio < nearest_.ratio)
            nearest_ = alone;
        if (alone.ratio > 1 && basis_.request.serving.load.shape == LengthShape::constant &&
            basis_.request.serving.load.lengths.empty() && basis_.request.serving.load.trace == nullptr)
            return 0;
        const auto holds = [&](std::int64_t engines) { return replicas.holds(engines, deviation); };
        std::int64_t tried = replicas.fewest(deviation, true);
        // A way that the most of it do not make better than the best is left at once: few sequences share a
        // step then, so that few steps are estimated for it.
        if (tried > most || (has_rival(best) && !holds(most)))
            return 0;
        tried = std::max(tried, replicas.fewest(deviation));
        if (tried > most)
            return 0;
        std::int64_t fails = tried - 1;
        for (std::int64_t step = 1; !holds(tried); step *= 2) {
            if (tried == most)
                return 0;
            fails = tried;
            tried = std::min(most, tried + step);
        }
        while (tried - fails > 1) {
            const std::int64_t middle = fails + (tried - fails) / 2;
            (holds(middle) ? tried : fails) = middle;
        }
        // All of them, as serve_model simulates them.
        constexpr int kMore = 4;
        for (int i = 0; i < kMore && tried <= most; ++i, ++tried)
            if (replicas.holds(tried, deviation, true))
                return tried;
        return 0;
    }

    void why_none(SizedDevice& out) const {
        out.nearest = nearest_;
        if (!out.reason.empty())
            return;
        if (nearest_.ratio > 1)
            out.reason =
                fmt::format("one request alone: {} {}, {} x the limit", name_of(nearest_.limit),
                            nearest_.value < 1 ? fmt::format("{:.3g} ms", kMilliseconds * nearest_.value)
                                               : fmt::format("{:.3g} s", nearest_.value),
                            format_number(nearest_.ratio));
        else
            out.reason = fmt::format("more than {} devices", basis_.request.most_devices);
    }

    SizedLayout layout(SizedDevice& out) const {
        Replicas& replicas = *best_.replicas;
        SizedLayout layout;
        layout.probability = replicas.probability(best_.engines, best_.share);
        layout.at_twice = replicas.pressure(best_.engines, 0, 2);
        Server& server = replicas.server();
        server.use_engines(best_.engines);
        layout.run = server.run(basis_.request.serving.load.rate_per_s, false);
        out.doubt = layout.run.doubt;
        layout.pressure = nearest_limit(basis_.request.level, layout.run.summary);
        layout.run.bounds = replicas.bounds(best_.engines, layout.run.summary);
        layout.memory = memory(server, layout.run);
        layout.engine = server.plan().engine;
        layout.formats = server.prices().formats();
        price(layout, out);
        return layout;
    }

    static SizedMemory memory(const Server& server, const ServingResult& run) {
        const Machine& m = server.prices().machine();
        const auto devices = static_cast<double>(run.parallelism.engine_devices());
        SizedMemory memory;
        memory.capacity = m.memory_capacity_bytes;
        memory.weights = server.prices().weight_bytes();
        memory.cache = run.outcome.cache_peak_bytes / devices;
        memory.free = std::max(0.0, run.cache_room_bytes / devices - memory.cache);
        memory.engine = memory.capacity - memory.weights - memory.cache - memory.free;
        return memory;
    }

    void price(SizedLayout& layout, SizedDevice& out) const {
        const CostOptions& o = basis_.cost;
        const auto devices = static_cast<double>(layout.devices());
        layout.watts = layout.run.summary.watts * pue_of(*device_, o.pue);
        const double kwh_per_hour = layout.watts / kWattsPerKw;
        layout.carbon_g_per_hour = kwh_per_hour * o.grid_intensity;
        if (device_->embodied_carbon.known())
            layout.embodied_g_per_hour =
                devices * device_->embodied_carbon.value * kGramsPerKg / (o.years * kHoursPerYear);
        const auto each = static_cast<double>(layout.run.parallelism.engine_devices());
        layout.usd_per_hour = hourly_price(*device_, each, devices / each, o, &out.price_basis, &out.market);
        if (layout.usd_per_hour && o.tenure == Tenure::buy)
            *layout.usd_per_hour += kwh_per_hour * o.kwh_price;
        layout.run.usd_per_hour = layout.usd_per_hour.value_or(0);
        const double budget = basis_.request.budget_usd_per_hour;
        out.within_budget = budget <= 0 || (layout.usd_per_hour && *layout.usd_per_hour <= budget);
    }

    const SizingBasis& basis_;
    std::string hardware_;
    const Conditions& conditions_;
    std::shared_ptr<const Device> device_;
    std::int64_t known_; ///< devices with which another format holds; 0: none does
    std::vector<std::unique_ptr<SizingRequest>> requests_; ///< that the replicas refer to
    struct Tried {
        std::unique_ptr<Replicas> replicas;
        std::int64_t bound = 0; ///< no fewer devices
    };
    std::vector<Tried> tried_; ///< ways that the model fits
    Found best_;
    SizingPressure nearest_;
};

/// A device in one format, and what describes it where it is named.
struct InFormat {
    SizedDevice out;
    std::unique_ptr<DeviceSizer> sizer;

    /// Calls it; what fails is the reason.
    template <class Use>
    void attempt(const Use& use) {
        try {
            use();
        } catch (const Error& problem) {
            out.layout.reset();
            out.reason = problem.what();
        }
    }
    void describe() {
        if (sizer)
            attempt([&] { sizer->describe(out); });
    }
};

/// Less is better: one that holds, if need be beyond the budget, with fewer devices; of what does not hold
/// the likelier, or nearer to it.
static std::tuple<bool, bool, bool, double, double> burden(const SizedDevice& d) {
    const double devices = d.layout ? static_cast<double>(d.layout->devices()) : 0,
                 miss = d.layout ? -d.layout->probability : d.nearest.ratio;
    return {!(d.holds && d.within_budget), !d.holds, !d.layout, d.holds ? devices : miss,
            d.holds ? miss : devices};
}

/// Whether `a` is the better of two formats. Only what decides is simulated.
static bool better(InFormat& a, InFormat& b, const SizingBasis& basis) {
    if (basis.request.budget_usd_per_hour <= 0 && (a.out.holds || b.out.holds)) {
        if (a.out.holds != b.out.holds)
            return a.out.holds;
        if (a.sizer->devices() != b.sizer->devices())
            return a.sizer->devices() < b.sizer->devices();
    }
    a.describe();
    b.describe();
    return burden(a.out) < burden(b.out);
}

/// Whether the stack has files of weights in a format that nobody asked for.
static bool offers(const Runtime& stack, Precision weights) {
    return stack.allows(weights) || contains(stack.weight_only, weights);
}

static InFormat in_format(const SizingBasis& basis, const std::string& hardware, const Conditions& conditions,
                          std::int64_t known) {
    InFormat made;
    SizedDevice& out = made.out;
    out.hardware = hardware;
    made.attempt([&] {
        const DeviceChoice choice = basis.session.hardware().device(hardware);
        const auto runtime = stack_of(basis, hardware, conditions);
        out.runtime = runtime->name;
        if (!runtime->language_models) {
            out.reason = "none of its software stacks in the database serves language models";
            return;
        }
        made.sizer = std::make_unique<DeviceSizer>(basis, hardware, conditions, choice.device, known);
        made.sizer->size(out);
    });
    if (basis.request.budget_usd_per_hour > 0) // whether it holds is then a question of its price
        made.describe();
    return made;
}

std::vector<Parallelism> engine_ways(const SizingBasis& basis, const std::string& hardware,
                                     const Conditions& conditions) {
    Conditions on_stack = conditions;
    on_stack.stack = stack_of(basis, hardware, conditions)->id;
    const auto machine = basis.session.machine(hardware, on_stack);
    return engine_ways(*machine->device, server_memory(*machine, 0, data_table("servers.json")), basis.heads,
                       basis.experts);
}

SizedDevice size_device(const SizingBasis& basis, const std::string& hardware,
                        std::span<const Conditions> formats, const Conditions** chosen) {
    InFormat best = in_format(basis, hardware, formats.front(), 0);
    for (const Conditions& format : formats.subspan(1)) {
        if (!offers(*stack_of(basis, hardware, format), format.precision.weights))
            continue;
        const std::int64_t least_so_far =
            best.out.holds && best.out.within_budget ? best.sizer->devices() : 0;
        if (least_so_far == 1)
            break;
        InFormat other = in_format(basis, hardware, format, least_so_far);
        if (better(other, best, basis)) {
            best = std::move(other);
            if (chosen != nullptr)
                *chosen = &format;
        }
    }
    best.describe();
    return std::move(best.out);
}

} // namespace archsim
