#include "compare/interval_maker.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace archsim {

namespace {

constexpr double kTail = 0.05;
/// Energy is that of the time, and a quarter of what is not known of power, where nobody measured it.
const double kPowerBlur = std::log(1.25);
/// Power where nobody measured it: static power is 0.15 to 0.7 of the rating by family, and clocks stay high
/// or fall while a device waits. It does not follow from what is not known of time.
const double kUnmeasuredPower = std::log(2.0);

/// How much wider percentiles from n groups are made. The part of a score that a group shares is known from
/// these: Student's t over the normal percentile, and the square root of 1 + 1 / n for a new group, together
/// 1 + 2 / n within 3 % from n = 5 on (n = 9: 1.86 / 1.645 x 1.054 = 1.19).
double few_groups(double n) {
    return 1 + 2 / std::max(1.0, n);
}

bool is_time(SpreadOf metric) {
    return metric != SpreadOf::energy && metric != SpreadOf::power;
}

bool is_language_time(SpreadOf metric) {
    return metric == SpreadOf::prefill || metric == SpreadOf::decode || metric == SpreadOf::first_token ||
           metric == SpreadOf::later_token;
}

/// The times that say something of a metric which has few rows: language models' of theirs, all of the
/// others'.
bool is_akin(SpreadOf score, SpreadOf metric) {
    return is_language_time(metric) ? is_language_time(score) : is_time(score);
}

/// What a server's clients wait for, apart from the load: a prompt's pass, or steps.
std::optional<SpreadOf> unloaded(SpreadOf metric) {
    return metric == SpreadOf::first_token   ? std::optional(SpreadOf::prefill)
           : metric == SpreadOf::later_token ? std::optional(SpreadOf::decode)
                                             : std::nullopt;
}

std::vector<Score> scores_of(const std::vector<ValidatedRow>& rows) {
    std::vector<Score> scores;
    for (const ValidatedRow& row : rows) {
        const Prediction& p = row.prediction;
        if (!p.ok() || row.measured.weight < kTrustedWeight || !(p.predicted > 0))
            continue;
        const double ratio = std::log(row.measured.value / p.predicted);
        Score score;
        score.family = p.family;
        score.runtime = p.runtime;
        score.regime = p.regime;
        score.model = row.measured.model;
        score.device = row.measured.hardware;
        score.metric = metric_of(row.measured);
        score.evidence = p.evidence == name_of(Evidence::device)  ? Evidence::device
                         : p.evidence == name_of(Evidence::stack) ? Evidence::stack
                                                                  : Evidence::none;
        score.value = row.measured.metric == MeasuredMetric::throughput_per_s ? -ratio : ratio;
        scores.push_back(std::move(score));
    }
    return scores;
}

} // namespace

SpreadOf metric_of(const MeasuredRow& row) {
    if (row.metric == MeasuredMetric::energy_mj)
        return SpreadOf::energy;
    if (row.metric == MeasuredMetric::power_w)
        return SpreadOf::power;
    if (row.phase == "prefill")
        return SpreadOf::prefill;
    if (row.phase == "served_first_token")
        return SpreadOf::first_token;
    if (row.phase == "served_per_token")
        return SpreadOf::later_token;
    if (!row.phase.empty())
        return SpreadOf::decode;
    return row.metric == MeasuredMetric::throughput_per_s && row.scope == "offline" ? SpreadOf::throughput
                                                                                    : SpreadOf::latency;
}

IntervalMaker::IntervalMaker(const Rows& without_model, const Rows& without_device,
                             const Rows& without_family)
    : network_(scores_of(without_model)), device_(scores_of(without_device)),
      family_(scores_of(without_family)) {}

IntervalMaker IntervalMaker::without(const std::string& model, const std::string& device,
                                     const std::string& family) const {
    IntervalMaker rest;
    const auto keep = [&](const std::vector<Score>& from, std::vector<Score>& to) {
        to.reserve(from.size());
        std::copy_if(from.begin(), from.end(), std::back_inserter(to), [&](const Score& s) {
            return s.model != model && s.device != device && s.family != family;
        });
    };
    keep(network_, rest.network_);
    keep(device_, rest.device_);
    keep(family_, rest.family_);
    return rest;
}

template <class Pick>
GroupedScores IntervalMaker::grouped(Evidence evidence, Pick pick, bool by_family) const {
    GroupedScores groups;
    auto group = groups.end();
    const std::vector<Score>& from = evidence == Evidence::device  ? network_
                                     : evidence == Evidence::stack ? device_
                                                                   : family_;
    for (const Score& score : from) {
        // A new network is asked of devices with their own fit, a new device of stacks with other devices.
        if ((evidence == Evidence::device && score.evidence != Evidence::device) ||
            (evidence == Evidence::stack && score.evidence == Evidence::none) || !pick(score))
            continue;
        const std::string& name = by_family                      ? score.family
                                  : evidence == Evidence::device ? score.model
                                                                 : score.device;
        if (group == groups.end() || group->first != name) // neighbours are often of one group
            group = groups.try_emplace(name).first;
        group->second.push_back(score.value);
    }
    return groups;
}

GroupedScores IntervalMaker::members(const IntervalClass& c, bool any_metric) const {
    return grouped(
        c.evidence,
        [&](const Score& s) {
            return (c.family.empty() || s.family == c.family) &&
                   (any_metric ? is_akin(s.metric, c.metric) : s.metric == c.metric) &&
                   (c.runtime.empty() || s.runtime == c.runtime) &&
                   (c.regime.empty() || s.regime == c.regime);
        },
        c.evidence == Evidence::none && c.family.empty());
}

