#include "fit/errors/left_out.hpp"

#include "core/lists.hpp"

#include <Eigen/Core>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace archsim {

constexpr double kDegreesOfFreedom = kErrorDegreesOfFreedom;
/// Rows of the class around it that a class of few rows counts beside its own.
constexpr double kRowsAround = 10;
/// Devices of all families that a family of few devices counts beside its own.
constexpr double kDevicesAround = 3;
/// Beyond a factor of 4.5 a row says that something was not described, not how far off descriptions are.
constexpr double kFarthest = 1.5;
/// Power that nobody measured lies within a factor of two, 90 % of the time: static power is 0.15 to 0.7 of
/// the rating by family, and clocks stay high or fall while a device waits.
const double kUnmeasuredPower = std::pow(std::log(2.0) / kErrorReach, 2);
constexpr int kScaleSteps = 30;
/// Rows that people measured under stated conditions tell how far estimates are off from what people measure.
constexpr double kLeastWeight = 0.5;
/// Measurements that are closer were rounded to one value: their order says nothing.
constexpr double kSameTime = 1e-9;
/// As far as what the effects say of a difference is believed to be off, and as far the other way.
constexpr double kLeastDifference = 0.1;
/// The most of the variance within a set that a row may share with others; the rest is its own.
constexpr double kMostShared = 0.95;
/// Squared scale where no class says another, and where the search for one begins: a factor of 1.35, 90 %.
constexpr double kUsualScale = 0.02;

using Rows = std::vector<const ErrorRow*>;

/// The weight of each squared deviation in the next squared scale of Student's t.
static Eigen::ArrayXd likelihood_weights(const Eigen::ArrayXd& squares, double scale) {
    return (kDegreesOfFreedom + 1) / (kDegreesOfFreedom + squares / scale);
}

/// Squared scale of Student's t by expectation and maximisation; rows of one network on one device weigh as
/// the square root of their number. `around` counts as so many rows more.
static double squared_scale(const Rows& rows, double around, double weight_around) {
    std::map<std::pair<std::string_view, std::string_view>, double> cells;
    for (const ErrorRow* row : rows)
        ++cells[{row->device, row->model}];
    Eigen::ArrayXd squares(rows.size()), weights(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto k = static_cast<Eigen::Index>(i);
        squares[k] = rows[i]->value * rows[i]->value;
        weights[k] = 1 / std::sqrt(cells[{rows[i]->device, rows[i]->model}]);
    }
    double scale = std::max(1e-6, around);
    for (int step = 0; step < kScaleSteps; ++step) {
        const Eigen::ArrayXd likely = likelihood_weights(squares, scale);
        scale = std::max(1e-6, ((weights * likely * squares).sum() + weight_around * around) /
                                   (weights.sum() + weight_around));
    }
    return scale;
}

using Name = std::tuple<std::string, std::string, int>; // family, stack, metric

/// Metrics that err unlike the times of runs: what a chip draws, and what clients wait, who queue.
static bool apart(SpreadOf metric) {
    return of_draw(metric) || of_waits(metric);
}

/// Rows of new networks on devices that were measured with others, around the class that holds each.
static std::vector<ErrorModel::Within> fit_within(const Rows& rows) {
    std::vector<ErrorModel::Within> result;
    std::map<Name, Rows> groups;
    for (const ErrorRow* row : rows) {
        // How servers of one's own were started is seldom said.
        if (of_defaults(row->metric) && std::abs(row->value) > kFarthest)
            continue;
        const int metric = static_cast<int>(row->metric);
        groups[{"", "", metric}].push_back(row);
        if (apart(row->metric)) {
            groups[{row->family, "", metric}].push_back(row);
        } else {
            groups[{"", "", -1}].push_back(row);
            groups[{row->family, "", -1}].push_back(row);
            groups[{row->family, row->runtime, -1}].push_back(row);
        }
        groups[{row->family, row->runtime, metric}].push_back(row);
    }
    std::map<Name, double> scales;
    const auto around = [&](const Name& name) -> std::optional<double> {
        const auto& [family, runtime, metric] = name;
        std::vector<Name> wider;
        const bool own = metric >= 0 && apart(static_cast<SpreadOf>(metric));
        if (!runtime.empty() && metric >= 0)
            wider.emplace_back(family, own ? "" : runtime, own ? metric : -1);
        else if (!runtime.empty())
            wider.emplace_back(family, "", -1);
        else if (!family.empty())
            wider.emplace_back("", "", metric);
        else if (metric >= 0 && !own)
            wider.emplace_back("", "", -1);
        for (const Name& candidate : wider)
            if (const auto found = scales.find(candidate); found != scales.end())
                return found->second;
        return std::nullopt;
    };
    // Wider classes first: fewer names stated.
    std::vector<Name> order;
    for (const auto& [name, _] : groups)
        order.push_back(name);
    const auto stated = [](const Name& name) {
        return 4 * !std::get<1>(name).empty() + 2 * !std::get<0>(name).empty() + (std::get<2>(name) >= 0);
    };
    std::ranges::stable_sort(order, [&](const Name& a, const Name& b) { return stated(a) < stated(b); });
    for (const Name& name : order) {
        const Rows& members = groups[name];
        const auto wider = around(name);
        const double scale =
            wider ? squared_scale(members, *wider, kRowsAround) : squared_scale(members, kUsualScale, 1);
        scales[name] = scale;
        result.push_back({std::get<0>(name), std::get<1>(name), std::get<2>(name), scale,
                          static_cast<int>(members.size())});
    }
    return result;
}

