#pragma once
// The terms of a result's error, and those that two results have in common.

#include "archsim/compare/metric.hpp"
#include "hardware/error_model.hpp"

#include <optional>
#include <span>
#include <vector>

namespace archsim {

/// The effects in one result's error.
struct ErrorTerms {
    const Result* result = nullptr;
    std::optional<ErrorParts> parts; ///< none where no table was given
    LaneShares lanes{1, 0, 0};
    SpreadOf metric = SpreadOf::latency;
};

/// The error that a metric of a result has.
SpreadOf error_metric(const Metric& by, const Result& result);
ErrorTerms error_terms(const Result& result, SpreadOf metric);
/// The correlation of the two errors, 0 to 1.
double correlation(const ErrorTerms& a, const ErrorTerms& b);

/// Results that are held against each other by one metric; what each errs by is looked up once.
class Contest {
  public:
    Contest(std::span<const Result> results, const Metric& by, const CostOptions& conditions);
    /// The measure of one result; none where it has no value.
    const std::optional<Measure>& measure(std::size_t i) const { return measures_[i]; }
    /// The odds of two that have values.
    double probability_better(std::size_t a, std::size_t b) const;
    double correlation(std::size_t a, std::size_t b) const {
        return archsim::correlation(terms_[a], terms_[b]);
    }
    const Metric& by() const { return by_; }

  private:
    const Metric& by_;
    std::vector<std::optional<Measure>> measures_;
    std::vector<ErrorTerms> terms_;
};

} // namespace archsim
