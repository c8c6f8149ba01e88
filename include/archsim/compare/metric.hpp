#pragma once
// The metrics of results. Every metric is one row of a table, and everything that shows, writes, limits or
// ranks results iterates the table: reports, CSV and JSON rows, sweeps, `--max-KEY` and `--min-KEY`,
// `--sort`, `--metric`, Pareto fronts, studies, the C and Python interfaces.
//
//   key          field                   unit  better  shown as
//   latency      latency_s               s     lower   ms
//   throughput   throughput_per_s        1/s   higher  FPS
//   power        power_w                 W     lower   W
//   carbon       carbon_g_per_inference  g     lower   g/1000
//   ...
//
// A metric of one's own is a row more, MetricTable::standard().with({...}), given to what iterates.

#include "archsim/compare/cost.hpp"
#include "archsim/compare/result.hpp"
#include "archsim/core/export.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace archsim {

/// A value in the metric's SI unit with its nominal 90 % interval.
struct Measure {
    double value = 0;
    Interval interval; ///< a point where the metric has none of its own
    /// The value were its device asleep between inferences, where nobody states whether it can be: anything
    /// between the two may be true, so that nothing there is ranked against it.
    std::optional<double> asleep = {};
    /// Whether somebody's value lies where nothing is known.
    bool leaves_open(double other) const {
        return asleep && std::min(value, *asleep) < other && other < std::max(value, *asleep);
    }
};

enum class Better : std::uint8_t { lower, higher };

/// The kind of a metric's values: decides the units of a limit ("50ms") and the words of a value ("431 us").
enum class QuantityKind : std::uint8_t { number, time, energy, power, bytes, rate, ratio, money, carbon };

/// One row of the table. `key`, `title`, `unit`, `better` and `measure` make a metric; the rest says how it
/// is written and has defaults (see MetricTable::with).
struct Metric {
    std::string key;   ///< "energy": value of flags, name in JSON documents
    std::string title; ///< "Energy"
    std::string unit;  ///< of the value: "J"; empty for a plain number
    Better better = Better::lower;
    /// The value of a result and its interval under conditions of use; absent where the result has none.
    std::function<std::optional<Measure>(const Result&, const CostOptions&)> measure = {};

    QuantityKind quantity = QuantityKind::number;
    std::string noun = {};  ///< "energy per inference"; empty: the title in lower case
    std::string field = {}; ///< "latency_s": column of CSV, JSON and sweep rows; empty: the key
    std::string low_field = {}, high_field = {}; ///< of the interval's ends; empty: not written

    std::string heading = {};     ///< column of a table, "FPS"; empty: the title
    double scale = 1;             ///< factor from the SI unit to the unit of columns and axes
    std::string column_unit = {}; ///< "mJ/inf"
    std::string axis_unit = {};   ///< "mJ"; empty: the column's unit
    int priority = 6;             ///< of its column: 0 always shown, higher leaves a narrow terminal first
    std::string limit_help = {};  ///< of its limit's flag: "of one batch, e.g. 50ms"
    bool recommend = true;        ///< its winner is named among the recommendations
    std::string best = {};        ///< what its winner is: "Fastest"; empty: "Best by NOUN"
    /// Causes of a difference between two results add up to it: what compare_architectures takes apart.
    /// Others follow from these (balance is a product: explain energy and latency).
    bool has_causes = false;
};

/// Metrics are the same where their keys are.
inline bool operator==(const Metric& a, const Metric& b) {
    return a.key == b.key;
}
/// True when `a` is the better value.
inline bool better(const Metric& metric, double a, double b) {
    return metric.better == Better::higher ? a > b : a < b;
}

/// The metrics that the library's own code speaks of: seconds of the whole batch; items per second; watts on
/// average; items per second and watt; joules per inference; useful share of the peak; bytes at the peak; USD
/// per inference of the cheaper way to pay; grams of CO2e per inference; energy per inference x latency.
struct LibraryMetrics {
    Metric latency, throughput, power, efficiency, energy, utilization, memory, cost, carbon, balance;
};
ARCHSIM_API extern const LibraryMetrics library_metrics;
/// The same by their names.
namespace metric {
inline constexpr const Metric &latency = library_metrics.latency, &throughput = library_metrics.throughput,
                              &power = library_metrics.power, &efficiency = library_metrics.efficiency,
                              &energy = library_metrics.energy, &utilization = library_metrics.utilization,
                              &memory = library_metrics.memory, &cost = library_metrics.cost,
                              &carbon = library_metrics.carbon, &balance = library_metrics.balance;
} // namespace metric

