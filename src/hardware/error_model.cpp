#include "hardware/error_model.hpp"

#include <cmath>

namespace archsim {

/// Where no file states a variance: a factor of two, 90 % of the time.
const double kUnstated = std::pow(std::log(2.0) / kErrorReach, 2);

static bool is_stack(const std::string& runtime, const ErrorSubject& of) {
    return runtime == of.runtime || (!of.base.empty() && runtime == of.base);
}

/// The rest of a variance when n values have been seen through noise.
static double seen(double variance, double n, double noise) {
    return variance > 0 && n > 0 && noise > 0 ? 1 / (1 / variance + n / noise) : variance;
}

double student_t(double t, int degrees_of_freedom) {
    const double n = degrees_of_freedom;
    const double sine = t / std::sqrt(n + t * t), cosine2 = n / (n + t * t);
    double term = 1, sum = 1;
    for (int k = 2; k < degrees_of_freedom; k += 2)
        sum += term *= cosine2 * (k - 1) / k;
    return 0.5 + sine * sum / 2;
}

double covariance(const ErrorParts& a, const ErrorParts& b, const CommonEffects& common, double lanes) {
    const auto shared = [](double x, double y) { return std::sqrt(x * y); };
    double sum = 0;
    if (common.device)
        sum += shared(a.device, b.device) + shared(a.lane, b.lane) * lanes;
    if (common.set)
        sum += shared(a.set, b.set);
    if (common.stack)
        sum += shared(a.stack, b.stack);
    if (common.workload)
        sum += shared(a.network, b.network);
    if (common.generation)
        sum += shared(a.generation, b.generation);
    if (common.cell)
        sum += shared(a.cell, b.cell);
    if (common.cell && common.workload)
        sum += shared(a.rest, b.rest);
    return sum;
}

double ErrorModel::at_most(double deviations) const {
    // The t of n degrees has the variance n / (n - 2): deviations here are scales, as the fit has them.
    return student_t(deviations, std::max(2, static_cast<int>(degrees_of_freedom)));
}

double ErrorModel::reach() const {
    double low = 1, high = 10;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (at_most(middle) < 0.95 ? low : high) = middle;
    }
    return high;
}

int ErrorModel::networks(const ErrorSubject& of) const {
    for (const Set& set : sets)
        if (set.metric == of.metric && set.device == of.device && set.runtime == of.runtime)
            return set.networks;
    return 0;
}

int ErrorModel::devices(const ErrorSubject& of) const {
    if (!of.kin)
        return 0;
    return static_cast<int>(std::ranges::count_if(sets, [&](const Set& set) {
        return set.metric == of.metric && set.family == of.family && is_stack(set.runtime, of);
    }));
}

const ErrorModel::Within* ErrorModel::row_for(const ErrorSubject& of) const {
    const Within* best = nullptr;
    int most = -1;
    for (const Within& row : within) {
        if ((!row.family.empty() && row.family != of.family) ||
            (!row.runtime.empty() && !is_stack(row.runtime, of)) ||
            (row.metric >= 0 && row.metric != static_cast<int>(of.metric)) ||
            (row.metric < 0 && of_draw(of.metric)))
            continue;
        const int narrow = 4 * (row.runtime == of.runtime) + 2 * !row.runtime.empty() +
                           2 * !row.family.empty() +
                           (row.metric >= 0 && (!row.family.empty() || of_draw(of.metric)));
        if (narrow > most && (row.metric < 0 || !row.family.empty() || of_draw(of.metric))) {
            best = &row;
            most = narrow;
        }
    }
    return best;
}

ErrorParts ErrorModel::parts(const ErrorSubject& of) const {
    const auto others = std::ranges::count_if(sets, [&](const Set& set) {
        return set.device == of.device && of_draw(set.metric) == of_draw(of.metric) &&
               (set.runtime != of.runtime || set.metric != of.metric);
    });
    return parts(of, networks(of), devices(of), static_cast<int>(others));
}

ErrorParts ErrorModel::parts(const ErrorSubject& of, int networks, int devices, int other_sets) const {
    const Within* row = row_for(of);
    double inside = row != nullptr ? row->variance : kUnstated;
    if (row != nullptr && row->metric < 0 && !of_draw(of.metric)) {
        // Metrics of which the stack has no row differ as they do elsewhere; none is known better for that.
        double of_metric = 0, of_all = 0;
        for (const Within& other : within)
            if (other.family.empty() && other.runtime.empty()) {
                if (other.metric < 0)
                    of_all = other.variance;
                else if (other.metric == static_cast<int>(of.metric))
                    of_metric = other.variance;
            }
        if (of_all > 0)
            inside *= std::max(1.0, of_metric / of_all);
    }
    const Fresh* fresh_row = nullptr;
    for (const Fresh& candidate : fresh)
        if (candidate.draw == of_draw(of.metric) &&
            (candidate.family == of.family || (candidate.family.empty() && fresh_row == nullptr)))
            fresh_row = &candidate;
    const double shared = fresh_row != nullptr ? fresh_row->variance : kUnstated;
    const double scatter = fresh_row != nullptr ? std::max(1.0, fresh_row->scatter) : 1;

    ErrorParts parts;
    const double own_set = (1 - device_share) * shared;
    const double device = seen(device_share * shared, other_sets, own_set + inside);
    const double stack = devices > 0 ? 0 : unmeasured_stack;
    const double before = device + own_set + stack;
    const double left = before > 0 ? seen(before, networks, inside) / before : 0;
    parts.lane = lane_share * (device + own_set) * left;
    parts.device = (1 - lane_share) * device * left;
    parts.set = (1 - lane_share) * own_set * left;
    parts.stack = stack * left;
    const double around = inside * (1 + (scatter - 1) / (1 + 3.0 * networks));
    parts.network = network_share * inside;
    parts.generation = generation_share * inside;
    parts.cell = cell_share * inside;
    parts.stray = around - inside;
    parts.rest = around - parts.network - parts.generation - parts.cell;
    return parts;
}

} // namespace archsim