/// Networks measured of every set.
static std::vector<ErrorModel::Set> sets_of(const Rows& rows) {
    std::map<std::tuple<std::string, std::string, std::string, SpreadOf>, std::set<std::string>> sets;
    for (const ErrorRow* row : rows)
        sets[{row->family, row->device, row->runtime, row->metric}].insert(row->model);
    std::vector<ErrorModel::Set> result;
    for (const auto& [key, networks] : sets)
        result.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::get<3>(key),
                          static_cast<int>(networks.size())});
    return result;
}

static ErrorSubject subject_of(const ErrorRow& row) {
    return {row.family, row.device, row.runtime, {}, row.metric, true};
}

/// Means of a set's networks: how far off it is as a whole, and how they scatter around that.
struct SetError {
    std::string family, device;
    bool stack_known = false, draw = false;
    double networks = 0, mean = 0, inside = 0;
    std::vector<double> squares; ///< of deviations from the mean, in units of the variance within
};

static std::vector<SetError> errors_of_sets(const Rows& rows, const ErrorModel& within,
                                            const ErrorModel& known) {
    std::map<std::tuple<std::string, std::string, std::string, SpreadOf>,
             std::map<std::string, std::vector<double>>>
        sets;
    std::map<std::tuple<std::string, std::string, std::string, SpreadOf>, const ErrorRow*> example;
    for (const ErrorRow* row : rows) {
        const auto key = std::tuple(row->family, row->device, row->runtime, row->metric);
        sets[key][row->model].push_back(std::clamp(row->value, -kFarthest, kFarthest));
        example[key] = row;
    }
    std::vector<SetError> result;
    for (const auto& [key, networks] : sets) {
        const ErrorSubject of = subject_of(*example[key]);
        if (known.networks(of) > 0)
            continue;
        const ErrorModel::Within* row = within.row_for(of);
        SetError set{std::get<0>(key),
                     std::get<1>(key),
                     known.devices(of) > 0,
                     of_draw(of.metric),
                     static_cast<double>(networks.size()),
                     0,
                     row != nullptr ? row->variance : kUsualScale,
                     {}};
        Eigen::ArrayXd means(networks.size());
        Eigen::Index k = 0;
        for (const auto& [_, values] : networks)
            means[k++] =
                std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
        set.mean = means.mean();
        if (set.networks > 1)
            for (const double mean : means)
                set.squares.push_back(std::pow(mean - set.mean, 2) * set.networks / (set.networks - 1) /
                                      set.inside);
        result.push_back(std::move(set));
    }
    return result;
}

/// The mean over devices of the means of their sets, and how many devices there are.
template <class Pick, class Value>
static std::pair<double, double> by_device(const std::vector<SetError>& sets, Pick pick, Value value) {
    std::map<std::string, std::pair<double, double>> devices;
    for (const SetError& set : sets)
        if (pick(set)) {
            devices[set.device].first += value(set);
            ++devices[set.device].second;
        }
    double sum = 0;
    for (const auto& [_, device] : devices)
        sum += device.first / device.second;
    const auto n = static_cast<double>(devices.size());
    return {n > 0 ? sum / n : 0, n};
}

