#include "session/other_conditions.hpp"

#include "archsim/core/finding.hpp"
#include "core/lists.hpp"
#include "core/text.hpp"
#include "hardware/loose_names.hpp"
#include "hardware/posterior.hpp"
#include "hardware/uncertainty.hpp"
#include "result/bound_shares.hpp"
#include "result/generation_metrics.hpp"
#include "result/ranking.hpp"
#include "result/ties.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace archsim {

/// Tries changes of one result; of each kind what gains most is kept.
class Trials {
  public:
    Trials(const Session& session, const Workload& workload, const Result& now, const Metric& by,
           const DecisionRequest& limits)
        : session_(session), workload_(workload), now_(now), by_(by), limits_(limits),
          before_(value_of(now, by, limits.cost)) {
        conditions_ = now.conditions;
        conditions_.keep_subgraphs = false;
    }

    std::vector<TriedChange> run(std::size_t index) {
        if (before_ && *before_ > 0 && now_.device && now_.runtime) {
            modes();
            formats();
            stacks();
            devices();
            batches();
        }
        for (TriedChange& change : found_)
            change.result = index;
        std::ranges::stable_sort(found_, std::ranges::greater{}, &TriedChange::gain);
        return std::move(found_);
    }

  private:
    static constexpr double kWorthIt = 1.05;

    /// How many times as good; 0 where it does not run as asked, misses a limit that is met now, or is no
    /// better outside of both 90 % intervals where these are to be apart.
    TriedChange tried(std::string asked, const Workload& workload, const std::string& hardware,
                      const Conditions& conditions, bool apart = false) const {
        TriedChange change{0, std::move(asked), 0};
        const std::array results = {now_, session_.estimate(workload, hardware, conditions)};
        const Result& then = results[1];
        const auto value = value_of(then, by_, limits_.cost);
        if (!then.ok() || !value || *value <= 0 || !then.estimate.precision_note.empty() ||
            (then.estimate.projected && !now_.estimate.projected))
            return change;
        const Decision decision = decide(results, limits_);
        if ((decision.qualifies[0] && !decision.qualifies[1]) ||
            (apart && measure_of(then, by_, limits_.cost)
                          ->interval.overlaps(measure_of(now_, by_, limits_.cost)->interval)))
            return change;
        change.gain = by_.better == Better::higher ? *value / *before_ : *before_ / *value;
        if (const auto x = measure_of(then, by_, limits_.cost), y = measure_of(now_, by_, limits_.cost);
            x && y)
            change.probability = probability_better(by_, then, *x, now_, *y);
        if (now_.generation && now_.generation->time_to_first_token_s > 0)
            change.first_token =
                then.generation->time_to_first_token_s / now_.generation->time_to_first_token_s;
        return change;
    }
    TriedChange tried(std::string asked, const Conditions& conditions, bool apart = false) const {
        return tried(std::move(asked), workload_, now_.hardware, conditions, apart);
    }

    /// Whether it is worth saying.
    bool keep(TriedChange change) {
        const bool worth = change.gain >= kWorthIt;
        if (worth)
            found_.push_back(std::move(change));
        return worth;
    }

    void modes() {
        const PowerMode* next = nullptr;
        for (const PowerMode& mode : now_.device->power_modes)
            if (now_.estimate.power_limited && mode.limit.known() &&
                mode.limit.value > now_.machine->power_limit_w &&
                (next == nullptr || mode.limit.value < next->limit.value))
                next = &mode;
        if (next == nullptr)
            return;
        const std::string hardware = now_.device->id + "@" + next->name;
        keep(tried("--hardware " + hardware, workload_, hardware, conditions_));
    }

    void formats() {
        constexpr std::array kFormats = {Precision::bf16, Precision::fp16, Precision::fp8, Precision::int8,
                                         Precision::int4};
        for (const Precision p : kFormats) {
            if (bits_of(p) >= bits_of(now_.estimate.executed.weights) ||
                (p == Precision::int4 && !now_.generation) || // which convolutions survive only with training
                contains(now_.runtime->unusual, p))           // which few of its operators have kernels for
                continue;
            Conditions then = conditions_;
            then.precision = PrecisionConfig::uniform(p);
            if (keep(tried(fmt::format("--precision {}", name_of(p)), then)))
                return;
        }
    }

