#include "result/latency_spread.hpp"

#include "core/data_dir.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace archsim {

constexpr std::size_t kFewestSpreadRows = 4;
constexpr double kUpperTail = 0.99, kUpperNinth = 0.9, kFarTail = 0.999;

static double spread_median(std::vector<double> values) {
    if (values.empty())
        return 0;
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

struct SpreadLine {
    double fixed = 0, share = 0;
};

/// Sum over the rows of |predicted - published| / P50.
static double misfit(std::span<const SpreadRow> rows, const SpreadLine& line) {
    return sum_of(rows, [&](const SpreadRow& r) {
        return std::abs(line.fixed + line.share * r.p50_ms - (r.p99_ms - r.p50_ms)) / r.p50_ms;
    });
}

/// Least absolute deviations with two parameters that are not negative: the best line meets two rows, or one
/// row and an axis.
static SpreadLine best_line(std::span<const SpreadRow> rows) {
    SpreadLine best;
    double least = std::numeric_limits<double>::infinity();
    const auto consider = [&](SpreadLine line) {
        if (!(line.fixed >= 0) || !(line.share >= 0))
            return;
        if (const double sum = misfit(rows, line); sum < least) {
            least = sum;
            best = line;
        }
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double t = rows[i].p50_ms, excess = rows[i].p99_ms - t;
        consider({excess, 0});
        consider({0, excess / t});
        for (std::size_t j = 0; j < i; ++j) {
            const double u = rows[j].p50_ms, other = rows[j].p99_ms - u;
            const double share = (excess - other) / (t - u); // equal times: not finite, not considered
            consider({excess - share * t, share});
        }
    }
    return best;
}

/// Excess of another percentile as a part of that of P99, over the rows that publish both.
static std::vector<double> parts_of_tail(std::span<const SpreadRow> rows, double SpreadRow::*percentile) {
    std::vector<double> parts;
    for (const SpreadRow& r : rows)
        if (r.*percentile > 0 && r.p99_ms > r.p50_ms)
            parts.push_back((r.*percentile - r.p50_ms) / (r.p99_ms - r.p50_ms));
    return parts;
}

static double part_of_tail(std::span<const SpreadRow> rows, std::span<const SpreadRow> all,
                           double SpreadRow::*percentile) {
    std::vector<double> own = parts_of_tail(rows, percentile);
    if (own.size() < kFewestSpreadRows)
        own = parts_of_tail(all, percentile);
    return spread_median(std::move(own));
}

static std::string plural_of(std::string_view family) {
    std::string text(family);
    for (char& letter : text)
        letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    return text + "s";
}

RunPercentiles LatencySpread::at(double p50_s) const {
    const double like = std::clamp(p50_s, shortest_s, std::max(shortest_s, longest_s));
    const double excess = like > 0 ? p50_s * (share + fixed_s / like) : 0;
    return {p50_s, p50_s + ninety * excess, p50_s + excess, p50_s + nine_hundred_ninety * excess};
}

double LatencySpread::quantile(double p50_s, double u) const {
    constexpr double kMiddle = 0.5;
    const RunPercentiles p = at(p50_s);
    const auto between = [u](double low, double high, double from, double to) {
        return from + (to - from) * (u - low) / (high - low);
    };
    if (u <= kMiddle)
        return p.p50;
    return u <= kUpperNinth  ? between(kMiddle, kUpperNinth, p.p50, p.p90)
           : u <= kUpperTail ? between(kUpperNinth, kUpperTail, p.p90, p.p99)
           : u <= kFarTail   ? between(kUpperTail, kFarTail, p.p99, p.p999)
                             : p.p999;
}

std::vector<SpreadRow> read_latency_spread(const std::filesystem::path& data) {
    std::vector<Finding> findings;
    auto rows = read_spread_rows(data / "hardware_db" / "percentiles.json", findings);
    if (!findings.empty())
        throw InputError(to_string(findings.front()), findings);
    return rows;
}

std::span<const SpreadRow> latency_spread_rows() {
    static const std::vector<SpreadRow> kRows = read_latency_spread(data_dir());
    return kRows;
}

LatencySpread fit_spread(std::span<const SpreadRow> rows, std::span<const SpreadRow> all) {
    constexpr double kMilliseconds = 1e-3;
    LatencySpread spread;
    if (rows.empty())
        return spread;
    const SpreadLine line = best_line(rows);
    spread.fixed_s = line.fixed * kMilliseconds;
    spread.share = line.share;
    // Percentiles rise, whatever the median row of a small class says.
    spread.ninety = std::clamp(part_of_tail(rows, all, &SpreadRow::p90_ms), 0.0, 1.0);
    spread.nine_hundred_ninety = std::max(1.0, part_of_tail(rows, all, &SpreadRow::p999_ms));
    spread.least = spread.shortest_s = std::numeric_limits<double>::infinity();
    for (const SpreadRow& r : rows) {
        spread.shortest_s = std::min(spread.shortest_s, r.p50_ms * kMilliseconds);
        spread.longest_s = std::max(spread.longest_s, r.p50_ms * kMilliseconds);
        spread.least = std::min(spread.least, r.p99_ms / r.p50_ms - 1);
        spread.most = std::max(spread.most, r.p99_ms / r.p50_ms - 1);
    }
    spread.rows = static_cast<int>(rows.size());
    return spread;
}

LatencySpread latency_spread(const Device& device, const Runtime& runtime, std::span<const SpreadRow> all) {
    const bool integrated = device.family == Family("cpu") || device.host_link_type == "shared memory";
    const std::string_view family = name_of(device.family);
    const auto own_stack = [&](const SpreadRow& r) {
        return r.stack == runtime.id || (!runtime.base.empty() && r.stack == runtime.base);
    };
    const auto narrowest = [&](auto&& keep, const std::string& what) {
        const std::vector<SpreadRow> rows = kept(all, keep);
        LatencySpread spread;
        if (rows.size() >= kFewestSpreadRows) {
            spread = fit_spread(rows, all);
            spread.basis = fmt::format("{} runs: {}", spread.rows, what);
        }
        return spread;
    };
    const auto same_place = [&](const SpreadRow& r) { return r.integrated == integrated; };
    const auto same_kind = [&](const SpreadRow& r) { return same_place(r) && r.family == family; };
    const std::string place = integrated ? "in their host's memory" : "with memory of their own";
    const std::string kind = fmt::format("{} {}", plural_of(family), place);
    LatencySpread spread = narrowest([&](const SpreadRow& r) { return same_kind(r) && own_stack(r); },
                                     fmt::format("{} on {}", runtime.id, kind));
    if (spread.rows == 0)
        spread = narrowest(same_kind, fmt::format("other stacks on {}", kind));
    if (spread.rows == 0)
        spread = narrowest(same_place, fmt::format("other devices {}", place));
    return spread;
}

} // namespace archsim