/// How many times the variance within networks scatter by: the squared scale of Student's t, around one that
/// counts as some devices more. Every device counts alike.
template <class Pick>
static double scatter_of(const std::vector<SetError>& sets, Pick pick, double around) {
    std::map<std::string, double> free; // degrees of freedom
    for (const SetError& set : sets)
        if (pick(set) && !set.squares.empty())
            free[set.device] += set.networks - 1;
    std::vector<double> squares, weights;
    for (const SetError& set : sets)
        if (pick(set))
            for (const double square : set.squares) {
                squares.push_back(square);
                weights.push_back((set.networks - 1) / set.networks / free[set.device]);
            }
    const auto n = static_cast<Eigen::Index>(squares.size());
    const Eigen::Map<const Eigen::ArrayXd> all(squares.data(), n), weight(weights.data(), n);
    double scale = around;
    for (int step = 0; step < kScaleSteps; ++step)
        scale = ((weight * likelihood_weights(all, scale) * all).sum() + kDevicesAround * around) /
                (weight.sum() + kDevicesAround);
    return scale;
}

static void fit_fresh(const std::vector<SetError>& sets, bool draw, ErrorModel& model) {
    const auto of_kind = [&](const SetError& set) { return set.draw == draw; };
    std::set<std::string> families;
    for (const SetError& set : sets)
        if (of_kind(set))
            families.insert(set.family);
    const double all_scatter = std::max(1.0, scatter_of(sets, of_kind, 1));
    std::map<std::string, double> scatters;
    for (const std::string& family : families)
        scatters[family] = std::max(
            1.0, scatter_of(
                     sets, [&](const SetError& s) { return of_kind(s) && s.family == family; }, all_scatter));
    // The scatter of a set's mean that its networks alone would cause.
    const auto noise = [&](const SetError& set) { return scatters[set.family] * set.inside / set.networks; };
    const auto shared = [&](auto pick, double around) {
        double scale = around, devices = 0;
        for (int step = 0; step < kScaleSteps; ++step) {
            const auto [mean, n] = by_device(sets, pick, [&](const SetError& set) {
                const double square = set.mean * set.mean, own = noise(set);
                const double likely = (kDegreesOfFreedom + 1) / (kDegreesOfFreedom + square / (scale + own));
                return likely * square - own;
            });
            devices = n;
            scale = std::max(1e-6, (n * mean + kDevicesAround * around) / (n + kDevicesAround));
        }
        return std::pair(scale, devices);
    };
    const auto known_stack = [&](const SetError& set) { return of_kind(set) && set.stack_known; };
    // An assumption, where few devices say anything.
    const auto [all, n_measured] = shared(known_stack, kUnmeasuredPower);
    model.fresh.push_back({"", draw, all, all_scatter, static_cast<int>(n_measured)});
    for (const std::string& family : families) {
        const auto [own, n] =
            shared([&](const SetError& s) { return known_stack(s) && s.family == family; }, all);
        model.fresh.push_back({family, draw, own, scatters[family], static_cast<int>(n)});
    }
    if (draw)
        return;
    const auto [unknown, n] =
        shared([&](const SetError& set) { return of_kind(set) && !set.stack_known; }, all);
    model.unmeasured_stack = n > 0 ? std::max(0.0, unknown - all) : 0;
    // Sets of one device err together by the product of their means.
    double products = 0, squares = 0;
    std::map<std::string, std::vector<const SetError*>> devices;
    for (const SetError& set : sets)
        if (of_kind(set))
            devices[set.device].push_back(&set);
    for (const auto& [_, of_device] : devices) {
        double product = 0, pairs = 0, square = 0;
        for (std::size_t i = 0; i < of_device.size(); ++i) {
            square += of_device[i]->mean * of_device[i]->mean;
            for (std::size_t j = 0; j < i; ++j, ++pairs)
                product += of_device[i]->mean * of_device[j]->mean;
        }
        if (pairs > 0) {
            products += product / pairs;
            squares += square / static_cast<double>(of_device.size());
        }
    }
    model.device_share = squares > 0 ? std::clamp(products / squares, 0.1, 0.9) : 0.5;
}