    void stacks() {
        if (workload_.model.info.file.extension() == ".gguf") // which others do not open
            return;
        TriedChange best{.gain = 0};
        for (const std::string& stack : now_.device->runtimes) {
            if (stack == now_.runtime->id || measured_under(stack) != measured_under(now_.runtime->id) ||
                (now_.generation && !session_.hardware().runtime(stack)->language_models))
                continue;
            Conditions then = conditions_;
            then.stack = stack;
            // Two stacks on one chip err apart: rows were seen to reverse an order inside of the intervals.
            if (TriedChange change = tried("--runtime " + stack, then, true); change.gain > best.gain)
                best = std::move(change);
        }
        keep(std::move(best));
    }

    /// Whether estimates of the device under a stack follow what the user measured there: one that does and
    /// one that does not are not like and like.
    bool measured_under(const std::string& stack) const {
        if (!now_.machine || !now_.machine->uncertainty)
            return false;
        const auto& rows = now_.machine->uncertainty->given();
        return std::ranges::any_of(
            rows, [&](const GivenRow& row) { return row.device == now_.device->id && row.runtime == stack; });
    }

    void devices() {
        const auto shares = bound_shares(now_);
        if (!shares || !shares->bound_by_exchange() || conditions_.devices < 2)
            return;
        Conditions then = conditions_;
        then.devices = std::floor(conditions_.devices / 2);
        keep(tried(fmt::format("--devices {:.0f}", then.devices), then));
    }

    void batches() {
        if (conditions_.scenario == Scenario::latency && workload_.batch == 1)
            return;
        constexpr std::int64_t kTimes = 8;
        Workload larger = workload_;
        larger.batch *= kTimes;
        keep(tried(fmt::format("--batch-size {}", larger.batch), larger, now_.hardware, conditions_));
    }

    const Session& session_;
    const Workload& workload_;
    const Result& now_;
    const Metric& by_;
    const DecisionRequest& limits_;
    std::optional<double> before_;
    Conditions conditions_;
    std::vector<TriedChange> found_;
};

std::vector<TriedChange> tried_changes(const Session& session, const Workload& workload,
                                       std::span<const Result> results, const DecisionRequest& limits) {
    constexpr std::size_t kMost = 3;
    const bool text = std::ranges::any_of(results, [](const Result& r) { return r.generation != nullptr; });
    const Metric& by =
        text ? metric::token_rate : ranked_by(results.empty() ? Conditions{} : results.front().conditions);
    std::vector<TriedChange> tried;
    std::size_t done = 0;
    for (const Rank& rank : rank_results(results, by, limits.cost)) {
        const Result& now = results[rank.result];
        if (done == kMost || !now.ok())
            break;
        if (now.conditions.changes != MachineChanges{} || now.conditions.structure != DeviceChanges{})
            continue;
        ++done;
        append(tried, Trials(session, workload, now, by, limits).run(rank.result));
    }
    return tried;
}

bool may_take_fewer_bits(const Workload& workload, const Conditions& conditions) {
    return !conditions.precision.named() && !conditions.precision.strict_fp32 && !conditions.weights &&
           (workload.prompt || !workload.model.info.parts.empty());
}

std::optional<Result> in_fewer_bits(const Session& session, const Workload& workload,
                                    const Result& too_large) {
    std::optional<Result> last;
    for (const std::string_view format : {"fp8", "w8a16", "w4a16"}) {
        Conditions then = too_large.conditions;
        then.precision = *PrecisionConfig::parse(format);
        if (bits_of(then.precision.weights) >= bits_of(too_large.estimate.executed.weights))
            continue;
        Result tried = session.estimate(workload, too_large.hardware, then);
        // Weights alone may meet any format of 16 bits and more.
        if (tried.ok() && tried.estimate.executed.weights == then.precision.weights &&
            (bits_of(then.precision.compute) >= 16 || tried.estimate.precision_note.empty()))
            return tried;
        if (tried.estimate.status == Status::does_not_fit) {
            const bool names_part = !workload.model.info.parts.empty();
            tried.estimate.reason =
                fmt::format("even {}{} {}", format, names_part ? ":" : "", tried.estimate.reason);
            last = std::move(tried);
        }
    }
    return last;
}