std::size_t IntervalMaker::groups(const IntervalClass& c) {
    const auto [place, fresh] = groups_.try_emplace(c);
    if (fresh)
        place->second = members(c).size();
    return place->second;
}

/// A handful of families tells no metrics apart, and how far one lies off as a whole is one number: the
/// median of all its times, devices alike. How its rows scatter around that is known from dozens of devices,
/// and apart for each regime.
ScoreDistribution IntervalMaker::new_family(const std::string& regime) const {
    NestedScores all, of_regime;
    std::set<std::string> devices;
    for (const Score& score : family_) {
        if (!is_time(score.metric))
            continue;
        all[score.family][score.device].push_back(score.value);
        if (score.regime == regime) {
            of_regime[score.family][score.device].push_back(score.value);
            devices.insert(score.device);
        }
    }
    const bool enough = devices.size() >= kGroupsOfOwn;
    return ScoreDistribution::of_new_group(all, enough ? of_regime : all,
                                           few_groups(static_cast<double>(all.size())));
}

ScoreDistribution IntervalMaker::time(const std::string& family, Evidence evidence, SpreadOf metric) const {
    ScoreDistribution all = evidence == Evidence::none
                                ? new_family({})
                                : ScoreDistribution(members({{}, evidence, metric, {}, {}}, true), nullptr);
    if (all.empty()) // nobody measured a language model
        all = ScoreDistribution(members({{}, evidence, SpreadOf::latency, {}, {}}, true), nullptr);
    return family.empty() ? all : ScoreDistribution(members({family, evidence, metric, {}, {}}, true), &all);
}

/// Energy and power: few rows, so the devices of all families first, around time blurred by what is not known
/// of power, or around what is known of power without a measurement; then those of the family, of the stack
/// and of the regime, each around the ones before. A device with rows of its own is asked for a new network,
/// as with times.
ScoreDistribution IntervalMaker::draw(const IntervalClass& c) const {
    const ScoreDistribution start =
        c.metric == SpreadOf::power
            ? ScoreDistribution({{"unmeasured", {-kUnmeasuredPower, kUnmeasuredPower}}}, nullptr)
            : time(c.family, c.evidence, SpreadOf::latency).blurred(kPowerBlur);
    IntervalClass part{
        {}, c.evidence == Evidence::device ? Evidence::device : Evidence::stack, c.metric, {}, {}};
    ScoreDistribution scores(members(part), &start);
    for (const auto& [selector, value] :
         {std::pair{&IntervalClass::family, &c.family}, std::pair{&IntervalClass::runtime, &c.runtime},
          std::pair{&IntervalClass::regime, &c.regime}})
        if (!value->empty()) {
            part.*selector = *value;
            scores = ScoreDistribution(members(part), &scores);
        }
    return scores;
}

const Band& IntervalMaker::band(const IntervalClass& c) {
    const auto [place, fresh] = bands_.try_emplace(c);
    if (!fresh)
        return place->second;
    ScoreDistribution scores;
    const std::size_t k = members({c.family, c.evidence, c.metric, c.runtime, {}}, true).size();
    const bool unknown_family =
        is_time(c.metric) && c.evidence == Evidence::none && (c.family.empty() || k == 0);
    if (unknown_family) {
        scores = new_family(c.regime);
    } else if (is_time(c.metric)) {
        scores = time(c.family, c.evidence, c.metric);
        GroupedScores own = members({c.family, c.evidence, c.metric, {}, {}});
        double around_groups = ScoreDistribution::kAround;
        if (const auto part = unloaded(c.metric)) {
            scores = ScoreDistribution(members({c.family, c.evidence, *part, {}, {}}), &scores);
            // What clients wait for has queues, hosts and protocols in it, which no pass has. A family
            // without such rows has its own passes, and the others' queues.
            if (own.empty())
                own = members({{}, c.evidence, c.metric, {}, {}});
            else
                around_groups = ScoreDistribution::kAnotherQuantity;
        }
        scores = ScoreDistribution(own, &scores, around_groups);
        if (!c.runtime.empty())
            scores = ScoreDistribution(members({c.family, c.evidence, c.metric, c.runtime, {}}), &scores);
        if (!c.regime.empty())
            scores = ScoreDistribution(members(c), &scores);
    } else {
        scores = draw(c);
    }
    // The groups of the class and those that the class around stands for; a new family's are counted in.
    const double wider = unknown_family ? 1 : few_groups(static_cast<double>(k) + ScoreDistribution::kAround);
    // An estimate is part of its own interval.
    place->second = {wider * std::min(0.0, scores.quantile(kTail)),
                     wider * std::max(0.0, scores.quantile(1 - kTail)), scores.rows(), scores.groups()};
    return place->second;
}

std::vector<std::string> IntervalMaker::families() const {
    std::set<std::string> names;
    for (const auto* scores : {&network_, &device_, &family_})
        for (const Score& score : *scores)
            names.insert(score.family);
    return {names.begin(), names.end()};
}

std::vector<std::string> IntervalMaker::stacks(const std::string& family) const {
    std::set<std::string> names;
    for (const auto* scores : {&network_, &device_, &family_})
        for (const Score& score : *scores)
            if (score.family == family)
                names.insert(score.runtime);
    return {names.begin(), names.end()};
}

} // namespace archsim