/// The mean product of two rows' errors over pairs that `pick` takes, and the mean of their squares;
/// winsorised at three scales.
template <class Pick>
static std::pair<double, double> mean_products(const Rows& rows, Pick pick) {
    double products = 0, squares = 0, n = 0;
    const double limit = 3 * std::sqrt(squared_scale(rows, kUsualScale, 1));
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (pick(*rows[i], *rows[j])) {
                const double a = std::clamp(rows[i]->value, -limit, limit);
                const double b = std::clamp(rows[j]->value, -limit, limit);
                products += a * b;
                squares += (a * a + b * b) / 2;
                ++n;
            }
    return n > 0 ? std::pair(products / n, squares / n) : std::pair(0.0, 0.0);
}

static bool same_generation(const ErrorRow& a, const ErrorRow& b) {
    return !a.generation.empty() && a.generation == b.generation;
}

/// Pairs of one workload on two devices: the squared scale, in units of what the effects make of it, under
/// which the order that was measured is most likely.
static double fit_differences(const Rows& rows, const ErrorModel& model) {
    std::vector<double> deviations; // positive where the estimates order the pair as it was measured
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (const ErrorRow& a = *rows[i], &b = *rows[j]; comparable(a, b)) {
                const double said = a.predicted - b.predicted, was = said + a.value - b.value;
                deviations.push_back(said * (was > 0 ? 1 : -1) / std::sqrt(difference_variance(model, a, b)));
            }
    if (deviations.empty())
        return 1;
    const auto unlikeliness = [&](double log_scale) {
        const double scale = std::exp(log_scale / 2);
        return std::accumulate(deviations.begin(), deviations.end(), 0.0, [&](double sum, double deviation) {
            return sum - std::log(model.at_most(deviation / scale));
        });
    };
    double low = std::log(kLeastDifference), high = -low;
    for (int step = 0; step < kScaleSteps; ++step) {
        const double third = (high - low) / 3;
        if (unlikeliness(low + third) < unlikeliness(high - third))
            high -= third;
        else
            low += third;
    }
    return std::exp((low + high) / 2);
}

/// Both rows are of one network, batch and format, and of one metric.
static bool same_workload(const ErrorRow& a, const ErrorRow& b) {
    return a.model == b.model && a.workload == b.workload && a.metric == b.metric;
}

static void fit_shares(const Rows& without_model, const Rows& without_device, ErrorModel& model) {
    const auto share = [&](double most, auto pick) {
        const auto [product, square] = mean_products(without_model, pick);
        return square > 0 ? std::clamp(product / square, 0.0, most) : 0;
    };
    const auto elsewhere = [](const ErrorRow& a, const ErrorRow& b) {
        return same_workload(a, b) && a.device != b.device && a.runtime == b.runtime && a.family == b.family;
    };
    model.network_share = share(0.45, [&](const ErrorRow& a, const ErrorRow& b) {
        return elsewhere(a, b) && !same_generation(a, b);
    });
    const double kin = share(kMostShared, [&](const ErrorRow& a, const ErrorRow& b) {
        return elsewhere(a, b) && same_generation(a, b);
    });
    model.generation_share = std::max(0.0, kin - model.network_share);
    const double cell = share(0.45, [](const ErrorRow& a, const ErrorRow& b) {
        return a.model == b.model && a.device == b.device && a.runtime == b.runtime && a.metric == b.metric;
    });
    model.cell_share = std::min(cell, kMostShared - model.network_share - model.generation_share);
    const auto same_set = [](const ErrorRow& a, const ErrorRow& b) {
        return a.device == b.device && a.model != b.model && a.runtime == b.runtime && a.metric == b.metric;
    };
    const double alike = mean_products(without_device, [&](const ErrorRow& a, const ErrorRow& b) {
                             return same_set(a, b) && a.regime == b.regime;
                         }).first;
    const double apart = mean_products(without_device, [&](const ErrorRow& a, const ErrorRow& b) {
                             return same_set(a, b) && a.regime != b.regime;
                         }).first;
    model.lane_share = alike > 0 ? std::clamp(1 - apart / alike, 0.0, 0.8) : 0.3;
    model.difference_scale = fit_differences(without_model, model);
}

static Rows seen(const std::vector<ErrorRow>& rows, const Unseen& unseen) {
    Rows result;
    for (const ErrorRow& row : rows)
        if (!unseen.hides(row))
            result.push_back(&row);
    return result;
}

bool comparable(const ErrorRow& a, const ErrorRow& b) {
    return !of_draw(a.metric) && a.device != b.device && same_workload(a, b) &&
           std::abs(a.predicted + a.value - b.predicted - b.value) >= kSameTime;
}