/// Metrics in the order of their columns.
class ARCHSIM_API MetricTable {
  public:
    /// The library's.
    static const MetricTable& standard();
    /// Rows that live as long as the program, in this order.
    static MetricTable of(std::vector<const Metric*> rows) {
        MetricTable table;
        table.rows_ = std::move(rows);
        return table;
    }
    /// This table and one row more, its empty words filled in from key and title. Throws UsageError where the
    /// key or a field is taken, or `measure` is missing.
    MetricTable with(Metric row) const;

    /// Every metric; they live as long as a table that has them.
    std::span<const Metric* const> rows() const { return rows_; }
    /// By key, in any case of letters; null where there is none.
    const Metric* find(std::string_view key) const;
    /// The same; throws UsageError that names `flag`, and the keys there are.
    const Metric& at(std::string_view key, std::string_view flag) const;
    /// "latency, throughput, ..."
    std::string keys() const {
        std::string text;
        for (const Metric* m : rows_)
            text += (text.empty() ? "" : ", ") + m->key;
        return text;
    }

  private:
    std::vector<const Metric*> rows_;
    std::vector<std::shared_ptr<const Metric>> own_; ///< those of rows_ that are not the library's
};

/// Which metrics an answer shows, and under which conditions of use.
struct MetricView {
    const MetricTable* metrics = &MetricTable::standard();
    CostOptions conditions = {};
};

/// One number of the table's rows in documents for programs: a metric's value or an end of its interval.
struct MetricField {
    /// Which number of the metric it is.
    enum class Part : std::uint8_t { value, low, high };
    const Metric* metric = nullptr;
    Part part = Part::value;

    /// "latency_low_s"
    const std::string& key() const {
        return part == Part::value ? metric->field
                                   : (part == Part::low ? metric->low_field : metric->high_field);
    }
    /// The number.
    double of(const Measure& m) const {
        return part == Part::value ? m.value : (part == Part::low ? m.interval.low : m.interval.high);
    }
};
/// The numbers of every metric, in order: what CSV, JSON and sweep rows and Python columns hold.
inline std::vector<MetricField> fields_of(const MetricTable& table) {
    std::vector<MetricField> fields;
    for (const Metric* m : table.rows())
        for (const auto part : {MetricField::Part::value, MetricField::Part::low, MetricField::Part::high})
            if (const MetricField field{m, part}; !field.key().empty())
                fields.push_back(field);
    return fields;
}

/// The value of a metric for a result; absent where there is no estimate, or no value (a price that nobody
/// published, the energy of a chip whose static power nobody knows).
ARCHSIM_API std::optional<Measure> measure_of(const Result& result, const Metric& metric,
                                              const CostOptions& conditions = {});
/// The value alone.
inline std::optional<double> value_of(const Result& result, const Metric& metric,
                                      const CostOptions& conditions = {}) {
    const auto measure = measure_of(result, metric, conditions);
    return measure ? std::optional(measure->value) : std::nullopt;
}
/// The same for sums and texts that carry the unknown along: NaN where there is none.
inline double value_or_nan(const Result& result, const Metric& metric, const CostOptions& conditions = {}) {
    return value_of(result, metric, conditions).value_or(std::numeric_limits<double>::quiet_NaN());
}

/// The metric that ranks results when nothing else is asked for: latency, throughput when saturated, and on a
/// battery the average power, which says how long that lasts.
inline const Metric& ranked_by(const Conditions& conditions) {
    return conditions.duty.battery_wh > 0                ? metric::power
           : conditions.scenario == Scenario::throughput ? metric::throughput
                                                         : metric::latency;
}

/// The best of several results, under the one policy of who may be named first: may_lead().
struct Winner {
    std::size_t best = 0;   ///< index of the best result that may lead; of the best one where none may
    bool leads = true;      ///< false: none may be named first
    double probability = 1; ///< that it is the best of those that may lead
    double ahead = 1;       ///< odds that it is better than `next`, whoever else there is
    /// Where that is less than kCalled: all of those that may well be the best, it among them, best first.
    /// Empty: it is called.
    std::vector<std::size_t> close;
    std::optional<std::size_t> next; ///< the likeliest other
    std::vector<std::size_t> tied;   ///< others that may lead and cannot be told apart from it, best first
    std::optional<std::size_t>
        projected; ///< the best that may not lead, where it is estimated better than `best`
};
/// Below these odds of the best nobody is named.
inline constexpr double kCalled = 0.6;
/// Absent when no result has a value.
ARCHSIM_API std::optional<Winner> find_winner(std::span<const Result> results, const Metric& metric,
                                              const CostOptions& conditions = {});

} // namespace archsim