std::vector<Result> modes_within(const Session& session, const Workload& workload,
                                 std::span<const Result> results, const DecisionRequest& limits) {
    std::vector<Result> found;
    const Decision decision = decide(results, limits);
    if (decision.request.constraints.empty())
        return found;
    const auto try_one = [&](const std::string& hardware, Conditions conditions) {
        conditions.keep_subgraphs = false;
        std::vector<Result> one = {session.estimate(workload, hardware, conditions)};
        if (decide(one, limits).qualifies.front())
            found.push_back(std::move(one.front()));
    };
    for (std::size_t i = 0; i < results.size(); ++i) {
        const Result& result = results[i];
        if (decision.qualifies[i] || !result.device || result.conditions.changes != MachineChanges{})
            continue;
        const std::string base = result.hardware.substr(0, result.hardware.rfind('@'));
        for (const PowerMode& mode : result.device->power_modes) {
            const bool shown = std::ranges::any_of(results, [&](const Result& r) {
                return r.device && r.device->id == result.device->id && r.power_mode == mode.name &&
                       r.conditions.stack == result.conditions.stack &&
                       r.conditions.precision == result.conditions.precision;
            });
            if (!shown)
                try_one(base + "@" + mode.name, result.conditions);
        }
        if (result.conditions.duty.stated() && result.conditions.scenario == Scenario::latency) {
            Conditions amid_others = result.conditions; // what a rate asks of a device that works ahead
            amid_others.scenario = Scenario::throughput;
            try_one(result.hardware, std::move(amid_others));
        }
    }
    return found;
}

/// A list that was cut at its commas cut "RTX 4070 laptop, 32GB" too: a size of memory belongs to the name
/// before it.
static std::vector<std::string> with_sizes(const std::vector<std::string>& names) {
    std::vector<std::string> joined;
    for (const std::string& name : names)
        if (!joined.empty() && gigabytes_of(name))
            joined.back().append(",").append(name);
        else
            joined.push_back(name);
    return joined;
}

std::vector<std::string> with_every_mode(const HardwareDatabase& hardware,
                                         const std::vector<std::string>& names, bool families) {
    constexpr std::string_view kAll = "@all";
    std::vector<std::string> out;
    for (const std::string& name : with_sizes(names)) {
        const auto family = parse_family(name);
        if (families && (family || same_ignoring_case(name, kAll.substr(1)))) {
            std::vector<Finding> unreadable; // which are no devices
            for (const auto& device : hardware.all_devices(unreadable))
                if (!family || device->family == *family)
                    out.push_back(device->id);
            continue;
        }
        if (!name.ends_with(kAll)) {
            out.push_back(name);
            continue;
        }
        const std::string base = name.substr(0, name.size() - kAll.size());
        const DeviceChoice choice = hardware.device(base);
        if (choice.device->power_modes.empty())
            throw InputError(Finding{.kind = FindingKind::unknown_name,
                                     .message = choice.device->id + " has no power modes",
                                     .hint = "write " + base});
        for (const PowerMode& mode : choice.device->power_modes)
            out.push_back(base + "@" + mode.name);
    }
    return out;
}

std::vector<std::string> in_modes_within(const HardwareDatabase& hardware, std::vector<std::string> names,
                                         std::span<const Constraint> limits) {
    const auto limit = std::ranges::find(limits, &metric::power, &Constraint::metric);
    if (limit == limits.end())
        return names;
    for (std::string& name : names) {
        const DeviceChoice choice = hardware.device(name);
        const PowerMode* within = nullptr;
        bool beyond = false; // the usual mode is
        for (const PowerMode& mode : choice.device->power_modes)
            if (mode.limit.known() && mode.limit.value > limit->limit)
                beyond |= mode.name == choice.power_mode;
            else if (mode.limit.known() && (!within || mode.limit.value > within->limit.value))
                within = &mode;
        if (beyond && within && name.find('@') == std::string::npos)
            name.append("@").append(within->name);
    }
    return names;
}

std::pair<std::string, Conditions> of_one_device(const HardwareDatabase& hardware, std::string_view name,
                                                 Conditions conditions) {
    const DeviceChoice choice = hardware.device(name);
    if (choice.one.empty())
        return {std::string(name), std::move(conditions)};
    if (conditions.devices != 1 && conditions.devices != choice.devices)
        throw UsageError(fmt::format("\"{}\" says how many devices share the model, and the option devices "
                                     "another number; give one of them",
                                     name));
    conditions.devices = choice.devices;
    return {choice.one, std::move(conditions)};
}

std::vector<std::string> each_once(const HardwareDatabase& hardware, std::vector<std::string> names) {
    std::vector<DeviceChoice> chosen;
    std::erase_if(names, [&](const std::string& name) {
        chosen.push_back(hardware.device(name));
        const Device& own = *chosen.back().device;
        return std::any_of(chosen.begin(), chosen.end() - 1, [&](const DeviceChoice& other) {
            const Device& d = *other.device;
            const bool inside = d.in_computer && own.in_computer && d.id == own.id && d.host == own.host;
            return (&d == &own || inside) && other.power_mode == chosen.back().power_mode &&
                   other.devices == chosen.back().devices;
        });
    });
    return names;
}

} // namespace archsim