double difference_variance(const ErrorModel& model, const ErrorRow& a, const ErrorRow& b) {
    const auto parts = [&](const ErrorRow& row) {
        const ErrorSubject of = subject_of(row);
        return model.parts(of, std::max(0, model.networks(of) - 1), model.devices(of), 0);
    };
    const ErrorParts p = parts(a), q = parts(b);
    CommonEffects common;
    common.stack = common.workload = a.runtime == b.runtime && a.family == b.family;
    common.generation = common.workload && same_generation(a, b);
    return std::max(1e-6, p.total() + q.total() - 2 * covariance(p, q, common, 1));
}

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

std::vector<ErrorRow> error_rows(const std::vector<ValidatedRow>& rows) {
    std::vector<ErrorRow> result;
    for (const ValidatedRow& row : rows) {
        const Prediction& p = row.prediction;
        const MeasuredRow& m = row.measured;
        // A server at its defaults that always has requests waiting counts also where its host decides: who
        // starts one like it meets that host.
        const bool saturated = m.phase == "saturated" && !of_draw(metric_of(m));
        if (!p.ok() || (m.weight < kLeastWeight && !saturated) || !(p.predicted > 0))
            continue;
        const double sign = m.metric == MeasuredMetric::throughput_per_s ? -1 : 1;
        result.push_back(
            {m.id, p.family, p.runtime, m.hardware, m.model, p.regime, p.generation, metric_of(m),
             sign * std::log(m.value / p.predicted), sign * std::log(p.predicted),
             fmt::format("{} {} {} {} {} {} {} {}", m.image_size.value_or(0), m.sequence, m.batch.value_or(0),
                         m.precision, m.scope, m.phase, m.prompt_tokens, m.generated_tokens)});
        if (saturated) {
            ErrorRow served = result.back();
            served.metric = SpreadOf::default_later_token;
            if (m.weight < kLeastWeight)
                result.pop_back();
            result.push_back(std::move(served));
        }
    }
    return result;
}

ErrorModel fit_errors(const ErrorEvidence& evidence, const Unseen& unseen, const ErrorModel* shares) {
    ErrorModel model{.degrees_of_freedom = kDegreesOfFreedom};
    const Rows known = seen(evidence.without_model, unseen);
    Rows all = known;
    for (const ErrorRow* row : seen(evidence.served, unseen))
        all.push_back(row);
    model.sets = sets_of(all);
    // Rows with another network to go by, measured on the same device under the same stack.
    std::map<std::pair<std::string_view, std::string_view>, std::set<std::string_view>> networks;
    for (const ErrorRow* row : all)
        networks[{row->device, row->runtime}].insert(row->model);
    const auto with_others = [&](const Rows& rows) {
        return kept(rows, [&](const ErrorRow* row) {
            return networks[{row->device, row->runtime}].size() > 1;
        });
    };
    Rows others = with_others(known);
    std::erase_if(others, [](const ErrorRow* row) { return of_defaults(row->metric); });
    model.within = fit_within(with_others(all));
    std::vector<SetError> fresh;
    for (const auto& [run, unseen_then] : evidence.first_runs) {
        std::set<std::string_view> ids(unseen_then.begin(), unseen_then.end());
        for (const ErrorRow& row : run)
            ids.insert(row.id);
        ErrorModel then;
        then.sets = sets_of(kept(known, [&](const ErrorRow* row) { return !ids.contains(row->id); }));
        append(fresh, errors_of_sets(seen(run, unseen), model, then));
    }
    // Few first runs state power: devices left out stand in for them.
    Rows draws = seen(evidence.without_device, unseen);
    std::erase_if(draws, [](const ErrorRow* row) { return !of_draw(row->metric); });
    for (SetError& set : errors_of_sets(draws, model, ErrorModel{})) {
        set.stack_known = true;
        fresh.push_back(std::move(set));
    }
    fit_fresh(fresh, false, model);
    fit_fresh(fresh, true, model);
    if (shares == nullptr) {
        fit_shares(others, seen(evidence.without_device, unseen), model);
    } else {
        model.network_share = shares->network_share;
        model.cell_share = shares->cell_share;
        model.generation_share = shares->generation_share;
        model.difference_scale = shares->difference_scale;
        model.lane_share = shares->lane_share;
    }
    return model;
}

double half_width(const ErrorModel& model, const ErrorRow& row) {
    return model.reach() * std::sqrt(model.parts(subject_of(row)).total());
}

} // namespace archsim
