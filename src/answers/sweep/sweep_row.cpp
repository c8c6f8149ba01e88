#include "answers/sweep/sweep_row.hpp"

#include "answers/sweep/sweep.hpp"
#include "archsim/hardware/device_changes.hpp"
#include "archsim/map/machine_changes.hpp"
#include "core/parse_number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace archsim {

namespace {

constexpr std::int64_t kMaxFactors = 1'000'000;          ///< of one axis
constexpr double kLeastFactor = 1e-9, kMostFactor = 1e9; ///< ranges between them have finite ratios and steps

[[noreturn]] void malformed(std::string_view text, std::string_view why) {
    throw UsageError(
        fmt::format("\"{}\": {}; write NAME=0.5x,1x,2x or NAME=0.5x..4x:log8 or NAME=0.5x..4x:8", text, why));
}

std::string known_names() {
    std::string names;
    const auto add = [&names](std::string_view name) {
        names += (names.empty() ? "" : ", ");
        names += name;
    };
    for (std::size_t i = 0; i < kLeverCount; ++i)
        add(info_of(static_cast<Lever>(i)).name);
    for (std::size_t i = 0; i < kStructureCount; ++i)
        add(name_of(static_cast<Structure>(i)));
    return names;
}

double factor_of(std::string_view text, std::string_view whole) {
    const auto factor = parse_factor(text);
    if (!factor || !(*factor >= kLeastFactor && *factor <= kMostFactor))
        malformed(whole,
                  fmt::format("\"{}\" is not a factor from {:g} to {:g}", text, kLeastFactor, kMostFactor));
    return *factor;
}

std::vector<double> parse_range(std::string_view text, std::string_view whole) {
    const auto dots = text.find(".."), colon = text.rfind(':');
    if (colon == std::string_view::npos || colon < dots)
        malformed(whole, "a range needs the number of steps after a colon");
    const double low = factor_of(text.substr(0, dots), whole);
    const double high = factor_of(text.substr(dots + 2, colon - dots - 2), whole);
    std::string_view steps = text.substr(colon + 1);
    const bool logarithmic = steps.starts_with("log");
    if (logarithmic)
        steps.remove_prefix(3);
    const std::int64_t count = parse_whole(steps).value_or(0);
    if (count < 2 || count > kMaxFactors)
        malformed(whole, "the number of steps must be from 2 to 1000000");
    std::vector<double> factors;
    for (std::int64_t i = 0; i < count; ++i) {
        const double t = static_cast<double>(i) / static_cast<double>(count - 1);
        factors.push_back(logarithmic ? low * std::pow(high / low, t) : std::lerp(low, high, t));
    }
    return factors;
}

} // namespace

SweepAxis parse_sweep_axis(std::string_view text) {
    const auto sides = split_assignment(text);
    if (!sides)
        malformed(text, "no NAME=FACTORS");
    SweepAxis axis{std::string(sides->first), {}};
    if (!parse_lever(axis.name) && !value_named<Structure>(axis.name))
        throw UsageError(fmt::format("\"{}\": nothing called \"{}\" can be varied; known: {}", text,
                                     axis.name, known_names()));
    std::string_view values = sides->second;
    if (values.find("..") != std::string_view::npos) {
        axis.factors = parse_range(values, text);
        return axis;
    }
    while (!values.empty()) {
        const auto item = values.substr(0, values.find(','));
        axis.factors.push_back(factor_of(item, text));
        values.remove_prefix(std::min(values.size(), item.size() + 1));
    }
    return axis;
}

std::optional<double> SweepRow::value(const Metric& metric) const {
    const auto rows = metrics->rows();
    auto at = std::find(rows.begin(), rows.end(), &metric); // the usual case, and quick
    if (at == rows.end())
        at = std::find_if(rows.begin(), rows.end(), [&](const Metric* m) { return *m == metric; });
    const auto i = static_cast<std::size_t>(at - rows.begin());
    return i < measures.size() && measures[i] ? std::optional(measures[i]->value) : std::nullopt;
}

void ParetoFront::add(const SweepRow& row) {
    if (!row.value(*first_) || !row.value(*second_))
        return;
    const auto no_worse = [&](const SweepRow& a, const SweepRow& b, const Metric& metric) {
        return !better(metric, *b.value(metric), *a.value(metric));
    };
    const auto beats = [&](const SweepRow& a, const SweepRow& b) {
        return a.model == b.model && no_worse(a, b, *first_) && no_worse(a, b, *second_);
    };
    std::vector<SweepRow>& front = row.standing == Standing::leads ? front_ : unranked_;
    // The equal row with the lower index stays, whatever the order they come in.
    for (SweepRow& known : front)
        if (beats(known, row)) {
            if (beats(row, known) && row.point < known.point)
                known = row;
            return;
        }
    std::erase_if(front, [&](const SweepRow& known) { return beats(row, known); });
    front.push_back(row);
}

std::vector<SweepRow> ParetoFront::rows() const {
    std::vector<SweepRow> sorted = front_.empty() ? unranked_ : front_;
    std::sort(sorted.begin(), sorted.end(), [this](const SweepRow& a, const SweepRow& b) {
        if (a.model != b.model)
            return a.model < b.model;
        const double x = *a.value(*first_), y = *b.value(*first_);
        return x != y ? better(*first_, x, y) : a.point < b.point;
    });
    return sorted;
}

bool BestRows::before(const SweepRow& a, const SweepRow& b) const {
    if ((a.standing == Standing::leads) != (b.standing == Standing::leads))
        return a.standing == Standing::leads;
    const double x = *a.value(*metric_), y = *b.value(*metric_);
    return x != y ? better(*metric_, x, y) : a.point < b.point;
}

void BestRows::keep_best(std::vector<SweepRow>& rows) const {
    std::sort(rows.begin(), rows.end(),
              [this](const SweepRow& a, const SweepRow& b) { return before(a, b); });
    if (most_ > 0 && rows.size() > most_)
        rows.resize(most_);
}

void BestRows::add(const SweepRow& row) {
    if (!row.value(*metric_))
        return;
    std::vector<SweepRow>& rows = kept_[row.model];
    // From `most_` rows on the first ones are sorted, and what is no better than the last of them is not
    // copied.
    if (most_ > 0 && rows.size() >= most_ && !before(row, rows[most_ - 1]))
        return;
    rows.push_back(row);
    if (most_ > 0 && (rows.size() == most_ || rows.size() == 2 * most_))
        keep_best(rows);
}

std::vector<SweepRow> BestRows::rows() const {
    std::vector<SweepRow> all;
    for (const auto& [model, kept] : kept_) {
        std::vector<SweepRow> best = kept;
        keep_best(best);
        all.insert(all.end(), best.begin(), best.end());
    }
    return all;
}

} // namespace archsim
